# SPDX-License-Identifier: GPL-3.0-or-later
"""Retime a motion p by a frame function F(t), and find the frame function for constant speed.

Source: docs/formulas, "Frame functions", "Arc length" and "Constant speed".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .arc_length import LENGTH_TOLERANCE, ArcLength
from .arguments import checked_finite, checked_row
from .base_spline import Spline, checked_derivative
from .constant_speed import POSITION_TOLERANCE, SPEED_TOLERANCE, Between, ConstantSpeed, FunctionKeys
from .keys import Float64Array
from .spline_batch import evaluate_many

__all__ = [
    "LENGTH_TOLERANCE",
    "POSITION_TOLERANCE",
    "SPEED_TOLERANCE",
    "ArcLength",
    "Between",
    "ConstantSpeed",
    "FunctionKeys",
    "retimed",
]


def retimed(
    spline: Spline,
    frames: npt.ArrayLike,
    nu: int = 0,
    rates: npt.ArrayLike = 1.0,
    changes: npt.ArrayLike = 0.0,
) -> Float64Array:
    """Evaluate p(F(t)), or its derivatives with respect to t.

    Parameters
    ----------
    spline : Spline
        The motion p of values or rotations.
    frames : array_like, shape (m,)
        Finite values of F(t) in any order. F may run backward, pause and jump.
    nu : 0, 1 or 2
        0 for values, otherwise the order of the derivative with respect to t. For rotations, derivatives are angular
        velocities and accelerations.
    rates, changes : array_like, shape (m,), or a number
        The finite first and second derivatives of F at t, in frames per frame and frames per frame squared. Derivatives
        not needed for `nu` are ignored.

    Returns
    -------
    ndarray
        One row per frame: values, quaternions w, x, y, z, or angular velocities or accelerations x, y, z. Angular
        derivatives are in the parent frame, in radians per frame and per frame squared.

    Raises
    ------
    TypeError
        If `spline` is not a spline, `frames`, `rates` or `changes` are not numbers, or `nu` is not an integer.
    ValueError
        If frames, rates or changes are not finite or not one-dimensional, their lengths differ, or the spline does not
        have this derivative.

    Notes
    -----
    If p has different derivatives before and after a key, the side in the direction of F is used. Angular velocities
    and accelerations follow the same chain rule as values. Source: docs/formulas, "Frame functions".

    Examples
    --------
    Play backward at half speed:

    >>> spline = tcb.VectorSpline(Keys([0, 10], [0, 20]))
    >>> t = np.array([0, 10, 20])
    >>> retiming.retimed(spline, 10 - t / 2).ravel(), retiming.retimed(spline, 10 - t / 2, 1, rates=-0.5).ravel()
    (array([20., 10.,  0.]), array([-1., -1., -1.]))
    """
    if not isinstance(spline, Spline):
        raise TypeError(f"spline must be a spline, not {spline!r}")
    nu = checked_derivative(spline, nu)
    motion_frames = checked_row("frames", frames)
    if nu == 0:
        return evaluate_many([spline], motion_frames)[0]
    first_rates = _per_frame("rates", rates, motion_frames)
    # A motion that runs backward reaches a key from the segment after it and leaves it by the segment before.
    sides = np.where(first_rates < 0.0, np.nextafter(motion_frames, -np.inf), motion_frames)
    velocities = evaluate_many([spline], sides, 1)[0]
    if nu == 1:
        return velocities * first_rates[:, np.newaxis]
    second_rates = _per_frame("changes", changes, motion_frames)
    accelerations = evaluate_many([spline], sides, nu)[0]
    return accelerations * (first_rates**2)[:, np.newaxis] + velocities * second_rates[:, np.newaxis]


def _per_frame(name: str, data: npt.ArrayLike, frames: Float64Array) -> Float64Array:
    """Return a finite number for each frame, or raise TypeError or ValueError."""
    checked = checked_finite(name, data)
    if checked.ndim and checked.shape != frames.shape:
        raise ValueError(
            f"{name} must be one number, or {len(frames)} numbers, one per frame, not an array of shape {checked.shape}"
        )
    return np.broadcast_to(checked, frames.shape)
