# SPDX-License-Identifier: GPL-3.0-or-later
"""The input of curve fits and handle fits: a spline that channels should play."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..batch import Spline
from ..keys import Float64Array
from ..keys import numbers as checked_numbers


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
    tolerance : float or array_like, shape (d,), or None
        For curves, the maximum error, for all channels or per channel. For rotations, an angle in radians. Errors of
        `curves.VALUE_TOLERANCE` times the range of values, and of `curves.ROTATION_TOLERANCE`, are not visible. Handles
        ignore the tolerance and are as accurate as possible.
    other_keys : array_like of float, or None
        For curves, frames of other keys of the same track. Knots stay half a frame away from these keys, as they do
        from the keys of the spline.
    """

    spline: Spline
    representation: str | None = None
    numbers: npt.ArrayLike | None = None
    segments: npt.ArrayLike | None = None
    tolerance: float | npt.ArrayLike | None = None
    other_keys: npt.ArrayLike | None = None

    def tolerance_of_channels(self, channels: int) -> Float64Array:
        """Return the tolerance of each channel, shape (channels,).

        Raises
        ------
        TypeError
            If the tolerance is missing or not a number.
        ValueError
            If the tolerance is not above 0, or is neither one number nor one per channel.
        """
        if self.tolerance is None:
            raise TypeError("tolerance must be a number when curves are fitted, not None")
        tolerance = checked_numbers("tolerance", self.tolerance)
        if tolerance.ndim and tolerance.shape not in ((1,), (channels,)):
            shape = tolerance.shape
            raise ValueError(
                f"tolerance must be one number, or {channels} numbers, one per channel, not an array of shape {shape}"
            )
        tolerance = np.broadcast_to(tolerance, (channels,))
        if not (tolerance > 0.0).all():
            raise ValueError(f"a tolerance must be above 0, not {self.tolerance!r}")
        return tolerance
