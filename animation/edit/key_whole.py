# SPDX-License-Identifier: GPL-3.0-or-later
"""Keying of whole rotations: a key in every channel wherever one has a key, as handles and relaxation need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import bpy
import numpy as np

from ..arguments import checked
from ..bake.pipeline import rebake
from ..bake.plans.handles import is_keyed_whole
from ..bake.whole_rotations import key_frames_of_all, whole_values
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
from .restore import put_back
from .track_keys import TrackKeys


@record()
class _Whole:
    """The values of a rotation at every frame at which one of its channels has a key."""

    frames: Float32Array
    values: dict[int, Float64Array]
    """Values of each component, on the present motion."""
    numbers: Float32Array
    """Parameters and velocities, one row a key, NaN where none was set."""


@checked
def key_whole(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> Report:
    """Insert keys into the datablock's rotations, in all channels at every frame at which any channel has a key.

    The new keys have the values that the motion has there, and the parameters of the other channels' keys: the
    motion is the same. Baked tracks are baked again.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the rotations.
    prefixes : iterable of str, optional
        Only tracks whose paths start with one of them.

    Returns
    -------
    Report
        Its keys are the frames at which keys were made.

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
    """Key one track; return the number of frames at which keys were missing.

    Raises AnimationError, before it changes anything, where keys of different channels are too near to each other.
    """
    frames = key_frames_of_all(track, own)
    whole = _Whole(frames, whole_values(track, own, frames), given_numbers(own, frames))
    played = track.settings.options
    put_back(channels, track)
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
    """Give all channels' keys at a frame the parameters and velocities that one of them has."""
    none = np.zeros(len(whole.frames), dtype=np.bool_)
    keys = TrackKeys(datablock, track, whole.frames, none, {})
    for name in (*PARAMETERS, *map(velocity_of, range(velocity_size(track)))):
        numbers = whole.numbers[:, column_of(name)].astype(np.float64)
        given = ~np.isnan(numbers)
        if given.any():
            set_parameters(keys.take(given), {name: numbers[given]})


def _without_counts(report: Report) -> Report:
    """Return the report of a bake within another operation without its counts."""
    return Report(errors=report.errors, notes=report.notes)
