# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments that are cubics in the local parameter, with any number of components, and polynomials in the frame."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .arguments import checked_sample_frame, checked_sample_frames, checked_whole
from .cycles import wrapped_frames
from .hermite_basis import hermite_powers
from .key_batch import IndexArray, KeyBatch
from .keys import Float64Array
from .local_parameter import LocalParameter

if TYPE_CHECKING:
    from typing import Self


class Cubics:
    """Cubic segments, as polynomials in the local parameter. Source: docs/formulas, "Hermite cubics"."""

    def __init__(self, start: Float64Array, end: Float64Array, outgoing: Float64Array, incoming: Float64Array) -> None:
        self._components = len(start)
        self._coefficients = np.concatenate([start, *hermite_powers(end - start, outgoing, incoming)])

    @classmethod
    def through(cls, tracks: KeyBatch, values: Float64Array, velocities: Float64Array) -> Self:
        """Return the segments through keys with given values and velocities per frame, both of shape (d, K)."""
        end = tracks.segment_end
        length = tracks.lengths
        return cls(values, values[:, end], velocities * length, velocities[:, end] * length)

    @classmethod
    def of_tangents(
        cls, tracks: KeyBatch, values: Float64Array, incoming: Float64Array, outgoing: Float64Array
    ) -> Self:
        """Return the segments through keys with given values and tangents, all of shape (d, K).

        Each tangent is a derivative with respect to the local parameter of the segment before or after the key.
        """
        end = tracks.segment_end
        leaving, arriving = outgoing.copy(), incoming[:, end]
        leaving[:, tracks.last] = arriving[:, tracks.last] = 0.0
        return cls(values, values[:, end], leaving, arriving)

    @property
    def coefficients(self) -> Float64Array:
        """Return the coefficients of the powers of u, lowest power first, shape (4, d, K)."""
        return self._coefficients.reshape(4, self._components, -1)

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        return _polynomial(self._coefficients.take(segment, axis=1).reshape(4, self._components, -1), u, nu)

    def evaluate_one(self, segment: int, u: float, nu: int) -> Float64Array:
        """Return one value or derivative with respect to u, shape (components,), bit-identical to `evaluate`."""
        return _polynomial(self._coefficients[:, segment].reshape(4, self._components), u, nu)


def _polynomial(coefficients: Float64Array, u: Float64Array | float, nu: int) -> Float64Array:
    """Return the values or derivatives of cubics at u."""
    p, linear, square, cube = coefficients
    result: Float64Array
    if nu == 0:
        result = ((cube * u + square) * u + linear) * u + p
    elif nu == 1:
        result = (3.0 * cube * u + 2.0 * square) * u + linear
    else:
        result = 6.0 * cube * u + 2.0 * square
    return result


class PiecewisePolynomial:
    """Piecewise polynomials in the frame, like scipy's PPoly with additional pieces beyond both ends.

    Created by `to_ppoly`, `derivative` and `antiderivative`.

    Parameters
    ----------
    c : ndarray, shape (k, m, d)
        Coefficients of m pieces, for powers of the frame relative to the start of each piece, highest power first.
    x : ndarray, shape (m + 1,)
        The start frames of the pieces in ascending order, and the end frame of the last piece.
    outside : ndarray, shape (k, 2, d)
        Coefficients before the first piece, relative to its start, and after the last piece, relative to its end.
    eased : (bool, bool)
        For the first and last keys, true if the piece there has an ease at the key, so that extrapolation holds the
        value.
    period : float or None
        The period of repetition, in frames.

    Attributes
    ----------
    c, x : ndarray
        Arrays in scipy's format. ``scipy.interpolate.PPoly(p.c, p.x)`` gives the same values within the pieces.

    Examples
    --------
    >>> p = tcb.VectorSpline(Keys([0, 10], [0, 1])).to_ppoly()
    >>> p.integrate(0, 10), p.antiderivative()(20)
    (array([5.]), array([15.]))
    """

    def __init__(
        self,
        c: Float64Array,
        x: Float64Array,
        outside: Float64Array,
        eased: tuple[bool, bool] = (False, False),
        period: float | None = None,
    ) -> None:
        self.c, self.x, self._outside, self._eased, self._period = c, x, outside, eased, period
        for array in (c, x, outside):
            array.flags.writeable = False

    def __call__(self, frames: npt.ArrayLike, nu: int = 0, extrapolate: bool = False) -> Float64Array:
        """Evaluate a derivative of any order. The result has the shape of `frames` plus an axis of components."""
        at = checked_sample_frames("frames", frames)
        row = at.ravel()
        first, last = float(self.x[0]), float(self.x[-1])
        if self._period is not None:
            row = wrapped_frames(row, first, last)
        piece = np.clip(np.searchsorted(self.x, row, side="right") - 1, 0, self.c.shape[1] - 1)
        values = self._evaluated(self.c[:, piece], row - self.x[piece], nu)
        for side, beyond, start in ((0, row < first, first), (1, row > last, last)):
            if self._eased[side] or not extrapolate:
                values[beyond] = self._evaluated(self._outside[:, [side]], row[beyond] - start, nu)
        return values.reshape(*at.shape, self.c.shape[2])

    @staticmethod
    def _evaluated(c: Float64Array, along: Float64Array, nu: int) -> Float64Array:
        """Return a derivative of the polynomials, shape (samples, d)."""
        result = np.zeros((len(along), c.shape[2]))
        for power in range(len(c) - 1, checked_whole("nu", nu) - 1, -1):
            result = result * along[:, np.newaxis] + c[len(c) - 1 - power] * (factorial(power) / factorial(power - nu))
        return result

    def derivative(self, n: int = 1) -> PiecewisePolynomial:
        """Return the n-th derivative."""
        c, outside = self.c, self._outside
        for _ in range(checked_whole("n", n)):
            powers = np.arange(len(c) - 1, 0, -1.0)[:, np.newaxis, np.newaxis]
            c, outside = (a[:-1] * powers if len(a) > 1 else np.zeros_like(a) for a in (c, outside))
        return PiecewisePolynomial(c.copy(), self.x, outside.copy(), self._eased, self._period)

    def antiderivative(self, n: int = 1) -> PiecewisePolynomial:
        """Return the n-th antiderivative, which is 0 at the first key and continues outside the keys.

        Raises
        ------
        ValueError
            If the spline is a cycle, because its integral grows with every period. Use `integrate` instead.
        """
        if self._period is not None:
            raise ValueError("a cycle has no piecewise antiderivative. Use integrate instead")
        c, outside, length = self.c, self._outside, np.diff(self.x)
        for _ in range(checked_whole("n", n)):
            powers = np.arange(len(c), 0, -1.0)[:, np.newaxis, np.newaxis]
            c, outside = (np.concatenate([a / powers, np.zeros_like(a[:1])]) for a in (c, outside))
            whole = np.zeros(c.shape[1:])
            for each in c:
                whole = whole * length[:, np.newaxis] + each
            grown = np.cumsum(whole, axis=0)
            c[-1, 1:], outside[-1, 1] = grown[:-1], grown[-1]
        return PiecewisePolynomial(c.copy(), self.x, outside.copy(), self._eased)

    def integrate(self, a: float, b: float, extrapolate: bool = False) -> Float64Array:
        """Return the integral of the motion, including cycles, from frame `a` to frame `b`, shape (d,)."""
        ends = np.array([checked_sample_frame("a", a), checked_sample_frame("b", b)])
        inner = PiecewisePolynomial(self.c, self.x, self._outside, self._eased).antiderivative()
        if self._period is None:
            start, end = inner(ends, 0, extrapolate)
        else:
            first = self.x[0]
            periods = np.floor((ends - first) / self._period)
            start, end = inner(ends - periods * self._period) + periods[:, np.newaxis] * inner(self.x[-1])
        whole: Float64Array = end - start
        return whole


def polynomials(
    cubics: Cubics, local_parameter: LocalParameter, frames: Float64Array, period: float | None
) -> PiecewisePolynomial:
    """Return the cubics of one track, including ease, as polynomials in the frame. Eased pieces have degree 6.

    An eased segment has three pieces, in which the local parameter is a parabola, a line and a parabola
    (docs/formulas, "Ease").
    """
    c0, c1, c2, c3 = cubics.coefficients.transpose(0, 2, 1)
    if len(frames) == 1:
        return PiecewisePolynomial(c0[np.newaxis], np.append(frames, frames + 1.0), np.stack([c0, c0], axis=1))
    segment = np.arange(len(frames) - 1)
    length = local_parameter.length[segment]
    leave, arrive = local_parameter.ease_from[segment], local_parameter.ease_to[segment]
    # The start of each piece as a rounded frame, and relative to its segment.
    starts = np.stack([np.zeros_like(leave), leave, 1.0 - arrive])
    is_piece = np.stack([leave > 0.0, leave < 1.0 - arrive, arrive > 0.0])
    index, part = np.nonzero(is_piece.T)
    x = np.minimum(frames[index] + starts[part, index] * length[index], frames[index + 1])
    has_length = np.diff(x, append=frames[-1]) > 0.0
    index, part, x = index[has_length], part[has_length], x[has_length]
    length, leave, arrive = length[index], leave[index], arrive[index]
    s = (x - frames[index]) / length
    # The local parameter in powers of the offset from that start.
    pace = 2.0 / (2.0 - leave - arrive)
    none = np.zeros_like(s)
    out_of = np.divide(0.5 * pace, leave, out=none.copy(), where=part == 0)
    into = np.divide(0.5 * pace, arrive, out=none.copy(), where=part == 2)
    rest = 1.0 - s
    parameter = np.choose(
        part,
        [
            [out_of * s * s, 2.0 * out_of * s, out_of],
            [pace * (s - 0.5 * leave), pace, none],
            [1.0 - into * rest * rest, 2.0 * into * rest, -into],
        ],
    )
    s0, s1, s2 = (parameter / length ** np.arange(3.0)[:, np.newaxis])[..., np.newaxis]
    x = np.append(x, frames[-1])
    rows = [c3[index]]
    for constant in (c2, c1, c0):
        grown = np.zeros((len(rows) + 2, *rows[0].shape))
        for power, row in enumerate(rows):
            grown[power] += row * s0
            grown[power + 1] += row * s1
            grown[power + 2] += row * s2
        grown[0] += constant[index]
        rows = list(grown)
    degree = 6 if s2.any() else 3
    c = np.stack(rows[degree::-1])
    outside = np.zeros((len(c), 2, c.shape[2]))
    outside[-1] = c0[[0, -1]]
    eased = bool(local_parameter.ease_from[0] > 0.0), bool(local_parameter.ease_to[-2] > 0.0)
    return PiecewisePolynomial(c, x, outside, eased, period)
