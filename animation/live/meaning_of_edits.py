# SPDX-License-Identifier: GPL-3.0-or-later
"""The meaning of edits: parameters implied by edits to keys, found by comparing keys with their records.

`mirrored_keys` finds keys mirrored in time. On a track played by handles, a key inserted by Blender preserves the
curve, and a dragged handle changes it. In both cases, the key gets the tension, continuity and bias that best fit the
curve. The result depends only on the keys and the table, so it is the same after every undo.

These conditions distinguish a drag from Blender's own changes to handles:

- The channel contains exactly the keys that were written.
- The key has not moved, but a handle placed by the bake has a different slope.
- The handle is selected without its key, or no key of the track has moved.

A handle with the same slope but a different length does not change any parameter, because the length also changes when
a neighboring key is inserted in Blender and then deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...interp import rotations
from ...interp.rotations.representations import rotation_representation
from ..bake.plans.handles import is_keyed_whole
from ..bake.plans.protocol import OwnChannels
from ..bake.plans.splines import bends_by_parameters
from ..errors import Finding
from ..fcurves import beziers
from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import (
    NO_KEYS,
    SIDES,
    BoolArray,
    Float32Array,
    Float64Array,
    Joined,
    Keyframes,
    both,
    read,
    read_joined,
)
from ..records import record
from ..store.frame_functions import function_of
from ..store.own_keys import OwnKeys, own_end_to_end
from ..store.restored_keys import LEFT_PLACED, PUSHED, RIGHT_PLACED
from ..store.table import key_identity
from ..store.table import rows as rows_
from ..store.table.custom_property import OWN, Written
from ..store.tracks import Track
from .key_tangents import KeyTangents
from .mirrored_keys import mirrored_rows, with_mirrored, written_keys

_SHORTEST = 1e-3
"""Length in frames. Handles that are shorter in time, such as vertical handles, are treated as if they had this
length."""
_ROUNDED = 1e-6
"""Rounding error of handles in frame and value, relative to the key's frame or value, or to 1 if that is larger."""
_STEP = 1e-3
"""Step in frames of the central differences that give derivatives of curves."""
_ON_CURVE = 1e-4
"""Tolerance relative to the range of values. Keys that Blender inserts on a curve are rounded."""
_TURN = 1e-6
"""Step in radians of the central differences that give angular velocities."""


@record(eq=False)
class _Goal:
    """The velocity that the channels should have on one side of a key."""

    numbers: Float64Array
    """Channel values at the key, shape (c,)."""
    slopes: Float64Array
    """Derivatives per frame, shape (c,)."""
    dragged: bool
    """True if the animator dragged a handle."""


_Goals = dict[int, dict[str, _Goal]]
"""Goals by row of the key, then by side."""


def may_imply(tracks: Sequence[Track], every: Sequence[OwnChannels]) -> list[bool]:
    """Return, for each track, whether edits can imply parameters of the animator's keys.

    Edits can imply parameters only if keys have changed since they were written, or if a handle of an unmoved key was
    moved while the key or the handle was selected.
    """
    places, owns, written = [], [], []
    result = [False] * len(tracks)
    for number, (track, channels) in enumerate(zip(tracks, every, strict=True)):
        if track.is_baked or track.state is None or not track.state.channels:
            continue
        before = [written_keys(track, index) for index in channels]
        known = [each for each in before if each is not None]
        own = [*channels.values()]
        if len(known) < len(own) or [*map(len, known)] != [each.count for each in own]:
            result[number] = True
            continue
        places += [number] * len(own)
        owns += own
        written += known
    if places:
        together, wrote = own_end_to_end(owns), rows_.Columns(rows_.joined(written, OWN))
        joined = Joined(together.keys, list(map(len, written)))
        implies = together.identities != wrote["identity"]
        stand = _stands(joined.keys, wrote)
        may_be_dragged, flags = _may_be_dragged(joined.keys, stand, joined.spread(joined.sums(~stand) == 0))
        may_be_dragged &= flags[0] | flags[1]
        if np.count_nonzero(may_be_dragged):
            implies |= may_be_dragged & _have_other_handles(together, wrote)
        for row in np.flatnonzero(joined.sums(implies)).tolist():
            result[places[row]] = True
    return result


def _have_other_handles(together: OwnKeys, written: rows_.Fields) -> BoolArray:
    """Return a mask of the keys whose handles may have been moved since they were placed.

    If the positions are unknown, all elements are true.
    """
    now = together.as_read
    if now is None:
        return np.ones(len(written), dtype=np.bool_)
    return _is_moved(now, written, SIDES[0], LEFT_PLACED) | _is_moved(now, written, SIDES[1], RIGHT_PLACED)


def with_implied(track: Track, own: OwnChannels, defaults: Mapping[str, float]) -> tuple[OwnChannels, list[Finding]]:
    """Give the animator's keys the parameters implied by edits since the last bake.

    Return the keys, with notes on failures. `defaults` contains the parameters of keys that have none of their own.
    """
    result = with_mirrored(track, own, defaults)
    notes: list[Finding] = []
    if track.is_baked or track.state is None or not track.state.channels:
        return result, notes
    bends = _bends(track)
    for components in _played_together(track, result):
        part = {index: result[index] for index in components}
        goals = _goals(track, part, result, bends)
        if goals and bends:
            result |= _bent(track, part, goals, defaults, notes)
        elif goals:
            notes += [_note_on_key(track, part, row, "HANDLE_FIXED") for row in goals]
    return result, notes


def _bends(track: Track) -> bool:
    """Return whether parameters can bring the track's handles to a goal."""
    return bends_by_parameters(track, track.settings) and function_of(track) is None


def _goals(track: Track, own: OwnChannels, every: OwnChannels, bends: bool) -> _Goals:
    """Return the goals at keys, for channels with a common spline. `every` contains all channels of the track."""
    return _dragged(track, own, every) | (_inserted(track, own) if bends else {})


def are_implied(track: Track, own: OwnChannels) -> bool:
    """Return whether edits since the last bake imply parameters for the animator's keys, which the next bake will set.

    The next bake would reverse or replace any parameters set before it.
    """
    if not may_imply([track], [own])[0]:
        return False
    if any(len(mirrored_rows(track, index, each)) for index, each in own.items()):
        return True
    groups = _played_together(track, own) if _bends(track) else []
    return any(_goals(track, {index: own[index] for index in part}, own, bends=True) for part in groups)


def _played_together(track: Track, own: OwnChannels) -> list[list[int]]:
    """Return the groups of channels with a common spline. The list is empty if the track is not played by handles."""
    if not track.is_played_by_handles or not own:
        return []
    if not track.is_rotation:
        return [[index] for index in own]
    return [list(own)] if is_keyed_whole(track, own) else []


def _dragged(track: Track, own: OwnChannels, every: OwnChannels) -> _Goals:
    """Return the goals defined by dragged handles. `every` contains all channels of the track."""
    stand = {index: _stand(track, index, each) for index, each in every.items()}
    moved = not all(each.all() for each in stand.values())
    sides = {index: _sides_dragged(track, index, each, stand[index], moved) for index, each in own.items()}
    if not any(rows.any() for each in sides.values() for rows in each):
        return {}
    keys = {index: read(track.channels[index]) for index in own}
    goals: _Goals = {}
    for place, side in enumerate(SIDES):
        for row in np.flatnonzero(np.any([each[place] for each in sides.values()], axis=0)).tolist():
            numbers = {index: float(each.values[row]) for index, each in keys.items()}
            slopes = {index: _slope(each, row, side) for index, each in keys.items()}
            goals.setdefault(row, {})[side] = _goal(track, numbers, slopes, dragged=True)
    return goals


def _stand(track: Track, index: int, own: OwnKeys) -> BoolArray:
    """Return a mask of a channel's keys that are unchanged since they were written.

    If keys were added or removed, all elements are false.
    """
    written = written_keys(track, index)
    if written is None or own.identities.tobytes() != written["identity"].tobytes():
        return np.zeros(own.count, dtype=np.bool_)
    return _stands(own.keys, written)


def _sides_dragged(
    track: Track, index: int, own: OwnKeys, stand: BoolArray, moved: bool
) -> tuple[BoolArray, BoolArray]:
    """Return a mask of the channel's keys whose left handles were dragged, and a mask for right handles.

    `moved` is true if any key of the track has moved since the keys were written.
    """
    written, fcurve = written_keys(track, index), track.channels[index]
    none = np.zeros(own.count, dtype=np.bool_)
    if written is None or not stand.any():
        return none, none
    may_be_dragged, flags = _may_be_dragged(own.keys, stand, np.bool_(not moved))
    if not (may_be_dragged & (flags[0] | flags[1])).any() or len(fcurve.keyframe_points) != len(written):
        return none, none
    now = read_joined([fcurve], (*SIDES, *(f"{side}_type" for side in SIDES))).keys
    left, right = (
        may_be_dragged & selected & _is_moved(now, written, name, placed)
        for name, selected, placed in zip(SIDES, flags, (LEFT_PLACED, RIGHT_PLACED), strict=True)
    )
    return left, right


def _stands(keys: Keyframes, written: rows_.Fields) -> BoolArray:
    """Return a mask of the keys that still have the frames and values that were written."""
    stands: BoolArray = (keys.frames == written["co"][:, 0]) & (keys.values == written["value"])
    return stands


def _may_be_dragged(
    keys: Keyframes, stand: BoolArray, all_stand: BoolArray | np.bool_
) -> tuple[BoolArray, tuple[BoolArray, BoolArray]]:
    """Return a mask of the keys whose handles may have been dragged, and masks of selected left and right handles.

    `stand` is a mask of the keys that have not moved. `all_stand` is true if no key of the track has moved.
    """
    # Scaling values moves the handles of keys with value 0, but not the keys.
    may_be_dragged = stand & (all_stand | ~keys.select_control_point)
    return may_be_dragged, (
        keys.select_left_handle | keys.select_control_point,
        keys.select_right_handle | keys.select_control_point,
    )


def _is_moved(keys: Keyframes, written: rows_.Fields, name: str, placed: int) -> BoolArray:
    was_placed = ((written["placed"] & placed) != 0) & (getattr(keys, f"{name}_type") == written[f"{name}_type"])
    now, before = getattr(keys, name), written[name]
    # Blender moves a handle off its key when aligning it, and rounds the frames of handles displayed in scene time.
    on_key = both(before == written["co"])
    frames, values = np.abs(now - before).T
    is_elsewhere = ((frames >= SAME_FRAME) | (values > 0.0)) & ~_have_same_slopes(now, before, written["co"])
    moved: BoolArray = np.where(on_key, frames > PUSHED, is_elsewhere)
    moved &= was_placed
    return moved


def _have_same_slopes(handles: Float32Array, others: Float32Array, keys: Float32Array) -> BoolArray:
    """Return a mask of the handles with the same direction as `others`, except for rounding. Handles: shape (n, 2)."""
    one, other = (each.astype(np.float64) - keys for each in (handles, others))
    rounded = _ROUNDED * np.maximum(1.0, np.abs(keys.astype(np.float64)))
    across = np.abs(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])
    alike: BoolArray = across <= rounded[:, 0] * np.abs(other[:, 1]) + rounded[:, 1] * np.abs(other[:, 0])
    alike &= (one * other).sum(axis=1) > 0.0
    return alike


def _slope(keys: Keyframes, key: int, side: str) -> float:
    """Return the derivative per frame that a handle defines."""
    frames, values = (getattr(keys, side)[key] - keys.co[key]).astype(np.float64)
    away = max(abs(frames), _SHORTEST)
    return float(values / (away if side == "handle_right" else -away))


def _inserted(track: Track, own: OwnChannels) -> _Goals:
    """Return the goals at keys that were inserted on the curves since the curves were written."""
    fresh = np.all([each.identities == key_identity.NONE for each in own.values()], axis=0)
    if not fresh.any():
        return {}
    goals: _Goals = {}
    curves = {index: _curve(written) for index in own if (written := written_keys(track, index)) is not None}
    # The negated quaternion represents the same orientation.
    signs = (1.0, -1.0) if track.kind == "QUATERNION" and len(own) == len(track.rest) else (1.0,)
    for row in np.flatnonzero(fresh).tolist():
        values: dict[int, float] = {}
        courses: dict[int, tuple[float, float]] = {}
        for index, curve in curves.items():
            frame, values[index] = own[index].keys.co[row].astype(np.float64).tolist()
            course = _course(curve, frame)
            if course is not None:
                courses[index] = course
        if len(courses) == len(own) and any(_are_on(curves, courses, values, sign) for sign in signs):
            numbers, slopes = ({index: course[part] for index, course in courses.items()} for part in range(2))
            goals[row] = {side: _goal(track, numbers, slopes, dragged=False) for side in SIDES}
    return goals


def _are_on(
    curves: Mapping[int, Keyframes],
    courses: Mapping[int, tuple[float, float]],
    values: Mapping[int, float],
    sign: float,
) -> bool:
    """Return whether the values, multiplied by the sign, are on the curves."""
    for index, curve in curves.items():
        size = float(np.ptp(curve.values.astype(np.float64))) + abs(values[index])
        if abs(courses[index][0] - sign * values[index]) > _ON_CURVE * size:
            return False
    return True


def _curve(written: Written) -> Keyframes:
    """Return the curve's keys as they were written."""
    names = ("co", *SIDES, "interpolation")
    return NO_KEYS.with_(**{name: np.ascontiguousarray(written[name]) for name in names})


def _course(curve: Keyframes, frame: float) -> tuple[float, float] | None:
    """Return the value and derivative of the curve at the frame, or None outside Bezier segments."""
    begin = int(np.searchsorted(curve.frames, frame)) - 1
    if not 0 <= begin < len(curve) - 1 or not beziers.is_plain(curve)[begin]:
        return None
    about = frame + _STEP * np.array([0.0, -1.0, 1.0])
    value, before, after = beziers.evaluate(curve, np.full(3, begin), about).tolist()
    return value, (after - before) / (2.0 * _STEP)


def _goal(track: Track, numbers: Mapping[int, float], slopes: Mapping[int, float], dragged: bool) -> _Goal:
    """Return a goal. Rotation channels without a curve are constant."""
    if not track.is_rotation:
        return _Goal(np.array(list(numbers.values())), np.array(list(slopes.values())), dragged)
    every = range(len(track.rest))
    held = np.array([numbers.get(index, track.component(index)) for index in every])
    return _Goal(held, np.array([slopes.get(index, 0.0) for index in every]), dragged)


def _bent(
    track: Track, own: OwnChannels, goals: _Goals, defaults: Mapping[str, float], notes: list[Finding]
) -> OwnChannels:
    """Return the animator's keys in channels with a common spline, with the parameters that best fit the goals."""
    count = max(each.count for each in own.values())
    # The tangents of the first and last keys depend on the tangents of their neighbors.
    ends = [row for row in goals if row in (0, count - 1)]
    for row in [*(row for row in goals if row not in ends), *ends]:
        sides = goals[row]
        key = KeyTangents(track, own, dict.fromkeys(own, row), defaults)
        there = all(side in key.now for side in sides)
        found = (
            key.best_parameters({side: _tangent(key, side, goal) for side, goal in sides.items()}) if there else None
        )
        if any(goal.dragged for goal in sides.values()) and (found is None or not found.is_near):
            notes.append(_note_on_key(track, own, row, "HANDLE_FIXED" if found is None else "HANDLE_NEAREST"))
        if found is not None:
            own = key.with_parameters(found.parameters)
    return own


def _note_on_key(track: Track, own: OwnChannels, row: int, code: str) -> Finding:
    frame = float(next(iter(own.values())).keys.frames[row])
    return track.finding(code, frame=frame)


def _tangent(key: KeyTangents, side: str, goal: _Goal) -> Float64Array:
    """Return the tangent, per unit of the local segment parameter, for these derivatives of the channels."""
    width = key.width(side)
    if not key.track.is_rotation:
        return goal.slopes * width
    held = rotation_representation(key.track.order if key.track.kind == "EULER" else key.track.kind)
    tiny = _TURN / max(float(np.abs(goal.slopes).max()), _TURN)
    around = goal.numbers + np.outer([tiny, -tiny], goal.slopes)
    ahead, behind = rotations.normalise(held.orientation(around.T).T)
    # For small angles, the vector part of the quaternion is half the rotation vector.
    turned = rotations.multiply(ahead, behind * [1.0, -1.0, -1.0, -1.0])
    velocity: Float64Array = 2.0 * turned[1:] * np.sign(turned[0]) / (2.0 * tiny)
    return velocity * width
