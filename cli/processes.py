# SPDX-License-Identifier: GPL-3.0-or-later
"""Several files at a time, in processes: the one that hands them out, and those that do them.

A worker reads the number of a file from its standard input, does the file, and answers on standard output with a line:
the record separator and JSON (RFC 7464), which tells it from what Blender prints while it starts.
"""

from __future__ import annotations

import contextlib
import json
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from ..words import n_, rpt_
from .arguments import Job
from .blend_files import remove_leftovers
from .log import write_outcome
from .outcome import Outcome
from .streams import Stop

_RECORD = "\x1e"
_PATIENCE = 10.0
"""Seconds that a worker has to take away what is half written before it is killed."""


def serve(do: Callable[[int], Outcome], answers: TextIO) -> None:
    """Be a worker, until whoever hands out the files is content or gone."""
    for line in sys.stdin:
        answers.write(f"{_RECORD}{json.dumps(do(int(line)).packed())}\n")
        answers.flush()


def do_in_processes(job: Job, numbers: Sequence[int], command: Sequence[str], stop: Stop) -> Iterator[Outcome]:
    """Do these files of the job in several processes that the command starts; yield what is done as it is.

    When it is to stop, those that are not begun are left.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Outcome]] = queue.SimpleQueue()
    for number in numbers:
        waiting.put(number)
    workers = [_Worker(job, command) for _ in range(min(job.processes, len(numbers)))]
    threads = [threading.Thread(target=worker.work_off, args=(waiting, done), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        left = len(numbers)
        while left:
            number, outcome = done.get()
            write_outcome(job, number, outcome)  # of a worker that died before it could
            yield outcome
            left -= 1
            if stop.asked:
                left -= _emptied(waiting)
    finally:
        for worker in workers:
            worker.stop()
        for worker, thread in zip(workers, threads, strict=True):
            thread.join(_PATIENCE)
            if thread.is_alive():
                worker.kill()
                thread.join()


def _emptied(waiting: queue.SimpleQueue[int]) -> int:
    """How many were waiting that do so no more."""
    count = 0
    with contextlib.suppress(queue.Empty):
        while True:
            waiting.get_nowait()
            count += 1
    return count


class _Worker:
    """A process that does one file after the other; when it dies, another takes its place."""

    def __init__(self, job: Job, command: Sequence[str]) -> None:
        self.job = job
        self.command = command
        self.process: subprocess.Popen[str] | None = None
        self.stopped = False
        self.lock = threading.Lock()

    def work_off(self, waiting: queue.SimpleQueue[int], done: queue.SimpleQueue[tuple[int, Outcome]]) -> None:
        while not self.stopped:
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                break
            done.put((number, self._do(number)))
        self._finish()

    def _do(self, number: int) -> Outcome:
        file = self.job.files[number]
        start = time.perf_counter()
        try:
            process = self._started()
            answer = _ask(process, number)
        except OSError as error:
            return Outcome(file, errors=[rpt_("no process could be started for it: {}", error.strerror)])
        if answer:
            return Outcome.unpacked(file, json.loads(answer))
        outcome = Outcome(file, errors=[_end_of(process)])
        self._finish()
        if self.job.targets:
            remove_leftovers(self.job.targets[number])
        outcome.seconds = time.perf_counter() - start
        return outcome

    def _started(self) -> subprocess.Popen[str]:
        with self.lock:
            if self.stopped:
                raise InterruptedError
            if self.process is None:
                self.process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    encoding="utf-8",
                    errors="replace",
                    # Ctrl-C in the terminal is for the process that hands out the files, which then stops the others.
                    start_new_session=True,
                )
            return self.process

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            if self.process is not None:
                self.process.terminate()

    def kill(self) -> None:
        with self.lock:
            if self.process is not None:
                self.process.kill()

    def _finish(self) -> None:
        """Let the process end, which it does when it has nothing more to read."""
        if self.process is None:
            return
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):  # it may be gone before it has read all
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        with self.lock:
            self.process = None


def _ask(process: subprocess.Popen[str], number: int) -> str:
    """The answer; empty where the worker died instead."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
    except BrokenPipeError:
        return ""
    for line in process.stdout:
        _, separator, answer = line.partition(_RECORD)
        if separator and answer.endswith("\n"):
            return answer
    return ""


def _end_of(process: subprocess.Popen[str]) -> str:
    status = process.wait()
    words = process.args
    command = shlex.join(words) if isinstance(words, list) else str(words)
    if status >= 0:
        return rpt_("the process that worked on it ended with status {:d}: {:s}", status, command)
    name = signal.strsignal(-status)
    text = n_("the process that worked on it was ended by signal {:d} ({}): {:s}")
    if -status == signal.SIGKILL:
        text = n_("the process that worked on it was ended by signal {:d} ({}); is memory short? {:s}")
    return rpt_(text, -status, name, command)
