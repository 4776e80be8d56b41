# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension's page in the preferences: how numbers are shown, and shortcuts."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty

from ..animation.store.parameters import LIMITS
from ..animation.store.table.rows import PARAMETERS
from . import keymaps

assert __package__ is not None
PACKAGE = __package__.rpartition(".")[0]

_NUMBERS = [
    ("UNIT", "-1 to 1", "Tension, continuity and bias from -1 to 1, eases from 0 to 1: as files keep them"),
    ("OF_50", "0 to 50", "As 3ds Max shows them: all from 0 to 50, where 25, or for an ease 0, changes nothing"),
]


class TCBPreferences(bpy.types.AddonPreferences):
    """Preferences: the numbers of parameters, and shortcuts."""

    bl_idname = PACKAGE

    numbers: EnumProperty(name="Numbers", description="How parameters are shown and typed", items=_NUMBERS)

    def draw(self, context: bpy.types.Context) -> None:
        layout: bpy.types.UILayout = self.layout
        row = layout.row()
        row.label(text="Numbers:")
        row.prop(self, "numbers", expand=True)
        keymaps.draw(layout, context)


def numbers_of_50(context: bpy.types.Context) -> bool:
    """Check whether parameters are shown as 3ds Max numbers them."""
    preferences: Any = context.preferences
    addon = preferences.addons.get(PACKAGE)
    # A package that is run from a checkout is no add-on.
    return addon is not None and getattr(addon.preferences, "numbers", "") == "OF_50"


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
    suffix = "_of_50" if numbers_of_50(context) else ""
    return {name: name + suffix for name in PARAMETERS}


def register() -> None:
    bpy.utils.register_class(TCBPreferences)


def unregister() -> None:
    bpy.utils.unregister_class(TCBPreferences)
