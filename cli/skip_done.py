# SPDX-License-Identifier: GPL-3.0-or-later
"""`--skip-done`: leave out what a run before has done, as its log has it."""

from __future__ import annotations

import os

from .arguments.parser import Job
from .blend_files import version_of
from .log import last_entries, made_with
from .outcome import Outcome


def done_before(job: Job, number: int) -> Outcome | None:
    """Return the outcome of a file that a run before has done, and whose result would come out the same again."""
    log = job.log_of(number)
    if not job.skip_done or log is None:
        return None
    target = str(job.targets[number])
    entry = last_entries(log, version_of(log)).get(target, {})
    if (
        entry.get("status") not in ("done", "skipped")
        or entry.get("asked") != job.asked
        or entry.get("with") != made_with()
    ):
        return None
    files = dict(entry["inputs"])
    output = None if entry["result"] is None else job.targets[number]
    if output is not None:
        files[target] = entry["result"]
    is_same = os.path.exists(job.files[number]) and all(
        version_of(path) == (None if version is None else tuple(version)) for path, version in files.items()
    )
    return Outcome(job.files[number], output=output, done_before=True) if is_same else None
