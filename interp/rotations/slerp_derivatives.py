# SPDX-License-Identifier: GPL-3.0-or-later
"""Slerp between moving points, with first and second derivatives. Source: docs/formulas, "Derivatives of slerp"."""

from __future__ import annotations

import numpy as np

from ..keys import Float64Array
from .sphere import WithDerivatives, arc, dot, exp, length, product


def slerp_with_derivatives(p: WithDerivatives, q: WithDerivatives, t: WithDerivatives) -> WithDerivatives:
    """Return slerp(p, q, t) with its first and second derivatives.

    Notes
    -----
    Let r be the point, o the direction along the arc there, f the direction at q, and g = t a. Differentiate ``r = p
    cos(g) + e sin(g)`` and ``q = p cos(a) + e sin(a)`` twice and substitute e'' from the second equation:

        r'' = p'' sin((1-t) a) / sin(a) + q'' sin(g) / sin(a) + 2 e' (g' cos(g) - a' cos(a) sin(g) / sin(a))
              + 2 p' (a' - g') sin(g) + (t'' a + 2 t' a') o + a'' (t o - f sin(g) / sin(a))
              + a'^2 q sin(g) / sin(a) - g'^2 r

    As the arc vanishes, e' and a'' grow as 1 / sin(a), but r'' stays finite, because their factors vanish too.
    The code uses closed forms of the factors, in which sin(a) cancels.
    """
    angle, _, ahead = path = arc(p.value, q.value)
    sine, cosine = np.sin(t.value * angle), np.cos(t.value * angle)
    onward = ahead * cosine - p.value * sine
    ahead_at_end = ahead * np.cos(angle) - p.value * np.sin(angle)
    # The motion of the end along the arc changes the length of the arc. The motion across the arc rotates the arc, and
    # only this part, e' sin(a), is divided by sin(a).
    angle_rate = dot(q.rate, ahead_at_end) - dot(p.rate, ahead)
    across = q.rate - p.rate * np.cos(angle) - ahead_at_end * angle_rate
    whole_sine = 0.5 * length(q.value - p.value) * length(q.value + p.value)
    # sin(g) / sin(a).
    share = np.divide(sine, whole_sine, out=np.broadcast_to(t.value, whole_sine.shape).copy(), where=whole_sine > 0.0)
    angle_at_t_rate = t.rate * angle + t.value * angle_rate
    value = path.at(t.value)
    rate = p.rate * cosine + across * share + onward * angle_at_t_rate
    per_sine = np.divide(angle, whole_sine, out=np.ones_like(angle), where=whole_sine > 0.0)
    # (t cos(g) - cos(a) sin(g) / sin(a)) / sin(a).
    across_factor = (1.0 - t.value * t.value) * angle / 2.0 * per_sine * per_sine * _sinc_drop(angle, t.value)
    # sin(a) times the second derivative of a.
    angle_change = (
        whole_sine * (dot(q.change, ahead_at_end) - dot(p.change, ahead))
        + dot(across, q.rate * np.cos(angle) - p.rate)
        - whole_sine * whole_sine * dot(p.rate, q.rate)
    )
    change = (
        p.change * (cosine - np.cos(angle) * share)
        + q.change * share
        + 2.0 * across * (t.rate * per_sine * cosine + angle_rate * across_factor)
        + 2.0 * p.rate * ((angle_rate - angle_at_t_rate) * sine)
        + onward * (t.change * angle + 2.0 * t.rate * angle_rate)
        + angle_change * (ahead * across_factor + p.value * ((1.0 - t.value) * share))
        + q.value * (angle_rate * angle_rate * share)
        - value * (angle_at_t_rate * angle_at_t_rate)
    )
    return WithDerivatives(value, rate, change)


def _sinc_drop(angle: Float64Array, t: Float64Array) -> Float64Array:
    """Return (sinc((1-t) a) - sinc((1+t) a)) / a², with sinc(x) = sin(x) / x."""
    near_square, far_square = (1.0 - t) ** 2, (1.0 + t) ** 2
    square = angle * angle
    # Below this angle the difference loses digits. The next term of the series is (2 a)¹² / 13!, below 1e-13 of the
    # first.
    is_small = angle < 0.5
    series = np.zeros_like(angle)
    divisor, near_power, far_power = 1.0, np.ones_like(angle), np.ones_like(angle)
    power = np.ones_like(angle)
    for order in range(1, 8):
        divisor *= -(2.0 * order) * (2.0 * order + 1.0)
        near_power, far_power = near_power * near_square, far_power * far_square
        series += (near_power - far_power) / divisor * power
        power = power * square
    difference = np.sinc((1.0 - t) * angle / np.pi) - np.sinc((1.0 + t) * angle / np.pi)
    return np.where(is_small, series, difference / np.where(is_small, 1.0, square))


def local_parameter(u: Float64Array) -> WithDerivatives:
    """Return the local parameter with its derivatives with respect to itself, 1 and 0."""
    return WithDerivatives(u, np.ones_like(u), np.zeros_like(u))


def constant_points(points: Float64Array) -> WithDerivatives:
    """Return points with derivatives of 0."""
    return WithDerivatives(points, np.zeros_like(points), np.zeros_like(points))


def rotating_points(q: Float64Array, velocity: Float64Array, u: Float64Array) -> WithDerivatives:
    """Return quaternions that rotate from q at constant angular velocities."""
    value = product(exp(u * velocity / 2.0), q)
    half = np.concatenate([np.zeros_like(velocity[:1]), velocity / 2.0])
    return WithDerivatives(value, product(half, value), -dot(half, half) * value)
