# SPDX-License-Identifier: GPL-3.0-or-later
"""The inverse of a parent's transform, which Blender applies to a child."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ...animation.fcurves.keyframes import Float64Array
from ...interp import rotations

_NO_SHEAR = 1e-5
"""Largest deviation of a parent inverse from a scaled rotation, relative to its squared scale."""


class ParentInverse(NamedTuple):
    """A transform that is applied after a child's own transform."""

    location: Float64Array
    rotation: Float64Array
    """The quaternion."""
    factor: float
    """The uniform scale."""


def parent_inverse_of(obj: bpy.types.Object) -> ParentInverse | None:
    """Return the parent inverse of an object, or None if it mirrors, shears or scales the axes differently."""
    matrix = np.array(obj.matrix_parent_inverse, dtype=np.float64)
    factor = float(np.cbrt(np.linalg.det(matrix[:3, :3])))
    if factor <= 0.0 or np.abs(matrix[:3, :3] @ matrix[:3, :3].T - factor**2 * np.eye(3)).max() > _NO_SHEAR * factor**2:
        return None
    return ParentInverse(matrix[:3, 3], rotations.from_matrix(matrix[:3, :3] / factor), factor)
