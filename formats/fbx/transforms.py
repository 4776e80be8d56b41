# SPDX-License-Identifier: GPL-3.0-or-later
"""The local transform of a model: translation, offsets, pivots, pre- and post-rotation, and scale.

    T Roff Rp Rpre R Rpost^-1 Rp^-1 Soff Sp S Sp^-1

The names are from the SDK documentation of FbxNode. Scale, rotation and translation are the same as in Blender.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..interp import Float64Array, rotations
from ..motion import CONSTANT, CUBIC, LINEAR, Curve, EulerCurves, NodeMotion, Track, combined, union_times
from .layers import LayerCurves, layered

LOCAL_PROPERTIES = {"Translation": "translation", "Rotation": "rotation", "Scaling": "scaling"}
"""The properties that animate a transform, and the attributes of `Pivots` that hold their values."""
PREFIX = "Lcl "
"""The prefix of property names in the file."""
_ORDERS: tuple[rotations.Order, ...] = ("XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX", "XYZ")
"""Blender's names of rotation orders in FBX's sequence. The last order, spheric, rotates like the first."""
_RADIANS = np.pi / 180.0


@dataclass(frozen=True, eq=False)
class Pivots:
    """The properties of a model that define its local transform. Angles are in degrees."""

    translation: Float64Array
    rotation: Float64Array
    scaling: Float64Array
    before: Float64Array
    """The pre-rotation as a quaternion."""
    after: Float64Array
    """The inverse of the post-rotation as a quaternion."""
    order: rotations.Order
    offset: Float64Array
    """The sum of rotation offset and pivot, which is added last."""
    inner: Float64Array
    """The part that rotates with the model: scaling offset and pivot, minus the rotation pivot."""
    scaling_pivot: Float64Array

    @classmethod
    def of(cls, properties: Mapping[str, Sequence[Any]]) -> Pivots:
        """Return the pivots from properties by name."""

        def vector(name: str, default: float = 0.0) -> Float64Array:
            values = list(properties.get(name, ()))[:3]
            sound = len(values) == 3 and all(isinstance(v, int | float) and abs(v) < 1e30 for v in values)
            return np.array(values if sound else [default] * 3, dtype=np.float64)

        def choice(name: str, default: int) -> int:
            value = next(iter(properties.get(name, ())), default)
            return value if isinstance(value, int) else default

        identity = np.array([1.0, 0.0, 0.0, 0.0])
        rotates = choice("RotationActive", 1) != 0 and choice("RotationSpaceForLimitOnly", 0) == 0
        order = choice("RotationOrder", 0) if rotates else 0
        pivot = vector("RotationPivot")
        return cls(
            vector(f"{PREFIX}Translation"),
            vector(f"{PREFIX}Rotation"),
            vector(f"{PREFIX}Scaling", 1.0),
            rotations.from_euler(vector("PreRotation") * _RADIANS) if rotates else identity,
            rotations.conjugate(rotations.from_euler(vector("PostRotation") * _RADIANS)) if rotates else identity,
            _ORDERS[order] if 0 <= order < len(_ORDERS) else "XYZ",
            vector("RotationOffset") + pivot,
            vector("ScalingOffset") + vector("ScalingPivot") - pivot,
            vector("ScalingPivot"),
        )

    def turned(self, angles: Float64Array) -> Float64Array:
        """Return quaternions (n, 4) for Euler angles (n, 3) in degrees, with the pre- and post-rotation."""
        own = rotations.from_euler(angles * _RADIANS, self.order)
        return rotations.multiply(rotations.multiply(self.before, own), self.after)

    def local(
        self, translation: Float64Array, angles: Float64Array, scale: Float64Array
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return translations, quaternions and scales from the values (n, 3) of the three properties."""
        turned = self.turned(angles)
        inner = self.inner - scale * self.scaling_pivot
        moved = np.einsum("nij,nj->ni", rotations.to_matrix(turned), inner)
        return translation + self.offset + moved, turned, scale


def motion_of(pivots: Pivots, properties: Mapping[str, Sequence[LayerCurves]]) -> NodeMotion | None:
    """Return the motion of a model with these curves, or None if they have no keys."""
    layers = {
        name: [each for each in properties.get(name, ()) if each.animated or each.layer.replaces]
        for name in LOCAL_PROPERTIES
    }
    curves = {name: [c for each in own for c in each.animated] for name, own in layers.items()}
    if not any(curves.values()):
        return None

    def values(name: str, times: Float64Array) -> Float64Array:
        return layered(getattr(pivots, LOCAL_PROPERTIES[name]), layers[name], times, name, pivots.order)

    def local(times: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        return pivots.local(*(values(name, times) for name in LOCAL_PROPERTIES))

    translation, rotation, scale = (curves[name] for name in LOCAL_PROPERTIES)
    plain = {name: _components(own) for name, own in layers.items()}
    turning = [*rotation] if pivots.inner.any() or pivots.scaling_pivot.any() else []
    moving = [*turning, *scale] if pivots.scaling_pivot.any() else turning
    moving = [curve for curve in moving if curve.varies]
    start = float(union_times([c for own in curves.values() for c in own])[0])
    shifts = local(np.array([start]))[0][0] - values("Translation", np.array([start]))[0]
    moved = plain["Translation"] or (None if translation else _held(pivots.translation, start))
    origin = _track([*translation, *moving], lambda at: local(at)[0], None if moving else _shifted(moved, shifts))
    pivot = None
    if moving and origin is not None:
        about = _shifted(moved, pivots.offset)
        pivot = replace(origin, evaluate=lambda at: values("Translation", at) + pivots.offset, curves=about)
    return NodeMotion(
        origin,
        _track(
            rotation,
            lambda at: pivots.turned(values("Rotation", at)),
            euler=_euler(plain["Rotation"], pivots.order),
        ),
        _track(scale, lambda at: values("Scaling", at), plain["Scaling"]),
        pivot,
    )


def _components(layers: Sequence[LayerCurves]) -> tuple[Curve, ...] | None:
    """Return the curves of the three components if only one layer has an effect."""
    if layers and layers[-1].layer.replaces:
        return layers[-1].components
    return None


def _held(values: Float64Array, time: float) -> tuple[Curve, ...]:
    return tuple(Curve.hermite(np.array([time]), np.array([value]), CONSTANT) for value in values)


def _shifted(curves: tuple[Curve, ...] | None, shifts: Float64Array) -> tuple[Curve, ...] | None:
    """Return the curves with the pivots' offsets added."""
    if curves is None or not shifts.any():
        return curves
    moved = [combined([1.0], [curve], float(shift)) for curve, shift in zip(curves, shifts, strict=True)]
    return tuple(curve for curve in moved if curve is not None)


def _euler(curves: tuple[Curve, ...] | None, order: str) -> EulerCurves | None:
    if curves is None:
        return None
    radians = [combined([_RADIANS], [curve], 0.0) for curve in curves]
    return EulerCurves(tuple(curve for curve in radians if curve is not None), order)


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
    return Track(times, interpolation_of(curves, times), evaluate, components, euler, _shared(curves, times))


def _shared(curves: Sequence[Curve], times: Float64Array) -> npt.NDArray[np.bool_]:
    """Return the times at which every varying curve has a key, or has no keys before or after that time."""
    shared = np.ones(len(times), dtype=np.bool_)
    for curve in curves:
        if curve.varies:
            shared &= np.isin(times, curve.times) | (times < curve.times[0]) | (times > curve.times[-1])
    return shared


def interpolation_of(curves: Sequence[Curve], times: Float64Array) -> npt.NDArray[np.uint8]:
    """Return the interpolation of each segment between times: CONSTANT or LINEAR if shared by all varying curves."""
    varying = [curve for curve in curves if curve.varies and len(curve) > 1]
    kinds = np.full((max(len(varying), 1), len(times)), CONSTANT if varying else LINEAR, dtype=np.uint8)
    inside = np.zeros(kinds.shape, dtype=np.bool_)
    for row, curve in enumerate(varying):
        at = np.clip(np.searchsorted(curve.times, times, side="right") - 1, 0, len(curve) - 2)
        inside[row] = (times >= curve.times[0]) & (times < curve.times[-1])
        kinds[row] = curve.interpolation[at]
    result = np.full(len(times), CUBIC, dtype=np.uint8)
    for kind in (LINEAR, CONSTANT):
        result[((kinds == kind) | ~inside).all(axis=0)] = kind
    result[~inside.any(axis=0)] = LINEAR
    return result
