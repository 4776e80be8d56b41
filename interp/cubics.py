# SPDX-License-Identifier: GPL-3.0-or-later
"""Cubic segments in the local parameter, and piecewise polynomials in the frame.

Tangents are derivatives with respect to the local parameter. Source: docs/formulas, "Hermite cubics", "Bezier form of a
cubic" and "Ease".
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .arguments import checked_number, checked_sample_frames, checked_whole
from .ease import LocalParameter, smooth_parts
from .keys import Float64Array, IndexArray, KeyBatch, Keys
from .prepared import wrapped_frames

if TYPE_CHECKING:
    from typing import Self

_TOLERANCE = 1e-12
"""Tolerance of solutions relative to the segment length, far below the precision of a float32 frame."""
_MAX_STEPS = 60
"""Iteration limit. Bisection converges in 40 steps."""


class HermiteWeights(NamedTuple):
    """The weights of a chord and of the tangents at its ends. The weight of the start value is `1 - chord`."""

    chord: Float64Array
    leaving: Float64Array
    arriving: Float64Array

    def applied(self, chord: Float64Array, leaving: Float64Array, arriving: Float64Array) -> Float64Array:
        """Return the curve that starts at 0, or its derivative, for a chord and the tangents at its ends."""
        return self.chord * chord + self.leaving * leaving + self.arriving * arriving


def hermite_weights(u: Float64Array, nu: int = 0) -> HermiteWeights:
    """Return the weights at local parameters of any shape, or their derivatives of order `nu`, up to 2."""
    v = 1.0 - u
    if nu == 0:
        return HermiteWeights(u * u * (3.0 - 2.0 * u), u * v * v, -u * u * v)
    if nu == 1:
        return HermiteWeights(6.0 * u * v, v * (1.0 - 3.0 * u), u * (3.0 * u - 2.0))
    return HermiteWeights(6.0 - 12.0 * u, 6.0 * u - 4.0, 6.0 * u - 2.0)


def hermite(
    u: Float64Array, start: Float64Array, end: Float64Array, leaving: Float64Array, arriving: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the values and tangents at local parameters of cubics with these values and tangents at their ends."""
    v, (chord_weight, leaving_weight, arriving_weight) = 1.0 - u, hermite_weights(u)
    # Unlike a sum of the start value and a part of the chord, this sum is exact at both ends.
    value = v * v * (1.0 + 2.0 * u) * start + chord_weight * end + leaving_weight * leaving + arriving_weight * arriving
    return value, hermite_weights(u, 1).applied(end - start, leaving, arriving)


def hermite_powers(chord: Float64Array, leaving: Float64Array, arriving: Float64Array) -> Float64Array:
    """Return the coefficients (3, …) of u, u² and u³ of the cubic that starts at 0, for arrays of equal shape."""
    return np.stack([leaving, 3.0 * chord - 2.0 * leaving - arriving, leaving + arriving - 2.0 * chord])


def solve_cubics(cubics: Float64Array, u: Float64Array) -> Float64Array:
    """Return the parameters (m,) at which cubics that rise from 0 to 1 equal u (m,): Newton's method with bisection.

    `cubics` contains the coefficients of the parameter, its square and its cube, shape (3, m).
    """
    solution = u.copy()
    low, high = np.zeros_like(u), np.ones_like(u)
    t, unsolved = u, np.arange(len(u))
    for _ in range(_MAX_STEPS):
        linear, square, cube = cubics
        residual = ((cube * t + square) * t + linear) * t - u
        is_inexact = np.abs(residual) > _TOLERANCE
        solution[unsolved] = t
        if not is_inexact.any():
            break
        low, high = np.where(residual < 0.0, t, low), np.where(residual > 0.0, t, high)
        slope = (3.0 * cube * t + 2.0 * square) * t + linear
        t = t - np.divide(residual, slope, out=np.full_like(t, np.inf), where=slope > 0.0)
        t = np.where((t > low) & (t < high), t, 0.5 * (low + high))
        if np.count_nonzero(is_inexact) < len(is_inexact) // 2:
            unsolved, t, u, low, high = (array[is_inexact] for array in (unsolved, t, u, low, high))
            cubics = cubics.compress(is_inexact, axis=1)
    return solution


def bernstein_weights(t: Float64Array) -> Float64Array:
    """Return the weights of four Bezier points at parameters of any shape, shape (4, …)."""
    s = 1.0 - t
    return np.stack([s**3, 3.0 * t * s**2, 3.0 * t**2 * s, t**3])


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
        self.x, self._eased, self._period = x, eased, period
        self._all_c = np.concatenate([outside[:, :1], c, outside[:, 1:]], axis=1)
        self._all_starts = np.append(x[0], x)
        self.c = self._all_c[:, 1:-1]
        for array in (self.x, self.c):
            array.flags.writeable = False

    def __call__(self, frames: npt.ArrayLike, nu: int = 0, extrapolate: bool = False) -> Float64Array:
        """Evaluate a derivative of any order. The result has the shape of `frames` plus an axis of components."""
        at = checked_sample_frames("frames", frames)
        samples = at.ravel()
        if self._period is not None:
            samples = wrapped_frames(samples, self.x[0], self.x[-1])
        last = len(self.x) - 1
        piece = np.where(samples == self.x[-1], last, np.searchsorted(self.x, samples, side="right"))
        if extrapolate:
            piece = np.clip(piece, 0 if self._eased[0] else 1, last + 1 if self._eased[1] else last)
        values = _polynomials_at(self._all_c[:, piece], samples - self._all_starts[piece], nu)
        return values.reshape(*at.shape, values.shape[1])

    def derivative(self, n: int = 1) -> PiecewisePolynomial:
        """Return the n-th derivative."""
        c = self._all_c
        for _ in range(checked_whole("n", n)):
            c = _differentiated(c)
        return self._of(c, self._period)

    def antiderivative(self, n: int = 1) -> PiecewisePolynomial:
        """Return the n-th antiderivative, which is 0 at the first key and continues outside the keys.

        Raises
        ------
        ValueError
            If the spline is a cycle, because its integral grows with every period. Use `integrate` instead.
        """
        if self._period is not None:
            raise ValueError("a cycle has no piecewise antiderivative. Use integrate instead")
        c, lengths = self._all_c, np.diff(self._all_starts)
        for _ in range(checked_whole("n", n)):
            c = _integrated(c)
            c[-1, 1:] = np.cumsum(_polynomials_at(c[:, :-1], lengths, 0), axis=0)
        return self._of(c, None)

    def integrate(self, a: float, b: float, extrapolate: bool = False) -> Float64Array:
        """Return the integral of the motion, including cycles, from frame `a` to frame `b`, shape (d,)."""
        ends = np.array([checked_number("a", a), checked_number("b", b)])
        one_period = self._of(self._all_c, None).antiderivative()
        if self._period is None:
            start, end = one_period(ends, 0, extrapolate)
        else:
            periods = np.floor((ends - self.x[0]) / self._period)
            start, end = one_period(ends - periods * self._period) + periods[:, np.newaxis] * one_period(self.x[-1])
        integral: Float64Array = end - start
        return integral

    def _of(self, all_c: Float64Array, period: float | None) -> PiecewisePolynomial:
        """Return polynomials with the same pieces and other coefficients, including the coefficients outside."""
        return PiecewisePolynomial(all_c[:, 1:-1], self.x, all_c[:, [0, -1]], self._eased, period)


def _differentiated(c: Float64Array) -> Float64Array:
    """Return the derivatives of polynomials (k, m, d), highest power first."""
    if len(c) == 1:
        return np.zeros_like(c)
    return c[:-1] * np.arange(len(c) - 1, 0, -1.0)[:, np.newaxis, np.newaxis]


def _integrated(c: Float64Array) -> Float64Array:
    """Return the antiderivatives of polynomials (k, m, d), highest power first, that are 0 at the starts."""
    powers = np.arange(len(c), 0, -1.0)[:, np.newaxis, np.newaxis]
    return np.concatenate([c / powers, np.zeros_like(c[:1])])


def _polynomials_at(c: Float64Array, offsets: Float64Array, nu: int) -> Float64Array:
    """Return derivatives (m, d) of polynomials (k, m, d), highest power first, at offsets (m,) from their starts."""
    result = np.zeros((len(offsets), c.shape[2]))
    for power in range(len(c) - 1, checked_whole("nu", nu) - 1, -1):
        result = result * offsets[:, np.newaxis] + c[len(c) - 1 - power] * (factorial(power) / factorial(power - nu))
    return result


def polynomials_of_cubics(
    cubics: Float64Array, local_parameter: LocalParameter, keys: Keys, period: float | None
) -> PiecewisePolynomial:
    """Return the cubics of one track, including ease, as polynomials in the frame. Eased pieces have degree 6.

    `cubics` are coefficients (4, d, n) for powers of the local parameter, lowest power first.
    """
    coefficients, frames = cubics.transpose(0, 2, 1), keys.frames
    first_and_last = coefficients[0][[0, -1]]
    if len(keys) == 1:
        return PiecewisePolynomial(coefficients[:1], np.append(frames, frames + 1.0), first_and_last[np.newaxis])
    edges = smooth_parts(keys)
    middles = (edges[:-1] + edges[1:]) / 2.0
    segment = np.clip(np.searchsorted(frames, middles, side="right") - 1, 0, len(keys) - 2)
    u, rate, change = local_parameter.at(middles, segment, 2)
    # The local parameter in each piece is a parabola, here as powers of the frame relative to the start.
    half_length = middles - edges[:-1]
    start = u - (rate - change / 2.0 * half_length) * half_length
    c = _composed(coefficients[:, segment], np.stack([start, rate - change * half_length, change / 2.0]))
    outside = np.zeros((len(c), 2, c.shape[2]))
    outside[-1] = first_and_last
    eased = bool(local_parameter.ease_from[0] > 0.0), bool(local_parameter.ease_to[-2] > 0.0)
    return PiecewisePolynomial(c, edges, outside, eased, period)


def _composed(cubics: Float64Array, parameter: Float64Array) -> Float64Array:
    """Return cubics (4, m, d) in a parameter (3, m) that is a parabola in the frame, as polynomials in the frame.

    The arguments have the lowest power first. The result, of degree 3 or 6, has the highest power first.
    """
    s0, s1, s2 = parameter[..., np.newaxis]
    rows = [cubics[3]]
    # Horner's rule, with multiplication of polynomials.
    for coefficient in cubics[2::-1]:
        product = np.zeros((len(rows) + 2, *rows[0].shape))
        for power, row in enumerate(rows):
            product[power] += row * s0
            product[power + 1] += row * s1
            product[power + 2] += row * s2
        product[0] += coefficient
        rows = list(product)
    degree = 6 if s2.any() else 3
    return np.stack(rows[degree::-1])
