# SPDX-License-Identifier: GPL-3.0-or-later
"""Representations of rotations in animation channels: a quaternion, Euler angles, an axis and an angle.

A representation converts between orientations and channel values, and between angular velocities and channel rates, and
finds equivalent channel values. Arrays have the component axis first. The last axis runs over samples, or over spans,
which are pieces of one motion between two frames. "Local" values are any values that represent the orientation.
`map_to_nearest` connects them to a sequence that begins at the values of a key. Source: docs/formulas, "Euler angles"
and "Axis and angle".
"""

from __future__ import annotations

from typing import cast, get_args

import numpy as np

from ..keys import Float64Array, IndexArray
from ..prepared import Curve
from . import sphere
from .euler import Order, axes_of, euler_halves, follow_axis_angle, follow_euler, from_euler, other_euler
from .quaternions import UNKNOWN
from .sphere import acceleration_of_exp, cross, motion_of_product, velocity_of_exp

# The smallest sine by which rates are divided. Key angles are float32, with a sine error of 4e-8 at a right angle.
# Closer to gimbal lock, a rate would only amplify that rounding error.
_SMALLEST_SINE = 1e-6
JUMP = 1e-3
"""The smallest difference, in radians or relative to an axis or quaternion, that counts as a jump at a key."""


class Quaternion:
    """Quaternions w, x, y, z of any length except 0."""

    components = 4
    """The number of channels."""
    counts_turns = False
    """True if an additional full turn changes the channel values."""
    homogeneous = True
    """True if multiplying all values by a common factor preserves the orientation."""

    def local(self, q: Float64Array, velocity: Float64Array) -> Float64Array:
        """Return channel values (c, n) for orientations (4, n). The velocity (3, n) resolves ambiguity."""
        return q

    def following(self, channels: Float64Array, start: Float64Array, q: Float64Array) -> Float64Array:
        """Return the values (c, m, n) of orientations (4, m, n) after the channel values (c, n) of `start` (4, n)."""
        return q * np.where(sphere.dot(channels, start) < 0.0, -1.0, 1.0)

    def rates(self, channels: Float64Array, q: Float64Array, velocity: Float64Array) -> Float64Array:
        """Return the derivatives (c, n) of channel values from angular velocities (3, n) in the parent's frame."""
        half = np.concatenate([np.zeros_like(velocity[:1]), 0.5 * velocity])
        return sphere.product(half, channels)

    def orientation(self, channels: Float64Array) -> Float64Array:
        """Return the quaternions (4, …), of any length, that Blender plays for channel values (c, …).

        The quaternions are continuous functions of the values.
        """
        return channels

    def angular_motion(self, channels: Float64Array, *derivatives: Float64Array) -> list[Float64Array]:
        """Return angular velocities or, with two derivatives of the channels, also accelerations (3, n).

        The channels and their derivatives have the shape (c, n). Results are in the parent's frame. Source:
        docs/formulas, "Angular velocity and acceleration" and "Left Jacobian".
        """
        square = sphere.dot(channels, channels)
        inverse = sphere.conjugate(channels) / np.where(square > 0.0, square, np.inf)
        # From q' = w q / 2. The length of q changes only the scalar part.
        half_motion = [sphere.product(derivative, inverse) for derivative in derivatives]
        if len(derivatives) == 2:
            half_motion[1] -= sphere.product(half_motion[0], half_motion[0])
        return [2.0 * half[1:] for half in half_motion]

    def map_to_nearest(self, channels: Float64Array, target: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return factors and terms (c, n) of the equivalence map that brings `channels` closest to `target`.

        Derivatives are only multiplied by the factors.
        """
        sign = np.where(sphere.dot(channels, target) < 0.0, -1.0, 1.0)
        return np.broadcast_to(sign, channels.shape), np.zeros_like(channels)

    def lengths(self, channels: Float64Array) -> Float64Array:
        """Return the lengths (n,) of the quaternions or axes in the channels, or 1 for Euler angles."""
        return sphere.length(channels)

    def scaled(
        self, channels: Float64Array, rates: Float64Array, length: Float64Array, change: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return channel values and rates, scaled to a length that changes at the given rate."""
        return channels * length, rates * length + channels * change


class Euler:
    """Angles about x, y, z in Blender's order. See `rotations.from_euler`."""

    components = 3
    counts_turns = True
    homogeneous = False

    def __init__(self, order: Order) -> None:
        self.order = order
        self._i, self._j, self._k, self._sign = axes_of(order)

    def local(self, q: Float64Array, velocity: Float64Array) -> Float64Array:
        halves = euler_halves(q, self.order)
        if (halves.sum_unknown | halves.difference_unknown).any():
            # The polar pairs of `euler_halves` are linear in q. If a pair vanishes, its derivative has the direction of
            # the pair nearby.
            onward = euler_halves(Quaternion().rates(q, q, velocity), self.order)
            halves = halves._replace(
                half_sum=np.where(halves.sum_unknown, onward.half_sum, halves.half_sum),
                half_difference=np.where(halves.difference_unknown, onward.half_difference, halves.half_difference),
            )
        return halves.angles(self.order)

    def following(self, channels: Float64Array, start: Float64Array, q: Float64Array) -> Float64Array:
        followed = follow_euler(np.moveaxis(q, 0, -1).swapaxes(0, 1), self.order, channels.T)
        return np.ascontiguousarray(np.moveaxis(followed, -1, 0).swapaxes(1, 2))

    def rates(self, channels: Float64Array, q: Float64Array, velocity: Float64Array) -> Float64Array:
        # w = k' + (Rk j) j' + (Rk Rj i) i' with the parent's axes i, j, k is solved for the three rates.
        i, j, k, sign = self._i, self._j, self._k, self._sign
        cosine, sine = np.cos(channels[k]), np.sin(channels[k])
        middle_cosine, middle_sine = np.cos(channels[j]), np.sin(channels[j])
        velocity_along_i = cosine * velocity[i] + sign * sine * velocity[j]
        rates = np.empty_like(velocity)
        rates[i] = velocity_along_i * middle_cosine / np.maximum(middle_cosine**2, _SMALLEST_SINE**2)
        rates[j] = cosine * velocity[j] - sign * sine * velocity[i]
        rates[k] = velocity[k] + sign * middle_sine * rates[i]
        return rates

    def orientation(self, channels: Float64Array) -> Float64Array:
        return np.moveaxis(from_euler(np.moveaxis(channels, 0, -1), self.order), -1, 0)

    def angular_motion(self, channels: Float64Array, *derivatives: Float64Array) -> list[Float64Array]:
        motion = [np.zeros_like(derivative) for derivative in derivatives]
        for axis in (self._i, self._j, self._k):
            unit = np.eye(3)[:, [axis]]
            turn = sphere.exp(unit * channels[axis] / 2.0)
            motion = motion_of_product(turn, [unit * derivative[axis] for derivative in derivatives], motion)
        return motion

    def map_to_nearest(self, channels: Float64Array, target: Float64Array) -> tuple[Float64Array, Float64Array]:
        other = other_euler(channels, self._j)
        turns, other_turns = _full_turns(target - channels), _full_turns(target - other)
        is_other_closer = np.abs(other + other_turns - target).sum(axis=0) < np.abs(channels + turns - target).sum(
            axis=0
        )
        terms = np.where(is_other_closer, other_turns + np.pi, turns)
        factors = np.ones_like(channels)
        factors[self._j, is_other_closer] = -1.0
        return factors, terms

    def lengths(self, channels: Float64Array) -> Float64Array:
        return np.ones_like(channels[0])

    def scaled(
        self, channels: Float64Array, rates: Float64Array, length: Float64Array, change: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        return channels, rates


class AxisAngle:
    """The angle and the axis x, y, z of any length, in the order of Blender's channels."""

    components = 4
    counts_turns = True
    homogeneous = False

    def local(self, q: Float64Array, velocity: Float64Array) -> Float64Array:
        sine = sphere.length(q[1:])
        # Without a turn, use the axis of the motion, or without motion Blender's default axis y.
        direction = np.where(sine < UNKNOWN, velocity, q[1:])
        length = sphere.length(direction)
        y_axis = np.zeros_like(direction)
        y_axis[1] = 1.0
        axis = np.divide(direction, length, out=y_axis, where=length > 0.0)
        return np.concatenate([2.0 * np.arctan2(sine, q[:1]), axis])

    def following(self, channels: Float64Array, start: Float64Array, q: Float64Array) -> Float64Array:
        sequence = np.moveaxis(q, 0, -1).swapaxes(0, 1)
        axes, angles = follow_axis_angle(sequence, channels[1:].T, channels[0])
        followed = np.concatenate([angles[..., np.newaxis], axes], axis=-1)
        return np.ascontiguousarray(np.moveaxis(followed, -1, 0).swapaxes(1, 2))

    def rates(self, channels: Float64Array, q: Float64Array, velocity: Float64Array) -> Float64Array:
        # From q' = w q / 2. The rate of the angle is the part of w along the axis a. The rate of the axis is
        # (w x a + cot(angle/2) (w - part along a)) / 2.
        axis, half = channels[1:], 0.5 * channels[0]
        along = sphere.dot(axis, velocity)
        cotangent = np.cos(half) * np.sin(half) / np.maximum(np.sin(half) ** 2, _SMALLEST_SINE**2)
        axis_rate = 0.5 * (cross(velocity, axis) + cotangent * (velocity - axis * along))
        return np.concatenate([along[np.newaxis], axis_rate])

    def orientation(self, channels: Float64Array) -> Float64Array:
        half = 0.5 * channels[:1]
        length = sphere.length(channels[1:])
        unit = np.divide(channels[1:], length, out=np.zeros_like(channels[1:]), where=length > 0.0)
        # Blender does not rotate about an axis of length 0.
        return np.concatenate([np.where(length > 0.0, np.cos(half), 1.0), unit * np.sin(half)])

    def angular_motion(self, channels: Float64Array, *derivatives: Float64Array) -> list[Float64Array]:
        angle, axis = channels[0], channels[1:]
        length = sphere.length(axis)
        divisor = np.where(length > 0.0, length, np.inf)
        unit, angle_rate, axis_rate = axis / divisor, derivatives[0][0], derivatives[0][1:] / divisor
        # The part along the axis changes its length, and the rest rotates it.
        along = sphere.dot(unit, axis_rate)
        unit_rate = axis_rate - unit * along
        turn, rate = unit * angle, unit * angle_rate + unit_rate * angle
        if len(derivatives) == 1:
            return [velocity_of_exp(turn, rate)]
        angle_change, axis_change = derivatives[1][0], derivatives[1][1:] / divisor
        unit_change = axis_change - 2.0 * along * unit_rate
        unit_change -= unit * (sphere.dot(unit, axis_change) + sphere.dot(unit_rate, axis_rate))
        change = unit * angle_change + 2.0 * unit_rate * angle_rate + unit_change * angle
        return [velocity_of_exp(turn, rate), acceleration_of_exp(turn, rate, change)]

    def map_to_nearest(self, channels: Float64Array, target: Float64Array) -> tuple[Float64Array, Float64Array]:
        factors = np.ones_like(channels)
        factors[:] = np.where(sphere.dot(channels[1:], target[1:]) < 0.0, -1.0, 1.0)
        terms = np.zeros_like(channels)
        terms[0] = _full_turns(target[0] - factors[0] * channels[0])
        return factors, terms

    def lengths(self, channels: Float64Array) -> Float64Array:
        return sphere.length(channels[1:])

    def scaled(
        self, channels: Float64Array, rates: Float64Array, length: Float64Array, change: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        values, derivatives = channels.copy(), rates.copy()
        values[1:] = channels[1:] * length
        derivatives[1:] = rates[1:] * length + channels[1:] * change
        return values, derivatives


def _full_turns(angles: Float64Array) -> Float64Array:
    """Return the multiples of a full turn that are closest to angles."""
    return 2.0 * np.pi * np.rint(angles / (2.0 * np.pi))


RotationRepresentation = Quaternion | Euler | AxisAngle
"""A representation of rotations. `Quaternion` documents its methods."""


def rotation_representation(name: str) -> RotationRepresentation:
    """Return the representation with the name "QUATERNION", "AXIS_ANGLE" or an Euler order."""
    if name == "QUATERNION":
        return Quaternion()
    if name == "AXIS_ANGLE":
        return AxisAngle()
    if name in get_args(Order):
        return Euler(cast(Order, name))
    raise ValueError(f"a rotation representation is QUATERNION, AXIS_ANGLE or an Euler order, not {name!r}")


class RotationCurve:
    """A curve of channel values, converted to unit quaternions and angular derivatives."""

    def __init__(self, channels: Curve, representation: RotationRepresentation) -> None:
        self.channels, self._representation = channels, representation

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        channels = self.channels.evaluate(segment, u, 0)
        if nu:
            derivatives = [self.channels.evaluate(segment, u, order) for order in range(1, nu + 1)]
            return self._representation.angular_motion(channels, *derivatives)[-1]
        q = self._representation.orientation(channels)
        length = sphere.length(q)
        # Blender plays a half turn about x for a quaternion of length 0.
        of_no_length = np.zeros_like(q)
        of_no_length[1] = 1.0
        unit: Float64Array = np.divide(q, length, out=of_no_length, where=length > 0.0)
        return unit
