# SPDX-License-Identifier: GPL-3.0-or-later
"""Export objects of the open scene to a 3D Studio file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...animation.errors import Finding
from ...animation.fcurves.keyframes import Float64Array
from ...animation.sampling.properties import curves_of
from ...animation.steps import Progress, Steps, run_steps
from ...animation.translation import n_
from ...formats import three_ds
from ...formats.three_ds.tracks import LAST_FRAME
from ...interp.splines.tcb import Construction
from ..conversion import DEGREES_MM, WATTS, Conversion, Frame
from ..importing.plan_objects import DUMMY, note
from ..left_out_counts import left_of_objects
from ..mesh_export import GEOMETRY, mesh_of
from ..options import EXPORT
from ..report import Exchanged, count_written
from ..rotation_modes import MAX_NAME
from .camera_and_light_formulas import fov_of, hotspot_of, rolls_of, width_seen
from .gathered import Gathered, find_source, target_of, upright_spaces
from .matrices import Matrices, kept_evaluated, reason_to_sample
from .names_and_instances import Instances
from .nodes import Writer
from .played_frames import frames_of
from .track_keys import SampleLimit

EXPORT_STEPS = n_("{:,} of {:,} steps of the export done")
_AMBIENT = b"$AMBIENT$"
_REVISION = 5
_ROUNDING = 1e-6
"""Radians. Smaller rotations are float32 rounding."""


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export.

    Attributes
    ----------
    conversion : Conversion
        The conversion from the file to Blender, as for an import. `scale` is in Blender units per file unit.
    sample_limit : int
        Maximum number of samples (objects times frames).
    """

    conversion: Conversion = field(default_factory=Conversion)
    sample_limit: int = EXPORT["sample_limit"].default


def export_scene(
    objects: Iterable[bpy.types.Object],
    scene: bpy.types.Scene,
    options: ExportOptions,
    progress: Progress | None = None,
) -> tuple[three_ds.Scene, Exchanged]:
    """Return a file scene with the objects and their keys, and a report.

    `progress` is called with the number of finished steps and the total.

    Raises
    ------
    AnimationError
        If a track cannot be written, or there would be too many samples. The message names the track.
    """
    return run_steps(export_steps(objects, scene, options), progress)


def export_steps(
    objects: Iterable[bpy.types.Object], scene: bpy.types.Scene, options: ExportOptions
) -> Steps[tuple[three_ds.Scene, Exchanged]]:
    """Export in steps, by frame while sampling objects, and then by object.

    Yields the number of finished steps and the total. Closing the generator restores the original state.
    """
    report = Exchanged()
    gathered = _gather_nodes(objects, scene, options, report)
    exported = [node.obj for node in gathered if isinstance(node.obj, bpy.types.Object)]
    reasons = {node: _reason_to_sample(node, scene) for node in gathered}
    nodes_to_sample = [node for node in gathered if reasons[node] or _has_own_roll(node)]
    objects_to_sample = {node.obj for node in nodes_to_sample} - {None}
    parents = {node.parent for node in nodes_to_sample} - objects_to_sample - {None}
    limit = SampleLimit(options.sample_limit)
    for obj in sorted(objects_to_sample, key=lambda obj: str(obj.name)):
        limit.take(len(frames_of(scene)), obj.name)
    evaluated = {obj for node in gathered for obj in (node.obj, node.target) if isinstance(obj, bpy.types.Object)}
    with kept_evaluated(evaluated, scene):
        matrices = Matrices([*objects_to_sample, *parents], scene)
        steps = len(matrices) + len(gathered)
        for done in matrices.sample():
            yield done, steps
        writer = Writer(scene, options.conversion, matrices, limit)
        for done, node in enumerate(gathered, start=len(matrices) + 1):
            writer.write(node, reasons[node])
            yield done, steps
        scene.frame_set(scene.frame_start)
        left_out = left_of_objects(exported)
        editor = three_ds.Editor(tuple(_editor_objects(gathered, scene, options.conversion, left_out)))
    written = three_ds.Scene(editor, _keyframer(gathered, scene, options.conversion, report))
    report.made = count_written(written)
    report.note_left(left_out)
    return written, report


def _has_own_roll(node: Gathered) -> bool:
    """Return whether the roll of a camera or spotlight needs keys because no upright target determines it."""
    return node.kind in three_ds.TARGET_KINDS and (node.target is None or not node.is_upright)


def _keyframer(
    gathered: Sequence[Gathered], scene: bpy.types.Scene, conversion: Conversion, report: Exchanged
) -> three_ds.Keyframer:
    """Return the nodes and the frame range of the file."""
    # The target of several cameras has several nodes. Its children belong to the first one.
    indices: dict[Any, int] = {}
    for index, node in enumerate(gathered):
        if node.obj is not None:
            indices.setdefault(node.obj, index)
    nodes = tuple(_node(index, node, indices) for index, node in enumerate(gathered))
    frames = np.rint(conversion.in_file([scene.frame_start, scene.frame_end]))
    if np.abs(frames).max() > LAST_FRAME:
        report.notes.append(Finding("FRAMES_BEYOND_FILE", arguments=(LAST_FRAME,)))
    start, end = np.clip(frames, -LAST_FRAME, LAST_FRAME).astype(int).tolist()
    return three_ds.Keyframer(nodes, three_ds.Header(_REVISION, _made_in(gathered), end), (start, end), start)


def _made_in(gathered: Sequence[Gathered]) -> bytes:
    """Return the name in the header: the name of 3ds Max if most rotations use its algorithm."""
    count = Counter(node.construction for node in gathered if node.construction is not None)
    chosen: Construction = "SQUAD" if count["SQUAD"] > count["DE_CASTELJAU"] else "DE_CASTELJAU"
    for node in gathered:
        if node.construction not in (None, chosen):
            node.add_note("OTHER_CONSTRUCTION")
    return MAX_NAME if chosen == "SQUAD" else b"TCB"


def _gather_nodes(
    objects: Iterable[bpy.types.Object], scene: bpy.types.Scene, options: ExportOptions, report: Exchanged
) -> list[Gathered]:
    """Return the objects that become nodes, with their targets, parents first."""
    chosen = list(objects)
    targets = {obj: target_of(obj, options.conversion) for obj in chosen if _kind(obj) in three_ds.TARGET_KINDS}
    aims = {target for target, _ in targets.values() if target is not None and target.type == "EMPTY"}
    chosen = [obj for obj in chosen if obj not in aims | upright_spaces(targets)]
    chosen += sorted(aims, key=lambda obj: str(obj.name))
    exported, instances = set(chosen), Instances(options.conversion)
    gathered: list[Gathered] = []
    for obj in sorted(chosen, key=_depth):
        if obj in aims:
            continue
        node = _gather_node(obj, exported, *targets.get(obj, (None, True)), report)
        find_source(node, options.conversion)
        instances.add(node)
        gathered.append(node)
        if node.kind in three_ds.TARGET_KINDS:
            aim = node.target
            parent = aim.parent if aim is not None and aim.parent in exported else None
            add_note = partial(note, report.notes, obj.name if aim is None else aim.name)
            target = Gathered(aim, three_ds.TARGET_KINDS[node.kind], node.name, parent, add_note, aimed_by=obj)
            target.parent_is_aimed = parent is not None and _kind(parent) in three_ds.TARGET_KINDS
            if aim is not None:
                find_source(target, options.conversion)
            gathered.append(target)
    for node in gathered:
        _note_lost_transforms(node, aims)
    return gathered + _ambient(scene, options, report)


def _note_lost_transforms(node: Gathered, aims: set[Any]) -> None:
    """Note transforms that the file cannot inherit.

    Lights and targets inherit only positions. Cameras and spotlights do not inherit scale.
    """
    parent = node.parent
    if parent is None or (_kind(parent) == "OBJECT" and parent not in aims):
        return
    lost = ("scale",) if _kind(parent) in three_ds.TARGET_KINDS else ("scale", "rotation")
    is_scaled = not np.allclose(parent.scale, 1.0)
    is_rotated = "rotation" in lost and parent.matrix_basis.to_quaternion().angle > _ROUNDING
    if is_scaled or is_rotated or any(path.startswith(lost) for path, _ in curves_of(parent)):
        if "rotation" in lost:
            node.add_note("PARENT_LOSES_SCALE_AND_ROTATION", parent.name)
        else:
            node.add_note("PARENT_LOSES_SCALE", parent.name)


def _ambient(scene: Any, options: ExportOptions, report: Exchanged) -> list[Gathered]:
    """Return the ambient light, which has the color of the world.

    The color is the background's, unless other nodes determine it, the world's viewport color is keyed, or the world
    was imported. In these cases, the world's viewport color is used.
    """
    world = scene.world
    if world is None:
        return []
    node = Gathered(world, "AMBIENT", _AMBIENT, None, partial(note, report.notes, world.name))
    find_source(node, options.conversion)
    background = _background(world)
    path = None if background is None else _path_of_color(background)
    is_keyed = any(path == "color" for path, _ in curves_of(world))
    if path is None or is_keyed or node.source is not None:
        node.colored = world, "color"
    else:
        node.colored = world.node_tree, path
    if background is not None and path is None and not is_keyed and node.source is None:
        node.add_note("NODES_MAKE_COLOR")
    if world.node_tree is not None:
        left = ", ".join(sorted({path for path, _ in curves_of(world.node_tree)} - {node.colored[1]}))
        if left:
            node.add_note("NODES_ANIMATED", left)
    return [node]


def _background(world: Any) -> Any:
    """Return the world's background node that is rendered, or None without nodes."""
    # Since Blender 5.0 a world always uses its nodes.
    plays = world.node_tree is not None and (bpy.app.version >= (5, 0, 0) or world.use_nodes)
    output = world.node_tree.get_output_node("ALL") if plays else None
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


def _kind(obj: Any) -> str:
    if obj.type == "LIGHT" and obj.data.type == "SPOT":
        return "SPOTLIGHT"
    return {"CAMERA": "CAMERA", "LIGHT": "LIGHT"}.get(obj.type, "OBJECT")


def _gather_node(obj: Any, exported: set[Any], target: Any, is_upright: bool, report: Exchanged) -> Gathered:
    add_note = partial(note, report.notes, obj.name)
    kind = _kind(obj)
    if obj.type == "LIGHT" and obj.data.type not in ("SPOT", "POINT"):
        kind_of_light = obj.data.type.lower()
        add_note("LIGHT_TYPE", kind_of_light)
    if kind == "OBJECT" and obj.type not in (*GEOMETRY, "EMPTY"):
        add_note("TYPE_AS_DUMMY", obj.type.lower())
    if obj.type == "EMPTY" and obj.instance_type == "COLLECTION" and obj.instance_collection is not None:
        shown = obj.instance_collection.name
        add_note("COLLECTION_AS_DUMMY", shown)
    if obj.type in GEOMETRY and _changes_shape(obj):
        add_note("SHAPE_CHANGES")
    parent = obj.parent
    while parent is not None and parent not in exported:
        parent = parent.parent
    gathered = Gathered(obj, kind, b"", parent, add_note, target=target, is_upright=is_upright)
    gathered.parent_is_aimed = parent is not None and _kind(parent) in three_ds.TARGET_KINDS
    return gathered


def _changes_shape(obj: bpy.types.Object) -> bool:
    """Check whether an armature or shape keys may move the object's vertices."""
    keys = getattr(obj.data, "shape_keys", None)
    moved = keys is not None and keys.animation_data is not None
    return moved or any(modifier.type == "ARMATURE" for modifier in obj.modifiers)


def _depth(obj: bpy.types.Object) -> int:
    depth = 0
    while obj.parent is not None:
        depth, obj = depth + 1, obj.parent
    return depth


def _reason_to_sample(node: Gathered, scene: bpy.types.Scene) -> Finding | None:
    if node.obj is None or node.kind == "AMBIENT":
        return None
    return reason_to_sample(node.obj, node.parent, scene, node.kind in three_ds.TARGET_KINDS)


def _node(index: int, node: Gathered, indices: dict[Any, int]) -> three_ds.Node:
    source = node.source
    return three_ds.Node(
        node.kind,
        node.name,
        None if node.parent is None else indices[node.parent],
        index,
        node.flags if source is None or node.kind == "OBJECT" else source.flags,
        node.pivot if node.kind == "OBJECT" else None,
        node.instance,
        tuple(node.tracks),
        () if source is None else source.chunks,
    )


def _editor_objects(
    gathered: Sequence[Gathered], scene: bpy.types.Scene, conversion: Conversion, left_out: Counter[str]
) -> Iterable[three_ds.Object]:
    """Return the editor objects of the nodes, without duplicates, and add skipped parts to `left_out`."""
    nodes: dict[bytes, Gathered] = {}
    for node in gathered:
        if node.obj is None or node.kind in (*three_ds.TARGET_KINDS.values(), "AMBIENT") or node.name == DUMMY:
            continue
        # If one instance of a mesh is mirrored, readers mirror its other instances too.
        if node.name not in nodes or (_is_mirrored(nodes[node.name]) and not _is_mirrored(node)):
            nodes[node.name] = node
    for node in nodes.values():
        world = np.array(node.obj.matrix_world, dtype=np.float64)
        world[:3, 3] = conversion.places_in_file(world[:3, 3])
        frame = Frame(conversion, is_aimed=node.kind in three_ds.TARGET_KINDS)
        world[:3, :3] = conversion.axes.T @ world[:3, :3] @ frame.inner
        content: three_ds.Mesh | three_ds.Camera | three_ds.Light | None
        if node.kind == "OBJECT":
            pivot = np.zeros(3) if node.pivot is None else node.pivot.astype(float)
            has_mesh = node.obj.type in GEOMETRY
            content = mesh_of(node.obj, world, frame, pivot, left_out, node.add_note) if has_mesh else None
        elif node.kind == "CAMERA":
            content = _camera(node.obj, scene, world, _point_of_aim(node, world, conversion))
        else:
            content = _light(node.obj, world, _point_of_aim(node, world, conversion))
        yield three_ds.Object(node.name, content or three_ds.Mesh())


def _is_mirrored(node: Gathered) -> bool:
    return bool(node.obj.matrix_world.is_negative)


def _point_of_aim(node: Gathered, world: Float64Array, conversion: Conversion) -> Float64Array:
    """Return the target's position in the file, or a point on the axis if there is no target."""
    if node.target is not None:
        return conversion.places_in_file(node.target.matrix_world.translation[:])
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
