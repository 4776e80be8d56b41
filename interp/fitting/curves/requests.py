# SPDX-License-Identifier: GPL-3.0-or-later
"""The input and output of a fit of curves: a spline with a tolerance, and the knots that its channels need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...batch import BoolArray, Spline
from ...keys import Float64Array
from ...keys import numbers as checked_numbers

VALUE_TOLERANCE = 1e-4
"""The default tolerance of values, as a part of a track's range: not visible."""
ROTATION_TOLERANCE = float(np.radians(0.01))
"""The default tolerance of rotations in radians: not visible."""

# Relative: the error of sums in float64.
_SUM = 1e-12


@dataclass(frozen=True)
class Request:
    """A spline to be fitted.

    Attributes
    ----------
    spline : Spline
        A track of numbers, or of rotations: unit quaternions, whose derivative is the angular velocity in the parent's
        frame.
    tolerance : float or array_like, shape (d,)
        The largest difference of a value, for all channels or one each; of a rotation, the angle in radians.
        `curves.VALUE_TOLERANCE` times the range of values, and `curves.ROTATION_TOLERANCE`, are not visible.
    representation : str or None
        The representation of rotations: "QUATERNION" (w, x, y, z), "AXIS_ANGLE" (angle, x, y, z), or an Euler order
        such as "XYZ". None for a track of numbers.
    numbers : array_like, shape (n, channels), or None
        A rotation's keys as the channels hold them: signs, whole turns and lengths go on from these. None: the
        spline's own values, which are quaternions: other representations need their numbers.
    segments : array_like of bool, shape (n,), or None
        Which of the segments that begin at each key to fit; the last counts for nothing. None: all.
    free_lengths : bool
        Whether knots of quaternions may be a little longer or shorter where that saves one. For players that take the
        channels as they are and normalise the interpolated quaternion, as Blender does, not each key.
    other_keys : array_like of float, or None
        Frames of further keys of the same track: knots keep half a frame away from them as from the spline's own.
    """

    spline: Spline
    tolerance: float | npt.ArrayLike
    representation: str | None = None
    numbers: npt.ArrayLike | None = None
    segments: npt.ArrayLike | None = None
    free_lengths: bool = True
    other_keys: npt.ArrayLike | None = None

    def tolerance_of_channels(self, channels: int) -> Float64Array:
        """Return the tolerance of each channel, shape (channels,).

        Raises
        ------
        TypeError
            For a tolerance that is no number.
        ValueError
            For a tolerance that is not above 0, or not one for each channel.
        """
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


@dataclass(frozen=True)
class Knots:
    """The m keys that one channel needs between the spline's own.

    Attributes
    ----------
    frames : ndarray, shape (m,)
        Ascending, each a float32 number.
    values, derivatives : ndarray, shape (m,)
        The channel's value there and its derivative a frame, the same on both sides. A quaternion may be up to 1.6 %
        longer or shorter than a line from key to key has it; its derivative includes the change of the length.
    """

    frames: Float64Array
    values: Float64Array
    derivatives: Float64Array


@dataclass(frozen=True)
class Fit:
    """The knots and derivatives with which the channels of one spline play it.

    Attributes
    ----------
    knots : tuple of Knots, one a channel
        A rotation's channels share their frames.
    outgoing, incoming : ndarray, shape (n, channels)
        Derivatives a frame on both sides of the spline's keys; 0 where there is no fitted segment.
    arriving : ndarray, shape (n, channels)
        The channels' values at each key as the segment before it ends: the key's own numbers, except at `jumps`.
    jumps : ndarray of bool, shape (n,)
        True where a rotation's channels arrive at the key with other numbers than its own that mean the same: another
        sign, or another representation of the orientation.
    errors : ndarray, shape (n, channels)
        The largest difference from the spline in the segment that begins at each key: a value's, or for all channels
        of a rotation the angle in radians.
    tolerance : ndarray, shape (channels,)
        The tolerance that was requested.
    rounding : ndarray, shape (n, channels)
        The smallest error that float32 can reach in each segment: nothing below it is a miss.
    """

    knots: tuple[Knots, ...]
    outgoing: Float64Array
    incoming: Float64Array
    arriving: Float64Array
    jumps: BoolArray
    errors: Float64Array
    tolerance: Float64Array
    rounding: Float64Array

    @property
    def error(self) -> float:
        """Return the largest of all errors."""
        return float(self.errors.max(initial=0.0))

    @property
    def reached(self) -> bool:
        """Return whether every channel is within its tolerance, or as near as float32 can be."""
        return bool((self.misses <= 1.0).all())

    @property
    def misses(self) -> Float64Array:
        """Return the errors in units of the allowed error, shape as `errors`."""
        # The sum of a piece's error and of rounding is itself rounded.
        misses: Float64Array = self.errors / (np.maximum(self.tolerance, self.rounding) * (1.0 + _SUM))
        return misses
