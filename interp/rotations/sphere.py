# SPDX-License-Identifier: GPL-3.0-or-later
"""Arcs on the unit sphere of quaternions, many at once. Arrays have the component axis first: shape (4, …).

For scripts, `rotations` provides the same functions with the component axis last. With the component axis first, each
operation runs over contiguous memory.
"""

from __future__ import annotations

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
