# SPDX-License-Identifier: GPL-3.0-or-later
"""The verbs `import-table`, `export-table` and `velocities`: keys from tables and into them, and velocities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ...animation import (
    AnimationError,
    Finding,
    Report,
    TableKeys,
    Velocities,
    export_table,
    import_table,
    write_velocities,
)
from ...animation.datablocks import bone_path
from ...animation.steps import IMPORT_STEPS
from ...formats import table
from ...interp.messages import Text
from ..arguments.parser import Job
from ..blend_files import Source, check_no_library, check_target, open_file, unusable
from ..choosing import named
from ..log import save_result, write_skipped
from ..outcome import Outcome, Ticker


def import_keys(job: Job, number: int, outcome: Outcome) -> None:
    """Key an object of the file by the table, and write the file. Raises AnimationError."""
    target, given = job.targets[number], job.exchange
    check_target(target, job.makes_folder)
    source = open_file(outcome.file, outcome.report, writes=True)
    check_no_library(target)
    path = Path(given["table"])
    try:
        read = table.read(path.read_bytes())
    except OSError as error:
        raise unusable("TABLE_NOT_READ", path, error.strerror) from error
    except table.TableError as error:
        raise AnimationError(Finding("TABLE_FAULT", arguments=(str(path), Text(error.text, *error.values)))) from error
    obj = _only_object(job, number, outcome, source)
    if obj is None:
        return
    how = TableKeys(given["start"], _rate(), not given["plain"], given["replace"], given["known_only"])
    ticker = Ticker(outcome.file, IMPORT_STEPS)
    outcome.report.add(import_table(obj, read, how, _bone(obj, given["bone"]), ticker))
    outcome.report.notes += [source.converted] if source.converted else []
    save_result(job, number, outcome, source)


def export_keys(job: Job, number: int, outcome: Outcome) -> None:
    """Write the keys of an object of the file as a table. Raises AnimationError."""
    given = job.exchange
    check_target(job.targets[number], job.makes_folder)
    source = open_file(outcome.file, outcome.report, writes=False)
    obj = _only_object(job, number, outcome, source)
    if obj is None:
        return
    made, report = export_table(obj, _bone(obj, given["bone"]))
    outcome.report.add(report)
    save_result(job, number, outcome, source, table.write(made))


def write_all_velocities(datablocks: list[bpy.types.ID], job: Job) -> Report:
    """Write the velocities of each datablock as custom properties."""
    given = job.exchange
    how = Velocities(frozenset(given["quantities"]), given["step"], given["unit"], _rate())
    report = Report()
    for datablock in datablocks:
        try:
            report.add(write_velocities(datablock, None, how))
        except AnimationError as refusal:
            report.errors += refusal.findings
    return report


def _only_object(job: Job, number: int, outcome: Outcome, source: Source) -> bpy.types.Object | None:
    """Return the one object that is asked for, or that there is; else add an error, or skip the file."""
    found = list(named(job.patterns, outcome) if job.patterns else bpy.data.objects)
    if outcome.nothing_to_do:
        write_skipped(job, number, outcome, source)
        return None
    if len(found) != 1:
        names = tuple(obj.name for obj in found)
        outcome.report.errors.append(Finding("ONE_OBJECT_NEEDED", arguments=(len(found), names)))
        return None
    return found[0]


def _bone(obj: bpy.types.Object, name: str) -> str:
    """Return the path of the bone of that name. Raises AnimationError."""
    if not name:
        return ""
    bone = obj.pose.bones.get(name) if obj.pose is not None else None
    if bone is None:
        raise AnimationError(Finding("NO_BONE", obj.name, arguments=(name,)))
    return bone_path(bone)


def _rate() -> float:
    """Return the scene's frames a second."""
    scene: Any = bpy.context.scene
    return float(scene.render.fps / scene.render.fps_base)
