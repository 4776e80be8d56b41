# SPDX-License-Identifier: GPL-3.0-or-later
"""Import 3D Studio files into the open scene."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import bpy
import numpy as np

from ...animation import Options, Report
from ...animation.bake.pipeline import bake_steps
from ...animation.datablocks import name_of
from ...animation.errors import Finding, size_of
from ...animation.fcurves.frames import LAST_FRAME
from ...animation.fcurves.keyframes import Float64Array
from ...animation.report import HandleError
from ...animation.steps import Progress, Steps, run_steps
from ...animation.store.table.track_records import Output
from ...animation.translation import rpt_
from ...formats import three_ds
from ...formats.three_ds import NAME_LENGTH
from ...interp.messages import Text
from ..conversion import Conversion
from ..imported_state import conversion_text, remember
from ..options import IMPORT
from ..report import Exchanged, left_out_of_file
from ..rotation_modes import Choices
from .new_objects import Changes, make_axes, make_objects
from .plan_objects import TARGET, PlannedObject, note, plan
from .set_properties import AIM, ROLL_CONSTRAINT, apply

_NUMBER = re.compile(r"\.\d{3,}$")
_TOLERANCE = 1e-3
"""Fraction of the size of a mesh. Vertices farther apart than this differ."""
_MAX_HANDLE_ERROR = 1.0
"""Degrees. Handles with a larger error are replaced with samples."""
_DATABLOCKS_AT_ONCE = 200
"""Number of datablocks whose tracks are evaluated in one step."""
_Prefixes = Mapping[bpy.types.ID, Sequence[str]]
"""The beginnings of the paths of the tracks to bake, for each datablock."""


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
    changes = Changes(collection)
    try:
        for name, scene in scenes.items():
            file_report = _report_warnings(scene)
            yield from _import_scene(scene, into, changes, options, file_report)
            if len(scenes) > 1:
                file_report.damage = [Finding("OF_FILE", arguments=(name, finding)) for finding in file_report.damage]
                file_report.notes = [Finding("OF_FILE", arguments=(name, finding)) for finding in file_report.notes]
            report.add(file_report)
        if options.output != "NONE" and report.animated:
            ends = options.conversion.frames(np.array([_segment_of(scene) for scene in scenes.values()]))
            for done, total in _bake_imported(report, ends, options.output, options.sample_limit):
                yield total + done, 2 * total
    except BaseException:
        changes.undo()
        raise
    changes.finish()
    return report


def _report_warnings(scene: three_ds.Scene) -> Exchanged:
    """Return a report with the warnings of the reader."""
    report = Exchanged()
    for warning in scene.warnings:
        text = Text(warning.text, *warning.values)
        if warning.lost:
            report.damage.append(Finding("FILE_DAMAGED", arguments=(text,)))
        else:
            report.notes.append(Finding("FILE_WARNING", arguments=(text,)))
    return report


def _import_scene(
    scene: three_ds.Scene, into: bpy.types.Scene, changes: Changes, options: ImportOptions, report: Exchanged
) -> Steps[None]:
    """Plan the objects of a file, create or match them, and apply the plans."""
    choices = options.choices.resolved(scene)
    plans = plan(scene, options.conversion, choices, report.notes)
    if options.matches:
        objects = _matched_objects(plans, into, changes, report)
    else:
        objects = yield from make_objects(plans, changes, report.notes)
        report.made += Counter(planned.kind.lower() for planned in plans)
    has_targets = any(planned.target is not None for planned in plans)
    axes = make_axes(options.conversion, changes) if has_targets and not options.conversion.keeps_up else None
    conversion = conversion_text(options.conversion, choices)
    for index, (planned, obj) in enumerate(zip(plans, objects, strict=True)):
        if obj is None:
            continue
        if not options.matches and planned.parent is not None and planned.kind != "WORLD":
            obj.parent = objects[planned.parent]
        apply(planned, obj, None if planned.target is None else objects[planned.target], axes, report)
        remember(obj, planned.node, conversion)
        if planned.kind != "WORLD":
            report.items.append(obj)
        elif not options.matches and into.world is None:
            into.world = obj
        elif not options.matches:
            report.notes.append(Finding("WORLD_NOT_USED", arguments=(obj.name,)))
        yield index, 2 * len(plans)
    if not options.matches:
        report.note_left_out(left_out_of_file(scene))


def _matched_objects(
    plans: Sequence[PlannedObject], into: bpy.types.Scene, changes: Changes, report: Exchanged
) -> list[Any]:
    """Return the scene's matching objects, and create missing targets of its cameras and lights."""
    objects = _editable_matches(plans, into, report.notes)
    for planned, obj in zip(plans, objects.copy(), strict=True):
        if obj is None:
            continue
        changes.record(obj)
        if planned.kind == "WORLD":
            continue
        if obj.data is not None and planned.kind in ("CAMERA", "LIGHT"):
            changes.record(obj.data)
        _note_differences(planned, obj, None if planned.parent is None else objects[planned.parent], report.notes)
        obj.matrix_parent_inverse.identity()
        report.matched[planned.name] = obj.name
        action = obj.animation_data.action if obj.animation_data else None
        if action is not None:
            note(report.notes, planned.name, "ACTION_REPLACED", action.name)
            action.use_fake_user = True
        if planned.target is not None and objects[planned.target] is None:
            objects[planned.target] = changes.new_object(plans[planned.target].name, None)
            report.made["empty"] += 1
    return objects


def _editable_matches(plans: Sequence[PlannedObject], into: bpy.types.Scene, notes: list[Finding]) -> list[Any]:
    """Return the matching objects, and the world for an ambient light. Objects that cannot be edited are None."""
    matches = _match_objects(plans, into.objects, notes)
    for index, planned in enumerate(plans):
        if planned.kind == "WORLD":
            matches[index] = into.world
        if matches[index] is None:
            note(notes, planned.name, "NODE_WITHOUT_OBJECT")
            continue
        reason = _reason_not_editable(matches[index])
        if reason:
            note(notes, planned.name, "NODE_LEFT", reason)
            matches[index] = None
    return matches


def _match_objects(plans: Sequence[PlannedObject], objects: Iterable[Any], notes: list[Finding]) -> list[Any]:
    """Return the scene object for each planned object, or None. No object is returned twice."""
    free = sorted(objects, key=lambda obj: str(obj.name))
    matches: list[Any] = [None] * len(plans)
    for form_of in _FORMS:
        for index, planned in enumerate(plans):
            if matches[index] is not None or planned.kind == "WORLD":
                continue
            candidates = [obj for obj in free if _has_kind(obj, planned) and form_of(obj.name) in _names(planned)]
            if len(candidates) > 1:
                others = ", ".join(f'"{obj.name}"' for obj in candidates[1:4])
                note(notes, planned.name, "ONE_OF_SEVERAL", candidates[0].name, others)
            if candidates:
                matches[index] = candidates[0]
                free.remove(candidates[0])
    return matches


def _without_number(name: str) -> str:
    """Remove the number that Blender adds to a duplicate name."""
    return _NUMBER.sub("", name)


_FORMS: tuple[Callable[[str], str], ...] = (str, _without_number, lambda name: _without_number(name)[:NAME_LENGTH])
"""Forms of names for comparison, exact form first, because exporters truncate names and Blender numbers them."""


def _names(planned: PlannedObject) -> set[str]:
    """Return the names of matching objects: with the instance name, and as in the file."""
    name = planned.node.name.decode("latin-1")
    if planned.name.endswith(TARGET):
        return {planned.name, name + TARGET.lower()}
    return {planned.name, name}


def _has_kind(obj: bpy.types.Object, planned: PlannedObject) -> bool:
    if planned.kind in ("CAMERA", "LIGHT"):
        return bool(obj.type == planned.kind)
    return obj.type not in ("CAMERA", "LIGHT")


def _reason_not_editable(obj: bpy.types.Object) -> Finding | None:
    """Return why an object or world cannot be animated, or None if it can."""
    animated = obj.data if getattr(obj, "type", "") in ("CAMERA", "LIGHT") else obj
    if obj.library is not None or animated.library is not None:
        return Finding("IS_LINKED")
    if obj.animation_data is not None and obj.animation_data.use_tweak_mode:
        return Finding("IS_TWEAKED")
    return None


def _note_differences(planned: PlannedObject, obj: Any, parent: bpy.types.Object | None, notes: list[Finding]) -> None:
    """Note differences between the object and the file that change the effect of the keys."""
    add_note = partial(note, notes, planned.name)
    constraints = [constraint.name for constraint in obj.constraints if constraint.name not in (AIM, ROLL_CONSTRAINT)]
    if constraints:
        add_note("OWN_CONSTRAINTS", ", ".join(constraints))
    if obj.parent != parent:
        names = (rpt_("nothing") if other is None else f'"{other.name}"' for other in (obj.parent, parent))
        add_note("OTHER_PARENT", *names)
    if planned.points is None or obj.type != "MESH" or len(obj.data.vertices) != len(planned.points):
        return
    points = np.empty(3 * len(planned.points), dtype=np.float32)
    obj.data.vertices.foreach_get("co", points)
    distance = np.abs(points.reshape(-1, 3) - planned.points).max()
    if distance > _TOLERANCE * max(1e-6, float(np.ptp(planned.points, axis=0).max())):
        add_note("VERTICES_APART", size_of(float(distance)))


def _bake_imported(report: Exchanged, ends: Float64Array, output: str, sample_limit: int) -> Steps[None]:
    """Bake the imported keys in steps, and add the results to the report.

    `ends` contains the first and last frames of each file, shape (n, 2). Cyclic tracks are baked to these frames.
    """
    if output == "HANDLES":
        bake = bake_steps(report.animated, Options(output="HANDLES"), at_once=_DATABLOCKS_AT_ONCE)
        report.baked.add((yield from bake))
        yield from _replace_inaccurate_handles(report, ends, sample_limit)
    else:
        all_tracks = {datablock: [""] for datablock in report.animated}
        report.baked.add((yield from _bake_to_ends(report, all_tracks, ends, output, sample_limit)))
    report.notes += [*report.baked.refused, *report.baked.notes]


def _replace_inaccurate_handles(report: Exchanged, ends: Float64Array, sample_limit: int) -> Steps[None]:
    """Bake rotations with visibly inaccurate handles as samples, for example turns of more than 180 degrees."""
    baked = report.baked
    inaccurate = [error for error in baked.handles if error["rotation"] and error["error"] > _MAX_HANDLE_ERROR]
    if not inaccurate:
        return
    prefixes: dict[bpy.types.ID, list[str]] = {}
    for datablock in report.animated:
        paths = [error["track"] for error in inaccurate if error["datablock"] == name_of(datablock)]
        if paths:
            prefixes[datablock] = paths
    # The steps of this second bake are not added to the total.
    sampled = yield from _bake_to_ends(report, prefixes, ends, "SAMPLES", sample_limit)
    tracks = set(map(_track_of, inaccurate))
    baked.notes = [note for note in baked.notes if (note.object, note.track) not in tracks] + sampled.notes
    # Above the sample limit, handles play the tracks again.
    tracks -= set(map(_track_of, sampled.handles))
    replaced = [error for error in inaccurate if _track_of(error) in tracks]
    baked.handles = [error for error in baked.handles if error not in replaced]
    rotation_errors = [error["error"] for error in baked.handles if error["rotation"]]
    baked.rotation_error = math.radians(max(rotation_errors, default=0.0))
    baked.samples += sampled.samples
    baked.errors += sampled.errors
    baked.notes += [
        Finding("SAMPLES_FOR_HANDLES", error["datablock"], error["track"], arguments=((error["error"], "°"),))
        for error in replaced
    ]


def _track_of(error: HandleError) -> tuple[str, str]:
    """Return the names of the datablock and the track."""
    return error["datablock"], error["track"]


def _bake_to_ends(
    report: Exchanged, prefixes: _Prefixes, ends: Float64Array, output: str, sample_limit: int
) -> Steps[Report]:
    """Bake these tracks, and extend cyclic tracks to the playback range of the files."""
    ranges = np.array([*ends, *report.cyclic.values()]).clip(-LAST_FRAME, LAST_FRAME)
    playback_range = float(np.floor(ranges[:, 0].min())), float(np.ceil(ranges[:, 1].max()))
    baked = Report()
    for is_cyclic, extend in ((False, None), (True, playback_range)):
        selected = {
            datablock: paths for datablock, paths in prefixes.items() if (datablock in report.cyclic) == is_cyclic
        }
        if selected:
            options = Options(output=cast(Output, output), extend=extend, sample_limit=sample_limit)
            baked.add((yield from _bake_within_limit(selected, options)))
    return baked


def _bake_within_limit(prefixes: _Prefixes, options: Options) -> Steps[Report]:
    """Bake the tracks, and use handles if there would be more samples than the limit."""
    baked = yield from bake_steps(prefixes, options, prefixes, at_once=_DATABLOCKS_AT_ONCE)
    refusals = [error for error in baked.errors if error.code == "TOO_MANY_SAMPLES"]
    if not refusals:
        return baked
    by_handles = yield from bake_steps(prefixes, Options(output="HANDLES"), prefixes, at_once=_DATABLOCKS_AT_ONCE)
    by_handles.notes[:0] = [replace(error, code="HANDLES_FOR_SAMPLES") for error in refusals]
    return by_handles


def _segment_of(scene: three_ds.Scene) -> tuple[int, int]:
    """Return the first and last frames of the file's playback range."""
    keyframer = scene.keyframer
    if keyframer is not None and keyframer.segment is not None and keyframer.segment[0] < keyframer.segment[1]:
        return keyframer.segment
    length = 0 if keyframer is None or keyframer.header is None else keyframer.header.length
    frames = [int(track.frames.max()) for node in scene.nodes for track in node.tracks if len(track.frames)]
    return 0, max([length, *frames])


def set_range(
    scene: bpy.types.Scene, file_scenes: Sequence[three_ds.Scene], conversion: Conversion, rate: float | None
) -> None:
    """Set the scene's playback range from the files, and the frame rate if `rate` is given."""
    ends = np.clip(
        conversion.frames(np.array([_segment_of(file_scene) for file_scene in file_scenes])), -LAST_FRAME, LAST_FRAME
    )
    scene.frame_start, scene.frame_end = math.floor(ends.min()), math.ceil(ends.max())
    if rate is not None:
        # Blender stores the rate as a whole number and a divisor.
        scene.render.fps = max(1, round(rate))
        scene.render.fps_base = scene.render.fps / rate
