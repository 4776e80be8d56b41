# SPDX-License-Identifier: GPL-3.0-or-later
"""The slopes of FBX keys that store parameters or biases in place of slopes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..interp import Float64Array

_CLAMP, _TIME_INDEPENDENT, _CLAMP_PROGRESSIVE = 0x1000, 0x2000, 0x4000
"""Flags of automatic keys: no slope beside a level chord, no correction for uneven durations, and no overshoot."""
_UNIFIED = 1e-4
"""The largest sum of opposite biases for which both sides of an automatic key have one slope."""
_BIAS_UNIT = 100.0
_LEAST_BIAS, _STRONG_BIAS, _STRONG_SLOPE = 1e-4, 5.0, 40.0
"""Biases of automatic keys, in units: smaller ones have no effect, and above 5, slopes grow with the square."""
_LEVEL = 0.001
"""The difference between values below which a clamped key is flat."""


def tcb_slopes(
    parameters: Float64Array, before: Float64Array, after: Float64Array, is_end: npt.NDArray[np.bool_]
) -> tuple[Float64Array, Float64Array]:
    """Return the slopes before and after keys with tension, continuity and bias, shape (3, n).

    `before` and `after` are the slopes of the chords, and 0 beyond an end. FBX weights the slopes of chords, while 3D
    Studio weights chords. At an end of a curve, the only chord counts twice. Parameters may have any size.
    """
    tension, continuity, bias = parameters
    half = np.where(is_end, 1.0, 0.5) * (1.0 - tension)
    x, y = half * (1.0 + bias), half * (1.0 - bias)
    less, more = 1.0 - continuity, 1.0 + continuity
    return x * less * before + y * more * after, x * more * before + y * less * after


def automatic_slopes(
    times: Float64Array,
    values: Float64Array,
    flags: npt.NDArray[np.int64],
    arriving: Float64Array,
    leaving: Float64Array,
    reach_before: Float64Array,
    reach_after: Float64Array,
) -> tuple[Float64Array, Float64Array]:
    """Return the slopes on both sides of automatic keys, for which the file stores biases in place of slopes.

    The formulas are from ufbx.
    """
    if len(times) == 1:
        return np.zeros(1), np.zeros(1)
    duration, rise = np.diff(times), np.diff(values)
    chord = rise / duration
    left, right = np.zeros(len(times)), np.zeros(len(times))
    inner = slice(1, -1)
    chords = (chord[:-1], chord[1:], duration[:-1], duration[1:])
    reaches = (reach_before[inner], reach_after[inner])
    has_one_slope = np.abs(arriving + leaving)[inner] <= _UNIFIED
    right[inner] = _inner_slopes(*chords, *reaches, leaving[inner], flags[inner])
    own_left = _inner_slopes(*chords, *reaches, -arriving[inner], flags[inner])
    left[inner] = np.where(has_one_slope, right[inner], own_left)
    left[0] = right[0] = _end_slope(float(chord[0]), float(leaving[0]), int(flags[0]), float(rise[0]))
    left[-1] = right[-1] = _end_slope(float(chord[-1]), float(-arriving[-1]), int(flags[-1]), float(rise[-1]))
    return left, right


def _inner_slopes(
    before: Float64Array,
    after: Float64Array,
    duration_before: Float64Array,
    duration_after: Float64Array,
    reach_before: Float64Array,
    reach_after: Float64Array,
    bias: Float64Array,
    flags: npt.NDArray[np.int64],
) -> Float64Array:
    """Return the slopes of automatic keys that have keys on both sides, whose chords have slopes before and after."""
    duration = duration_before + duration_after
    slope = (before * duration_before + after * duration_after) / duration
    fraction = duration_before / duration
    by_time = 0.5 * slope + 0.5 * (before * (1.0 - fraction) + after * fraction)
    by_time = _biased(by_time, before, after, bias)
    slope = np.where((flags & _TIME_INDEPENDENT) != 0, slope, by_time)

    # To avoid overshoot, a handle ends no higher or lower than the next key.
    direction = np.where(slope >= 0.0, 1.0, -1.0)
    limits = [
        np.divide(direction * chord, reach, out=np.zeros_like(chord), where=reach > 0.0)
        for chord, reach in ((before, reach_before), (after, reach_after))
    ]
    limited = direction * np.minimum(np.abs(slope), np.maximum(np.minimum(*limits), 0.0))
    slope = np.where((flags & _CLAMP_PROGRESSIVE) != 0, limited, slope)
    is_level = np.minimum(np.abs(before * duration_before), np.abs(after * duration_after)) <= _LEVEL
    return np.where(((flags & _CLAMP) != 0) & is_level, 0.0, slope)


def _biased(slope: Float64Array, before: Float64Array, after: Float64Array, bias: Float64Array) -> Float64Array:
    """Return slopes that a bias moves toward the chord before or after, and a strong bias beyond it."""
    weight = np.abs(bias) / _BIAS_UNIT
    target = np.where(bias > 0.0, after, before)
    biased = slope * (1.0 - weight) + target * weight
    strength = np.maximum(weight - _STRONG_BIAS, 0.0)
    direction = np.where(np.abs(target - slope) > 1e-5, target - slope, bias)
    biased += strength**2 * np.where(direction > 0.0, 1.0, -1.0) * _STRONG_SLOPE
    return np.where(weight > _LEAST_BIAS, biased, slope)


def _end_slope(chord: float, bias: float, flags: int, rise: float) -> float:
    """Return the slope of an automatic key at an end of the curve."""
    if flags & _CLAMP_PROGRESSIVE or (flags & _CLAMP and abs(rise) <= _LEVEL):
        return 0.0
    strength = abs(bias) / _BIAS_UNIT - _STRONG_BIAS
    if flags & _TIME_INDEPENDENT or strength <= 0.0:
        return chord
    return chord + strength**2 * (1.0 if bias > 0.0 else -1.0) * _STRONG_SLOPE
