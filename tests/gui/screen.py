# SPDX-License-Identifier: GPL-3.0-or-later
"""The pixels of the screen."""

from __future__ import annotations

import subprocess
from typing import Any

import numpy as np

from .conftest import PICTURES

SAME = 8
"""Of 255: by rounding and where the picture stands between pixels. A size wrong by one pixel makes it 50 and more."""


def screen(window: Any, name: str) -> Any:
    """What is on the screen, shape (height, width, 3); kept as a picture too."""
    file = PICTURES / name
    window.shot(file)
    width, height = window.size
    pixels = subprocess.run(["convert", str(file), "-depth", "8", "rgb:-"], capture_output=True, check=True).stdout
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 3).astype(int)
