# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves of rotations between keys: nested slerps, and cubics of rotation vectors. Both can have full turns.

A moving point is a list of arrays with the component axis first: a quaternion, its derivative, or instead of the
derivative the angular velocity and acceleration. All derivatives are with respect to u. Source: docs/formulas,
"De Casteljau on the sphere", "Squad", "Derivatives of slerp", "Long turns" and "Cubics of rotation vectors".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..cubics import hermite_powers, hermite_weights
from ..keys import BoolArray, Float64Array, IndexArray, KeyBatch
from ..prepared import Curve
from . import sphere
from .sphere import (
    acceleration_of_exp,
    bend,
    cross,
    motion_after_turn,
    motion_of_product,
    rate_of_velocity,
    rotated,
    turned,
    velocity_of_exp,
)

# An angle computed from its cosine has an error of 1e-16 / sin(angle), and slerp divides by the sine again. Down to
# this cosine (154 degrees on the sphere, 308 degrees of rotation), slerp loses less than one digit.
_SMALLEST_COSINE = -0.9
# The largest cosine whose angle is not 0. At that angle, 1.5e-8, slerp is linear to the last bit.
_LARGEST_COSINE = 1.0 - 2.0**-53
# The smallest sine by which weights are divided. The ends of such arcs are antipodal to the last bit.
_SMALLEST_SINE = 1e-16

Motion = Sequence[Float64Array]
Slerp = Callable[[Motion, Motion, Motion], list[Float64Array]]


class SphereCurve(ABC):
    """Segments of nested slerps between the quaternions `points` (4, points, K), with long turns added."""

    def __init__(self, points: Float64Array, long_turns: LongTurns | None = None) -> None:
        self._points = points
        self.long_turns = long_turns

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return quaternions (4, samples) for nu = 0, or angular velocities or accelerations (3, samples) per u."""
        points = self._points.take(segment, axis=2)
        parameter = [u, np.ones_like(u), np.zeros_like(u)][: nu + 1]
        if nu == 2:
            at_rest = np.zeros_like(points[1:])
            motion = self._motion([points, at_rest, at_rest], parameter, segment, _slerp_with_acceleration)[1:]
        elif nu == 1:
            q, rate = self._motion([points, np.zeros_like(points)], parameter, segment, _slerp)
            # q' = w q / 2 with the angular velocity w in the parent's frame.
            motion = [2.0 * sphere.product(rate, sphere.conjugate(q))[1:]]
        else:
            motion = self._motion([points], parameter, segment, _slerp)
        if self.long_turns is not None:
            self.long_turns.add_to(motion, nu, segment, u)
        return motion[-1]

    @abstractmethod
    def _motion(self, points: Motion, u: Motion, segment: IndexArray, slerp: Slerp) -> list[Float64Array]:
        """Return the moving point at u. The arrays in `points` have the shape (components, points, samples)."""


class DeCasteljau(SphereCurve):
    """Segments of de Casteljau's construction, with the points q[n], b[n], a[n+1], q[n+1]."""

    def _motion(self, points: Motion, u: Motion, segment: IndexArray, slerp: Slerp) -> list[Float64Array]:
        while points[0].shape[1] > 1:
            points = slerp(_some(points, slice(None, -1)), _some(points, slice(1, None)), u)
        return _some(points, 0)


class Squad(SphereCurve):
    """Segments of the squad construction, with the points q[n], out[n], in[n+1], q[n+1]."""

    def _motion(self, points: Motion, u: Motion, segment: IndexArray, slerp: Slerp) -> list[Float64Array]:
        # From q[n] to q[n+1], and from out[n] to in[n+1].
        on_arcs = slerp(_some(points, slice(2)), _some(points, slice(None, 1, -1)), u)
        weight = [2.0 * u[0] * (1.0 - u[0]), 2.0 - 4.0 * u[0], np.full_like(u[0], -4.0)]
        return slerp(_some(on_arcs, 0), _some(on_arcs, 1), weight)


class Blend(SphereCurve):
    """Segments blended from the arc between their keys and the arcs that leave and arrive at the keys.

    The points are the keys at both ends. `velocities` (3, 2, K) are the angular velocities with respect to u at both
    keys. `weight` (2, K) is the weight of the curve with the correct arrival velocity, as a + b u.
    """

    def __init__(self, points: Float64Array, velocities: Float64Array, weight: Float64Array) -> None:
        super().__init__(points)
        self._velocities, self._weight = velocities, weight

    def _motion(self, points: Motion, u: Motion, segment: IndexArray, slerp: Slerp) -> list[Float64Array]:
        on_arc = slerp(_some(points, 0), _some(points, 1), u)
        from_keys = _rotating(points, self._velocities[..., segment], np.stack([u[0], u[0] - 1.0]))
        leaving = slerp(_some(from_keys, 0), on_arc, u)
        arriving = slerp(on_arc, _some(from_keys, 1), u)
        constant, slope = self._weight[:, segment]
        weight = [constant + slope * u[0], slope, np.zeros_like(slope)]
        return slerp(leaving, arriving, weight)


def _some(points: Motion, index: int | slice) -> list[Float64Array]:
    """Return one or several of the moving points, whose arrays have the shape (components, points, samples)."""
    return [rows[:, index] for rows in points]


def _rotating(point: Motion, velocity: Float64Array, u: Float64Array) -> list[Float64Array]:
    """Return a moving point that rotates from a resting point at a constant angular velocity."""
    q = sphere.after_turn(u * velocity, point[0])
    if len(point) == 3:
        return [q, velocity, point[2]]
    half_velocity = np.concatenate([np.zeros_like(velocity[:1]), velocity / 2.0])
    return [q, sphere.product(half_velocity, q)][: len(point)]


def _slerp(p: Motion, q: Motion, t: Motion) -> list[Float64Array]:
    """Return slerp(p, q, t) of quaternions, with its derivative if p, q and t have derivatives.

    For the angle a, the weights of p and q are sin((1-t) a) / sin(a) = cos(t a) - cos(a) b and b = sin(t a) / sin(a).
    The derivative of the angle is the derivative of its cosine over -sin(a). Errors of the derivatives cancel on short
    arcs.
    """
    start, end, parameter = p[0], q[0], t[0]
    cosine = sphere.dot(start, end)
    clipped = np.minimum(np.maximum(cosine, _SMALLEST_COSINE), _LARGEST_COSINE)
    angle, sine = np.arccos(clipped), np.sqrt((1.0 - clipped) * (1.0 + clipped))
    has_long_arcs = cosine.min(initial=1.0) < _SMALLEST_COSINE
    if has_long_arcs:
        is_long = cosine < _SMALLEST_COSINE
        difference, total = sphere.length(end - start), sphere.length(end + start)
        angle = np.where(is_long, 2.0 * np.arctan2(difference, total), angle)
        sine = np.where(is_long, np.maximum(0.5 * difference * total, _SMALLEST_SINE), sine)
    cosine_at_t, sine_at_t = sphere.cosine_and_sine(0.5 * parameter * angle)
    end_weight = sine_at_t / sine
    start_weight = cosine_at_t - cosine * end_weight
    values = start * start_weight
    values += end * end_weight
    if has_long_arcs:
        values = np.where(is_long, sphere.slerp(start, end, parameter), values)
    if len(p) == 1:
        return [values]
    cosine_rate = sphere.dot(p[1], end) + sphere.dot(start, q[1])
    rate_at_fixed_angle = angle * t[1]
    end_rate = rate_at_fixed_angle * cosine_at_t - cosine_rate * (parameter * cosine_at_t - cosine * end_weight) / sine
    end_rate /= sine
    start_rate = -rate_at_fixed_angle * sine_at_t - cosine_rate * (1.0 - parameter) * end_weight - cosine * end_rate
    return [values, p[1] * start_weight + q[1] * end_weight + start * start_rate + end * end_rate]


def _slerp_with_acceleration(p: Motion, q: Motion, t: Motion) -> list[Float64Array]:
    """Return slerp(p, q, t) of quaternions with angular velocities and accelerations, from the turn that it divides."""
    (start, velocity, acceleration), (end, end_velocity, end_acceleration) = p, q
    parameter, parameter_rate, parameter_change = t
    arc = sphere.product(end, sphere.conjugate(start))
    turn = 2.0 * sphere.log(arc)
    # The start carries the arc, which has the rest of the end's motion.
    carried_velocity = rotated(arc, velocity)
    arc_velocity = end_velocity - carried_velocity
    arc_acceleration = end_acceleration - rotated(arc, acceleration) - cross(arc_velocity, carried_velocity)
    rate = rate_of_velocity(turn, arc_velocity)
    change = rate_of_velocity(turn, arc_acceleration - bend(turn, rate, rate))
    turn_at_t = parameter * turn
    rate_at_t = parameter_rate * turn + parameter * rate
    change_at_t = parameter_change * turn + 2.0 * parameter_rate * rate + parameter * change
    q_at_t = sphere.after_turn(turn_at_t, start)
    return [q_at_t, *motion_after_turn([turn_at_t, rate_at_t, change_at_t], [velocity, acceleration])]


class LongTurns:
    """The turns added to the segments of several tracks.

    `chords` are the rotation vectors (3, K) of the segments in the parent's frame, or 0 for no turn. `outgoing` and
    `incoming` are the tangents (3, K) at the start and end of each segment. `axis` contains the unit axes (3, K) of the
    chords, or 0 for no turn.
    """

    def __init__(self, chords: Float64Array, outgoing: Float64Array, incoming: Float64Array) -> None:
        self._length = sphere.length(chords)
        self.axis = np.divide(chords, self._length, out=np.zeros_like(chords), where=self._length > 0.0)
        self._outgoing_along, self._incoming_along = sphere.dot(self.axis, outgoing), sphere.dot(self.axis, incoming)
        self._outgoing_across = outgoing - self.axis * self._outgoing_along
        # The turn along the axis is applied after the turn across the axis, and therefore rotates the end of that turn.
        self._incoming_across = turned(-chords, incoming - self.axis * self._incoming_along)
        self._has_turn: BoolArray = np.logical_or.reduce((chords, outgoing, incoming)).any(axis=0)

    def turns(self, segment: IndexArray, u: Float64Array, nu: int = 0) -> tuple[Float64Array, Float64Array]:
        """Return the turns along and across the axis as rotation vectors (3, samples), or derivatives of order `nu`."""
        weights = hermite_weights(u, nu)
        angle = weights.applied(self._length[segment], self._outgoing_along[segment], self._incoming_along[segment])
        across = self._outgoing_across[:, segment] * weights.leaving
        across += self._incoming_across[:, segment] * weights.arriving
        return self.axis[:, segment] * angle, across

    def add_to(self, motion: Sequence[Float64Array], nu: int, segment: IndexArray, u: Float64Array) -> None:
        """Add the turns in place to a motion.

        The motion consists of quaternions (nu = 0), of angular velocities with respect to u (nu = 1), or of angular
        velocities and accelerations (nu = 2). Each array has one column per sample.
        """
        samples = np.flatnonzero(self._has_turn[segment])
        if not samples.size:
            return
        orders = [self.turns(segment[samples], u[samples], order) for order in range(nu + 1)]
        turned_motion = [rows[:, samples] for rows in motion]
        # The turn across the axis comes first.
        for turn in list(zip(*orders, strict=True))[::-1]:
            if nu == 0:
                turned_motion = [sphere.after_turn(turn[0], turned_motion[0])]
            else:
                turned_motion = motion_after_turn(turn, turned_motion)
        for rows, turned_rows in zip(motion, turned_motion, strict=True):
            rows[:, samples] = turned_rows


class Turns(NamedTuple):
    """The turns of several tracks from key to key.

    `start` contains the quaternions of keys, shape (4, K), with signs that continue from key to key. `onward` contains
    the rotation vectors from each key to the next in the parent's frame, shape (3, K), including full turns. These
    vectors are 0 at the last key of a track: ``start[n+1] = exp(onward[n] / 2) start[n]``.
    """

    start: Float64Array
    onward: Float64Array

    @property
    def full(self) -> Float64Array:
        """The full turns in `onward`, as rotation vectors. The rest is at most half a turn."""
        angles = sphere.length(self.onward)
        full_angles = 2.0 * np.pi * np.rint(angles / (2.0 * np.pi))
        return self.onward * np.divide(full_angles, angles, out=np.zeros_like(angles), where=full_angles > 0.0)


class RotationVectors:
    """Segments ``exp(h(u) / 2) q[n]`` of several tracks.

    `start` contains the quaternions (4, K) at which segments begin. `coefficients` (degree, 3, K) are the coefficients
    of the powers of u, first power first, in the rotation vector h in the parent's frame. Full turns may be added as
    `long_turns`.
    """

    def __init__(self, start: Float64Array, coefficients: Float64Array, long_turns: LongTurns | None = None) -> None:
        self._start = start
        self._coefficients = coefficients
        self._long_turns = long_turns

    @classmethod
    def through_keys(cls, turns: Turns, tracks: KeyBatch, velocities: Float64Array) -> RotationVectors:
        """Return cubic segments through keys with given angular velocities per frame in the parent's frame, (3, K).

        h is a Hermite cubic. The derivative of h at the end of a turn t is the inverse of the left Jacobian of SO(3)
        times the angular velocity. The inverse is unbounded near full turns, so h is the shortest rotation vector, at
        most half a turn, and the missing full turns are added. For rotation about one axis, both add up to the Hermite
        spline of the angle.
        """
        full_turns, lengths = turns.full, tracks.lengths
        shortest_turns = turns.onward - full_turns
        no_tangents = np.zeros_like(full_turns)
        long_turns = LongTurns(full_turns, no_tangents, no_tangents) if full_turns.any() else None
        end_rates = rate_of_velocity(shortest_turns, velocities[:, tracks.segment_end] * lengths)
        return cls(turns.start, hermite_powers(shortest_turns, velocities * lengths, end_rates), long_turns)

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        turn, rate, change = self._vectors(segment, u, nu)
        if nu == 0:
            motion = [sphere.after_turn(turn, self._start.take(segment, axis=1))]
        elif nu == 1:
            motion = [velocity_of_exp(turn, rate)]
        else:
            motion = [velocity_of_exp(turn, rate), acceleration_of_exp(turn, rate, change)]
        if self._long_turns is not None:
            self._long_turns.add_to(motion, nu, segment, u)
        return motion[-1]

    def _vectors(
        self, segment: IndexArray, u: Float64Array, nu: int
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return h and its first and second derivatives with respect to u, as far as `nu` needs them."""
        coefficients = self._coefficients.take(segment, axis=2)
        value, rate, half_change = coefficients[-1], np.zeros_like(coefficients[-1]), np.zeros_like(coefficients[-1])
        for coefficient in (*coefficients[-2::-1], 0.0):
            if nu > 1:
                half_change = half_change * u + rate
            if nu > 0:
                rate = rate * u + value
            value = value * u + coefficient
        return value, rate, 2.0 * half_change


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
        is_exception = self._is_exception[segment]
        if is_exception.all():
            return self._exception.evaluate(segment, u, nu)
        values = self._curve.evaluate(segment, u, nu)
        if is_exception.any():
            values[:, is_exception] = self._exception.evaluate(segment[is_exception], u[is_exception], nu)
        return values
