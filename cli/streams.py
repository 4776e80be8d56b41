# SPDX-License-Identifier: GPL-3.0-or-later
"""Standard output and stop signals, which the process shares with its parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TextIO

_TERMINATED = 143
"""Exit status by the custom of shells: 128 and the number of the signal."""


@contextlib.contextmanager
def only_results_on_standard_output() -> Iterator[TextIO]:
    """Yield standard output; what Blender prints there goes to standard error meanwhile."""
    _flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        # A file's name may hold bytes that are no text. Operators print their reports through Python.
        with (
            open(kept, "w", encoding="utf-8", errors="backslashreplace", closefd=False) as results,
            contextlib.redirect_stdout(sys.stderr),
        ):
            yield results
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)


def _flush() -> None:
    """Flush C's standard output, by which Blender prints, before its direction changes."""
    sys.stdout.flush()
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)


class Stop:
    """Flag that the user wants no more files begun."""

    def __init__(self) -> None:
        self.asked = False


@contextlib.contextmanager
def stopped_by_interrupt(say: Callable[[], None]) -> Iterator[Stop]:
    """Take the first Ctrl-C for the wish to end after the file at work, and call `say`; the second interrupts."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread hears signals
        return

    def ask(_number: int, _frame: object) -> None:
        if stop.asked:
            raise KeyboardInterrupt
        stop.asked = True
        say()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        # None: Blender's own, which Python can't put back.
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@contextlib.contextmanager
def signals_held_back() -> Iterator[None]:
    """Defer stop signals: Blender lets no handler raise, which would lose the signal or end the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    heard: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ours = [number for number, handler in before.items() if callable(handler)]
    for number in ours:
        signal.signal(number, lambda number, _frame: heard.append(number))
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
        for heard_signal in heard:
            signal.raise_signal(heard_signal)


@contextlib.contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Let a terminated process clean up as an interrupted one does."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return

    def stop(_number: int, _frame: object) -> None:
        raise SystemExit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
