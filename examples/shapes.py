# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes and materials of the objects in the example scene."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import bmesh
import bpy
from mathutils import Matrix, Vector

BALL_RADIUS = 0.22
WING_TIPS = (Vector((-0.62, 0.52, 0.05)), Vector((-0.62, -0.52, 0.05)))


def add(name: str, shape: bmesh.types.BMesh, *materials: bpy.types.Material, smooth: bool = False) -> bpy.types.Object:
    """Add a new object with this shape to the scene."""
    mesh = bpy.data.meshes.new(name)
    shape.to_mesh(mesh)
    shape.free()
    for entry in materials:
        mesh.materials.append(entry)
    mesh.polygons.foreach_set("use_smooth", [smooth] * len(mesh.polygons))
    return link(name, mesh)


def link(name: str, data: bpy.types.ID | None) -> bpy.types.Object:
    """Add a new object with this data to the scene."""
    item = bpy.data.objects.new(name, data)
    scene: Any = bpy.context.scene
    scene.collection.objects.link(item)
    return item


def material(name: str, color: Sequence[float], roughness: float, metallic: float = 0.0) -> bpy.types.Material:
    result = bpy.data.materials.new(name)
    use_nodes(result)
    nodes: Any = result.node_tree
    surface = nodes.nodes["Principled BSDF"].inputs
    surface["Base Color"].default_value = (*color, 1.0)
    surface["Roughness"].default_value = roughness
    surface["Metallic"].default_value = metallic
    return result


def use_nodes(owner: Any) -> None:
    """Enable the nodes of a material or world. Since Blender 5.0, they always have nodes."""
    if bpy.app.version < (5, 0, 0):
        owner.use_nodes = True


def paper_plane() -> bmesh.types.BMesh:
    """Make a folded paper dart that points along X, with two wings, and a two-sided keel in the second material."""
    shape = bmesh.new()
    nose, keel = Vector((0.75, 0.0, 0.0)), Vector((-0.62, 0.0, -0.24))
    for side, tip in zip((1, -1), WING_TIPS, strict=True):
        fold = Vector((-0.62, side * 0.05, 0.0))
        wing = [shape.verts.new(corner) for corner in (nose, fold, tip)]
        flank = [shape.verts.new(corner) for corner in (nose, keel, fold)]
        shape.faces.new(wing)
        shape.faces.new(flank).material_index = 1
    return shape


def sphere(center: Vector, radius: float) -> bmesh.types.BMesh:
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=32, v_segments=18, radius=radius, matrix=Matrix.Translation(center))
    return shape


def ball() -> bmesh.types.BMesh:
    """Make a ball above its origin, to be squashed onto the floor, with a stripe in the second material."""
    shape = sphere(Vector((0.0, 0.0, BALL_RADIUS)), BALL_RADIUS)
    for face in shape.faces:
        face.material_index = int(abs(face.calc_center_median().z - BALL_RADIUS) < 0.3 * BALL_RADIUS)
    return shape


def backdrop() -> bmesh.types.BMesh:
    """Make a floor that curves up behind the scene to hide the horizon."""
    radius, back, steps = 9.0, 9.0, 24
    bend = [math.pi / 2 * n / steps for n in range(steps + 1)]
    profile = [(back + radius * math.sin(turn), radius * (1 - math.cos(turn))) for turn in bend]
    profile = [(-30.0, 0.0), *profile, (back + radius, 30.0)]
    shape = bmesh.new()
    rows = [[shape.verts.new((x, y, z)) for x in (-50.0, 50.0)] for y, z in profile]
    for (a, b), (c, d) in pairwise(rows):
        shape.faces.new((a, b, d, c))
    return shape


def box(center: Sequence[float], size: Sequence[float]) -> bmesh.types.BMesh:
    shape = bmesh.new()
    bmesh.ops.create_cube(shape, size=1.0, matrix=Matrix.LocRotScale(Vector(center), None, Vector(size)))
    bmesh.ops.bevel(shape, geom=shape.edges[:], offset=0.04, segments=2, affect="EDGES", profile=0.5)
    return shape


def cone(start: Vector, end: Vector, r1: float, r2: float, capped: bool = True) -> bmesh.types.BMesh:
    shape = bmesh.new()
    along = end - start
    place = Matrix.LocRotScale((start + end) / 2, along.to_track_quat("Z", "Y"), None)
    bmesh.ops.create_cone(shape, cap_ends=capped, segments=32, radius1=r1, radius2=r2, depth=along.length, matrix=place)
    return shape
