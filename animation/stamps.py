# SPDX-License-Identifier: GPL-3.0-or-later
"""Telling the keys that a bake wrote from those that an animator made.

While a curve is baked each of its keys carries a stamp in `amplitude`, `period` and `back`, which linear segments do
not use: what the key is, and the frame and value that it was left with. Keying over a generated key replaces its value
and leaves its type, so a generated key that no longer stands at its stamp has become the animator's, unless the keys
around it went the same way: then all of them were moved, scaled, mirrored or pasted together.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import bpy
import numpy as np
import numpy.typing as npt

from .keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    KEY_TYPE,
    BoolArray,
    FloatArray,
    Keyframes,
    read_amplitudes,
)

# Amplitudes that nobody types; exact in float32.
GENERATED = 1048583.0
BAKED_KEY = 1048589.0
"""The animator's key; the segment after it is baked: the bake left it linear."""
OUTSIDE_KEY = 1048601.0
"""The animator's key; the segment after it lies outside the baked range: the bake left its interpolation alone."""

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
_Fits = Callable[[float, float, float], bool]


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
    marked: BoolArray = (amplitude == GENERATED) | (amplitude == BAKED_KEY) | (amplitude == OUTSIDE_KEY)
    return marked


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


def _went_along(keys: Keyframes, ours: BoolArray, rows: npt.NDArray[np.intp]) -> BoolArray:
    """Whether each of the generated keys `rows` stands where the map that the keys near it underwent puts it."""
    frames, values = keys.frames.astype(np.float64), keys.values.astype(np.float64)
    frames_before, values_before = keys.period.astype(np.float64), keys.back.astype(np.float64)
    anchors = np.flatnonzero((keys.amplitude == BAKED_KEY) | (keys.amplitude == OUTSIDE_KEY))
    result = np.zeros(len(rows), dtype=np.bool_)
    for i, row in enumerate(rows):
        after = int(np.searchsorted(anchors, row))
        near = anchors[max(0, after - 2) : after + 2]
        drift = _shared_move(frames, frames_before, np.flatnonzero(ours), row)
        result[i] = _explained(frames, frames_before, near, row, _frame_fits, drift) and _explained(
            values, values_before, near, row, _value_fits, None
        )
    return result


def _explained(
    now: Float64Array,
    before: Float64Array,
    near: npt.NDArray[np.intp],
    row: np.intp,
    fits: _Fits,
    drift: float | None,
) -> bool:
    """Whether one of: no change, the move of a key near by, the scaling that two neighbouring keys underwent, fits."""
    start = before[row]
    expected = [start, *(start + now[near] - before[near])]
    if drift is not None:
        expected.append(start + drift)
    for left, right in pairwise(near):
        width = before[right] - before[left]
        if abs(width) > _SAME_VALUE * max(1.0, abs(before[left])):
            expected.append(now[left] + (start - before[left]) * (now[right] - now[left]) / width)
    return any(fits(float(now[row]), float(place), float(start)) for place in expected)


def _frame_fits(now: float, expected: float, before: float) -> bool:
    moved = abs(expected - before) > SAME_FRAME
    # A move by less than half a frame can't come from snapping.
    tolerance = _SNAP if moved and abs(now - before) > _SNAP else 10 * SAME_FRAME if moved else SAME_FRAME
    return abs(now - expected) <= tolerance + 2 * abs(float(np.spacing(np.float32(before))))


def _value_fits(now: float, expected: float, before: float) -> bool:
    return abs(now - expected) <= _MAPPED_VALUE * max(1e-3, abs(now), abs(before), abs(expected))


def _shared_move(frames: Float64Array, before: Float64Array, ours: npt.NDArray[np.intp], row: np.intp) -> float | None:
    """The move in frames of `row`, where most generated keys of the curve made the same one: a row moved alone."""
    moves = frames[ours] - before[ours]
    move = float(frames[row] - before[row])
    together = int(np.count_nonzero(np.abs(moves - move) <= 10 * SAME_FRAME))
    return move if together >= 3 and 2 * together > len(ours) else None
