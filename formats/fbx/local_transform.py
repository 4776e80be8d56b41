# SPDX-License-Identifier: GPL-3.0-or-later
"""The local transform of a model: translation, offsets, pivots, pre- and post-rotation, and scale.

The transform is this product of matrices, which act on column vectors:

    T Roff Rp Rpre R Rpost^-1 Rp^-1 Soff Sp S Sp^-1

The names are from the SDK documentation of FbxNode. T, R and S are location, rotation and scale as in Blender. With the
rotation Q = Rpre R Rpost^-1, the origin of the model is T + (Roff + Rp) + Q (Soff + Sp - Rp - S Sp).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..interp import Float64Array, rotations
from .binary import Properties, choice, integer, vector

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
