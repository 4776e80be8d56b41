# SPDX-License-Identifier: GPL-3.0-or-later
"""Arcs on the unit sphere of quaternions, many at once. Arrays here have the component axis first: shape (4, …).

`rotations` offers the same to scripts with the component axis last. With it first, each operation runs over one
unbroken row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .keys import FloatArray

# Below this angle slerp's weights equal those at the angle itself to the last bit (their error is angle² / 6).
SMALLEST_ANGLE = 1e-8


def dot(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return the sums of products over components."""
    products = p * q
    total: FloatArray = products[0].copy()
    for row in products[1:]:
        total += row
    return total


def length(p: FloatArray) -> FloatArray:
    """Return Euclidean lengths."""
    return np.sqrt(dot(p, p))


def product(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return the quaternion products p q."""
    pw, px, py, pz = p
    qw, qx, qy, qz = q
    return np.stack(
        np.broadcast_arrays(
            pw * qw - px * qx - py * qy - pz * qz,
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
        )
    )


def conjugate(q: FloatArray) -> FloatArray:
    """Return conjugates."""
    return np.stack([q[0], -q[1], -q[2], -q[3]])


def exp(v: FloatArray) -> FloatArray:
    """Return the unit quaternions exp(v) of vectors (3, …): a turn by twice their length."""
    angle = length(v)
    # sin(angle) / angle, 1 at 0: np.sinc is that of pi times its argument.
    return np.concatenate([np.cos(angle)[np.newaxis], v * np.sinc(angle / np.pi)])


def log(q: FloatArray) -> FloatArray:
    """Return the vectors (3, …) whose exp is q, of length 0 to pi: half the turn, literal, no shorter way."""
    sine = length(q[1:])
    angle = np.arctan2(sine, q[0])
    vector: FloatArray = q[1:] * np.divide(angle, sine, out=np.ones_like(sine), where=sine > 0.0)
    return vector


class Arc(NamedTuple):
    """Great-circle arcs: their angle, their start, and the unit quaternion a quarter circle on from the start."""

    angle: FloatArray
    start: FloatArray
    ahead: FloatArray

    def at(self, t: FloatArray | float) -> FloatArray:
        """Return the points at t, any real number; 1 is the end."""
        turned = t * self.angle
        return self.start * np.cos(turned) + self.ahead * np.sin(turned)


def arc(p: FloatArray, q: FloatArray) -> Arc:
    """Return the arcs from p to q, literal: with no change of sign for the shorter way.

    The angle is 2 atan2(|q-p|, |q+p|), exact to rounding near 0 and pi, where arccos loses half the digits. The
    direction comes from the difference, or past a quarter circle from the sum, so it keeps what digits the input has:
    its error is the input's times 1 / angle or 1 / (pi - angle), the condition of the problem. Where p = -q there is
    no arc: one of the many possible is taken, so that what follows stays finite.
    """
    difference, total = q - p, q + p
    apart, along = length(difference), length(total)
    towards = np.where(apart < along, difference, total)
    # A second pass of the projection only pays where `towards` is mostly along p, which it never is.
    ahead = towards - p * dot(p, towards)
    size = length(ahead)
    sideways = np.stack([-p[1], p[0], p[3], -p[2]])
    defined = size > 0.0
    ahead = np.where(defined, np.divide(ahead, size, out=ahead, where=defined), sideways)
    return Arc(2.0 * np.arctan2(apart, along), p, ahead)


def slerp(p: FloatArray, q: FloatArray, t: FloatArray | float) -> FloatArray:
    """Return slerp(p, q, t), literal: no change of sign, any real t (formulas.md, "Rotation tracks")."""
    return arc(p, q).at(t)


def slerp_with_rate(
    p: FloatArray, p_rate: FloatArray, q: FloatArray, q_rate: FloatArray, t: FloatArray, t_rate: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Return slerp(p, q, t) and its derivative, where p, q and t have derivatives too.

    The derivative of ``p cos(t a) + e sin(t a)`` with arc angle a and e a quarter circle ahead of p. The parts of the
    end's motion along the arc lengthen it; those across turn it, and are the only ones divided by sin(a).
    """
    angle, _, ahead = path = arc(p, q)
    turned = t * angle
    sine, cosine = np.sin(turned), np.cos(turned)
    ahead_at_end = ahead * np.cos(angle) - p * np.sin(angle)
    angle_rate = dot(q_rate, ahead_at_end) - dot(p_rate, ahead)
    across = q_rate - p_rate * np.cos(angle) - ahead_at_end * angle_rate
    whole = 0.5 * length(q - p) * length(q + p)
    share = np.divide(sine, whole, out=np.broadcast_to(t, whole.shape).copy(), where=whole > 0.0)
    onward = ahead * cosine - p * sine
    return path.at(t), p_rate * cosine + across * share + onward * (t_rate * angle + t * angle_rate)
