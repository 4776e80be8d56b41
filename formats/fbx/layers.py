# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of an animation stack, and the combination of a property's values in several layers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..curve import Curve
from ..interp import Float64Array, rotations

Mode = Literal["ADDITIVE", "OVERRIDE", "OVERRIDE_PASSTHROUGH"]
_FULL_WEIGHT = 0.99999
"""Weights above this fraction count as 1."""


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer of a stack.

    Attributes
    ----------
    is_first : bool
        True for the first layer of a stack, which replaces the values of the model in any mode.
    mode : str
        The blend mode. OVERRIDE ignores the weight.
    weight : float or Curve
        The weight in percent.
    composes_rotations, composes_scales : bool
        True if rotations or scales are multiplied. Otherwise, their components are added.
    """

    is_first: bool
    mode: Mode
    weight: float | Curve
    composes_rotations: bool
    composes_scales: bool

    @property
    def replaces(self) -> bool:
        """Return whether the layers below have no effect."""
        return self.is_first or self.mode == "OVERRIDE"

    def weights(self, times: Float64Array) -> Float64Array:
        """Return the weight at each time, from 0 to 1."""
        percent = self.weight(times) if isinstance(self.weight, Curve) else np.full(len(times), self.weight)
        weight = np.clip(percent / 100.0, 0.0, 1.0)
        return np.where(weight > _FULL_WEIGHT, 1.0, weight)


@dataclass(frozen=True, eq=False)
class LayerCurves:
    """The curves of one property in one layer, and the values of its components without a curve, shape (3,)."""

    layer: Layer
    curves: tuple[Curve | None, ...]
    defaults: Float64Array

    @property
    def animated(self) -> list[Curve]:
        """Return the curves, including the curve of the layer's weight."""
        curves = [curve for curve in self.curves if curve is not None]
        if isinstance(self.layer.weight, Curve) and not self.layer.replaces:
            curves.append(self.layer.weight)
        return curves

    @property
    def components(self) -> tuple[Curve, ...]:
        """Return three curves. A component without a curve gets a curve of one key."""
        start = min((float(curve.times[0]) for curve in self.animated), default=0.0)
        return tuple(
            Curve.single_key(start, default) if curve is None else curve
            for curve, default in zip(self.curves, self.defaults, strict=True)
        )

    def as_first(self) -> LayerCurves:
        """Return the same curves as if they were in the first layer of a stack."""
        return replace(self, layer=replace(self.layer, is_first=True))

    def on_top_of(self, below: Float64Array, times: Float64Array, name: str, order: rotations.Order) -> Float64Array:
        """Return the values of a property in this layer, combined with the values of the layers below.

        Parameters
        ----------
        below : ndarray, shape (n, 3)
            Values of the layers below. Rotations are in degrees.
        times : ndarray, shape (n,)
        name : str
            One of `LOCAL_PROPERTIES`.
        order : str
            The rotation order.
        """
        layer, values = self.layer, np.stack([curve(times) for curve in self.components], axis=-1)
        if layer.replaces:
            return values
        weights = layer.weights(times)[:, np.newaxis]
        is_additive = layer.mode == "ADDITIVE"
        if name == "Scaling" and layer.composes_scales:
            return _signed_power(values, weights) * (below if is_additive else _signed_power(below, 1.0 - weights))
        if name == "Rotation" and layer.composes_rotations:
            return _composed_angles(below, values, weights[:, 0], is_additive, order)
        return (below if is_additive else below * (1.0 - weights)) + values * weights


def _signed_power(values: Float64Array, exponents: Float64Array) -> Float64Array:
    """Return powers of the values' magnitudes, with the signs of the values. Exponents are from 0 to 1."""
    powers = np.sign(values) * np.abs(values) ** exponents
    # These cases are exact, also for values of 0.
    return np.where(exponents <= 0.0, 1.0, np.where(exponents >= 1.0, values, powers))


def _composed_angles(
    below: Float64Array, above: Float64Array, weights: Float64Array, is_additive: bool, order: rotations.Order
) -> Float64Array:
    """Return the Euler angles (n, 3), in degrees, of rotations `below` followed by weighted rotations `above`.

    If the layer is not additive, the rotations are interpolated.
    """
    first, second = (rotations.from_euler(np.radians(angles), order) for angles in (below, above))
    start = np.broadcast_to([1.0, 0.0, 0.0, 0.0], first.shape) if is_additive else first
    # Take the shortest path, as in programs that play these files.
    second = np.where((start * second).sum(axis=-1, keepdims=True) < 0.0, -second, second)
    weighted = rotations.slerp(start, second, weights)
    return np.degrees(rotations.to_euler(rotations.multiply(first, weighted) if is_additive else weighted, order))
