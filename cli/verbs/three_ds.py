# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verbs `import` and `export`, which convert between 3D Studio files and .blend files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bpy

from ...animation import Report
from ...animation.errors import AnimationError, Finding
from ...animation.steps import IMPORT_STEPS, run_steps
from ...exchange.conversion import Conversion, conversion_of
from ...exchange.exporting.exporter import EXPORT_STEPS, export_steps
from ...exchange.importing.importer import ImportOptions, import_steps, set_playback_range
from ...exchange.rotation_modes import RotationOptions
from ...formats import three_ds
from ...interp.messages import Text
from ..announce import Ticker
from ..blend_files import Source, unusable, version_of
from ..choosing import matching_objects
from ..job import Job
from ..outcome import Outcome


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
