# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes that work on the files."""

from __future__ import annotations

import os
import sys
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


@pytest.fixture
def started(tmp_path) -> Path:
    """A file that exists once a worker was started."""
    return tmp_path / "started"


@pytest.fixture
def always(cli, monkeypatch) -> None:
    """Start workers without measuring whether they pay off."""
    monkeypatch.setattr(cli.run._Pool, "another_pays_off", lambda _pool: True)


@pytest.fixture
def done_here(cli, started, always) -> Callable[..., int]:
    """Process files with --jobs 2, the first while the worker starts. Return the number that this process handles."""

    def run(count: int, worker: str = WORKER) -> int:
        files = [cli.arguments.File(Path(f"{number}.blend"), None) for number in range(count)]

        def do(_file: tuple[Path, None]) -> tuple[str, str]:
            wait_until(lambda: count == 1 or started.exists())
            return "done", "here"

        def fail(file: tuple[Path, None], error: object) -> None:
            raise AssertionError(f"{file}: {error}")

        command = [sys.executable, "-c", worker.format(started=str(started))]
        answers = [text for _, text in cli.run.do_all(files, do, fail, 2, command)]
        assert sorted(answers) == ["by a worker"] * (count - answers.count("here")) + ["here"] * answers.count("here")
        return answers.count("here")

    return run


def test_nothing_is_started_for_a_single_file(done_here, started):
    assert done_here(1) == 1
    assert not started.exists()


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_worker_has_one_thread_unless_more_are_asked_for(done_here, monkeypatch, threads):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if threads != "1":
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)
    done_here(2, f"import os\nassert os.environ['OPENBLAS_NUM_THREADS'] == {threads!r}\n{WORKER}")


@needs_proc
def test_a_worker_that_is_not_ready_when_all_files_are_done_is_ended(done_here, capfd):
    assert done_here(3, NEVER_READY) == 3
    assert not children_of(os.getpid())
    assert not capfd.readouterr().err


@pytest.mark.parametrize(
    ("file_count", "seconds_per_file", "worker_count"), [(12, 0.1, 0), (101, 0.09, 0), (101, 0.11, 1), (101, 10.0, 7)]
)
def test_the_starts_of_workers_take_at_most_a_twentieth_of_the_remaining_time(
    cli, monkeypatch, file_count, seconds_per_file, worker_count
):
    """A start takes half a second. The first file is done, and the others wait."""
    clock = [0.5]
    monkeypatch.setattr(cli.run.time, "process_time", lambda: clock[0])
    monkeypatch.setattr(cli.run, "_Worker", lambda _pool: None)
    pool = cli.run._Pool([None] * file_count, None, ())
    assert not pool.another_pays_off()
    pool.take()
    pool.files_begun_here += 1
    clock[0] += seconds_per_file
    pool.is_over.set()
    pool.start_workers(7)
    assert len(pool.workers) == worker_count
