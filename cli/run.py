# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the command: open each file, run the verb, and write the result, in this process or several."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TextIO

import bpy

from .. import animation
from ..animation import Finding
from ..animation.translation import rpt_
from .announce import announce, announce_for
from .arguments import parse
from .blend_files import Source, Version, check_no_library, check_target, open_file, save
from .done import done_before, record_done
from .dry_run import changes_since, snapshot
from .job import File, Job
from .outcome import Outcome, Status, exit_status, print_findings, result_text
from .streams import only_results_on_standard_output
from .verbs.check import check_motion
from .verbs.edit import apply, bake, enable, free, reduce, remove, restore, restore_curves
from .verbs.info import list_tracks
from .verbs.rotations import process_rotations
from .verbs.tables import export_keys, import_keys, write_all_velocities
from .verbs.three_ds import export_file, import_file, open_empty_scene
from .workers import Answer, do_all, serve

PROGRAM = "blender --command tcb"
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


def main(arguments: Sequence[str], program: str = PROGRAM, start: Sequence[str] = ()) -> int:
    """Run the command and return its exit status.

    `start` is the command line, without arguments, that starts the command in another process.
    """
    try:
        job = parse(arguments, program)
        with only_results_on_standard_output() as results:
            if job.given.worker:
                serve(functools.partial(process_file, job), results)
                return 0
            statuses = _run(job, _worker_command(job, arguments, start), results)
        return exit_status(statuses)
    except BrokenPipeError:
        return 1  # the reader of the results has exited
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def _worker_command(job: Job, arguments: Sequence[str], start: Sequence[str]) -> list[str]:
    if job.given.blender or not start:
        # Workers need the add-ons that an option of this Blender enables.
        at = sys.argv.index("--addons") if "--addons" in sys.argv else len(sys.argv)
        start = (job.given.blender or bpy.app.binary_path, *sys.argv[at : at + 2], "--command", "tcb")
    # The verb comes first. The marker that ends the options may follow the files.
    return [*start, arguments[0], "--worker", *arguments[1:]]


def _run(job: Job, worker_command: Sequence[str], results: TextIO) -> Counter[Status]:
    """Process all files of the job, write their results, and return the number of files with each status."""
    statuses: Counter[Status] = Counter()
    with contextlib.closing(_answers(job, worker_command)) as answers:
        for status, text in answers:
            statuses[status] += 1
            results.write(text)
            results.flush()
    if len(job.files) > 1:
        announce(", ".join(f"{status}: {count}" for status, count in statuses.items()))
    return statuses


def _answers(job: Job, worker_command: Sequence[str]) -> Generator[Answer, None, None]:
    """Yield the answers for all files of the job, starting with files done in an earlier run."""
    remaining_files = []
    for file in job.files:
        outcome = done_before(job, file)
        if outcome:
            announce_for(file.source, rpt_("already done"))
            yield answer_of(job, outcome)
        else:
            remaining_files.append(file)
    do, fail = functools.partial(process_file, job), functools.partial(_fail, job)
    yield from do_all(remaining_files, do, fail, job.given.jobs, worker_command)


def _fail(job: Job, file: File, error: Finding) -> Answer:
    """Return the answer for a file whose worker died."""
    return answer_of(job, Outcome(file.source, animation.Report(errors=[error])))


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
        may_write = _note_result(job, outcome)
        if may_write and not job.given.dry_run:
            _write_result(job, file.source, target, source, content, outcome)


def _note_result(job: Job, outcome: Outcome) -> bool:
    """Note in the outcome whether there is a result, or why there is none. Return false if errors prevent a result."""
    report = outcome.report
    has_result = bool(report.tracks) or job.makes_new_files
    if report.errors and (job.given.strict or not has_result):
        report.notes += [Finding("NOT_WRITTEN_STRICT")] if has_result else []
        outcome.is_withheld = job.given.strict
        outcome.clear_counts()
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
