# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON object that the command prints for each file with --json. docs/automate/json.md describes each field."""

from __future__ import annotations

import json

from .outcome import Outcome

VERSION = 1
"""Version of the schema, which changes when a field is removed or changes its meaning."""


def json_line(outcome: Outcome, verb: str) -> str:
    """Return the outcome as one line of JSON."""
    report = outcome.report.to_dict()
    if outcome.nothing_to_do:
        report["notes"].insert(0, outcome.nothing_to_do.to_dict())
    fields = {
        "version": VERSION,
        "command": verb,
        "file": str(outcome.file),
        "status": outcome.status,
        "output": None if outcome.output is None else str(outcome.output),
        "seconds": round(outcome.seconds, 3),
        **report,
        **outcome.results,
    }
    return json.dumps(fields, allow_nan=False) + "\n"
