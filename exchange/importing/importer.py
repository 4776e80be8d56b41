# SPDX-License-Identifier: GPL-3.0-or-later
"""Import 3D Studio files into the open scene."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import bpy
import numpy as np

from ...animation import Options, Report
from ...animation.bake.pipeline import bake_steps
from ...animation.datablocks import name_of
from ...animation.errors import Finding
from ...animation.fcurves.frames import LAST_FRAME
from ...animation.fcurves.keyframes import Float64Array
from ...animation.report import HandleError
from ...animation.steps import Progress, Steps, run_steps
from ...animation.store.table.stored_bake_options import Output
from ...formats import three_ds
from ...interp.messages import Text
from ..conversion import Conversion
from ..imported_state import conversion_text, remember
from ..left_out_counts import left_out_of_file
from ..options import IMPORT
from ..report import Exchanged
from ..rotation_modes import Choices
from .match_objects import match_objects, note_differences, reason_left
from .new_objects import Made, make_axes, make_objects
from .plan_objects import note, plan
from .planned import Planned
from .set_properties import Applied, apply

_FAR = 1.0
"""Degrees. Handles with a larger error are replaced with samples."""
_AT_ONCE = 200
"""Number of datablocks whose tracks are evaluated in one step."""


@dataclass(frozen=True)
class ImportOptions:
    """The options of an import.

    Attributes
    ----------
    conversion : Conversion
        The conversion of axes, scale and frames.
    choices : Choices
        The options for rotations.
    matches : bool
        Animate existing objects of the scene, matched by name, instead of creating new ones.
    output : "HANDLES", "SAMPLES", "CURVES" or "NONE"
        The output of the bake. Rotations for which handles are inaccurate are baked as samples.
    sample_limit : int
        Maximum number of samples. Larger animations are played by handles.
    """

    conversion: Conversion = field(default_factory=Conversion)
    choices: Choices = field(default_factory=Choices)
    matches: bool = False
    output: str = IMPORT["output"].default
    sample_limit: int = IMPORT["sample_limit"].default


def import_files(
    scenes: Mapping[str, three_ds.Scene],
    into: bpy.types.Scene,
    collection: bpy.types.Collection,
    options: ImportOptions,
    progress: Progress | None = None,
) -> Exchanged:
    """Import the scenes of files into the open scene. If the import fails, all changes are reverted.

    Parameters
    ----------
    scenes : mapping of str to Scene
        The scenes by file name.
    into, collection : bpy.types.Scene, bpy.types.Collection
        The scene and the collection for new objects.
    options : ImportOptions
    progress : callable, optional
        Called with the number of finished steps and the total.

    Returns
    -------
    Exchanged
        The data that was found, created, matched and skipped.
    """
    return run_steps(import_steps(scenes, into, collection, options), progress)


def import_steps(
    scenes: Mapping[str, three_ds.Scene],
    into: bpy.types.Scene,
    collection: bpy.types.Collection,
    options: ImportOptions,
) -> Steps[Exchanged]:
    """Import files in steps, by object and then by track.

    Yields the number of finished steps and the total. Closing the generator removes everything that was created.
    """
    report = Exchanged()
    made = Made(collection)
    try:
        for name, scene in scenes.items():
            done = Exchanged(
                damage=[Finding("FILE_DAMAGED", arguments=(_text(each),)) for each in scene.warnings if each.lost],
                notes=[Finding("FILE_WARNING", arguments=(_text(each),)) for each in scene.warnings if not each.lost],
            )
            yield from _import(scene, into, made, options, done)
            if len(scenes) > 1:
                done.damage = [Finding("OF_FILE", arguments=(name, each)) for each in done.damage]
                done.notes = [Finding("OF_FILE", arguments=(name, each)) for each in done.notes]
            report.add(done)
        if options.output != "NONE" and report.animated:
            ends = np.array([segment_of(scene) for scene in scenes.values()])
            for done_so_far, total in _bake(report, options.conversion.frames(ends), options):
                yield total + done_so_far, 2 * total
    except BaseException:
        made.take_back()
        raise
    made.finish()
    return report


def _bake(report: Exchanged, ends: Float64Array, options: ImportOptions) -> Steps[None]:
    """Bake all keys, and replace inaccurate handles with samples."""
    if options.output == "HANDLES":
        report.baked.add((yield from bake_steps(report.animated, Options(output="HANDLES"), at_once=_AT_ONCE)))
        yield from _bake_far(report, ends, options)
    else:
        prefixes = {datablock: [""] for datablock in report.animated}
        report.baked.add((yield from _baked_to_the_end(report, prefixes, ends, options)))
    report.notes += [*report.baked.refused, *report.baked.notes]


def _bake_far(report: Exchanged, ends: Float64Array, options: ImportOptions) -> Steps[None]:
    """Bake rotations with visibly inaccurate handles as samples, for example turns of more than 180 degrees."""
    baked = report.baked
    far = [each for each in baked.handles if each["rotation"] and each["error"] > _FAR]
    if not far:
        return
    prefixes: dict[bpy.types.ID, list[str]] = {}
    for datablock in report.animated:
        paths = [each["track"] for each in far if each["datablock"] == name_of(datablock)]
        if paths:
            prefixes[datablock] = paths
    # The steps of this second bake are not added to the total.
    done = yield from _baked_to_the_end(report, prefixes, ends, replace(options, output="SAMPLES"))
    sampled = set(map(_track_of, far))
    baked.notes = [note for note in baked.notes if (note.object, note.track) not in sampled]
    baked.notes += done.notes
    sampled -= set(map(_track_of, done.handles))
    far = [each for each in far if _track_of(each) in sampled]
    baked.handles = [each for each in baked.handles if each not in far]
    turns = [each["error"] for each in baked.handles if each["rotation"]]
    baked.rotation_error = math.radians(max(turns, default=0.0))
    baked.samples += done.samples
    baked.errors += done.errors
    baked.notes += [
        Finding("SAMPLES_FOR_HANDLES", each["datablock"], each["track"], arguments=((each["error"], "°"),))
        for each in far
    ]


def _track_of(error: HandleError) -> tuple[str, str]:
    """Return the names of the datablock and the track."""
    return error["datablock"], error["track"]


def _baked_to_the_end(
    report: Exchanged,
    prefixes: Mapping[bpy.types.ID, Sequence[str]],
    ends: Float64Array,
    options: ImportOptions,
) -> Steps[Report]:
    """Bake the tracks with these path prefixes, and extend cyclic tracks to the playback range of the files.

    `ends` contains the first and last frames of each file.
    """
    ranges = np.array([*ends, *report.cyclic.values()]).clip(-LAST_FRAME, LAST_FRAME)
    whole = float(np.floor(ranges[:, 0].min())), float(np.ceil(ranges[:, 1].max()))
    done = Report()
    for cycles, extend in ((False, None), (True, whole)):
        some = {datablock: paths for datablock, paths in prefixes.items() if (datablock in report.cyclic) == cycles}
        if some:
            output = cast(Output, options.output)
            how = Options(output=output, extend=extend, sample_limit=options.sample_limit)
            done.add((yield from _baked_within_limit(some, how)))
    return done


def _baked_within_limit(prefixes: Mapping[bpy.types.ID, Sequence[str]], how: Options) -> Steps[Report]:
    """Bake the tracks, and use handles if there would be more samples than the limit."""
    done = yield from bake_steps(prefixes, how, prefixes, at_once=_AT_ONCE)
    refused = [error for error in done.errors if error.code == "TOO_MANY_SAMPLES"]
    if not refused:
        return done
    by_handles = yield from bake_steps(prefixes, Options(output="HANDLES"), prefixes, at_once=_AT_ONCE)
    by_handles.notes[:0] = [replace(error, code="HANDLES_FOR_SAMPLES") for error in refused]
    return by_handles


def _text(warning: three_ds.ReadWarning) -> Text:
    return Text(warning.text, *warning.values)


def _import(
    scene: three_ds.Scene,
    into: bpy.types.Scene,
    made: Made,
    options: ImportOptions,
    report: Exchanged,
) -> Steps[None]:
    choices = options.choices.resolved(scene)
    planned = plan(scene, options.conversion, choices, report.notes)
    if options.matches:
        items = _matched(planned, into, made, report)
    else:
        items = yield from make_objects(planned, made, report.notes)
        report.made += Counter(one.kind.lower() for one in planned)
    aims = any(one.target is not None for one in planned)
    axes = make_axes(options.conversion, made) if aims and not options.conversion.keeps_up else None
    applied, converted = Applied(), conversion_text(options.conversion, choices)
    for index, (one, item) in enumerate(zip(planned, items, strict=True)):
        if item is None:
            continue
        if not options.matches and one.parent is not None and one.kind != "WORLD":
            item.parent = items[one.parent]
        apply(one, item, None if one.target is None else items[one.target], axes, applied)
        remember(item, one.node, converted)
        if not options.matches and one.kind == "WORLD":
            _place_world(item, into, report)
        yield index, 2 * len(planned)
    report.items += [item for one, item in zip(planned, items, strict=True) if item is not None and one.kind != "WORLD"]
    report.made += applied.counts
    report.notes += applied.notes
    report.animated += applied.datablocks
    report.cyclic |= applied.cyclic
    if not options.matches:
        report.note_left_out(left_out_of_file(scene))


def _matched(planned: list[Planned], into: bpy.types.Scene, made: Made, report: Exchanged) -> list[Any]:
    """Return the scene's matching objects, and create missing targets of its cameras and lights."""
    items = match_objects(planned, into.objects, report.notes)
    for index, one in enumerate(planned):
        if one.kind == "WORLD":
            items[index] = into.world
        reason = None if items[index] is None else reason_left(items[index])
        if reason:
            note(report.notes, one.name, "NODE_LEFT", reason)
        elif items[index] is None:
            note(report.notes, one.name, "NODE_WITHOUT_OBJECT")
        items[index] = None if reason else items[index]
    for one, item in zip(planned, items.copy(), strict=True):
        if item is None:
            continue
        made.keep(item)
        if one.kind == "WORLD":
            continue
        if item.data is not None and one.kind in ("CAMERA", "LIGHT"):
            made.keep(item.data)
        note_differences(one, item, None if one.parent is None else items[one.parent], report.notes)
        item.matrix_parent_inverse.identity()
        report.matched[one.name] = item.name
        action = item.animation_data.action if item.animation_data else None
        if action is not None:
            note(report.notes, one.name, "ACTION_REPLACED", action.name)
            action.use_fake_user = True
        if one.target is not None and items[one.target] is None:
            items[one.target] = made.new("EMPTY", planned[one.target].name, None)
            report.made["empty"] += 1
    return items


def _place_world(world: bpy.types.World, into: bpy.types.Scene, report: Exchanged) -> None:
    if into.world is None:
        into.world = world
    else:
        report.notes.append(Finding("WORLD_NOT_USED", arguments=(world.name,)))


def segment_of(scene: three_ds.Scene) -> tuple[int, int]:
    """Return the first and last frames of the file's playback range."""
    keyframer = scene.keyframer
    if keyframer is not None and keyframer.segment is not None and keyframer.segment[0] < keyframer.segment[1]:
        return keyframer.segment
    length = 0 if keyframer is None or keyframer.header is None else keyframer.header.length
    frames = [int(track.frames.max()) for node in scene.nodes for track in node.tracks if len(track.frames)]
    return 0, max([length, *frames])


def set_range(
    scene: bpy.types.Scene, read: Sequence[three_ds.Scene], conversion: Conversion, rate: float | None
) -> None:
    """Set the scene's playback range from the files, and the frame rate if `rate` is given."""
    ends = np.clip(conversion.frames(np.array([segment_of(one) for one in read])), -LAST_FRAME, LAST_FRAME)
    scene.frame_start, scene.frame_end = math.floor(ends.min()), math.ceil(ends.max())
    if rate is not None:
        # Blender stores the rate as a whole number and a divisor.
        scene.render.fps = max(1, round(rate))
        scene.render.fps_base = scene.render.fps / rate
