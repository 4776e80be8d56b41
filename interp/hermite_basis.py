# SPDX-License-Identifier: GPL-3.0-or-later
"""The Hermite and Bernstein bases of cubics in a local parameter from 0 to 1.

Tangents are derivatives with respect to the parameter. Source: docs/formulas, "Hermite cubics" and
"Bezier form of a cubic".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .keys import Float64Array


class HermiteWeights(NamedTuple):
    """The weights of a chord and of the tangents at its ends. The weight of the start value is `1 - chord`."""

    chord: Float64Array
    leaving: Float64Array
    arriving: Float64Array


def hermite_weights(u: Float64Array, nu: int = 0) -> HermiteWeights:
    """Return the weights at local parameters of any shape, or their derivatives of order `nu`, up to 2."""
    v = 1.0 - u
    if nu == 0:
        return HermiteWeights(u * u * (3.0 - 2.0 * u), u * v * v, -u * u * v)
    if nu == 1:
        return HermiteWeights(6.0 * u * v, v * (1.0 - 3.0 * u), u * (3.0 * u - 2.0))
    return HermiteWeights(6.0 - 12.0 * u, 6.0 * u - 4.0, 6.0 * u - 2.0)


def hermite_powers(chord: Float64Array, leaving: Float64Array, arriving: Float64Array) -> Float64Array:
    """Return the coefficients (3, …) of u, u² and u³ of the cubic that starts at 0, for arrays of equal shape."""
    return np.stack([leaving, 3.0 * chord - 2.0 * leaving - arriving, leaving + arriving - 2.0 * chord])


def bernstein_weights(t: Float64Array) -> Float64Array:
    """Return the weights of four Bezier points at parameters of any shape, shape (4, …)."""
    s = 1.0 - t
    return np.stack([s**3, 3.0 * t * s**2, 3.0 * t**2 * s, t**3])
