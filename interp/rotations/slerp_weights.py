# SPDX-License-Identifier: GPL-3.0-or-later
"""The weights of slerp from cosines of arcs, at a parameter, or with their derivatives at a dual number.

Source: docs/formulas, "De Casteljau on the sphere", on the Gram form.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ..keys import Float64Array
from . import sphere

SMALLEST_COSINE = -0.9
"""The smallest cosine that determines an angle accurately enough.

An angle computed from its cosine has an error of 1e-16 / sin(angle), and slerp's weights divide by the sine again. Down
to this cosine (154 degrees on the sphere, 308 degrees of rotation), the weights lose less than one digit.
"""
# The largest cosine whose angle is not 0. At that angle, 1.5e-8, slerp's weights are linear to the last bit.
_LARGEST_COSINE = 1.0 - 2.0**-53
# Down to this angle, in radians, `_rate_factor` loses four digits of an equally small term. Below this angle, the
# series is accurate.
_SMALL_ANGLE = 1e-2


def arc_constants(p: Float64Array, q: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return half the angle of each arc, 1 / sine and cosine, for `slerp_weights`, which needs angles above 0."""
    difference, total = sphere.length(q - p), sphere.length(q + p)
    angle = 2.0 * np.arctan2(difference, total)
    sine = 0.5 * difference * total
    is_small = angle < sphere.SMALLEST_ANGLE
    angle[is_small] = sphere.SMALLEST_ANGLE
    sine[is_small] = np.sin(sphere.SMALLEST_ANGLE)
    return 0.5 * angle, np.divide(1.0, sine, out=np.zeros_like(sine), where=sine > 0.0), sphere.dot(p, q)


def slerp_weights(
    half_angle: Float64Array, inverse_sine: Float64Array, cosine: Float64Array | Dual, u: Number
) -> tuple[Number, Number]:
    """Return slerp's weights of an arc's start and end at u.

    For the angle a, the weights are sin((1-u) a) / sin(a) = cos(u a) - cos(a) b and b = sin(u a) / sin(a). The
    derivatives of the angle are the derivatives of its cosine over -sin(a), which cancels.
    """
    t, g = (number.value if isinstance(number, Dual) else number for number in (u, cosine))
    cosine_at_u, sine_at_u = sphere.cosine_and_sine(t * half_angle)
    end = sine_at_u * inverse_sine
    start = cosine_at_u - g * end
    if not isinstance(u, Dual):
        return start, end
    angle_rate = 2.0 * half_angle * u.rate
    end_rate, start_rate = angle_rate * inverse_sine * cosine_at_u, -angle_rate * sine_at_u
    if isinstance(cosine, Dual):
        closed_form = (t * cosine_at_u - end * g) * inverse_sine * inverse_sine
        end_rate -= cosine.rate * _rate_factor(closed_form, t, half_angle)
        start_rate -= cosine.rate * (end * (1.0 - t))
    start_rate -= g * end_rate
    return Dual(start, start_rate), Dual(end, end_rate)


def weights_from_cosine(cosine: Number, u: Number) -> tuple[Number, Number]:
    """Return slerp's weights at u of an arc that is known only by its cosine, which is not close to -1."""
    value = cosine.value if isinstance(cosine, Dual) else cosine
    value = np.minimum(np.maximum(value, SMALLEST_COSINE), _LARGEST_COSINE)
    clipped = Dual(value, cosine.rate) if isinstance(cosine, Dual) else value
    return slerp_weights(0.5 * np.arccos(value), 1.0 / np.sqrt((1.0 - value) * (1.0 + value)), clipped, u)


def _rate_factor(closed_form: Float64Array, t: Float64Array, half_angle: Float64Array) -> Float64Array:
    """Return (t cos(t a) - sin(t a) cos(a) / sin(a)) / sin(a)², with a series in place of small angles' closed form.

    The next term is below a⁶ / 169, which is 6e-15 at the largest angle.
    """
    small = np.flatnonzero(half_angle < 0.5 * _SMALL_ANGLE)
    if small.size:
        t, a2 = t[small], (2.0 * half_angle[small]) ** 2
        t2 = t * t
        a4_term = 2.0 / 63.0 - t2 * (2.0 / 45.0 - t2 * (1.0 / 72.0 - t2 / 840.0))
        a2_term = 2.0 / 15.0 - t2 * (1.0 / 6.0 - t2 / 30.0)
        closed_form[small] = t * ((1.0 - t2) / 3.0 + a2 * (a2_term + a2 * a4_term))
    return closed_form


def cosine_and_sine_from(speed: Float64Array, u: Number, origin: float) -> tuple[Number, Number]:
    """Return the cosine and sine of an angle that grows with u at a constant speed from 0 at the origin."""
    angle = speed * ((u.value if isinstance(u, Dual) else u) - origin)
    cosine, sine = sphere.cosine_and_sine(0.5 * angle)
    if isinstance(u, Dual):
        return Dual(cosine, -speed * sine * u.rate), Dual(sine, speed * cosine * u.rate)
    return cosine, sine


class Dual:
    """Dual numbers, which are values with derivatives, for automatic differentiation of sums and products."""

    __array_ufunc__ = None
    __slots__ = ("rate", "value")

    def __init__(self, value: Float64Array, rate: Float64Array | float) -> None:
        self.value, self.rate = value, rate

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.rate + other.rate)

    def __mul__(self, other: Dual | Float64Array | float) -> Dual:
        """Return the product. A float is a constant."""
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.rate * other.value + self.value * other.rate)
        return Dual(self.value * other, self.rate * other)

    __rmul__ = __mul__


Number = TypeVar("Number", Float64Array, Dual)
