# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the command on files, one after another or several at once."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import bpy

from .. import animation
from ..animation import Finding
from ..animation.translation import rpt_
from .arguments import File, Job, parse
from .done import done_before, record_done
from .exit_status import Status, exit_status
from .file_outcome import Outcome, announce, announce_for, print_findings, result_text
from .open_and_save import Source, Version, check_no_library, check_target, open_file, save
from .streams import only_results_on_standard_output
from .verbs.check import check_motion
from .verbs.edit import apply, bake, enable, free, reduce, remove, restore, restore_curves
from .verbs.info import changes_since, list_tracks, snapshot
from .verbs.rotations import list_or_repair
from .verbs.tables import export_keys, import_keys, write_velocities
from .verbs.three_ds import export_file, import_file, open_scene
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
    "rotations": list_or_repair,
    "import": import_file,
    "export": export_file,
    "import-table": import_keys,
    "export-table": export_keys,
    "velocities": write_velocities,
}
"""The function of each verb, which changes the open file or returns the content of another file."""


def _add_ons(arguments: Sequence[str]) -> Sequence[str]:
    """Return the option of this Blender that enables add-ons, which its worker processes need as well."""
    at = arguments.index("--addons") if "--addons" in arguments else len(arguments)
    return arguments[at : at + 2]


def main(arguments: Sequence[str], program: str = PROGRAM, start: Sequence[str] = ()) -> int:
    """Run the command and return its exit status.

    `start` is the command line, without arguments, that starts the command in another process.
    """
    try:
        job = parse(arguments, program)
        with only_results_on_standard_output() as results:
            do = functools.partial(_do, job)
            if job.given.worker:
                serve(do, results)
                return 0
            if job.given.blender or not start:
                start = (job.given.blender or bpy.app.binary_path, *_add_ons(sys.argv), "--command", "tcb")
            # The verb comes first. The marker that ends the options may follow the files.
            command = [*start, arguments[0], "--worker", *arguments[1:]]
            statuses: Counter[Status] = Counter()
            with contextlib.closing(_answers(job, do, command)) as answers:
                for status, text in answers:
                    statuses[status] += 1
                    results.write(text)
                    results.flush()
            if len(job.files) > 1:
                announce(", ".join(f"{count} {status}" for status, count in statuses.items()))
        return exit_status(statuses)
    except BrokenPipeError:
        return 1  # the reader of the results has exited
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1


def _answers(job: Job, do: Callable[[File], Answer], command: Sequence[str]) -> Generator[Answer, None, None]:
    """Yield the answers for all files of the job, starting with files done in an earlier run."""
    to_do = []
    for file, target in job.files:
        outcome = done_before(job, file, target)
        if outcome:
            announce_for(file, rpt_("already done"))
            yield _answer(job, outcome)
        else:
            to_do.append((file, target))
    yield from do_all(to_do, do, functools.partial(_fail, job), job.given.jobs, command)


def _answer(job: Job, outcome: Outcome) -> Answer:
    print_findings(outcome)
    return outcome.status, result_text(outcome, job)


def _fail(job: Job, file: File, error: Finding) -> Answer:
    """Return the answer for a file whose worker died."""
    return _answer(job, Outcome(file[0], animation.Report(errors=[error])))


def _do(job: Job, file: File) -> Answer:
    """Process one file of the job.

    The file's errors are stored in the outcome, so that processing continues with the next file.
    """
    outcome = Outcome(file[0])
    start = time.perf_counter()
    announce_for(outcome.file, job.verb)
    try:
        _work(job, file, outcome)
    except animation.AnimationError as error:
        outcome.fail(*error.findings)
    except Exception as error:
        traceback.print_exc()
        outcome.fail(Finding("FILE_FAULT", arguments=(type(error).__name__, str(error))))
    outcome.seconds = time.perf_counter() - start
    return _answer(job, outcome)


def _work(job: Job, file: File, outcome: Outcome) -> None:
    """Read the file, run the verb, and write its result, if any. Raises AnimationError."""
    path, target = file
    if target is not None:
        check_target(target, job.makes_folder)
    if job.verb == "import":
        source = open_scene(path)
    else:
        source = open_file(path, outcome.report, writes=target is not None and job.suffix == ".blend")
    if target is not None:
        check_no_library(target)
    before = snapshot() if job.given.dry_run else {}
    content = _VERBS[job.verb](job, outcome)
    if job.given.dry_run:
        outcome.results["changes"] = changes_since(before)
    if target is not None:
        _write_result(job, path, target, source, content, outcome)


def _write_result(job: Job, file: Path, target: Path, source: Source, content: bytes | None, outcome: Outcome) -> None:
    """Write the result unless there was nothing to do or errors prevent it. Raises AnimationError."""
    report = outcome.report
    has_result = bool(report.tracks) or job.makes_new_files
    if report.errors and (job.given.strict or not has_result):
        report.notes += [Finding("NOT_WRITTEN_STRICT")] if has_result else []
        outcome.is_withheld = job.given.strict
        return
    if not has_result and outcome.nothing_to_do is None:
        outcome.nothing_to_do = Finding(f"NOTHING_TO_{job.work.replace('-', '_').upper()}")
    outcome.is_written = outcome.nothing_to_do is None
    if job.given.dry_run:
        return

    def record(version: Version | None) -> None:
        if job.given.skip_done and not report.errors:
            record_done(job, file, target, source, version)

    if outcome.nothing_to_do:
        record(None)
        return
    report.notes += [source.converted] if source.converted else []
    save(source, target, job.given.in_place, record, content)
    outcome.output = target
