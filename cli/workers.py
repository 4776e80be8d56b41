# SPDX-License-Identifier: GPL-3.0-or-later
"""Process several files at a time in worker processes.

The main process handles one file after another, and starts workers if the remaining work takes longer than starting
them. A worker prints a line when it is ready. Then it reads a file name and its target from standard input, processes
the file, and replies with a line that contains the status and the text for standard output. Each line begins with the
record separator, which distinguishes it from Blender's output.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from ..animation import Finding
from ..animation.translation import n_, rpt_
from .arguments import File
from .blend_files import remove_leftovers
from .file_outcome import Status, announce

_RECORD = "\x1e"
_STARTS = 20.0
"""Minimum remaining work, in worker start times, before another worker starts. A start costs at most 5 %."""
_SHORTEST_WAIT = 0.02
"""Seconds between checks of whether to start another worker."""
_ONE_THREAD = "OPENBLAS_NUM_THREADS"
"""If it is 1, OpenBLAS solves small systems of equations in one thread, which is faster than in several."""

Answer = tuple[Status, str]
"""The status of a file and its text for standard output."""
_Do = Callable[[File], Answer]
_Fail = Callable[[File, Finding], Answer]


def serve(do: _Do, answers: TextIO) -> None:
    """Process files as a worker until standard input ends."""
    print(_RECORD, file=answers, flush=True)
    for line in sys.stdin:
        file, target = json.loads(line)
        answer = do((Path(file), None if target is None else Path(target)))
        print(_RECORD + json.dumps(answer), file=answers, flush=True)


def do_all(
    files: Sequence[File], do: _Do, fail: _Fail, jobs: int, command: Sequence[str], start: float
) -> Iterator[Answer]:
    """Process the files in this process and at most `jobs` - 1 workers. Yield answers as they arrive.

    `fail` creates the answer for a file whose worker died. `command` starts a worker, which takes `start` processor
    seconds.
    """
    run = _Run(deque(files))
    workers = _Workers(run, fail, min(jobs, len(files)) - 1, command, start)
    try:
        for _ in files:
            if run.answers.empty() and (file := run.take()) is not None:
                with run.measured():
                    run.answers.put(do(file))
            yield run.answers.get()
    finally:
        run.waiting.clear()
        workers.end()


def is_worth_a_start(waiting: int, at_work: int, seconds_a_file: float, start: float) -> bool:
    """Return whether another worker would process enough of the waiting files to be worth its start.

    `at_work` is the number of processes that are working or starting.
    """
    return waiting > 0 and waiting * seconds_a_file >= _STARTS * start * at_work


class _Run:
    """Distribute files to several threads, collect their answers, and measure the time per file of this process.

    Times are processor seconds, which other programs do not affect.
    """

    def __init__(self, waiting: deque[File]) -> None:
        self.waiting = waiting
        self.answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self.files = 0
        self.seconds = 0.0
        self.began: float | None = None

    def take(self) -> File | None:
        """Return the next file, or None if there is none."""
        with contextlib.suppress(IndexError):
            return self.waiting.popleft()
        return None

    @contextlib.contextmanager
    def measured(self) -> Iterator[None]:
        self.began = time.process_time()
        yield
        self.seconds += time.process_time() - self.began
        self.files += 1
        self.began = None

    def seconds_a_file(self) -> float:
        """Return the mean time per file, including the current file if that increases it."""
        mean = self.seconds / self.files if self.files else 0.0
        began = self.began
        if began is None:
            return mean
        return max(mean, (self.seconds + time.process_time() - began) / (self.files + 1))


class _Workers:
    """Start workers when they save time, and end them."""

    def __init__(self, run: _Run, fail: _Fail, most: int, command: Sequence[str], start: float) -> None:
        self.workers: list[_Worker] = []
        self.ended = threading.Event()
        self.watch = threading.Thread(target=self._watch, args=(run, fail, most, command, start), daemon=True)
        if most > 0:
            self.watch.start()

    def _watch(self, run: _Run, fail: _Fail, most: int, command: Sequence[str], start: float) -> None:
        while not self.ended.wait(max(start / 10, _SHORTEST_WAIT)):
            if not run.waiting:
                for worker in self.workers:
                    if not worker.is_ready:
                        worker.process.terminate()
                return
            busy = sum(worker.is_alive() for worker in self.workers)
            failure = next((worker.failure for worker in self.workers if worker.failure), "")
            try:
                is_worth_it = is_worth_a_start(len(run.waiting), busy + 1, run.seconds_a_file(), start)
                if not failure and busy < most and is_worth_it:
                    self.workers.append(_Worker(run, fail, command))
            except OSError as error:
                failure = rpt_("no worker process could be started: {}", error.strerror)
            if failure:
                announce(failure)
                return

    def end(self) -> None:
        """End the workers after their current files."""
        self.ended.set()
        if self.watch.ident is not None:
            self.watch.join()
        for worker in self.workers:
            worker.end()


class _Worker(threading.Thread):
    """Run a process that handles one file after another until none is left or it dies. Raises OSError."""

    def __init__(self, run: _Run, fail: _Fail, command: Sequence[str]) -> None:
        super().__init__(daemon=True)
        self.files = run
        self.fail = fail
        self.is_ready = False
        self.failure = ""
        """The reason why the worker did not become ready."""
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env={_ONE_THREAD: "1", **os.environ},
        )
        self.start()

    def run(self) -> None:
        if self._answer() is None:
            status, command = self.process.wait(), _words(self.process)
            text = n_(
                "a worker process ended with status {:d} during startup: {:s}. Use --blender PATH to set the "
                "program that starts Blender"
            )
            self.failure = rpt_(text, status, command)
            return
        self.is_ready = True
        while (file := self.files.take()) is not None:
            answer = self._ask(file)
            if answer is None:
                error = _end_of(self.process)
                if file[1] is not None:
                    remove_leftovers(file[1])
                self.files.answers.put(self.fail(file, error))
                return
            status, text = json.loads(answer)
            self.files.answers.put((status, text))

    def _ask(self, file: File) -> str | None:
        """Send the file to the process, and return its answer, or None if it died."""
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

    def end(self) -> None:
        """End the process by closing its input. A process that is still starting is ended directly."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if not self.is_ready:
            self.process.terminate()
        self.join()
        with contextlib.suppress(OSError):  # it may exit before reading all input
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def _end_of(process: subprocess.Popen[str]) -> Finding:
    status = process.wait()
    if status >= 0:
        return Finding("WORKER_ENDED", arguments=(status, _words(process)))
    code = "WORKER_KILLED" if -status == signal.SIGKILL else "WORKER_ENDED_BY_SIGNAL"
    return Finding(code, arguments=(-status, str(signal.strsignal(-status)), _words(process)))


def _words(process: subprocess.Popen[str]) -> str:
    return shlex.join(process.args) if isinstance(process.args, list) else str(process.args)
