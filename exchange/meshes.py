# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert meshes between a 3D Studio file and Blender, and count the parts of geometry that are skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeVar

import bpy
import numpy as np
import numpy.typing as npt

from ..animation.fcurves.keyframes import BoolArray, Float64Array
from ..formats.three_ds import Mesh, Scene
from ..formats.three_ds.binary import MAT_ENTRY, SMOOTH_GROUP
from .conversion import NodeSpace
from .report import AddNote

GEOMETRY = ("MESH", "CURVE", "SURFACE", "META", "FONT")
"""Types of objects with geometry."""
_FLAT_BOX = 1e-12
"""Minimum determinant relative to the product of the axis lengths. Below this value, the axes are coplanar."""
_MAX_COUNT = 0xFFFF
"""The maximum number of vertices, and of faces, of a mesh in a .3ds file."""
_ALL_EDGES = 7
"""Flags of a face with three visible edges."""
_FLAT_WORLD = 1e-9
"""Matrices with a smaller determinant have no inverse in float32."""
_Number = TypeVar("_Number", np.bool_, np.int32, np.float32)


def _valid_faces(faces: npt.NDArray[np.integer]) -> tuple[BoolArray, Counter[str]]:
    """Return a mask of valid, unique triangles (n, 3), and the counts of the others.

    Vertex indices have 16 bits, so a triangle's three indices fit in one number.
    """
    a, b, c = np.sort(faces, axis=1).astype(np.int64).T
    triangles = np.flatnonzero((a < b) & (b < c))
    _, first = np.unique((a << 32 | b << 16 | c)[triangles], return_index=True)
    is_valid = np.zeros(len(faces), dtype=np.bool_)
    is_valid[triangles[first]] = True
    return is_valid, Counter(degenerate_face=len(faces) - len(triangles), doubled_face=len(triangles) - len(first))


def left_out_of_file(scene: Scene) -> Counter[str]:
    """Count the data of a file that an import skips."""
    chunks = () if scene.editor is None else scene.editor.chunks
    left_out = Counter(material=sum(chunk.ident == MAT_ENTRY for chunk in chunks))
    for obj in scene.objects:
        if isinstance(obj.content, Mesh):
            mesh = obj.content
            faces = mesh.faces[(mesh.faces < len(mesh.vertices)).all(axis=1)]
            left_out += _valid_faces(faces)[1]
            left_out["smoothing_group"] += _smoothing_groups(mesh)
    return left_out


def _smoothing_groups(mesh: Mesh) -> int:
    """Count the smoothing groups of the faces of a mesh. Each face has a 32-bit number with one bit per group."""
    groups = 0
    for chunk in mesh.face_chunks:
        if chunk.ident == SMOOTH_GROUP:
            numbers = np.frombuffer(chunk.content, "<u4", len(chunk.content) // 4)
            groups |= int(np.bitwise_or.reduce(numbers, initial=0))
    return groups.bit_count()


def left_out_of_objects(objects: Iterable[bpy.types.Object]) -> Counter[str]:
    """Count the data of objects that an export skips, except faces."""
    with_geometry = [obj for obj in objects if obj.type in GEOMETRY]
    materials = {slot.material for obj in with_geometry for slot in obj.material_slots} - {None}
    meshes = {obj.data for obj in with_geometry if isinstance(obj.data, bpy.types.Mesh)}
    smooth_meshes = [mesh for mesh in meshes if numbers_of(mesh.polygons, "use_smooth", 1, np.bool_).any()]
    return Counter(material=len(materials), smooth_mesh=len(smooth_meshes))


def make_mesh(name: str, mesh: Mesh, points: Float64Array, add_note: AddNote) -> bpy.types.Mesh:
    """Create a mesh datablock with these points and the faces and texture coordinates of the file's mesh."""
    datablock = bpy.data.meshes.new(name)
    faces = mesh.faces[(mesh.faces < len(points)).all(axis=1)].astype(np.int32)
    if len(faces) < len(mesh.faces):
        add_note("FACES_WITHOUT_VERTICES", len(mesh.faces) - len(faces))
    faces = faces[_valid_faces(faces)[0]]
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
    if len(points) > _MAX_COUNT or len(faces) > _MAX_COUNT:
        add_note("MESH_TOO_LARGE", len(points), len(faces), _MAX_COUNT)
        return None
    is_valid, invalid_counts = _valid_faces(faces)
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
    """Return points (n, 3), triangles (m, 3) and UVs (n, 2), or UVs (0, 2) if there are none."""
    mesh.calc_loop_triangles()
    triangles = numbers_of(mesh.loop_triangles, "loops", 3, np.int32)
    vertices = numbers_of(mesh.loops, "vertex_index", 1, np.int32)[:, 0]
    points = numbers_of(mesh.vertices, "co", 3, np.float32).astype(np.float64)
    layer = mesh.uv_layers.active
    if layer is None or not len(triangles):
        return points, vertices[triangles], np.zeros((0, 2))
    # A vertex becomes one point for each of its UVs, because the file has one UV per vertex.
    corners = np.column_stack((vertices, numbers_of(layer.data, "uv", 2, np.float32))).astype(np.float64)
    loose = np.setdiff1d(np.arange(len(points)), vertices)
    corners = np.concatenate((corners, np.column_stack((loose, np.zeros((len(loose), 2))))))
    distinct, index = np.unique(corners, axis=0, return_inverse=True)
    return points[distinct[:, 0].astype(np.intp)], index.reshape(-1)[triangles], distinct[:, 1:]


def numbers_of(collection: Any, name: str, columns: int, kind: type[_Number]) -> npt.NDArray[_Number]:
    """Return the values of an attribute of all elements, shape (n, columns)."""
    numbers = np.empty(columns * len(collection), dtype=kind)
    collection.foreach_get(name, numbers)
    return numbers.reshape(-1, columns)
