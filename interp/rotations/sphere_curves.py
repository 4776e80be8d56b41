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

import numpy as np

from ..key_batch import BoolArray, IndexArray
from ..keys import Float64Array
from . import sphere
from .long_turns import LongTurns
from .slerp_derivatives import constant_points, local_parameter, rotating_points, slerp_with_derivatives
from .slerp_weights import (
    SMALLEST_COSINE,
    Dual,
    Number,
    arc_constants,
    cosine_and_sine_from,
    slerp_weights,
    weights_from_cosine,
)
from .sphere import WithDerivatives


class GramCurve(ABC):
    """Segments whose points are weighted sums of four quaternions per segment, with long turns added.

    The quaternions are the `controls` (4, 4, K). `constants` are other arrays (K,) for `_construct`, such as angles and
    dot products of the controls. `is_nearly_antipodal` is a mask (K,) of the segments that have an arc of nearly half a
    circle.
    """

    def __init__(
        self,
        controls: Float64Array,
        constants: Iterable[Float64Array],
        is_nearly_antipodal: BoolArray,
        long_turns: LongTurns | None = None,
    ) -> None:
        self.long_turns = long_turns
        self._controls = controls
        self._is_nearly_antipodal = is_nearly_antipodal
        self._any_nearly_antipodal = bool(is_nearly_antipodal.any())
        self._constants = np.stack([*constants])

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return values or derivatives with respect to u, shape (components, samples).

        Source: docs/formulas, "Angular velocity and acceleration".
        """
        if nu == 0:
            motion = [self.value(segment, u)]
        else:
            values, *derivatives = (self.value_and_rate if nu == 1 else self.value_and_derivatives)(segment, u)
            # q' = w q / 2 with the angular velocity w in the parent's frame. The rest of w', 2 q' q'*, is a scalar
            # without a vector part.
            inverse = sphere.conjugate(values)
            motion = [2.0 * sphere.product(derivative, inverse)[1:] for derivative in derivatives]
        if self.long_turns is not None:
            self.long_turns.add_to(motion, nu, segment, u)
        return motion[-1]

    def since_start(self, values: Float64Array, segment: IndexArray) -> Float64Array:
        """Return the turns from the starts of segments to values (4, samples), as quaternions (samples, 4)."""
        starts = self._controls[0].take(segment, axis=1)
        return sphere.product(values, sphere.conjugate(starts)).T

    @staticmethod
    @abstractmethod
    def _construct(constants: Float64Array, u: Number) -> tuple[Sequence[Number], Sequence[Number]]:
        """Return the weights of the four controls at u, and the cosines of the arcs between moving points."""

    @abstractmethod
    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> WithDerivatives:
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
        if self._any_nearly_antipodal or any(cosine.min(initial=1.0) < SMALLEST_COSINE for cosine in cosines):
            is_inaccurate = (np.minimum.reduce(cosines) < SMALLEST_COSINE) | self._is_nearly_antipodal[segment]
            samples = np.flatnonzero(is_inaccurate)
            values[:, samples] = self.value_and_derivatives(segment[samples], u[samples]).value
        return values

    def value_and_rate(self, segment: IndexArray, u: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return quaternions and their derivatives with respect to u, both of shape (4, samples)."""
        weights, cosines = self._construct(self._constants.take(segment, axis=1, mode="clip"), Dual(u, 1.0))
        controls = [*self._controls_of(segment)]
        values = _weighted_sum(controls, [weight.value for weight in weights])
        rates = _weighted_sum(controls, [weight.rate for weight in weights])
        is_inaccurate = self._is_nearly_antipodal[segment]
        for cosine in cosines:
            is_inaccurate |= cosine.value < SMALLEST_COSINE
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

    def __init__(self, controls: Float64Array, long_turns: LongTurns | None = None) -> None:
        points = controls.swapaxes(0, 1)
        arcs = arc_constants(points[:, :3], points[:, 1:])
        dots = [*sphere.dot(points[:, :2], points[:, 2:]), sphere.dot(points[:, 0], points[:, 3])]
        is_nearly_antipodal = arcs[2].min(axis=0) < SMALLEST_COSINE
        constants = [*chain.from_iterable(zip(*arcs, strict=True)), *dots]
        super().__init__(controls, constants, is_nearly_antipodal, long_turns)

    @staticmethod
    def _construct(constants: Float64Array, u: Number) -> tuple[Sequence[Number], Sequence[Number]]:
        half0, per_sine0, p0_p1, half1, per_sine1, p1_p2, half2, per_sine2, p2_p3, p0_p2, p1_p3, p0_p3 = constants
        # The points e0, e1, e2 divide the arcs between neighboring controls p0 to p3, and f0, f1 the arcs between these
        # points. The sample divides the arc between f0 and f1. x_y is the dot product of the points x and y.
        a0, b0 = slerp_weights(half0, per_sine0, p0_p1, u)
        a1, b1 = slerp_weights(half1, per_sine1, p1_p2, u)
        a2, b2 = slerp_weights(half2, per_sine2, p2_p3, u)
        p1_e2 = a2 * p1_p2 + b2 * p1_p3
        e0_e1 = a0 * (a1 * p0_p1 + b1 * p0_p2) + b0 * (a1 + b1 * p1_p2)
        e1_e2 = a1 * p1_e2 + b1 * (a2 + b2 * p2_p3)
        e0_e2 = a0 * (a2 * p0_p2 + b2 * p0_p3) + b0 * p1_e2
        c0, d0 = weights_from_cosine(e0_e1, u)
        c1, d1 = weights_from_cosine(e1_e2, u)
        f0_f1 = c0 * (c1 * e0_e1 + d1 * e0_e2) + d0 * (c1 + d1 * e1_e2)
        x, y = weights_from_cosine(f0_f1, u)
        e0_weight, e1_weight, e2_weight = x * c0, x * d0 + y * c1, y * d1
        weights = e0_weight * a0, e0_weight * b0 + e1_weight * a1, e1_weight * b1 + e2_weight * a2, e2_weight * b2
        return weights, (e0_e1, e1_e2, f0_f1)

    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> WithDerivatives:
        parameter = local_parameter(u)
        points = [constant_points(control) for control in self._controls.take(segment, axis=2)]
        while len(points) > 1:
            points = [slerp_with_derivatives(p, q, parameter) for p, q in pairwise(points)]
        return points[0]


class Squad(GramCurve):
    """Segments of the squad construction, with the controls q[n], out[n], in[n+1], q[n+1], shape (4, 4, K).

    Source: docs/formulas, "Squad".
    """

    def __init__(self, controls: Float64Array, long_turns: LongTurns | None = None) -> None:
        p0, p1, p2, p3 = controls
        arcs = [arc_constants(p0, p3), arc_constants(p1, p2)]
        dots = [sphere.dot(p0, p1), sphere.dot(p0, p2), sphere.dot(p3, p1), sphere.dot(p3, p2)]
        is_nearly_antipodal = np.minimum(arcs[0][2], arcs[1][2]) < SMALLEST_COSINE
        super().__init__(controls, [*chain.from_iterable(arcs), *dots], is_nearly_antipodal, long_turns)

    @staticmethod
    def _construct(constants: Float64Array, u: Number) -> tuple[Sequence[Number], Sequence[Number]]:
        half0, per_sine0, p0_p3, half1, per_sine1, p1_p2, p0_p1, p0_p2, p3_p1, p3_p2 = constants
        # The points e0 and e1 divide the arcs from p0 to p3 and from p1 to p2. x_y is the dot product of x and y.
        a0, b0 = slerp_weights(half0, per_sine0, p0_p3, u)
        a1, b1 = slerp_weights(half1, per_sine1, p1_p2, u)
        e0_e1 = a0 * (a1 * p0_p1 + b1 * p0_p2) + b0 * (a1 * p3_p1 + b1 * p3_p2)
        x, y = weights_from_cosine(e0_e1, _squad_blend(u))
        return (x * a0, y * a1, y * b1, x * b0), (e0_e1,)

    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> WithDerivatives:
        p0, p1, p2, p3 = (constant_points(control) for control in self._controls.take(segment, axis=2))
        parameter = local_parameter(u)
        between_keys = slerp_with_derivatives(p0, p3, parameter)
        between_controls = slerp_with_derivatives(p1, p2, parameter)
        blend = WithDerivatives(2.0 * u * (1.0 - u), 2.0 - 4.0 * u, np.full_like(u, -4.0))
        return slerp_with_derivatives(between_keys, between_controls, blend)


def _squad_blend(u: Number) -> Number:
    """Return squad's blending weight of the second arc, 2 u (1 - u)."""
    if isinstance(u, Dual):
        return Dual(2.0 * u.value * (1.0 - u.value), (2.0 - 4.0 * u.value) * u.rate)
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
        half_angle, per_sine, cosine = arc_constants(start, end)
        # The points a quarter circle from the keys in the directions of their velocities, or 0 if a velocity is 0.
        speeds = sphere.length(leaving), sphere.length(arriving)
        ahead, behind = (
            sphere.product(np.concatenate([np.zeros_like(velocity[:1]), velocity]), q)
            * np.divide(1.0, speed, out=np.zeros_like(speed), where=speed > 0.0)
            for velocity, q, speed in ((leaving, start, speeds[0]), (arriving, end, speeds[1]))
        )
        dots = [sphere.dot(ahead, end), sphere.dot(start, behind), sphere.dot(ahead, behind)]
        constants = [half_angle, per_sine, cosine, speeds[0] / 2.0, speeds[1] / 2.0, *dots, *weight]
        super().__init__(np.stack([start, ahead, behind, end]), constants, cosine < SMALLEST_COSINE)

    @staticmethod
    def _construct(constants: Float64Array, u: Number) -> tuple[Sequence[Number], Sequence[Number]]:
        half, per_sine, start_end, leaving_speed, arriving_speed = constants[:5]
        ahead_end, start_behind, ahead_behind, constant, slope = constants[5:]
        # The point between the keys, the point that leaves the start, and the point that arrives at the end. x_y is the
        # dot product of the points x and y.
        a, b = slerp_weights(half, per_sine, start_end, u)
        c1, s1 = cosine_and_sine_from(leaving_speed, u, 0.0)
        c2, s2 = cosine_and_sine_from(arriving_speed, u, 1.0)
        start_arriving = c2 * start_end + s2 * start_behind
        leaving_between = c1 * (a + b * start_end) + s1 * (b * ahead_end)
        between_arriving = a * start_arriving + b * c2
        leaving_arriving = c1 * start_arriving + s1 * (c2 * ahead_end + s2 * ahead_behind)
        # The two curves, blended from neighboring points, and the blend of both.
        x0, x1 = weights_from_cosine(leaving_between, u)
        y0, y1 = weights_from_cosine(between_arriving, u)
        x_y = x0 * (y0 * leaving_between + y1 * leaving_arriving) + x1 * (y0 + y1 * between_arriving)
        z0, z1 = weights_from_cosine(x_y, _line(constant, slope, u))
        leaving_weight, between_weight, arriving_weight = z0 * x0, z0 * x1 + z1 * y0, z1 * y1
        weights = (
            leaving_weight * c1 + between_weight * a,
            leaving_weight * s1,
            arriving_weight * s2,
            between_weight * b + arriving_weight * c2,
        )
        return weights, (leaving_between, between_arriving, x_y)

    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> WithDerivatives:
        rows = self._rows.take(segment, axis=1)
        start, end, leaving, arriving, (constant, slope) = np.split(rows, [4, 8, 11, 14])
        parameter = local_parameter(u)
        between = slerp_with_derivatives(constant_points(start), constant_points(end), parameter)
        leaves = slerp_with_derivatives(rotating_points(start, leaving, u), between, parameter)
        arrives = slerp_with_derivatives(between, rotating_points(end, arriving, u - 1.0), parameter)
        weight = WithDerivatives(constant + slope * u, slope, np.zeros_like(u))
        return slerp_with_derivatives(leaves, arrives, weight)


def _line(constant: Float64Array, slope: Float64Array, u: Number) -> Number:
    """Return constant + slope u."""
    if isinstance(u, Dual):
        return Dual(constant + slope * u.value, slope * u.rate)
    return constant + slope * u
