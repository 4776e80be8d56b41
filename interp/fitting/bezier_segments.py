# SPDX-License-Identifier: GPL-3.0-or-later
"""Bezier segments as polynomials in their parameter: rise, slope, and the parameters at which they reach a value."""

from __future__ import annotations

import numpy as np

from ..hermite_basis import hermite_powers
from ..keys import Float64Array

LEAST_SLOPE = 1e-2
"""The smallest derivative of a frame with respect to the parameter that Newton's method divides by."""
_NEWTON = 6
_SOLVED = 1e-10
"""The accuracy of a solution relative to the segment's length, far below the float32 resolution of frames."""
_HALVINGS = 36


def bezier_powers(chord: Float64Array, leaving: Float64Array, arriving: Float64Array) -> Float64Array:
    """Return the coefficients (3, c, 1, N) of t, t² and t³ of cubics (c, N) that rise by a chord.

    `leaving` is the second Bezier point minus the first, and `arriving` the last minus the third.
    Source: docs/formulas, "Bezier form of a cubic".
    """
    return hermite_powers(chord, 3.0 * leaving, 3.0 * arriving)[:, :, np.newaxis]


def frame_powers(reach: Float64Array) -> Float64Array:
    """Return the coefficients of the frame as a fraction of the segment."""
    return bezier_powers(np.ones_like(reach[0]), *reach)


def rise_at(powers: Float64Array, t: Float64Array) -> Float64Array:
    """Return the rise of each cubic from 0 to t."""
    linear, square, cube = powers
    rise: Float64Array = ((cube * t + square) * t + linear) * t
    return rise


def slope_at(powers: Float64Array, t: Float64Array) -> Float64Array:
    """Return the derivative of each cubic at t."""
    linear, square, cube = powers
    slope: Float64Array = (3.0 * cube * t + 2.0 * square) * t + linear
    return slope


def parameters_at(values: Float64Array, powers: Float64Array) -> Float64Array:
    """Return the parameters (c, m, N) at which cubics that rise from 0 to 1 reach the values (m,) or (m, N).

    Newton's method starts at the values, with bisection as the fallback.
    """
    target = values if values.ndim > 1 else values[:, np.newaxis]
    t = np.broadcast_to(target, (powers.shape[1], len(values), powers.shape[3])).copy()
    for _ in range(_NEWTON):
        off = rise_at(powers, t) - target
        if (np.abs(off) <= _SOLVED).all():
            return t
        t = np.clip(t - off / np.maximum(slope_at(powers, t), LEAST_SLOPE), 0.0, 1.0)
    far = np.nonzero(np.abs(rise_at(powers, t) - target) > _SOLVED)
    if len(far[0]):
        channel, _, column = far
        own = powers[:, channel, 0, column]
        low, high = np.zeros(len(far[0])), np.ones(len(far[0]))
        wanted = np.broadcast_to(target, t.shape)[far]
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            short = rise_at(own, middle) < wanted
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        t[far] = 0.5 * (low + high)
    return t
