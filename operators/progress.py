# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress of an operator, shown at the mouse pointer or printed."""

from __future__ import annotations

import time
from typing import Any

import bpy

from ..animation.translation import n_, rpt_

_SECONDS_BETWEEN_LINES = 2.0
"""Minimum number of seconds between printed lines."""


class Progress:
    """Progress shown at the mouse pointer, or printed as lines if there is no window.

    `line` is the printed text, with placeholders for the finished and the total number of steps.
    """

    def __init__(self, window_manager: Any, line: str = n_("{:d} of {:d} tracks baked")) -> None:
        self._window_manager = window_manager
        self._line = line
        self._printed_at = time.monotonic()
        self.percent = 0
        window_manager.progress_begin(0, 100)

    def __call__(self, done: int, total: int) -> None:
        self.percent = 100 * done // max(1, total)
        self._window_manager.progress_update(self.percent)
        if bpy.app.background and time.monotonic() - self._printed_at > _SECONDS_BETWEEN_LINES:
            self._printed_at = time.monotonic()
            print(f"TCB: {rpt_(self._line, done, total)}", flush=True)

    def close(self) -> None:
        self._window_manager.progress_end()
