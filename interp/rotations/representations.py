# SPDX-License-Identifier: GPL-3.0-or-later
"""Representations of rotations in animation channels: a quaternion, Euler angles, an axis and an angle.

A representation converts between orientations and channel values, and between angular velocities and channel rates, and
finds equivalent channel values. Arrays have the component axis first. The last axis runs over spans, pieces of one
motion between two frames. "Local" values are any values that represent the orientation. `map_to_nearest` connects them
to a sequence that begins at the values of a key. Source: docs/formulas, "Euler angles" and "Axis and angle".
"""

from __future__ import annotations

from typing import Protocol, cast, get_args

import numpy as np

from ..keys import Float64Array
from . import sphere
from .euler import Order, axes_of, euler_halves, euler_of_halves, from_euler
from .following import follow_axis_angle, follow_euler
from .quaternions import UNKNOWN

# The smallest sine by which rates are divided. Key angles are float32, with a sine error of 4e-8 at a right angle.
# Closer to gimbal lock, a rate would only amplify that rounding error.
_DAMPED = 1e-6
JUMP = 1e-3
"""The smallest difference, in radians or relative to an axis or quaternion, that counts as a jump at a key."""

WithDerivatives = tuple[Float64Array, Float64Array, Float64Array]
"""Values with their first and second derivatives."""


class RotationRepresentation(Protocol):
    """A representation of rotations in `components` channels."""

    components: int
    counts_turns: bool
    """True if an additional full turn changes the channel values."""
    homogeneous: bool
    """True if a common factor of all values preserves the orientation."""

    def local(self, q: Float64Array, velocity: Float64Array) -> Float64Array:
        """Return channel values (c, n) for orientations (4, n). The velocity (3, n) resolves ambiguity."""
        ...

    def following(self, numbers: Float64Array, start: Float64Array, q: Float64Array) -> Float64Array:
        """Return the values (c, m, n) of orientations (4, m, n), continuing from `numbers` (c, n) at `start` (4, n)."""
        ...

    def rates(self, numbers: Float64Array, q: Float64Array, velocity: Float64Array) -> Float64Array:
        """Return the derivatives (c, n) of channel values from angular velocities (3, n) in the parent's frame."""
        ...

    def orientation(self, channels: Float64Array) -> Float64Array:
        """Return the quaternions (4, …), of any length, that Blender plays for channel values (c, …).

        The quaternions are continuous functions of the values.
        """
        ...

    def with_derivatives(self, channels: Float64Array, rates: Float64Array, changes: Float64Array) -> WithDerivatives:
        """Return `orientation` (4, n) and derivatives from channel values (c, n) and their derivatives."""
        ...

    def angle(self, channels: Float64Array, change: Float64Array) -> Float64Array:
        """Return the angle (n,) of the rotation due to a small change in channel values."""
        ...

    def map_to_nearest(self, numbers: Float64Array, chain: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return factors and terms (c, n) of the equivalence map that brings `numbers` closest to `chain`.

        Derivatives are only multiplied by the factors.
        """
        ...

    def lengths(self, numbers: Float64Array) -> Float64Array:
        """Return the lengths (n,) of the quaternions or axes in the channels, or 1 for Euler angles."""
        ...

    def scaled(
        self, numbers: Float64Array, rates: Float64Array, length: Float64Array, change: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return channel values and rates, scaled to a length that changes at the given rate."""
        ...


class Quaternion:
    """Quaternions w, x, y, z of any length except 0."""

    components = 4
    counts_turns = False
    homogeneous = True

    def local(self, q: Float64Array, velocity: Float64Array) -> Float64Array:
        return q

    def following(self, numbers: Float64Array, start: Float64Array, q: Float64Array) -> Float64Array:
        return q * np.where(sphere.dot(numbers, start) < 0.0, -1.0, 1.0)

    def rates(self, numbers: Float64Array, q: Float64Array, velocity: Float64Array) -> Float64Array:
        half = np.concatenate([np.zeros_like(velocity[:1]), 0.5 * velocity])
        return sphere.product(half, numbers)

    def orientation(self, channels: Float64Array) -> Float64Array:
        return channels

    def with_derivatives(self, channels: Float64Array, rates: Float64Array, changes: Float64Array) -> WithDerivatives:
        return channels, rates, changes

    def angle(self, channels: Float64Array, change: Float64Array) -> Float64Array:
        square = sphere.dot(channels, channels)
        across = change - channels * (sphere.dot(channels, change) / square)
        angle: Float64Array = 2.0 * np.sqrt(sphere.dot(across, across) / square)
        return angle

    def map_to_nearest(self, numbers: Float64Array, chain: Float64Array) -> tuple[Float64Array, Float64Array]:
        sign = np.where(sphere.dot(numbers, chain) < 0.0, -1.0, 1.0)
        return np.broadcast_to(sign, numbers.shape), np.zeros_like(numbers)

    def lengths(self, numbers: Float64Array) -> Float64Array:
        return sphere.length(numbers)

    def scaled(
        self, numbers: Float64Array, rates: Float64Array, length: Float64Array, change: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        return numbers * length, rates * length + numbers * change


class Euler:
    """Angles about x, y, z in Blender's order. See `rotations.from_euler`."""

    components = 3
    counts_turns = True
    homogeneous = False

    def __init__(self, order: Order) -> None:
        self.order = order
        self._i, self._j, self._k, self._sign = axes_of(order)

    def local(self, q: Float64Array, velocity: Float64Array) -> Float64Array:
        middle, half_sum, half_difference, sum_unknown, difference_unknown = euler_halves(q, self.order)
        if (sum_unknown | difference_unknown).any():
            # The polar pairs of `euler_halves` are linear in q. If a pair vanishes, its derivative has the direction of
            # the pair nearby.
            _, sum_onward, difference_onward, _, _ = euler_halves(Quaternion().rates(q, q, velocity), self.order)
            half_sum = np.where(sum_unknown, sum_onward, half_sum)
            half_difference = np.where(difference_unknown, difference_onward, half_difference)
        return euler_of_halves(middle, half_sum, half_difference, self.order)

    def following(self, numbers: Float64Array, start: Float64Array, q: Float64Array) -> Float64Array:
        followed = follow_euler(np.moveaxis(q, 0, -1).swapaxes(0, 1), self.order, numbers.T)
        return np.ascontiguousarray(np.moveaxis(followed, -1, 0).swapaxes(1, 2))

    def rates(self, numbers: Float64Array, q: Float64Array, velocity: Float64Array) -> Float64Array:
        # w = k' + (Rk j) j' + (Rk Rj i) i' with the parent's axes i, j, k is solved for the three rates.
        i, j, k, sign = self._i, self._j, self._k, self._sign
        cosine, sine = np.cos(numbers[k]), np.sin(numbers[k])
        middle_cosine, middle_sine = np.cos(numbers[j]), np.sin(numbers[j])
        along = cosine * velocity[i] + sign * sine * velocity[j]
        rates = np.empty_like(velocity)
        rates[i] = along * middle_cosine / np.maximum(middle_cosine**2, _DAMPED**2)
        rates[j] = cosine * velocity[j] - sign * sine * velocity[i]
        rates[k] = velocity[k] + sign * middle_sine * rates[i]
        return rates

    def orientation(self, channels: Float64Array) -> Float64Array:
        return np.moveaxis(from_euler(np.moveaxis(channels, 0, -1), self.order), -1, 0)

    def with_derivatives(self, channels: Float64Array, rates: Float64Array, changes: Float64Array) -> WithDerivatives:
        first, middle, last = (
            _about(axis, channels[axis], rates[axis], changes[axis]) for axis in (self._i, self._j, self._k)
        )
        return _product(last, _product(middle, first))

    def angle(self, channels: Float64Array, change: Float64Array) -> Float64Array:
        # All pairs of the three rotation axes are perpendicular, except the first and last axes.
        skew = 2.0 * self._sign * np.sin(channels[self._j]) * change[self._i] * change[self._k]
        angle: Float64Array = np.sqrt(np.maximum(sphere.dot(change, change) - skew, 0.0))
        return angle

    def map_to_nearest(self, numbers: Float64Array, chain: Float64Array) -> tuple[Float64Array, Float64Array]:
        turn = 2.0 * np.pi
        other = numbers + np.pi
        other[self._j] = np.pi - numbers[self._j]
        whole, other_whole = turn * np.rint((chain - numbers) / turn), turn * np.rint((chain - other) / turn)
        exchanged = np.abs(other + other_whole - chain).sum(axis=0) < np.abs(numbers + whole - chain).sum(axis=0)
        terms = np.where(exchanged, other_whole + np.pi, whole)
        factors = np.ones_like(numbers)
        factors[self._j, exchanged] = -1.0
        return factors, terms

    def lengths(self, numbers: Float64Array) -> Float64Array:
        return np.ones_like(numbers[0])

    def scaled(
        self, numbers: Float64Array, rates: Float64Array, length: Float64Array, change: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        return numbers, rates


def _about(axis: int, angle: Float64Array, rate: Float64Array, change: Float64Array) -> WithDerivatives:
    """Return the quaternions of turns about x, y or z, and their derivatives from the derivatives of the angle."""
    half, speed = 0.5 * angle, 0.5 * rate
    cosine, sine = np.cos(half), np.sin(half)
    course = np.zeros((3, 4, *half.shape))
    course[:, 0] = cosine, -sine * speed, -0.5 * sine * change - cosine * speed**2
    course[:, 1 + axis] = sine, cosine * speed, 0.5 * cosine * change - sine * speed**2
    return course[0], course[1], course[2]


def _product(p: WithDerivatives, q: WithDerivatives) -> WithDerivatives:
    """Return products of quaternions, and the derivatives of the products."""
    return (
        sphere.product(p[0], q[0]),
        sphere.product(p[1], q[0]) + sphere.product(p[0], q[1]),
        sphere.product(p[2], q[0]) + 2.0 * sphere.product(p[1], q[1]) + sphere.product(p[0], q[2]),
    )


class AxisAngle:
    """The angle and the axis x, y, z of any length, in the order of Blender's channels."""

    components = 4
    counts_turns = True
    homogeneous = False

    def local(self, q: Float64Array, velocity: Float64Array) -> Float64Array:
        sine = sphere.length(q[1:])
        # Without a turn, use the axis of the motion.
        towards = np.where(sine < UNKNOWN, velocity, q[1:])
        size = sphere.length(towards)
        upright = np.zeros_like(towards)
        upright[1] = 1.0
        axis = np.where(size > 0.0, np.divide(towards, size, out=np.zeros_like(towards), where=size > 0.0), upright)
        return np.concatenate([2.0 * np.arctan2(sine, q[:1]), axis])

    def following(self, numbers: Float64Array, start: Float64Array, q: Float64Array) -> Float64Array:
        sequence = np.moveaxis(q, 0, -1).swapaxes(0, 1)
        axes, angles = follow_axis_angle(sequence, numbers[1:].T, numbers[0])
        followed = np.concatenate([angles[..., np.newaxis], axes], axis=-1)
        return np.ascontiguousarray(np.moveaxis(followed, -1, 0).swapaxes(1, 2))

    def rates(self, numbers: Float64Array, q: Float64Array, velocity: Float64Array) -> Float64Array:
        # From q' = w q / 2. The rate of the angle is the part of w along the axis. The rate of the axis a is
        # (w x a + cot(angle/2) rest) / 2.
        axis, half = numbers[1:], 0.5 * numbers[0]
        along = sphere.dot(axis, velocity)
        cotangent = np.cos(half) * np.sin(half) / np.maximum(np.sin(half) ** 2, _DAMPED**2)
        x, y, z = axis
        u, v, w = velocity
        turned = np.stack([v * z - w * y, w * x - u * z, u * y - v * x])
        return np.concatenate([along[np.newaxis], 0.5 * (turned + cotangent * (velocity - axis * along))])

    def orientation(self, channels: Float64Array) -> Float64Array:
        half = 0.5 * channels[:1]
        size = sphere.length(channels[1:])
        unit = np.divide(channels[1:], size, out=np.zeros_like(channels[1:]), where=size > 0.0)
        # Blender does not rotate about an axis of length 0.
        return np.concatenate([np.where(size > 0.0, np.cos(half), 1.0), unit * np.sin(half)])

    def with_derivatives(self, channels: Float64Array, rates: Float64Array, changes: Float64Array) -> WithDerivatives:
        size = sphere.length(channels[1:])
        size = np.where(size > 0.0, size, np.inf)
        unit, towards, further = channels[1:] / size, rates[1:] / size, changes[1:] / size
        # The part along the axis changes its length, and the rest rotates the axis.
        stretch = sphere.dot(unit, towards)
        turning = towards - unit * stretch
        bend = further - 2.0 * stretch * turning
        bend -= unit * (sphere.dot(unit, further) + sphere.dot(turning, towards))
        half, speed = 0.5 * channels[0], 0.5 * rates[0]
        sine, cosine = np.sin(half), np.cos(half)
        sine_rate, cosine_rate = cosine * speed, -sine * speed
        sine_change = 0.5 * cosine * changes[0] - sine * speed**2
        cosine_change = -0.5 * sine * changes[0] - cosine * speed**2
        return (
            self.orientation(channels),
            np.concatenate([cosine_rate[np.newaxis], turning * sine + unit * sine_rate]),
            np.concatenate([cosine_change[np.newaxis], bend * sine + 2.0 * turning * sine_rate + unit * sine_change]),
        )

    def angle(self, channels: Float64Array, change: Float64Array) -> Float64Array:
        axis = channels[1:]
        square = np.maximum(sphere.dot(axis, axis), 1e-30)
        across = change[1:] - axis * (sphere.dot(axis, change[1:]) / square)
        swing = 2.0 * np.sin(0.5 * channels[0])
        angle: Float64Array = np.sqrt(change[0] ** 2 + swing**2 * sphere.dot(across, across) / square)
        return angle

    def map_to_nearest(self, numbers: Float64Array, chain: Float64Array) -> tuple[Float64Array, Float64Array]:
        factors = np.ones_like(numbers)
        factors[:] = np.where(sphere.dot(numbers[1:], chain[1:]) < 0.0, -1.0, 1.0)
        terms = np.zeros_like(numbers)
        terms[0] = 2.0 * np.pi * np.rint((chain[0] - factors[0] * numbers[0]) / (2.0 * np.pi))
        return factors, terms

    def lengths(self, numbers: Float64Array) -> Float64Array:
        return sphere.length(numbers[1:])

    def scaled(
        self, numbers: Float64Array, rates: Float64Array, length: Float64Array, change: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        values, derivatives = numbers.copy(), rates.copy()
        values[1:] = numbers[1:] * length
        derivatives[1:] = rates[1:] * length + numbers[1:] * change
        return values, derivatives


def angular_motion(
    representation: RotationRepresentation, channels: Float64Array, rates: Float64Array, changes: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return angular velocities and accelerations (3, n) in the parent's frame.

    The channel values (c, n) are given with their first and second derivatives. Source: docs/formulas,
    "Angular velocity and acceleration".
    """
    q, first, second = representation.with_derivatives(channels, rates, changes)
    square = sphere.dot(q, q)
    inverse = sphere.conjugate(q) / np.where(square > 0.0, square, np.inf)
    # From q' = w q / 2. The length of q changes only the scalar part.
    half = sphere.product(first, inverse)
    return 2.0 * half[1:], 2.0 * (sphere.product(second, inverse) - sphere.product(half, half))[1:]


def rotation_representation(name: str) -> RotationRepresentation:
    """Return the representation with the name "QUATERNION", "AXIS_ANGLE" or an Euler order."""
    if name == "QUATERNION":
        return Quaternion()
    if name == "AXIS_ANGLE":
        return AxisAngle()
    if name in get_args(Order):
        return Euler(cast(Order, name))
    raise ValueError(f"a rotation representation is QUATERNION, AXIS_ANGLE or an Euler order, not {name!r}")
