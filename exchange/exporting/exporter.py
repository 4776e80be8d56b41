# SPDX-License-Identifier: GPL-3.0-or-later
"""Export objects of the open scene to a 3D Studio file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from ...animation.fcurves.keyframes import Float64Array
from ...animation.report import Finding
from ...animation.steps import Steps
from ...animation.text import n_
from ...formats import three_ds
from ...formats.three_ds.tracks import LAST_FRAME
from ...interp.splines.tcb import Construction
from ..conversion import DEGREES_MM, WATTS, Conversion, NodeSpace, fov_of, hotspot_of, rolls_of, width_seen
from ..importing.plan_objects import DUMMY
from ..meshes import GEOMETRY, left_out_of_objects, mesh_of
from ..report import ExchangeReport, counts_of_file
from ..rotation_modes import MAX_NAME
from .gather_nodes import ExportNode, gather_nodes
from .node_writer import NodeWriter
from .samples import Matrices, SampleLimit, frames_of, kept_evaluated, reason_to_sample_object

EXPORT_STEPS = n_("{:,} of {:,} steps of the export done")


def export_steps(
    objects: Iterable[bpy.types.Object], scene: bpy.types.Scene, conversion: Conversion, sample_limit: int
) -> Steps[tuple[three_ds.Scene, ExchangeReport]]:
    """Export in steps, by frame while sampling objects, and then by object.

    Yields the number of finished steps and the total, and returns a file scene with the objects and their keys, and a
    report. Closing the generator restores the original state. The conversion is from the file to Blender, as for an
    import. Samples are objects times frames. Raises AnimationError, naming the track, if a track cannot be written or
    there would be too many samples.
    """
    report = ExchangeReport()
    nodes = gather_nodes(objects, scene, conversion, report)
    reasons = {node: reason_to_sample_object(node, scene) for node in nodes}
    limit = SampleLimit(sample_limit)
    objects_to_sample = _objects_to_sample([node for node in nodes if reasons[node] or node.has_own_roll], scene, limit)
    exported = [node.obj for node in nodes if isinstance(node.obj, bpy.types.Object)]
    targets = [node.target for node in nodes if node.target is not None]
    with kept_evaluated({*exported, *targets}, scene):
        matrices = Matrices(objects_to_sample, scene)
        steps = len(matrices) + len(nodes)
        for done in matrices.sample():
            yield done, steps
        writer = NodeWriter(scene, conversion, matrices, limit)
        for done, node in enumerate(nodes, start=len(matrices) + 1):
            writer.write(node, reasons[node])
            yield done, steps
        # Editor objects have no animation, so they are written as they are at the first frame.
        scene.frame_set(scene.frame_start)
        left_out = left_out_of_objects(exported)
        editor = three_ds.Editor(tuple(_editor_objects(nodes, scene, conversion, left_out)))
    file_scene = three_ds.Scene(editor, _keyframer(nodes, scene, conversion, report))
    report.counts = counts_of_file(file_scene)
    report.note_left_out(left_out)
    return file_scene, report


def _objects_to_sample(nodes: Sequence[ExportNode], scene: bpy.types.Scene, limit: SampleLimit) -> list[Any]:
    """Return the objects and their parents. Raises AnimationError if the objects would exceed the limit of samples."""
    objects = {node.obj for node in nodes} - {None}
    parents = {node.parent for node in nodes} - objects - {None}
    for obj in sorted(objects, key=lambda obj: str(obj.name)):
        limit.take(len(frames_of(scene)), obj.name)
    return [*objects, *parents]


def _keyframer(
    nodes: Sequence[ExportNode], scene: bpy.types.Scene, conversion: Conversion, report: ExchangeReport
) -> three_ds.Keyframer:
    """Return the nodes and the frame range of the file."""
    # The target of several cameras has several nodes. Its children belong to the first one.
    indices: dict[Any, int] = {}
    for index, node in enumerate(nodes):
        if node.obj is not None:
            indices.setdefault(node.obj, index)
    file_nodes = tuple(_file_node(index, node, indices) for index, node in enumerate(nodes))
    frames = np.rint(conversion.frames_in_file([scene.frame_start, scene.frame_end]))
    if np.abs(frames).max() > LAST_FRAME:
        report.notes.append(Finding("FRAMES_BEYOND_FILE", arguments=(LAST_FRAME,)))
    start, end = np.clip(frames, -LAST_FRAME, LAST_FRAME).astype(int).tolist()
    return three_ds.Keyframer(file_nodes, three_ds.Header(name=_program_name(nodes), length=end), (start, end), start)


def _file_node(index: int, node: ExportNode, indices: dict[Any, int]) -> three_ds.Node:
    source = node.imported.node
    return three_ds.Node(
        node.kind,
        node.name,
        parent=None if node.parent is None else indices[node.parent],
        node_id=index,
        flags=node.flags if source is None or node.kind == "OBJECT" else source.flags,
        pivot=node.pivot if node.kind == "OBJECT" else None,
        instance_name=node.instance,
        tracks=tuple(node.tracks),
        chunks=() if source is None else source.chunks,
    )


def _program_name(nodes: Sequence[ExportNode]) -> bytes:
    """Return the name in the header, 3ds Max's if most rotations use its algorithm. Add notes to the other nodes."""
    count = Counter(node.construction for node in nodes if node.construction is not None)
    used: Construction = "SQUAD" if count["SQUAD"] > count["DE_CASTELJAU"] else "DE_CASTELJAU"
    for node in nodes:
        if node.construction not in (None, used):
            node.add_note("OTHER_CONSTRUCTION")
    return MAX_NAME if used == "SQUAD" else b"TCB"


def _editor_objects(
    nodes: Sequence[ExportNode], scene: bpy.types.Scene, conversion: Conversion, left_out: Counter[str]
) -> Iterator[three_ds.Object]:
    """Yield the editor objects of the nodes, without duplicates, and add skipped parts to `left_out`."""
    for node in _nodes_with_objects(nodes):
        space = NodeSpace(conversion, is_aimed=node.is_aimed)
        world = np.array(node.obj.matrix_world, dtype=np.float64)
        world[:3, 3] = space.positions_in_file(world[:3, 3])
        world[:3, :3] = conversion.axes.T @ world[:3, :3] @ space.inner
        content: three_ds.Mesh | three_ds.Camera | three_ds.Light | None = None
        if node.kind == "CAMERA":
            content = _camera(node.obj, scene, world, _target_position(node, world, space))
        elif node.kind in ("LIGHT", "SPOTLIGHT"):
            content = _light(node.obj, world, _target_position(node, world, space))
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
        if first.obj.matrix_world.is_negative and not node.obj.matrix_world.is_negative:
            node_of_name[node.name] = node
    return node_of_name.values()


def _target_position(node: ExportNode, world: Float64Array, space: NodeSpace) -> Float64Array:
    """Return the target's position in the file, or a point on the axis if there is no target."""
    if node.target is not None:
        return space.positions_in_file(node.target.matrix_world.translation[:])
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
