# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages and progress on standard error."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ..animation.text import rpt_

_PROGRESS_PERIOD = 1.0
"""Seconds between progress lines of a file."""


def announce(text: str) -> None:
    """Print to standard error in one write, because other processes may write there too."""
    sys.stderr.write(f"tcb: {text}\n")
    sys.stderr.flush()


def announce_for(file: Path, text: str) -> None:
    announce(f"{file}: {text}")


class Ticker:
    """The progress of a file, printed at limited intervals."""

    def __init__(self, file: Path, line: str) -> None:
        self.file = file
        self.line = line
        self.last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.last >= _PROGRESS_PERIOD:
            self.last = now
            announce_for(self.file, rpt_(self.line, done, total))
