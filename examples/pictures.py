# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the demo's picture, which shows the moving objects at many frames."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
from mathutils import Matrix, Vector

from examples.scene_tracks import BALL, END, PLANE, START
from examples.shapes import WING_TIPS, add, link, material

RIBBON = ((0.02, 0.45, 0.8), (0.55, 0.08, 0.6), (1.0, 0.3, 0.02))
"""The colors at the start, in the middle and at the end of the path."""
_BELOW = Vector((0.0, 0.0, -0.07))
"""An offset that prevents the ribbon from intersecting the wings."""
PLANE_GHOSTS = (4, 11, 18, 25, 31, 36, 41, 46, 52, 58, 63, 68, 73, 78, 83, 88, 93, 98, 103, 108)
# fmt: off
BALL_GHOSTS = (
    1, 4, 7, 9, 11, 13, 16, 20, 24, 27, 29, 31, 33, 36, 40, 44,
    47, 49, 51, 53, 56, 60, 64, 67, 69, 71, 74, 79, 84, 87, 92, 97,
)
# fmt: on
"""Frames whose poses the picture shows, closer together in fast motion and at each bounce."""
STILL_FRAME = 112


def flight(scene: bpy.types.Scene) -> list[Matrix]:
    """Return the plane's matrices at every half frame of the scene."""
    item = bpy.data.objects[PLANE]
    places = []
    for frame in np.arange(START, END + 0.25, 0.5).tolist():
        scene.frame_set(int(frame), subframe=frame % 1)
        places.append(item.matrix_world.copy())
    return places


def render(
    path: Path,
    scene: bpy.types.Scene,
    blender_flight: Sequence[Matrix] = (),
    size: tuple[int, int] = (960, 540),
    samples: int = 8,
) -> Path:
    """Render the scene at one frame with the poses of other frames.

    The ribbon is the surface swept by the wings. The white line is the path of Blender's own interpolation through the
    same keys, if its flight is given.
    """
    places = flight(scene)
    added = [
        _ribbon("Surface swept by the wings", places),
        *_ghosts(scene, PLANE, PLANE_GHOSTS),
        *_ghosts(scene, BALL, BALL_GHOSTS),
    ]
    if blender_flight:
        line = [place.translation for place in blender_flight]
        added.append(_line("Path in Blender", line, 0.02, (0.9, 0.95, 1.0)))
    scene.frame_set(STILL_FRAME)
    _set_up_cycles(scene, path, size, samples)
    bpy.ops.render.render(write_still=True)
    for item in added:
        bpy.data.objects.remove(item)
    return path


def _set_up_cycles(scene: Any, path: Path, size: tuple[int, int], samples: int) -> None:
    """Set up a small, fast render with Cycles on the processor, because other engines need a graphics card."""
    scene.render.engine = "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(path)
    cycles = scene.cycles
    cycles.device, cycles.samples, cycles.max_bounces, cycles.transparent_max_bounces = "CPU", samples, 3, 12
    cycles.use_denoising, cycles.denoising_quality, cycles.denoising_prefilter = True, "FAST", "FAST"


def _ghosts(scene: bpy.types.Scene, name: str, frames: Sequence[int]) -> list[bpy.types.Object]:
    """Return copies of the object in its poses at these frames."""
    item = bpy.data.objects[name]
    ghosts = []
    for frame in frames:
        scene.frame_set(frame)
        ghost = link(f"{name} at {frame}", item.data)
        ghost.matrix_world = item.matrix_world
        ghosts.append(ghost)
    return ghosts


def _ribbon(name: str, places: Sequence[Matrix]) -> bpy.types.Object:
    """Return the surface swept by the wings, colored along the path."""
    shape = bmesh.new()
    rows = [[shape.verts.new(place @ (tip + _BELOW)) for tip in WING_TIPS] for place in places]
    for (a, b), (c, d) in pairwise(rows):
        shape.faces.new((a, b, d, c))
    ribbon = add(name, shape, _film(), smooth=True)
    way = np.linspace(0.0, len(RIBBON) - 1, len(places))
    shades = np.ones((len(places), 4))
    for channel, stops in enumerate(zip(*RIBBON, strict=True)):
        shades[:, channel] = np.interp(way, range(len(RIBBON)), stops)
    mesh: Any = ribbon.data
    colors = mesh.color_attributes.new("Way", "FLOAT_COLOR", "POINT")
    colors.data.foreach_set("color", shades.repeat(2, axis=0).ravel())
    return ribbon


def _film() -> bpy.types.Material:
    """Return a slightly glowing, half-transparent material."""
    film = material("Film", (1.0, 1.0, 1.0), 0.4)
    tree: Any = film.node_tree
    surface, way = tree.nodes["Principled BSDF"].inputs, tree.nodes.new("ShaderNodeVertexColor")
    way.layer_name = "Way"
    for name in ("Base Color", "Emission Color"):
        tree.links.new(way.outputs["Color"], surface[name])
    surface["Alpha"].default_value, surface["Emission Strength"].default_value = 0.5, 0.7
    return film


def _line(name: str, points: Sequence[Vector], radius: float, color: Sequence[float]) -> bpy.types.Object:
    data: Any = bpy.data.curves.new(name, "CURVE")
    data.dimensions, data.bevel_depth = "3D", radius
    spline = data.splines.new("POLY")
    spline.points.add(len(points) - 1)
    spline.points.foreach_set("co", [number for point in points for number in (point.x, point.y, point.z, 1.0)])
    data.materials.append(material(name, color, 0.5))
    return link(name, data)
