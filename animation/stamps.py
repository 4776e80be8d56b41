# SPDX-License-Identifier: GPL-3.0-or-later
"""Telling the keys that a bake wrote from those that an animator made.

While a curve is baked each of its keys carries a stamp in `amplitude`, `period` and `back`, which linear and Bezier
segments do not use: what the key is, and the frame and value that it was left with. Keying over a generated key
replaces its value and leaves its type, so a generated key that no longer stands at its stamp has become the
animator's, unless the keys around it went the same way: then all of them were moved, scaled, mirrored or pasted
together.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import bpy
import numpy as np
import numpy.typing as npt

from .keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    INTERPOLATION,
    KEY_TYPE,
    BoolArray,
    FloatArray,
    IndexArray,
    Keyframes,
    read_amplitudes,
)

# Amplitudes that nobody types; exact in float32.
GENERATED = 1048583.0
BAKED_KEY = 1048589.0
"""The animator's key; the segment after it is baked: the bake left it linear."""
OUTSIDE_KEY = 1048601.0
"""The animator's key; the segment after it lies outside the baked range: the bake left its interpolation alone."""
CURVE_KEY = 1048613.0
"""The animator's key; the segments on both sides are baked as curves: the bake placed both handles."""
CURVE_START = 1048627.0
"""The animator's key; the segment after it is baked as a curve: the bake left it Bezier and placed its right handle."""
CURVE_END = 1048633.0
"""The animator's key; the segment before it is baked as a curve, of which the left handle is, the one after it not."""
_OWN_KINDS = (BAKED_KEY, OUTSIDE_KEY, CURVE_KEY, CURVE_START, CURVE_END)

SAME_FRAME = 1e-3
"""Frames. Keys nearer than this are at one frame: far above the float32 error of moving a key, and a tenth of the
distance below which Blender takes two keys as one."""
_SAME_VALUE = 1e-6
"""Relative. A few float32 ulps: a key inserted on an unchanged pose differs from the sample by rounding only."""
_MAPPED_VALUE = 2e-5
"""Relative. Scaling in the Graph Editor goes through several float32 operations a key."""
_SNAP = 0.51
"""Frames. Blender snaps each moved key by itself to a whole frame."""

Float64Array = npt.NDArray[np.float64]


def stamped(keys: Keyframes, kind: float | npt.NDArray[np.float32]) -> Keyframes:
    """The keys with a stamp each of that kind."""
    return keys.with_(
        amplitude=np.broadcast_to(np.float32(kind), len(keys)).astype(np.float32),
        period=keys.frames.copy(),
        back=keys.values.copy(),
    )


def unstamped(keys: Keyframes) -> Keyframes:
    """The same keys as plain ones."""
    marked = has_stamp(keys)
    ours = (keys.type == KEY_TYPE["GENERATED"]) & (keys.amplitude == GENERATED)
    return keys.with_(
        type=np.where(ours, np.uint8(KEY_TYPE["KEYFRAME"]), keys.type),
        amplitude=np.where(marked, np.float32(DEFAULT_AMPLITUDE), keys.amplitude),
        period=np.where(marked, np.float32(DEFAULT_PERIOD), keys.period),
        back=np.where(marked, np.float32(DEFAULT_BACK), keys.back),
    )


def is_stamped(fcurve: bpy.types.FCurve) -> bool:
    """Whether any key of the curve has a stamp."""
    return bool(_marked(read_amplitudes(fcurve)).any())


def has_stamp(keys: Keyframes) -> BoolArray:
    return _marked(keys.amplitude)


def _marked(amplitude: FloatArray) -> BoolArray:
    marked: BoolArray = (amplitude == GENERATED) | _is_own(amplitude)
    return marked


def _is_own(amplitude: FloatArray) -> BoolArray:
    """Which stamps are those of the animator's keys."""
    # All of them lie close together, far from what anybody types: most curves have none.
    own: BoolArray = (amplitude >= min(_OWN_KINDS)) & (amplitude <= max(_OWN_KINDS))
    if own.any():
        own = np.logical_or.reduce([amplitude == kind for kind in _OWN_KINDS])
    return own


def placed_handles(keys: Keyframes) -> tuple[BoolArray, BoolArray]:
    """Of which keys the bake placed the left, and the right handle."""
    ours = (keys.amplitude == GENERATED) & (keys.interpolation == INTERPOLATION["BEZIER"])
    right = ours | (keys.amplitude == CURVE_KEY) | (keys.amplitude == CURVE_START)
    left = ours | (keys.amplitude == CURVE_KEY) | (keys.amplitude == CURVE_END)
    # One that plays by the numbers that a stamp would replace has none.
    left[1:] |= ~has_stamp(keys)[1:] & right[:-1]
    return left, right


def left_as_baked(own: Keyframes) -> BoolArray:
    """Which of the animator's keys begin a baked segment and have the interpolation that the bake gave them."""
    linear = (own.amplitude == BAKED_KEY) & (own.interpolation == INTERPOLATION["LINEAR"])
    curved = (own.amplitude == CURVE_KEY) | (own.amplitude == CURVE_START)
    result: BoolArray = linear | (curved & (own.interpolation == INTERPOLATION["BEZIER"]))
    return result


def generated_keys(keys: Keyframes) -> BoolArray:
    """Which keys are still the add-on's own."""
    ours: BoolArray = (keys.type == KEY_TYPE["GENERATED"]) & (keys.amplitude == GENERATED)
    suspect = ours & ~_stands_at_its_stamp(keys)
    if suspect.any():
        ours[suspect] = _went_along(keys, ours, np.flatnonzero(suspect))
    return ours


def _stands_at_its_stamp(keys: Keyframes) -> BoolArray:
    moved = np.abs(keys.frames - keys.period) > SAME_FRAME + 2 * np.abs(np.spacing(keys.period))
    changed = np.abs(keys.values - keys.back) > _SAME_VALUE * np.maximum(1e-3, np.abs(keys.back))
    stands: BoolArray = ~(moved | changed)
    return stands


def _went_along(keys: Keyframes, ours: BoolArray, rows: IndexArray) -> BoolArray:
    """Whether each of the generated keys `rows` stands where the map that the keys near it underwent puts it."""
    anchors = np.flatnonzero(_is_own(keys.amplitude))
    frames, values = keys.frames.astype(np.float64), keys.values.astype(np.float64)
    frames_before, values_before = keys.period.astype(np.float64), keys.back.astype(np.float64)
    near = _near(anchors, rows)
    along = _moved_together(frames - frames_before, ours, rows) | _frames_fit(frames, frames_before, near, rows)
    room = np.where(_shrunk(frames, frames_before, near), _steps_beside(values_before, rows), 0.0)
    return along & _values_fit(values, values_before, near, rows, room)


def _near(anchors: IndexArray, rows: IndexArray) -> IndexArray:
    """The animator's keys nearest to each row, two on each side, shape (4, rows): -1 where there are fewer."""
    place = np.searchsorted(anchors, rows) + np.array([[-2], [-1], [0], [1]])
    there = (place >= 0) & (place < len(anchors))
    near = np.full(place.shape, -1, dtype=np.intp)
    near[there] = anchors[place[there]]
    return near


def _moved_together(moves: Float64Array, ours: BoolArray, rows: IndexArray) -> BoolArray:
    """Whether most generated keys of the curve made the same move: then its row was moved alone."""
    every = np.sort(moves[ours])
    room = 10 * SAME_FRAME
    together = np.searchsorted(every, moves[rows] + room, "right") - np.searchsorted(every, moves[rows] - room, "left")
    most: BoolArray = (together >= 3) & (2 * together > len(every))
    return most


def _frames_fit(now: Float64Array, before: Float64Array, near: IndexArray, rows: IndexArray) -> BoolArray:
    """Whether the frames are those that standing still, going with a key near by, or a scaling give."""
    here, start = now[rows], before[rows]
    rounding = 2 * np.abs(np.spacing(before[rows].astype(np.float32))).astype(np.float64)
    # A move by less than half a frame can't come from snapping.
    snapped = np.where(np.abs(here - start) > _SNAP, _SNAP, 10 * SAME_FRAME)
    fits: BoolArray = np.abs(here - start) <= SAME_FRAME + rounding
    for place, moved in _moves(now, before, near, start):
        fits |= moved & (np.abs(here - place) <= snapped + rounding)
    # Snapping rounds the two keys that give the scale as well as the one between.
    whole = np.abs(here - np.rint(here)) <= SAME_FRAME
    for place, scaled in _scalings(now, before, near, start):
        fits |= scaled & (np.abs(here - place) <= np.where(whole, 2 * _SNAP, 10 * SAME_FRAME) + rounding)
    return fits


def _values_fit(
    now: Float64Array, before: Float64Array, near: IndexArray, rows: IndexArray, room: Float64Array
) -> BoolArray:
    """Whether the values are those that no change, the move of a key near by, or a scaling give, within `room`."""
    here, start = now[rows], before[rows]
    size = np.maximum(1e-3, np.maximum(np.abs(here), np.abs(start)))
    fits: BoolArray = np.abs(here - start) <= _MAPPED_VALUE * size + room
    for place, there in (*_moves(now, before, near, start), *_scalings(now, before, near, start)):
        fits |= there & (np.abs(here - place) <= _MAPPED_VALUE * np.maximum(size, np.abs(place)))
    return fits


_Places = Iterator[tuple[Float64Array, BoolArray]]
"""Where rows are expected, and for which of them the expectation holds."""


def _moves(now: Float64Array, before: Float64Array, near: IndexArray, start: Float64Array) -> _Places:
    for anchor in near:
        shift = now[anchor] - before[anchor]
        yield start + shift, (anchor >= 0) & (np.abs(shift) > _SAME_VALUE * np.maximum(1e-3, np.abs(before[anchor])))


def _scalings(now: Float64Array, before: Float64Array, near: IndexArray, start: Float64Array) -> _Places:
    for left, right in pairwise(near):
        width, width_now = before[right] - before[left], now[right] - now[left]
        least = _SAME_VALUE * np.maximum(1.0, np.abs(before[left]))
        scaled = (left >= 0) & (right >= 0) & (np.abs(width) > least) & (np.abs(width_now - width) > least)
        ratio = np.divide(width_now, width, out=np.zeros_like(width), where=scaled)
        yield now[left] + (start - before[left]) * ratio, scaled


def _shrunk(frames: Float64Array, before: Float64Array, near: IndexArray) -> BoolArray:
    """Whether the keys around each row came nearer to each other: keys that meet there become one of their average."""
    result = np.zeros(near.shape[1], dtype=np.bool_)
    for left, right in pairwise(near):
        narrower = np.abs(frames[right] - frames[left]) < np.abs(before[right] - before[left]) - SAME_FRAME
        result |= (left >= 0) & (right >= 0) & narrower
    return result


def _steps_beside(before: Float64Array, rows: IndexArray) -> Float64Array:
    """Twice the range of the values that stood about each row: an average with keys in between is no farther off."""
    about = before[np.clip(rows + np.arange(-3, 4)[:, np.newaxis], 0, len(before) - 1)]
    steps: Float64Array = 2 * (about.max(axis=0) - about.min(axis=0))
    return steps


def averaged_keys(keys: Keyframes) -> BoolArray:
    """Which of the animator's keys may have another value only because Blender made one key of them and samples.

    It does so where snapping brings selected keys to one frame, as when all are scaled to half the time.
    """
    own = np.flatnonzero(_is_own(keys.amplitude))
    result = np.zeros(len(keys), dtype=np.bool_)
    if len(own) < 2:
        return result
    frames, before = keys.frames.astype(np.float64), keys.period.astype(np.float64)
    values, values_before = keys.values.astype(np.float64), keys.back.astype(np.float64)
    narrower = np.abs(np.diff(frames[own])) < np.abs(np.diff(before[own])) - SAME_FRAME
    beside = np.concatenate(([False], narrower)) | np.concatenate((narrower, [False]))
    change = np.abs(values[own] - values_before[own])
    result[own] = beside & (change > 0) & (change <= _steps_beside(values_before, own))
    return result
