# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the time of a function, and of the stages of a call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Clock = Callable[[], float]


def seconds_of(work: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Return the duration of a call in seconds."""
    start = clock()
    work()
    return clock() - start


def milliseconds_of(work: Callable[[], object]) -> float:
    """Return the processor time of a call in milliseconds."""
    return 1000.0 * seconds_of(work)


@contextmanager
def watched(stages: dict[str, list[tuple[Any, str]]]) -> Iterator[dict[str, float]]:
    """Yield the seconds spent in functions in this context, by stage.

    `stages` lists the functions of each stage by owner and attribute. "all" is the total time, which is available after
    the context ends.
    """
    clock, seconds = time.thread_time, dict.fromkeys(stages, 0.0)
    kept = [(owner, name, stage, getattr(owner, name)) for stage, names in stages.items() for owner, name in names]

    def timed(function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            start = clock()
            try:
                return function(*arguments, **named)
            finally:
                seconds[stage] += clock() - start

        return run

    for owner, name, stage, function in kept:
        setattr(owner, name, timed(function, stage))
    start = clock()
    try:
        yield seconds
    finally:
        seconds["all"] = clock() - start
        for owner, name, _, function in kept:
            setattr(owner, name, function)
