# SPDX-License-Identifier: GPL-3.0-or-later
"""The notes that the verbs `bake` and `enable` report as errors."""

from __future__ import annotations

import math
from collections.abc import Collection

from ..animation import Finding, Report
from ..animation.report import HandleError


def turn_notes_into_errors(report: Report, left_alone: Collection[Finding], max_change: tuple[float, float]) -> None:
    """Turn notes that are faults into errors: tracks that Enable skipped, and visible changes to the motion.

    `max_change` contains the largest change that is not visible, as an angle and as a fraction of the range.
    """
    far = {(each["datablock"], each["track"]) for each in report.handles if _is_visible(each, max_change)}

    def is_fault(note: Finding) -> bool:
        if note.code == "HANDLES_APPROXIMATE":
            return (note.object, note.track) in far
        is_linear = note.code == "LINEAR_CURVED" and note.arguments[1]
        return note in left_alone or note.code == "LOOK_CHANGED" or is_linear

    report.errors = [*dict.fromkeys((*report.errors, *filter(is_fault, report.notes)))]
    report.notes = [note for note in report.notes if not is_fault(note)]


def _is_visible(handles: HandleError, max_change: tuple[float, float]) -> bool:
    angle, share = max_change
    return handles["error"] > (math.degrees(angle) if handles["rotation"] else share * handles["range"])
