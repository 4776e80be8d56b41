# SPDX-License-Identifier: GPL-3.0-or-later
"""Create the example scene: a paper plane, a ball and a camera with keys, and a desk lamp that follows the plane.

    python examples/make_scene.py SCENE.blend          with the bpy module
    blender --python examples/make_scene.py            in a window

The keys are ordinary Blender keys. TRACKS also contains their TCB parameters, which `set_parameters` sets. In a window
you can set them in the sidebar.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Euler, Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples import shapes
from examples.shapes import material

if TYPE_CHECKING:
    import bmesh

START, END = 1, 112

PLANE, BALL, CARRIER = "Paper plane", "Ball", "Ball carrier"
LAMP, LIGHT, CAMERA = "Desk lamp", "Lamp light", "Camera"


@dataclass(frozen=True)
class Key:
    """A key of a track, and its five parameters."""

    frame: int
    value: tuple[float, ...]
    tension: float = 0.0
    continuity: float = 0.0
    bias: float = 0.0
    ease_to: float = 0.0
    ease_from: float = 0.0

    @property
    def parameters(self) -> dict[str, float]:
        """Return the parameters that differ from their default."""
        names = ("tension", "continuity", "bias", "ease_to", "ease_from")
        return {name: getattr(self, name) for name in names if getattr(self, name)}


@dataclass(frozen=True)
class Track:
    """The keys of a property of a datablock. `label` is the name that users see."""

    owner: str
    path: str
    label: str
    keys: tuple[Key, ...]

    @property
    def datablock(self) -> bpy.types.ID:
        item = bpy.data.objects[self.owner]
        return item.data if item.data is not None and self.path in _OF_DATA else item

    def value(self) -> tuple[float, ...]:
        """Return the current value of the property."""
        value: Any = self.datablock.path_resolve(self.path)
        return tuple(value) if hasattr(value, "__len__") else (value,)


_OF_DATA = ("lens", "energy")


def _turned(heading: float, pitch: float, bank: float) -> tuple[float, ...]:
    """Return the quaternion of a plane that flies along its X axis, from angles in degrees.

    Nose up and right wing down are positive.
    """
    return _quaternion(bank, -pitch, heading)


def _bent(bend: float, twist: float = 0.0) -> tuple[float, ...]:
    """Return the quaternion of a bone, from angles in degrees about its X axis and along the bone."""
    return _quaternion(bend, twist, 0.0)


def _quaternion(x: float, y: float, z: float) -> tuple[float, ...]:
    q = Euler(_euler(x, y, z), "XYZ").to_quaternion()
    return q.w, q.x, q.y, q.z


def _euler(x: float, y: float, z: float) -> tuple[float, float, float]:
    return math.radians(x), math.radians(y), math.radians(z)


def _bone(name: str, mode: str = "quaternion") -> str:
    return f'pose.bones["{name}"].rotation_{mode}'


_BOUNCE = {"tension": -1.0, "continuity": -1.0}
"""The ball leaves the floor at its arrival speed, twice the chord. This gives parabolas with zero speed at the apex."""
_APEX = {"tension": 1.0}

TRACKS = (
    Track(
        PLANE,
        "location",
        "location",
        (
            Key(1, (-6.6, 2.4, 4.6)),
            Key(22, (-3.6, -0.3, 1.75)),
            Key(40, (1.1, 0.45, 2.2), tension=-0.5),
            Key(48, (1.0, 0.6, 4.1), tension=-0.6),
            Key(57, (-0.75, -0.3, 4.1), tension=-0.6),
            Key(65, (-0.85, -0.1, 2.2), tension=-0.5),
            Key(86, (3.3, 0.7, 2.9), bias=0.2),
            Key(112, (6.5, -1.2, 4.7)),
        ),
    ),
    Track(
        PLANE,
        "rotation_quaternion",
        "rotation (quaternion)",
        (
            Key(1, _turned(-52, -40, -15)),
            Key(22, _turned(-15, -16, 40), bias=-0.2),
            Key(38, _turned(16, 22, -10)),
            Key(48, _turned(20, 136, 0)),
            Key(57, _turned(20, 224, 0)),
            Key(66, _turned(20, 338, -5)),
            Key(80, _turned(8, 376, 140), continuity=-0.2),
            Key(96, _turned(-28, 376, 300)),
            Key(112, _turned(-50, 378, 385), tension=0.3),
        ),
    ),
    Track(
        CARRIER,
        "location",
        "location",
        (
            Key(1, (-6.0, -2.3, 0.0)),
            Key(31, (-3.2, -2.5, 0.0)),
            Key(71, (0.8, -2.3, 0.0), bias=0.4),
            Key(97, (3.2, -3.0, 0.0), tension=-0.3, bias=0.3),
            Key(112, (3.9, -2.0, 0.0), tension=0.6),
        ),
    ),
    Track(
        BALL,
        "location",
        "location",
        (
            Key(1, (0.0, 0.0, 2.2), **_APEX),
            Key(11, (0.0, 0.0, 1.2), **_BOUNCE),
            Key(20, (0.0, 0.0, 2.01), **_APEX),
            Key(31, (0.0, 0.0, 0.8), **_BOUNCE),
            Key(40, (0.0, 0.0, 1.61), **_APEX),
            Key(51, (0.0, 0.0, 0.4), **_BOUNCE),
            Key(60, (0.0, 0.0, 1.21), **_APEX),
            Key(71, (0.0, 0.0, 0.0), **_BOUNCE),
            Key(79, (0.0, 0.0, 0.64), **_APEX),
            Key(87, (0.0, 0.0, 0.0), **_BOUNCE),
            Key(92, (0.0, 0.0, 0.25), **_APEX),
            Key(97, (0.0, 0.0, 0.0), **_BOUNCE),
            Key(100, (0.0, 0.0, 0.09), **_APEX),
            Key(103, (0.0, 0.0, 0.0), **_BOUNCE),
            Key(112, (0.0, 0.0, 0.0)),
        ),
    ),
    Track(
        BALL,
        "scale",
        "scale",
        (
            Key(1, (1.0, 1.0, 1.0)),
            Key(8, (0.93, 0.93, 1.15), tension=0.5),
            Key(11, (1.2, 1.2, 0.7), continuity=-0.5),
            Key(14, (0.94, 0.94, 1.12)),
            Key(20, (1.0, 1.0, 1.0)),
            Key(28, (0.93, 0.93, 1.15), tension=0.5),
            Key(31, (1.2, 1.2, 0.7), continuity=-0.5),
            Key(34, (0.94, 0.94, 1.12)),
            Key(40, (1.0, 1.0, 1.0)),
            Key(48, (0.93, 0.93, 1.15), tension=0.5),
            Key(51, (1.2, 1.2, 0.7), continuity=-0.5),
            Key(54, (0.94, 0.94, 1.12)),
            Key(60, (1.0, 1.0, 1.0)),
            Key(68, (0.93, 0.93, 1.15), tension=0.5),
            Key(71, (1.2, 1.2, 0.7), continuity=-0.5),
            Key(74, (0.95, 0.95, 1.1)),
            Key(79, (1.0, 1.0, 1.0)),
            Key(87, (1.1, 1.1, 0.85), continuity=-0.5),
            Key(92, (1.0, 1.0, 1.0)),
        ),
    ),
    Track(
        LAMP,
        _bone("base", "euler"),
        "base, rotation (Euler)",
        (
            Key(1, _euler(0, -25, 0)),
            Key(34, _euler(0, 12, 0), bias=-0.4),
            Key(60, _euler(0, -8, 0)),
            Key(84, _euler(0, -32, 0), tension=-0.3),
            Key(112, _euler(0, 34, 0), tension=0.5),
        ),
    ),
    Track(
        LAMP,
        _bone("lower"),
        "lower arm, rotation (quaternion)",
        (
            Key(1, _bent(-12)),
            Key(34, _bent(8, 6)),
            Key(52, _bent(-22, -4), tension=0.4),
            Key(76, _bent(10, 5)),
            Key(112, _bent(-8)),
        ),
    ),
    Track(
        LAMP,
        _bone("head"),
        "head, rotation (quaternion)",
        (
            Key(1, _bent(-14, 8)),
            Key(30, _bent(16, -12)),
            Key(52, _bent(-30, 6), tension=0.3, bias=0.3),
            Key(72, _bent(18, 14), continuity=0.3),
            Key(112, _bent(-18, -10)),
        ),
    ),
    Track(
        CAMERA,
        "location",
        "location",
        (
            Key(1, (-4.2, -11.0, 2.4), ease_from=0.5),
            Key(54, (-1.6, -12.8, 4.2)),
            Key(104, (0.2, -14.4, 5.4), ease_to=0.5),
        ),
    ),
    Track(
        CAMERA,
        "rotation_euler",
        "rotation (Euler)",
        (
            Key(1, _euler(89, 0, 8), ease_from=0.5),
            Key(54, _euler(82, 1.5, -6.5)),
            Key(104, _euler(77.5, 0, 0.3), ease_to=0.5),
        ),
    ),
    Track(
        CAMERA,
        "lens",
        "lens",
        (Key(1, (46.0,), ease_from=0.5), Key(104, (34.0,), ease_to=0.5)),
    ),
    Track(
        LIGHT,
        "energy",
        "energy",
        (Key(1, (0.0,)), Key(14, (0.0,), tension=1.0), Key(22, (420.0,), bias=0.6), Key(34, (300.0,), tension=0.8)),
    ),
)


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
    shapes.link("Sun", sun).rotation_euler = _euler(40, 10, -38)


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
    item.rotation_euler = _euler(-90, 0, 0)


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
