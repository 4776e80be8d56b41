# SPDX-License-Identifier: GPL-3.0-or-later
"""Import 3D Studio files into the open scene."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import bpy
import numpy as np

from ...animation import Options, Report
from ...animation.bake.pipeline import bake_steps
from ...animation.datablocks import name_of
from ...animation.fcurves.keyframes import LAST_FRAME, Float64Array
from ...animation.report import Finding, HandleError
from ...animation.steps import Steps
from ...animation.store.table.track_records import Output
from ...formats.three_ds import Light, Mesh, Scene
from ...interp import rotations
from ..conversion import WATTS, Conversion
from ..meshes import left_out_of_file, make_mesh
from ..options import IMPORT
from ..report import ExchangeReport, note
from ..rotation_modes import RotationOptions
from .apply_plan import Changes, apply_plan
from .imported_state import conversion_text, remember
from .match_objects import matched_objects
from .plan_objects import PlannedObject, plan_objects

_Instance = tuple[bytes, bytes, bool]
"""The name, the pivot and the mirroring of a mesh in the file. Objects for which these are equal share the mesh."""
_MAX_HANDLE_ERROR = 1.0
"""Degrees. Handles with a larger error are replaced with samples."""
_DATABLOCKS_AT_ONCE = 200
"""Number of datablocks whose tracks are evaluated in one step."""
_Prefixes = Mapping[bpy.types.ID, Sequence[str]]
"""The beginnings of the paths of the tracks to bake, for each datablock."""


@dataclass(frozen=True)
class ImportOptions:
    """The options of an import."""

    conversion: Conversion = field(default_factory=Conversion)
    rotation_options: RotationOptions = field(default_factory=RotationOptions)
    matches: bool = False
    """Animate existing objects of the scene, matched by name, instead of creating new ones."""
    output: str = IMPORT["output"].default
    """HANDLES, SAMPLES, CURVES or NONE. With HANDLES, rotations with inaccurate handles are baked as samples."""
    sample_limit: int = IMPORT["sample_limit"].default
    """Maximum number of samples. Larger animations are played by handles."""


def import_steps(
    scenes: Mapping[str, Scene],
    into: bpy.types.Scene,
    collection: bpy.types.Collection,
    options: ImportOptions,
) -> Steps[ExchangeReport]:
    """Import the scenes of files into the open scene in steps, by object and then by track.

    Yields the number of finished steps and the total, and returns a report. If the import fails or the generator is
    closed, all changes are reverted. `scenes` contains the scenes by file name. New objects are added to `collection`.
    """
    report = ExchangeReport()
    changes = Changes(collection)
    try:
        for name, scene in scenes.items():
            starts = len(report.damage), len(report.notes)
            for warning in scene.warnings:
                finding = Finding("FILE_DAMAGED" if warning.lost else "FILE_WARNING", arguments=(warning.located,))
                (report.damage if warning.lost else report.notes).append(finding)
            yield from _import_scene(scene, into, changes, options, report)
            for findings, start in zip((report.damage, report.notes), starts, strict=True):
                if len(scenes) > 1:
                    findings[start:] = [Finding("OF_FILE", arguments=(name, finding)) for finding in findings[start:]]
        if options.output != "NONE" and report.animated_datablocks:
            ends = _playback_ranges(scenes.values(), options.conversion)
            for done, total in _bake_imported(report, ends, options.output, options.sample_limit):
                yield total + done, 2 * total
    except BaseException:
        changes.undo()
        raise
    changes.finish()
    return report


def _import_scene(
    scene: Scene, into: bpy.types.Scene, changes: Changes, options: ImportOptions, report: ExchangeReport
) -> Steps[None]:
    """Plan the objects of a file, create or match them, and apply the plans."""
    rotation_options = options.rotation_options.resolved(scene)
    plans = plan_objects(scene, options.conversion, rotation_options, report.notes)
    if options.matches:
        objects = matched_objects(plans, into, changes, report)
    else:
        objects = yield from make_objects(plans, changes, report.notes)
        report.counts += Counter(planned.kind.lower() for planned in plans)
    has_targets = any(planned.target is not None for planned in plans)
    axes = _make_axes(options.conversion, changes) if has_targets and not options.conversion.keeps_up else None
    conversion = conversion_text(options.conversion, rotation_options)
    for index, (planned, obj) in enumerate(zip(plans, objects, strict=True)):
        if obj is None:
            continue
        if not options.matches and planned.parent is not None and planned.kind != "WORLD":
            obj.parent = objects[planned.parent]
        apply_plan(planned, obj, None if planned.target is None else objects[planned.target], axes, report)
        remember(obj, planned.node, conversion)
        if planned.kind != "WORLD":
            report.objects.append(obj)
        elif not options.matches and into.world is None:
            into.world = obj
        elif not options.matches:
            report.notes.append(Finding("WORLD_NOT_USED", arguments=(obj.name,)))
        yield index, 2 * len(plans)
    if not options.matches:
        report.note_left_out(left_out_of_file(scene))


def set_playback_range(
    scene: bpy.types.Scene, file_scenes: Iterable[Scene], conversion: Conversion, rate: float | None
) -> None:
    """Set the scene's playback range from the files, and the frame rate if `rate` is given."""
    ends = np.clip(_playback_ranges(file_scenes, conversion), -LAST_FRAME, LAST_FRAME)
    scene.frame_start, scene.frame_end = math.floor(ends.min()), math.ceil(ends.max())
    if rate is not None:
        # Blender stores the rate as a whole number and a divisor.
        scene.render.fps = max(1, round(rate))
        scene.render.fps_base = scene.render.fps / rate


def _playback_ranges(file_scenes: Iterable[Scene], conversion: Conversion) -> Float64Array:
    """Return the first and last frames of each file's playback range in the scene, shape (n, 2)."""
    return conversion.frames(np.array([_file_range(file_scene) for file_scene in file_scenes]))


def _file_range(file_scene: Scene) -> tuple[int, int]:
    """Return the stored range or, without one, the range from frame 0 to the stored length and all keys."""
    keyframer = file_scene.keyframer
    if keyframer is not None and keyframer.segment is not None and keyframer.segment[0] < keyframer.segment[1]:
        return keyframer.segment
    length = 0 if keyframer is None or keyframer.header is None else keyframer.header.length
    frames = [int(track.frames.max()) for node in file_scene.nodes for track in node.tracks if len(track.frames)]
    return 0, max([length, *frames])


def make_objects(plans: Sequence[PlannedObject], changes: Changes, notes: list[Finding]) -> Steps[list[Any]]:
    """Create an object, not yet placed, for each planned object, or a world for an ambient light.

    After each object, yields the progress of the import, which is zero until objects are placed.
    """
    meshes: dict[_Instance, Any] = {}
    objects = []
    for planned in plans:
        if planned.kind == "WORLD":
            objects.append(changes.add(bpy.data.worlds.new(planned.name)))
        else:
            objects.append(changes.new_object(planned.name, _data_of(planned, meshes, changes, notes)))
        yield 0, 2 * len(plans)
    return objects


def _data_of(planned: PlannedObject, meshes: dict[_Instance, Any], changes: Changes, notes: list[Finding]) -> Any:
    """Return the data for a new object. Instances share meshes."""
    name = planned.node.name.decode("latin-1")
    if planned.kind == "CAMERA":
        return changes.add(bpy.data.cameras.new(name))
    if planned.kind == "LIGHT":
        light = changes.add(bpy.data.lights.new(name, "SPOT" if planned.node.kind == "SPOTLIGHT" else "POINT"))
        multiplier = planned.content.multiplier if isinstance(planned.content, Light) else None
        light.energy = WATTS * (1.0 if multiplier is None else multiplier)
        return light
    if planned.points is None or not isinstance(planned.content, Mesh):
        return None
    pivot = b"" if planned.node.pivot is None else planned.node.pivot.tobytes()
    instance = planned.node.name, pivot, planned.mirrored
    if instance not in meshes:
        add_note = partial(note, notes, planned.name)
        meshes[instance] = changes.add(make_mesh(name, planned.content, planned.points, add_note))
    return meshes[instance]


def _make_axes(conversion: Conversion, changes: Changes) -> Any:
    """Return an object with the axes of the file, in which cameras are upright."""
    obj = changes.new_object("3DS Axes", None)
    obj.rotation_mode = "QUATERNION"
    obj.rotation_quaternion = rotations.from_matrix(conversion.axes)
    return obj


def _bake_imported(report: ExchangeReport, ends: Float64Array, output: str, sample_limit: int) -> Steps[None]:
    """Bake the imported keys in steps, and add the results to the report.

    `ends` contains the first and last frames of each file, shape (n, 2). Cyclic tracks are baked to these frames.
    """
    if output == "HANDLES":
        bake = bake_steps(report.animated_datablocks, Options(output="HANDLES"), at_once=_DATABLOCKS_AT_ONCE)
        report.baked.add((yield from bake))
        yield from _replace_inaccurate_handles(report, ends, sample_limit)
    else:
        all_tracks = {datablock: [""] for datablock in report.animated_datablocks}
        report.baked.add((yield from _bake_to_ends(report, all_tracks, ends, output, sample_limit)))
    report.notes += [*report.baked.refused, *report.baked.notes]


def _replace_inaccurate_handles(report: ExchangeReport, ends: Float64Array, sample_limit: int) -> Steps[None]:
    """Bake rotations with visibly inaccurate handles as samples, for example turns of more than 180 degrees."""
    baked = report.baked
    inaccurate = [error for error in baked.handles if error["rotation"] and error["error"] > _MAX_HANDLE_ERROR]
    if not inaccurate:
        return
    prefixes: dict[bpy.types.ID, list[str]] = {}
    for datablock in report.animated_datablocks:
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
    report: ExchangeReport, prefixes: _Prefixes, ends: Float64Array, output: str, sample_limit: int
) -> Steps[Report]:
    """Bake these tracks, and extend cyclic tracks to the playback range of the files."""
    ranges = np.array([*ends, *report.ends_of_cycles.values()]).clip(-LAST_FRAME, LAST_FRAME)
    playback_range = float(np.floor(ranges[:, 0].min())), float(np.ceil(ranges[:, 1].max()))
    baked = Report()
    for is_cyclic, extend in ((False, None), (True, playback_range)):
        selected = {
            datablock: paths
            for datablock, paths in prefixes.items()
            if (datablock in report.ends_of_cycles) == is_cyclic
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
