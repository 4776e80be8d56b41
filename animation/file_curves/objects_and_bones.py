# SPDX-License-Identifier: GPL-3.0-or-later
"""Imported objects and bones: their places in the hierarchy, and their poses at many frames."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...interp.keys import Float64Array
from ..sampling.transforms import FCurves, orientations, played_values
from ..store.paths import bone_path
from ..store.tracks import rotation_property


@dataclass(frozen=True, eq=False)
class Item:
    """An object or a bone."""

    owner: bpy.types.Object
    """The object with the animation."""
    posed: Any
    """The object or pose bone itself."""
    prefix: str
    """The prefix of the item's property paths."""
    parent: Item | None
    space: Float64Array
    """The rotation from the parent to the space of the item's own location and rotation, shape (4,)."""

    @property
    def name(self) -> str:
        return str(self.posed.name)

    @property
    def mode(self) -> str:
        return str(self.posed.rotation_mode)

    def path(self, name: str) -> str:
        """Return the path of the property that corresponds to a file's "translation", "rotation" or "scale"."""
        properties = {"translation": "location", "rotation": rotation_property(self.mode)}
        return self.prefix + properties.get(name, name)

    def rest(self, name: str) -> Float64Array:
        """Return the property's current value."""
        return np.array(getattr(self.posed, self.path(name).removeprefix(self.prefix)), dtype=np.float64)

    @property
    def rotation(self) -> Float64Array:
        """Return the current rotation as a unit quaternion."""
        (q,) = orientations(self.mode, self.rest("rotation")[np.newaxis])
        return np.asarray(q)

    def played(self, name: str, fcurves: FCurves, frames: Float64Array) -> Float64Array:
        """Return the values at the frames of "translation", "rotation" (quaternions) or "scale".

        Properties without F-curves keep their current values.
        """
        values = played_values(self.rest(name).tolist(), fcurves.get(self.path(name), {}), frames)
        return orientations(self.mode, values) if name == "rotation" else values


def items_of(objects: Iterable[bpy.types.Object]) -> Iterator[Item]:
    """Yield the objects and their bones, each after its parent. Parents that are not in `objects` are included."""
    known: dict[object, Item] = {}
    for owner in _parents_first(objects):
        parent = None if owner.parent is None else known[owner.parent]
        if owner.parent_type == "BONE":
            parent = known.get((owner.parent, owner.parent_bone), parent)
        known[owner] = Item(owner, owner, "", parent, _rotation_of(owner.matrix_parent_inverse))
        yield known[owner]
        bones = () if owner.pose is None else owner.pose.bones
        for bone in sorted(bones, key=lambda bone: len(bone.parent_recursive)):
            rest, parent = bone.bone.matrix_local, known[owner]
            if bone.parent is not None:
                rest = bone.parent.bone.matrix_local.inverted_safe() @ rest
                parent = known[owner, bone.parent.name]
            known[owner, bone.name] = Item(owner, bone, f"{bone_path(bone)}.", parent, _rotation_of(rest))
            yield known[owner, bone.name]


def _parents_first(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the objects and their ancestors, each after its parent."""
    chains = []
    for owner in objects:
        chain = [owner]
        while (parent := chain[-1].parent) is not None:
            chain.append(parent)
        chains.append(chain[::-1])
    return list(dict.fromkeys(itertools.chain.from_iterable(chains)))


def _rotation_of(matrix: Any) -> Float64Array:
    """Return the rotation of a Blender matrix as a unit quaternion."""
    q: Float64Array = np.array(matrix.to_quaternion(), dtype=np.float64)
    return q / np.linalg.norm(q)
