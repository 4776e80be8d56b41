# SPDX-License-Identifier: GPL-3.0-or-later
"""The section `bake` of bench.py: an armature in Blender, baked by the add-on and by Blender's own tools."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from tools import tcb as checkout

SKIN = 50_000
"""Vertices of the character: what tools that step through the frames have to deform each time."""
FLOOR = "floor: the bare write of the same keys"


def bench_bake(bones: int, keys: int, frames: int) -> list[tuple[str, float, int, str]]:
    """Return name, seconds, samples and note of each way to bake quaternion tracks, one a bone."""
    package = checkout.load(checkout.PACKAGE, "__init__.py", [str(checkout.ROOT)])
    animation = importlib.import_module(f"{package.__name__}.animation")
    rig = make_rig(bones, keys, frames)
    samples = 4 * bones * frames
    rows = []

    def measure(name: str, run: Callable[[], object], note: str = "") -> None:
        start = time.perf_counter()
        run()
        rows.append((name, time.perf_counter() - start, samples, note))

    measure("bake, samples, first time", lambda: animation.bake(rig))
    measure("bake, samples, again", lambda: animation.bake(rig))
    written = written_keys(animation, rig)
    measure(FLOOR, lambda: write_bare(rig, written), "same attributes")
    rig = make_rig(bones, keys, frames)
    animation.bake(rig)
    measure("restore", lambda: animation.restore(rig))
    measure("bake, samples, new action", lambda: animation.bake(rig, target="NEW_ACTION"))
    rotations: dict[str, Any] = {"channel_types": {"ROTATION"}}
    for name, vertices, settings in (
        ("nla.bake, rotations only", 0, rotations),
        ("nla.bake, rotations only, visual keying", 0, rotations | {"visual_keying": True}),
        ("nla.bake, as it comes", 0, {}),
        ("nla.bake, rotations only, on a character", SKIN, rotations),
    ):
        make_rig(bones, keys, frames, vertices)
        bpy.ops.pose.select_all(action="SELECT")

        def nla_bake(settings: dict[str, Any] = settings) -> None:
            bpy.ops.nla.bake(frame_start=1, frame_end=frames, bake_types={"POSE"}, **settings)

        measure(name, nla_bake, f"skin of {vertices:,} vertices" if vertices else "")
    rig = make_rig(bones, keys, frames, SKIN)
    measure("bake, samples, on a character", lambda: animation.bake(rig), f"skin of {SKIN:,} vertices")
    return rows


def make_rig(bones: int, keys: int, frames: int, vertices: int = 0) -> bpy.types.Object:
    """A new file with an armature in Pose mode; each bone turns every way, with keys about evenly spread.

    `vertices`: of a skin that the bones deform, which Blender computes on every frame that it steps to.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    context: Any = bpy.context
    context.scene.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(bones):
        bone = armature.edit_bones.new(f"bone {number}")
        bone.head, bone.tail = (number, 0.0, 0.0), (number, 1.0, 0.0)
    bpy.ops.object.mode_set(mode="POSE")
    at = np.unique(np.linspace(1, frames, keys).round())
    random = np.random.default_rng(7)
    pose: Any = rig.pose
    for bone in pose.bones:
        bone.rotation_mode = "QUATERNION"
        quaternions = random.normal(loc=(3.0, 0.0, 0.0, 0.0), size=(len(at), 4))
        quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
        bone.rotation_quaternion = quaternions[0]
        bone.keyframe_insert("rotation_quaternion", frame=1)
        rows = {fcurve.array_index: fcurve for fcurve in fcurves(rig)[-4:]}
        for index, fcurve in rows.items():
            points = fcurve.keyframe_points
            points.add(len(at) - 1)
            points.foreach_set("co", np.stack((at, quaternions[:, index]), axis=1).astype(np.float32).reshape(-1))
            fcurve.update()
    if vertices:
        add_skin(rig, bones, vertices)
    return rig


def add_skin(rig: bpy.types.Object, bones: int, vertices: int) -> None:
    """A mesh in rows along the bones; each vertex hangs on one of them."""
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(number % bones, number / vertices, 0.0) for number in range(vertices)], [], [])
    skin = bpy.data.objects.new("Skin", mesh)
    context: Any = bpy.context
    context.scene.collection.objects.link(skin)
    for number in range(bones):
        skin.vertex_groups.new(name=f"bone {number}").add(range(number, vertices, bones), 1.0, "REPLACE")
    modifier: Any = skin.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig


def fcurves(rig: bpy.types.Object) -> list[Any]:
    animation: Any = rig.animation_data
    if bpy.app.version < (4, 4, 0):
        return list(animation.action.fcurves)
    return list(animation.action.layers[0].strips[0].channelbag(animation.action_slot).fcurves)


def written_keys(animation: Any, rig: bpy.types.Object) -> list[tuple[Any, Any]]:
    """The bake's result as arrays: each baked curve's path and index with all that its keys hold."""
    keyframes = importlib.import_module(f"{animation.__name__}.keyframes")
    baked = [curve for curve in fcurves(rig) if "tcb_tracks" not in curve.data_path]
    return [((curve.data_path, curve.array_index), keyframes.read(curve)) for curve in baked]


def write_bare(rig: bpy.types.Object, written: list[tuple[Any, Any]]) -> None:
    """Write the arrays into the same curves: what no bake can do without."""
    curves = {(curve.data_path, curve.array_index): curve for curve in fcurves(rig)}
    for name, keys in written:
        points = curves[name].keyframe_points
        points.clear()
        points.add(len(keys))
        for attribute, values in vars(keys).items():
            points.foreach_set(attribute, values.reshape(-1))
