# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the nodes of a file: objects, their targets, and the ambient light.

The file contains each mesh once, and an instance name for each of its objects. Dummies have an instance name too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ...animation.fcurves.keyframes import Float64Array
from ...animation.sampling.properties import curves_of
from ...formats import three_ds
from ...formats.three_ds import NAME_LENGTH
from ...interp.splines.tcb import Construction
from ..conversion import Conversion, NodeSpace
from ..importing.apply_plan import AIM, ROLL_CONSTRAINT
from ..importing.imported_state import NOT_IMPORTED, ImportedState, recall
from ..importing.plan_objects import DUMMY, node_name
from ..meshes import GEOMETRY, numbers_of
from ..report import AddNote, ExchangeReport, note

# Nodes


def _kind_of(obj: Any) -> str:
    """Return the kind of an object's node in the file, unless it is a target."""
    if obj.type == "LIGHT" and obj.data.type == "SPOT":
        return "SPOTLIGHT"
    return {"CAMERA": "CAMERA", "LIGHT": "LIGHT"}.get(obj.type, "OBJECT")


def is_aimed(obj: Any) -> bool:
    """Return whether the object has a target in the file."""
    return _kind_of(obj) in three_ds.TARGET_KINDS


@dataclass(eq=False)
class ExportNode:
    """An object, or None for a target that is created, and the data of its node in the file."""

    obj: Any
    kind: str
    """The kind of the node, as in `three_ds.Node`."""
    name: bytes
    """The name of the node, which is shared by all instances of a mesh."""
    parent: Any
    """The parent object in the file, or None."""
    add_note: AddNote
    aimed_by: Any = None
    """The object that looks at this target."""
    target: Any = None
    """The object that this object looks at."""
    is_upright: bool = True
    """True if the object is aimed upright in the file, except for its roll."""
    instance: bytes | None = None
    """The instance name."""
    pivot: npt.NDArray[np.float32] | None = None
    """The object's origin in the file's mesh, shape (3,)."""
    flags: tuple[int, int] = (0x4000, 0)
    tracks: list[three_ds.Track] = field(default_factory=list)
    imported: ImportedState = NOT_IMPORTED
    """The state of an imported object."""
    colored: tuple[bpy.types.ID, str] | None = None
    """The datablock and path of an ambient light's color."""
    construction: Construction | None = None
    """The interpolation of a rotation with several keys."""

    @property
    def is_aimed(self) -> bool:
        """Return whether the node has a target in the file."""
        return self.kind in three_ds.TARGET_KINDS

    @property
    def has_own_roll(self) -> bool:
        """Return whether the roll of a camera or spotlight needs keys because no upright target determines it."""
        return self.is_aimed and (self.target is None or not self.is_upright)

    def space(self, conversion: Conversion) -> NodeSpace:
        """Return the space of the node, converted to Blender."""
        return NodeSpace(conversion, self.parent is not None and is_aimed(self.parent), self.is_aimed)


# Names, and meshes that several objects share


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
        source, add_note = node.imported.node, node.add_note
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
        obj, source = node.obj, node.imported.node
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


# Objects, their targets, and the ambient light


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
        node.imported = recall(obj, node.kind, node.space(conversion), node.add_note)
        instances.add(node)
        nodes.append(node)
        if node.is_aimed:
            nodes.append(_target_node(node, exported, conversion, report))
    for node in nodes:
        _note_lost_transforms(node, targets)
    return nodes + _ambient_nodes(scene, conversion, report)


def _target_node(node: ExportNode, exported: set[Any], conversion: Conversion, report: ExchangeReport) -> ExportNode:
    obj = node.target
    parent = obj.parent if obj is not None and obj.parent in exported else None
    add_note = partial(note, report.notes, node.obj.name if obj is None else obj.name)
    target = ExportNode(obj, three_ds.TARGET_KINDS[node.kind], node.name, parent, add_note, aimed_by=node.obj)
    if obj is not None:
        target.imported = recall(obj, target.kind, target.space(conversion), add_note)
    return target


def _note_lost_transforms(node: ExportNode, targets: set[Any]) -> None:
    """Note transforms that the file cannot inherit."""
    # Children of lights and targets inherit only positions. Children of cameras and spotlights do not inherit scale.
    parent = node.parent
    if parent is None or (_kind_of(parent) == "OBJECT" and parent not in targets):
        return
    loses_rotation = not is_aimed(parent)
    lost_paths = ("scale", "rotation") if loses_rotation else ("scale",)
    is_scaled = not np.allclose(parent.scale, 1.0)
    is_rotated = loses_rotation and parent.matrix_basis.to_quaternion().angle > _ROUNDING
    if is_scaled or is_rotated or any(path.startswith(lost_paths) for path in curves_of(parent)):
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
    return ExportNode(obj, _kind_of(obj), b"", parent, add_note, target=aim.target, is_upright=aim.is_upright)


def _note_lost_parts(obj: Any, add_note: AddNote) -> None:
    if obj.type == "LIGHT" and obj.data.type not in ("SPOT", "POINT"):
        add_note("LIGHT_TYPE", obj.data.type.lower())
    if obj.type == "ARMATURE":
        add_note("ARMATURE_AS_DUMMY")
    elif _kind_of(obj) == "OBJECT" and obj.type not in (*GEOMETRY, "EMPTY"):
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


def _ambient_nodes(scene: Any, conversion: Conversion, report: ExchangeReport) -> list[ExportNode]:
    """Return the node of the ambient light, which has the color of the world, or no node without a world.

    The color is the background's, unless other nodes determine it, the world's viewport color is keyed, or the world
    was imported. In these cases, the world's viewport color is used.
    """
    world = scene.world
    if world is None:
        return []
    node = ExportNode(world, "AMBIENT", b"$AMBIENT$", None, partial(note, report.notes, world.name))
    node.imported = recall(world, node.kind, node.space(conversion), node.add_note)
    background = _background(world)
    path = None if background is None else _path_of_color(background)
    uses_viewport_color = node.imported.node is not None or "color" in curves_of(world)
    if path is None or uses_viewport_color:
        node.colored = world, "color"
    else:
        node.colored = world.node_tree, path
    if background is not None and path is None and not uses_viewport_color:
        node.add_note("NODES_MAKE_COLOR")
    if world.node_tree is not None:
        lost_paths = sorted(curves_of(world.node_tree).keys() - {node.colored[1]})
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
