# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert FBX animation curves, whose keys have flags and four numbers each, to slopes and reaches.

The numbers describe the segment after a key, including the slope at the segment's start and the slope at its end, which
is the left slope of the next key. Flags distinguish the user's slopes from slopes that are computed from the neighbors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..interp import Float64Array, n_
from ..motion import CONSTANT, CUBIC, LINEAR, Curve, MotionError
from .binary import Record

_CONSTANT, _CUBIC = 0x2, 0x8
_NEXT, _TCB, _USER = 0x100, 0x200, 0x400
_CLAMP, _TIME_INDEPENDENT, _CLAMP_PROGRESSIVE = 0x1000, 0x2000, 0x4000
_WEIGHTED_RIGHT, _WEIGHTED_NEXT_LEFT = 0x1000000, 0x2000000
_HOLDS = (ord("C"), b"C")
"""The type of extrapolation that holds an end value."""
_THIRD = 0.333333
"""The value that FBX uses for a third."""
_WEIGHT_UNIT = 1e-4
_FLAT = 1e-4
"""The smallest sum of two slopes for which opposite biases are resolved."""
_BIAS_UNIT = 100.0
_LEAST_BIAS, _STRONG_BIAS, _STRONG_SLOPE = 1e-4, 5.0, 40.0


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
    if (counts < 0).any() or int(counts.astype(np.int64).sum()) != count:
        raise _error(record, n_("the attributes do not cover all {:d} keys", count))
    seconds, numbers = times.astype(np.float64) / ticks, values.astype(np.float64)
    if (np.diff(seconds) < 0.0).any():
        raise _error(record, n_("key {:d} is earlier than the previous key", int(np.argmin(np.diff(seconds)) + 1)))
    sound = (np.abs(numbers) < 1e30) & (np.abs(seconds) <= 1e9)
    if not sound.all():
        raise _error(record, n_("the time or value of key {:d} is not finite", int(np.argmin(sound))))
    rows = np.repeat(np.arange(len(counts)), counts)
    raw = np.frombuffer(data.tobytes(), "<u4").reshape(-1, 4)[rows]
    # If several keys have the same time, only the last is played.
    last = np.append(np.diff(seconds) > 0.0, True)
    return _curve(seconds[last], numbers[last], flags.astype(np.int64)[rows][last], raw[last])


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
    found = record.find(name)
    if found is None:
        raise _error(record, n_("no {:s}", name))
    array = found.array()
    if name != "KeyAttrDataFloat" and name != "KeyValueFloat" and array.dtype.kind != "i":
        raise _error(record, n_("the elements of {:s} are not integers", name))
    if name == "KeyAttrDataFloat" and array.dtype.itemsize != 4:
        raise _error(record, n_("the elements of {:s} are not 32-bit numbers", name))
    return array


def _curve(
    times: Float64Array, values: Float64Array, flags: npt.NDArray[np.int64], raw: npt.NDArray[np.uint32]
) -> Curve:
    """Return the curve of keys with flags and four numbers each, shape (n, 4), given as the raw bits of the file."""
    count = len(times)
    given = np.ascontiguousarray(raw).view("<f4").astype(np.float64)
    given = np.where(np.abs(given) < 1e30, given, 0.0)
    is_constant = (flags & _CONSTANT) != 0
    is_cubic = ((flags & _CUBIC) != 0) & ~is_constant
    is_tcb = is_cubic & ((flags & _TCB) != 0)
    is_auto = is_cubic & ~is_tcb & ((flags & _USER) == 0)
    is_linear = ~is_constant & ~is_cubic
    length = np.append(np.diff(times), 0.0)
    chord = np.divide(np.append(np.diff(values), 0.0), length, out=np.zeros(count), where=length > 0.0)

    weights = np.where((flags & _WEIGHTED_RIGHT) != 0, (raw[:, 2] & 0xFFFF) * _WEIGHT_UNIT, _THIRD)
    next_weights = np.where((flags & _WEIGHTED_NEXT_LEFT) != 0, (raw[:, 2] >> 16) * _WEIGHT_UNIT, _THIRD)
    weights[~is_cubic] = _THIRD
    next_weights[~is_cubic | is_tcb] = _THIRD
    leaving = np.where(is_constant, 0.0, np.where(is_linear, chord, given[:, 0]))
    next_arriving = np.where(is_constant | is_tcb, 0.0, np.where(is_linear, chord, given[:, 1]))
    # The slope and weight before a key are stored with the previous key.
    arriving = np.append(0.0, next_arriving[:-1])
    weights_before = np.append(_THIRD, next_weights[:-1])

    before = np.append(0.0, chord[:-1])
    after = chord
    edge = np.zeros(count, dtype=np.bool_)
    edge[[0, -1]] = True
    if is_tcb.any():
        left, right = tcb_slopes(given[:, :3].T, before, after, edge)
        arriving, leaving = np.where(is_tcb, left, arriving), np.where(is_tcb, right, leaving)
    if is_auto.any():
        left, right = _automatic(times, values, flags, arriving, leaving, weights_before, weights)
        arriving, leaving = np.where(is_auto, left, arriving), np.where(is_auto, right, leaving)
    kind = np.where(is_constant, CONSTANT, np.where(is_cubic, CUBIC, LINEAR)).astype(np.uint8)
    held = np.where(is_constant & ((flags & _NEXT) != 0), np.append(values[1:], values[-1]), values)
    reach_before, reach_after = (
        np.clip(np.where(side == _THIRD, 1.0 / 3.0, side), 0.0, 1.0) for side in (weights_before, weights)
    )
    return Curve(times, values, kind, arriving, leaving, reach_before, reach_after, held)


def tcb_slopes(
    parameters: Float64Array, before: Float64Array, after: Float64Array, edge: npt.NDArray[np.bool_]
) -> tuple[Float64Array, Float64Array]:
    """Return the slopes before and after keys with tension, continuity and bias, shape (3, n).

    `before` and `after` are the slopes of the chords, and 0 beyond an end. FBX weights the slopes of chords, while 3D
    Studio weights chords. At the `edge` of a curve, the only chord counts twice. Parameters may have any size.
    """
    tension, continuity, bias = parameters
    half = np.where(edge, 1.0, 0.5) * (1.0 - tension)
    x, y = half * (1.0 + bias), half * (1.0 - bias)
    less, more = 1.0 - continuity, 1.0 + continuity
    return x * less * before + y * more * after, x * more * before + y * less * after


def _automatic(
    times: Float64Array,
    values: Float64Array,
    flags: npt.NDArray[np.int64],
    arriving: Float64Array,
    leaving: Float64Array,
    weights_before: Float64Array,
    weights: Float64Array,
) -> tuple[Float64Array, Float64Array]:
    """Return the slopes on both sides of automatic keys, for which the file stores biases in place of slopes."""
    if len(times) == 1:
        return np.zeros(1), np.zeros(1)
    length = np.diff(times)
    chord = np.diff(values) / length
    left, right = np.zeros(len(times)), np.zeros(len(times))
    inner = slice(1, -1)
    sides = (chord[:-1], chord[1:], length[:-1], length[1:])
    reach = (weights_before[inner], weights[inner])
    unified = np.abs(arriving + leaving)[inner] <= _FLAT
    right[inner] = _inner_slopes(*sides, *reach, leaving[inner], flags[inner])
    apart = _inner_slopes(*sides, *reach, -arriving[inner], flags[inner])
    left[inner] = np.where(unified, right[inner], apart)
    left[0] = right[0] = _end_slope(float(chord[0]), float(leaving[0]), int(flags[0]), float(values[1] - values[0]))
    left[-1] = right[-1] = _end_slope(
        float(chord[-1]), float(-arriving[-1]), int(flags[-1]), float(values[-1] - values[-2])
    )
    return left, right


def _inner_slopes(
    before: Float64Array,
    after: Float64Array,
    length_before: Float64Array,
    length_after: Float64Array,
    reach_before: Float64Array,
    reach_after: Float64Array,
    bias: Float64Array,
    flags: npt.NDArray[np.int64],
) -> Float64Array:
    """Return the slopes of automatic keys that have keys on both sides."""
    whole = length_before + length_after
    slope = (before * length_before + after * length_after) / whole
    share = length_before / whole
    by_time = 0.5 * slope + 0.5 * (before * (1.0 - share) + after * share)
    weight = np.abs(bias) / _BIAS_UNIT
    target = np.where(bias > 0.0, after, before)
    biased = by_time * (1.0 - weight) + target * weight
    strong = np.maximum(weight - _STRONG_BIAS, 0.0)
    sense = np.where(np.abs(target - by_time) > 1e-5, target - by_time, bias)
    biased += strong**2 * np.where(sense > 0.0, 1.0, -1.0) * _STRONG_SLOPE
    by_time = np.where(weight > _LEAST_BIAS, biased, by_time)
    slope = np.where((flags & _TIME_INDEPENDENT) != 0, slope, by_time)

    # To avoid overshoot, a handle ends no higher or lower than the next key.
    sign = np.where(slope >= 0.0, 1.0, -1.0)
    most = [
        np.divide(sign * chord, reach, out=np.zeros_like(chord), where=reach > 0.0)
        for chord, reach in ((before, reach_before), (after, reach_after))
    ]
    limited = sign * np.minimum(np.abs(slope), np.maximum(np.minimum(*most), 0.0))
    slope = np.where((flags & _CLAMP_PROGRESSIVE) != 0, limited, slope)
    level = np.minimum(np.abs(before * length_before), np.abs(after * length_after)) <= _LEVEL
    return np.where(((flags & _CLAMP) != 0) & level, 0.0, slope)


_LEVEL = 0.001
"""The difference between values below which a clamped key is flat."""


def _end_slope(chord: float, bias: float, flags: int, rise: float) -> float:
    """Return the slope of an automatic key at an end of the curve."""
    if flags & _CLAMP_PROGRESSIVE or (flags & _CLAMP and abs(rise) <= _LEVEL):
        return 0.0
    strong = abs(bias) / _BIAS_UNIT - _STRONG_BIAS
    if flags & _TIME_INDEPENDENT or strong <= 0.0:
        return chord
    return chord + strong**2 * (1.0 if bias > 0.0 else -1.0) * _STRONG_SLOPE
