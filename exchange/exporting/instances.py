# SPDX-License-Identifier: GPL-3.0-or-later
"""Write instances of meshes. The file contains each mesh once, and an instance name for each of its objects."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...animation.fcurves.keyframes import Float64Array
from ...formats.three_ds import NAME_LENGTH
from ..clean_keys import AddNote
from ..conversion import Conversion, Frame
from ..importing.plan_objects import DUMMY, node_name
from ..mesh_export import GEOMETRY
from .nodes import Gathered

_NEAR = 1e-5
"""Fraction of the size of a mesh, larger than float32 errors of vertices moved by a pivot."""


class Names:
    """The unique names of a file."""

    def __init__(self) -> None:
        self._taken: set[bytes] = set()

    def take(self, name: str, add_note: AddNote) -> bytes:
        """Return a unique file name for the object `name`."""
        encoded = name.replace("\0", "").encode("latin-1", "replace")
        short = encoded[:NAME_LENGTH] or b"Unnamed"
        number = 0
        while short in self._taken:
            number += 1
            tail = b"~%d" % number
            short = encoded[: NAME_LENGTH - len(tail)] + tail
        self._taken.add(short)
        shown = short.decode("latin-1")
        if shown != name:
            add_note("SHORT_NAME", shown, NAME_LENGTH)
        return short


class Instances:
    """The meshes of a file, by their first objects."""

    def __init__(self, conversion: Conversion) -> None:
        self.conversion = conversion
        self.names = Names()
        self._first_of: dict[Any, Gathered] = {}
        self._imported: dict[bytes, list[Gathered]] = {}
        self._instances: dict[bytes, Names] = {}

    def name(self, node: Gathered) -> None:
        """Set the object's pivot and its name. An instance or a dummy has an additional instance name."""
        source = node.source
        node.pivot = np.zeros(3, np.float32) if source is None else source.pivot
        first = self._first(node)
        is_named_so = source is not None and node_name(source) == node.obj.name
        if first is not node:
            node.name = first.name
            if is_named_so and source is not None and source.name == first.name:
                node.instance = source.instance_name
            else:
                label = node.obj.name.removeprefix(f"{first.obj.name}.")
                node.instance = self._instances.setdefault(first.name, Names()).take(label, node.add_note)
        elif source is not None and is_named_so and source.name != DUMMY:
            node.name, node.instance = (
                self.names.take(source.name.decode("latin-1"), node.add_note),
                source.instance_name,
            )
        elif node.kind == "OBJECT" and node.obj.type not in GEOMETRY:
            # Other readers keep the motion of a node without a mesh only if it has the name of dummies.
            node.name, node.instance = DUMMY, self.names.take(node.obj.name, node.add_note)
        else:
            node.name = self.names.take(node.obj.name, node.add_note)

    def _first(self, node: Gathered) -> Gathered:
        """Return the first object with the same mesh, which may be the object itself."""
        obj, source = node.obj, node.source
        if obj.type not in GEOMETRY or obj.modifiers:
            return node
        first = self._first_of.setdefault(obj.data, node)
        if first is not node:
            node.pivot = first.pivot
        elif obj.type == "MESH" and source is not None:
            alike = self._imported.setdefault(source.name, [])
            first = next((other for other in alike if self._are_alike(other, node)), node)
            if first is node:
                alike.append(node)
        return first

    def _are_alike(self, node: Gathered, other: Gathered) -> bool:
        """Check whether two meshes differ only by their pivots, as after importing instances."""
        mine, others = node.obj.data, other.obj.data
        if any(len(getattr(mine, name)) != len(getattr(others, name)) for name in ("vertices", "loops", "polygons")):
            return False
        if not np.array_equal(_corners(mine), _corners(others)) or not np.array_equal(_mapped(mine), _mapped(others)):
            return False
        points = self._around_pivot(node)
        apart = np.abs(points - self._around_pivot(other)).max(initial=0.0)
        return bool(apart <= _NEAR * np.abs(points).max(initial=0.0))

    def _around_pivot(self, node: Gathered) -> Float64Array:
        """Return the vertices (n, 3) of the file's mesh, in the units and axes of the scene."""
        points = np.empty(3 * len(node.obj.data.vertices), np.float32)
        node.obj.data.vertices.foreach_get("co", points)
        pivot = np.zeros(3) if node.pivot is None else node.pivot
        moved: Float64Array = points.reshape(-1, 3) + Frame(self.conversion).points(pivot[np.newaxis])
        return moved


def _corners(mesh: bpy.types.Mesh) -> Float64Array:
    """Return the vertex of each face corner."""
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return corners.astype(np.float64)


def _mapped(mesh: bpy.types.Mesh) -> Float64Array:
    """Return the texture coordinates of each face corner. Empty if the mesh has none."""
    layer = mesh.uv_layers.active
    mapped = np.zeros(0 if layer is None else 2 * len(mesh.loops), np.float32)
    if layer is not None:
        layer.data.foreach_get("uv", mapped)
    return mapped.astype(np.float64)
