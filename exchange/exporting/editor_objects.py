# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a file's editor: meshes, cameras and lights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from ...animation.fcurves.keyframes import Float64Array
from ...formats import three_ds
from ..cameras_and_lights import DEGREES_MM, WATTS, fov_of, hotspot_of, rolls_of, width_seen
from ..conversion import Conversion, NodeSpace
from ..importing.file_nodes import DUMMY
from ..meshes import GEOMETRY, mesh_of
from .export_node import ExportNode


def editor_objects(
    nodes: Sequence[ExportNode], scene: bpy.types.Scene, conversion: Conversion, left_out: Counter[str]
) -> Iterator[three_ds.Object]:
    """Yield the editor objects of the nodes, without duplicates, and add skipped parts to `left_out`."""
    for node in _nodes_with_objects(nodes):
        space = NodeSpace(conversion, is_aimed=node.is_aimed)
        world = np.array(node.obj.matrix_world, dtype=np.float64)
        world[:3, 3] = conversion.positions_in_file(world[:3, 3])
        world[:3, :3] = conversion.axes.T @ world[:3, :3] @ space.inner
        content: three_ds.Mesh | three_ds.Camera | three_ds.Light | None = None
        if node.kind == "CAMERA":
            content = _camera(node.obj, scene, world, _target_position(node, world, conversion))
        elif node.kind in ("LIGHT", "SPOTLIGHT"):
            content = _light(node.obj, world, _target_position(node, world, conversion))
        elif node.obj.type in GEOMETRY:
            pivot = np.zeros(3) if node.pivot is None else node.pivot.astype(float)
            content = mesh_of(node.obj, world, space, pivot, left_out, node.add_note)
        yield three_ds.Object(node.name, content or three_ds.Mesh())


def _nodes_with_objects(nodes: Sequence[ExportNode]) -> Iterable[ExportNode]:
    """Return one node for each object of the editor. Targets, dummies and the ambient light have no objects."""
    node_of_name: dict[bytes, ExportNode] = {}
    for node in nodes:
        if node.obj is None or node.kind in (*three_ds.TARGET_KINDS.values(), "AMBIENT") or node.name == DUMMY:
            continue
        # If one instance of a mesh is mirrored, readers mirror its other instances too.
        first = node_of_name.setdefault(node.name, node)
        if _is_mirrored(first) and not _is_mirrored(node):
            node_of_name[node.name] = node
    return node_of_name.values()


def _is_mirrored(node: ExportNode) -> bool:
    return bool(node.obj.matrix_world.is_negative)


def _target_position(node: ExportNode, world: Float64Array, conversion: Conversion) -> Float64Array:
    """Return the target's position in the file, or a point on the axis if there is no target."""
    if node.target is not None:
        return conversion.positions_in_file(node.target.matrix_world.translation[:])
    return np.asarray(world[:3, 3] - world[:3, 2])


def _camera(obj: Any, scene: bpy.types.Scene, world: Float64Array, target: Float64Array) -> three_ds.Camera:
    lens = DEGREES_MM / float(fov_of(obj.data.lens, width_seen(obj.data, scene)))
    roll = math.degrees(rolls_of(world[np.newaxis, :3, :3])[0])
    return three_ds.Camera(world[:3, 3].astype(np.float32), target.astype(np.float32), roll, lens)


def _light(obj: Any, world: Float64Array, target: Float64Array) -> three_ds.Light:
    light = obj.data
    spot = None
    if light.type == "SPOT":
        inner = math.degrees(float(hotspot_of(light.spot_blend, light.spot_size)))
        roll = math.degrees(rolls_of(world[np.newaxis, :3, :3])[0])
        spot = three_ds.Spotlight(target.astype(np.float32), inner, math.degrees(light.spot_size), roll)
    color = np.array(light.color[:], np.float32)
    return three_ds.Light(world[:3, 3].astype(np.float32), color, light.energy / WATTS, spot)
