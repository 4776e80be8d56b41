# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the example scene: a paper plane, a ball, a desk lamp that watches the plane, a camera; all keyed.

    python examples/make_scene.py SCENE.blend          with the bpy module
    blender --python examples/make_scene.py            in a window

The keys are Blender's own, as an animator would set them. What TCB adds to them stands beside them in TRACKS: demo.py
sets it, and in a window you can set it from the sidebar.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bmesh
import bpy
from mathutils import Euler, Matrix, Vector

START, END = 1, 112

PLANE, PLANE_SIZE = "Paper plane", 1.0
BALL, CARRIER, LAMP, CAMERA, LIGHT = "Ball", "Ball carrier", "Desk lamp", "Camera", "Lamp light"
BALL_RADIUS = 0.22


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
        """Those that differ from their default."""
        names = ("tension", "continuity", "bias", "ease_to", "ease_from")
        return {name: getattr(self, name) for name in names if getattr(self, name)}


@dataclass(frozen=True)
class Track:
    """The keys of one property of one datablock; `label` is what a person calls it."""

    owner: str
    path: str
    label: str
    keys: tuple[Key, ...]

    @property
    def datablock(self) -> bpy.types.ID:
        return bpy.data.objects[self.owner].data if self.path in _OF_DATA else bpy.data.objects[self.owner]

    def value(self) -> tuple[float, ...]:
        """What the property is now."""
        value: Any = self.datablock.path_resolve(self.path)
        return tuple(value) if hasattr(value, "__len__") else (value,)


_OF_DATA = ("lens", "energy")


def _turned(heading: float, pitch: float, bank: float) -> tuple[float, ...]:
    """The quaternion of a plane that flies along its X: degrees, nose up and right wing down are positive."""
    return tuple(Euler((math.radians(bank), math.radians(-pitch), math.radians(heading)), "XYZ").to_quaternion())


def _bent(bend: float, twist: float = 0.0) -> tuple[float, ...]:
    """The quaternion of a bone: degrees about its X and along it."""
    return tuple(Euler((math.radians(bend), math.radians(twist), 0.0), "XYZ").to_quaternion())


def _euler(x: float, y: float, z: float) -> tuple[float, ...]:
    return math.radians(x), math.radians(y), math.radians(z)


def _bone(name: str, mode: str = "quaternion") -> str:
    return f'pose.bones["{name}"].rotation_{mode}'


_BOUNCE = {"tension": -1.0, "continuity": -1.0}
"""On the floor the ball leaves as fast as it comes, twice the chord: with a still apex that makes parabolas."""
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
            Key(86, (3.5, 0.9, 2.5), bias=0.2),
            Key(112, (7.0, -1.6, 3.9)),
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
            Key(60, _euler(0, -4, 0)),
            Key(84, _euler(0, 30, 0), tension=-0.3),
            Key(112, _euler(0, 100, 0), tension=0.5),
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
    """Put the scene into a new, empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    assert scene is not None
    scene.frame_start, scene.frame_end = START, END
    _make_room(scene)
    add(PLANE, paper_plane(), material("Paper", (0.93, 0.92, 0.88), 0.7), material("Fold", (0.95, 0.3, 0.08), 0.6))
    _make_ball()
    _make_lamp()
    camera = bpy.data.objects.new(CAMERA, bpy.data.cameras.new(CAMERA))
    scene.collection.objects.link(camera)
    scene.camera = camera
    for track in TRACKS:
        _set_keys(track)
    scene.frame_set(START)
    return scene


def add(name: str, mesh: bmesh.types.BMesh, *materials: bpy.types.Material, smooth: bool = False) -> bpy.types.Object:
    """A new object of that shape in the scene."""
    data = bpy.data.meshes.new(name)
    mesh.to_mesh(data)
    mesh.free()
    for entry in materials:
        data.materials.append(entry)
    if smooth:
        data.polygons.foreach_set("use_smooth", [True] * len(data.polygons))
    item = bpy.data.objects.new(name, data)
    item.rotation_mode = "QUATERNION"
    bpy.context.scene.collection.objects.link(item)
    return item


def material(name: str, colour: Sequence[float], roughness: float, metallic: float = 0.0) -> bpy.types.Material:
    result = bpy.data.materials.new(name)
    result.use_nodes = True
    surface = result.node_tree.nodes["Principled BSDF"]
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    surface.inputs["Roughness"].default_value = roughness
    surface.inputs["Metallic"].default_value = metallic
    return result


WING_TIPS = (Vector((-0.62, 0.52, 0.05)) * PLANE_SIZE, Vector((-0.62, -0.52, 0.05)) * PLANE_SIZE)


def paper_plane() -> bmesh.types.BMesh:
    """A folded dart that points along X: two wings, and the two sides of its keel, which get the second material."""
    mesh = bmesh.new()
    nose, keel = Vector((0.75, 0.0, 0.0)) * PLANE_SIZE, Vector((-0.62, 0.0, -0.24)) * PLANE_SIZE
    for side, tip in zip((1, -1), WING_TIPS, strict=True):
        fold = Vector((-0.62, side * 0.05, 0.0)) * PLANE_SIZE
        wing = [mesh.verts.new(corner) for corner in (nose, fold, tip)]
        flank = [mesh.verts.new(corner) for corner in (nose, keel, fold)]
        mesh.faces.new(wing)
        mesh.faces.new(flank).material_index = 1
    return mesh


def _make_room(scene: bpy.types.Scene) -> None:
    add("Backdrop", _backdrop(), material("Backdrop", (0.035, 0.085, 0.17), 0.6), smooth=True)
    wood = material("Steps", (0.55, 0.27, 0.1), 0.45)
    for n, (x, height) in enumerate(((-5.15, 1.2), (-3.2, 0.8), (-1.2, 0.4))):
        add(f"Step {n + 1}", _box((x, -2.4, height / 2), (1.5, 1.6, height)), wood)
    world = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.4, 0.56, 0.85, 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.35
    scene.world = world
    scene.view_settings.view_transform = "Khronos PBR Neutral"
    sun = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle, sun.color = 3.6, math.radians(5), (1.0, 0.91, 0.78)
    item = bpy.data.objects.new("Sun", sun)
    item.rotation_euler = _euler(40, 10, -38)
    scene.collection.objects.link(item)


def _backdrop() -> bmesh.types.BMesh:
    """A floor that bends up behind everything, so that no horizon cuts through the picture."""
    radius, back, steps = 9.0, 9.0, 24
    bend = [math.pi / 2 * n / steps for n in range(steps + 1)]
    profile = [(back + radius * math.sin(turn), radius * (1 - math.cos(turn))) for turn in bend]
    profile = [(-30.0, 0.0), *profile, (back + radius, 30.0)]
    mesh = bmesh.new()
    rows = [[mesh.verts.new((x, y, z)) for x in (-50.0, 50.0)] for y, z in profile]
    for (a, b), (c, d) in zip(rows[:-1], rows[1:], strict=True):
        mesh.faces.new((a, b, d, c))
    return mesh


def _box(centre: Sequence[float], size: Sequence[float]) -> bmesh.types.BMesh:
    mesh = bmesh.new()
    bmesh.ops.create_cube(mesh, size=1.0, matrix=Matrix.LocRotScale(Vector(centre), None, Vector(size)))
    bmesh.ops.bevel(mesh, geom=mesh.edges[:], offset=0.04, segments=2, affect="EDGES", profile=0.5)
    return mesh


def ball() -> bmesh.types.BMesh:
    """It stands on its origin, so that it is squashed onto the floor; the stripe is of the second material."""
    mesh = bmesh.new()
    centre = Matrix.Translation((0, 0, BALL_RADIUS))
    bmesh.ops.create_uvsphere(mesh, u_segments=32, v_segments=18, radius=BALL_RADIUS, matrix=centre)
    for face in mesh.faces:
        face.material_index = int(abs(face.calc_center_median().z - BALL_RADIUS) < 0.3 * BALL_RADIUS)
    return mesh


def _make_ball() -> None:
    item = add(BALL, ball(), material("Rubber", (0.75, 0.05, 0.09), 0.3), material("Stripe", (0.9, 0.8, 0.5), 0.3))
    item.data.polygons.foreach_set("use_smooth", [True] * len(item.data.polygons))
    carrier = bpy.data.objects.new(CARRIER, None)
    carrier.empty_display_size = 0.4
    bpy.context.scene.collection.objects.link(carrier)
    item.parent = carrier


_LAMP_AT = Vector((4.1, 1.6, 0.0))
_JOINTS = {
    "base": (Vector((0, 0, 0)), Vector((0, 0, 0.35))),
    "lower": (Vector((0, 0, 0.35)), Vector((0.75, 0, 1.65))),
    "upper": (Vector((0.75, 0, 1.65)), Vector((-0.25, 0, 2.75))),
    "head": (Vector((-0.25, 0, 2.75)), Vector((-0.95, 0, 2.5))),
}
"""Where each bone starts and ends while the lamp is at rest."""


def _make_lamp() -> None:
    rig = bpy.data.objects.new(LAMP, bpy.data.armatures.new(LAMP))
    rig.location = _LAMP_AT
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for name, (start, end) in _JOINTS.items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = start, end, parent
        bone.align_roll((0, -1, 0))
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["base"].rotation_mode = "XYZ"
    rig.hide_render = True
    metal = material("Enamel", (0.03, 0.26, 0.27), 0.3, 0.2)
    brass = material("Brass", (0.8, 0.55, 0.22), 0.28, 0.9)
    for name, part, finish in _lamp_parts(metal, brass):
        item = add(f"Lamp {name}", part, finish, smooth=name != "base")
        item.parent = rig
        item.vertex_groups.new(name=name).add(range(len(item.data.vertices)), 1.0, "REPLACE")
        item.modifiers.new("Bones", "ARMATURE").object = rig
    _make_light(rig)


def _lamp_parts(
    metal: bpy.types.Material, brass: bpy.types.Material
) -> Iterator[tuple[str, bmesh.types.BMesh, bpy.types.Material]]:
    yield "base", _cone(Vector((0, 0, 0)), Vector((0, 0, 0.14)), 0.62, 0.55), metal
    yield "base", _cone(Vector((0, 0, 0.14)), Vector((0, 0, 0.35)), 0.12, 0.1), brass
    for name in ("lower", "upper"):
        start, end = _JOINTS[name]
        yield name, _cone(start, end, 0.06, 0.06), metal
        joint = bmesh.new()
        bmesh.ops.create_uvsphere(joint, u_segments=24, v_segments=12, radius=0.13, matrix=Matrix.Translation(end))
        yield name, joint, brass
    start, end = _JOINTS["head"]
    yield "head", _cone(start, end, 0.16, 0.5, capped=False), metal


def _cone(start: Vector, end: Vector, r1: float, r2: float, capped: bool = True) -> bmesh.types.BMesh:
    mesh = bmesh.new()
    along = end - start
    place = Matrix.LocRotScale((start + end) / 2, along.to_track_quat("Z", "Y"), None)
    bmesh.ops.create_cone(
        mesh, cap_ends=capped, segments=32, radius1=r1, radius2=r2, depth=along.length, matrix=place
    )
    return mesh


def _make_light(rig: bpy.types.Object) -> None:
    """A spot that hangs on the head's bone, and shines along it."""
    spot = bpy.data.lights.new(LIGHT, "SPOT")
    spot.spot_size, spot.spot_blend, spot.shadow_soft_size = math.radians(75), 0.6, 0.1
    spot.color = (1.0, 0.78, 0.45)
    item = bpy.data.objects.new(LIGHT, spot)
    bpy.context.scene.collection.objects.link(item)
    item.parent, item.parent_type, item.parent_bone = rig, "BONE", "head"
    item.location = (0.0, -0.35, 0.0)
    item.rotation_euler = _euler(-90, 0, 0)


def _set_keys(track: Track) -> None:
    owner_path, _, name = track.path.rpartition(".")
    owner = track.datablock.path_resolve(owner_path) if owner_path else track.datablock
    for key in track.keys:
        setattr(owner, name, key.value if len(key.value) > 1 else key.value[0])
        owner.keyframe_insert(name, frame=key.frame)


if __name__ == "__main__":
    make_scene()
    if sys.argv[1:] and not bpy.app.binary_path:
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(sys.argv[1]).resolve()), compress=True)
