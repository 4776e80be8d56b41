# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpolate roll, pitch and yaw as three numbers by a method for values, for comparison with quaternions.

Source: docs/formulas, "Roll pitch and yaw". Roll turns about z, pitch about y and yaw about x, in Blender's Euler order
XYZ.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, cast, get_args

import numpy as np

from .. import rotations
from ..batch import Continuity, Curve, Cycle, IndexArray, KeyBatch, Method, Spline, checked_choice, end_to_end
from ..keys import Float64Array, Keys, KeysError
from ..messages import n_
from ..rotations.orientations import OrientationSpline
from ..rotations.representations import angular_motion, rotation_representation
from . import tcb

if TYPE_CHECKING:
    from typing import Self


class RotationSpline(OrientationSpline):
    """Represent a track of rotations by the track of its Euler angles.

    Parameters
    ----------
    keys, cycle
        See `orientations.OrientationSpline`. The method of the angles uses tension, continuity and bias.
    angles : Method
        A method for values, such as `linear.METHOD`.
    order : str
        Blender's Euler order. "XYZ" turns by yaw, pitch and roll.

    Raises
    ------
    KeysError
        If a quaternion is zero, or the method refuses the angles.
    ValueError
        If the method is not for values.

    Notes
    -----
    The angles of each key have the smallest sum of changes among all representations of the orientation, including full
    turns. In a loop they continue across the seam, where the angles of the last key differ from the first. In gimbal
    lock the undetermined angle does not change. Orientations have the error of the angles plus 2e-15. For angular
    velocities and accelerations this error is multiplied by the rates of the angles and their squares.
    """

    # On all keys, because the previous keys determine which equivalent triple a key uses.
    support = None
    order: rotations.Order
    angles: Method
    spline: Spline

    def __init__(
        self, keys: Keys, cycle: Cycle = "SINGLE", angles: Method = tcb.METHOD, order: rotations.Order = "XYZ"
    ) -> None:
        super().__init__(keys, cycle)
        self._set(order=cast(rotations.Order, checked_choice("order", order, get_args(rotations.Order))), angles=angles)
        followed = rotations.follow_euler(_with_neighbours(self.keys.values, self._is_looped), self.order)
        self._set(spline=_spline_of(angles, self._angle_keys(followed), self.keys))

    @classmethod
    def from_angles(
        cls, keys: Keys, cycle: Cycle = "SINGLE", angles: Method = tcb.METHOD, order: rotations.Order = "XYZ"
    ) -> Self:
        """Create a spline from keys with Euler angles, preserving full turns.

        Parameters
        ----------
        keys : Keys
            Keys with values of shape (n, 3), in radians about x, y, z for any order. In a loop the last key may differ
            from the first by full turns.
        cycle, angles, order
            See `RotationSpline`.
        """
        if keys.values.shape[1] != 3:
            raise KeysError(n_("Euler angles have the components x, y, z, not {:d}", keys.values.shape[1]))
        # First created with a method that accepts all keys. The spline of the given angles replaces it below.
        spline = cls(keys.with_values(rotations.from_euler(keys.values, order)), cycle, tcb.METHOD, order)
        values = keys.values
        if spline._is_looped:
            period = 2.0 * np.pi * np.rint((values[-1] - values[0]) / (2.0 * np.pi))
            values = np.concatenate([values[:-1] - period, values, values[1:] + period])
        spline._set(angles=angles, spline=_spline_of(angles, spline._angle_keys(values), spline.keys))
        return spline

    @property
    def _is_looped(self) -> bool:
        """Return whether the track is a loop of more than two keys."""
        return self.cycle == "LOOP" and len(self.keys) > 2

    def _angle_keys(self, values: Float64Array) -> Keys:
        """Return the keys of the angles, including the periods before and after for a loop."""
        keys, looped = self.keys, self._is_looped
        if not looped:
            return keys.with_values(values)
        period = keys.frames[-1] - keys.frames[0]
        frames = np.concatenate([keys.frames[:-1] - period, keys.frames, keys.frames[1:] + period])
        return Keys(frames, values, *_with_neighbours(keys.parameters.T, looped).T)

    @property
    def continuity(self) -> Continuity:  # type: ignore[override]
        """Return the continuity class of the angles."""
        return self.spline.continuity

    @property
    def interpolating(self) -> bool:  # type: ignore[override]
        """Return whether the method of the angles is interpolating."""
        return self.spline.interpolating

    @property
    def derivatives(self) -> int:  # type: ignore[override]
        """Return the highest derivative of the angles, up to 2."""
        return min(self.spline.derivatives, 2)

    @property
    def batch(self) -> Hashable:
        """Return the batch identifier. Tracks with the same order and angle method are computed together."""
        return type(self), self.order, self.spline.batch

    @classmethod
    def curve(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> EulerCurve:
        inner = [spline.spline for spline in splines]
        angle_tracks = end_to_end(inner)
        before = np.array([len(spline.keys) - 1 if spline._is_looped else 0 for spline in splines])
        counts = tracks.last - tracks.first + 1
        segment = np.arange(len(tracks.frames)) + np.repeat(angle_tracks.first + before - tracks.first, counts)
        return EulerCurve(type(inner[0]).curve(inner, angle_tracks), segment, splines[0].order)


def _spline_of(angles: Method, keys: Keys, own: Keys) -> Spline:
    """Return the spline of the angles by the method."""
    if angles.values is None:
        raise ValueError(f"angles must be a method for values; {angles.label} is not one")
    try:
        spline: Spline = angles.values(keys)
    except KeysError as error:
        key = None if error.key is None else int(np.argmin(np.abs(own.frames - keys.frames[error.key])))
        fault = n_("as Euler angles with {:s}: {:s}", angles.label, error.message)
        raise KeysError(fault) if key is None else own.error(fault, key) from error
    return spline


def _with_neighbours(rows: Float64Array, looped: bool) -> Float64Array:
    """Return the rows of a loop's keys with the periods before and after. Return other rows unchanged."""
    return np.concatenate([rows[:-1], rows, rows[1:]]) if looped else rows


class EulerCurve:
    """Segments of orientations given by Euler angles in Blender's rotation order.

    `angles` contains the segments of x, y, z angles, and `segment` (K,) the angle segment of each segment.
    """

    def __init__(self, angles: Curve, segment: IndexArray, order: rotations.Order) -> None:
        self._angles = angles
        self._segment = segment
        self._representation = rotation_representation(order)

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        own = self._segment[segment]
        angles = self._angles.evaluate(own, u, 0)
        if nu == 0:
            return self._representation.orientation(angles)
        rates, changes = (self._angles.evaluate(own, u, order) for order in (1, 2))
        return angular_motion(self._representation, angles, rates, changes)[nu - 1]


METHOD = Method(
    "ROLL_PITCH_YAW",
    n_("Roll, Pitch, Yaw"),
    n_("Three separate angles, for comparison. Uneven if all three change"),
    None,
    RotationSpline,
    rotation_options=("angles",),
)
