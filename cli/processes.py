# SPDX-License-Identifier: GPL-3.0-or-later
"""Several files at a time, in worker processes.

The process that was started does one file after the other, and starts workers where the work that is left takes longer
than their start. A worker says that it is ready, then reads the number of a file from its standard input, does the
file, and answers. Each answer is a line on standard output, the record separator and a pickled outcome in base 64:
the separator tells it from what Blender prints.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import pickle
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

from ..animation import Finding, Report
from ..animation.translation import n_, rpt_
from .arguments.parser import Job
from .blend_files import remove_leftovers
from .log import write_outcome
from .outcome import Outcome, announce
from .streams import Stop

_RECORD = "\x1e"
_PATIENCE = 10.0
"""Seconds that a worker has to remove what is half written before it is killed."""
_STARTS = 20.0
"""Starts that the work left must last for another worker to be started: where other programs keep all processors
busy, a start is only a delay of the files, and so of at most 5 %."""
_SHORTEST_WAIT = 0.02
"""Seconds between two checks whether another worker is worth its start."""
_ONE_THREAD = "OPENBLAS_NUM_THREADS"
"""Where it is 1, OpenBLAS works on small systems of equations in one thread, which is faster than in several."""

_PACKAGE = __name__.rpartition(".cli.")[0]
_FLOORS = (".animation.", ".cli.", ".interp.")
"""Parts of the names of modules that follow the package's."""

_Done = queue.SimpleQueue[tuple[int, Outcome]]
"""Numbers of files with their outcomes."""


def serve(do: Callable[[int], Outcome], answers: TextIO) -> None:
    """Work as a worker, until the process that hands out the files ends its input."""

    def answer(content: Outcome | None) -> None:
        answers.write(f"{_RECORD}{base64.b64encode(pickle.dumps(content)).decode()}\n")
        answers.flush()

    answer(None)
    for line in sys.stdin:
        answer(do(int(line)))


def do_all(
    job: Job, numbers: Sequence[int], do: Callable[[int], Outcome], command: Sequence[str], start: float, stop: Stop
) -> Iterator[Outcome]:
    """Do these files of the job, here and in workers; yield outcomes as they come.

    After a stop, files that are not begun are left. `start`: processor seconds that a process takes to start.
    """
    files = _Files(numbers, stop)
    done: _Done = queue.SimpleQueue()
    pace = _Pace()
    workers = _Workers(job, command, files, done, pace, start)
    try:
        while (number := files.take()) is not None or files.at_work:
            if number is not None:
                with pace.measured():
                    outcome = do(number)
                done.put((number, outcome))
            for number, outcome in _received(done):
                write_outcome(job, number, outcome)  # of a worker that died before it could
                yield outcome
                files.finish()
    finally:
        workers.end()


def _received(done: _Done) -> Iterator[tuple[int, Outcome]]:
    """Yield the outcomes that are there; wait for the first."""
    with contextlib.suppress(queue.Empty):
        yield done.get()
        while True:
            yield done.get_nowait()


class _Unpickler(pickle.Unpickler):
    """Find our classes whatever the package is called: the worker may run another installation of the extension."""

    def find_class(self, module: str, name: str) -> Any:
        _, floor, rest = next((parts for each in _FLOORS if (parts := module.partition(each))[1]), ("", "", ""))
        return super().find_class(f"{_PACKAGE}{floor}{rest}" if floor else module, name)


def _outcome(answer: str) -> Outcome:
    outcome: Outcome = _Unpickler(io.BytesIO(base64.b64decode(answer))).load()
    return outcome


class _Files:
    """Hand out the numbers of waiting files to several threads, and count those at work."""

    def __init__(self, numbers: Sequence[int], stop: Stop) -> None:
        self.waiting = deque(numbers)
        self.at_work = 0
        self.stop = stop
        self.lock = threading.Lock()

    def take(self) -> int | None:
        """Return the number of the next file to do; None: there is none, or no more are to be begun."""
        with self.lock:
            if self.stop.asked or not self.waiting:
                return None
            self.at_work += 1
            return self.waiting.popleft()

    def finish(self) -> None:
        with self.lock:
            self.at_work -= 1


class _Pace:
    """Measure how long this process takes for a file, in processor seconds, which other programs do not stretch."""

    def __init__(self) -> None:
        self.files = 0
        self.seconds = 0.0
        self.began: float | None = None

    @contextlib.contextmanager
    def measured(self) -> Iterator[None]:
        self.began = time.process_time()
        yield
        self.seconds += time.process_time() - self.began
        self.files += 1
        self.began = None

    def seconds_a_file(self) -> float:
        """Return the mean, with the file at work where that makes it longer; in the first file the time so far."""
        mean = self.seconds / self.files if self.files else 0.0
        began = self.began
        if began is None:
            return mean
        return max(mean, (self.seconds + time.process_time() - began) / (self.files + 1))


def is_worth_a_start(waiting: int, at_work: int, seconds_a_file: float, start: float) -> bool:
    """Return whether another worker would do enough of the waiting files once it has started.

    `at_work`: the processes that do files, or that are starting.
    """
    return waiting > 0 and waiting * seconds_a_file >= _STARTS * start * at_work


class _Workers:
    """Start workers when it is worth it, and end them."""

    def __init__(self, job: Job, command: Sequence[str], files: _Files, done: _Done, pace: _Pace, start: float) -> None:
        self.job = job
        self.command = command
        self.files = files
        self.done = done
        self.pace = pace
        self.start = start
        self.most = min(job.processes, len(files.waiting)) - 1
        self.workers: list[_Worker] = []
        self.ended = threading.Event()
        self.watch = threading.Thread(target=self._start_as_worth, daemon=True)
        if self.most > 0:
            self.watch.start()

    def _start_as_worth(self) -> None:
        while not self.ended.wait(max(self.start / 10, _SHORTEST_WAIT)):
            if not self.files.waiting:
                for worker in self.workers:
                    if not worker.is_ready:
                        worker.process.terminate()
                return
            busy = sum(worker.thread.is_alive() for worker in self.workers)
            failure = next((worker.failure for worker in self.workers if worker.failure), "")
            try:
                if not failure and busy < self.most and self._is_worth_another(busy + 1):
                    self.workers.append(_Worker(self.job, self.command, self.files, self.done))
            except OSError as error:
                failure = rpt_("no process could be started to help: {}", error.strerror)
            if failure:
                announce(failure)
                return

    def _is_worth_another(self, at_work: int) -> bool:
        return is_worth_a_start(len(self.files.waiting), at_work, self.pace.seconds_a_file(), self.start)

    def end(self) -> None:
        """End the workers that have nothing to do, and stop the others."""
        self.ended.set()
        if self.most > 0:
            self.watch.join()
        for worker in self.workers:
            worker.process.terminate()
        for worker in self.workers:
            worker.thread.join(_PATIENCE)
            if worker.thread.is_alive():
                worker.process.kill()
                worker.thread.join()


class _Worker:
    """Run a process that does one file after the other, until there is none or it dies. Raises OSError."""

    def __init__(self, job: Job, command: Sequence[str], files: _Files, done: _Done) -> None:
        self.job = job
        self.files = files
        self.done = done
        self.is_ready = False
        self.failure = ""
        """Why it never was ready."""
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env={_ONE_THREAD: "1", **os.environ},
            # Ctrl-C in the terminal is for the process that hands out the files, which then stops the others.
            start_new_session=True,
        )
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        # The list of files, as the worker may match patterns with others, or find its standard input read.
        self._tell(json.dumps([str(file) for file in self.job.files]))
        if not self._answer():
            status, command = self.process.wait(), _words(self.process)
            text = n_(
                "a process that was to help ended with status {:d} while it started: {:s}; "
                "--blender PATH says what starts Blender"
            )
            self.failure = rpt_(text, status, command)
        else:
            self.is_ready = True
            while (number := self.files.take()) is not None:
                start = time.perf_counter()
                answer = self._ask(number)
                file = self.job.files[number]
                if answer:
                    self.done.put((number, _outcome(answer)))
                    continue
                report = Report(errors=[_end_of(self.process)])
                if self.job.targets:
                    remove_leftovers(self.job.targets[number])
                self.done.put((number, Outcome(file, report, seconds=time.perf_counter() - start)))
                break
        self._finish()

    def _ask(self, number: int) -> str:
        """Return the answer; empty where the worker died instead."""
        return self._answer() if self._tell(str(number)) else ""

    def _tell(self, line: str) -> bool:
        """Write a line to the worker; return whether it is there to read it."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return False
        return True

    def _answer(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            _, separator, answer = line.partition(_RECORD)
            if separator and answer.endswith("\n"):
                return answer
        return ""

    def _finish(self) -> None:
        """Let the process end, which it does at the end of its input."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):  # it may be gone before it has read all
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
