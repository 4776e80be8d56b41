# SPDX-License-Identifier: GPL-3.0-or-later
"""Create files of an armature with keys 15 to 30 frames apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from interp import rotations

PATHS = {"location": 3, "rotation_quaternion": 4, "scale": 3}
"""The properties of a bone that get keys, and the number of channels of each."""
RIG = "Rig"


@dataclass(frozen=True)
class Size:
    """The size of one file. `vertices` is the number of vertices of a skin that the bones deform."""

    channels: int
    frames: int
    vertices: int = 0

    @property
    def bones(self) -> int:
        return max(1, self.channels // sum(PATHS.values()))


def make(size: Size, path: Path) -> None:
    """Save a new file of the given size."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, size.frames
    rig = _add_rig(size)
    frames, values = _keys(size)
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = "QUATERNION"
        for name in PATHS:
            setattr(bone, name, values[name][number, 0])
            bone.keyframe_insert(name, frame=1)
    numbers = {bone.path_from_id(): number for number, bone in enumerate(rig.pose.bones)}
    for curve in fcurves(rig):
        prefix, _, name = curve.data_path.rpartition(".")
        co = np.stack((frames, values[name][numbers[prefix], :, curve.array_index]), axis=1)
        points = curve.keyframe_points
        points.add(len(frames) - 1)
        points.foreach_set("co", co.astype(np.float32).ravel())
        for flag in ("select_control_point", "select_left_handle", "select_right_handle"):
            points.foreach_set(flag, np.zeros(len(frames), dtype=np.bool_))
        curve.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def _keys(size: Size) -> tuple[npt.NDArray[np.float64], dict[str, npt.NDArray[np.float64]]]:
    """Return the frames of the keys, shape (n,), and the values, shape (bones, n, components)."""
    random = np.random.default_rng(7)
    count = max(2, round((size.frames - 1) / 22.5) + 1)
    frames = np.linspace(1, size.frames, count)
    frames[1:-1] += random.uniform(-3.5, 3.5, count - 2)
    shape = (size.bones, count, 3)
    turns = rotations.from_rotation_vector(random.normal(size=shape) * 0.25)
    for key in range(1, count):
        turns[:, key] = rotations.multiply(turns[:, key], turns[:, key - 1])
    values = {
        "location": np.cumsum(random.normal(size=shape), axis=1),
        "rotation_quaternion": turns,
        "scale": random.uniform(0.8, 1.2, shape),
    }
    return frames.round(), values


def _add_rig(size: Size) -> Any:
    rig: Any = bpy.data.objects.new(RIG, bpy.data.armatures.new(RIG))
    context: Any = bpy.context
    context.scene.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(size.bones):
        bone = rig.data.edit_bones.new(f"bone {number}")
        bone.head, bone.tail = (number, 0.0, 0.0), (number, 1.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    if size.vertices:
        _add_skin(rig, size)
    return rig


def _add_skin(rig: bpy.types.Object, size: Size) -> None:
    """Add a mesh in rows along the bones. Each vertex belongs to one bone."""
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(n % size.bones, n / size.vertices, 0.0) for n in range(size.vertices)], [], [])
    skin = bpy.data.objects.new("Skin", mesh)
    context: Any = bpy.context
    context.scene.collection.objects.link(skin)
    for number in range(size.bones):
        group = skin.vertex_groups.new(name=f"bone {number}")
        group.add(range(number, size.vertices, size.bones), 1.0, "REPLACE")
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
