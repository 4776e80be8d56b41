# SPDX-License-Identifier: GPL-3.0-or-later
"""The input of curve fits and handle fits: a spline that channels should play."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from ..base_spline import Spline


@dataclass(frozen=True)
class Request:
    """A request to fit curves or handles to a spline.

    Attributes
    ----------
    spline : Spline
        A spline of values, or of rotations as unit quaternions with angular velocities in the parent frame.
    representation : str or None
        The representation of rotations: "QUATERNION" (w, x, y, z), "AXIS_ANGLE" (angle, x, y, z), or an Euler order
        such as "XYZ". None for values.
    numbers : array_like, shape (n, channels), or None
        Channel values at the keys of a rotation, which determine signs, full turns and lengths. If None, the
        quaternions of the spline are used. Other representations require numbers.
    segments : array_like of bool, shape (n,), or None
        Mask of the segments to fit, indexed by their first keys, for example the segments affected by an edit. The last
        value is ignored. If None, all segments are fitted.
    tolerance : float or None
        For curves, the maximum error, above 0. For rotations, an angle in radians. Errors of `curves.VALUE_TOLERANCE`
        times the range of values, and of `curves.ROTATION_TOLERANCE`, are not visible. Handles ignore the tolerance and
        are as accurate as possible.
    other_keys : array_like of float, or None
        For curves, frames of other keys of the same track. Knots stay half a frame away from these keys, as they do
        from the keys of the spline.
    """

    spline: Spline
    representation: str | None = None
    numbers: npt.ArrayLike | None = None
    segments: npt.ArrayLike | None = None
    tolerance: float | None = None
    other_keys: npt.ArrayLike | None = None
