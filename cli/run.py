# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the command on files, one after another or several at once."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections import Counter
from collections.abc import Generator, Sequence
from typing import TextIO

import bpy

from .. import animation
from ..animation import Finding
from ..animation.translation import rpt_
from .announce import announce, announce_for
from .arguments import parse
from .done import done_before
from .job import File, Job
from .outcome import Outcome, Status, exit_status
from .process_file import answer_of, process_file
from .streams import only_results_on_standard_output
from .workers import Answer, do_all, serve

PROGRAM = "blender --command tcb"


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
    """Return the command line that starts a worker."""
    if job.given.blender or not start:
        start = (job.given.blender or bpy.app.binary_path, *_add_ons(sys.argv), "--command", "tcb")
    # The verb comes first. The marker that ends the options may follow the files.
    return [*start, arguments[0], "--worker", *arguments[1:]]


def _add_ons(arguments: Sequence[str]) -> Sequence[str]:
    """Return the option of this Blender that enables add-ons, which its worker processes need as well."""
    at = arguments.index("--addons") if "--addons" in arguments else len(arguments)
    return arguments[at : at + 2]


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
