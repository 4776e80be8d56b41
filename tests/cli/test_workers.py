# SPDX-License-Identifier: GPL-3.0-or-later
"""Which processes are started, given how long the files take. Nothing here takes as long as it says."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.tool import children_of, needs_proc, wait_until

WORKER = """
import pathlib, sys
pathlib.Path({started!r}).touch()
print("\\x1e", flush=True)
for line in sys.stdin:
    print('\\x1e["done", "by a worker"]', flush=True)
"""
NEVER_READY = """
import pathlib, time
pathlib.Path({started!r}).touch()
time.sleep(600)
"""
START = 0.2
"""Processor seconds that a process is said to take to start."""


@pytest.mark.parametrize(
    ("waiting", "at_work", "seconds", "worth"),
    [
        (1, 1, 0.2, False),  # two small files
        (7, 1, 0.2, False),  # eight
        (39, 1, 0.5, False),  # forty, which other programs would make slower with a start than without
        (100, 1, 0.2, True),
        (1, 1, 20.0, True),  # two large ones
        (0, 1, 10.0, False),  # one
        (30, 4, 0.2, False),  # four need a quarter of the time that one needs
        (200, 4, 0.4, True),
        (9, 1, 0.0, False),  # the first was just begun
    ],
)
def test_a_worker_is_worth_its_start_where_much_more_is_left_to_do(cli, waiting, at_work, seconds, worth):
    assert cli.workers.is_worth_a_start(waiting, at_work, seconds, start=1.0) == worth


class Clock:
    """Processor time that passes only where a file is done."""

    def __init__(self) -> None:
        self.now = 7.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "process_time", clock)
    return clock


@pytest.fixture
def started(tmp_path) -> Path:
    """There once a worker was started."""
    return tmp_path / "started"


@pytest.fixture
def done_here(cli, clock, started, monkeypatch) -> Callable[..., list[int]]:
    """Do files that take so many seconds, with --jobs 2; return the numbers of those that this process does.

    `until`: conditions by the number of the file that is not done before them. The others are not done before it was
    looked whether a worker is worth its start.
    """
    looks: list[bool] = []
    is_worth = cli.workers.is_worth_a_start

    def look(*given: float) -> bool:
        looks.append(is_worth(*given))
        return looks[-1]

    monkeypatch.setattr(cli.workers, "is_worth_a_start", look)

    def run(*seconds: float, until: dict[int, Callable[[], object]], worker: str = WORKER) -> list[int]:
        files = [(Path(f"{number}.blend"), None) for number in range(len(seconds))]
        here = []

        def do(file: tuple[Path, None]) -> tuple[str, str]:
            number = int(file[0].stem)
            here.append(number)
            clock.now += seconds[number]
            before = len(looks)
            is_last = number == len(seconds) - 1
            wait_until(until.get(number, lambda: is_last or started.exists() or len(looks) > before + 1))
            return "done", "here"

        def fail(file: tuple[Path, None], error: object) -> None:
            raise AssertionError(f"{file}: {error}")

        command = [sys.executable, "-c", worker.format(started=str(started))]
        answers = [text for _, text in cli.workers.do_all(files, do, fail, 2, command, START)]
        assert sorted(answers) == ["by a worker"] * (len(files) - len(here)) + ["here"] * len(here)
        return here

    return run


def test_small_files_are_done_in_one_process(done_here, started):
    assert done_here(*[0.1 * START] * 8, until={}) == list(range(8))
    assert not started.exists()


@pytest.mark.parametrize("seconds", [[3 * START] * 10, [50 * START, 0.0, 0.0], [50 * START] * 2])
def test_a_worker_is_started_while_the_first_file_is_at_work_where_much_more_is_left(done_here, started, seconds):
    assert done_here(*seconds, until={0: started.exists})[0] == 0


def test_a_worker_is_started_where_files_turn_out_to_be_longer(done_here, started):
    assert done_here(0.0, 0.0, 50 * START, 0.0, 0.0, until={2: started.exists})[:3] == [0, 1, 2]


def test_nothing_is_started_for_the_last_file(done_here, started):
    assert done_here(0.0, 50 * START, until={}) == [0, 1]
    assert not started.exists()


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_worker_has_one_thread_unless_more_are_asked_for(done_here, started, monkeypatch, threads):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if threads != "1":
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)
    worker = f"import os\nassert os.environ['OPENBLAS_NUM_THREADS'] == {threads!r}\n{WORKER}"
    done_here(50 * START, 0.0, until={0: started.exists}, worker=worker)
    assert started.exists()


@needs_proc
def test_a_worker_that_is_not_ready_when_the_last_file_is_taken_is_ended(done_here, started):
    until = {0: started.exists, 1: lambda: not children_of(os.getpid())}
    assert done_here(50 * START, 0.0, until=until, worker=NEVER_READY) == [0, 1]
