# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves on the quaternion sphere from four quaternions per segment: de Casteljau, squad and Shoemake's blend.

All three are nested slerps. Evaluated directly, each arc costs two sines, and each intermediate quaternion eight
multiplications. This module uses the Gram form instead. A sample is a weighted sum of the four controls of its segment.
The weights need only the angles of the arcs, whose cosines are weighted sums of the six dot products of the controls.
No intermediate quaternion is computed, and terms that depend only on the segment are computed once. Derivatives of the
weights give angular velocities. Only second derivatives and near-antipodal arcs, where a cosine does not determine the
angle accurately enough, are evaluated as slerps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import TypeVar

import numpy as np

from ..key_batch import BoolArray, IndexArray
from ..keys import Float64Array
from . import sphere
from .turns import LongTurns

# An angle computed from its cosine has an error of 1e-16 / sin(angle), and slerp's weights divide by the sine again.
# Down to this cosine (154 degrees on the sphere, 308 degrees of rotation), the Gram form loses less than one digit.
_SMALLEST_COSINE = -0.9
# The largest cosine whose angle is not 0. At that angle, 1.5e-8, slerp's weights are linear to the last bit.
_LARGEST_COSINE = 1.0 - 2.0**-53

# Down to this angle, in radians, `_rate_factor` loses four digits of an equally small term. Below this angle, the
# series is accurate.
_SMALL_ANGLE = 1e-2


class RotationSegments:
    """Segments of rotation tracks: a curve on the sphere, with long turns added."""

    def __init__(self, curve: GramCurve, long_turns: LongTurns | None = None) -> None:
        self._curve = curve
        self.long_turns = long_turns

    def since_start(self, values: Float64Array, segment: IndexArray) -> Float64Array:
        """Return the turns from the starts of segments to values (4, samples), as quaternions (samples, 4)."""
        starts = self._curve.starts.take(segment, axis=1)
        return sphere.product(values, sphere.conjugate(starts)).T

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return values or derivatives with respect to u, shape (components, samples).

        Source: docs/formulas, "Angular velocity and acceleration".
        """
        if nu == 0:
            values = self._curve.value(segment, u)
            return values if self.long_turns is None else self.long_turns.add_to_values(values, segment, u)
        if nu == 1:
            values, rates = self._curve.value_and_rate(segment, u)
            # q' = w q / 2 with the angular velocity w in the parent's frame.
            velocity = 2.0 * sphere.product(rates, sphere.conjugate(values))[1:]
            return velocity if self.long_turns is None else self.long_turns.add_to_velocities(velocity, segment, u)
        values, rates, changes = self._curve.value_and_derivatives(segment, u)
        # The rest of w', 2 q' q'*, is a scalar without a vector part.
        acceleration = 2.0 * sphere.product(changes, sphere.conjugate(values))[1:]
        if self.long_turns is None:
            return acceleration
        velocity = 2.0 * sphere.product(rates, sphere.conjugate(values))[1:]
        return self.long_turns.add_to_accelerations(acceleration, velocity, segment, u)


class GramCurve(ABC):
    """Segments whose points are weighted sums of four quaternions per segment, the `controls` (4, 4, K).

    `constants` are other arrays (K,) for `_construct`, such as angles and dot products of the controls.
    `is_nearly_antipodal` is a mask of segments that have an arc of nearly half a circle.
    """

    def __init__(
        self, controls: Float64Array, constants: Iterable[Float64Array], is_nearly_antipodal: BoolArray
    ) -> None:
        self._controls = controls
        self._is_nearly_antipodal = is_nearly_antipodal
        self._any_nearly_antipodal = bool(is_nearly_antipodal.any())
        self._constants = np.stack([*constants])

    @property
    def starts(self) -> Float64Array:
        """Return the quaternions at which the segments begin, shape (4, K)."""
        starts: Float64Array = self._controls[0]
        return starts

    @staticmethod
    @abstractmethod
    def _construct(constants: Float64Array, u: _Number) -> tuple[Sequence[_Number], Sequence[_Number]]:
        """Return the weights of the four controls at u, and the cosines of the arcs between moving points."""

    @abstractmethod
    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> sphere.WithDerivatives:
        """Return quaternions and two derivatives with respect to u, each (4, samples), from nested slerps."""

    def _controls_of(self, segment: IndexArray) -> Iterator[Float64Array]:
        """Provide the four controls, each (4, samples), when needed.

        All four together would fill the processor cache.
        """
        return (control.take(segment, axis=1, mode="clip") for control in self._controls)

    def value(self, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the quaternions at u, shape (4, samples)."""
        weights, cosines = self._construct(self._constants.take(segment, axis=1, mode="clip"), u)
        values = _weighted_sum(self._controls_of(segment), weights)
        if self._any_nearly_antipodal or any(cosine.min(initial=1.0) < _SMALLEST_COSINE for cosine in cosines):
            is_inaccurate = (np.minimum.reduce(cosines) < _SMALLEST_COSINE) | self._is_nearly_antipodal[segment]
            samples = np.flatnonzero(is_inaccurate)
            values[:, samples] = self.value_and_derivatives(segment[samples], u[samples]).value
        return values

    def value_and_rate(self, segment: IndexArray, u: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return quaternions and their derivatives with respect to u, both of shape (4, samples)."""
        weights, cosines = self._construct(self._constants.take(segment, axis=1, mode="clip"), _Dual(u, 1.0))
        controls = [*self._controls_of(segment)]
        values = _weighted_sum(controls, [weight.value for weight in weights])
        rates = _weighted_sum(controls, [weight.rate for weight in weights])
        is_inaccurate = self._is_nearly_antipodal[segment]
        for cosine in cosines:
            is_inaccurate |= cosine.value < _SMALLEST_COSINE
        if is_inaccurate.any():
            samples = np.flatnonzero(is_inaccurate)
            values[:, samples], rates[:, samples], _ = self.value_and_derivatives(segment[samples], u[samples])
        return values, rates


def _weighted_sum(controls: Iterable[Float64Array], weights: Sequence[Float64Array | float]) -> Float64Array:
    """Return the weighted sums of four controls of shape (4, samples)."""
    products = (control * weight for control, weight in zip(controls, weights, strict=True))
    total = next(products)
    for product in products:
        total += product
    return total


class DeCasteljau(GramCurve):
    """Segments of de Casteljau's construction, with the controls q[n], b[n], a[n+1], q[n+1], shape (4, 4, K).

    Source: docs/formulas, "De Casteljau on the sphere".
    """

    def __init__(self, controls: Float64Array) -> None:
        points = controls.swapaxes(0, 1)
        arcs = _arc_constants(points[:, :3], points[:, 1:])
        dots = [*sphere.dot(points[:, :2], points[:, 2:]), sphere.dot(points[:, 0], points[:, 3])]
        is_nearly_antipodal = arcs[2].min(axis=0) < _SMALLEST_COSINE
        super().__init__(controls, [*chain.from_iterable(zip(*arcs, strict=True)), *dots], is_nearly_antipodal)

    @staticmethod
    def _construct(constants: Float64Array, u: _Number) -> tuple[Sequence[_Number], Sequence[_Number]]:
        half0, per_sine0, g01, half1, per_sine1, g12, half2, per_sine2, g23, g02, g13, g03 = constants
        # The first level contains e0, e1, e2 between neighboring controls, the second f0, f1 between these points, and
        # the third the sample.
        a0, b0 = _slerp_weights(half0, per_sine0, g01, u)
        a1, b1 = _slerp_weights(half1, per_sine1, g12, u)
        a2, b2 = _slerp_weights(half2, per_sine2, g23, u)
        e2_1 = a2 * g12 + b2 * g13
        e0_e1 = a0 * (a1 * g01 + b1 * g02) + b0 * (a1 + b1 * g12)
        e1_e2 = a1 * e2_1 + b1 * (a2 + b2 * g23)
        e0_e2 = a0 * (a2 * g02 + b2 * g03) + b0 * e2_1
        f0_0, f0_1 = _weights_from_cosine(e0_e1, u)
        f1_1, f1_2 = _weights_from_cosine(e1_e2, u)
        f0_f1 = f0_0 * (f1_1 * e0_e1 + f1_2 * e0_e2) + f0_1 * (f1_1 + f1_2 * e1_e2)
        x0, x1 = _weights_from_cosine(f0_f1, u)
        y0, y1, y2 = x0 * f0_0, x0 * f0_1 + x1 * f1_1, x1 * f1_2
        return (y0 * a0, y0 * b0 + y1 * a1, y1 * b1 + y2 * a2, y2 * b2), (e0_e1, e1_e2, f0_f1)

    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> sphere.WithDerivatives:
        parameter = _local_parameter(u)
        points = [_constant_points(control) for control in self._controls.take(segment, axis=2)]
        while len(points) > 1:
            points = [sphere.slerp_with_derivatives(p, q, parameter) for p, q in pairwise(points)]
        return points[0]


class Squad(GramCurve):
    """Segments of the squad construction, with the controls q[n], out[n], in[n+1], q[n+1], shape (4, 4, K).

    Source: docs/formulas, "Squad".
    """

    def __init__(self, controls: Float64Array) -> None:
        c0, c1, c2, c3 = controls
        arcs = [_arc_constants(c0, c3), _arc_constants(c1, c2)]
        dots = [sphere.dot(c0, c1), sphere.dot(c0, c2), sphere.dot(c3, c1), sphere.dot(c3, c2)]
        is_nearly_antipodal = np.minimum(arcs[0][2], arcs[1][2]) < _SMALLEST_COSINE
        super().__init__(controls, [*chain.from_iterable(arcs), *dots], is_nearly_antipodal)

    @staticmethod
    def _construct(constants: Float64Array, u: _Number) -> tuple[Sequence[_Number], Sequence[_Number]]:
        half0, per_sine0, g03, half1, per_sine1, g12, g01, g02, g31, g32 = constants
        a0, b0 = _slerp_weights(half0, per_sine0, g03, u)
        a1, b1 = _slerp_weights(half1, per_sine1, g12, u)
        e0_e1 = a0 * (a1 * g01 + b1 * g02) + b0 * (a1 * g31 + b1 * g32)
        x0, x1 = _weights_from_cosine(e0_e1, _squad_blend(u))
        return (x0 * a0, x1 * a1, x1 * b1, x0 * b0), (e0_e1,)

    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> sphere.WithDerivatives:
        c0, c1, c2, c3 = (_constant_points(control) for control in self._controls.take(segment, axis=2))
        parameter = _local_parameter(u)
        between_keys = sphere.slerp_with_derivatives(c0, c3, parameter)
        between_controls = sphere.slerp_with_derivatives(c1, c2, parameter)
        blend = sphere.WithDerivatives(2.0 * u * (1.0 - u), 2.0 - 4.0 * u, np.full_like(u, -4.0))
        return sphere.slerp_with_derivatives(between_keys, between_controls, blend)


def _squad_blend(u: _Number) -> _Number:
    """Return squad's blending weight of the second arc, 2 u (1 - u)."""
    if isinstance(u, _Dual):
        return _Dual(2.0 * u.value * (1.0 - u.value), (2.0 - 4.0 * u.value) * u.rate)
    return 2.0 * u * (1.0 - u)


class Blend(GramCurve):
    """Segments blended from the arc between their keys and the arcs that leave and arrive at the keys.

    `start` and `end` are the keys (4, K). `leaving` and `arriving` are the angular velocities (3, K) with respect to u
    at the keys. `weight` (2, K) is the weight of the curve with the correct arrival velocity, as a + b u.
    """

    def __init__(
        self,
        start: Float64Array,
        end: Float64Array,
        leaving: Float64Array,
        arriving: Float64Array,
        weight: Float64Array,
    ) -> None:
        self._rows = np.concatenate([start, end, leaving, arriving, weight])
        half_angle, per_sine, cosine = _arc_constants(start, end)
        # The points a quarter circle from the keys in the directions of their velocities, or 0 if a velocity is 0.
        speeds = sphere.length(leaving), sphere.length(arriving)
        ahead, behind = (
            sphere.product(np.concatenate([np.zeros_like(velocity[:1]), velocity]), q)
            * np.divide(1.0, speed, out=np.zeros_like(speed), where=speed > 0.0)
            for velocity, q, speed in ((leaving, start, speeds[0]), (arriving, end, speeds[1]))
        )
        dots = [sphere.dot(ahead, end), sphere.dot(start, behind), sphere.dot(ahead, behind)]
        constants = [half_angle, per_sine, cosine, speeds[0] / 2.0, speeds[1] / 2.0, *dots, *weight]
        super().__init__(np.stack([start, ahead, behind, end]), constants, cosine < _SMALLEST_COSINE)

    @staticmethod
    def _construct(constants: Float64Array, u: _Number) -> tuple[Sequence[_Number], Sequence[_Number]]:
        half, per_sine, g, leaving_speed, arriving_speed = constants[:5]
        ahead_end, start_behind, ahead_behind, constant, slope = constants[5:]
        # The point on the arc between the keys, the point that leaves the start, and the point that arrives at the end.
        a, b = _slerp_weights(half, per_sine, g, u)
        c1, s1 = _cosine_and_sine(leaving_speed, u, 0.0)
        c2, s2 = _cosine_and_sine(arriving_speed, u, 1.0)
        start_arriving = c2 * g + s2 * start_behind
        leaving_between = c1 * (a + b * g) + s1 * (b * ahead_end)
        between_arriving = a * start_arriving + b * c2
        leaving_arriving = c1 * start_arriving + s1 * (c2 * ahead_end + s2 * ahead_behind)
        # The two curves, blended from neighboring points, and the blend of both.
        x0, x1 = _weights_from_cosine(leaving_between, u)
        y0, y1 = _weights_from_cosine(between_arriving, u)
        x_y = x0 * (y0 * leaving_between + y1 * leaving_arriving) + x1 * (y0 + y1 * between_arriving)
        z0, z1 = _weights_from_cosine(x_y, _line(constant, slope, u))
        leaving_weight, between_weight, arriving_weight = z0 * x0, z0 * x1 + z1 * y0, z1 * y1
        weights = (
            leaving_weight * c1 + between_weight * a,
            leaving_weight * s1,
            arriving_weight * s2,
            between_weight * b + arriving_weight * c2,
        )
        return weights, (leaving_between, between_arriving, x_y)

    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> sphere.WithDerivatives:
        rows = self._rows.take(segment, axis=1)
        start, end, leaving, arriving, (constant, slope) = np.split(rows, [4, 8, 11, 14])
        parameter = _local_parameter(u)
        between = sphere.slerp_with_derivatives(_constant_points(start), _constant_points(end), parameter)
        leaves = sphere.slerp_with_derivatives(_rotating_points(start, leaving, u), between, parameter)
        arrives = sphere.slerp_with_derivatives(between, _rotating_points(end, arriving, u - 1.0), parameter)
        weight = sphere.WithDerivatives(constant + slope * u, slope, np.zeros_like(u))
        return sphere.slerp_with_derivatives(leaves, arrives, weight)


def _cosine_and_sine(speed: Float64Array, u: _Number, origin: float) -> tuple[_Number, _Number]:
    """Return the cosine and sine of an angle that grows with u at a constant speed from 0 at the origin."""
    angle = speed * ((u.value if isinstance(u, _Dual) else u) - origin)
    cosine, sine = sphere.cosine_and_sine(0.5 * angle)
    if isinstance(u, _Dual):
        return _Dual(cosine, -speed * sine * u.rate), _Dual(sine, speed * cosine * u.rate)
    return cosine, sine


def _line(constant: Float64Array, slope: Float64Array, u: _Number) -> _Number:
    """Return constant + slope u."""
    if isinstance(u, _Dual):
        return _Dual(constant + slope * u.value, slope * u.rate)
    return constant + slope * u


def _rotating_points(q: Float64Array, velocity: Float64Array, u: Float64Array) -> sphere.WithDerivatives:
    """Return quaternions that rotate from q at constant angular velocities."""
    value = sphere.product(sphere.exp(u * velocity / 2.0), q)
    half = np.concatenate([np.zeros_like(velocity[:1]), velocity / 2.0])
    return sphere.WithDerivatives(value, sphere.product(half, value), -sphere.dot(half, half) * value)


def _arc_constants(p: Float64Array, q: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return half the angle of each arc, 1 / sine and cosine, for `_slerp_weights`, which needs angles above 0."""
    difference, total = sphere.length(q - p), sphere.length(q + p)
    angle = 2.0 * np.arctan2(difference, total)
    sine = 0.5 * difference * total
    is_small = angle < sphere.SMALLEST_ANGLE
    angle[is_small] = sphere.SMALLEST_ANGLE
    sine[is_small] = np.sin(sphere.SMALLEST_ANGLE)
    return 0.5 * angle, np.divide(1.0, sine, out=np.zeros_like(sine), where=sine > 0.0), sphere.dot(p, q)


def _slerp_weights(
    half_angle: Float64Array, inverse_sine: Float64Array, cosine: Float64Array | _Dual, u: _Number
) -> tuple[_Number, _Number]:
    """Return slerp's weights of an arc's start and end at u.

    For the angle a, the weights are sin((1-u) a) / sin(a) = cos(u a) - cos(a) b and b = sin(u a) / sin(a). The
    derivatives of the angle are the derivatives of its cosine over -sin(a), which cancels.
    """
    t, g = (number.value if isinstance(number, _Dual) else number for number in (u, cosine))
    cosine_at_u, sine_at_u = sphere.cosine_and_sine(t * half_angle)
    end = sine_at_u * inverse_sine
    start = cosine_at_u - g * end
    if not isinstance(u, _Dual):
        return start, end
    angle_rate = 2.0 * half_angle * u.rate
    end_rate, start_rate = angle_rate * inverse_sine * cosine_at_u, -angle_rate * sine_at_u
    if isinstance(cosine, _Dual):
        closed_form = (t * cosine_at_u - end * g) * inverse_sine * inverse_sine
        end_rate -= cosine.rate * _rate_factor(closed_form, t, half_angle)
        start_rate -= cosine.rate * (end * (1.0 - t))
    start_rate -= g * end_rate
    return _Dual(start, start_rate), _Dual(end, end_rate)


def _weights_from_cosine(cosine: _Number, u: _Number) -> tuple[_Number, _Number]:
    """Return slerp's weights at u of an arc that is known only by its cosine, which is not close to -1."""
    value = cosine.value if isinstance(cosine, _Dual) else cosine
    value = np.minimum(np.maximum(value, _SMALLEST_COSINE), _LARGEST_COSINE)
    clipped = _Dual(value, cosine.rate) if isinstance(cosine, _Dual) else value
    return _slerp_weights(0.5 * np.arccos(value), 1.0 / np.sqrt((1.0 - value) * (1.0 + value)), clipped, u)


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


def _constant_points(points: Float64Array) -> sphere.WithDerivatives:
    """Return points with derivatives of 0."""
    return sphere.WithDerivatives(points, np.zeros_like(points), np.zeros_like(points))


def _local_parameter(u: Float64Array) -> sphere.WithDerivatives:
    """Return the local parameter with its derivatives with respect to itself, 1 and 0."""
    return sphere.WithDerivatives(u, np.ones_like(u), np.zeros_like(u))


class _Dual:
    """Dual numbers, which are values with derivatives, for automatic differentiation of sums and products."""

    __array_ufunc__ = None
    __slots__ = ("rate", "value")

    def __init__(self, value: Float64Array, rate: Float64Array | float) -> None:
        self.value, self.rate = value, rate

    def __add__(self, other: _Dual) -> _Dual:
        return _Dual(self.value + other.value, self.rate + other.rate)

    def __mul__(self, other: _Dual | Float64Array | float) -> _Dual:
        """Return the product. A float is a constant."""
        if isinstance(other, _Dual):
            return _Dual(self.value * other.value, self.rate * other.value + self.value * other.rate)
        return _Dual(self.value * other, self.rate * other)

    __rmul__ = __mul__


_Number = TypeVar("_Number", Float64Array, _Dual)
