# SPDX-License-Identifier: GPL-3.0-or-later
"""Keying of complete rotations. All channels get a key at each key frame, as handles and relaxation require."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import bpy
import numpy as np

from ..arguments import checked
from ..bake.completed_rotations import completed
from ..bake.pipeline import rebake
from ..bake.plans.handles import is_keyed_whole
from ..errors import AnimationError
from ..fcurves.channels import Channels, evaluate_anew
from ..fcurves.editable import check_editable, editable_channels
from ..fcurves.frames import is_among
from ..fcurves.keyframes import FLAGS, BoolArray, Float32Array
from ..report import Report
from ..store.own_keys import OwnKeys, read_own_keys
from ..store.parameters import Numbers
from ..store.track_refusals import blocking_reasons
from ..store.tracks import Track, find_tracks
from .parameters.write_parameters import NAMES, Change, write_numbers
from .restore import restore_if_played


@checked
def key_whole(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Insert keys into all channels of the datablock's rotations, at every frame where any channel has a key.

    To preserve the motion, the new keys get the values of the current motion and the parameters of the other channels'
    keys. Baked tracks are baked again.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the rotations.
    prefixes : iterable of str, optional
        Key only tracks whose paths start with one of the prefixes.

    Returns
    -------
    Report
        `keys` is the number of frames with new keys.

    Raises
    ------
    AnimationError
        The datablock can't be edited. Nothing was changed.

    Examples
    --------
    >>> made = ball.keyframe_insert("rotation_euler", index=2, frame=30)
    >>> report = animation.enable(ball)
    >>> animation.key_whole(ball).keys
    1
    """
    check_editable(datablock)
    report = Report.on([datablock])
    channels = editable_channels(datablock, report.notes)
    for track in find_tracks(datablock, channels, prefixes):
        if not (track.is_rotation and track.in_use):
            continue
        own = read_own_keys(track)
        if not own or is_keyed_whole(track, own):
            continue
        reason = blocking_reasons([track])[0]
        try:
            if reason:
                raise AnimationError(reason)
            report.keys += _key(datablock, channels, track, own, report)
            report.tracks += 1
        except AnimationError as error:
            report.errors += error.findings
    evaluate_anew(channels.action)
    return report


def _key(datablock: bpy.types.ID, channels: Channels, track: Track, own: Mapping[int, OwnKeys], report: Report) -> int:
    """Key one track. Return the number of frames with missing keys.

    If keys of different channels are too close to each other, raises AnimationError and changes nothing.
    """
    whole = completed(track, own)
    played = track.settings.options
    restore_if_played(channels, track)
    frames_made: set[float] = set()
    for index, each in whole.items():
        missing = ~is_among(each.frames, own[index].frames if index in own else each.frames[:0])
        frames_made.update(each.frames[missing].tolist())
        _insert(channels, track, index, each.keys.co[missing])

    def numbers(index: int, _own: OwnKeys, _there: BoolArray) -> dict[str, Numbers]:
        return dict(zip(NAMES, whole[index].numbers.T.astype(np.float64), strict=True))

    if track.enabled:
        write_numbers([Change(channels, track, next(iter(whole.values())).frames, numbers)])
    if played is not None:
        baked = rebake([datablock], channels, [track], played)
        report.errors += baked.errors
        report.notes += baked.notes
    return len(frames_made)


def _insert(channels: Channels, track: Track, index: int, co: Float32Array) -> None:
    """Insert unselected keys into a channel of the restored track, as Blender does."""
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
