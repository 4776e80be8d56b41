# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves on the sphere of quaternions from four control quaternions a segment: de Casteljau and squad.

Both are slerps of slerps. Written so they cost two sines an arc and eight multiplications to build each quaternion
between. The values here come from the Gram form instead: the sample is a weighted sum of the segment's four controls,
and the weights need only the angles of the arcs, whose cosines are sums of weights times the six dot products of the
controls. No quaternion between is built, and terms of the segment alone are computed once a segment. Only near-
antipodal arcs, where a cosine does not determine the angle well enough, and derivatives go through the slerps as
written.
"""

from __future__ import annotations

from itertools import chain
from typing import Protocol

import numpy as np

from ..batch import BoolArray, IndexArray
from ..keys import Float64Array
from . import sphere
from .whole_turns import WholeTurns

# An angle from its cosine carries an error of 1e-16 / sin(angle), and slerp's weights divide by the sine once more:
# down to this cosine (154 degrees on the sphere, 308 of rotation) the Gram form loses less than one digit.
_LEAST_COSINE = -0.9
# The largest cosine whose angle is not 0; slerp's weights at that angle, 1.5e-8, are the straight ones to the last bit.
_MOST_COSINE = 1.0 - 2.0**-53


def _ready_arcs(p: Float64Array, q: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return half the angles of arcs, their 1 / sine and cosines for `_weights`, which needs angles above 0."""
    apart, along = sphere.length(q - p), sphere.length(q + p)
    angle = 2.0 * np.arctan2(apart, along)
    sine = 0.5 * apart * along
    none = angle < sphere.SMALLEST_ANGLE
    angle[none] = sphere.SMALLEST_ANGLE
    sine[none] = np.sin(sphere.SMALLEST_ANGLE)
    return 0.5 * angle, np.divide(1.0, sine, out=np.zeros_like(sine), where=sine > 0.0), sphere.dot(p, q)


def _weights(
    half_angle: Float64Array, inverse_sine: Float64Array, cosine: Float64Array, u: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return slerp's weights of an arc's start and end at u.

    With angle a they are sin((1-u) a) / sin(a) = cos(u a) - cos(a) b and b = sin(u a) / sin(a). One tangent gives this
    sine and cosine both, and where NumPy has a vector unit to use, it is eight times faster than its sine. At u = 0
    they are exactly 1 and 0.
    """
    tangent = np.tan(u * half_angle)
    versed = 2.0 / (1.0 + tangent * tangent)
    end: Float64Array = tangent * versed
    end *= inverse_sine
    versed -= 1.0
    versed -= cosine * end
    return versed, end


def _weights_of_cosine(cosine: Float64Array, u: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return slerp's weights at u of an arc of which only the cosine is known, not near -1."""
    cosine = np.minimum(np.maximum(cosine, _LEAST_COSINE), _MOST_COSINE)
    return _weights(0.5 * np.arccos(cosine), 1.0 / np.sqrt((1.0 - cosine) * (1.0 + cosine)), cosine, u)


def _blend(
    controls: Float64Array, weights: tuple[Float64Array, Float64Array, Float64Array, Float64Array]
) -> Float64Array:
    """Return the weighted sums of four controls, (4 controls, 4 components, samples) -> (4 components, samples)."""
    total: Float64Array = controls[0] * weights[0]
    for control, weight in zip(controls[1:], weights[1:], strict=True):
        total += control * weight
    return total


class DeCasteljau:
    """Segments of the de Casteljau construction (docs/formulas.md, "De Casteljau on the sphere").

    Parameters
    ----------
    controls : ndarray, shape (4, 4, K)
        Control quaternions, components, segments: q[n], b[n], a[n+1], q[n+1].
    """

    def __init__(self, controls: Float64Array) -> None:
        self._controls = controls
        c0, c1, c2, c3 = controls
        arcs = [_ready_arcs(c0, c1), _ready_arcs(c1, c2), _ready_arcs(c2, c3)]
        dots = [sphere.dot(c0, c2), sphere.dot(c1, c3), sphere.dot(c0, c3)]
        self._steep: BoolArray = np.minimum(np.minimum(arcs[0][2], arcs[1][2]), arcs[2][2]) < _LEAST_COSINE
        self._any_steep = bool(self._steep.any())
        self._columns = np.concatenate([controls.reshape(16, -1), np.stack([*chain.from_iterable(arcs), *dots])])

    def value(self, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the quaternions at u, shape (4, samples)."""
        columns = self._columns.take(segment, axis=1)
        half0, per_sine0, g01, half1, per_sine1, g12, half2, per_sine2, g23, g02, g13, g03 = columns[16:]
        # First level: e0, e1, e2 between neighbouring controls; second: f0, f1 between those; third: the sample.
        a0, b0 = _weights(half0, per_sine0, g01, u)
        a1, b1 = _weights(half1, per_sine1, g12, u)
        a2, b2 = _weights(half2, per_sine2, g23, u)
        e0_e1 = a0 * (a1 * g01 + b1 * g02) + b0 * (a1 + b1 * g12)
        e1_e2 = a1 * (a2 * g12 + b2 * g13) + b1 * (a2 + b2 * g23)
        e0_e2 = a0 * (a2 * g02 + b2 * g03) + b0 * (a2 * g12 + b2 * g13)
        f0_0, f0_1 = _weights_of_cosine(e0_e1, u)
        f1_1, f1_2 = _weights_of_cosine(e1_e2, u)
        f0_f1 = f0_0 * (f1_1 * e0_e1 + f1_2 * e0_e2) + f0_1 * (f1_1 + f1_2 * e1_e2)
        x0, x1 = _weights_of_cosine(f0_f1, u)
        y0, y1, y2 = x0 * f0_0, x0 * f0_1 + x1 * f1_1, x1 * f1_2
        values = _blend(columns[:16].reshape(4, 4, -1), (y0 * a0, y0 * b0 + y1 * a1, y1 * b1 + y2 * a2, y2 * b2))
        least = np.minimum(np.minimum(e0_e1, e1_e2), f0_f1)
        if self._any_steep or least.min(initial=1.0) < _LEAST_COSINE:
            careful = np.flatnonzero((least < _LEAST_COSINE) | self._steep[segment])
            values[:, careful] = self.value_and_rate(segment[careful], u[careful])[0]
        return values

    def value_and_rate(self, segment: IndexArray, u: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return quaternions and their derivatives by u, both of shape (4, samples), by slerps as written."""
        points = list(self._controls.take(segment, axis=2))
        rates = [np.zeros_like(points[0])] * len(points)
        while len(points) > 1:
            steps = [
                sphere.slerp_with_rate(points[i], rates[i], points[i + 1], rates[i + 1], u, 1.0)
                for i in range(len(points) - 1)
            ]
            points, rates = [step[0] for step in steps], [step[1] for step in steps]
        return points[0], rates[0]

    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> sphere.WithDerivatives:
        """Return quaternions with their first and second derivatives by u, each of shape (4, samples)."""
        at = local_parameter(u)
        points = [constant_points(control) for control in self._controls.take(segment, axis=2)]
        while len(points) > 1:
            points = [sphere.slerp_with_derivatives(points[i], points[i + 1], at) for i in range(len(points) - 1)]
        return points[0]


class Squad:
    """Segments of the squad construction (docs/formulas.md, "Squad").

    Parameters
    ----------
    controls : ndarray, shape (4, 4, K)
        Control quaternions, components, segments: q[n], out[n], in[n+1], q[n+1].
    """

    def __init__(self, controls: Float64Array) -> None:
        self._controls = controls
        c0, c1, c2, c3 = controls
        arcs = [_ready_arcs(c0, c3), _ready_arcs(c1, c2)]
        dots = [sphere.dot(c0, c1), sphere.dot(c0, c2), sphere.dot(c3, c1), sphere.dot(c3, c2)]
        self._steep: BoolArray = np.minimum(arcs[0][2], arcs[1][2]) < _LEAST_COSINE
        self._any_steep = bool(self._steep.any())
        self._columns = np.concatenate([controls.reshape(16, -1), np.stack([*chain.from_iterable(arcs), *dots])])

    def value(self, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the quaternions at u, shape (4, samples)."""
        columns = self._columns.take(segment, axis=1)
        half0, per_sine0, g03, half1, per_sine1, g12, g01, g02, g31, g32 = columns[16:]
        a0, b0 = _weights(half0, per_sine0, g03, u)
        a1, b1 = _weights(half1, per_sine1, g12, u)
        e0_e1 = a0 * (a1 * g01 + b1 * g02) + b0 * (a1 * g31 + b1 * g32)
        x0, x1 = _weights_of_cosine(e0_e1, 2.0 * u * (1.0 - u))
        values = _blend(columns[:16].reshape(4, 4, -1), (x0 * a0, x1 * a1, x1 * b1, x0 * b0))
        if self._any_steep or e0_e1.min(initial=1.0) < _LEAST_COSINE:
            careful = np.flatnonzero((e0_e1 < _LEAST_COSINE) | self._steep[segment])
            values[:, careful] = self.value_and_rate(segment[careful], u[careful])[0]
        return values

    def value_and_rate(self, segment: IndexArray, u: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return quaternions and their derivatives by u, both of shape (4, samples), by slerps as written."""
        c0, c1, c2, c3 = self._controls.take(segment, axis=2)
        still = np.zeros_like(c0)
        keys = sphere.slerp_with_rate(c0, still, c3, still, u, 1.0)
        between = sphere.slerp_with_rate(c1, still, c2, still, u, 1.0)
        return sphere.slerp_with_rate(*keys, *between, 2.0 * u * (1.0 - u), 2.0 - 4.0 * u)

    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> sphere.WithDerivatives:
        """Return quaternions with their first and second derivatives by u, each of shape (4, samples)."""
        c0, c1, c2, c3 = (constant_points(control) for control in self._controls.take(segment, axis=2))
        at = local_parameter(u)
        blend = sphere.WithDerivatives(2.0 * u * (1.0 - u), 2.0 - 4.0 * u, np.full_like(u, -4.0))
        return sphere.slerp_with_derivatives(
            sphere.slerp_with_derivatives(c0, c3, at), sphere.slerp_with_derivatives(c1, c2, at), blend
        )


class SphereCurve(Protocol):
    """Segments of a curve on the sphere, with its derivatives by the local parameter."""

    def value(self, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the quaternions at u, shape (4, samples)."""
        ...

    def value_and_rate(self, segment: IndexArray, u: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return quaternions and their derivatives by u, both of shape (4, samples)."""
        ...

    def value_and_derivatives(self, segment: IndexArray, u: Float64Array) -> sphere.WithDerivatives:
        """Return quaternions with their first and second derivatives by u, each of shape (4, samples)."""
        ...


class RotationSegments:
    """Segments of rotation tracks: a curve on the sphere, with whole turns added to it."""

    def __init__(self, curve: SphereCurve, whole_turns: WholeTurns | None = None) -> None:
        self._curve = curve
        self.whole_turns = whole_turns

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return values or derivatives by u, shape (components, samples)."""
        if nu == 0:
            values = self._curve.value(segment, u)
            return values if self.whole_turns is None else self.whole_turns.add_to_values(values, segment, u)
        if nu == 1:
            values, rates = self._curve.value_and_rate(segment, u)
            # q' = w q / 2 with the angular velocity w in the parent's frame.
            velocity = 2.0 * sphere.product(rates, sphere.conjugate(values))[1:]
            return velocity if self.whole_turns is None else self.whole_turns.add_to_velocities(velocity, segment, u)
        values, rates, changes = self._curve.value_and_derivatives(segment, u)
        # The rest of w', 2 q' q'*, is a number and no vector.
        acceleration = 2.0 * sphere.product(changes, sphere.conjugate(values))[1:]
        if self.whole_turns is None:
            return acceleration
        velocity = 2.0 * sphere.product(rates, sphere.conjugate(values))[1:]
        return self.whole_turns.add_to_accelerations(acceleration, velocity, segment, u)


def constant_points(points: Float64Array) -> sphere.WithDerivatives:
    """Return points that do not move."""
    return sphere.WithDerivatives(points, np.zeros_like(points), np.zeros_like(points))


def local_parameter(u: Float64Array) -> sphere.WithDerivatives:
    """Return the local parameter with its derivatives by itself, 1 and 0."""
    return sphere.WithDerivatives(u, np.ones_like(u), np.zeros_like(u))
