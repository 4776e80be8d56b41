# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert FBX animation curves, whose keys have flags and four numbers each, to slopes and reaches.

The numbers describe the segment after a key, including the slope at the segment's start and the slope at its end, which
is the left slope of the next key. Flags distinguish the user's slopes from slopes that are computed from the neighbors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..interp import Float64Array, n_
from ..motion import CONSTANT, CUBIC, LINEAR, VALUE_LIMIT, Curve, MotionError
from .binary import Record

_CONSTANT, _CUBIC = 0x2, 0x8
_HOLDS_NEXT, _TCB, _USER = 0x100, 0x200, 0x400
"""Flags: a step holds the value of its second key, and slopes are from parameters or from the user. Cubic keys with
neither of the last two are automatic."""
_WEIGHTED_RIGHT, _WEIGHTED_NEXT_LEFT = 0x1000000, 0x2000000
_FBX_THIRD = 0.333333
"""The value that FBX uses for a third."""
_WEIGHT_UNIT = 1e-4
"""The unit in which files store reaches."""
_HOLDS = (ord("C"), b"C")
"""The type of extrapolation that holds an end value."""
_TIME_LIMIT = 1e9
"""Seconds. Later times count as damage."""
_CLAMP, _TIME_INDEPENDENT, _CLAMP_PROGRESSIVE = 0x1000, 0x2000, 0x4000
"""Flags of automatic keys: no slope beside a level chord, no correction for uneven durations, and no overshoot."""
_UNIFIED = 1e-4
"""The largest sum of opposite biases for which both sides of an automatic key have one slope."""
_BIAS_UNIT = 100.0
_LEAST_BIAS, _STRONG_BIAS, _STRONG_SLOPE = 1e-4, 5.0, 40.0
"""Biases of automatic keys, in units: smaller ones have no effect, and above 5, slopes grow with the square."""


def read_curve(record: Record, ticks: float) -> Curve | None:
    """Return the curve of an AnimationCurve record, or None if it has no keys. `ticks` are units of time per second.

    Raises MotionError if the record's arrays do not match, or its keys are not in order.
    """
    times, values, flags, data, counts = (
        _array(record, name)
        for name in ("KeyTime", "KeyValueFloat", "KeyAttrFlags", "KeyAttrDataFloat", "KeyAttrRefCount")
    )
    count = len(times)
    if not count:
        return None
    if len(values) != count or len(flags) != len(counts) or len(data) != 4 * len(counts):
        raise _error(record, n_("the numbers of keys, values and attributes differ"))
    # Larger counts could make the sum overflow.
    if ((counts < 0) | (counts > count)).any() or int(counts.astype(np.int64).sum()) != count:
        raise _error(record, n_("the attributes do not cover all {:d} keys", count))
    seconds, numbers = times.astype(np.float64) / ticks, values.astype(np.float64)
    if (np.diff(seconds) < 0.0).any():
        raise _error(record, n_("key {:d} is earlier than the previous key", int(np.argmin(np.diff(seconds)) + 1)))
    is_valid = (np.abs(numbers) < VALUE_LIMIT) & (np.abs(seconds) <= _TIME_LIMIT)
    if not is_valid.all():
        raise _error(record, n_("the time or value of key {:d} is not finite", int(np.argmin(is_valid))))
    rows = np.repeat(np.arange(len(counts)), counts)
    raw = np.frombuffer(data.tobytes(), "<u4").reshape(-1, 4)[rows]
    # If several keys have the same time, only the last is played.
    is_played = np.append(np.diff(seconds) > 0.0, True)
    return _curve(seconds[is_played], numbers[is_played], flags.astype(np.int64)[rows][is_played], raw[is_played])


def is_extrapolated(record: Record) -> bool:
    """Return whether a curve does not hold its end values outside its keys."""
    for name in ("Pre-Extrapolation", "Post-Extrapolation"):
        side = record.find(name)
        kind = side.find("Type") if side else None
        if kind is not None and kind.values and kind.values[0] not in _HOLDS:
            return True
    return False


def _error(record: Record, fault: str) -> MotionError:
    return MotionError(n_("the curve at byte {:d}: {:s}", record.start, fault))


def _array(record: Record, name: str) -> npt.NDArray[Any]:
    array_record = record.find(name)
    if array_record is None:
        raise _error(record, n_("no {:s}", name))
    array = array_record.array()
    if name != "KeyAttrDataFloat" and name != "KeyValueFloat" and array.dtype.kind != "i":
        raise _error(record, n_("the elements of {:s} are not integers", name))
    if name == "KeyAttrDataFloat" and array.dtype.itemsize != 4:
        raise _error(record, n_("the elements of {:s} are not 32-bit numbers", name))
    return array


def _curve(
    times: Float64Array, values: Float64Array, flags: npt.NDArray[np.int64], raw: npt.NDArray[np.uint32]
) -> Curve:
    """Return the curve of keys with flags and four numbers each, shape (n, 4), given as the raw bits of the file."""
    numbers = np.ascontiguousarray(raw).view("<f4").astype(np.float64)
    numbers = np.where(np.abs(numbers) < VALUE_LIMIT, numbers, 0.0)
    is_constant = (flags & _CONSTANT) != 0
    is_cubic = ((flags & _CUBIC) != 0) & ~is_constant
    is_linear = ~is_constant & ~is_cubic
    is_tcb = is_cubic & ((flags & _TCB) != 0)
    is_automatic = is_cubic & ~is_tcb & ((flags & _USER) == 0)
    duration = np.append(np.diff(times), 0.0)
    chord = np.divide(np.append(np.diff(values), 0.0), duration, out=np.zeros(len(times)), where=duration > 0.0)

    reach_before, reach_after = _reaches(flags, raw[:, 2], is_cubic, is_tcb)
    leaving = np.where(is_constant, 0.0, np.where(is_linear, chord, numbers[:, 0]))
    # The second number of a TCB key is not a slope.
    next_arriving = np.where(is_constant | is_tcb, 0.0, np.where(is_linear, chord, numbers[:, 1]))
    arriving = np.append(0.0, next_arriving[:-1])
    if is_tcb.any():
        is_end = np.zeros(len(times), dtype=np.bool_)
        is_end[[0, -1]] = True
        left, right = _tcb_slopes(numbers[:, :3].T, np.append(0.0, chord[:-1]), chord, is_end)
        arriving, leaving = np.where(is_tcb, left, arriving), np.where(is_tcb, right, leaving)
    interpolation = np.where(is_constant, CONSTANT, np.where(is_cubic, CUBIC, LINEAR)).astype(np.uint8)
    holds_next = is_constant & ((flags & _HOLDS_NEXT) != 0)
    held = np.where(holds_next, np.append(values[1:], values[-1]), values)
    curve = Curve(times, values, interpolation, arriving, leaving, reach_before, reach_after, held)
    if is_automatic.any():
        left, right = _automatic_slopes(curve, flags)
        arriving, leaving = np.where(is_automatic, left, arriving), np.where(is_automatic, right, leaving)
    reach_before, reach_after = (
        np.clip(np.where(reach == _FBX_THIRD, 1.0 / 3.0, reach), 0.0, 1.0) for reach in (reach_before, reach_after)
    )
    return replace(curve, arriving=arriving, leaving=leaving, reach_before=reach_before, reach_after=reach_after)


def _reaches(
    flags: npt.NDArray[np.int64],
    weights: npt.NDArray[np.uint32],
    is_cubic: npt.NDArray[np.bool_],
    is_tcb: npt.NDArray[np.bool_],
) -> tuple[Float64Array, Float64Array]:
    """Return the reaches before and after keys, as in the file.

    The lower half of a weight is the key's right reach, and the upper half is the next key's left reach.
    """
    reach_after = np.where((flags & _WEIGHTED_RIGHT) != 0, (weights & 0xFFFF) * _WEIGHT_UNIT, _FBX_THIRD)
    next_before = np.where((flags & _WEIGHTED_NEXT_LEFT) != 0, (weights >> 16) * _WEIGHT_UNIT, _FBX_THIRD)
    reach_after[~is_cubic] = _FBX_THIRD
    next_before[~is_cubic | is_tcb] = _FBX_THIRD
    return np.append(_FBX_THIRD, next_before[:-1]), reach_after


def _tcb_slopes(
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


def _automatic_slopes(curve: Curve, flags: npt.NDArray[np.int64]) -> tuple[Float64Array, Float64Array]:
    """Return both slopes of automatic keys, for which `curve` contains biases, with formulas from ufbx."""
    left, right = np.zeros(len(curve)), np.zeros(len(curve))
    if len(curve) == 1:
        return left, right
    right[1:-1] = _inner_slopes(curve, flags, curve.leaving)
    has_one_slope = np.abs(curve.arriving + curve.leaving)[1:-1] <= _UNIFIED
    left[1:-1] = np.where(has_one_slope, right[1:-1], _inner_slopes(curve, flags, -curve.arriving))
    chord = np.diff(curve.values) / np.diff(curve.times)
    left[0] = right[0] = _end_slope(float(chord[0]), float(curve.leaving[0]), int(flags[0]))
    left[-1] = right[-1] = _end_slope(float(chord[-1]), float(-curve.arriving[-1]), int(flags[-1]))
    return left, right


def _inner_slopes(curve: Curve, flags: npt.NDArray[np.int64], biases: Float64Array) -> Float64Array:
    """Return the slopes of automatic keys that have keys on both sides."""
    inner = slice(1, -1)
    bias, flags = biases[inner], flags[inner]
    durations = np.diff(curve.times)
    chords = np.diff(curve.values) / durations
    (duration_before, duration_after), (before, after) = ((each[:-1], each[1:]) for each in (durations, chords))
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
        for chord, reach in ((before, curve.reach_before[inner]), (after, curve.reach_after[inner]))
    ]
    limited = direction * np.minimum(np.abs(slope), np.maximum(np.minimum(*limits), 0.0))
    slope = np.where((flags & _CLAMP_PROGRESSIVE) != 0, limited, slope)
    is_beside_level_chord = (before == 0.0) | (after == 0.0)
    return np.where(((flags & _CLAMP) != 0) & is_beside_level_chord, 0.0, slope)


def _biased(slope: Float64Array, before: Float64Array, after: Float64Array, bias: Float64Array) -> Float64Array:
    """Return slopes that a bias moves toward the chord before or after, and a strong bias beyond it."""
    weight = np.abs(bias) / _BIAS_UNIT
    target = np.where(bias > 0.0, after, before)
    biased = slope * (1.0 - weight) + target * weight
    strength = np.maximum(weight - _STRONG_BIAS, 0.0)
    direction = np.where(np.abs(target - slope) > 1e-5, target - slope, bias)
    biased += strength**2 * np.where(direction > 0.0, 1.0, -1.0) * _STRONG_SLOPE
    return np.where(weight > _LEAST_BIAS, biased, slope)


def _end_slope(chord: float, bias: float, flags: int) -> float:
    """Return the slope of an automatic key at an end of the curve."""
    if flags & _CLAMP_PROGRESSIVE or (flags & _CLAMP and not chord):
        return 0.0
    strength = abs(bias) / _BIAS_UNIT - _STRONG_BIAS
    if flags & _TIME_INDEPENDENT or strength <= 0.0:
        return chord
    return chord + strength**2 * (1.0 if bias > 0.0 else -1.0) * _STRONG_SLOPE
