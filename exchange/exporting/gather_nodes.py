# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the nodes of a file: objects, their targets, and the ambient light."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...animation.sampling.properties import curves_of
from ...formats import three_ds
from ..conversion import Conversion
from ..importing.plan_objects import note
from ..importing.set_properties import AIM, ROLL_CONSTRAINT
from ..mesh_export import GEOMETRY
from ..report import Exchanged
from .ambient_light import ambient_nodes
from .export_node import ExportNode, find_source
from .names_and_instances import Instances

_ROUNDING = 1e-6
"""Radians. Smaller rotations are float32 rounding."""
_SAME_AXIS = 1e-6
"""Smaller differences between components of unit vectors are only float32 rounding."""


def gather_nodes(
    objects: Iterable[bpy.types.Object], scene: bpy.types.Scene, conversion: Conversion, report: Exchanged
) -> list[ExportNode]:
    """Return the nodes of the objects and their targets, parents first, and the node of the ambient light."""
    selected = list(objects)
    aims = {obj: target_of(obj, conversion) for obj in selected if kind_of(obj) in three_ds.TARGET_KINDS}
    targets = {target for target, _ in aims.values() if target is not None and target.type == "EMPTY"}
    selected = [obj for obj in selected if obj not in targets | upright_spaces(aims)]
    exported, instances = {*selected, *targets}, Instances(conversion)
    nodes: list[ExportNode] = []
    for obj in sorted(selected, key=_depth):
        node = _object_node(obj, exported, *aims.get(obj, (None, True)), report)
        find_source(node, conversion)
        instances.add(node)
        nodes.append(node)
        if node.kind in three_ds.TARGET_KINDS:
            nodes.append(_target_node(node, exported, conversion, report))
    for node in nodes:
        _note_lost_transforms(node, targets)
    return nodes + ambient_nodes(scene, conversion, report)


def _target_node(node: ExportNode, exported: set[Any], conversion: Conversion, report: Exchanged) -> ExportNode:
    """Return the node of the target of a camera or spotlight."""
    obj = node.target
    parent = obj.parent if obj is not None and obj.parent in exported else None
    add_note = partial(note, report.notes, node.obj.name if obj is None else obj.name)
    target = ExportNode(obj, three_ds.TARGET_KINDS[node.kind], node.name, parent, add_note, aimed_by=node.obj)
    target.parent_is_aimed = parent is not None and kind_of(parent) in three_ds.TARGET_KINDS
    if obj is not None:
        find_source(target, conversion)
    return target


def _note_lost_transforms(node: ExportNode, targets: set[Any]) -> None:
    """Note transforms that the file cannot inherit.

    Lights and targets inherit only positions. Cameras and spotlights do not inherit scale.
    """
    parent = node.parent
    if parent is None or (kind_of(parent) == "OBJECT" and parent not in targets):
        return
    loses_rotation = kind_of(parent) not in three_ds.TARGET_KINDS
    lost_paths = ("scale", "rotation") if loses_rotation else ("scale",)
    is_scaled = not np.allclose(parent.scale, 1.0)
    is_rotated = loses_rotation and parent.matrix_basis.to_quaternion().angle > _ROUNDING
    if is_scaled or is_rotated or any(path.startswith(lost_paths) for path, _ in curves_of(parent)):
        node.add_note("PARENT_LOSES_SCALE_AND_ROTATION" if loses_rotation else "PARENT_LOSES_SCALE", parent.name)


def target_of(obj: Any, conversion: Conversion) -> tuple[Any, bool]:
    """Return the object that a camera or light looks at, and whether the camera or light is upright in the file.

    The object is None if no constraint aims at it, or if there are also other constraints.
    """
    enabled = [constraint for constraint in obj.constraints if constraint.enabled]
    constraints = [constraint for constraint in enabled if constraint.name != ROLL_CONSTRAINT]
    if len(constraints) != 1 or constraints[0].type != "TRACK_TO" or constraints[0].target is None:
        return None, True
    aim = constraints[0]
    is_exact = aim.influence == 1.0 and not aim.use_target_z and not aim.subtarget
    is_exact &= (aim.track_axis, aim.up_axis) == ("TRACK_NEGATIVE_Z", "UP_Y")
    spaces = (aim.owner_space, aim.target_space)
    up = np.array([0.0, 0.0, 1.0])
    if spaces == ("CUSTOM", "CUSTOM") and aim.space_object is not None:
        up = np.array(aim.space_object.matrix_world, dtype=np.float64)[:3, 2]
    elif spaces != ("WORLD", "WORLD"):
        is_exact = False
    return aim.target if is_exact else None, bool(np.abs(up - conversion.axes[:, 2]).max() < _SAME_AXIS)


def upright_spaces(objects: Iterable[Any]) -> set[Any]:
    """Return the objects that an import created for upright cameras because the file had other axes."""
    constraints = [constraint for obj in objects for constraint in obj.constraints]
    return {constraint.space_object for constraint in constraints if constraint.name == AIM} - {None}


def kind_of(obj: Any) -> str:
    """Return the kind of an object's node."""
    if obj.type == "LIGHT" and obj.data.type == "SPOT":
        return "SPOTLIGHT"
    return {"CAMERA": "CAMERA", "LIGHT": "LIGHT"}.get(obj.type, "OBJECT")


def _object_node(obj: Any, exported: set[Any], target: Any, is_upright: bool, report: Exchanged) -> ExportNode:
    """Return the node of an object, without its name, and note the parts that the file cannot store."""
    add_note = partial(note, report.notes, obj.name)
    kind = kind_of(obj)
    if obj.type == "LIGHT" and obj.data.type not in ("SPOT", "POINT"):
        add_note("LIGHT_TYPE", obj.data.type.lower())
    if kind == "OBJECT" and obj.type not in (*GEOMETRY, "EMPTY"):
        add_note("TYPE_AS_DUMMY", obj.type.lower())
    if obj.type == "EMPTY" and obj.instance_type == "COLLECTION" and obj.instance_collection is not None:
        add_note("COLLECTION_AS_DUMMY", obj.instance_collection.name)
    if obj.type in GEOMETRY and _changes_shape(obj):
        add_note("SHAPE_CHANGES")
    parent = obj.parent
    while parent is not None and parent not in exported:
        parent = parent.parent
    node = ExportNode(obj, kind, b"", parent, add_note, target=target, is_upright=is_upright)
    node.parent_is_aimed = parent is not None and kind_of(parent) in three_ds.TARGET_KINDS
    return node


def _changes_shape(obj: bpy.types.Object) -> bool:
    """Check whether an armature or shape keys may move the object's vertices."""
    shape_keys = getattr(obj.data, "shape_keys", None)
    is_animated = shape_keys is not None and shape_keys.animation_data is not None
    return is_animated or any(modifier.type == "ARMATURE" for modifier in obj.modifiers)


def _depth(obj: bpy.types.Object) -> int:
    """Return the number of ancestors."""
    depth = 0
    while obj.parent is not None:
        depth, obj = depth + 1, obj.parent
    return depth
