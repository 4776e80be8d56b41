# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of a model: its local transform, animated by the layers of an animation stack.

The transform is this product of matrices, which act on column vectors:

    T Roff Rp Rpre R Rpost^-1 Rp^-1 Soff Sp S Sp^-1

The names are from the SDK documentation of FbxNode. T, R and S are location, rotation and scale as in Blender. With the
rotation Q = Rpre R Rpost^-1, the origin of the model is T + (Roff + Rp) + Q (Soff + Sp - Rp - S Sp).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..interp import Float64Array, rotations
from ..motion import Curve, EulerCurves, NodeMotion, Track, common_interpolation, interpolations_at, scaled, union_times
from .binary import Properties, choice, integer, vector

# The transform of a model


LOCAL_PROPERTIES = ("Translation", "Rotation", "Scaling")
"""The properties that animate a transform."""
PREFIX = "Lcl "
"""The prefix of property names in the file."""
_ORDERS: tuple[rotations.Order, ...] = ("XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX", "XYZ")
"""Blender's names of rotation orders in FBX's sequence. The last order, spheric, rotates like the first."""


@dataclass(frozen=True, eq=False)
class LocalTransform:
    """The properties of a model that define its local transform."""

    static: Mapping[str, Float64Array]
    """The values of `LOCAL_PROPERTIES` without animation, each with shape (3,). Angles are in degrees."""
    pre_rotation: Float64Array
    inverse_post_rotation: Float64Array
    """Quaternions w, x, y, z, shape (4,)."""
    order: rotations.Order
    """Blender's name of the rotation order."""
    outer_offset: Float64Array
    """Roff + Rp, which is added last, shape (3,)."""
    rotated_offset: Float64Array
    """Soff + Sp - Rp, which rotates with the model, shape (3,)."""
    scaling_pivot: Float64Array
    """Sp, which is scaled and rotated, shape (3,)."""

    @classmethod
    def of(cls, properties: Properties) -> LocalTransform:
        """Return the transform from properties by name."""
        pre_rotation = inverse_post_rotation = np.array([1.0, 0.0, 0.0, 0.0])
        order: rotations.Order = "XYZ"
        # Otherwise, the order and these rotations have no effect.
        if integer(properties, "RotationActive", 1) and not integer(properties, "RotationSpaceForLimitOnly", 0):
            order = _ORDERS[choice(properties, "RotationOrder", len(_ORDERS), unknown=0)]
            pre_rotation = rotations.from_euler(np.radians(vector(properties, "PreRotation")))
            post_rotation = rotations.from_euler(np.radians(vector(properties, "PostRotation")))
            inverse_post_rotation = rotations.conjugate(post_rotation)
        rotation_pivot, scaling_pivot = vector(properties, "RotationPivot"), vector(properties, "ScalingPivot")
        return cls(
            static={
                "Translation": vector(properties, f"{PREFIX}Translation"),
                "Rotation": vector(properties, f"{PREFIX}Rotation"),
                "Scaling": vector(properties, f"{PREFIX}Scaling", 1.0),
            },
            pre_rotation=pre_rotation,
            inverse_post_rotation=inverse_post_rotation,
            order=order,
            outer_offset=vector(properties, "RotationOffset") + rotation_pivot,
            rotated_offset=vector(properties, "ScalingOffset") + scaling_pivot - rotation_pivot,
            scaling_pivot=scaling_pivot,
        )

    def rotations_of(self, angles: Float64Array) -> Float64Array:
        """Return quaternions (n, 4) for Euler angles (n, 3) in degrees, with the pre- and post-rotation."""
        euler_rotation = rotations.from_euler(np.radians(angles), self.order)
        return rotations.multiply(rotations.multiply(self.pre_rotation, euler_rotation), self.inverse_post_rotation)

    def at(
        self, translation: Float64Array, angles: Float64Array, scale: Float64Array
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return origins, quaternions and scales from the values (n, 3) of the three properties."""
        quaternions = self.rotations_of(angles)
        offset = self.rotated_offset - scale * self.scaling_pivot
        rotated = np.einsum("nij,nj->ni", rotations.to_matrix(quaternions), offset)
        return translation + self.outer_offset + rotated, quaternions, scale


# Layers and motion


Mode = Literal["ADDITIVE", "OVERRIDE", "OVERRIDE_PASSTHROUGH"]
_FULL_WEIGHT = 0.99999
"""Weights above this fraction count as 1."""


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer of a stack."""

    is_first: bool
    """True for the first layer of a stack, which replaces the values of the model in any mode."""
    mode: Mode
    """The blend mode. OVERRIDE ignores the weight."""
    weight: float | Curve
    """The weight in percent."""
    composes_rotations: bool
    composes_scales: bool
    """True if rotations or scales are multiplied. Otherwise, their components are added."""

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
        """Return the values (n, 3) of a property in this layer, combined with the values (n, 3) of the layers below.

        Rotations are in degrees. `name` is one of `LOCAL_PROPERTIES`, and `order` is the rotation order.
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
    """Return the Euler angles (n, 3), in degrees, of rotations with weighted rotations added, or moved toward them."""
    first, second = (rotations.from_euler(np.radians(angles), order) for angles in (below, above))
    start = np.broadcast_to([1.0, 0.0, 0.0, 0.0], first.shape) if is_additive else first
    # Take the shortest path, as in programs that play these files.
    second = np.where((start * second).sum(axis=-1, keepdims=True) < 0.0, -second, second)
    weighted = rotations.slerp(start, second, weights)
    return np.degrees(rotations.to_euler(rotations.multiply(first, weighted) if is_additive else weighted, order))


def motion_of(transform: LocalTransform, layers: Mapping[str, Sequence[LayerCurves]]) -> NodeMotion | None:
    """Return the motion of a model, or None without keys. `layers` contains the layers of each animated property."""
    animated = _AnimatedTransform(transform, layers)
    if not animated.all_curves:
        return None
    origin, pivot = _translation_tracks(animated)
    degrees, euler = animated.single_layer("Rotation"), None
    if degrees is not None:
        euler = EulerCurves(tuple(scaled(curve, np.pi / 180.0, 0.0) for curve in degrees), transform.order)
    rotation = _track(
        animated.curves["Rotation"],
        lambda times: transform.rotations_of(animated.values("Rotation", times)),
        euler=euler,
    )
    scale = _track(animated.curves["Scaling"], partial(animated.values, "Scaling"), animated.single_layer("Scaling"))
    tracks = {"translation": origin, "rotation": rotation, "scale": scale}
    return NodeMotion({name: track for name, track in tracks.items() if track is not None}, pivot)


class _AnimatedTransform:
    """A local transform whose properties are animated by layers."""

    def __init__(self, transform: LocalTransform, layers: Mapping[str, Sequence[LayerCurves]]) -> None:
        self.transform = transform
        self.layers = {name: _layers_with_effect(layers.get(name, ())) for name in LOCAL_PROPERTIES}
        """The layers that have an effect, for each property."""
        self.curves = {
            name: [curve for layer_curves in self.layers[name] for curve in layer_curves.animated]
            for name in LOCAL_PROPERTIES
        }
        self.all_curves = [curve for name in LOCAL_PROPERTIES for curve in self.curves[name]]

    def values(self, name: str, times: Float64Array) -> Float64Array:
        """Return the values of a property, combined from its layers, shape (n, 3). Rotations are in degrees."""
        result = np.broadcast_to(self.transform.static[name], (len(times), 3)).astype(np.float64)
        for curves in self.layers[name]:
            result = curves.on_top_of(result, times, name, self.transform.order)
        return result

    def origins(self, times: Float64Array) -> Float64Array:
        """Return the positions of the model's origin, shape (n, 3)."""
        translation, angles, scale = (self.values(name, times) for name in LOCAL_PROPERTIES)
        return self.transform.at(translation, angles, scale)[0]

    def pivots(self, times: Float64Array) -> Float64Array:
        """Return the positions of the rotation pivot, shape (n, 3)."""
        return self.values("Translation", times) + self.transform.outer_offset

    def single_layer(self, name: str) -> tuple[Curve, ...] | None:
        """Return the curves of the three components if only one layer has an effect."""
        layers = self.layers[name]
        return layers[-1].components if layers and layers[-1].layer.replaces else None

    def curves_that_move_origin(self) -> list[Curve]:
        """Return the rotation and scale curves that move the origin, because it is not at the pivots."""
        transform, curves = self.transform, []
        if transform.rotated_offset.any() or transform.scaling_pivot.any():
            curves += self.curves["Rotation"]
        if transform.scaling_pivot.any():
            curves += self.curves["Scaling"]
        return [curve for curve in curves if curve.varies]


def _layers_with_effect(layers: Sequence[LayerCurves]) -> list[LayerCurves]:
    """Return the layers without those below an animated layer that replaces values, and without layers of no effect."""
    replacing = [row for row, curves in enumerate(layers) if curves.animated and curves.layer.replaces]
    return [curves for curves in layers[max(replacing, default=0) :] if curves.animated or curves.layer.replaces]


def _translation_tracks(animated: _AnimatedTransform) -> tuple[Track | None, Track | None]:
    """Return the track of the origin and, if rotations or scales move the origin, the track of the rotation pivot."""
    transform, translation = animated.transform, animated.curves["Translation"]
    start = float(union_times(animated.all_curves)[0])
    components = animated.single_layer("Translation")
    if components is None and not translation:
        components = tuple(Curve.single_key(start, value) for value in transform.static["Translation"])
    curves_that_move_origin = animated.curves_that_move_origin()
    if not curves_that_move_origin:
        # The offsets and pivots add a constant, which is measured at the first key.
        first = np.array([start])
        offset = animated.origins(first)[0] - animated.values("Translation", first)[0]
        return _track(translation, animated.origins, _shifted(components, offset)), None
    origin = _track([*translation, *curves_that_move_origin], animated.origins)
    if origin is None:
        return None, None
    pivot_curves = _shifted(components, transform.outer_offset)
    return origin, replace(origin, evaluate=animated.pivots, curves=pivot_curves)


def _shifted(curves: tuple[Curve, ...] | None, offset: Float64Array) -> tuple[Curve, ...] | None:
    """Return the curves of the three components with an offset added."""
    if curves is None or not offset.any():
        return curves
    return tuple(scaled(curve, 1.0, shift) for curve, shift in zip(curves, offset.tolist(), strict=True))


def _track(
    curves: Sequence[Curve],
    evaluate: Callable[[Float64Array], Float64Array],
    components: tuple[Curve, ...] | None = None,
    euler: EulerCurves | None = None,
) -> Track | None:
    """Return a track with a key wherever any curve has a key, or None if there are no curves."""
    if not curves:
        return None
    times = union_times(curves)
    interpolation = common_interpolation(interpolations_at([curve for curve in curves if curve.varies], times))
    return Track(times, interpolation, evaluate, components, euler, _shared(curves, times))


def _shared(curves: Sequence[Curve], times: Float64Array) -> npt.NDArray[np.bool_]:
    """Return a mask of the times at which each varying curve has a key, or all its keys are earlier or later."""
    shared = np.ones(len(times), dtype=np.bool_)
    for curve in curves:
        if curve.varies:
            shared &= np.isin(times, curve.times) | (times < curve.times[0]) | (times > curve.times[-1])
    return shared
