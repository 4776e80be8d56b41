# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the demo's film, which shows the plane and ball with Blender's curves next to the same keys with TCB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import bpy
import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from examples.scene_tracks import BALL, END, PLANE, START, TRACKS

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from PIL import Image

Float64Array = npt.NDArray[np.float64]
Poses = Mapping[str, Sequence[Matrix]]
"""The matrices of each object, one per frame of the scene."""

MOVING = (PLANE, BALL)
_COLORS = {PLANE: (0.88, 0.35, 0.16), BALL: (0.16, 0.45, 0.8)}
_KEYS = "#1d2733"
_EYE = np.array([0.0, -1.0, 0.35])
"""The view direction of the parallel projection."""
_RIGHT = np.cross([0.0, 0.0, 1.0], _EYE) / np.linalg.norm(np.cross([0.0, 0.0, 1.0], _EYE))
_PROJECTION = np.stack([_RIGHT, np.cross(_EYE, _RIGHT) / np.linalg.norm(_EYE)], axis=1)
"""The directions of the picture, right and up, shape (3, 2)."""
_SUN = np.array([0.3, -0.5, 0.8])
"""The direction to the sun, which shades the faces."""
_PER_SECOND = 25


def poses(scene: bpy.types.Scene) -> Poses:
    """Return the matrices of the moving objects at each frame."""
    matrices: dict[str, list[Matrix]] = {name: [] for name in MOVING}
    for frame in range(START, END + 1):
        scene.frame_set(frame)
        for name in MOVING:
            matrices[name].append(bpy.data.objects[name].matrix_world.copy())
    return matrices


def film(path: Path, blender: Poses, ours: Poses) -> Path:
    """Draw both motions side by side as a repeating animated GIF."""
    figure, views = plt.subplots(1, 2, figsize=(9.6, 4.0), dpi=72)
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.0, top=0.9, wspace=0.02)
    players = [
        _Player(axes, title, motion)
        for axes, title, motion in zip(
            views, ("Blender's own curves", "The same keys with TCB"), (blender, ours), strict=True
        )
    ]
    # Both views show the same part of the scene.
    locations = [
        matrix.translation for motion in (blender, ours) for matrices in motion.values() for matrix in matrices
    ]
    points = _project(np.array(locations))
    (left, low), (right, high) = points.min(axis=0) - 0.9, points.max(axis=0) + 0.9
    for axes in views:
        axes.set(xlim=(left, right), ylim=(low, high))

    canvas = FigureCanvasAgg(figure)
    images = []
    for frame in range(END - START + 1):
        for player in players:
            player.draw(frame)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3]
        images.append(Image.fromarray(pixels).quantize(method=Image.Quantize.FASTOCTREE))
    images[0].save(path, save_all=True, append_images=images[1:], duration=1000 // _PER_SECOND, loop=0)
    plt.close(figure)
    return path


class _Player:
    """One of the two views."""

    def __init__(self, axes: Axes, title: str, motion: Poses) -> None:
        axes.set_title(title, y=1.0)  # a fixed height saves a layout per frame
        axes.set_aspect("equal")
        axes.set_axis_off()
        self.motion = motion
        self.meshes = {name: _Mesh(bpy.data.objects[name]) for name in MOVING}
        self.trail = np.array([_project(np.array(matrix.translation)) for matrix in motion[PLANE]])
        keys = [
            key.value for track in TRACKS if track.owner == PLANE and track.path == "location" for key in track.keys
        ]
        axes.plot(*_project(np.array(keys)).T, "o", color=_KEYS, ms=4, zorder=1)
        (self.line,) = axes.plot([], [], color=_COLORS[PLANE], lw=1.2, alpha=0.7, zorder=2)
        self.faces = axes.add_collection(PolyCollection([], zorder=3, lw=0.3))

    def draw(self, frame: int) -> None:
        """Show a frame of the scene, counted from 0."""
        self.line.set_data(*self.trail[: frame + 1].T)
        drawn = [self.meshes[name].project(np.array(self.motion[name][frame])) for name in MOVING]
        depths, outlines, colors = map(np.concatenate, zip(*drawn, strict=True))
        order = np.argsort(depths)[::-1]
        self.faces.set_verts(outlines[order])
        self.faces.set_facecolor(colors[order])
        self.faces.set_edgecolor(colors[order])


class _Mesh:
    """The triangles of an object."""

    def __init__(self, item: bpy.types.Object) -> None:
        mesh = item.data
        assert isinstance(mesh, bpy.types.Mesh)
        mesh.calc_loop_triangles()
        self.corners = np.array([[*vertex.co.to_tuple(), 1.0] for vertex in mesh.vertices])
        self.triangles = np.array([triangle.vertices[:] for triangle in mesh.loop_triangles])
        self.color = np.array(_COLORS[item.name])

    def project(self, matrix: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the triangles' depths (n,), projected outlines (n, 3, 2), and shaded colors (n, 3)."""
        points = (self.corners @ matrix.T)[self.triangles, :3]
        normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        lengths = np.maximum(np.linalg.norm(normals, axis=1) * np.linalg.norm(_SUN), 1e-12)
        light = np.abs(normals @ _SUN) / lengths
        colors = np.clip(self.color * (0.45 + 0.75 * light[:, np.newaxis]), 0.0, 1.0)
        return -points.mean(axis=1) @ _EYE, _project(points), colors


def _project(points: Float64Array) -> Float64Array:
    """Project points, shape (..., 3), onto the picture, shape (..., 2)."""
    projected: Float64Array = points @ _PROJECTION
    return projected
