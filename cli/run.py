# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the command on files, one after another or several at once."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence

import bpy

from .. import animation
from ..animation import Finding
from ..animation.translation import rpt_
from .arguments import File, Job, parse
from .done import done_before
from .outcome import Outcome, Status, exit_status
from .print_outcome import announce, announce_for
from .process_file import answer_of, process_file
from .streams import only_results_on_standard_output
from .workers import Answer, do_all, serve

PROGRAM = "blender --command tcb"


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
            do = functools.partial(process_file, job)
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
            yield answer_of(job, outcome)
        else:
            to_do.append((file, target))
    yield from do_all(to_do, do, functools.partial(_fail, job), job.given.jobs, command)


def _fail(job: Job, file: File, error: Finding) -> Answer:
    """Return the answer for a file whose worker died."""
    return answer_of(job, Outcome(file[0], animation.Report(errors=[error])))
