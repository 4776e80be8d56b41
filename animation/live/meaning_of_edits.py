# SPDX-License-Identifier: GPL-3.0-or-later
"""The meaning of edits: parameters implied by edits to keys, found by comparing keys with their records.

`mirrored_keys` finds keys mirrored in time. On a track played by handles, a key inserted by Blender preserves the curve
(`inserted_keys`), and a dragged handle changes it (`dragged_handles`). In both cases, the key gets the tension,
continuity and bias that best fit the curve. The result depends only on the keys and the table, so it is the same after
every undo.

These conditions distinguish a drag from Blender's own changes to handles:

- The channel contains exactly the keys that were written.
- The key has not moved, but a handle placed by the bake has a different slope.
- The handle is selected without its key, or no key of the track has moved.

A handle with the same slope but a different length does not change any parameter, because the length also changes when
a neighboring key is inserted in Blender and then deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...interp import rotations
from ...interp.fitting.tcb_from_tangents import OTHER_STAYS
from ...interp.rotations.representations import rotation_representation
from ..bake.plans.own_motion import OwnChannels, is_keyed_whole
from ..bake.plans.track_methods import bends_by_parameters
from ..errors import Finding
from ..fcurves import segments
from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import NO_KEYS, SIDES, BoolArray, Float32Array, Float64Array, Joined, Keyframes, both
from ..fcurves.read_keys import read, read_joined
from ..records import record
from ..store.frame_functions import function_of
from ..store.own_keys import OwnKeys, own_end_to_end
from ..store.restored_keys import LEFT_PLACED, PUSHED, RIGHT_PLACED
from ..store.table import key_identity
from ..store.table import rows as rows_
from ..store.table.track_records import OWN, Written
from ..store.tracks import Track
from .key_tangents import KeyTangents
from .mirrored_keys import mirrored_rows, with_mirrored, written_keys

_STEP = 1e-3
"""Step in frames of the central differences that give derivatives of curves."""
_ON_CURVE = 1e-4
"""Tolerance relative to the range of values. Keys that Blender inserts on a curve are rounded."""


def find_inserted(track: Track, own: OwnChannels) -> Iterator[tuple[int, dict[int, float], dict[int, float]]]:
    """Yield the rows of keys inserted on the curves since they were written, with the curves' values and slopes.

    `own` contains channels with a common spline. Slopes are derivatives per frame.
    """
    fresh = np.all([each.identities == key_identity.NONE for each in own.values()], axis=0)
    if not fresh.any():
        return
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
            on_curves, slopes = ({index: course[part] for index, course in courses.items()} for part in range(2))
            yield row, on_curves, slopes


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
    if not 0 <= begin < len(curve) - 1 or not segments.is_plain(curve)[begin]:
        return None
    about = frame + _STEP * np.array([0.0, -1.0, 1.0])
    value, before, after = segments.evaluate_beziers(curve, np.full(3, begin), about).tolist()
    return value, (after - before) / (2.0 * _STEP)


_SHORTEST = 1e-3
"""Length in frames. Handles that are shorter in time, such as vertical handles, are treated as if they had this
length."""
_ROUNDED = 1e-6
"""Rounding error of handles in frame and value, relative to the key's frame or value, or to 1 if that is larger."""


def may_be_dragged(own: OwnKeys, joined: Joined, written: rows_.Fields) -> BoolArray:
    """Return a mask of the keys whose handles may have been dragged.

    `own` and `joined` contain the same keys of several channels, and `written` their records.
    """
    unmoved = _are_unmoved(joined.keys, written)
    left, right = _sides_that_may_be_dragged(joined.keys, unmoved, joined.spread(joined.sums(~unmoved) == 0))
    result: BoolArray = left | right
    if np.count_nonzero(result):
        result &= _have_other_handles(own, written)
    return result


def find_dragged(
    track: Track, own: OwnChannels, every: OwnChannels
) -> Iterator[tuple[int, str, dict[int, float], dict[int, float]]]:
    """Yield the rows of keys and sides with a dragged handle, with the values and slopes of the channels.

    `own` contains channels with a common spline, and `every` all channels of the track. Values are at the key. Slopes
    are the derivatives per frame that the handles define.
    """
    unmoved = {index: _unmoved_keys(track, index, keys) for index, keys in every.items()}
    all_unmoved = all(mask.all() for mask in unmoved.values())
    masks = [_sides_dragged(track, index, keys, unmoved[index], all_unmoved) for index, keys in own.items()]
    # A handle counts as dragged if it was dragged in any of the channels.
    rows_by_side = [np.flatnonzero(np.any(masks_of_side, axis=0)) for masks_of_side in zip(*masks, strict=True)]
    if not any(map(len, rows_by_side)):
        return
    keys_now = {index: read(track.channels[index]) for index in own}
    for side, rows in zip(SIDES, rows_by_side, strict=True):
        for row in rows.tolist():
            values = {index: float(keys.values[row]) for index, keys in keys_now.items()}
            slopes = {index: _slope(keys, row, side) for index, keys in keys_now.items()}
            yield row, side, values, slopes


def _unmoved_keys(track: Track, index: int, own: OwnKeys) -> BoolArray:
    """Return a mask of a channel's keys that have not moved since they were written.

    If keys were added or removed, all elements are false.
    """
    written = written_keys(track, index)
    if written is None or own.identities.tobytes() != written["identity"].tobytes():
        return np.zeros(own.count, dtype=np.bool_)
    return _are_unmoved(own.keys, written)


def _sides_dragged(
    track: Track, index: int, own: OwnKeys, unmoved: BoolArray, all_unmoved: bool
) -> tuple[BoolArray, BoolArray]:
    """Return masks of the channel's keys whose left and right handles were dragged."""
    written, fcurve = written_keys(track, index), track.channels[index]
    no_keys = np.zeros(own.count, dtype=np.bool_)
    if written is None or not unmoved.any():
        return no_keys, no_keys
    candidates = _sides_that_may_be_dragged(own.keys, unmoved, np.bool_(all_unmoved))
    if not any(mask.any() for mask in candidates) or len(fcurve.keyframe_points) != len(written):
        return no_keys, no_keys
    now = read_joined([fcurve], (*SIDES, *(f"{side}_type" for side in SIDES))).keys
    left, right = (
        may_be & _is_moved(now, written, name, placed)
        for name, may_be, placed in zip(SIDES, candidates, (LEFT_PLACED, RIGHT_PLACED), strict=True)
    )
    return left, right


def _are_unmoved(keys: Keyframes, written: rows_.Fields) -> BoolArray:
    """Return a mask of the keys that still have the frames and values that were written."""
    unmoved: BoolArray = (keys.frames == written["co"][:, 0]) & (keys.values == written["value"])
    return unmoved


def _sides_that_may_be_dragged(
    keys: Keyframes, unmoved: BoolArray, all_unmoved: BoolArray | np.bool_
) -> tuple[BoolArray, BoolArray]:
    """Return masks of the keys whose left and right handles may have been dragged, judging by the selection.

    `unmoved` is a mask of the keys that have not moved. `all_unmoved` is true if no key of the track has moved.
    """
    # Scaling values moves the handles of keys with value 0, but not the keys.
    may_be_dragged = unmoved & (all_unmoved | ~keys.select_control_point)
    return (
        may_be_dragged & (keys.select_left_handle | keys.select_control_point),
        may_be_dragged & (keys.select_right_handle | keys.select_control_point),
    )


def _have_other_handles(own: OwnKeys, written: rows_.Fields) -> BoolArray:
    """Return a mask of the keys whose handles may have been moved since they were placed.

    If the positions are unknown, all elements are true.
    """
    now = own.as_read
    if now is None:
        return np.ones(len(written), dtype=np.bool_)
    return _is_moved(now, written, SIDES[0], LEFT_PLACED) | _is_moved(now, written, SIDES[1], RIGHT_PLACED)


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
    offset, other = (positions.astype(np.float64) - keys for positions in (handles, others))
    rounding = _ROUNDED * np.maximum(1.0, np.abs(keys.astype(np.float64)))
    cross = np.abs(offset[:, 0] * other[:, 1] - offset[:, 1] * other[:, 0])
    is_same: BoolArray = cross <= rounding[:, 0] * np.abs(other[:, 1]) + rounding[:, 1] * np.abs(other[:, 0])
    is_same &= (offset * other).sum(axis=1) > 0.0
    return is_same


def _slope(keys: Keyframes, key: int, side: str) -> float:
    """Return the derivative per frame that a handle defines."""
    frames, values = (getattr(keys, side)[key] - keys.co[key]).astype(np.float64)
    away = max(abs(frames), _SHORTEST)
    return float(values / (away if side == "handle_right" else -away))


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
    track_numbers, own_channels, records = [], [], []
    result = [False] * len(tracks)
    for number, (track, channels) in enumerate(zip(tracks, every, strict=True)):
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
        own_keys, written_columns = own_end_to_end(own_channels), rows_.Columns(rows_.joined(records, OWN))
        joined = Joined(own_keys.keys, list(map(len, records)))
        implies = own_keys.identities != written_columns["identity"]
        implies |= may_be_dragged(own_keys, joined, written_columns)
        for channel in np.flatnonzero(joined.sums(implies)).tolist():
            result[track_numbers[channel]] = True
    return result


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
        channels = {index: result[index] for index in components}
        goals = _goals(track, channels, result, bends)
        if goals and bends:
            result |= _bent(track, channels, goals, defaults, notes)
        elif goals:
            notes += [_note_on_key(track, channels, row, "HANDLE_FIXED") for row in goals]
    return result, notes


def _bends(track: Track) -> bool:
    """Return whether parameters can bring the track's handles to a goal."""
    return bends_by_parameters(track, track.settings) and function_of(track) is None


def _goals(track: Track, own: OwnChannels, every: OwnChannels, bends: bool) -> _Goals:
    """Return the goals at keys, for channels with a common spline. `every` contains all channels of the track."""
    goals: _Goals = {}
    for row, side, values, slopes in find_dragged(track, own, every):
        goals.setdefault(row, {})[side] = _goal(track, values, slopes, dragged=True)
    for row, values, slopes in find_inserted(track, own) if bends else ():
        goals[row] = {side: _goal(track, values, slopes, dragged=False) for side in SIDES}
    return goals


def are_implied(track: Track, own: OwnChannels) -> bool:
    """Return whether edits since the last bake imply parameters for the animator's keys, which the next bake will set.

    The next bake would reverse or replace any parameters set before it.
    """
    if not may_imply([track], [own])[0]:
        return False
    if any(len(mirrored_rows(track, index, keys)) for index, keys in own.items()):
        return True
    groups = _played_together(track, own) if _bends(track) else []
    return any(_goals(track, {index: own[index] for index in group}, own, bends=True) for group in groups)


def _played_together(track: Track, own: OwnChannels) -> list[list[int]]:
    """Return the groups of channels with a common spline. The list is empty if the track is not played by handles."""
    if not track.is_played_by_handles or not own:
        return []
    if not track.is_rotation:
        return [[index] for index in own]
    return [list(own)] if is_keyed_whole(track, own) else []


def _goal(track: Track, numbers: Mapping[int, float], slopes: Mapping[int, float], dragged: bool) -> _Goal:
    """Return a goal. Rotation channels without a curve are constant."""
    if not track.is_rotation:
        return _Goal(np.array(list(numbers.values())), np.array(list(slopes.values())), dragged)
    components = range(len(track.rest))
    values_at_key = np.array([numbers.get(index, track.component(index)) for index in components])
    return _Goal(values_at_key, np.array([slopes.get(index, 0.0) for index in components]), dragged)


def _bent(
    track: Track, own: OwnChannels, goals: _Goals, defaults: Mapping[str, float], notes: list[Finding]
) -> OwnChannels:
    """Return the animator's keys in channels with a common spline, with the parameters that best fit the goals."""
    count = max(keys.count for keys in own.values())
    # The tangents of the first and last keys depend on the tangents of their neighbors.
    for row in sorted(goals, key=lambda row: row in (0, count - 1)):
        goals_of_key = goals[row]
        key = KeyTangents(track, own, dict.fromkeys(own, row), defaults)
        best = None
        if all(side in key.now for side in goals_of_key):
            tangents = {side: _tangent(key, side, goal) for side, goal in goals_of_key.items()}
            # A handle that was not dragged stays.
            best = key.best_parameters(tangents, stays=OTHER_STAYS)
        if any(goal.dragged for goal in goals_of_key.values()) and (best is None or not best.is_near):
            notes.append(_note_on_key(track, own, row, "HANDLE_FIXED" if best is None else "HANDLE_NEAREST"))
        if best is not None:
            own = key.with_parameters(best.parameters)
    return own


def _note_on_key(track: Track, own: OwnChannels, row: int, code: str) -> Finding:
    frame = float(next(iter(own.values())).keys.frames[row])
    return track.finding(code, frame=frame)


def _tangent(key: KeyTangents, side: str, goal: _Goal) -> Float64Array:
    """Return the tangent, per unit of the local segment parameter, for these derivatives of the channels."""
    width = key.width(side)
    if not key.track.is_rotation:
        return goal.slopes * width
    representation = rotation_representation(key.track.order if key.track.kind == "EULER" else key.track.kind)
    step = _TURN / max(float(np.abs(goal.slopes).max()), _TURN)
    values_around = goal.numbers + np.outer([step, -step], goal.slopes)
    ahead, behind = rotations.normalise(representation.orientation(values_around.T).T)
    # For small angles, the vector part of the quaternion is half the rotation vector.
    turned = rotations.multiply(ahead, behind * [1.0, -1.0, -1.0, -1.0])
    velocity: Float64Array = 2.0 * turned[1:] * np.sign(turned[0]) / (2.0 * step)
    return velocity * width
