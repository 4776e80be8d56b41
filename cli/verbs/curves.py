# SPDX-License-Identifier: GPL-3.0-or-later
"""The verb `curves`: imported keys become those of the file, with its tangents."""

from __future__ import annotations

import math

import bpy

from ... import animation
from ...animation.translation import n_
from ..arguments.parser import Job
from ..choosing import named
from ..outcome import Outcome, Ticker


def restore_all(job: Job, outcome: Outcome) -> animation.Report:
    """Restore the curves of the file's objects, or of those of the names that were asked for."""
    objects = named(job.patterns, outcome) if job.patterns else bpy.data.objects
    options = job.exchange
    report = animation.Report()
    if outcome.nothing_to_do:
        return report
    try:
        report = animation.restore_curves(
            options["model"],
            objects,
            exact=options["exact"],
            value_tolerance=options["part"],
            rotation_tolerance=math.radians(options["degrees"]),
            use_tcb=options["tcb"],
            progress=Ticker(outcome.file, n_("{:,} of {:,} steps")),
        )
    except animation.AnimationError as error:
        report.errors += error.findings
    return report
