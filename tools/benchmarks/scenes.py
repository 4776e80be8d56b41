# SPDX-License-Identifier: GPL-3.0-or-later
"""Create files of objects, or of an armature, with keys 15 to 30 frames apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from interp import rotations

PATHS = {"location": 3, "rotation_quaternion": 4, "scale": 3}
"""The properties of an object or bone that get keys, and the number of channels of each."""
RIG = "Rig"


@dataclass(frozen=True)
class Size:
    """The size of one file.

    `kind` is "objects" or "armature". `vertices` is the number of vertices of a skin that the bones deform.
    """

    kind: str
    channels: int
    frames: int
    vertices: int = 0

    @property
    def owners(self) -> int:
        """Return the number of objects or bones."""
        return max(1, self.channels // sum(PATHS.values()))

    @property
    def samples(self) -> int:
        """Return the number of keys if every channel has a key at every frame."""
        return self.channels * self.frames

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.channels}-{self.frames}-{self.vertices}"


def make(size: Size, path: Path) -> None:
    """Save a new file of the given size."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, size.frames
    owners = list(_bones(size) if size.kind == "armature" else _objects(size))
    at, values = _keys(size)
    for number, owner in enumerate(owners):
        owner.rotation_mode = "QUATERNION"
        for name in PATHS:
            setattr(owner, name, values[name][number, 0])
            owner.keyframe_insert(name, frame=1)
    numbers = {owner.path_from_id("location").removesuffix("location"): n for n, owner in enumerate(owners)}
    for item in scene.objects:
        for curve in fcurves(item):
            prefix, _, name = curve.data_path.rpartition(".")
            number = numbers[prefix + "."] if prefix else item["number"]
            co = np.stack((at[number], values[name][number, :, curve.array_index]), axis=1)
            curve.keyframe_points.add(at.shape[1] - 1)
            curve.keyframe_points.foreach_set("co", co.astype(np.float32).ravel())
            select(curve, False)
            curve.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def select(curve: Any, selected: bool) -> None:
    """Select or deselect all keys of the F-curve and their handles."""
    points = curve.keyframe_points
    for flag in ("select_control_point", "select_left_handle", "select_right_handle"):
        points.foreach_set(flag, np.full(len(points), selected))


def _keys(size: Size) -> tuple[npt.NDArray[np.float64], dict[str, npt.NDArray[np.float64]]]:
    """Return frames, shape (owners, n), and values, shape (owners, n, components)."""
    random = np.random.default_rng(7)
    count = max(2, round((size.frames - 1) / 22.5) + 1)
    at = np.tile(np.linspace(1, size.frames, count), (size.owners, 1))
    # The bones of a character are keyed at the same frames.
    rows = 1 if size.kind == "armature" else size.owners
    at[:, 1:-1] += random.uniform(-3.5, 3.5, (rows, count - 2))
    shape = (size.owners, count, 3)
    turns = rotations.from_rotation_vector(random.normal(size=shape) * 0.25)
    for key in range(1, count):
        turns[:, key] = rotations.multiply(turns[:, key], turns[:, key - 1])
    values = {
        "location": np.cumsum(random.normal(size=shape), axis=1),
        "rotation_quaternion": turns,
        "scale": random.uniform(0.8, 1.2, shape),
    }
    return at.round(), values


def _objects(size: Size) -> Iterator[Any]:
    scene: Any = bpy.context.scene
    for number in range(size.owners):
        item = bpy.data.objects.new(f"object {number}", None)
        item["number"] = number
        scene.collection.objects.link(item)
        yield item


def _bones(size: Size) -> Iterator[Any]:
    rig: Any = bpy.data.objects.new(RIG, bpy.data.armatures.new(RIG))
    context: Any = bpy.context
    context.scene.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(size.owners):
        bone = rig.data.edit_bones.new(f"bone {number}")
        bone.head, bone.tail = (number, 0.0, 0.0), (number, 1.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    if size.vertices:
        _add_skin(rig, size)
    yield from rig.pose.bones


def _add_skin(rig: bpy.types.Object, size: Size) -> None:
    """Add a mesh in rows along the bones. Each vertex belongs to one bone."""
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(n % size.owners, n / size.vertices, 0.0) for n in range(size.vertices)], [], [])
    skin = bpy.data.objects.new("Skin", mesh)
    context: Any = bpy.context
    context.scene.collection.objects.link(skin)
    for number in range(size.owners):
        group = skin.vertex_groups.new(name=f"bone {number}")
        group.add(range(number, size.vertices, size.owners), 1.0, "REPLACE")
    modifier: Any = skin.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig


def fcurves(item: Any) -> list[Any]:
    """Return the F-curves that animate the object."""
    animation = item.animation_data
    if animation is None or animation.action is None:
        return []
    if bpy.app.version < (4, 4, 0):
        return list(animation.action.fcurves)
    return list(animation.action.layers[0].strips[0].channelbag(animation.action_slot).fcurves)


def animated() -> list[Any]:
    """Return the objects of the open file that have F-curves."""
    objects: Any = bpy.data.objects
    return [item for item in objects if fcurves(item)]
