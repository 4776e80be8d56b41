# SPDX-License-Identifier: GPL-3.0-or-later
"""Import 3D Studio files into the open scene."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...animation.errors import Finding
from ...animation.fcurves.frames import LAST_FRAME
from ...animation.steps import Progress, Steps, run_steps
from ...formats import three_ds
from ...interp.messages import Text
from ..conversion import Conversion
from ..imported_state import conversion_text, remember
from ..left_out_counts import left_out_of_file
from ..options import IMPORT
from ..report import Exchanged
from ..rotation_modes import Choices
from .bake_imported import bake_imported_steps
from .match_objects import match_objects, note_differences, reason_not_editable
from .new_objects import Changes, make_axes, make_objects
from .plan_objects import note, plan
from .planned import PlannedObject
from .set_properties import Applied, apply


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
            ends = options.conversion.frames(np.array([segment_of(scene) for scene in scenes.values()]))
            for done, total in bake_imported_steps(report, ends, options.output, options.sample_limit):
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
    applied, conversion = Applied(), conversion_text(options.conversion, choices)
    for index, (planned, obj) in enumerate(zip(plans, objects, strict=True)):
        if obj is None:
            continue
        if not options.matches and planned.parent is not None and planned.kind != "WORLD":
            obj.parent = objects[planned.parent]
        apply(planned, obj, None if planned.target is None else objects[planned.target], axes, applied)
        remember(obj, planned.node, conversion)
        if not options.matches and planned.kind == "WORLD":
            _use_world(obj, into, report)
        if planned.kind != "WORLD":
            report.items.append(obj)
        yield index, 2 * len(plans)
    report.made += applied.counts
    report.notes += applied.notes
    report.animated += applied.datablocks
    report.cyclic |= applied.cyclic
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
        note_differences(planned, obj, None if planned.parent is None else objects[planned.parent], report.notes)
        obj.matrix_parent_inverse.identity()
        report.matched[planned.name] = obj.name
        action = obj.animation_data.action if obj.animation_data else None
        if action is not None:
            note(report.notes, planned.name, "ACTION_REPLACED", action.name)
            action.use_fake_user = True
        if planned.target is not None and objects[planned.target] is None:
            objects[planned.target] = changes.new_object("EMPTY", plans[planned.target].name, None)
            report.made["empty"] += 1
    return objects


def _editable_matches(plans: Sequence[PlannedObject], into: bpy.types.Scene, notes: list[Finding]) -> list[Any]:
    """Return the matching objects, and the world for an ambient light. Objects that cannot be edited are None."""
    matches = match_objects(plans, into.objects, notes)
    for index, planned in enumerate(plans):
        if planned.kind == "WORLD":
            matches[index] = into.world
        if matches[index] is None:
            note(notes, planned.name, "NODE_WITHOUT_OBJECT")
            continue
        reason = reason_not_editable(matches[index])
        if reason:
            note(notes, planned.name, "NODE_LEFT", reason)
            matches[index] = None
    return matches


def _use_world(world: bpy.types.World, into: bpy.types.Scene, report: Exchanged) -> None:
    """Make a new world the scene's world, unless it already has one."""
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
    scene: bpy.types.Scene, file_scenes: Sequence[three_ds.Scene], conversion: Conversion, rate: float | None
) -> None:
    """Set the scene's playback range from the files, and the frame rate if `rate` is given."""
    ends = np.clip(
        conversion.frames(np.array([segment_of(file_scene) for file_scene in file_scenes])), -LAST_FRAME, LAST_FRAME
    )
    scene.frame_start, scene.frame_end = math.floor(ends.min()), math.ceil(ends.max())
    if rate is not None:
        # Blender stores the rate as a whole number and a divisor.
        scene.render.fps = max(1, round(rate))
        scene.render.fps_base = scene.render.fps / rate
