# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers from 0 to 50, as 3ds Max shows parameters: 25, or for an ease 0, changes nothing."""

from __future__ import annotations

import bpy

from ...animation.store.parameters import LIMITS
from ...animation.store.table.rows import PARAMETERS
from .. import preferences

MAX = 50.0
"""The largest of 3ds Max's numbers."""


def of_50(name: str, value: float) -> float:
    """Convert a parameter to 3ds Max's numbers."""
    low, high = LIMITS[name]
    return (value - low) / (high - low) * MAX


def from_50(name: str, number: float) -> float:
    """Convert one of 3ds Max's numbers to a parameter."""
    low, high = LIMITS[name]
    return low + number / MAX * (high - low)


def shown_names(context: bpy.types.Context) -> dict[str, str]:
    """Return for each parameter the name of the slider that shows it."""
    suffix = "_of_50" if preferences.shows_numbers_of_50(context) else ""
    return {name: name + suffix for name in PARAMETERS}
