# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo's pictures: a plot of chosen channels, and a render with the moving things at many frames at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import bmesh
import bpy
import matplotlib as mpl
import numpy as np
from mathutils import Matrix, Vector

from examples import exact
from examples.make_scene import BALL, CAMERA, END, PLANE, START, TRACKS, WING_TIPS, Track, material

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

Played = Mapping[float, tuple[float, ...]]

RIBBON_START, RIBBON_END = (0.02, 0.45, 0.75, 1.0), (1.0, 0.28, 0.03, 1.0)
OURS, BLENDERS, KEYS = "#e0592a", "#7d8fa3", "#1d2733"
PLANE_GHOSTS = (4, 11, 18, 25, 31, 36, 41, 46, 52, 58, 63, 68, 73, 78, 83, 88, 93, 98, 103, 108)
BALL_GHOSTS = (1, 4, 7, 9, 11, 13, 16, 20, 24, 27, 29, 31, 33, 36, 40, 44, 47, 49, 51, 53, 56, 60, 64, 67, 69, 71, 74, 79, 84, 87, 92, 97)
"""Frames at which the pictures shows a pose: closer together where the motion is faster, and at each bounce."""
STILL_FRAME = 112


def plot(path: Path, blender: Mapping[Track, Played], ours: Mapping[Track, Played]) -> Path:
    """Four views: the plane's path and its turning, the ball's height, the camera's way."""
    plane, turning = _tracks(PLANE)
    height = _tracks(BALL)[0]
    camera = _tracks(CAMERA)[0]
    figure, ((a, b), (c, d)) = plt.subplots(2, 2, figsize=(12, 7.4), constrained_layout=True)

    a.set(title="Paper plane: its path, from the front", xlabel="x", ylabel="z", aspect="equal")
    _draw(a, [(v[0], v[2]) for v in blender[plane].values()], [(v[0], v[2]) for v in ours[plane].values()])
    a.plot([key.value[0] for key in plane.keys], [key.value[2] for key in plane.keys], "o", color=KEYS, label="keys")

    b.set(title="Paper plane: how fast it turns", xlabel="frame", ylabel="degrees a frame")
    _draw(b, _speeds(blender[turning]), _speeds(ours[turning]))
    for key in turning.keys:
        b.axvline(key.frame, color=KEYS, lw=0.6, ls=":")

    c.set(title="Ball: height; tension and continuity -1 at the floor", xlabel="frame", ylabel="z")
    _draw(c, [(f, v[2]) for f, v in blender[height].items()], [(f, v[2]) for f, v in ours[height].items()])
    c.plot([key.frame for key in height.keys], [key.value[2] for key in height.keys], "o", color=KEYS, label="keys")

    d.set(title="Camera: speed; ease from the first key and to the last", xlabel="frame", ylabel="units a frame")
    _draw(d, _paces(blender[camera]), _paces(ours[camera]))
    for key in camera.keys:
        d.axvline(key.frame, color=KEYS, lw=0.6, ls=":")

    a.legend(frameon=False)
    for axes in (a, b, c, d):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path


def _tracks(owner: str) -> list[Track]:
    return [track for track in TRACKS if track.owner == owner]


def _draw(axes: Axes, blender: Sequence[tuple[float, float]], ours: Sequence[tuple[float, float]]) -> None:
    axes.plot(*zip(*blender, strict=True), color=BLENDERS, lw=1.4, label="Blender's own")
    axes.plot(*zip(*ours, strict=True), color=OURS, lw=1.8, label="TCB")


def _whole_frames(played: Played) -> list[tuple[float, tuple[float, ...]]]:
    return [(frame, value) for frame, value in played.items() if not frame % 1]


def _speeds(played: Played) -> list[tuple[float, float]]:
    """Degrees from each frame to the next."""
    frames = _whole_frames(played)
    pairs = zip(frames[:-1], frames[1:], strict=True)
    return [(f + 0.5, float(np.degrees(exact.angle_between(p, q)))) for (f, p), (_, q) in pairs]


def _paces(played: Played) -> list[tuple[float, float]]:
    """Distance from each frame to the next."""
    frames = _whole_frames(played)
    pairs = zip(frames[:-1], frames[1:], strict=True)
    return [(f + 0.5, float(np.linalg.norm(np.subtract(q, p)))) for (f, p), (_, q) in pairs]


def flight(scene: bpy.types.Scene, step: float = 0.5) -> list[Matrix]:
    """Where the plane is, throughout the scene."""
    item = bpy.data.objects[PLANE]
    places = []
    for frame in np.arange(START, END + step / 2, step).tolist():
        scene.frame_set(int(frame), subframe=frame % 1)
        places.append(item.matrix_world.copy())
    return places


def render(path: Path, scene: bpy.types.Scene, blender_flight: Sequence[Matrix]) -> Path:
    """The scene at one frame with the poses of others: the ribbon is what the wings sweep, the line is how Blender alone
    flies the same keys."""
    places = flight(scene)
    added = [
        _ribbon("Swept by the wings", places),
        _line("Blender's own path", [place.translation for place in blender_flight], 0.02, (0.9, 0.95, 1.0)),
        *_ghosts(scene, PLANE, PLANE_GHOSTS),
        *_ghosts(scene, BALL, BALL_GHOSTS),
    ]
    scene.frame_set(STILL_FRAME)
    settings = scene.render
    settings.engine = "CYCLES"
    settings.resolution_x, settings.resolution_y, settings.resolution_percentage = 960, 540, 100
    settings.image_settings.file_format = "PNG"
    settings.filepath = str(path)
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", 24, True
    scene.cycles.max_bounces, scene.cycles.transparent_max_bounces = 4, 16
    bpy.ops.render.render(write_still=True)
    for item in added:
        bpy.data.objects.remove(item)
    return path


def _ghosts(scene: bpy.types.Scene, name: str, frames: Sequence[int]) -> list[bpy.types.Object]:
    """Copies of the object as it stands at those frames."""
    item = bpy.data.objects[name]
    ghosts = []
    for frame in frames:
        scene.frame_set(frame)
        ghost = bpy.data.objects.new(f"{name} at {frame}", item.data)
        ghost.matrix_world = item.matrix_world
        scene.collection.objects.link(ghost)
        ghosts.append(ghost)
    return ghosts


def _ribbon(name: str, places: Sequence[Matrix]) -> bpy.types.Object:
    """What the wings sweep, with the part of the way as a colour from 0 to 1."""
    mesh = bmesh.new()
    rows = [[mesh.verts.new(place @ tip) for tip in WING_TIPS] for place in places]
    for (a, b), (c, d) in zip(rows[:-1], rows[1:], strict=True):
        mesh.faces.new((a, b, d, c))
    data = bpy.data.meshes.new(name)
    mesh.to_mesh(data)
    mesh.free()
    data.polygons.foreach_set("use_smooth", [True] * len(data.polygons))
    shades = np.linspace(RIBBON_START, RIBBON_END, len(places)).repeat(2, axis=0)
    data.color_attributes.new("Way", "FLOAT_COLOR", "POINT").data.foreach_set("color", shades.ravel())
    data.materials.append(_film())
    return _link(name, data)


def _film() -> bpy.types.Material:
    """Glows a little, and lets most light through."""
    film = material("Film", (1.0, 1.0, 1.0), 0.4)
    nodes, links = film.node_tree.nodes, film.node_tree.links
    surface, way = nodes["Principled BSDF"], nodes.new("ShaderNodeVertexColor")
    way.layer_name = "Way"
    links.new(way.outputs["Color"], surface.inputs["Base Color"])
    links.new(way.outputs["Color"], surface.inputs["Emission Color"])
    surface.inputs["Alpha"].default_value = 0.5
    surface.inputs["Emission Strength"].default_value = 0.7
    return film


def _line(name: str, points: Sequence[Vector], radius: float, colour: Sequence[float]) -> bpy.types.Object:
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions, data.bevel_depth = "3D", radius
    spline = data.splines.new("POLY")
    spline.points.add(len(points) - 1)
    spline.points.foreach_set("co", [number for point in points for number in (*point, 1.0)])
    data.materials.append(material(name, colour, 0.5))
    return _link(name, data)


def _link(name: str, data: bpy.types.ID) -> bpy.types.Object:
    item = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(item)
    return item
