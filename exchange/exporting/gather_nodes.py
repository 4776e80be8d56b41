# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the nodes of a file: objects, their targets, and the ambient light."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...animation.sampling.properties import curves_of
from ...formats import three_ds
from ..conversion import Conversion
from ..imported_state import recall
from ..importing.apply_plan import AIM, ROLL_CONSTRAINT
from ..importing.file_nodes import node_name
from ..importing.plan_objects import PlannedObject, add_keys
from ..meshes import GEOMETRY
from ..report import AddNote, ExchangeReport, drop_note, note
from .export_node import ExportNode, is_aimed, kind_of
from .instances import Instances

_ROUNDING = 1e-6
"""Radians. Smaller rotations are float32 rounding."""
_SAME_AXIS = 1e-6
"""Smaller differences between components of unit vectors are only float32 rounding."""


def gather_nodes(
    objects: Iterable[bpy.types.Object], scene: bpy.types.Scene, conversion: Conversion, report: ExchangeReport
) -> list[ExportNode]:
    """Return the nodes of the objects and their targets, parents first, and the node of the ambient light."""
    selected = list(objects)
    aims = {obj: _aim_of(obj, conversion) for obj in selected if is_aimed(obj)}
    targets = {aim.target for aim in aims.values() if aim.target is not None and aim.target.type == "EMPTY"}
    selected = [obj for obj in selected if obj not in targets | _upright_spaces(aims)]
    exported, instances = {*selected, *targets}, Instances(conversion)
    nodes: list[ExportNode] = []
    for obj in sorted(selected, key=_depth):
        node = _object_node(obj, exported, aims.get(obj, _Aim()), report)
        find_source(node, conversion)
        instances.add(node)
        nodes.append(node)
        if node.is_aimed:
            nodes.append(_target_node(node, exported, conversion, report))
    for node in nodes:
        _note_lost_transforms(node, targets)
    return nodes + ambient_nodes(scene, conversion, report)


def _target_node(node: ExportNode, exported: set[Any], conversion: Conversion, report: ExchangeReport) -> ExportNode:
    obj = node.target
    parent = obj.parent if obj is not None and obj.parent in exported else None
    add_note = partial(note, report.notes, node.obj.name if obj is None else obj.name)
    target = ExportNode(obj, three_ds.TARGET_KINDS[node.kind], node.name, parent, add_note, aimed_by=node.obj)
    if obj is not None:
        find_source(target, conversion)
    return target


def _note_lost_transforms(node: ExportNode, targets: set[Any]) -> None:
    """Note transforms that the file cannot inherit."""
    # Children of lights and targets inherit only positions. Children of cameras and spotlights do not inherit scale.
    parent = node.parent
    if parent is None or (kind_of(parent) == "OBJECT" and parent not in targets):
        return
    loses_rotation = not is_aimed(parent)
    lost_paths = ("scale", "rotation") if loses_rotation else ("scale",)
    is_scaled = not np.allclose(parent.scale, 1.0)
    is_rotated = loses_rotation and parent.matrix_basis.to_quaternion().angle > _ROUNDING
    if is_scaled or is_rotated or any(path.startswith(lost_paths) for path, _ in curves_of(parent)):
        node.add_note("PARENT_LOSES_SCALE_AND_ROTATION" if loses_rotation else "PARENT_LOSES_SCALE", parent.name)


class _Aim(NamedTuple):
    target: Any = None
    """The object that it looks at. None if no constraint aims at an object, or if there are also other constraints."""
    is_upright: bool = True
    """True if it is upright in the file, except for its roll."""


def _aim_of(obj: Any, conversion: Conversion) -> _Aim:
    enabled = [constraint for constraint in obj.constraints if constraint.enabled]
    constraints = [constraint for constraint in enabled if constraint.name != ROLL_CONSTRAINT]
    if len(constraints) != 1 or constraints[0].type != "TRACK_TO" or constraints[0].target is None:
        return _Aim()
    track_to = constraints[0]
    is_exact = track_to.influence == 1.0 and not track_to.use_target_z and not track_to.subtarget
    is_exact &= (track_to.track_axis, track_to.up_axis) == ("TRACK_NEGATIVE_Z", "UP_Y")
    spaces = (track_to.owner_space, track_to.target_space)
    up = np.array([0.0, 0.0, 1.0])
    if spaces == ("CUSTOM", "CUSTOM") and track_to.space_object is not None:
        up = np.array(track_to.space_object.matrix_world, dtype=np.float64)[:3, 2]
    elif spaces != ("WORLD", "WORLD"):
        is_exact = False
    is_upright = bool(np.abs(up - conversion.axes[:, 2]).max() < _SAME_AXIS)
    return _Aim(track_to.target if is_exact else None, is_upright)


def _upright_spaces(objects: Iterable[Any]) -> set[Any]:
    """Return the objects that an import created for upright cameras because the file had other axes."""
    constraints = [constraint for obj in objects for constraint in obj.constraints]
    return {constraint.space_object for constraint in constraints if constraint.name == AIM} - {None}


def _object_node(obj: Any, exported: set[Any], aim: _Aim, report: ExchangeReport) -> ExportNode:
    """Return the node of an object, without its name, and note the parts that the file cannot store."""
    add_note = partial(note, report.notes, obj.name)
    _note_lost_parts(obj, add_note)
    parent = obj.parent
    while parent is not None and parent not in exported:
        parent = parent.parent
    return ExportNode(obj, kind_of(obj), b"", parent, add_note, target=aim.target, is_upright=aim.is_upright)


def _note_lost_parts(obj: Any, add_note: AddNote) -> None:
    if obj.type == "LIGHT" and obj.data.type not in ("SPOT", "POINT"):
        add_note("LIGHT_TYPE", obj.data.type.lower())
    if obj.type == "ARMATURE":
        add_note("ARMATURE_AS_DUMMY")
    elif kind_of(obj) == "OBJECT" and obj.type not in (*GEOMETRY, "EMPTY"):
        add_note("TYPE_AS_DUMMY", obj.type.lower())
    if obj.type == "EMPTY" and obj.instance_type == "COLLECTION" and obj.instance_collection is not None:
        add_note("COLLECTION_AS_DUMMY", obj.instance_collection.name)
    shape_keys = getattr(obj.data, "shape_keys", None)
    has_moving_shape_keys = shape_keys is not None and shape_keys.animation_data is not None
    has_armature = any(modifier.type == "ARMATURE" for modifier in obj.modifiers)
    if obj.type in GEOMETRY and (has_moving_shape_keys or has_armature):
        add_note("SHAPE_CHANGES")


def _depth(obj: bpy.types.Object) -> int:
    """Return the number of ancestors."""
    depth = 0
    while obj.parent is not None:
        depth, obj = depth + 1, obj.parent
    return depth


def find_source(node: ExportNode, conversion: Conversion) -> None:
    """Find the node from which the object was imported, if the conversion is unchanged."""
    state = recall(node.obj, node.add_note)
    if state is None or state.node.kind != node.kind or not state.conversion.is_like(conversion):
        return
    planned = PlannedObject(node_name(state.node), state.node, None, "", node.space(state.conversion))
    # The import has already reported its notes.
    add_keys(planned, state.node.tracks, state.rotation_options, drop_note)
    node.source, node.planned = state.node, planned


def ambient_nodes(scene: Any, conversion: Conversion, report: ExchangeReport) -> list[ExportNode]:
    """Return the node of the ambient light, which has the color of the world, or no node without a world.

    The color is the background's, unless other nodes determine it, the world's viewport color is keyed, or the world
    was imported. In these cases, the world's viewport color is used.
    """
    world = scene.world
    if world is None:
        return []
    node = ExportNode(world, "AMBIENT", b"$AMBIENT$", None, partial(note, report.notes, world.name))
    find_source(node, conversion)
    background = _background(world)
    path = None if background is None else _path_of_color(background)
    uses_viewport_color = node.source is not None or any(path == "color" for path, _ in curves_of(world))
    if path is None or uses_viewport_color:
        node.colored = world, "color"
    else:
        node.colored = world.node_tree, path
    if background is not None and path is None and not uses_viewport_color:
        node.add_note("NODES_MAKE_COLOR")
    if world.node_tree is not None:
        lost_paths = sorted({path for path, _ in curves_of(world.node_tree)} - {node.colored[1]})
        if lost_paths:
            node.add_note("NODES_ANIMATED", ", ".join(lost_paths))
    return [node]


def _background(world: Any) -> Any:
    """Return the world's background node that is rendered, or None without nodes."""
    # Since Blender 5.0 a world always uses its nodes.
    uses_nodes = world.node_tree is not None and (bpy.app.version >= (5, 0, 0) or world.use_nodes)
    output = world.node_tree.get_output_node("ALL") if uses_nodes else None
    links = () if output is None else output.inputs["Surface"].links
    return links[0].from_node if links else None


def _path_of_color(background: Any) -> str | None:
    """Return the path of the background color in the world's nodes, or None if other nodes determine it."""
    if background.bl_idname != "ShaderNodeBackground":
        return None
    color = background.inputs["Color"]
    if color.links:
        source = color.links[0].from_node
        if source.bl_idname != "ShaderNodeRGB" or source.mute or color.links[0].is_muted:
            return None
        color = color.links[0].from_socket
    return f"{color.path_from_id()}.default_value"
