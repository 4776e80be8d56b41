# SPDX-License-Identifier: GPL-3.0-or-later
"""The meaning of edits: parameters implied by edits to keys, found by comparing the keys with their last written state.

Keys mirrored in time get reversed parameters (`mirrored_keys`). On a track played by handles, a key inserted by Blender
preserves the curve, and a dragged handle changes it (`dragged_handles`). In both cases, the key gets the tension,
continuity and bias that best fit the curve. The result depends only on the keys and the table, so it is the same after
every undo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...interp import rotations
from ...interp.fitting.tcb_from_tangents import OTHER_STAYS
from ...interp.rotations.representations import rotation_representation
from ..bake.plans.own_motion import OwnChannels, is_keyed_whole
from ..fcurves.keyframes import NO_KEYS, PAIRS, SIDES, Float64Array, Joined, Keyframes
from ..fcurves.segments import evaluate_beziers, is_plain
from ..records import record
from ..report import Finding
from ..store.frame_functions import function_of
from ..store.own_keys import own_end_to_end
from ..store.table import key_identity
from ..store.table.rows import joined
from ..store.table.track_records import OWN
from ..store.tracks import Track, bends_by_parameters
from .dragged_handles import CurvePoint, KeyTangents, are_dragged, find_dragged
from .mirrored_keys import mirrored_rows, with_mirrored, written_keys

_TURN = 1e-6
"""Step in radians of the central differences that give angular velocities."""
_STEP = 1e-3
"""Step in frames of the central differences that give derivatives of curves."""
_ON_CURVE = 1e-4
"""Tolerance relative to the range of values. Keys that Blender inserts on a curve are rounded."""


def with_implied(track: Track, own: OwnChannels, defaults: Mapping[str, float]) -> tuple[OwnChannels, list[Finding]]:
    """Give the animator's keys the parameters implied by edits since the last bake.

    Return the keys, with notes on failures. `defaults` contains the parameters of keys that have none of their own.
    """
    result = with_mirrored(track, own, defaults)
    notes: list[Finding] = []
    if track.is_baked or track.state is None or not track.state.channels:
        return result, notes
    can_bend = _can_bend(track)
    for components in _groups_with_common_spline(track, result):
        channels = {index: result[index] for index in components}
        goals = _goals(track, channels, result, can_bend)
        if goals and can_bend:
            bent, notes_on_goals = _bent(track, channels, goals, defaults)
            result |= bent
            notes += notes_on_goals
        elif goals:
            notes += [_note_on_key(track, channels, row, "HANDLE_FIXED") for row in goals]
    return result, notes


def are_implied(track: Track, own: OwnChannels) -> bool:
    """Return whether edits since the last bake imply parameters for the animator's keys, which the next bake will set.

    The next bake would reverse or replace any parameters set before it.
    """
    if not may_imply([track], [own])[0]:
        return False
    if any(len(mirrored_rows(track, index, keys)) for index, keys in own.items()):
        return True
    groups = _groups_with_common_spline(track, own) if _can_bend(track) else []
    return any(_goals(track, {index: own[index] for index in group}, own, can_bend=True) for group in groups)


def may_imply(tracks: Sequence[Track], own_of_tracks: Sequence[OwnChannels]) -> list[bool]:
    """Return, for each track, whether edits can imply parameters of the animator's keys.

    This fast check for many tracks excludes most of them. Edits can imply parameters only if keys have changed since
    they were written, or if a handle of an unmoved key was moved while the key or the handle was selected.
    """
    track_numbers, own_channels, records = [], [], []
    result = [False] * len(tracks)
    for number, (track, channels) in enumerate(zip(tracks, own_of_tracks, strict=True)):
        if track.is_baked or track.state is None or not track.state.channels:
            continue
        records_of_track = [written for index in channels if (written := written_keys(track, index)) is not None]
        own = [*channels.values()]
        if [*map(len, records_of_track)] != [keys.count for keys in own]:
            result[number] = True
            continue
        track_numbers += [number] * len(own)
        own_channels += own
        records += records_of_track
    if track_numbers:
        own_keys, all_written = own_end_to_end(own_channels), joined(records, OWN)
        joined_keys = Joined(own_keys.keys, list(map(len, records)))
        implies = own_keys.identities != all_written["identity"]
        implies |= are_dragged(own_keys, joined_keys, all_written)
        for channel in np.flatnonzero(joined_keys.sums(implies)).tolist():
            result[track_numbers[channel]] = True
    return result


def _can_bend(track: Track) -> bool:
    """Return whether parameters can bring the track's handles to a goal."""
    return bends_by_parameters(track, track.settings) and function_of(track) is None


def _groups_with_common_spline(track: Track, own: OwnChannels) -> list[list[int]]:
    """Return the groups of channels with a common spline. The list is empty if the track is not played by handles."""
    if not track.is_played_by_handles or not own:
        return []
    if not track.is_rotation:
        return [[index] for index in own]
    return [list(own)] if is_keyed_whole(track, own) else []


@record(eq=False)
class _Goal:
    """The motion that the channels should have on one side of a key."""

    values: Float64Array
    """Channel values at the key, shape (c,)."""
    slopes: Float64Array
    """Derivatives per frame, shape (c,)."""
    is_dragged: bool
    """True if the animator dragged a handle."""


_Goals = dict[int, dict[str, _Goal]]
"""Goals by row of the key, then by side."""


def _goals(track: Track, own: OwnChannels, all_channels: OwnChannels, can_bend: bool) -> _Goals:
    """Return the goals at keys, for the channels in `own`, which have a common spline."""
    goals: _Goals = {}
    for row, side, points in find_dragged(track, own, all_channels):
        goals.setdefault(row, {})[side] = _goal(track, points, is_dragged=True)
    for row, points in _inserted(track, own) if can_bend else ():
        goals[row] = dict.fromkeys(SIDES, _goal(track, points, is_dragged=False))
    return goals


def _inserted(track: Track, own: OwnChannels) -> Iterator[tuple[int, dict[int, CurvePoint]]]:
    """Yield the keys that Blender inserted on the curves: the row, and the point of the curve in each channel."""
    is_new = np.all([keys.identities == key_identity.NONE for keys in own.values()], axis=0)
    if not is_new.any():
        return
    names = (*PAIRS, "interpolation")
    curves = {
        index: NO_KEYS.with_(**{name: np.ascontiguousarray(written[name]) for name in names})
        for index in own
        if (written := written_keys(track, index)) is not None
    }
    # The negated quaternion represents the same orientation.
    signs = (1.0, -1.0) if track.kind == "QUATERNION" and len(own) == len(track.rest) else (1.0,)
    for row in np.flatnonzero(is_new).tolist():
        points = {
            index: point
            for index, curve in curves.items()
            if (point := _point_on(curve, float(own[index].keys.frames[row]))) is not None
        }
        values = np.array([own[index].keys.values[row] for index in points], dtype=np.float64)
        if len(points) == len(own) and any(_are_on(curves, points, sign * values) for sign in signs):
            yield row, points


def _point_on(curve: Keyframes, frame: float) -> CurvePoint | None:
    """Return the point of the curve at the frame, or None outside Bezier segments."""
    begin = int(np.searchsorted(curve.frames, frame)) - 1
    if not 0 <= begin < len(curve) - 1 or not is_plain(curve)[begin]:
        return None
    frames = frame + _STEP * np.array([0.0, -1.0, 1.0])
    value, before, after = evaluate_beziers(curve, np.full(3, begin), frames).tolist()
    return CurvePoint(value, (after - before) / (2.0 * _STEP))


def _are_on(curves: Mapping[int, Keyframes], points: Mapping[int, CurvePoint], values: Float64Array) -> bool:
    """Return whether a key with these values, one per channel, is on all curves."""
    sizes = np.array([np.ptp(curves[index].values.astype(np.float64)) for index in points]) + np.abs(values)
    return bool((np.abs([point.value for point in points.values()] - values) <= _ON_CURVE * sizes).all())


def _goal(track: Track, points: Mapping[int, CurvePoint], is_dragged: bool) -> _Goal:
    """Return a goal. Rotation channels without a curve are constant."""
    constant = {index: CurvePoint(track.component(index), 0.0) for index in range(len(track.rest))}
    points = {**constant, **points} if track.is_rotation else points
    values, slopes = np.array(list(points.values())).T
    return _Goal(values, slopes, is_dragged)


def _bent(
    track: Track, own: OwnChannels, goals: _Goals, defaults: Mapping[str, float]
) -> tuple[OwnChannels, list[Finding]]:
    """Return the keys, which have a common spline, with the parameters that best fit the goals, and notes on misses."""
    notes = []
    count = max(keys.count for keys in own.values())
    # The tangents of the first and last keys depend on the tangents of their neighbors.
    for row in sorted(goals, key=lambda row: row in (0, count - 1)):
        goals_of_key = goals[row]
        key = KeyTangents(track, own, dict.fromkeys(own, row), defaults)
        best = None
        if all(side in key.now for side in goals_of_key):
            tangents = {side: _tangent(key, side, goal) for side, goal in goals_of_key.items()}
            # A handle that was not dragged stays.
            best = key.best_parameters(tangents, weight_of_other=OTHER_STAYS)
        if any(goal.is_dragged for goal in goals_of_key.values()) and (best is None or not best.reaches_goals):
            notes.append(_note_on_key(track, own, row, "HANDLE_FIXED" if best is None else "HANDLE_NEAREST"))
        if best is not None:
            own = key.with_parameters(best.parameters)
    return own, notes


def _note_on_key(track: Track, own: OwnChannels, row: int, code: str) -> Finding:
    frame = float(next(iter(own.values())).keys.frames[row])
    return track.finding(code, frame=frame)


def _tangent(key: KeyTangents, side: str, goal: _Goal) -> Float64Array:
    """Return the tangent of the goal, per unit of the local segment parameter."""
    width = key.width(side)
    if not key.track.is_rotation:
        return goal.slopes * width
    representation = rotation_representation(key.track.order if key.track.kind == "EULER" else key.track.kind)
    step = _TURN / max(float(np.abs(goal.slopes).max()), _TURN)
    values_around = goal.values + np.outer([step, -step], goal.slopes)
    ahead, behind = rotations.normalise(representation.orientation(values_around.T).T)
    # For small angles, the vector part of the quaternion is half the rotation vector.
    turned = rotations.multiply(ahead, behind * [1.0, -1.0, -1.0, -1.0])
    velocity: Float64Array = 2.0 * turned[1:] * np.sign(turned[0]) / (2.0 * step)
    return velocity * width
