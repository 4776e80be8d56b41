# SPDX-License-Identifier: GPL-3.0-or-later
"""Process one file of the command: open it, run the verb, and write the result."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from pathlib import Path

from .. import animation
from ..animation import Finding
from .announce import announce_for
from .done import record_done
from .dry_run import changes_since, snapshot
from .job import File, Job
from .opening import Source, open_file
from .outcome import Outcome
from .print_outcome import print_findings, result_text
from .saving import check_no_library, check_target, save
from .verbs.check import check_motion
from .verbs.edit import apply, bake, enable, free, reduce, remove, restore, restore_curves
from .verbs.info import list_tracks
from .verbs.rotations import process_rotations
from .verbs.tables import export_keys, import_keys, write_all_velocities
from .verbs.three_ds import export_file, import_file, open_empty_scene
from .versions import Version
from .workers import Answer

_VERBS: dict[str, Callable[[Job, Outcome], bytes | None]] = {
    "bake": bake,
    "free": free,
    "restore": restore,
    "apply": apply,
    "remove": remove,
    "enable": enable,
    "reduce": reduce,
    "curves": restore_curves,
    "info": list_tracks,
    "check": check_motion,
    "rotations": process_rotations,
    "import": import_file,
    "export": export_file,
    "import-table": import_keys,
    "export-table": export_keys,
    "velocities": write_all_velocities,
}
"""The function of each verb, which changes the open file or returns the content of another file."""


def answer_of(job: Job, outcome: Outcome) -> Answer:
    """Print the notes and errors of the outcome, and return its status with the text for standard output."""
    print_findings(outcome)
    return outcome.status, result_text(outcome, job)


def process_file(job: Job, file: File) -> Answer:
    """Process one file of the job.

    The file's errors are stored in the outcome, so that processing continues with the next file.
    """
    outcome = Outcome(file.source)
    start = time.perf_counter()
    announce_for(outcome.file, job.verb)
    try:
        _process(job, file, outcome)
    except animation.AnimationError as error:
        outcome.fail(*error.findings)
    except Exception as error:
        traceback.print_exc()
        outcome.fail(Finding("FILE_FAULT", arguments=(type(error).__name__, str(error))))
    outcome.seconds = time.perf_counter() - start
    return answer_of(job, outcome)


def _process(job: Job, file: File, outcome: Outcome) -> None:
    """Read the file, run the verb, and write its result, if any. Raises AnimationError."""
    target = file.target
    if target is not None:
        check_target(target, job.makes_folder)
    if job.verb == "import":
        source = open_empty_scene(file.source)
    else:
        source = open_file(file.source, outcome.report, writes=target is not None and job.suffix == ".blend")
    if target is not None:
        check_no_library(target)
    before = snapshot() if job.given.dry_run else {}
    content = _VERBS[job.verb](job, outcome)
    if job.given.dry_run:
        outcome.results["changes"] = changes_since(before)
    if target is not None:
        has_result = _check_result(job, outcome)
        if has_result and not job.given.dry_run:
            _write_result(job, file.source, target, source, content, outcome)


def _check_result(job: Job, outcome: Outcome) -> bool:
    """Return false if errors prevent a result. Otherwise, note in the outcome whether there was anything to do."""
    report = outcome.report
    has_result = bool(report.tracks) or job.makes_new_files
    if report.errors and (job.given.strict or not has_result):
        report.notes += [Finding("NOT_WRITTEN_STRICT")] if has_result else []
        outcome.is_withheld = job.given.strict
        return False
    if not has_result and outcome.nothing_to_do is None:
        outcome.nothing_to_do = Finding(f"NOTHING_TO_{job.work.replace('-', '_').upper()}")
    outcome.is_written = outcome.nothing_to_do is None
    return True


def _write_result(job: Job, file: Path, target: Path, source: Source, content: bytes | None, outcome: Outcome) -> None:
    """Write the result, or only record that there was nothing to do. Raises AnimationError."""

    def record(version: Version | None) -> None:
        if job.given.skip_done and not outcome.report.errors:
            record_done(job, file, target, source, version)

    if outcome.nothing_to_do:
        record(None)
        return
    outcome.report.notes += [source.converted] if source.converted else []
    save(source, target, job.given.in_place, record, content)
    outcome.output = target
