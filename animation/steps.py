# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in steps: a generator that yields how many steps are done and in all, and returns its result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

Result = TypeVar("Result")

Progress = Callable[[int, int], None]
"""Called with the number of steps done and in all."""
Steps = Generator[tuple[int, int], None, Result]


def run_steps(steps: Steps[Result], progress: Progress | None) -> Result:
    """Run all steps, and return their result."""
    while True:
        try:
            done, total = next(steps)
        except StopIteration as stop:
            result: Result = stop.value
            return result
        if progress is not None:
            progress(done, total)
