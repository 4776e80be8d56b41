# SPDX-License-Identifier: GPL-3.0-or-later
"""Cubic segments in the local parameter, and the weights of the Hermite and Bezier forms of a cubic.

Tangents are derivatives with respect to the parameter. Source: docs/formulas, "Hermite cubics" and
"Bezier form of a cubic".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .key_batch import IndexArray, KeyBatch
from .keys import Float64Array

# Scripts know the class by this module.
from .polynomials import PiecewisePolynomial as PiecewisePolynomial

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
