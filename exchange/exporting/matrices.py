# SPDX-License-Identifier: GPL-3.0-or-later
"""The world matrices of objects at every frame of the scene, and the parent inverses of children."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...animation.fcurves.keyframes import Float64Array
from ...interp import rotations
from .samples import frames_of

_SHEAR = 1e-4
"""Cosine between axes. Larger cosines count as shear."""
_NO_SHEAR = 1e-5
"""Largest deviation of a parent inverse from a scaled rotation, relative to its squared scale."""


class LocalTransforms(NamedTuple):
    """The transforms of an object at n frames."""

    locations: Float64Array
    """Shape (n, 3)."""
    quaternions: Float64Array
    """Shape (n, 4)."""
    scales: Float64Array
    """Shape (n, 3). The scale along x is negative if the axes are mirrored."""
    has_shear: bool


class Matrices:
    """World matrices of objects at every frame of the scene, each with shape (frames, 4, 4).

    Sample the matrices inside `kept_evaluated` before reading them.
    """

    def __init__(self, items: Iterable[bpy.types.Object], scene: bpy.types.Scene) -> None:
        self.scene = scene
        self.frames = frames_of(scene)
        self._worlds: dict[Any, Float64Array] = {obj: np.empty((len(self.frames), 4, 4)) for obj in items}

    def __len__(self) -> int:
        """Return the number of frames to sample."""
        return len(self.frames) if self._worlds else 0

    def sample(self) -> Iterator[int]:
        """Sample frame by frame, yielding the number of finished frames."""
        for row, frame in enumerate(self.frames[: len(self)]):
            self.scene.frame_set(int(frame))
            depsgraph = bpy.context.evaluated_depsgraph_get()
            for obj, worlds in self._worlds.items():
                worlds[row] = obj.evaluated_get(depsgraph).matrix_world
            yield row + 1

    def world(self, obj: bpy.types.Object) -> Float64Array:
        return self._worlds[obj]

    def local(self, obj: bpy.types.Object, parent: bpy.types.Object | None) -> LocalTransforms:
        """Return the transforms of an object relative to `parent`, or in the world without a parent."""
        matrices = self._worlds[obj]
        if parent is not None:
            matrices = np.linalg.inv(self._worlds[parent]) @ matrices
        axes = matrices[:, :3, :3]
        scales = np.linalg.norm(axes, axis=1)
        # A left-handed matrix is mirrored along x.
        scales[:, 0] *= np.where(np.linalg.det(axes) < 0.0, -1.0, 1.0)
        turns = axes / np.where(scales == 0.0, 1.0, scales)[:, np.newaxis, :]
        cosines = np.einsum("nij,nik->njk", turns, turns) - np.eye(3)
        has_shear = bool(np.abs(cosines).max() > _SHEAR)
        return LocalTransforms(matrices[:, :3, 3], rotations.from_matrix(turns), scales, has_shear)


@contextmanager
def kept_evaluated(items: Iterable[bpy.types.Object], scene: bpy.types.Scene) -> Iterator[None]:
    """Evaluate the objects, including hidden ones, while frames are set, and restore the current frame afterward.

    Blender skips objects that are hidden in the viewport unless something depends on them.
    """
    frame, subframe = scene.frame_current, scene.frame_subframe
    dependent: Any = bpy.data.objects.new("TCB", None)
    try:
        scene.collection.objects.link(dependent)
        for obj in items:
            dependent.constraints.new("COPY_TRANSFORMS").target = obj
        yield
    finally:
        bpy.data.objects.remove(dependent)
        scene.frame_set(frame, subframe=subframe)


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
