# SPDX-License-Identifier: GPL-3.0-or-later
"""Find handles that the animator dragged, and the tension, continuity and bias that best fit them.

These conditions distinguish a drag from Blender's own changes to handles:

- The channel contains exactly the keys that were written.
- The key has not moved, but a handle placed by the bake has a different slope.
- The handle is selected without its key, or no key of the track has moved.

A handle with the same slope but a different length does not count as dragged, because the length also changes when a
neighboring key is inserted in Blender and then deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...interp.fitting.tcb_from_tangents import tcb_of_tangents
from ..bake.plans.own_motion import OwnChannels
from ..bake.plans.track_splines import TrackSpline, track_splines
from ..fcurves.keyframes import (
    NO_KEYS,
    SAME_FRAME,
    SIDES,
    BoolArray,
    Float32Array,
    Float64Array,
    Joined,
    Keyframes,
    both,
)
from ..fcurves.read_and_write import read
from ..records import record
from ..store.own_keys import OwnKeys
from ..store.restored_keys import PUSHED
from ..store.table.rows import column_of
from ..store.table.track_records import LEFT_PLACED, RIGHT_PLACED, Written
from ..store.tracks import Track
from .mirrored_keys import written_keys

_SHORTEST = 1e-3
"""Length in frames. Handles that are shorter in time, such as vertical handles, are treated as if they had this
length."""
_ROUNDED = 1e-6
"""Rounding error of handles in frame and value, relative to the key's frame or value, or to 1 if that is larger."""


class CurvePoint(NamedTuple):
    """A point on a curve."""

    value: float
    slope: float
    """The derivative per frame."""


def find_dragged(
    track: Track, own: OwnChannels, all_channels: OwnChannels
) -> Iterator[tuple[int, str, dict[int, CurvePoint]]]:
    """Yield the dragged handles of the channels in `own`, which have a common spline.

    For each key and side with a dragged handle in any of the channels, yield the row, the side and, by channel, the
    key's value and the derivative that the handle defines.
    """
    unmoved = {index: _unmoved_keys(track, index, keys) for index, keys in all_channels.items()}
    all_unmoved = all(mask.all() for mask in unmoved.values())
    keys_now = {index: _keys_now(track, index, keys) for index, keys in own.items()}
    masks = [
        _sides_dragged(keys, keys_now[index], written, unmoved[index], np.bool_(all_unmoved))
        for index, keys in own.items()
        if (written := written_keys(track, index)) is not None and unmoved[index].any()
    ]
    rows_by_side = [np.flatnonzero(np.any(masks_of_side, axis=0)) for masks_of_side in zip(*masks, strict=True)]
    if not any(map(len, rows_by_side)):
        return
    for side, rows in zip(SIDES, rows_by_side, strict=True):
        for row in rows.tolist():
            points = {
                index: CurvePoint(float(keys.values[row_now]), _slope(keys, row_now, side))
                for index, keys in keys_now.items()
                for row_now in np.flatnonzero(keys.frames == own[index].frames[row]).tolist()
            }
            # A channel without a key at this frame has no slope there.
            if len(points) == len(own):
                yield row, side, points


def are_dragged(own: OwnKeys, joined: Joined, written: Written) -> BoolArray:
    """Return a mask of the keys with a dragged handle, for the keys and records of several channels.

    In addition, the mask contains handles that Blender moved when another channel of the track was edited.
    """
    unmoved = _are_unmoved(own.keys, written)
    left, right = _sides_dragged(own, own.as_read, written, unmoved, joined.spread(joined.sums(~unmoved) == 0))
    return left | right


def _keys_now(track: Track, index: int, own: OwnKeys) -> Keyframes:
    """Return the keys on a channel's F-curve, which may be fewer than those in `own`, if missing keys were added."""
    if own.as_read is not None:
        return own.as_read
    return read(track.channels[index]) if index in track.channels else NO_KEYS


def _unmoved_keys(track: Track, index: int, own: OwnKeys) -> BoolArray:
    """Return a mask of a channel's unmoved keys. If keys were added or removed, all elements are false."""
    written = written_keys(track, index)
    if written is None or own.identities.tobytes() != written["identity"].tobytes():
        return np.zeros(own.count, dtype=np.bool_)
    return _are_unmoved(own.keys, written)


def _are_unmoved(keys: Keyframes, written: Written) -> BoolArray:
    """Return a mask of the keys that still have the frames and values that were written."""
    unmoved: BoolArray = (keys.frames == written["co"][:, 0]) & (keys.values == written["value"])
    return unmoved


def _sides_dragged(
    own: OwnKeys,
    keys_now: Keyframes | None,
    written: Written,
    unmoved: BoolArray,
    all_unmoved: BoolArray | np.bool_,
) -> tuple[BoolArray, BoolArray]:
    """Return masks of the keys whose left and right handles were dragged.

    `unmoved` is a mask of the keys that have not moved. `all_unmoved` is true if no key of the track has moved.
    """
    keys = own.keys
    # Scaling values moves the handles of keys with value 0, but not the keys.
    may_be_dragged = unmoved & (all_unmoved | ~keys.select_control_point)
    left = may_be_dragged & (keys.select_left_handle | keys.select_control_point)
    right = may_be_dragged & (keys.select_right_handle | keys.select_control_point)
    if keys_now is not None and (left.any() or right.any()):
        left &= _is_moved(keys_now, written, SIDES[0], LEFT_PLACED)
        right &= _is_moved(keys_now, written, SIDES[1], RIGHT_PLACED)
    return left, right


def _is_moved(keys: Keyframes, written: Written, side: str, placed: int) -> BoolArray:
    """Return a mask of the keys whose handle was `placed` (a flag) on this side, and now has another slope."""
    was_placed = ((written["placed"] & placed) != 0) & (getattr(keys, f"{side}_type") == written[f"{side}_type"])
    now, before = getattr(keys, side), written[side]
    # Blender moves a handle off its key when aligning it, and rounds the frames of handles displayed in scene time.
    was_on_key = both(before == written["co"])
    frames, values = np.abs(now - before).T
    is_elsewhere = ((frames >= SAME_FRAME) | (values > 0.0)) & ~_have_same_slopes(now, before, written["co"])
    moved: BoolArray = np.where(was_on_key, frames > PUSHED, is_elsewhere)
    moved &= was_placed
    return moved


def _have_same_slopes(handles: Float32Array, others: Float32Array, keys: Float32Array) -> BoolArray:
    """Return a mask of the handles, shape (n, 2), with the same direction as `others`, except for rounding."""
    offset, other = (positions.astype(np.float64) - keys for positions in (handles, others))
    rounding = _ROUNDED * np.maximum(1.0, np.abs(keys.astype(np.float64)))
    cross = np.abs(offset[:, 0] * other[:, 1] - offset[:, 1] * other[:, 0])
    is_same: BoolArray = cross <= rounding[:, 0] * np.abs(other[:, 1]) + rounding[:, 1] * np.abs(other[:, 0])
    is_same &= (offset * other).sum(axis=1) > 0.0
    return is_same


def _slope(keys: Keyframes, row: int, side: str) -> float:
    frames, value = (getattr(keys, side)[row] - keys.co[row]).astype(np.float64)
    length = max(abs(frames), _SHORTEST)
    return float(value / (length if side == "handle_right" else -length))


# The parameters with which a key's tangents best fit given tangents


_SHAPE = [column_of(name) for name in ("tension", "continuity", "bias")]
"""Columns of the parameters that affect tangents."""
_EASE_TO, _EASE_FROM = column_of("ease_to"), column_of("ease_from")
_STEEPEST = 4.0
"""Limit for tangents, relative to the combined length of both chords. Parameters can't produce longer tangents."""
_REACHED = 0.02
"""If the error of a tangent, relative to the combined length of both chords, is within this limit, the goal is
reached."""
Tangents = dict[str, Float64Array]
"""Tangents by side, shape (d,), per length of the first spline's segment on that side."""


@record(eq=False)
class _BestParameters:
    """The parameters with which a key's tangents best fit given tangents."""

    parameters: Float64Array
    """Tension, continuity and bias."""
    reaches_goals: bool


@record(eq=False)
class KeyTangents:
    """The tangents of a key as functions of its parameters, for all channels of a rotation or components of values."""

    track: Track
    own: OwnChannels
    rows: Mapping[int, int]
    """Row of the key among the animator's keys of each channel."""
    defaults: Mapping[str, float]
    """Parameters of keys that have none of their own."""
    projection: Float64Array | None = None
    """Matrix, shape (m, d), applied to tangents before they are compared, for example to get the motion of a point."""

    @cached_property
    def present(self) -> Float64Array:
        """Return the key's current tension, continuity and bias."""
        key = self._keys[0]
        present: Float64Array = key.spline.spline.keys.parameters[_SHAPE, key.row]
        return present

    @cached_property
    def now(self) -> Tangents:
        """Return the key's current tangents."""
        return self._tangents_with(self.present)

    def width(self, side: str) -> float:
        """Return the length in frames of the first spline's segment on this side of the key. The segment must exist."""
        return self._keys[0].width(side)

    def is_eased(self, side: str) -> bool:
        """Return whether an ease defines the velocity of any component on this side of the key."""
        return any(key.is_eased(side) for key in self._keys)

    def best_parameters(self, goals: Mapping[str, Float64Array], weight_of_other: float) -> _BestParameters | None:
        """Return the parameters that best fit the goal tangents, given by side. The segments on these sides must exist.

        Return None if parameters do not determine the tangent: next to an ease, or at the end of a loop. On a side
        without a goal, the current tangent has the weight `weight_of_other`, relative to the other side.
        """
        if any(map(self.is_eased, goals)):
            return None
        if len(self.now) == len(SIDES):
            return self._best_inside(goals, weight_of_other)
        if any(key.spline.spline.cycle == "LOOP" for key in self._keys):
            return None
        return self._best_at_end(goals)

    def with_parameters(self, parameters: Float64Array) -> OwnChannels:
        """Return the animator's keys, with this tension, continuity and bias on this key."""
        result = {}
        for index, own in self.own.items():
            numbers = own.numbers.copy()
            numbers[self.rows[index], _SHAPE] = parameters
            result[index] = own.with_(numbers=numbers)
        return result

    def _best_inside(self, goals: Mapping[str, Float64Array], weight_of_other: float) -> _BestParameters:
        """Return the best parameters for a key with a segment on both sides."""
        before, after, shares = self._chords
        size = float(np.linalg.norm(before) + np.linalg.norm(after))
        incoming, outgoing = (
            (_shortened(goals[side], _STEEPEST * size) if side in goals else self.now[side])[np.newaxis]
            for side in SIDES
        )
        weights = np.array([[1.0 if side in goals else weight_of_other for side in SIDES]])
        (parameters,) = tcb_of_tangents(
            before[np.newaxis],
            after[np.newaxis],
            shares[:1],
            incoming,
            outgoing,
            self.present[:, np.newaxis],
            weights,
        ).T
        reached = self._tangents_with(parameters)
        error = max(float(np.linalg.norm(goal - reached[side])) for side, goal in goals.items())
        return _BestParameters(parameters, error <= _REACHED * size)

    def _best_at_end(self, goals: Mapping[str, Float64Array]) -> _BestParameters:
        """Return the best parameters for the first or last key, whose tangent is a linear function of the tension."""
        ((side, goal),) = goals.items()
        _, continuity, bias = self.present.tolist()
        slack = self._tangents_with(np.array([0.0, continuity, bias]))[side]
        change = self._tangents_with(np.array([1.0, continuity, bias]))[side] - slack
        size = float(change @ change)
        if size == 0.0:
            return _BestParameters(self.present, bool(np.abs(goal - slack).max() == 0.0))
        tension = float(np.clip((goal - slack) @ change / size, -1.0, 1.0))
        error = np.linalg.norm(slack + tension * change - goal)
        return _BestParameters(np.array([tension, continuity, bias]), bool(error <= _REACHED * np.sqrt(size)))

    @cached_property
    def _chords(self) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the chords before and after the key, and each segment's fraction of their combined duration."""
        widths = np.array([self.width(side) for side in SIDES])
        shares = widths / widths.sum()
        left, right = SIDES
        chords = []
        for bias in (1.0, -1.0):
            # Each tangent is the chord before or after the key, times twice the side's fraction.
            tangents = self._tangents_with(np.array([0.0, 0.0, bias]))
            chords.append((tangents[left] / shares[0] + tangents[right] / shares[1]) / 4.0)
        before, after = chords
        return before, after, shares

    def _tangents_with(self, parameters: Float64Array) -> Tangents:
        """Return the key's tangents with these parameters, on the sides where all components have a segment."""
        keys = self._keys_with(self.with_parameters(parameters))
        tangents = {}
        for side in SIDES:
            if all(key.has_segment(side) for key in keys):
                # Components can have neighbors at different frames.
                parts = [key.tangent(side) * (self.width(side) / key.width(side)) for key in keys]
                tangent = np.concatenate(parts)
                tangents[side] = tangent if self.projection is None else self.projection @ tangent
        return tangents

    @cached_property
    def _keys(self) -> list[_KeyOnSpline]:
        """Return the key on its spline for a rotation, or on one spline per component for values."""
        return self._keys_with(self.own)

    def _keys_with(self, own: OwnChannels) -> list[_KeyOnSpline]:
        groups = [own] if self.track.is_rotation else [{index: keys} for index, keys in own.items()]
        keys_on_splines = []
        for group in groups:
            (spline,) = track_splines(self.track, self.track.settings, group, self.defaults)
            keys_on_splines.append(_KeyOnSpline(*spline.run_of(self.rows[next(iter(group))])))
        return keys_on_splines


@record(eq=False)
class _KeyOnSpline:
    """A key of a spline."""

    spline: TrackSpline
    row: int

    def segment(self, side: str) -> int:
        """Return the index of the segment on this side of the key, which may not exist."""
        return self.row - (side == "handle_left")

    def has_segment(self, side: str) -> bool:
        return 0 <= self.segment(side) < len(self.spline.frames) - 1

    def width(self, side: str) -> float:
        """Return the length in frames of the segment on this side of the key. The segment must exist."""
        start = self.segment(side)
        return float(self.spline.frames[start + 1]) - float(self.spline.frames[start])

    def tangent(self, side: str) -> Float64Array:
        """Return the tangent per unit of the local segment parameter, shape (d,). The segment must exist."""
        u = 1.0 if side == "handle_left" else 0.0
        curve = self.spline.spline.prepared.curve
        return curve.evaluate(np.array([self.segment(side)]), np.array([u]), 1)[:, 0]

    def is_eased(self, side: str) -> bool:
        """Return whether the velocity at the key is defined by an ease in the segment on this side."""
        start, parameters = self.segment(side), self.spline.spline.keys.parameters
        return self.has_segment(side) and bool(parameters[_EASE_FROM, start] or parameters[_EASE_TO, start + 1])


def _shortened(tangent: Float64Array, limit: float) -> Float64Array:
    """Return the tangent, with its length reduced to the limit if it is longer."""
    length = float(np.linalg.norm(tangent))
    return tangent if length <= limit else tangent * (limit / length)
