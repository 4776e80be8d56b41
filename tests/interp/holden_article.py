# SPDX-License-Identifier: GPL-3.0-or-later
"""An independent implementation of Holden's article "Cubic Interpolation of Quaternions", as a reference.

The names are from the article. Rotations have 50 digits. As printed, `quat_hermite` uses a segment's end velocity as
the derivative of its scaled angle-axis. `true_velocities` uses the derivative that produces this velocity. It applies
the inverse of the left Jacobian, from its power series.
"""

from __future__ import annotations

import mpmath as mp

from tests.interp import exact


def hermite_weights(x):
    """w0, w1, w2, w3 and q0, q1, q2, q3."""
    return (
        (2 * x * x * x - 3 * x * x + 1, 3 * x * x - 2 * x * x * x, x * x * x - 2 * x * x + x, x * x * x - x * x),
        (6 * x * x - 6 * x, 6 * x - 6 * x * x, 3 * x * x - 4 * x + 1, 3 * x * x - 2 * x),
    )


def hermite_values(x, p0, p1, v0, v1):
    """`hermite`."""
    w, q = hermite_weights(x)
    return (
        w[0] * p0 + w[1] * p1 + w[2] * v0 + w[3] * v1,
        q[0] * p0 + q[1] * p1 + q[2] * v0 + q[3] * v1,
    )


def catmull_rom_values(x, p0, p1, p2, p3):
    """`catmull_rom`."""
    v1 = ((p1 - p0) + (p2 - p1)) / 2
    v2 = ((p2 - p1) + (p3 - p2)) / 2
    return hermite_values(x, p1, p2, v1, v2)


def left_jacobian(turn):
    """Return the left Jacobian of SO(3) from its power series, the sum of [turn]^k / (k+1)!."""
    x, y, z = turn
    cross = mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    total, term = mp.eye(3), mp.eye(3)
    for k in range(1, 60):
        term = term * cross / (k + 1)
        total = total + term
    return total


def scaled_angle_axis(q, r):
    """quat_to_scaled_angle_axis(quat_abs(quat_mul_inv(q, r)))."""
    turn = exact.multiply(q, exact.conjugate(r))
    if turn[0] < 0:
        turn = [-x for x in turn]
    return [2 * x for x in exact.log(turn)[1:]]


class Article:
    """Evaluate `quat_catmull_rom`, or `quat_hermite` with given velocities, through evenly spaced keys."""

    def __init__(self, q, velocities=None, true_velocities=False):
        self.q = [[mp.mpf(float(x)) for x in row] for row in q]
        self.q = [[x / exact.length(row) for x in row] for row in self.q]
        self.velocities = velocities
        self.true_velocities = true_velocities

    def turn(self, n):
        return scaled_angle_axis(self.q[n + 1], self.q[n])

    def key_velocity(self, n):
        if self.velocities is not None:
            return [mp.mpf(float(x)) for x in self.velocities[n]]
        return [(a + b) / 2 for a, b in zip(self.turn(n - 1), self.turn(n), strict=True)]

    def rotation(self, n, x):
        (_, w1, w2, w3), _ = hermite_weights(x)
        turn, v0, v1 = self.turn(n), self.key_velocity(n), self.key_velocity(n + 1)
        if self.true_velocities:
            v1 = list(mp.lu_solve(left_jacobian(turn), mp.matrix(v1)))
        half = [(w1 * t + w2 * a + w3 * b) / 2 for t, a, b in zip(turn, v0, v1, strict=True)]
        return exact.multiply(exact.exp([mp.mpf(0), *half]), self.q[n])

    def velocity(self, n, x):
        """Return the angular velocity of the orientations, from differences."""
        rate = exact.derivative(lambda at: self.rotation(n, at), x, 1)
        return [2 * v for v in exact.multiply(rate, exact.conjugate(self.rotation(n, mp.mpf(x))))[1:]]
