# SPDX-License-Identifier: GPL-3.0-or-later
"""Export objects of the open scene to a 3D Studio file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np

from ...animation.errors import Finding
from ...animation.steps import Steps
from ...animation.translation import n_
from ...formats import three_ds
from ...formats.three_ds.tracks import LAST_FRAME
from ...interp.splines.tcb import Construction
from ..conversion import Conversion
from ..meshes import left_out_of_objects
from ..report import ExchangeReport, counts_of_file
from ..rotation_modes import MAX_NAME
from .editor_objects import editor_objects
from .export_node import ExportNode
from .gather_nodes import gather_nodes
from .matrices import Matrices, kept_evaluated
from .node_writer import NodeWriter
from .reasons_to_sample import reason_to_sample_object
from .samples import SampleLimit, frames_of

EXPORT_STEPS = n_("{:,} of {:,} steps of the export done")


def export_steps(
    objects: Iterable[bpy.types.Object], scene: bpy.types.Scene, conversion: Conversion, sample_limit: int
) -> Steps[tuple[three_ds.Scene, ExchangeReport]]:
    """Export in steps, by frame while sampling objects, and then by object.

    Yields the number of finished steps and the total. Closing the generator restores the original state.

    Parameters
    ----------
    objects, scene : iterable of bpy.types.Object, bpy.types.Scene
    conversion : Conversion
        The conversion from the file to Blender, as for an import. `scale` is in Blender units per file unit.
    sample_limit : int
        Maximum number of samples (objects times frames).

    Returns
    -------
    tuple of Scene and ExchangeReport
        A file scene with the objects and their keys, and a report.

    Raises
    ------
    AnimationError
        If a track cannot be written, or there would be too many samples. The message names the track.
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
        scene.frame_set(scene.frame_start)
        left_out = left_out_of_objects(exported)
        editor = three_ds.Editor(tuple(editor_objects(nodes, scene, conversion, left_out)))
    file_scene = three_ds.Scene(editor, _keyframer(nodes, scene, conversion, report))
    report.counts = counts_of_file(file_scene)
    report.note_left_out(left_out)
    return file_scene, report


def _objects_to_sample(nodes: Sequence[ExportNode], scene: bpy.types.Scene, limit: SampleLimit) -> list[Any]:
    """Return the objects of the nodes, which count as samples, and the parents of these objects."""
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
    source = node.source
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
    """Return the name in the header: the name of 3ds Max if most rotations use its algorithm."""
    count = Counter(node.construction for node in nodes if node.construction is not None)
    used: Construction = "SQUAD" if count["SQUAD"] > count["DE_CASTELJAU"] else "DE_CASTELJAU"
    for node in nodes:
        if node.construction not in (None, used):
            node.add_note("OTHER_CONSTRUCTION")
    return MAX_NAME if used == "SQUAD" else b"TCB"
