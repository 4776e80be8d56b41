# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the command: open each file, run the verb, and write the result, in this process or several.

The main process handles one file after another. Meanwhile, it starts workers if the remaining files take much longer
than the start of a worker. A worker prints a line when it is ready. Then it reads a file name and its target from
standard input, processes the file, and replies with a line that contains the status and the text for standard output.
Each line begins with the record separator, which distinguishes it from Blender's output.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import TextIO

import bpy

from .. import animation
from ..animation import Finding
from ..animation.text import n_, rpt_
from .arguments import File, Job, parse
from .blend_files import Source, Version, check_no_library, check_target, open_file, remove_leftovers, save
from .dry_run import changes_since, snapshot
from .outcome import (
    Outcome,
    Status,
    announce,
    announce_for,
    done_before,
    exit_status,
    print_findings,
    record_done,
    result_text,
)
from .streams import only_results_on_standard_output
from .verbs.check import check_motion
from .verbs.edit import apply, bake, enable, free, reduce, remove, restore, restore_curves
from .verbs.files import export_file, export_keys, import_file, import_keys, open_empty_scene, write_all_velocities
from .verbs.info import list_tracks
from .verbs.rotations import process_rotations

# Worker processes


_RECORD = "\x1e"
_ONE_THREAD = "OPENBLAS_NUM_THREADS"
"""If this variable is 1, OpenBLAS solves small systems of equations in one thread, which is faster than in several."""
_SHARE = 0.05
"""The largest share of the remaining processor time that workers may take to start.

If no processor core is idle, workers do not save time, and this share is the maximum loss.
"""
_CHECK_PERIOD = 0.1
"""Seconds between checks whether another worker should start."""

Answer = tuple[Status, str]
"""The status of a file and its text for standard output."""


def do_all(
    files: Sequence[File],
    do: Callable[[File], Answer],
    fail: Callable[[File, Finding], Answer],
    jobs: int,
    command: Sequence[str],
) -> Iterator[Answer]:
    """Process the files in this process and at most `jobs` - 1 workers. Yield answers as they arrive.

    `fail` creates the answer for a file whose worker died. `command` starts a worker.
    """
    pool = _Pool(files, fail, command)
    starter = threading.Thread(target=pool.start_workers, args=(jobs - 1,), daemon=True)
    starter.start()
    try:
        for _ in files:
            if pool.answers.empty() and (file := pool.take()) is not None:
                pool.files_begun_here += 1
                pool.answers.put(do(file))
            yield pool.answers.get()
    finally:
        pool.waiting.clear()
        pool.is_over.set()
        starter.join()
        for worker in pool.workers:
            worker.end()


class _Pool:
    """The files of a run, their answers, and the workers that help."""

    def __init__(self, files: Sequence[File], fail: Callable[[File, Finding], Answer], command: Sequence[str]) -> None:
        self.waiting = deque(files)
        self.answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self.fail = fail
        self.command = command
        self.workers: list[_Worker] = []
        self.files_begun_here = 0
        self.is_over = threading.Event()
        self._startup_seconds = time.process_time()
        self.failures: dict[str, _Worker] = {}
        """The announced reasons why workers failed to start, and the first worker of each."""

    def take(self) -> File | None:
        """Return the next file, or None if another process has taken the last one."""
        with contextlib.suppress(IndexError):
            return self.waiting.popleft()
        return None

    def start_workers(self, limit: int) -> None:
        """Start at most `limit` workers, each as soon as it pays off."""
        while len(self.workers) < limit and self.waiting:
            if self.another_pays_off():
                try:
                    self.workers.append(_Worker(self))
                except OSError as error:
                    announce(rpt_("no worker process could be started: {}", error.strerror))
                    return
            elif self.is_over.wait(_CHECK_PERIOD):
                return

    def another_pays_off(self) -> bool:
        """Return whether the remaining files take much longer than the starts of all workers and of another one.

        Times are processor times, because processes may share a core. A worker starts in the same way as this process.
        """
        if not self.files_begun_here:
            return False
        seconds_per_file = (time.process_time() - self._startup_seconds) / self.files_begun_here
        startup_seconds = self._startup_seconds * (len(self.workers) + 1)
        return startup_seconds <= _SHARE * seconds_per_file * len(self.waiting)


class _Worker(threading.Thread):
    """A process that handles one file after another until no file is left or the process dies. Raises OSError."""

    def __init__(self, pool: _Pool) -> None:
        super().__init__(daemon=True)
        self.pool = pool
        self.command_line = shlex.join(pool.command)
        self.is_ready = False
        self.is_ended = False
        self.process = subprocess.Popen(
            pool.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env={_ONE_THREAD: "1", **os.environ},
        )
        self.start()

    def run(self) -> None:
        if self._answer() is None:
            if not self.is_ended:
                text = n_(
                    "a worker process ended with status {:d} during startup: {:s}. Use --blender PATH to set the "
                    "program that starts Blender"
                )
                failure = rpt_(text, self.process.wait(), self.command_line)
                if self.pool.failures.setdefault(failure, self) is self:
                    announce(failure)
            return
        self.is_ready = True
        while (file := self.pool.take()) is not None:
            answer = self._ask(file)
            if answer is None:
                error = self._death()
                if file.target is not None:
                    remove_leftovers(file.target)
                self.pool.answers.put(self.pool.fail(file, error))
                return
            status, text = json.loads(answer)
            self.pool.answers.put((status, text))

    def _ask(self, file: File) -> str | None:
        """Send the file to the process, and return its answer, or None if the process died."""
        assert self.process.stdin is not None
        names = [None if path is None else str(path) for path in file]
        try:
            print(json.dumps(names), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            return None
        return self._answer()

    def _answer(self) -> str | None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            _, separator, answer = line.partition(_RECORD)
            if separator and answer.endswith("\n"):
                return answer
        return None

    def _death(self) -> Finding:
        status = self.process.wait()
        if status >= 0:
            return Finding("WORKER_ENDED", arguments=(status,))
        code = "WORKER_KILLED" if -status == signal.SIGKILL else "WORKER_ENDED_BY_SIGNAL"
        return Finding(code, arguments=(-status, str(signal.strsignal(-status))))

    def end(self) -> None:
        """End the process by closing its input. A process that is still starting is ended directly."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.is_ended = True
        if not self.is_ready:
            self.process.terminate()
        self.join()
        with contextlib.suppress(OSError):  # it may exit before reading all input
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def _serve(do: Callable[[File], Answer], answers: TextIO) -> None:
    """Process files as a worker until standard input ends."""
    print(_RECORD, file=answers, flush=True)
    for line in sys.stdin:
        source, target = json.loads(line)
        answer = do(File(Path(source), None if target is None else Path(target)))
        print(_RECORD + json.dumps(answer), file=answers, flush=True)


# The command


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
                _serve(functools.partial(process_file, job), results)
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
            yield _answer_of(job, outcome)
        else:
            remaining_files.append(file)
    do, fail = functools.partial(process_file, job), functools.partial(_fail, job)
    yield from do_all(remaining_files, do, fail, job.given.jobs, worker_command)


def _fail(job: Job, file: File, error: Finding) -> Answer:
    """Return the answer for a file whose worker died."""
    return _answer_of(job, Outcome(file.source, animation.Report(errors=[error])))


def _answer_of(job: Job, outcome: Outcome) -> Answer:
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
    return _answer_of(job, outcome)


def _process(job: Job, file: File, outcome: Outcome) -> None:
    """Read the file, run the verb, and write its result, if any. Raises AnimationError."""
    target = file.target
    if target is not None:
        check_target(target, job.makes_folder)
    if job.verb == "import":
        source = open_empty_scene(file.source)
    else:
        source = open_file(file.source, outcome.report, writes=target is not None and job.saves_open_file)
    if target is not None:
        check_no_library(target)
    before = snapshot() if job.given.dry_run else {}
    content = _VERBS[job.verb](job, outcome)
    if job.given.dry_run:
        outcome.results["changes"] = changes_since(before)
    if target is not None and outcome.decide(job) and not job.given.dry_run:
        _write_result(job, file.source, target, source, content, outcome)


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
