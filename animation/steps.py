# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in steps: generators that yield the number of finished steps and the total number, and return a result."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar

from .text import n_

Result = TypeVar("Result")

Progress = Callable[[int, int], None]
"""A function that is called with the number of finished steps and the total number of steps."""
Steps = Generator[tuple[int, int], None, Result]
IMPORT_STEPS = n_("{:,} of {:,} steps of the import done")


def run_steps(steps: Steps[Result], progress: Progress | None, finishes: bool = False) -> Result:
    """Run all steps and return their result.

    If `progress` raises an exception, the generator is closed, which undoes its changes. If `finishes` is true (for
    steps that can't be undone), the remaining steps run first.
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
    """Pause Python's cyclic garbage collector, which would take a tenth of a bake's time.

    The collector visits all new objects several times. A bake creates many keys and plans, but these are not part of
    reference cycles, so they are freed without the collector.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
