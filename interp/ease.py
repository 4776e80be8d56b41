# SPDX-License-Identifier: GPL-3.0-or-later
"""Ease to and ease from: the local parameter of a segment as a function of time.

Source: docs/formulas, "Ease".
"""

from __future__ import annotations

import numpy as np

from .keys import Float64Array

# No sample falls within an ease this short, but the acceleration there, 1 / ease, could overflow.
_SMALLEST = 1e-100


def normalised(ease_from: Float64Array, ease_to: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return both eases, scaled down if they overlap (their sum is above 1)."""
    total = np.maximum(ease_from + ease_to, 1.0)
    return _divisible(ease_from / total), _divisible(ease_to / total)


def _divisible(eases: Float64Array) -> Float64Array:
    """Return eases, with 0 for eases too small to divide by."""
    return np.where(eases < _SMALLEST, 0.0, eases)


def ease(u: Float64Array, ease_from: Float64Array, ease_to: Float64Array, nu: int = 0) -> Float64Array:
    """Return the eased local parameter, or its derivative of order `nu`, up to 2, with respect to u.

    u is 0 at a segment's first key and 1 at its second. Pass the first key's `ease_from` and the second key's
    `ease_to`, as returned by `normalised`. The function is C1, rises from 0 to 1 and is exact at both ends. The error
    is below 4e-16.
    """
    # k is written as its inverse so that u = 1 gives exactly 1. Computing k / a first would overflow for a tiny ease.
    # u / a is at most 1 in the branch that uses it.
    inverse_k = 2.0 - ease_from - ease_to
    rest = 1.0 - u
    is_starting = u < ease_from
    is_ending = rest < ease_to
    start_share = np.divide(u, ease_from, out=np.zeros_like(u), where=is_starting)
    end_share = np.divide(rest, ease_to, out=np.zeros_like(u), where=is_ending)
    if nu == 0:
        middle = (2.0 * u - ease_from) / inverse_k
        end = 1.0 - rest * end_share / inverse_k
        return np.where(is_starting, u * start_share / inverse_k, np.where(is_ending, end, middle))
    if nu == 1:
        return 2.0 / inverse_k * np.where(is_starting, start_share, np.where(is_ending, end_share, 1.0))
    start_acceleration = np.divide(2.0 / inverse_k, ease_from, out=np.zeros_like(u), where=is_starting)
    end_acceleration = np.divide(-2.0 / inverse_k, ease_to, out=np.zeros_like(u), where=is_ending)
    return np.where(is_starting, start_acceleration, end_acceleration)
