# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verbs `import`, `export`, `import-table`, `export-table` and `velocities`."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ...animation import AnimationError, Finding, Report, export_table, import_table, write_velocities
from ...animation.scene_time import frame_rate
from ...animation.steps import IMPORT_STEPS, run_steps
from ...animation.store.paths import bone_path
from ...exchange.conversion import Conversion, conversion_of
from ...exchange.exporting.exporter import EXPORT_STEPS, export_steps
from ...exchange.importing.importer import ImportOptions, import_steps, set_playback_range
from ...exchange.rotation_modes import RotationOptions
from ...formats import table, three_ds
from ...interp.messages import Text
from ..arguments import Job
from ..blend_files import Source, unusable, version_of
from ..choosing import choose, matching_objects
from ..outcome import Outcome, Ticker

# Tables and velocities


def import_keys(job: Job, outcome: Outcome) -> None:
    """Key an object of the file with the rows of the table. Raises AnimationError."""
    path = Path(job.given.table)
    try:
        imported = table.read(path.read_bytes())
    except OSError as error:
        raise unusable("TABLE_NOT_READ", path, error.strerror) from error
    except table.TableError as error:
        raise AnimationError(Finding("TABLE_FAULT", arguments=(str(path), Text(error.text, *error.values)))) from error
    obj = _only_object(job, outcome)
    if obj is not None:
        # An object may be only in scenes that are not open, with other frame rates.
        scene = next(iter({bpy.context.scene}.intersection(obj.users_scene) or obj.users_scene), bpy.context.scene)
        how = replace(job.request, rate=frame_rate(scene))
        ticker = Ticker(outcome.file, IMPORT_STEPS)
        outcome.report.add(import_table(obj, imported, how, _bone(obj, job.given.bone), ticker))


def export_keys(job: Job, outcome: Outcome) -> bytes | None:
    """Return the keys of an object of the file as a table. Raises AnimationError."""
    obj = _only_object(job, outcome)
    if obj is None:
        return None
    exported, report = export_table(obj, _bone(obj, job.given.bone))
    outcome.report.add(report)
    return table.write(exported)


def write_all_velocities(job: Job, outcome: Outcome) -> None:
    """Write the velocities of the TCB tracks as custom properties, or remove the properties."""
    for datablock in choose(job, outcome):
        try:
            outcome.report.add(write_velocities(datablock, remove=job.given.remove))
        except AnimationError as refusal:
            outcome.report.errors += refusal.findings


def _only_object(job: Job, outcome: Outcome) -> bpy.types.Object | None:
    """Return the only requested or existing object, or None if no name matches. Raises AnimationError."""
    objects = matching_objects(job.given.objects, outcome)
    if outcome.nothing_to_do:
        return None
    if len(objects) != 1:
        names = tuple(obj.name for obj in objects)
        raise AnimationError(Finding("ONE_OBJECT_NEEDED", arguments=(len(objects), names)))
    return objects[0]


def _bone(obj: bpy.types.Object, name: str) -> str:
    """Return the path of the named bone. Raises AnimationError."""
    if not name:
        return ""
    bone = obj.pose.bones.get(name) if obj.pose is not None else None
    if bone is None:
        raise AnimationError(Finding("NO_BONE", obj.name, arguments=(name,)))
    return bone_path(bone)


# 3D Studio files


def open_empty_scene(path: Path) -> Source:
    """Open an empty scene for the import of the file. Raises AnimationError."""
    version = version_of(path)
    if version is None:
        raise unusable("FILE_GONE")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return Source(is_compressed=False, version=version, libraries={})


def import_file(job: Job, outcome: Outcome) -> None:
    """Read the file into the empty scene. Raises AnimationError."""
    try:
        file_scene = three_ds.read(outcome.file.read_bytes())
    except OSError as error:
        raise unusable("FILE_NOT_READ", error.strerror) from error
    except three_ds.ThreeDSError as error:
        raise _not_3ds(error) from error
    context: Any = bpy.context
    given = job.given
    conversion = _conversion(given, context.scene, given.global_scale)
    rotation_options = RotationOptions(given.euler, given.shorter_turns, given.between)
    options = ImportOptions(conversion, rotation_options, output=given.bake, sample_limit=given.sample_limit)
    steps = import_steps({outcome.file.name: file_scene}, context.scene, context.collection, options)
    imported = run_steps(steps, Ticker(outcome.file, IMPORT_STEPS))
    set_playback_range(context.scene, [file_scene], conversion, None if given.keep_time else given.frame_rate)
    outcome.report.add(imported.as_bake_report())
    outcome.report.errors += [*imported.damage, *imported.baked.refused]
    outcome.report.notes += [*imported.summary(), *imported.notes]


def export_file(job: Job, outcome: Outcome) -> bytes | None:
    """Return the open scene, or the requested objects in it, as a 3D Studio file. Raises AnimationError."""
    scene: Any = bpy.context.scene
    given = job.given
    requested = matching_objects(given.objects, outcome)
    if outcome.nothing_to_do:
        return None
    in_scene, to_export = set(scene.objects), set(requested)
    objects = [obj for obj in scene.objects if obj in to_export]
    elsewhere = [obj for obj in requested if obj not in in_scene and obj.users_scene]
    outcome.report.notes += [Finding("ONLY_IN_OTHER_SCENES", obj.name) for obj in elsewhere]
    conversion = _conversion(given, scene, 1.0 / given.global_scale)
    try:
        steps = export_steps(objects, scene, conversion, given.sample_limit)
        file_scene, report = run_steps(steps, Ticker(outcome.file, EXPORT_STEPS))
        content = three_ds.write(file_scene)
    except three_ds.ThreeDSError as error:
        raise _not_3ds(error) from error
    counts = report.counts
    notes = [*report.summary("EXPORTED"), *report.notes]
    node_count = len(file_scene.nodes)
    outcome.report.add(Report(node_count, node_count, counts["track"], counts["key"], notes=notes))
    return content


def _not_3ds(error: three_ds.ThreeDSError) -> AnimationError:
    return AnimationError(Finding("FILE_NOT_3DS", arguments=(Text(error.text, *error.values),)))


def _conversion(given: argparse.Namespace, scene: bpy.types.Scene, scale: float) -> Conversion:
    """Return the requested conversion, with `scale` Blender units per file unit. Raises AnimationError."""
    rate = given.frame_rate if given.keep_time else None
    try:
        return conversion_of(scene, given.forward, given.up, scale, given.frame_start, rate)
    except ValueError as error:
        raise unusable("OPTIONS", error) from error
