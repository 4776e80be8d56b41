# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verb `curves`, which restores the curves of FBX and glTF files."""

from __future__ import annotations

import bpy

from ... import animation
from ...animation.translation import n_
from ..arguments import Job
from ..choosing import named
from ..outcome import Outcome
from ..print_outcome import Ticker


def restore_curves(job: Job, outcome: Outcome) -> None:
    """Restore the curves of the file's objects, or of the requested objects."""
    given = job.given
    objects = named(given.objects, outcome) if given.objects else bpy.data.objects
    if outcome.nothing_to_do:
        return
    try:
        report = animation.restore_curves(
            given.model,
            objects,
            exact=given.exact,
            value_tolerance=given.value_tolerance,
            rotation_tolerance=given.rotation_tolerance,
            use_tcb=given.use_tcb,
            progress=Ticker(outcome.file, n_("{:,} of {:,} steps")),
        )
    except animation.AnimationError as error:
        report = animation.Report(errors=[*error.findings])
    outcome.report.add(report)
