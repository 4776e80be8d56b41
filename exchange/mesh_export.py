# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert Blender's geometry to meshes of a file."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeVar

import bpy
import numpy as np
import numpy.typing as npt

from ..animation.fcurves.keyframes import Float64Array
from ..formats.three_ds import Mesh
from .clean_keys import AddNote
from .conversion import Frame
from .mesh_import import sound_faces

_Number = TypeVar("_Number", np.int32, np.float32)

MOST = 0xFFFF
"""The maximum number of vertices, and of faces, of a mesh in a .3ds file."""
_ALL_EDGES = 7
GEOMETRY = ("MESH", "CURVE", "SURFACE", "META", "FONT")
_FLAT = 1e-9


def mesh_of(
    obj: bpy.types.Object, world: Float64Array, frame: Frame, pivot: Float64Array, left: Counter[str], add_note: AddNote
) -> Mesh | None:
    """Return the object's geometry, with modifiers, as triangles in the file's space, or None without geometry.

    `world` is the object's matrix in the file, (4, 4). `frame` converts from the object's space in the file to its
    space in Blender. `pivot` is the object's origin in the file's mesh. `left` receives the counts of skipped faces.
    """
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    shown = evaluated.to_mesh()
    try:
        if shown is None or not len(shown.vertices):
            return None
        points, faces, mapped = _triangles(shown)
    finally:
        evaluated.to_mesh_clear()
    if len(points) > MOST or len(faces) > MOST:
        add_note("MESH_TOO_LARGE", len(points), len(faces), MOST)
        return None
    sound, unsound = sound_faces(faces)
    faces = faces[sound]
    left += unsound
    matrix = world
    if abs(np.linalg.det(world[:3, :3])) < _FLAT:
        add_note("FLAT_MESH")
        matrix = np.eye(4)
        matrix[:3, 3] = world[:3, 3]
    if np.linalg.det(matrix[:3, :3]) < 0.0:
        add_note("MIRRORED_MESH")
    # Use float32, as written, so that the reader's inverse restores the points.
    written = matrix[:3].T.astype(np.float32)
    placed = (frame.points_in_file(points) + pivot) @ written[:3].astype(np.float64) + written[3]
    flags = np.full(len(faces), _ALL_EDGES, np.uint16)
    return Mesh(placed.astype(np.float32), faces.astype(np.uint16), flags, mapped.astype(np.float32), written)


def _triangles(mesh: bpy.types.Mesh) -> tuple[Float64Array, npt.NDArray[np.integer], Float64Array]:
    """Return points (n, 3), triangles (m, 3) and UVs (n, 2), or UVs (0, 2) if there are none.

    A vertex may become several points.
    """
    mesh.calc_loop_triangles()
    triangles = _numbers(mesh.loop_triangles, "loops", 3, np.int32)
    vertices = _numbers(mesh.loops, "vertex_index", 1, np.int32)[:, 0]
    points = _numbers(mesh.vertices, "co", 3, np.float32).astype(np.float64)
    layer = mesh.uv_layers.active
    if layer is None or not len(triangles):
        return points, vertices[triangles], np.zeros((0, 2))
    corners = np.column_stack((vertices, _numbers(layer.data, "uv", 2, np.float32))).astype(np.float64)
    loose = np.setdiff1d(np.arange(len(points)), vertices)
    corners = np.concatenate((corners, np.column_stack((loose, np.zeros((len(loose), 2))))))
    distinct, place = np.unique(corners, axis=0, return_inverse=True)
    return points[distinct[:, 0].astype(np.intp)], place.reshape(-1)[triangles], distinct[:, 1:]


def _numbers(collection: Any, name: str, columns: int, kind: type[_Number]) -> npt.NDArray[_Number]:
    numbers = np.empty(columns * len(collection), dtype=kind)
    collection.foreach_get(name, numbers)
    return numbers.reshape(-1, columns)
