# SPDX-License-Identifier: GPL-3.0-or-later
"""Keying of complete rotations. All channels get a key at each key frame, as handles and relaxation require."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import bpy
import numpy as np

from ..arguments import checked
from ..bake.completed_rotations import key_frames_of_all, whole_values
from ..bake.pipeline import rebake
from ..bake.plans.handles import is_keyed_whole
from ..errors import AnimationError
from ..fcurves.channels import Channels, evaluate_anew
from ..fcurves.editable import check_editable, editable_channels
from ..fcurves.frames import is_among
from ..fcurves.keyframes import FLAGS, Float32Array, Float64Array
from ..records import record
from ..report import Report
from ..store.own_keys import OwnKeys, read_own_keys
from ..store.parameters import given_numbers, velocity_size
from ..store.table.rows import PARAMETERS, column_of, velocity_of
from ..store.track_refusals import blocking_reasons
from ..store.tracks import Track, find_tracks
from .parameters.set_parameters import set_parameters
from .restore import restore_if_played
from .track_keys import TrackKeys


@record()
class _Whole:
    """The values of a rotation at all frames where any of its channels has a key."""

    frames: Float32Array
    values: dict[int, Float64Array]
    """Values of each component on the current motion."""
    numbers: Float32Array
    """Parameters and velocities, one row per key, NaN if not set."""


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
    frames = key_frames_of_all(track, own)
    whole = _Whole(frames, whole_values(track, own, frames), given_numbers(own, frames))
    played = track.settings.options
    restore_if_played(channels, track)
    made = _insert(channels, track, own, whole)
    if track.enabled:
        _give_numbers(datablock, track, whole)
    if played is not None:
        report.add(_without_counts(rebake([datablock], channels, [track], played)))
    return made


def _insert(channels: Channels, track: Track, own: Mapping[int, OwnKeys], whole: _Whole) -> int:
    made = np.zeros(len(whole.frames), dtype=np.bool_)
    group = track.group_name
    for index, values in whole.values.items():
        there = own[index].keys.frames if index in own else whole.frames[:0]
        missing = ~is_among(whole.frames, there)
        made |= missing
        if not missing.any():
            continue
        if index not in track.channels:
            track.channels[index] = channels.new(track.path, index, group)
        fcurve = track.channels[index]
        for frame, value in zip(whole.frames[missing].tolist(), values[missing].tolist(), strict=True):
            point = fcurve.keyframe_points.insert(frame, value)
            for flag in FLAGS:
                setattr(point, flag, False)
        fcurve.update()
    return int(made.sum())


def _give_numbers(datablock: bpy.types.ID, track: Track, whole: _Whole) -> None:
    """Set the parameters and velocities of one channel's key on the keys of all channels at the same frame."""
    none = np.zeros(len(whole.frames), dtype=np.bool_)
    keys = TrackKeys(datablock, track, whole.frames, none, {})
    for name in (*PARAMETERS, *map(velocity_of, range(velocity_size(track)))):
        numbers = whole.numbers[:, column_of(name)].astype(np.float64)
        given = ~np.isnan(numbers)
        if given.any():
            set_parameters(keys.take(given), {name: numbers[given]})


def _without_counts(report: Report) -> Report:
    """Return a bake report without counts, for use in another operation."""
    return Report(errors=report.errors, notes=report.notes)
