# SPDX-License-Identifier: GPL-3.0-or-later
"""Arcs on the unit sphere of quaternions, many at once. Arrays have the component axis first: shape (4, …).

For scripts, `rotations` provides the same functions with the component axis last. With the component axis first, each
operation runs over contiguous memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..keys import Float64Array

# Below this angle, slerp's weights are linear to the last bit (their error is angle² / 6).
SMALLEST_ANGLE = 1e-8


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

    With a vector unit, NumPy computes a tangent eight times faster than a sine. At 0, the results are exactly 1 and
    0.
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
        turned = t * self.angle
        return self.start * np.cos(turned) + self.ahead * np.sin(turned)


def arc(p: Float64Array, q: Float64Array) -> Arc:
    """Return the arcs from p to q, without changing signs to take the shortest path.

    The angle is 2 atan2(|q-p|, |q+p|), exact to rounding near 0 and pi, where arccos loses half the digits. The
    direction is computed from the difference or, beyond a quarter circle, from the sum, to preserve digits. The error
    of the direction is the input error times 1 / angle or 1 / (pi - angle), the condition of the problem. If p = -q,
    the arc is undefined. An arbitrary arc is then used, so results stay finite. Source: docs/formulas, "Angles on the
    sphere".
    """
    difference, total = q - p, q + p
    apart, along = length(difference), length(total)
    towards = np.where(apart < along, difference, total)
    # A second pass of the projection would help only if `towards` were mostly along p, which never happens.
    ahead = towards - p * dot(p, towards)
    size = length(ahead)
    sideways = np.stack([-p[1], p[0], p[3], -p[2]])
    defined = size > 0.0
    ahead = np.where(defined, np.divide(ahead, size, out=ahead, where=defined), sideways)
    return Arc(2.0 * np.arctan2(apart, along), p, ahead)


def slerp(p: Float64Array, q: Float64Array, t: Float64Array | float) -> Float64Array:
    """Return slerp(p, q, t) for any real t, without changing signs (docs/formulas, "Slerp")."""
    return arc(p, q).at(t)


class WithRate(NamedTuple):
    """Points or numbers with their derivatives."""

    value: Float64Array
    rate: Float64Array


def slerp_with_rate(p: WithRate, q: WithRate, t: WithRate) -> WithRate:
    """Return slerp(p, q, t) with its derivative. Source: docs/formulas, "Derivative of slerp".

    The motion of the end along the arc changes the length of the arc. The motion across the arc rotates the arc, and
    only this part is divided by the sine of the angle.
    """
    angle, start, ahead = path = arc(p.value, q.value)
    turned = t.value * angle
    sine, cosine = np.sin(turned), np.cos(turned)
    ahead_at_end = ahead * np.cos(angle) - start * np.sin(angle)
    angle_rate = dot(q.rate, ahead_at_end) - dot(p.rate, ahead)
    across = q.rate - p.rate * np.cos(angle) - ahead_at_end * angle_rate
    whole = 0.5 * length(q.value - start) * length(q.value + start)
    share = np.divide(sine, whole, out=np.broadcast_to(t.value, whole.shape).copy(), where=whole > 0.0)
    onward = ahead * cosine - start * sine
    rate = p.rate * cosine + across * share + onward * (t.rate * angle + t.value * angle_rate)
    return WithRate(path.at(t.value), rate)
