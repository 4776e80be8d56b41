# SPDX-License-Identifier: GPL-3.0-or-later
"""Create the example scene: a paper plane, a ball and a camera with keys, and a desk lamp that follows the plane.

    python examples/make_scene.py SCENE.blend          with the bpy module
    blender --python examples/make_scene.py            in a window

The keys are ordinary Blender keys. examples/scene_tracks.py also contains their TCB parameters, which `set_parameters`
sets. In a window you can set them in the sidebar.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples import shapes
from examples.scene_tracks import BALL, CAMERA, CARRIER, END, LAMP, LIGHT, PLANE, START, TRACKS, Track, radians_of
from examples.shapes import material

if TYPE_CHECKING:
    import bmesh


def make_scene() -> bpy.types.Scene:
    """Make the scene in a new, empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = START, END
    _make_room(scene)
    paper, fold = material("Paper", (0.93, 0.92, 0.88), 0.7), material("Fold", (0.95, 0.3, 0.08), 0.6)
    shapes.add(PLANE, shapes.paper_plane(), paper, fold).rotation_mode = "QUATERNION"
    _make_ball()
    _make_lamp()
    scene.camera = shapes.link(CAMERA, bpy.data.cameras.new(CAMERA))
    for track in TRACKS:
        _set_keys(track)
    scene.frame_set(START)
    result: bpy.types.Scene = scene
    return result


def set_parameters(animation: Any) -> None:
    """Enable TCB for the tracks, and set the parameters of their keys. `animation` is the module of the extension."""
    for track in TRACKS:
        animation.enable(track.datablock, prefixes=[track.path], keep_look=False)
        for key in track.keys:
            if key.parameters:
                animation.key_set(track.datablock, track.path, key.frame, **key.parameters)


def _make_room(scene: Any) -> None:
    shapes.add("Backdrop", shapes.backdrop(), material("Backdrop", (0.035, 0.085, 0.17), 0.6), smooth=True)
    wood = material("Steps", (0.55, 0.27, 0.1), 0.45)
    for n, (x, height) in enumerate(((-5.15, 1.2), (-3.2, 0.8), (-1.2, 0.4))):
        shapes.add(f"Step {n + 1}", shapes.box((x, -2.4, height / 2), (1.5, 1.6, height)), wood)
    world: Any = bpy.data.worlds.new("Sky")
    shapes.use_nodes(world)
    sky = world.node_tree.nodes["Background"].inputs
    sky["Color"].default_value, sky["Strength"].default_value = (0.4, 0.56, 0.85, 1.0), 0.35
    scene.world = world
    scene.view_settings.view_transform = "Khronos PBR Neutral"
    sun: Any = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle, sun.color = 3.6, math.radians(5), (1.0, 0.91, 0.78)
    shapes.link("Sun", sun).rotation_euler = radians_of(40, 10, -38)


def _make_ball() -> None:
    """Make the ball, which moves up and down, and its parent, which moves forward."""
    carrier = shapes.link(CARRIER, None)
    carrier.empty_display_size = 0.4
    rubber, stripe = material("Rubber", (0.75, 0.05, 0.09), 0.3), material("Stripe", (0.9, 0.8, 0.5), 0.3)
    shapes.add(BALL, shapes.ball(), rubber, stripe, smooth=True).parent = carrier


_LAMP_AT = Vector((5.5, -0.9, 0.0))
_JOINTS = {
    "base": (Vector((0, 0, 0)), Vector((0, 0, 0.35))),
    "lower": (Vector((0, 0, 0.35)), Vector((0.75, 0, 1.65))),
    "upper": (Vector((0.75, 0, 1.65)), Vector((-0.25, 0, 2.75))),
    "head": (Vector((-0.25, 0, 2.75)), Vector((-0.95, 0, 2.5))),
}
"""The head and tail of each bone of the lamp, at rest."""


def _make_lamp() -> None:
    rig: Any = shapes.link(LAMP, bpy.data.armatures.new(LAMP))
    rig.location = _LAMP_AT
    _make_bones(rig)
    rig.pose.bones["base"].rotation_mode = "XYZ"
    enamel, brass = material("Enamel", (0.03, 0.26, 0.27), 0.3, 0.2), material("Brass", (0.8, 0.55, 0.22), 0.28, 0.9)
    for bone, part, finish in _lamp_parts(enamel, brass):
        item: Any = shapes.add(f"Lamp {bone}", part, finish, smooth=bone != "base")
        item.parent = rig
        item.vertex_groups.new(name=bone).add(range(len(item.data.vertices)), 1.0, "REPLACE")
        item.modifiers.new("Bones", "ARMATURE").object = rig
    _make_light(rig)


def _make_bones(rig: Any) -> None:
    view_layer: Any = bpy.context.view_layer
    view_layer.objects.active = rig
    with _window():
        bpy.ops.object.mode_set(mode="EDIT")
        parent = None
        for name, (start, end) in _JOINTS.items():
            bone = rig.data.edit_bones.new(name)
            bone.head, bone.tail, bone.parent = start, end, parent
            bone.align_roll((0, -1, 0))
            parent = bone
        bpy.ops.object.mode_set(mode="OBJECT")


def _window() -> AbstractContextManager[Any]:
    """Override the context with a window for operators that need one, because opening a file in a script loses it."""
    windows: Any = bpy.context.window_manager.windows
    return bpy.context.temp_override(window=windows[0]) if windows else nullcontext()


def _lamp_parts(
    enamel: bpy.types.Material, brass: bpy.types.Material
) -> Iterator[tuple[str, bmesh.types.BMesh, bpy.types.Material]]:
    yield "base", shapes.cone(Vector((0, 0, 0)), Vector((0, 0, 0.14)), 0.62, 0.55), enamel
    yield "base", shapes.cone(Vector((0, 0, 0.14)), Vector((0, 0, 0.35)), 0.12, 0.1), brass
    for name in ("lower", "upper"):
        start, end = _JOINTS[name]
        yield name, shapes.cone(start, end, 0.06, 0.06), enamel
        yield name, shapes.sphere(end, 0.13), brass
    start, end = _JOINTS["head"]
    yield "head", shapes.cone(start, end, 0.16, 0.5, capped=False), enamel


def _make_light(rig: bpy.types.Object) -> None:
    """Make a spotlight, parented to the head's bone, that shines along it."""
    spot: Any = bpy.data.lights.new(LIGHT, "SPOT")
    spot.spot_size, spot.spot_blend, spot.shadow_soft_size = math.radians(75), 0.6, 0.1
    spot.color = (1.0, 0.78, 0.45)
    item = shapes.link(LIGHT, spot)
    item.parent, item.parent_type, item.parent_bone = rig, "BONE", "head"
    item.location = (0.0, -0.35, 0.0)
    item.rotation_euler = radians_of(-90, 0, 0)


def _set_keys(track: Track) -> None:
    owner_path, _, name = track.path.rpartition(".")
    owner: Any = track.datablock.path_resolve(owner_path) if owner_path else track.datablock
    for key in track.keys:
        setattr(owner, name, key.value if len(key.value) > 1 else key.value[0])
        owner.keyframe_insert(name, frame=key.frame)


if __name__ == "__main__":
    make_scene()
    if sys.argv[1:] and not bpy.app.binary_path:
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(sys.argv[1]).resolve()), compress=True)
