# SPDX-License-Identifier: GPL-3.0-or-later
"""The notes that the verbs `bake` and `enable` report as errors."""

from __future__ import annotations

import math
from collections.abc import Collection

from ..animation import Finding, Report
from ..animation.report import HandleError


def turn_notes_into_errors(report: Report, skipped: Collection[Finding], max_change: tuple[float, float]) -> None:
    """Turn notes that are faults into errors: tracks that Enable skipped, and visible changes to the motion.

    `skipped` contains the reasons why Enable skipped tracks. `max_change` contains the largest change that is not
    visible, as an angle and as a fraction of the range.
    """
    errors = [error for error in report.handles if _is_visible(error, max_change)]
    visibly_changed = {(error["datablock"], error["track"]) for error in errors}

    def is_fault(note: Finding) -> bool:
        if note.code == "HANDLES_APPROXIMATE":
            return (note.object, note.track) in visibly_changed
        is_linear = note.code == "LINEAR_CURVED" and note.arguments[1]
        return note in skipped or note.code == "LOOK_CHANGED" or is_linear

    report.errors = [*dict.fromkeys((*report.errors, *filter(is_fault, report.notes)))]
    report.notes = [note for note in report.notes if not is_fault(note)]


def _is_visible(error: HandleError, max_change: tuple[float, float]) -> bool:
    angle, share = max_change
    return error["error"] > (math.degrees(angle) if error["rotation"] else share * error["range"])
