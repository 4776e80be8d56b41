# SPDX-License-Identifier: GPL-3.0-or-later
"""Process several files at a time in worker processes.

The main process handles one file after another. Meanwhile, it starts workers if the remaining files take much longer
than the start of a worker. A worker prints a line when it is ready. Then it reads a file name and its target from
standard input, processes the file, and replies with a line that contains the status and the text for standard output.
Each line begins with the record separator, which distinguishes it from Blender's output.
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
from .announce import announce
from .blend_files import remove_leftovers
from .job import File
from .outcome import Status

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


def serve(do: Callable[[File], Answer], answers: TextIO) -> None:
    """Process files as a worker until standard input ends."""
    print(_RECORD, file=answers, flush=True)
    for line in sys.stdin:
        source, target = json.loads(line)
        answer = do(File(Path(source), None if target is None else Path(target)))
        print(_RECORD + json.dumps(answer), file=answers, flush=True)
