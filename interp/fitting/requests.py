# SPDX-License-Identifier: GPL-3.0-or-later
"""The input of the fits of curves and of handles: a spline that channels are to play."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..batch import Spline
from ..keys import Float64Array
from ..keys import numbers as checked_numbers


@dataclass(frozen=True)
class Request:
    """A spline that channels are to play, with curves or with handles.

    Attributes
    ----------
    spline : Spline
        A track of numbers, or of rotations: unit quaternions, whose derivative is the angular velocity in the parent's
        frame.
    representation : str or None
        The representation of rotations: "QUATERNION" (w, x, y, z), "AXIS_ANGLE" (angle, x, y, z), or an Euler order
        such as "XYZ". None for a track of numbers.
    numbers : array_like, shape (n, channels), or None
        A rotation's keys as the channels hold them: signs, whole turns and lengths continue from these. None for the
        spline's own values, which are quaternions. Other representations need their numbers.
    segments : array_like of bool, shape (n,), or None
        The segments to fit, by the key at which they begin: Bezier segments that an edit affects. The last value is
        ignored. None: all.
    tolerance : float or array_like, shape (d,), or None
        Of curves, the largest difference of a value, for all channels or one each; of a rotation, the angle in radians.
        `curves.VALUE_TOLERANCE` times the range of values, and `curves.ROTATION_TOLERANCE`, are not visible. Handles
        take none: they are as accurate as they can be.
    free_lengths : bool
        Of curves, whether knots of quaternions may be a little longer or shorter where that saves one. For players that
        take the channels as they are and normalize the interpolated quaternion, as Blender does, not each key.
    other_keys : array_like of float, or None
        Of curves, frames of further keys of the same track: knots keep half a frame away from them as from the spline's
        own.
    """

    spline: Spline
    representation: str | None = None
    numbers: npt.ArrayLike | None = None
    segments: npt.ArrayLike | None = None
    tolerance: float | npt.ArrayLike | None = None
    free_lengths: bool = True
    other_keys: npt.ArrayLike | None = None

    def tolerance_of_channels(self, channels: int) -> Float64Array:
        """Return the tolerance of each channel, shape (channels,).

        Raises
        ------
        TypeError
            For a missing tolerance, or one that is not a number.
        ValueError
            For a tolerance that is not above 0, or not one for each channel.
        """
        if self.tolerance is None:
            raise TypeError("tolerance must be a number for a fit of curves, not None")
        tolerance = checked_numbers("tolerance", self.tolerance)
        if tolerance.ndim and tolerance.shape not in ((1,), (channels,)):
            shape = tolerance.shape
            raise ValueError(
                f"tolerance must be a number, or one for each of {channels} channels, not the shape {shape}"
            )
        tolerance = np.broadcast_to(tolerance, (channels,))
        if not (tolerance > 0.0).all():
            raise ValueError(f"a tolerance must be above 0, not {self.tolerance!r}")
        return tolerance
