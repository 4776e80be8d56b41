# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in steps: a generator that yields how many steps are done and in all, and returns its result."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar

from .translation import n_

Result = TypeVar("Result")

Progress = Callable[[int, int], None]
"""Called with the number of steps done and in all."""
Steps = Generator[tuple[int, int], None, Result]
IMPORT_STEPS = n_("{:,} of {:,} steps of the import done")


def run_steps(steps: Steps[Result], progress: Progress | None, finishes: bool = False) -> Result:
    """Run all steps, and return their result.

    Where `progress` raises, the steps are closed, which leaves all as it was; with `finishes`, of steps that can't be
    undone, all are done first.
    """
    with collector_paused():
        while True:
            try:
                done, total = next(steps)
            except StopIteration as stop:
                result: Result = stop.value
                return result
            if progress is not None:
                try:
                    progress(done, total)
                except BaseException:
                    if finishes:
                        deque(steps, maxlen=0)
                    steps.close()
                    raise


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause Python's collector of cyclic garbage, which takes a tenth of a bake.

    It goes through all new objects several times. Keys and plans are many, have no cycles, and are freed without it.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
