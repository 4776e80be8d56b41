# SPDX-License-Identifier: GPL-3.0-or-later
"""Single-component curves whose keys have incoming and outgoing slopes, and their evaluation between keys.

A cubic segment is a Bezier curve in time and value, as in Blender's F-curves. With both handles at thirds, the segment
is a Hermite cubic, as in glTF and in FBX without weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..interp import Float64Array

CONSTANT, LINEAR, CUBIC = range(3)
"""Interpolation of the segment that begins at a key."""
THIRD = 1.0 / 3.0
_NEAR_THIRD = 1e-4
"""A reach this close to a third counts as a third, because FBX files round reaches to four decimals."""
_NEWTON = 5
_HALVINGS = 50
_SOLVED = 1e-14


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve of n keys.

    Attributes
    ----------
    times : ndarray, shape (n,)
        Times in seconds, in ascending order.
    values : ndarray, shape (n,)
        The values at the keys.
    interpolation : ndarray of uint8, shape (n,)
        CONSTANT, LINEAR or CUBIC, for the segment that begins at each key.
    arriving, leaving : ndarray, shape (n,)
        Slopes per second at the end of the segment before each key, and at the start of the segment after each key.
    reach_before, reach_after : ndarray, shape (n,)
        The lengths of the handles on both sides, relative to their segments.
    held : ndarray, shape (n,)
        The value that a CONSTANT segment holds: the value of its first key or, in FBX, possibly of its second key.
    """

    times: Float64Array
    values: Float64Array
    interpolation: npt.NDArray[np.uint8]
    arriving: Float64Array
    leaving: Float64Array
    reach_before: Float64Array
    reach_after: Float64Array
    held: Float64Array

    @classmethod
    def hermite(
        cls,
        times: Float64Array,
        values: Float64Array,
        interpolation: int | npt.NDArray[np.uint8],
        arriving: Float64Array | float = 0.0,
        leaving: Float64Array | float = 0.0,
    ) -> Curve:
        """Return a curve with handles at thirds of each segment, whose steps hold the value of their first key."""
        count = len(times)
        thirds = np.full(count, THIRD)
        kinds = np.full(count, interpolation, dtype=np.uint8)
        before, after = (np.array(np.broadcast_to(side, count), dtype=np.float64) for side in (arriving, leaving))
        return cls(times, values, kinds, before, after, thirds, thirds, values)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def varies(self) -> bool:
        """Return whether the curve has more than one value."""
        flat = (self.values == self.values[0]).all() and (self.held == self.values[0]).all()
        cubic = self.interpolation[:-1] == CUBIC
        return not flat or bool(self.leaving[:-1][cubic].any() or self.arriving[1:][cubic].any())

    @property
    def is_weighted(self) -> bool:
        """Return whether any cubic segment has a handle whose reach is not a third."""
        cubic = self.interpolation[:-1] == CUBIC
        reaches = np.stack((self.reach_after[:-1][cubic], self.reach_before[1:][cubic]))
        return bool((np.abs(reaches - THIRD) > _NEAR_THIRD).any())

    def __call__(self, times: npt.ArrayLike) -> Float64Array:
        """Return the values at times of any shape. The first and last values are held outside the keys."""
        at = np.asarray(times, dtype=np.float64)
        if len(self) == 1:
            return np.full(at.shape, self.values[0])
        row = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, len(self) - 2)
        length = self.times[row + 1] - self.times[row]
        share = np.clip((at - self.times[row]) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
        start, end = self.values[row], self.values[row + 1]
        result = start + (end - start) * share
        kind = self.interpolation[row]
        cubic = kind == CUBIC
        if cubic.any():
            result[cubic] = self._cubics(row[cubic], share[cubic], length[cubic])
        result = np.where((kind == CONSTANT) & (share > 0.0), self.held[row], result)
        return np.where(share >= 1.0, end, np.where(share <= 0.0, start, result))

    def _cubics(self, row: npt.NDArray[np.intp], share: Float64Array, length: Float64Array) -> Float64Array:
        """Return the values of cubic segments at fractions of their duration."""
        after, before = self.reach_after[row], self.reach_before[row + 1]
        t = _parameters(share, after, before)
        start, end = self.values[row], self.values[row + 1]
        second = start + self.leaving[row] * after * length
        third = end - self.arriving[row + 1] * before * length
        rest = 1.0 - t
        return rest**3 * start + 3.0 * rest * t * (rest * second + t * third) + t**3 * end


def _parameters(share: Float64Array, after: Float64Array, before: Float64Array) -> Float64Array:
    """Return the parameters at which Bezier segments with these reaches pass a fraction of their duration."""
    thirds = (np.abs(after - THIRD) <= _NEAR_THIRD) & (np.abs(before - THIRD) <= _NEAR_THIRD)
    t = share.copy()
    rows = np.flatnonzero(~thirds)
    if not rows.size:
        return t
    a, b, wanted = after[rows], before[rows], share[rows]
    found = wanted.copy()

    def passed(s: Float64Array) -> Float64Array:
        rest = 1.0 - s
        return 3.0 * rest * s * (rest * a + s * (1.0 - b)) + s**3

    for _ in range(_NEWTON):
        rest = 1.0 - found
        slope = 3.0 * (rest**2 * a + 2.0 * rest * found * (1.0 - b - a) + found**2 * b)
        found = np.clip(found - (passed(found) - wanted) / np.maximum(slope, 1e-9), 0.0, 1.0)
    far = np.abs(passed(found) - wanted) > _SOLVED
    if far.any():
        # Newton's method fails if a handle spans the whole segment, because the derivative of time is 0 at its end.
        low, high = np.zeros_like(found), np.ones_like(found)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            short = passed(middle) < wanted
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        found = np.where(far, 0.5 * (low + high), found)
    t[rows] = found
    return t


def union_times(curves: Sequence[Curve]) -> Float64Array:
    """Return the times at which at least one curve has a key."""
    return np.unique(np.concatenate([np.empty(0), *(curve.times for curve in curves)]))


def combined(weights: npt.ArrayLike, curves: Sequence[Curve], offset: float) -> Curve | None:
    """Return the curve that equals an offset plus the weighted sum of curves at all times.

    If there is no such curve, return None. Weighted segments add up to a segment only if they are from the same curve,
    and steps only if all segments are steps.
    """
    parts = [(float(weight), curve) for weight, curve in zip(np.asarray(weights), curves, strict=True) if weight != 0.0]
    parts = [(weight, curve) for weight, curve in parts if curve.varies] or parts[:1]
    if len(parts) == 1:
        weight, curve = parts[0]
        rest = offset + sum(w * c.values[0] for w, c in zip(np.asarray(weights), curves, strict=True) if c is not curve)
        return _scaled(curve, weight, float(rest))
    if not parts or any(curve.is_weighted for _, curve in parts):
        return None
    rest = offset + sum(w * c.values[0] for w, c in zip(np.asarray(weights), curves, strict=True) if not c.varies)
    times = union_times([curve for _, curve in parts])
    kinds = np.stack([curve.interpolation[_segments(curve, times)] for _, curve in parts])
    inside = np.stack([(times >= curve.times[0]) & (times < curve.times[-1]) for _, curve in parts])
    steps = (kinds == CONSTANT) & inside
    # After its last key, a curve holds its value, which can be added to any curve.
    if (steps.any(axis=0) & (inside & ~steps).any(axis=0))[:-1].any():
        return None
    interpolation = np.where(steps.any(axis=0), CONSTANT, LINEAR)
    interpolation[((kinds == CUBIC) & inside).any(axis=0)] = CUBIC
    values, held, arriving, leaving = np.full(len(times), rest), np.full(len(times), rest), *np.zeros((2, len(times)))
    for weight, curve in parts:
        values = values + weight * curve(times)
        held = held + weight * _held(curve, times)
        left, right = slopes(curve, times)
        arriving, leaving = arriving + weight * left, leaving + weight * right
    curve = Curve.hermite(times, values, interpolation.astype(np.uint8), arriving, leaving)
    return Curve(**{**vars(curve), "held": held})


def _scaled(curve: Curve, weight: float, offset: float) -> Curve:
    """Return the curve times a weight, plus an offset."""
    numbers = {name: weight * getattr(curve, name) for name in ("arriving", "leaving")}
    places = {name: weight * getattr(curve, name) + offset for name in ("values", "held")}
    return Curve(**{**vars(curve), **numbers, **places})


def _segments(curve: Curve, times: Float64Array) -> npt.NDArray[np.intp]:
    """Return the segments of a curve that contain, or begin at, the given times."""
    return np.clip(np.searchsorted(curve.times, times, side="right") - 1, 0, max(len(curve) - 2, 0))


def _held(curve: Curve, times: Float64Array) -> Float64Array:
    """Return the value held after each time, which is used only in CONSTANT segments."""
    values = curve(times)
    inside = (times >= curve.times[0]) & (times < curve.times[-1])
    row = _segments(curve, times)
    return np.where(inside & (curve.interpolation[row] == CONSTANT), curve.held[row], values)


def slopes(curve: Curve, times: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the slopes of an unweighted curve immediately before and after the given times."""
    if len(curve) == 1:
        return np.zeros(len(times)), np.zeros(len(times))
    after = _slopes_in(curve, _segments(curve, times), times)
    row = np.clip(np.searchsorted(curve.times, times, side="left") - 1, 0, len(curve) - 2)
    before = _slopes_in(curve, row, times)
    before[times <= curve.times[0]] = after[times >= curve.times[-1]] = 0.0
    before[times > curve.times[-1]] = after[times < curve.times[0]] = 0.0
    return before, after


def _slopes_in(curve: Curve, row: npt.NDArray[np.intp], times: Float64Array) -> Float64Array:
    """Return the slopes in the given segments."""
    length = curve.times[row + 1] - curve.times[row]
    u = (times - curve.times[row]) / length
    chord = (curve.values[row + 1] - curve.values[row]) / length
    leaving, arriving = curve.leaving[row], curve.arriving[row + 1]
    cubic = (1.0 - u) * (1.0 - 3.0 * u) * leaving + u * (3.0 * u - 2.0) * arriving + 6.0 * u * (1.0 - u) * chord
    kind = curve.interpolation[row]
    return np.where(kind == CUBIC, cubic, np.where(kind == LINEAR, chord, 0.0))
