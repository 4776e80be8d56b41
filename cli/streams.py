# SPDX-License-Identifier: GPL-3.0-or-later
"""Redirect standard output, and end the process on stop signals."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from typing import TextIO


@contextlib.contextmanager
def only_results_on_standard_output() -> Iterator[TextIO]:
    """Yield standard output, and redirect Blender's output to standard error meanwhile."""
    _flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        # File names may contain bytes that are not text. Operators print their reports through Python.
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
    """Flush C's standard output, which Blender uses, before redirecting it."""
    sys.stdout.flush()
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)


def end_at_once_by_signals() -> None:
    """Make Ctrl-C and termination end the process at any time. Each result is either complete or unchanged.

    Python's own handlers wait until Blender's functions return, and exceptions in Blender's handlers are lost.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
