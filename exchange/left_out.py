# SPDX-License-Identifier: GPL-3.0-or-later
"""Count the data that an import or export skips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import bpy
import numpy as np

from ..formats import three_ds
from ..formats.three_ds.idents import MAT_ENTRY, SMOOTH_GROUP
from .meshes import GEOMETRY, valid_faces


def left_out_of_file(scene: three_ds.Scene) -> Counter[str]:
    """Count the data of a file that an import skips."""
    chunks = () if scene.editor is None else scene.editor.chunks
    left_out = Counter(material=sum(chunk.ident == MAT_ENTRY for chunk in chunks))
    for obj in scene.objects:
        if isinstance(obj.content, three_ds.Mesh):
            mesh = obj.content
            faces = mesh.faces[(mesh.faces < len(mesh.vertices)).all(axis=1)]
            left_out += valid_faces(faces)[1]
            left_out["smoothing_group"] += _smoothing_groups(mesh)
    return left_out


def _smoothing_groups(mesh: three_ds.Mesh) -> int:
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
    return Counter(material=len(materials), smooth_mesh=sum(map(_is_smooth, meshes)))


def _is_smooth(mesh: bpy.types.Mesh) -> bool:
    is_smooth = np.zeros(len(mesh.polygons), dtype=np.bool_)
    mesh.polygons.foreach_get("use_smooth", is_smooth)
    return bool(is_smooth.any())
