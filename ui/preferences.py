# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences of the extension: parameter values, Live, advanced panels and shortcuts."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..animation.text import n_
from . import keymaps

assert __package__ is not None
PACKAGE = __package__.rpartition(".")[0]

_NUMBER_ITEMS = [
    ("UNIT", "-1 to 1", "Tension, continuity and bias from -1 to 1, eases from 0 to 1"),
    ("OF_50", "0 to 50", "3ds Max values, with a default of 25, or 0 for eases"),
]


class TCBPreferences(bpy.types.AddonPreferences):
    """Preferences: parameter values, completed rotations, advanced panels and shortcuts."""

    bl_idname = PACKAGE

    numbers: EnumProperty(
        name="Numbers", description="Range of displayed and typed parameter values", items=_NUMBER_ITEMS
    )

    complete_rotations: BoolProperty(
        name="Key All Rotation Channels",
        description="Key the remaining channels of a rotation when only some channels were keyed",
        default=True,
    )

    advanced: BoolProperty(
        name="Advanced",
        description="Show the Timing, Smoothness, Reduce, Checks and Defaults panels, and comparison methods",
    )

    use_shortcuts: BoolProperty(
        name="Shortcuts",
        description="Add shortcuts to Object Mode, Pose Mode, the Dope Sheet and the Graph Editor",
        update=_on_shortcuts,
    )

    def draw(self, context: bpy.types.Context) -> None:
        layout: bpy.types.UILayout = self.layout
        row = layout.row()
        row.label(text="Numbers:")
        row.prop(self, "numbers", expand=True)
        for label, name in (
            (n_("Live:"), "complete_rotations"),
            (n_("Panels:"), "advanced"),
            (n_("Keys:"), "use_shortcuts"),
        ):
            row = layout.row()
            row.label(text=label)
            row.prop(self, name)
        if self.use_shortcuts:
            keymaps.draw(layout, context)


def _on_shortcuts(self: Any, _context: bpy.types.Context) -> None:
    keymaps.offer_shortcuts(self.use_shortcuts)


def shows_numbers_of_50(context: bpy.types.Context) -> bool:
    """Return whether parameters are displayed as 3ds Max values."""
    return bool(getattr(_preferences(context), "numbers", "") == "OF_50")


def completes_rotations() -> bool:
    """Return whether Live keys all channels of a rotation if only some were keyed."""
    return bool(getattr(_preferences(bpy.context), "complete_rotations", True))


def shows_advanced(context: bpy.types.Context) -> bool:
    """Return whether the tab shows advanced panels and settings."""
    return bool(getattr(_preferences(context), "advanced", False))


def _preferences(context: Any) -> Any:
    """Return the extension's preferences, or None if the package runs from a checkout."""
    addon = context.preferences.addons.get(PACKAGE)
    return None if addon is None else addon.preferences


def register() -> None:
    bpy.utils.register_class(TCBPreferences)
    keymaps.offer_shortcuts(bool(getattr(_preferences(bpy.context), "use_shortcuts", False)))


def unregister() -> None:
    bpy.utils.unregister_class(TCBPreferences)
