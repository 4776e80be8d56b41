# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcome of processing a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..animation import Finding, Report
from .exit_status import Status, status_of_file

VERSION = 1
"""Version of the JSON output. The version changes when a field is removed or changes its meaning."""


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
        return status_of_file(
            self.report.errors,
            is_written=self.is_written,
            is_withheld=self.is_withheld,
            done_before=self.done_before,
            is_skipped=self.nothing_to_do is not None,
        )

    def fail(self, *errors: Finding) -> None:
        """Add errors that prevent a result."""
        self.report.errors += errors
        self.is_written = False

    def to_dict(self, verb: str) -> dict[str, Any]:
        """Return the outcome as a JSON-compatible dictionary. docs/automate/json.md describes each field."""
        report = self.report.to_dict()
        if self.nothing_to_do:
            report["notes"].insert(0, self.nothing_to_do.to_dict())
        return {
            "version": VERSION,
            "command": verb,
            "file": str(self.file),
            "status": self.status,
            "output": None if self.output is None else str(self.output),
            "seconds": round(self.seconds, 3),
            **report,
            **self.results,
        }
