# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide the status of a file, and the exit status of the command. docs/automate/pipelines.md has the same table."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Literal

from ..animation import Finding, Report
from ..animation.report import HandleError
from ..animation.translation import n_

Status = Literal["done", "faults", "failed", "skipped", "before"]
"""The status of a file: "faults" if something was rejected or lost, "before" if an earlier run processed the file."""
_EXIT_STATUS: dict[Status, int] = {"failed": 1, "faults": 3, "done": 0, "skipped": 0, "before": 0}
"""The exit status of the command if a file has this status. The first status in this order decides. The argument parser
exits with status 2."""
HELP = n_(
    "exit status: 0 if all files are done or skipped, 1 if a file failed, 2 if the arguments are invalid, 3 if a file "
    "has faults (a track was skipped or changes visibly, a library is missing, or damaged data was lost)"
)


def exit_status(statuses: Collection[Status]) -> int:
    """Return the exit status of the command for the statuses of its files."""
    return next((number for status, number in _EXIT_STATUS.items() if status in statuses), 0)


def status_of_file(
    errors: Collection[Finding], *, is_written: bool, is_withheld: bool, done_before: bool, is_skipped: bool
) -> Status:
    """Return the status of a file.

    A file with both errors and a result has the status "faults", and the result contains the rejected items unchanged.
    A missing library is also a fault if nothing is written, unless --strict has withheld the result.
    """
    if errors:
        lacks_libraries = all(error.code == "LIBRARY_MISSING" for error in errors)
        return "faults" if is_written or (lacks_libraries and not is_withheld) else "failed"
    if done_before:
        return "before"
    return "skipped" if is_skipped else "done"


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
