# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcome of processing a file, its status, and the exit status of the command."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..animation import Finding, Report
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


@dataclass
class Outcome:
    """The outcome of a file."""

    file: Path
    report: Report = field(default_factory=Report)
    """The report, including all errors and notes on the file."""
    output: Path | None = None
    results: dict[str, Any] = field(default_factory=dict)
    """The lists of the verb, such as faults, violations or datablocks."""
    summary: str = ""
    """The result of a check as one line."""
    seconds: float = 0.0
    nothing_to_do: Finding | None = None
    """The reason why nothing was done. This is not an error."""
    done_before: bool = False
    is_written: bool = False
    """True if a result is written, or would be written without --dry-run."""
    is_withheld: bool = False
    """True if --strict has withheld the result."""

    @property
    def status(self) -> Status:
        """Return the status of the file.

        A file with both errors and a result has the status "faults", and the result contains the rejected items
        unchanged. A missing library is also a fault if nothing is written, unless --strict has withheld the result.
        """
        if self.report.errors:
            lacks_libraries = all(error.code == "LIBRARY_MISSING" for error in self.report.errors)
            return "faults" if self.is_written or (lacks_libraries and not self.is_withheld) else "failed"
        if self.done_before:
            return "before"
        return "done" if self.nothing_to_do is None else "skipped"

    def fail(self, *errors: Finding) -> None:
        """Add errors that prevent a result."""
        self.report.errors += errors
        self.is_written = False
