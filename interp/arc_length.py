# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the length of a motion's path, and find the frames at which the motion reaches given lengths.

Source: docs/formulas, "Arc length".
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from numpy.polynomial import legendre

from .arguments import checked_finite, checked_frames_1d, checked_sample_frames
from .base_spline import Spline
from .ease import smooth_parts
from .keys import Float64Array
from .spline_batch import SplineBatch, evaluate_many

LENGTH_TOLERANCE = 1e-9
"""The largest error in arc lengths, relative to the total length."""

_NODE_COUNT = 10
_NODES, _WEIGHTS = legendre.leggauss(_NODE_COUNT)
_ORDERS = np.arange(_NODE_COUNT)[:, np.newaxis]
# Maps a polynomial's values at the nodes to its Legendre coefficients. The quadrature is exact to degree 19.
_TO_COEFFICIENTS = (_ORDERS + 0.5) * legendre.legvander(_NODES, _NODE_COUNT - 1).T * _WEIGHTS
# The number of halvings after which a panel is narrower than rounding.
_MAX_HALVINGS = 40
_MAX_NEWTON_STEPS = 60
# Smooth parts shorter than this fraction of the frame range are dropped.
_SHORTEST_PART = 1e-12
# The relative accuracy of panel lengths, and of frames found from lengths, which is limited by rounding.
_ROUNDING = 4.0 * 2.0**-52
# The rounding error of a rotation's length in a smooth part, in radians. The largest measured error is 5e-16.
_ANGLE_ROUNDING = 1e-14


class ArcLength:
    """The length of a motion's path, from its first key to any frame.

    Parameters
    ----------
    splines : sequence of Spline
        The motion as one spline, or as splines of components with keys at different frames. The length is Euclidean
        over all components of values. For rotations, it is the total angle in radians.

    Attributes
    ----------
    first, last : float
        The first and last frames that have keys.
    length : float
        The total length, in units of values or radians, which is 0 without motion.

    Raises
    ------
    TypeError
        If `splines` is not a sequence of splines.
    ValueError
        If there are no splines.

    Notes
    -----
    Ten-point Gauss-Legendre quadrature is used. Panels are halved until the polynomial of each panel agrees with the
    polynomials of its two halves to within `LENGTH_TOLERANCE`. Panels start at keys and at the ends of eases. Source:
    docs/formulas, "Arc length".

    Examples
    --------
    >>> arc = retiming.ArcLength([tcb.VectorSpline(Keys([0, 10], [[0, 0], [3, 4]], ease_to=1))])
    >>> arc.length, arc.at([5, 10]), arc.frames([2.5])
    (5.0, array([3.75, 5.  ]), array([2.928932]))
    """

    def __init__(self, splines: Iterable[Spline]) -> None:
        self._splines = SplineBatch(splines)
        if not len(self._splines):
            raise ValueError("splines must contain at least one spline")
        edges = _smooth_parts(self._splines)
        self.first, self.last = float(edges[0]), float(edges[-1])
        starts, series = self._panels(edges[:-1], edges[1:])
        order = np.argsort(starts)
        self._starts, self._series = starts[order], series[:, order]
        self._half_frames = (np.append(self._starts[1:], self.last) - self._starts) / 2.0
        lengths_at_ends = np.cumsum(self._series.sum(axis=0))
        self.length = float(lengths_at_ends[-1]) if len(lengths_at_ends) else 0.0
        self._lengths_before = np.append(0.0, lengths_at_ends)

    def speed(self, frames: npt.ArrayLike) -> Float64Array:
        """Return the speed in length per frame, shape (m,), at frames (m,)."""
        at = checked_frames_1d("frames", frames)
        squares = np.zeros(at.shape)
        for velocity in evaluate_many(self._splines, at, 1):
            squares += np.einsum("ij,ij->i", velocity, velocity)
        return np.sqrt(squares)

    def at(self, frames: npt.ArrayLike) -> Float64Array:
        """Return the length from the first key to each frame, shape (m,). The length is constant outside the keys."""
        inside = np.clip(checked_sample_frames("frames", frames), self.first, self.last)
        if not self.length:
            return np.zeros_like(inside)
        panel = np.clip(np.searchsorted(self._starts, inside, side="right") - 1, 0, None)
        x = (inside - self._starts[panel]) / self._half_frames[panel] - 1.0
        return self._lengths_before[panel] + legendre.legval(x, self._series[:, panel], tensor=False)

    def frames(self, lengths: npt.ArrayLike) -> Float64Array:
        """Return the frames at which the motion has these lengths, shape (m,).

        For the length at a rest, the result is the last frame of the rest, or its first frame if the length is the
        total length. For lengths below 0 or above the total length, the result is the first or last frame.
        """
        goals = np.clip(checked_finite("lengths", lengths), 0.0, self.length)
        moving = np.flatnonzero(np.diff(self._lengths_before) > 0.0)
        if not len(moving):
            return np.full_like(goals, self.first)
        panel = moving[np.clip(np.searchsorted(self._lengths_before[moving], goals, side="right") - 1, 0, None)]
        x = self._solve(self._series[:, panel], goals - self._lengths_before[panel])
        frames: Float64Array = self._starts[panel] + (x + 1.0) * self._half_frames[panel]
        return frames

    def _solve(self, series: Float64Array, goals: Float64Array) -> Float64Array:
        """Return x from -1 to 1 at which rising Legendre series reach the goals, by Newton's method with bisection."""
        slopes = legendre.legder(series)
        low, high = np.full_like(goals, -1.0), np.full_like(goals, 1.0)
        x: Float64Array = 2.0 * goals / series.sum(axis=0) - 1.0
        for _ in range(_MAX_NEWTON_STEPS):
            errors = legendre.legval(x, series, tensor=False) - goals
            if (np.abs(errors) <= _ROUNDING * self.length).all():
                break
            high, low = np.where(errors > 0.0, x, high), np.where(errors < 0.0, x, low)
            slope = legendre.legval(x, slopes, tensor=False)
            newton = x - np.divide(errors, slope, out=np.full_like(errors, np.inf), where=slope > 0.0)
            x = np.where((newton > low) & (newton < high), newton, (low + high) / 2.0)
        return x

    def _panels(self, starts: Float64Array, ends: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the starts of panels, and Legendre series (nodes + 1, panels) of the length from each start."""
        series = self._length_series(starts, ends)
        total = float(series.sum())
        # Equal rotations have speeds that are not exactly 0. Halving does not make such noise smoother.
        rounding = _ANGLE_ROUNDING if self._has_rotations() else 0.0
        if total <= rounding * len(starts):
            return starts, np.zeros_like(series)
        allowed = np.maximum(LENGTH_TOLERANCE * total * (ends - starts) / (self.last - self.first), rounding)
        finished_starts, finished_series = [], []
        for halving in range(_MAX_HALVINGS):
            middles = (starts + ends) / 2.0
            left, right = self._length_series(starts, middles), self._length_series(middles, ends)
            is_finished = _half_differences(series, left, right) <= np.maximum(allowed, _ROUNDING * total)
            is_finished |= halving == _MAX_HALVINGS - 1
            # The halves are more accurate than the panel, and already computed.
            finished_starts += [starts[is_finished], middles[is_finished]]
            finished_series += [left[:, is_finished], right[:, is_finished]]
            rest = ~is_finished
            starts, ends = np.concatenate((starts[rest], middles[rest])), np.concatenate((middles[rest], ends[rest]))
            series, allowed = np.concatenate((left[:, rest], right[:, rest]), axis=1), np.tile(allowed[rest] / 2.0, 2)
            if not len(starts):
                break
        return np.concatenate(finished_starts), np.concatenate(finished_series, axis=1)

    def _has_rotations(self) -> bool:
        """Return whether derivatives are angular velocities, which have one component less than quaternions."""
        values, velocities = (evaluate_many(self._splines, [self.first], nu) for nu in (0, 1))
        return any(value.shape != velocity.shape for value, velocity in zip(values, velocities, strict=True))

    def _length_series(self, starts: Float64Array, ends: Float64Array) -> Float64Array:
        """Return the Legendre series of the lengths in panels, from each panel's start."""
        half = (ends - starts) / 2.0
        frames = starts + half * (1.0 + _NODES[:, np.newaxis])
        speeds = self.speed(frames.ravel()).reshape(frames.shape)
        # The value at -1 is 0. At 1 every Legendre polynomial is 1, so the value is the sum of the coefficients.
        series: Float64Array = legendre.legint(_TO_COEFFICIENTS @ speeds, lbnd=-1) * half
        return series


def _smooth_parts(splines: Iterable[Spline]) -> Float64Array:
    """Return the frames between which the speed is smooth, unless it reaches 0."""
    edges = np.unique(np.concatenate([smooth_parts(spline.keys) for spline in splines]))
    # If two eases fill a segment, their ends are equal except for rounding.
    is_long_enough = np.diff(edges) > _SHORTEST_PART * (edges[-1] - edges[0])
    parts = np.append(edges[:-1][is_long_enough], edges[-1])
    parts[0] = edges[0]
    return parts


def _half_differences(whole: Float64Array, left: Float64Array, right: Float64Array) -> Float64Array:
    """Return the differences in length between panels and their halves, added up over both halves, shape (panels,)."""
    at_middle, at_end = legendre.legval(0.0, whole), whole.sum(axis=0)
    difference: Float64Array = np.abs(left.sum(axis=0) - at_middle) + np.abs(right.sum(axis=0) - (at_end - at_middle))
    return difference
