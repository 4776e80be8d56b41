# SPDX-License-Identifier: GPL-3.0-or-later
"""The pixels of the screen."""

from __future__ import annotations

import subprocess
from typing import Any

import numpy as np

SAME = 8
"""Tolerance of 255, for rounding and subpixel positions. A size error of one pixel changes colors by 50 or more."""


def screen(window: Any) -> Any:
    """Return the pixels of the screen, shape (height, width, 3)."""
    width, height = window.size
    grab = ["import", "-window", "root", "-depth", "8", "rgb:-"]
    pixels = subprocess.run(grab, env=window.env, capture_output=True, check=True).stdout
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 3).astype(int)
