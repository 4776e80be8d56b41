# SPDX-License-Identifier: GPL-3.0-or-later
"""Bezier segments whose frame and value are cubics in a common parameter t.

Arrays have the shape (c, m, N) for c channels, m points and N segments. Source: docs/formulas, "Bezier form of a
cubic".
"""

from __future__ import annotations

import numpy as np

from ..cubics import hermite_powers
from ..keys import Float64Array

LEAST_SLOPE = 1e-2
"""The smallest derivative of a frame with respect to the parameter that Newton's method divides by."""
LONGEST_REACH = 0.88
"""Maximum reach relative to a segment. With two such handles, the frame still increases in the middle."""
_NEWTON_STEPS = 10
"""With this reach, ten steps reach float64 accuracy from all nodes."""
_SOLVED = 1e-10
"""The accuracy of a solution relative to the segment's length, far below the float32 resolution of frames."""


def frame_powers(reach: Float64Array) -> Float64Array:
    """Return the coefficients of the frame as a fraction of the segment, from the reach (2, c, N) of both handles."""
    return bezier_powers(np.ones_like(reach[0]), *reach)


def bezier_powers(chord: Float64Array, leaving: Float64Array, arriving: Float64Array) -> Float64Array:
    """Return the coefficients (3, c, 1, N) of t, t² and t³ of cubics (c, N) that rise by a chord.

    `leaving` is the second Bezier point minus the first, and `arriving` the last minus the third.
    """
    return hermite_powers(chord, 3.0 * leaving, 3.0 * arriving)[:, :, np.newaxis]


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


def parameters_at(fractions: Float64Array, frames: Float64Array) -> Float64Array:
    """Return the parameters (c, m, N) at which `frame_powers` reach fractions (m,) of the segment.

    Newton's method starts at the fractions.
    """
    target = fractions[:, np.newaxis]
    t = np.broadcast_to(target, (frames.shape[1], len(fractions), frames.shape[3])).copy()
    for _ in range(_NEWTON_STEPS):
        error = rise_at(frames, t) - target
        if (np.abs(error) <= _SOLVED).all():
            break
        t = np.clip(t - error / np.maximum(slope_at(frames, t), LEAST_SLOPE), 0.0, 1.0)
    return t
