# SPDX-License-Identifier: GPL-3.0-or-later
"""Key All Rotation Channels: insert missing keys, because handles and Adjust Keys require keys in all channels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import bpy
import numpy as np

from ..arguments import checked
from ..bake.complete_rotations import with_complete_rotation
from ..bake.pipeline import rebake
from ..bake.plans.own_motion import is_keyed_whole
from ..fcurves.channels import Channels, check_editable, editable_channels, evaluate_anew
from ..fcurves.keyframes import FLAGS, Float32Array, is_among
from ..many import on_each
from ..report import AnimationError, Report
from ..store.editable import blocking_reasons
from ..store.find_tracks import find_tracks
from ..store.own_keys import OwnKeys
from ..store.read_own_keys import read_own_keys
from ..store.tracks import Track
from .free_restore_apply_remove import restore_if_played
from .parameters import NAMES, Change, write_numbers


@checked
def key_whole(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Insert keys into all channels of the datablock's rotations, at every frame where any channel has a key.

    The new keys get the values of the current motion and the parameters of the other channels' keys. Baked tracks are
    rebaked and keep their motion. The motion of Bezier curves with automatic handles changes slightly.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the rotations.
    prefixes : iterable of str, optional
        Key only tracks whose paths start with one of the prefixes.

    Returns
    -------
    Report
        Counts of the tracks with new keys. `changed_keys` is the number of frames with new keys. `errors` lists the
        reasons why other tracks have no new keys.

    Raises
    ------
    AnimationError
        The datablock can't be edited. Nothing was changed.

    Examples
    --------
    >>> made = ball.keyframe_insert("rotation_euler", index=2, frame=30)
    >>> report = animation.enable(ball)
    >>> animation.key_whole(ball).changed_keys
    1
    """
    check_editable(datablock)
    report = Report.on([datablock])
    channels = editable_channels(datablock, report.notes)
    rotations = [track for track in find_tracks(datablock, channels, prefixes) if track.is_rotation and track.in_use]
    keys_of_tracks = [(track, read_own_keys(track)) for track in rotations]
    # If the table is damaged, generated keys look like the animator's keys.
    incomplete = [
        (track, own_keys)
        for track, own_keys in keys_of_tracks
        if track.table.error or (own_keys and not is_keyed_whole(track, own_keys))
    ]
    reasons = blocking_reasons([track for track, _ in incomplete])
    for (track, own_keys), reason in zip(incomplete, reasons, strict=True):
        if reason:
            report.errors.append(reason)
            continue
        try:
            report.add(_key_track(datablock, channels, track, own_keys))
        except AnimationError as error:
            report.errors += error.findings
    evaluate_anew(channels.action)
    return report


key_whole_many = on_each(key_whole)


def _key_track(datablock: bpy.types.ID, channels: Channels, track: Track, own_keys: Mapping[int, OwnKeys]) -> Report:
    """Insert missing keys into a track, and bake it again if it was played.

    Raises AnimationError, without changing anything, if the missing keys can't be computed.
    """
    complete_keys = with_complete_rotation(track, own_keys)
    bake_options = track.settings.options
    restore_if_played(channels, track)
    new_frames: set[float] = set()
    for index, complete in complete_keys.items():
        keyed_frames = own_keys[index].frames if index in own_keys else complete.frames[:0]
        is_missing = ~is_among(complete.frames, keyed_frames)
        new_frames.update(complete.frames[is_missing].tolist())
        _insert(channels, track, index, complete.keys.co[is_missing])
    frames = next(iter(complete_keys.values())).frames
    if track.enabled:
        numbers = {
            index: dict(zip(NAMES, complete.numbers.T.astype(np.float64), strict=True))
            for index, complete in complete_keys.items()
        }
        write_numbers([Change(channels, track, read_own_keys(track), frames, numbers)])
    report = Report(tracks=1, keys=len(frames), changed_keys=len(new_frames))
    if bake_options is not None:
        baked = rebake([datablock], channels, [track], bake_options)
        report.errors += baked.errors
        report.notes += baked.notes
    return report


def _insert(channels: Channels, track: Track, index: int, co: Float32Array) -> None:
    """Insert unselected keys with these frames and values, shape (n, 2), into a channel of the restored track."""
    if not len(co):
        return
    if index not in track.channels:
        track.channels[index] = channels.new(track.path, index, track.group_name)
    fcurve = track.channels[index]
    for frame, value in co.tolist():
        point = fcurve.keyframe_points.insert(frame, value)
        for flag in FLAGS:
            setattr(point, flag, False)
    fcurve.update()
