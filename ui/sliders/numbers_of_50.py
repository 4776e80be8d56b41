# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters as 3ds Max values from 0 to 50, with the default 25, or 0 for an ease."""

from __future__ import annotations

import bpy

from ...animation.store.parameters import LIMITS
from ...animation.store.table.rows import PARAMETERS
from .. import preferences

MAX = 50.0
"""Maximum of 3ds Max values."""


def of_50(name: str, value: float) -> float:
    """Convert a parameter to a 3ds Max value."""
    low, high = LIMITS[name]
    return (value - low) / (high - low) * MAX


def from_50(name: str, number: float) -> float:
    """Convert a 3ds Max value to a parameter."""
    low, high = LIMITS[name]
    return low + number / MAX * (high - low)


def shown_names(context: bpy.types.Context) -> dict[str, str]:
    """Return the name of the displayed slider for each parameter."""
    # Groups with `Of50` have a second slider per parameter.
    suffix = "_of_50" if preferences.shows_numbers_of_50(context) else ""
    return {name: name + suffix for name in PARAMETERS}
