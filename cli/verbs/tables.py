# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verbs `import-table`, `export-table` and `velocities`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy

from ...animation import AnimationError, Finding, export_table, import_table, write_velocities
from ...animation.scene_time import frame_rate
from ...animation.steps import IMPORT_STEPS
from ...animation.store.paths import bone_path
from ...formats import table
from ...interp.messages import Text
from ..announce import Ticker
from ..blend_files import unusable
from ..choosing import choose, matching_objects
from ..job import Job
from ..outcome import Outcome


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
