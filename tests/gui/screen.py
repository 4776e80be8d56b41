# SPDX-License-Identifier: GPL-3.0-or-later
"""The pixels of the screen."""

from __future__ import annotations

import subprocess
from typing import Any

import numpy as np

from .conftest import PICTURES

SAME = 8
"""Tolerance of 255, for rounding and subpixel positions. A size error of one pixel changes colors by 50 or more."""


def screen(window: Any, name: str) -> Any:
    """Save a picture of the screen, and return its pixels, shape (height, width, 3)."""
    file = PICTURES / name
    window.shot(file)
    width, height = window.size
    pixels = subprocess.run(["convert", str(file), "-depth", "8", "rgb:-"], capture_output=True, check=True).stdout
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 3).astype(int)
