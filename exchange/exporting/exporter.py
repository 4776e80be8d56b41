# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of objects of the open scene to a 3D Studio file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...animation import Refusal
from ...animation.bake.pipeline import Progress
from ...animation.fcurves.channels import channels_of
from ...animation.translation import n_, rpt_
from ...formats import three_ds
from ...interp.splines.tcb import Construction
from ..conversion import Conversion, FloatArray, Frame
from ..importing.new_objects import WATTS
from ..importing.plan_objects import DEGREES_MM, DUMMY, note
from ..left_out import count_in_file, count_in_scene, left_of_objects
from ..mesh_export import GEOMETRY, mesh_of
from ..report import Exchanged, count_found
from ..rotation_keys import MAX_NAME
from .instances import Instances
from .matrices import Matrices, frames_of, looked_at, why_more_than_keys
from .names import Names
from .nodes import (
    TARGET_KINDS,
    Gathered,
    Writer,
    find_source,
    fov_of,
    hotspot_of,
    rolls_of,
    target_of,
    upright_spaces,
    width_seen,
)
from .track_keys import SampleLimit

EXPORT_STEPS = n_("{:,} of {:,} steps of the export done")
_AMBIENT = b"$AMBIENT$"
_REVISION = 5
SAMPLE_LIMIT = 1_000_000
"""Most samples in a file, some minutes of work, unless the limit is raised."""
_ROUNDING = 1e-6
"""Radians by which float32 may differ from no turn."""


@dataclass(frozen=True)
class ExportOptions:
    """How to export.

    Attributes
    ----------
    conversion : Conversion
        As for an import: from the file's axes to Blender's, and scale is Blender units a unit of the file.
    samples_others : bool
        Write tracks that are not TCB as samples; else they are refused.
    sample_limit : int
        Refuse more samples than this, objects times frames.
    """

    conversion: Conversion = field(default_factory=Conversion)
    samples_others: bool = True
    sample_limit: int = SAMPLE_LIMIT


Steps = Generator[tuple[int, int], None, tuple[three_ds.Scene, Exchanged]]
"""An export step by step: yields the steps done and the number of all; closing it leaves all as it was."""


def export_scene(
    objects: Iterable[Any], scene: bpy.types.Scene, options: ExportOptions, progress: Progress | None = None
) -> tuple[three_ds.Scene, Exchanged]:
    """Return a scene of a file with the objects and their keys, and a report.

    `progress` is called with the number of steps done and in all.

    Raises
    ------
    Refusal
        A track can't be written, or there would be too many samples; the text names it.
    """
    steps = export_steps(objects, scene, options)
    while True:
        try:
            done = next(steps)
        except StopIteration as end:
            written: tuple[three_ds.Scene, Exchanged] = end.value
            return written
        if progress is not None:
            progress(*done)


def export_steps(objects: Iterable[Any], scene: bpy.types.Scene, options: ExportOptions) -> Steps:
    """Return the same as a generator of steps: frame by frame where objects are sampled, then object by object."""
    report = Exchanged()
    gathered = _gathered(objects, scene, options, report)
    shown = [one.item for one in gathered if isinstance(one.item, bpy.types.Object)]
    places = {one.item: index for index, one in reversed([*enumerate(gathered)]) if one.item is not None}
    whys = {one: _why_sampled(one) for one in gathered}
    rolls = [one for one in gathered if one.kind in TARGET_KINDS and (one.target is None or not one.is_upright)]
    sampled = [*(one for one in gathered if whys[one]), *rolls]
    items = {one.item for one in sampled} - {None}
    ends: Any = scene
    limit = SampleLimit(options.sample_limit)
    for item in sorted(items, key=lambda item: str(item.name)):
        limit.take(len(frames_of(ends)), partial(Refusal, item.name))
    with looked_at(
        {item for one in gathered for item in (one.item, one.target) if isinstance(item, bpy.types.Object)}, scene
    ):
        matrices = Matrices([*items, *({one.parent for one in sampled} - items - {None})], scene)
        steps = len(matrices) + len(gathered)
        for done in matrices.sample():
            yield done, steps
        writer = Writer(scene, options.conversion, options.samples_others, matrices, limit)
        for done, one in enumerate(gathered, start=len(matrices) + 1):
            writer.write(one, whys[one])
            yield done, steps
        nodes = [_node(index, one, places) for index, one in enumerate(gathered)]
        ends.frame_set(ends.frame_start)
        left = left_of_objects(shown)
        editor = three_ds.Editor(tuple(_editor_objects(gathered, scene, options.conversion, left)))
    start, end = np.rint(options.conversion.in_file([ends.frame_start, ends.frame_end])).astype(int).tolist()
    header = three_ds.Header(_REVISION, _made_in(gathered), end)
    keyframer = three_ds.Keyframer(tuple(nodes), header, (start, end), start)
    written = three_ds.Scene(editor, keyframer)
    count_found(written, report.made)
    report.in_file, report.in_scene = count_in_file(written), count_in_scene(shown)
    report.tell_left(left)
    return written, report


def _made_in(gathered: Sequence[Gathered]) -> bytes:
    """Return the name of the program's file for the header: 3ds Max's where most rotations are played as in Blender."""
    count = Counter(one.construction for one in gathered if one.construction is not None)
    chosen: Construction = "SQUAD" if count["SQUAD"] > count["DE_CASTELJAU"] else "DE_CASTELJAU"
    for one in gathered:
        if one.construction not in (None, chosen):
            one.say(rpt_("the file can't say that its rotation goes between keys otherwise than most"))
    return MAX_NAME if chosen == "SQUAD" else b"TCB"


def _gathered(objects: Iterable[Any], scene: Any, options: ExportOptions, report: Exchanged) -> list[Gathered]:
    """Return the objects that become nodes, with their targets; parents first."""
    chosen = list(objects)
    targets = {item: target_of(item, options.conversion) for item in chosen if _kind(item) in TARGET_KINDS}
    aims = {target for target, _ in targets.values() if target is not None and target.type == "EMPTY"}
    chosen = [item for item in chosen if item not in aims | upright_spaces(targets)]
    chosen += sorted(aims, key=lambda item: str(item.name))
    exported, instances = set(chosen), Instances(options.conversion, Names())
    gathered: list[Gathered] = []
    for item in sorted(chosen, key=_depth):
        if item in aims:
            continue
        one = _gather(item, exported, *targets.get(item, (None, True)), report)
        find_source(one, options.conversion)
        instances.name(one)
        gathered.append(one)
        if one.kind in TARGET_KINDS:
            aim = one.target
            parent = aim.parent if aim is not None and aim.parent in exported else None
            say = partial(note, report.notes, item.name if aim is None else aim.name)
            target = Gathered(aim, TARGET_KINDS[one.kind], one.name, parent, say, aimed_by=item)
            target.parent_is_aimed = parent is not None and _kind(parent) in TARGET_KINDS
            if aim is not None:
                find_source(target, options.conversion)
            gathered.append(target)
    for one in gathered:
        _say_what_parents_lose(one, aims)
    return gathered + _ambient(scene, options, report)


def _say_what_parents_lose(one: Gathered, aims: set[Any]) -> None:
    """Note what the file can't pass on: to lights and targets more than positions, to cameras and spotlights scale."""
    parent = one.parent
    if parent is None or (_kind(parent) == "OBJECT" and parent not in aims):
        return
    lost = ("scale",) if _kind(parent) in TARGET_KINDS else ("scale", "rotation")
    scales = not np.allclose(parent.scale, 1.0)
    turns = "rotation" in lost and parent.matrix_basis.to_quaternion().angle > _ROUNDING
    if scales or turns or any(curve.data_path.startswith(lost) for curve in _curves_of(parent)):
        if "rotation" in lost:
            one.say(rpt_('hangs from "{:s}", of which the file has no scale or rotation: it goes without', parent.name))
        else:
            one.say(rpt_('hangs from "{:s}", of which the file has no scale: it goes without', parent.name))


def _curves_of(item: Any) -> list[bpy.types.FCurve]:
    try:
        return list(channels_of(item))
    except Refusal:
        return []


def _ambient(scene: Any, options: ExportOptions, report: Exchanged) -> list[Gathered]:
    """Return the world's color as the ambient light, also where it is keyed, or the world was imported.

    It is the color of the background, if that is a plain one, else the world's viewport color.
    """
    world = scene.world
    if world is None:
        return []
    one = Gathered(world, "AMBIENT", _AMBIENT, None, partial(note, report.notes, world.name))
    find_source(one, options.conversion)
    background = _plain_background(world)
    is_keyed = any(curve.data_path == "color" for curve in _curves_of(world))
    if background is None or is_keyed or one.source is not None:
        one.colored = world, "color"
    else:
        one.colored = world.node_tree, background
    if world.node_tree is not None:
        left = ", ".join(sorted({curve.data_path for curve in _curves_of(world.node_tree)} - {one.colored[1]}))
        if left:
            one.say(rpt_("its nodes are animated, which is left: {:s}", left))
    return [one]


def _plain_background(world: Any) -> str | None:
    """Return the path, in the world's nodes, of the color of a plain background; None where other nodes make it."""
    # From Blender 5.0 on a world always uses its nodes.
    plays = world.node_tree is not None and (bpy.app.version >= (5, 0, 0) or world.use_nodes)
    output = world.node_tree.get_output_node("ALL") if plays else None
    if output is None or not output.inputs["Surface"].is_linked:
        return None
    node = output.inputs["Surface"].links[0].from_node
    if node.bl_idname != "ShaderNodeBackground" or node.inputs["Color"].is_linked:
        return None
    return f"{node.inputs['Color'].path_from_id()}.default_value"


def _kind(item: Any) -> str:
    if item.type == "LIGHT" and item.data.type == "SPOT":
        return "SPOTLIGHT"
    return {"CAMERA": "CAMERA", "LIGHT": "LIGHT"}.get(item.type, "OBJECT")


def _gather(item: Any, exported: set[Any], target: Any, is_upright: bool, report: Exchanged) -> Gathered:
    say = partial(note, report.notes, item.name)
    kind = _kind(item)
    if item.type == "LIGHT" and item.data.type not in ("SPOT", "POINT"):
        kind_of_light = item.data.type.lower()
        say(rpt_("a {:s} light, which the file has not: written as one that shines all round", kind_of_light))
    if kind == "OBJECT" and item.type not in (*GEOMETRY, "EMPTY"):
        say(rpt_("{:s}s have no place in the file: written as a dummy", item.type.lower()))
    if item.type == "EMPTY" and item.instance_type == "COLLECTION" and item.instance_collection is not None:
        shown = item.instance_collection.name
        say(rpt_('shows the collection "{:s}", which is left: written as a dummy', shown))
    if item.type in GEOMETRY and _changes_shape(item):
        say(rpt_("its shape changes, which the file can't say: written as it is at the first frame"))
    parent = item.parent
    while parent is not None and parent not in exported:
        parent = parent.parent
    gathered = Gathered(item, kind, b"", parent, say, target=target, is_upright=is_upright)
    gathered.parent_is_aimed = parent is not None and _kind(parent) in TARGET_KINDS
    return gathered


def _changes_shape(item: Any) -> bool:
    """Check whether an armature or shape keys may move the object's vertices."""
    keys = getattr(item.data, "shape_keys", None)
    moved = keys is not None and keys.animation_data is not None
    return moved or any(modifier.type == "ARMATURE" for modifier in item.modifiers)


def _depth(item: Any) -> int:
    depth = 0
    while item.parent is not None:
        depth, item = depth + 1, item.parent
    return depth


def _why_sampled(one: Gathered) -> str:
    if one.item is None or one.kind == "AMBIENT":
        return ""
    return why_more_than_keys(one.item, one.parent, one.kind in TARGET_KINDS)


def _node(index: int, one: Gathered, places: dict[Any, int]) -> three_ds.Node:
    source = one.source
    return three_ds.Node(
        one.kind,
        one.name,
        None if one.parent is None else places[one.parent],
        index,
        one.flags if source is None or one.kind == "OBJECT" else source.flags,
        one.pivot if one.kind == "OBJECT" else None,
        one.instance,
        tuple(one.tracks),
        () if source is None else source.chunks,
    )


def _editor_objects(
    gathered: Sequence[Gathered], scene: bpy.types.Scene, conversion: Conversion, left: Counter[str]
) -> Iterable[three_ds.Object]:
    """Return the objects that the nodes show, once each; what is left out of them is added to `left`."""
    shown: dict[bytes, Gathered] = {}
    for one in gathered:
        if one.item is None or one.kind in (*TARGET_KINDS.values(), "AMBIENT") or one.name == DUMMY:
            continue
        # Where an instance of a mesh is mirrored, readers also mirror the instances that are not.
        if one.name not in shown or (_is_mirrored(shown[one.name]) and not _is_mirrored(one)):
            shown[one.name] = one
    for one in shown.values():
        world = np.array(one.item.matrix_world, dtype=np.float64)
        world[:3, 3] = conversion.places_in_file(world[:3, 3])
        frame = Frame(conversion, is_aimed=one.kind in TARGET_KINDS)
        world[:3, :3] = conversion.axes.T @ world[:3, :3] @ frame.inner
        content: three_ds.Mesh | three_ds.Camera | three_ds.Light | None
        if one.kind == "OBJECT":
            pivot = np.zeros(3) if one.pivot is None else one.pivot.astype(float)
            shows = one.item.type in GEOMETRY
            content = mesh_of(one.item, world, frame, pivot, left, one.say) if shows else None
        elif one.kind == "CAMERA":
            content = _camera(one.item, scene, world, _sight(one, world, conversion))
        else:
            content = _light(one.item, world, _sight(one, world, conversion))
        yield three_ds.Object(one.name, content or three_ds.Mesh())


def _is_mirrored(one: Gathered) -> bool:
    return bool(one.item.matrix_world.is_negative)


def _sight(one: Gathered, world: FloatArray, conversion: Conversion) -> FloatArray:
    if one.target is not None:
        return conversion.places_in_file(one.target.matrix_world.translation[:])
    return np.asarray(world[:3, 3] - world[:3, 2])


def _camera(item: Any, scene: bpy.types.Scene, world: FloatArray, target: FloatArray) -> three_ds.Camera:
    lens = DEGREES_MM / float(fov_of(item.data.lens, width_seen(item.data, scene)))
    roll = math.degrees(rolls_of(world[np.newaxis, :3, :3])[0])
    return three_ds.Camera(world[:3, 3].astype(np.float32), target.astype(np.float32), roll, lens)


def _light(item: Any, world: FloatArray, target: FloatArray) -> three_ds.Light:
    light = item.data
    spot = None
    if light.type == "SPOT":
        inner = math.degrees(float(hotspot_of(light.spot_blend, light.spot_size)))
        roll = math.degrees(rolls_of(world[np.newaxis, :3, :3])[0])
        spot = three_ds.Spotlight(target.astype(np.float32), inner, math.degrees(light.spot_size), roll)
    color = np.array(light.color[:], np.float32)
    return three_ds.Light(world[:3, 3].astype(np.float32), color, light.energy / WATTS, spot)
