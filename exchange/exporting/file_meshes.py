# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the geometry of objects to meshes of a file."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeVar

import bpy
import numpy as np
import numpy.typing as npt

from ...animation.fcurves.keyframes import Float64Array
from ...formats.three_ds import Mesh
from ..meshes import valid_faces
from ..node_space import NodeSpace
from ..notes import AddNote

MAX_COUNT = 0xFFFF
"""The maximum number of vertices, and of faces, of a mesh in a .3ds file."""
_ALL_EDGES = 7
"""Flags of a face with three visible edges."""
_FLAT_WORLD = 1e-9
"""Matrices with a smaller determinant have no inverse in float32."""
_Number = TypeVar("_Number", np.int32, np.float32)


def mesh_of(
    obj: bpy.types.Object,
    world: Float64Array,
    space: NodeSpace,
    pivot: Float64Array,
    left_out: Counter[str],
    add_note: AddNote,
) -> Mesh | None:
    """Return the object's geometry, with modifiers, as triangles in the file's space, or None without geometry.

    `world` is the object's matrix in the file, (4, 4). `space` converts from the object's space in the file to its
    space in Blender. `pivot` is the object's origin in the file's mesh. `left_out` counts the skipped faces.
    """
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    datablock = evaluated.to_mesh()
    try:
        if datablock is None or not len(datablock.vertices):
            return None
        points, faces, texture_coordinates = _triangles(datablock)
    finally:
        evaluated.to_mesh_clear()
    if len(points) > MAX_COUNT or len(faces) > MAX_COUNT:
        add_note("MESH_TOO_LARGE", len(points), len(faces), MAX_COUNT)
        return None
    is_valid, invalid_counts = valid_faces(faces)
    faces = faces[is_valid]
    left_out += invalid_counts
    matrix = world
    if abs(np.linalg.det(world[:3, :3])) < _FLAT_WORLD:
        add_note("FLAT_MESH")
        matrix = np.eye(4)
        matrix[:3, 3] = world[:3, 3]
    if np.linalg.det(matrix[:3, :3]) < 0.0:
        add_note("MIRRORED_MESH")
    # Use float32, as written, so that the reader's inverse restores the points.
    file_matrix = matrix[:3].T.astype(np.float32)
    vertices = (space.points_in_file(points) + pivot) @ file_matrix[:3].astype(np.float64) + file_matrix[3]
    return Mesh(
        vertices.astype(np.float32),
        faces.astype(np.uint16),
        np.full(len(faces), _ALL_EDGES, np.uint16),
        texture_coordinates.astype(np.float32),
        file_matrix,
    )


def _triangles(mesh: bpy.types.Mesh) -> tuple[Float64Array, npt.NDArray[np.integer], Float64Array]:
    """Return points (n, 3), triangles (m, 3) and UVs (n, 2), or UVs (0, 2) if there are none.

    A vertex becomes one point for each of its UVs, because the file has one UV per vertex.
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
    distinct, index = np.unique(corners, axis=0, return_inverse=True)
    return points[distinct[:, 0].astype(np.intp)], index.reshape(-1)[triangles], distinct[:, 1:]


def _numbers(collection: Any, name: str, columns: int, kind: type[_Number]) -> npt.NDArray[_Number]:
    numbers = np.empty(columns * len(collection), dtype=kind)
    collection.foreach_get(name, numbers)
    return numbers.reshape(-1, columns)
