# SPDX-License-Identifier: GPL-3.0-or-later
"""Format numbers for panels, messages and reports as in Blender's fields, without exponents or "-0"."""

from __future__ import annotations

import math

_DECIMALS = 4


def number_text(number: float, decimals: int = _DECIMALS) -> str:
    """Format a number with at most `decimals` decimal places."""
    text = f"{number:.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def angle_text(radians: float) -> str:
    """Format an angle, given in radians, in degrees with one decimal place."""
    return f"{round(math.degrees(radians), 1) + 0.0:.1f}°"


def size_text(size: float, is_angle: bool = False) -> str:
    """Format a size, such as an error, in units or radians. A size below the displayed precision appears as "<0.01"."""
    if is_angle:
        degrees = math.degrees(size)
        if 0.0 < degrees < 0.1:
            return "<0.01°" if degrees < 0.005 else f"{number_text(degrees, 2)}°"
        return angle_text(size)
    smallest = 10.0**-_DECIMALS
    return f"<{smallest:.{_DECIMALS}f}" if 0.0 < size < 0.5 * smallest else number_text(size)
