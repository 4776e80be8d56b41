# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves on the quaternion sphere that are nested slerps: de Casteljau's construction, squad and Shoemake's blend.

A moving point is a list of arrays with the component axis first: a quaternion, its derivative, or instead of the
derivative the angular velocity and acceleration. All derivatives are with respect to u. Source: docs/formulas,
"De Casteljau on the sphere", "Squad" and "Derivatives of slerp".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from ..key_batch import IndexArray
from ..keys import Float64Array
from . import sphere
from .exponential import bend, cross, motion_after_turn, rate_of_velocity, rotated
from .long_turns import LongTurns

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
            points = slerp([rows[:, :-1] for rows in points], [rows[:, 1:] for rows in points], u)
        return [rows[:, 0] for rows in points]


class Squad(SphereCurve):
    """Segments of the squad construction, with the points q[n], out[n], in[n+1], q[n+1]."""

    def _motion(self, points: Motion, u: Motion, segment: IndexArray, slerp: Slerp) -> list[Float64Array]:
        on_arcs = slerp([rows[:, :2] for rows in points], [rows[:, :1:-1] for rows in points], u)
        blend = [2.0 * u[0] * (1.0 - u[0]), 2.0 - 4.0 * u[0], np.full_like(u[0], -4.0)]
        return slerp([rows[:, 0] for rows in on_arcs], [rows[:, 1] for rows in on_arcs], blend)


class Blend(SphereCurve):
    """Segments blended from the arc between their keys and the arcs that leave and arrive at the keys.

    The points are the keys at both ends. `velocities` (3, 2, K) are the angular velocities with respect to u at both
    keys. `weight` (2, K) is the weight of the curve with the correct arrival velocity, as a + b u.
    """

    def __init__(self, points: Float64Array, velocities: Float64Array, weight: Float64Array) -> None:
        super().__init__(points)
        self._velocities, self._weight = velocities, weight

    def _motion(self, points: Motion, u: Motion, segment: IndexArray, slerp: Slerp) -> list[Float64Array]:
        between = slerp([rows[:, 0] for rows in points], [rows[:, 1] for rows in points], u)
        moving = _rotating(points, self._velocities[..., segment], np.stack([u[0], u[0] - 1.0]))
        # The curve that leaves the first key, and the curve that arrives at the second key.
        starts = [np.stack([rows[:, 0], row], axis=1) for rows, row in zip(moving, between, strict=True)]
        ends = [np.stack([row, rows[:, 1]], axis=1) for rows, row in zip(moving, between, strict=True)]
        curves = slerp(starts, ends, u)
        constant, slope = self._weight[:, segment]
        weight = [constant + slope * u[0], slope, np.zeros_like(slope)]
        return slerp([rows[:, 0] for rows in curves], [rows[:, 1] for rows in curves], weight)


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
