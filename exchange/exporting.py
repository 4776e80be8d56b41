# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of the open scene into a 3D Studio file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import bpy
import numpy as np

from ..formats import three_ds
from .conversion import Conversion, FloatArray
from .gathering import TARGET_KINDS, Gathered, Writer, find_source, target_of
from .making import WATTS
from .matrices import Matrices, why_more_than_keys
from .naming import Names
from .planning import DEGREES_MM, DUMMY, node_name, note
from .report import Exchanged, count_found
from .shapes import GEOMETRY, mesh_of
from .sources import recall

_AMBIENT = b"$AMBIENT$"
_REVISION = 5


@dataclass(frozen=True)
class ExportOptions:
    """How to export.

    Attributes
    ----------
    conversion : Conversion
        As for an import: scale is Blender units a unit of the file.
    samples_others : bool
        Write tracks that are not TCB as samples; else they are refused.
    """

    conversion: Conversion = field(default_factory=Conversion)
    samples_others: bool = True


def export_scene(
    objects: Iterable[Any], scene: bpy.types.Scene, options: ExportOptions
) -> tuple[three_ds.Scene, Exchanged]:
    """The objects, with their keys, as a file has them, and what there is to say of it.

    Raises
    ------
    Refusal
        A track can't be written; the text names it.
    """
    report = Exchanged()
    gathered = _gathered(objects, scene, options, report)
    places = {one.item: index for index, one in reversed([*enumerate(gathered)]) if one.item is not None}
    whys = {one: _why_sampled(one) for one in gathered}
    sampled = [one for one in gathered if whys[one] or (one.kind in TARGET_KINDS and one.target is None)]
    items = {one.item for one in sampled if one.item is not None}
    matrices = Matrices([*items, *({one.parent for one in sampled} - items - {None})], scene)
    writer = Writer(options.conversion, options.samples_others, matrices)
    for one in gathered:
        writer.write(one, whys[one])
    nodes = [_node(index, one, places) for index, one in enumerate(gathered)]
    ends: Any = scene
    shown = ends.frame_current, ends.frame_subframe
    ends.frame_set(ends.frame_start)
    editor = three_ds.Editor(tuple(_editor_objects(gathered, options.conversion)))
    ends.frame_set(shown[0], subframe=shown[1])
    start, end = np.rint(options.conversion.in_file([ends.frame_start, ends.frame_end])).astype(int).tolist()
    keyframer = three_ds.Keyframer(tuple(nodes), three_ds.Header(_REVISION, b"TCB", end), (start, end), start)
    written = three_ds.Scene(editor, keyframer)
    count_found(written, report.made)
    return written, report


def _gathered(objects: Iterable[Any], scene: Any, options: ExportOptions, report: Exchanged) -> list[Gathered]:
    """What becomes nodes: objects, with their targets; those that others hang from first."""
    chosen = list(objects)
    targets = {item: target_of(item) for item in chosen if item.type in ("CAMERA", "LIGHT")}
    aims = {target for target in targets.values() if target is not None and target.type == "EMPTY"}
    chosen = [item for item in chosen if item not in aims] + sorted(aims, key=lambda item: str(item.name))
    exported, names = set(chosen), Names()
    first_of: dict[Any, Gathered] = {}
    gathered: list[Gathered] = []
    for item in sorted(chosen, key=_depth):
        if item in aims:
            continue
        one = _gather(item, exported, targets.get(item), report)
        find_source(one, options.conversion)
        _give_name(one, names, first_of)
        gathered.append(one)
        if one.kind in TARGET_KINDS:
            aim = one.target
            parent = aim.parent if aim is not None and aim.parent in exported else None
            say = partial(note, report.notes, item.name if aim is None else aim.name)
            target = Gathered(aim, TARGET_KINDS[one.kind], one.name, parent, say, aimed_by=item)
            if aim is not None:
                find_source(target, options.conversion)
            gathered.append(target)
    return gathered + _ambient(scene, options, report)


def _ambient(scene: Any, options: ExportOptions, report: Exchanged) -> list[Gathered]:
    world = scene.world
    if world is None or recall(world) is None:
        return []
    one = Gathered(world, "AMBIENT", _AMBIENT, None, partial(note, report.notes, world.name))
    find_source(one, options.conversion)
    return [one]


def _gather(item: Any, exported: set[Any], target: Any, report: Exchanged) -> Gathered:
    say = partial(note, report.notes, item.name)
    kind = {"CAMERA": "CAMERA", "LIGHT": "LIGHT"}.get(item.type, "OBJECT")
    if item.type == "LIGHT" and item.data.type == "SPOT":
        kind = "SPOTLIGHT"
    if item.type == "LIGHT" and item.data.type not in ("SPOT", "POINT"):
        say(f"a {item.data.type.lower()} light, which the file has not: written as one that shines all round")
    if kind == "OBJECT" and item.type not in (*GEOMETRY, "EMPTY"):
        say(f"{item.type.lower()}s have no place in the file: written as a dummy")
    parent = item.parent
    while parent is not None and parent not in exported:
        parent = parent.parent
    return Gathered(item, kind, b"", parent, say, target=target if kind in TARGET_KINDS else None)


def _depth(item: Any) -> int:
    depth = 0
    while item.parent is not None:
        depth, item = depth + 1, item.parent
    return depth


def _give_name(one: Gathered, names: Names, first_of: dict[Any, Gathered]) -> None:
    """A name of its own; that of the object whose mesh it shares, and an instance's; a dummy's."""
    item, source = one.item, one.source
    first = first_of.setdefault(item.data, one) if item.type in GEOMETRY and not item.modifiers else one
    if first is not one:
        one.name = first.name
        given = None if source is None or node_name(source) != item.name else source.instance_name
        one.instance = given or names.take(item.name, one.say)
    elif source is not None and source.name == DUMMY:
        one.name, one.instance = DUMMY, names.take(item.name, one.say)
    elif source is not None and node_name(source) == item.name:
        one.name, one.instance = names.take(source.name.decode("latin-1"), one.say), source.instance_name
    else:
        one.name = names.take(item.name, one.say)


def _why_sampled(one: Gathered) -> str:
    if one.item is None or one.kind == "AMBIENT":
        return ""
    return why_more_than_keys(one.item, one.parent, one.kind in TARGET_KINDS)


def _node(index: int, one: Gathered, places: dict[Any, int]) -> three_ds.Node:
    source = one.source
    pivot = (np.zeros(3, np.float32) if source is None else source.pivot) if one.kind == "OBJECT" else None
    return three_ds.Node(
        one.kind,
        one.name,
        None if one.parent is None else places[one.parent],
        index,
        one.flags if source is None or one.kind == "OBJECT" else source.flags,
        pivot,
        one.instance,
        tuple(one.tracks),
        () if source is None else source.chunks,
    )


def _editor_objects(gathered: Sequence[Gathered], conversion: Conversion) -> Iterable[three_ds.Object]:
    """What the nodes show, once each."""
    done: set[bytes] = set()
    for one in gathered:
        if one.item is None or one.name in done or one.kind in (*TARGET_KINDS.values(), "AMBIENT") or one.name == DUMMY:
            continue
        done.add(one.name)
        world = np.array(one.item.matrix_world, dtype=np.float64)
        world[:3, 3] /= conversion.scale
        content: three_ds.Mesh | three_ds.Camera | three_ds.Light | None
        if one.kind == "OBJECT":
            pivot = np.zeros(3) if one.source is None or one.source.pivot is None else one.source.pivot.astype(float)
            shows = one.item.type in GEOMETRY
            content = mesh_of(one.item, world, 1.0 / conversion.scale, pivot, one.say) if shows else None
        elif one.kind == "CAMERA":
            content = _camera(one.item, world, _sight(one, world, conversion))
        else:
            content = _light(one.item, world, _sight(one, world, conversion))
        yield three_ds.Object(one.name, content or three_ds.Mesh())


def _sight(one: Gathered, world: FloatArray, conversion: Conversion) -> FloatArray:
    if one.target is not None:
        return np.array(one.target.matrix_world.translation, dtype=np.float64) / conversion.scale
    return np.asarray(world[:3, 3] - world[:3, 2])


def _camera(item: Any, world: FloatArray, target: FloatArray) -> three_ds.Camera:
    lens = DEGREES_MM / math.degrees(item.data.angle_x)
    return three_ds.Camera(world[:3, 3].astype(np.float32), target.astype(np.float32), 0.0, lens)


def _light(item: Any, world: FloatArray, target: FloatArray) -> three_ds.Light:
    light = item.data
    spot = None
    if light.type == "SPOT":
        size = math.degrees(light.spot_size)
        spot = three_ds.Spotlight(target.astype(np.float32), size * (1.0 - light.spot_blend), size)
    color = np.array(light.color[:], np.float32)
    return three_ds.Light(world[:3, 3].astype(np.float32), color, light.energy / WATTS, spot)
