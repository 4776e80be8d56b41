# SPDX-License-Identifier: GPL-3.0-or-later
"""Arcs on the unit sphere of quaternions, and the motion of rotation vectors. The component axis is first: (4, …).

For scripts, `rotations` provides functions with the component axis last. With the component axis first, each operation
runs over contiguous memory.

A rotation vector t(u) represents the orientation ``exp(t / 2)``. The derivative of t(u) is an angular velocity only if
the axis is constant. Otherwise, the left Jacobian of SO(3) converts this derivative to an angular velocity. Source:
docs/formulas, "Angles on the sphere" and "Left Jacobian".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..keys import Float64Array


def dot(p: Float64Array, q: Float64Array) -> Float64Array:
    """Return dot products over components."""
    products = p * q
    total: Float64Array = products[0].copy()
    for row in products[1:]:
        total += row
    return total


def length(p: Float64Array) -> Float64Array:
    """Return Euclidean lengths."""
    return np.sqrt(dot(p, p))


def product(p: Float64Array, q: Float64Array) -> Float64Array:
    """Return the quaternion products p q."""
    pw, px, py, pz = p
    qw, qx, qy, qz = q
    rows = np.empty((4, *np.broadcast_shapes(pw.shape, qw.shape)))
    rows[0] = pw * qw - px * qx - py * qy - pz * qz
    rows[1] = pw * qx + px * qw + py * qz - pz * qy
    rows[2] = pw * qy - px * qz + py * qw + pz * qx
    rows[3] = pw * qz + px * qy - py * qx + pz * qw
    return rows


def conjugate(q: Float64Array) -> Float64Array:
    """Return conjugates."""
    rows = -q
    rows[0] = q[0]
    return rows


def cosine_and_sine(half: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the cosine and sine of twice an angle, computed from a single tangent.

    NumPy computes tangents of arrays eight times faster than sines. At 0, the results are exactly 1 and 0.
    """
    tangent = np.tan(half)
    cosine = 2.0 / (1.0 + tangent * tangent)
    sine: Float64Array = tangent * cosine
    cosine -= 1.0
    return cosine, sine


def exp(v: Float64Array) -> Float64Array:
    """Return the unit quaternions exp(v) of vectors v (3, …). The angle of each rotation is twice the length of v."""
    angle = length(v)
    rows = np.empty((4, *angle.shape))
    rows[0], sine = cosine_and_sine(0.5 * angle)
    rows[1:] = v * np.divide(sine, angle, out=np.ones_like(angle), where=angle > 0.0)
    return rows


def after_turn(turn: Float64Array, q: Float64Array) -> Float64Array:
    """Return quaternions (4, …) after turns in the parent's frame, given as rotation vectors (3, …)."""
    return product(exp(turn / 2.0), q)


def log(q: Float64Array) -> Float64Array:
    """Return the vectors (3, …) of length 0 to pi whose exp is q, without changing the sign of q."""
    sine = length(q[1:])
    angle = np.arctan2(sine, q[0])
    vector: Float64Array = q[1:] * np.divide(angle, sine, out=np.ones_like(sine), where=sine > 0.0)
    return vector


class Arc(NamedTuple):
    """Great-circle arcs, with their angle, their start, and the unit quaternion a quarter circle ahead of the start."""

    angle: Float64Array
    start: Float64Array
    ahead: Float64Array

    def at(self, t: Float64Array | float) -> Float64Array:
        """Return the points at any real number t, where 1 is the end."""
        angle_at_t = t * self.angle
        return self.start * np.cos(angle_at_t) + self.ahead * np.sin(angle_at_t)


def arc(p: Float64Array, q: Float64Array) -> Arc:
    """Return the arcs from p to q, without changing signs to take the shortest path.

    The angle is 2 atan2(|q-p|, |q+p|), exact to rounding near 0 and pi, where arccos loses half the digits. The
    direction is computed from the difference or, beyond a quarter circle, from the sum, to preserve digits. The error
    of the direction is the input error times 1 / angle or 1 / (pi - angle), the condition of the problem. If p = -q,
    the arc is undefined. An arbitrary arc is then used, so results stay finite. Source: docs/formulas, "Angles on the
    sphere".
    """
    difference, total = q - p, q + p
    difference_length, total_length = length(difference), length(total)
    toward_q = np.where(difference_length < total_length, difference, total)
    # A second pass of the projection would help only if `toward_q` were mostly along p, which never happens.
    ahead = toward_q - p * dot(p, toward_q)
    ahead_length = length(ahead)
    perpendicular = np.stack([-p[1], p[0], p[3], -p[2]])
    is_defined = ahead_length > 0.0
    ahead = np.where(is_defined, np.divide(ahead, ahead_length, out=ahead, where=is_defined), perpendicular)
    return Arc(2.0 * np.arctan2(difference_length, total_length), p, ahead)


def slerp(p: Float64Array, q: Float64Array, t: Float64Array | float) -> Float64Array:
    """Return slerp(p, q, t) for any real t, without changing signs (docs/formulas, "Slerp")."""
    return arc(p, q).at(t)


def cross(a: Float64Array, b: Float64Array) -> Float64Array:
    """Return cross products, shape (3, …)."""
    rows = np.empty(np.broadcast_shapes(a.shape, b.shape))
    rows[0] = a[1] * b[2] - a[2] * b[1]
    rows[1] = a[2] * b[0] - a[0] * b[2]
    rows[2] = a[0] * b[1] - a[1] * b[0]
    return rows


def turned(turn: Float64Array, vectors: Float64Array) -> Float64Array:
    """Return vectors rotated by rotation vectors."""
    return rotated(exp(turn / 2.0), vectors)


def rotated(q: Float64Array, vectors: Float64Array) -> Float64Array:
    """Return vectors rotated by unit quaternions."""
    across = cross(2.0 * q[1:], vectors)
    result: Float64Array = vectors + q[0] * across + cross(q[1:], across)
    return result


def velocity_of_exp(turn: Float64Array, rate: Float64Array) -> Float64Array:
    """Return the angular velocity of exp(turn(u) / 2) in the parent's frame (left Jacobian of SO(3) times rate)."""
    first, second = _jacobian(length(turn))
    across = cross(turn, rate)
    return rate + first * across + second * cross(turn, across)


def acceleration_of_exp(turn: Float64Array, rate: Float64Array, change: Float64Array) -> Float64Array:
    """Return the derivative of `velocity_of_exp`, where `change` is the derivative of the rate."""
    return velocity_of_exp(turn, change) + bend(turn, rate, rate)


def bend(turn: Float64Array, rate: Float64Array, other_rate: Float64Array) -> Float64Array:
    """Return the bilinear form that is the derivative of `velocity_of_exp` if both rates are the same and constant."""
    angle = length(turn)
    first_rate, second_rate = _jacobian_rates(angle)
    across = cross(turn, other_rate)
    along = dot(turn, rate) * (first_rate * across + second_rate * cross(turn, across))
    return along + _jacobian(angle)[1] * cross(rate, across)


def motion_of_product(
    p: Float64Array, motion_of_p: Sequence[Float64Array], motion_of_q: Sequence[Float64Array]
) -> list[Float64Array]:
    """Return the angular velocity of the quaternions p q, and their acceleration if the motions contain it."""
    velocity = motion_of_p[0] + rotated(p, motion_of_q[0])
    if len(motion_of_q) == 1:
        return [velocity]
    return [velocity, motion_of_p[1] + rotated(p, motion_of_q[1]) + cross(motion_of_p[0], velocity)]


def motion_after_turn(turn: Sequence[Float64Array], motion: Sequence[Float64Array]) -> list[Float64Array]:
    """Return the motion of ``exp(t / 2) q`` from t with its derivatives, and the motion of q."""
    motion_of_turn = [velocity_of_exp(turn[0], turn[1])]
    if len(motion) == 2:
        motion_of_turn.append(acceleration_of_exp(*turn))
    return motion_of_product(exp(turn[0] / 2.0), motion_of_turn, motion)


def _jacobian(angle: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return (1 - cos) / angle² and (angle - sin) / angle³, the factors of the left Jacobian of SO(3)."""
    square = angle * angle
    # (angle - sin) / angle³ loses the digits of 1 / angle² near 0. The next term of the series used there is angle⁴ /
    # 5040.
    is_small = angle < 1e-2
    cube = np.where(is_small, 1.0, square * angle)
    second = np.where(is_small, (1.0 - square / 20.0) / 6.0, (angle - np.sin(angle)) / cube)
    return 0.5 * np.sinc(angle / (2.0 * np.pi)) ** 2, second


def _jacobian_rates(angle: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the derivatives of the factors of `_jacobian` with respect to the angle, divided by the angle."""
    square = angle * angle
    # The closed forms lose the digits of 1 / angle⁴. Below this angle the next terms of the series are below 1e-16.
    is_small = angle < 1.0
    divisor = np.where(is_small, 1.0, square)
    first, second = _jacobian(angle)
    first_series, second_series = np.zeros_like(angle), np.zeros_like(angle)
    power = np.ones_like(angle)
    factorial, sign = 6.0, -1.0
    for order in range(1, 9):
        factorial *= 2.0 * order + 2.0
        first_series += sign * (2.0 * order) / factorial * power
        factorial *= 2.0 * order + 3.0
        second_series += sign * (2.0 * order) / factorial * power
        power, sign = power * square, -sign
    return (
        np.where(is_small, first_series, (1.0 - 2.0 * first) / divisor - second),
        np.where(is_small, second_series, (first - 3.0 * second) / divisor),
    )


def rate_of_velocity(turn: Float64Array, velocity: Float64Array) -> Float64Array:
    """Return the derivative of a rotation vector from the angular velocity in the parent's frame.

    The function is the inverse of `velocity_of_exp` for turns of less than 360 degrees. The Jacobian is singular at a
    full turn.
    """
    x = 0.5 * length(turn)
    # (1 - x cot x) / (2 x)² loses digits near 0, where it is 1/12. The loss hardly matters there, because the
    # expression is multiplied by the squared turn.
    is_small = x < 1e-4
    x = np.where(is_small, 1.0, x)
    factor = np.where(is_small, 1.0 / 12.0, (1.0 - x / np.tan(x)) / (4.0 * x * x))
    across = cross(turn, velocity)
    return velocity - 0.5 * across + factor * cross(turn, across)
