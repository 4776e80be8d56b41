# SPDX-License-Identifier: GPL-3.0-or-later
"""Full turns of Euler angles, or of the angle about an axis, about axes that may move.

The turns are taken off the keys of the angles and interpolated as values. The rest is a curve on the sphere. A turn t
about the last axis k of an Euler order is applied in the parent's frame, and about the first axis i in the object's own
frame: ``Rk(tk) p Ri(ti)``. At keys, turns are multiples of 360 degrees, so the motion passes through the keys. The
middle angle passes through gimbal lock, and an angle about an axis passes through 0. In tracks with full turns of such
an angle, all channels are interpolated as values. Source: docs/formulas, "Full turns of angles".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arguments import checked_numbers
from ..key_batch import BoolArray, IndexArray
from ..keys import Float64Array
from ..prepared import Curve
from . import sphere
from .euler import axes_of
from .exponential import motion_of_product

# An angle that changes by more than this spins. On the sphere, the axis of a longer arc would be far from the axis of
# the angle if other angles change too.
_SPIN = np.radians(270.0)


class FullTurns(NamedTuple):
    """The full turns of a track's angles, or of several tracks with n keys each, returned by `split_full_turns`.

    Examples
    --------
    >>> angles = np.radians([[0, 0, 0], [0, 30, 720]])
    >>> full_turns = rotations.split_full_turns("XYZ", angles)
    >>> keys, walk = Keys([0, 10], rotations.from_euler(angles)), rotations.walk_euler(full_turns.rest)
    >>> spline = tcb.RotationSpline.from_walk(keys, walk, full_turns=full_turns)
    >>> np.degrees(rotations.to_euler(spline(2.0)))
    array([  0.,   6., 144.])
    """

    representation: str
    """An Euler order, or "AXIS_ANGLE"."""
    turns: Float64Array
    """Multiples of 360 degrees since the first key, in radians, shape (…, n, 3), or (…, n, 1) for axis and angle."""
    rest: Float64Array
    """The channel values of the keys without the turns, in Blender's order, shape (…, n, components)."""

    def of_track(self, index: int) -> FullTurns | None:
        """Return the turns of one of the tracks, or None if there are none."""
        turns = self.turns[index]
        return FullTurns(self.representation, turns, self.rest[index]) if turns.any() else None

    @property
    def channels(self) -> Float64Array:
        """Return the channel values with the turns."""
        channels = self.rest.copy()
        channels[..., : self.turns.shape[-1]] += self.turns
        return channels

    @property
    def needs_values(self) -> bool:
        """Return whether the middle angle, or the angle about an axis, has full turns."""
        if self.representation == "AXIS_ANGLE":
            return True
        return bool(self.turns[..., axes_of(self.representation)[1]].any())

    @property
    def outer(self) -> Float64Array:
        """Return the Euler angles of the turns in the parent's frame."""
        return self._only(axes_of(self.representation)[2])

    @property
    def inner(self) -> Float64Array:
        """Return the Euler angles of the turns in the object's own frame."""
        return self._only(axes_of(self.representation)[0])

    def _only(self, axis: int) -> Float64Array:
        angles = np.zeros_like(self.turns)
        angles[..., axis] = self.turns[..., axis]
        return angles


def split_full_turns(representation: str, values: npt.ArrayLike) -> FullTurns | None:
    """Take full turns off the keys of angles. Return None if no angle changes by more than 270 degrees between keys.

    Parameters
    ----------
    representation : str
        An Euler order, or "AXIS_ANGLE".
    values : array_like, shape (…, n, components)
        Channel values of the keys in Blender's order: angles about x, y, z, or the angle and the axis. Angles are in
        radians.

    Examples
    --------
    >>> full_turns = rotations.split_full_turns("XYZ", np.radians([[0, 0, 0], [10, 0, 725]]))
    >>> np.degrees(full_turns.turns[1]), np.degrees(full_turns.rest[1])
    (array([  0.,   0., 720.]), array([10.,  0.,  5.]))
    """
    channels = checked_numbers("values", values)
    angle_count = 1 if representation == "AXIS_ANGLE" else 3
    changes = np.diff(channels[..., :angle_count], axis=-2)
    full = np.where(np.abs(changes) > _SPIN, 2.0 * np.pi * np.rint(changes / (2.0 * np.pi)), 0.0)
    if not full.any():
        return None
    turns = np.zeros_like(channels[..., :angle_count])
    np.cumsum(full, axis=-2, out=turns[..., 1:, :])
    rest = channels.copy()
    rest[..., :angle_count] -= turns
    return FullTurns(representation, turns, rest)


class ProductCurve:
    """A product of curves of rotations, in the order of the quaternion product."""

    def __init__(self, factors: Sequence[Curve]) -> None:
        self._factors = factors

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return quaternions (4, samples) for nu = 0, or angular velocities or accelerations (3, samples) per u."""
        orders = range(nu + 1)
        q, *motion = (self._factors[-1].evaluate(segment, u, order) for order in orders)
        for factor in self._factors[-2::-1]:
            q_of_factor, *motion_of_factor = (factor.evaluate(segment, u, order) for order in orders)
            if nu:
                motion = motion_of_product(q_of_factor, motion_of_factor, motion)
            q = sphere.product(q_of_factor, q)
        return motion[-1] if nu else q


class ExceptionalCurve:
    """A curve of several tracks, and another curve for some of them, selected by a mask of keys, shape (K,)."""

    def __init__(self, curve: Curve, is_exception: BoolArray, exception: Curve) -> None:
        self._curve, self._is_exception, self._exception = curve, is_exception, exception

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        values = self._curve.evaluate(segment, u, nu)
        is_exception = self._is_exception[segment]
        if is_exception.any():
            values[:, is_exception] = self._exception.evaluate(segment[is_exception], u[is_exception], nu)
        return values
