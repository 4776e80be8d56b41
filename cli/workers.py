# SPDX-License-Identifier: GPL-3.0-or-later
"""Process several files at a time in worker processes.

The main process starts the workers and meanwhile handles one file after another. A worker prints a line when it is
ready. Then it reads a file name and its target from standard input, processes the file, and replies with a line that
contains the status and the text for standard output. Each line begins with the record separator, which distinguishes it
from Blender's output.
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
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from ..animation import Finding
from ..animation.translation import n_, rpt_
from .arguments import File
from .open_and_save import remove_leftovers
from .outcome import Status
from .print_outcome import announce

_RECORD = "\x1e"
_ONE_THREAD = "OPENBLAS_NUM_THREADS"
"""If this variable is 1, OpenBLAS solves small systems of equations in one thread, which is faster than in several."""

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


def do_all(files: Sequence[File], do: _Do, fail: _Fail, jobs: int, command: Sequence[str]) -> Iterator[Answer]:
    """Process the files in this process and at most `jobs` - 1 workers. Yield answers as they arrive.

    `fail` creates the answer for a file whose worker died. `command` starts a worker.
    """
    waiting = deque(files)
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    workers: list[_Worker] = []
    failures: dict[str, _Worker] = {}
    try:
        for _ in range(min(jobs, len(files)) - 1):
            workers.append(_Worker(waiting, answers, fail, failures, command))
    except OSError as error:
        announce(rpt_("no worker process could be started: {}", error.strerror))
    try:
        for _ in files:
            if answers.empty() and (file := take(waiting)) is not None:
                answers.put(do(file))
            yield answers.get()
    finally:
        waiting.clear()
        for worker in workers:
            worker.end()


def take(waiting: deque[File]) -> File | None:
    """Return the next file, or None if another process has taken the last one."""
    with contextlib.suppress(IndexError):
        return waiting.popleft()
    return None


class _Worker(threading.Thread):
    """A process that handles one file after another until no file is left or the process dies. Raises OSError.

    `failures` contains the messages of workers that failed to start, so that each is announced once.
    """

    def __init__(
        self,
        waiting: deque[File],
        answers: queue.SimpleQueue[Answer],
        fail: _Fail,
        failures: dict[str, _Worker],
        command: Sequence[str],
    ) -> None:
        super().__init__(daemon=True)
        self.waiting, self.answers, self.fail, self.failures = waiting, answers, fail, failures
        self.command_line = shlex.join(command)
        self.is_ready = False
        self.is_ended = False
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
            if not self.is_ended:
                text = n_(
                    "a worker process ended with status {:d} during startup: {:s}. Use --blender PATH to set the "
                    "program that starts Blender"
                )
                failure = rpt_(text, self.process.wait(), self.command_line)
                if self.failures.setdefault(failure, self) is self:
                    announce(failure)
            return
        self.is_ready = True
        while (file := take(self.waiting)) is not None:
            answer = self._ask(file)
            if answer is None:
                error = self._death()
                if file[1] is not None:
                    remove_leftovers(file[1])
                self.answers.put(self.fail(file, error))
                return
            status, text = json.loads(answer)
            self.answers.put((status, text))

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
        """Return the reason why the process died."""
        status = self.process.wait()
        if status >= 0:
            return Finding("WORKER_ENDED", arguments=(status, self.command_line))
        code = "WORKER_KILLED" if -status == signal.SIGKILL else "WORKER_ENDED_BY_SIGNAL"
        return Finding(code, arguments=(-status, str(signal.strsignal(-status)), self.command_line))

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
