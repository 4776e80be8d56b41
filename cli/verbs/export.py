# SPDX-License-Identifier: GPL-3.0-or-later
"""The verb `export`: a .blend to a 3D Studio file."""

from __future__ import annotations

from typing import Any

import bpy

from ...animation import AnimationError, Report
from ...animation.errors import Finding
from ...exchange.exporting.exporter import EXPORT_STEPS, ExportOptions, export_scene
from ...formats import three_ds
from ...interp.messages import Text
from ..arguments.parser import Job
from ..blend_files import check_target, open_file
from ..choosing import named
from ..log import save_result, write_skipped
from ..outcome import Outcome, Ticker
from .import_files import conversion_for


def export_file(job: Job, number: int, outcome: Outcome) -> None:
    """Read the file and write its scene, or the objects asked for, as a 3D Studio file. Raises AnimationError."""
    target = job.targets[number]
    check_target(target, job.makes_folder)
    source = open_file(outcome.file, outcome.report, writes=False)
    scene: Any = bpy.context.scene
    objects = list(scene.objects)
    if job.patterns:
        asked = named(job.patterns, outcome)
        objects = [obj for obj in objects if obj in asked]
    if outcome.nothing_to_do:
        write_skipped(job, number, outcome, source)
        return
    given = job.exchange
    conversion = conversion_for(given, scene, 1.0 / given["scale"])
    try:
        options = ExportOptions(conversion, given["others"] == "SAMPLE", given["sample_limit"])
        made, report = export_scene(objects, scene, options, Ticker(outcome.file, EXPORT_STEPS))
        content = three_ds.write(made)
    except three_ds.ThreeDSError as error:
        raise AnimationError(Finding("FILE_NOT_3DS", arguments=(Text(error.text, *error.values),))) from error
    counts = report.made
    notes = [*report.lines(), *report.notes]
    outcome.report.add(Report(len(made.nodes), len(made.nodes), counts["track"], counts["key"], notes=notes))
    save_result(job, number, outcome, source, content)
