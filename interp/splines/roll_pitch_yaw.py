# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpolate roll, pitch and yaw as three numbers with a method for values, for comparison with quaternions.

Source: docs/formulas, "Roll pitch and yaw". Roll turns about z, pitch about y and yaw about x, in Blender's Euler order
XYZ.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, cast, get_args

import numpy as np

from .. import rotations
from ..arguments import checked_choice
from ..base_spline import Cycle, Method, Spline, checked_keys, end_to_end
from ..keys import Float64Array, IndexArray, KeyBatch, Keys, KeysError
from ..messages import n_
from ..prepared import Curve
from ..rotations.base_rotation_spline import OrientationSpline
from ..rotations.representations import RotationCurve, rotation_representation
from . import tcb

if TYPE_CHECKING:
    from typing import Self


class RotationSpline(OrientationSpline):
    """Represent a track of rotations by the track of its Euler angles.

    Parameters
    ----------
    keys, cycle
        See `OrientationSpline`. The method of the angles uses tension, continuity and bias.
    angles : Method
        The method of the angles, which must be a method for values, such as `linear.METHOD`.
    order : str
        Blender's Euler order. "XYZ" applies yaw, then pitch, then roll.

    Raises
    ------
    KeysError
        If a quaternion is zero, or the method rejects the angles.
    TypeError
        If `keys` are not Keys, or `angles` is not a Method.
    ValueError
        If the method is not for values, or there is no such order.

    Notes
    -----
    The angles of each key have the smallest sum of changes among all representations of the orientation, including full
    turns. In a loop, the angles continue across the seam, where the angles of the last key differ from the first. In
    gimbal lock, the undetermined angle does not change. The error of orientations is the error of the angles plus
    2e-15. For angular velocities, this error is multiplied by the rates of the angles, and for angular accelerations by
    the squares of these rates.
    """

    order: rotations.Order
    angles: Method
    spline: Spline

    def __init__(
        self, keys: Keys, cycle: Cycle = "SINGLE", angles: Method = tcb.METHOD, order: rotations.Order = "XYZ"
    ) -> None:
        self._set_orientations(keys, cycle, order)
        self._set_angles(rotations.follow_euler(self._three_periods(self.keys.values), self.order), angles)

    @classmethod
    def from_angles(
        cls, keys: Keys, cycle: Cycle = "SINGLE", angles: Method = tcb.METHOD, order: rotations.Order = "XYZ"
    ) -> Self:
        """Create a spline from keys with Euler angles, preserving full turns.

        Parameters
        ----------
        keys : Keys
            Keys with values of shape (n, 3), in radians about x, y, z for any order. In a loop, the last key may differ
            from the first by full turns.
        cycle, angles, order
            See `RotationSpline`.
        """
        checked_keys(keys)
        if keys.values.shape[1] != 3:
            raise KeysError(n_("Euler angles must have three components (x, y, z), not {:d}", keys.values.shape[1]))
        spline = cls.__new__(cls)
        spline._set_orientations(keys.with_values(rotations.from_euler(keys.values, order)), cycle, order)
        turns = 2.0 * np.pi * np.rint((keys.values[-1] - keys.values[0]) / (2.0 * np.pi))
        spline._set_angles(spline._three_periods(keys.values, turns), angles)
        return spline

    def _set_orientations(self, keys: Keys, cycle: Cycle, order: rotations.Order) -> None:
        super().__init__(keys, cycle)
        self._set(order=cast(rotations.Order, checked_choice("order", order, get_args(rotations.Order))))

    def _set_angles(self, values: Float64Array, method: Method) -> None:
        """Set the spline of the angles (n, 3), or of the angles of three periods for a loop.

        The angles of a loop may grow by full turns, so a method for values cannot close the loop itself. In the middle
        period, its spline is smooth across both seams.
        """
        if not isinstance(method, Method):
            raise TypeError(f"angles must be a Method, not {method!r}")
        if method.values is None:
            raise ValueError(f"angles must be a method that supports values, not {method.label}")
        keys = self.keys
        if self._is_looped:
            frames = self._three_periods(keys.frames, keys.frames[-1] - keys.frames[0])
            angle_keys = Keys(frames, values, *self._three_periods(keys.parameters.T).T)
        else:
            angle_keys = keys.with_values(values)
        try:
            spline = method.values(angle_keys)
        except KeysError as error:
            fault = n_("as Euler angles with {:s}: {:s}", method.label, error.message)
            if error.key is None:
                raise KeysError(fault) from error
            key = error.key % (len(keys) - 1) if self._is_looped else error.key
            raise keys.error(fault, key) from error
        self._set(angles=method, spline=spline, interpolating=spline.interpolating)

    @property
    def _is_looped(self) -> bool:
        """Return whether the angles continue across the seam. A loop of two keys is computed as two keys."""
        return self.cycle == "LOOP" and len(self.keys) > 2

    def _three_periods(self, rows: Float64Array, period: Float64Array | float = 0.0) -> Float64Array:
        """Return the rows of a loop's keys for the period before, the loop itself and the period after.

        Rows of consecutive periods differ by `period`. Rows of other tracks are returned unchanged.
        """
        return np.concatenate([rows[:-1] - period, rows, rows[1:] + period]) if self._is_looped else rows

    @property
    def batch(self) -> Hashable:
        """Return the batch identifier. Tracks with the same order and angle method are computed together."""
        return type(self), self.order, self.spline.batch

    @classmethod
    def curve(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> RotationCurve:
        angle_splines = [spline.spline for spline in splines]
        angle_tracks = end_to_end(angle_splines)
        # In a loop, the segments of the period before come first.
        earlier_segments = np.array([len(spline.keys) - 1 if spline._is_looped else 0 for spline in splines])
        shifts = angle_tracks.first + earlier_segments - tracks.first
        angle_segment = np.arange(len(tracks.frames)) + np.repeat(shifts, tracks.last - tracks.first + 1)
        angle_curve = type(angle_splines[0]).curve(angle_splines, angle_tracks)
        return RotationCurve(_AngleCurve(angle_curve, angle_segment), rotation_representation(splines[0].order))


class _AngleCurve:
    """The segments of `curve` with the indices `segments` (K,), one for each segment of several tracks."""

    def __init__(self, curve: Curve, segments: IndexArray) -> None:
        self._curve, self._segments = curve, segments

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        return self._curve.evaluate(self._segments[segment], u, nu)


METHOD = Method(
    "ROLL_PITCH_YAW",
    n_("Roll, Pitch, Yaw"),
    n_("Three separate angles, for comparison. Uneven if all three change"),
    None,
    RotationSpline,
    rotation_options=("angles",),
)
