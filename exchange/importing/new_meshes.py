# SPDX-License-Identifier: GPL-3.0-or-later
"""Create meshes from a file."""

from __future__ import annotations

import bpy
import numpy as np
import numpy.typing as npt

from ...animation.fcurves.keyframes import Float64Array
from ...formats.three_ds import Mesh
from ..meshes import valid_faces
from ..notes import AddNote

_FLAT_BOX = 1e-12
"""Minimum determinant relative to the product of the axis lengths. Below this value, the axes are coplanar."""


def make_mesh(name: str, mesh: Mesh, points: Float64Array, add_note: AddNote) -> bpy.types.Mesh:
    """Create a mesh datablock with these points and the faces and texture coordinates of the file's mesh."""
    datablock = bpy.data.meshes.new(name)
    faces = mesh.faces[(mesh.faces < len(points)).all(axis=1)].astype(np.int32)
    if len(faces) < len(mesh.faces):
        add_note("FACES_WITHOUT_VERTICES", len(mesh.faces) - len(faces))
    faces = faces[valid_faces(faces)[0]]
    corners = faces.ravel()
    datablock.vertices.add(len(points))
    datablock.vertices.foreach_set("co", points.astype(np.float32).ravel())
    if len(faces):
        datablock.loops.add(len(corners))
        datablock.loops.foreach_set("vertex_index", corners)
        datablock.polygons.add(len(faces))
        datablock.polygons.foreach_set("loop_start", np.arange(0, len(corners), 3, dtype=np.int32))
        if len(mesh.texture_coordinates) == len(points):
            layer = datablock.uv_layers.new(name="UVMap")
            layer.data.foreach_set("uv", mesh.texture_coordinates[corners].ravel())
        elif len(mesh.texture_coordinates):
            add_note("TEXTURE_COORDINATES")
    datablock.validate()
    datablock.update()
    return datablock


def local_points(mesh: Mesh, pivot: npt.ArrayLike, mirror: bool, add_note: AddNote) -> Float64Array:
    """Return the vertices (n, 3) in node space, which is the space of the mesh matrix, centered on the pivot.

    `mirror` means that the matrix is left-handed and the node is not, so the mesh in the file is mirrored along x.
    Source: docs/formulas, "Nodes of 3D Studio files".
    """
    points = mesh.vertices.astype(np.float64)
    if mesh.matrix is not None and len(points):
        axes = mesh.matrix[:3].astype(np.float64)
        box_volume = np.linalg.norm(axes, axis=1).prod()
        if np.isfinite(mesh.matrix).all() and abs(np.linalg.det(axes)) > _FLAT_BOX * box_volume > 0.0:
            points = (points - mesh.matrix[3].astype(np.float64)) @ np.linalg.inv(axes)
        else:
            add_note("MESH_MATRIX")
    if mirror:
        points[:, 0] *= -1.0
    points = points - np.asarray(pivot, dtype=np.float64)
    is_invalid = ~np.isfinite(points).all(axis=1)
    if is_invalid.any():
        add_note("VERTICES_NOT_FINITE", int(is_invalid.sum()))
        points[is_invalid] = 0.0
    return points


def is_mirrored(mesh: Mesh) -> bool:
    """Check whether the mesh matrix is left-handed."""
    return mesh.matrix is not None and bool(np.linalg.det(mesh.matrix[:3].astype(np.float64)) < 0.0)
