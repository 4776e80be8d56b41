# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of nodes, and meshes that several objects share.

The file contains each mesh once, and an instance name for each of its objects. Dummies have an instance name too.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...animation.fcurves.keyframes import Float64Array
from ...formats.three_ds import NAME_LENGTH
from ..conversion import Conversion, NodeSpace
from ..importing.file_nodes import DUMMY, node_name
from ..meshes import GEOMETRY, numbers_of
from ..report import AddNote
from .export_node import ExportNode

_LARGEST_DIFFERENCE = 1e-5
"""Fraction of the size of a mesh, larger than float32 errors of vertices moved by a pivot."""


class Instances:
    """The meshes of a file, by their first objects."""

    def __init__(self, conversion: Conversion) -> None:
        self.conversion = conversion
        self._names = Names()
        self._first_of: dict[Any, ExportNode] = {}
        """The first object of each datablock with geometry."""
        self._imported: dict[bytes, list[ExportNode]] = {}
        """The first objects of different imported meshes, by the name of their node."""
        self._instance_names: defaultdict[bytes, Names] = defaultdict(Names)
        """The instance names of each mesh."""

    def add(self, node: ExportNode) -> None:
        """Set the node's pivot and name. An instance or a dummy also gets an instance name."""
        source, add_note = node.source, node.add_note
        node.pivot = np.zeros(3, np.float32) if source is None else source.pivot
        first = self._first(node)
        if first.obj.data == node.obj.data:
            node.pivot = first.pivot
        if source is not None and node_name(source) != node.obj.name:
            # The object was renamed.
            source = None
        if first is not node:
            node.name = first.name
            names = self._instance_names[first.name]
            if source is not None and source.name == first.name and names.reserve(source.instance_name):
                node.instance = source.instance_name
            else:
                node.instance = names.take(node.obj.name.removeprefix(f"{first.obj.name}."), add_note)
        elif source is not None and source.name != DUMMY:
            node.name = self._names.take(source.name.decode("latin-1"), add_note)
            node.instance = source.instance_name
            self._instance_names[node.name].reserve(node.instance)
        elif node.kind == "OBJECT" and node.obj.type not in GEOMETRY:
            # Other readers keep the motion of a node without a mesh only if it has the name of dummies.
            node.name, node.instance = DUMMY, self._names.take(node.obj.name, add_note)
        else:
            node.name = self._names.take(node.obj.name, add_note)

    def _first(self, node: ExportNode) -> ExportNode:
        """Return the first object with the same mesh, which may be the object itself."""
        obj, source = node.obj, node.source
        if obj.type not in GEOMETRY or obj.modifiers:
            return node
        first = self._first_of.setdefault(obj.data, node)
        if first is node and obj.type == "MESH" and source is not None:
            meshes = self._imported.setdefault(source.name, [])
            first = next((other for other in meshes if self._have_same_mesh(other, node)), node)
            if first is node:
                meshes.append(node)
        return first

    def _have_same_mesh(self, node: ExportNode, other: ExportNode) -> bool:
        """Check whether two meshes differ only by their pivots, as after importing instances."""
        mesh, other_mesh = node.obj.data, other.obj.data
        if any(len(getattr(mesh, name)) != len(getattr(other_mesh, name)) for name in ("vertices", "polygons")):
            return False
        vertices, other_vertices = (numbers_of(item.loops, "vertex_index", 1, np.int32) for item in (mesh, other_mesh))
        if not np.array_equal(vertices, other_vertices):
            return False
        if not np.array_equal(_texture_coordinates(mesh), _texture_coordinates(other_mesh)):
            return False
        points = self._around_pivot(node)
        distance = np.abs(points - self._around_pivot(other)).max(initial=0.0)
        return bool(distance <= _LARGEST_DIFFERENCE * np.abs(points).max(initial=0.0))

    def _around_pivot(self, node: ExportNode) -> Float64Array:
        """Return the vertices (n, 3) of the file's mesh, in the units and axes of the scene."""
        points = numbers_of(node.obj.data.vertices, "co", 3, np.float32)
        pivot = np.zeros(3) if node.pivot is None else node.pivot
        return points + NodeSpace(self.conversion).points(pivot[np.newaxis])


class Names:
    """The unique names of nodes, or of the instances of a mesh."""

    def __init__(self) -> None:
        self._taken: set[bytes | None] = set()

    def reserve(self, name: bytes | None) -> bool:
        """Mark a name, or None for no name, as taken. Return whether it was not taken yet."""
        is_new = name not in self._taken
        self._taken.add(name)
        return is_new

    def take(self, name: str, add_note: AddNote) -> bytes:
        """Return a unique file name for the object `name`."""
        encoded = name.replace("\0", "").encode("latin-1", "replace")
        short = encoded[:NAME_LENGTH] or b"Unnamed"
        number = 0
        while not self.reserve(short):
            number += 1
            suffix = b"~%d" % number
            short = encoded[: NAME_LENGTH - len(suffix)] + suffix
        file_name = short.decode("latin-1")
        if file_name != name:
            add_note("SHORT_NAME", file_name, NAME_LENGTH)
        return short


def _texture_coordinates(mesh: bpy.types.Mesh) -> npt.NDArray[np.float32]:
    """Return the texture coordinates of all face corners, shape (corners, 2), or an empty array for none."""
    layer = mesh.uv_layers.active
    return np.zeros((0, 2), np.float32) if layer is None else numbers_of(layer.data, "uv", 2, np.float32)
