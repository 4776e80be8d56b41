# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension's page in the preferences: how numbers and paths are shown, what Live completes, and shortcuts."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from . import keymaps

assert __package__ is not None
PACKAGE = __package__.rpartition(".")[0]

_NUMBERS = [
    ("UNIT", "-1 to 1", "Tension, continuity and bias from -1 to 1, eases from 0 to 1: as files keep them"),
    ("OF_50", "0 to 50", "As 3ds Max shows them: all from 0 to 50, where 25, or for an ease 0, changes nothing"),
]


PATH_WIDTH = 2.0


class TCBPreferences(bpy.types.AddonPreferences):
    """Preferences: the numbers of parameters, the width of paths, whether Live completes rotations, and shortcuts."""

    bl_idname = PACKAGE

    numbers: EnumProperty(name="Numbers", description="How parameters are shown and typed", items=_NUMBERS)

    path_width: FloatProperty(
        name="Path Width",
        description="How wide paths are drawn in the 3D viewport, in pixels at a resolution scale of 1",
        default=PATH_WIDTH,
        min=1.0,
        max=10.0,
        precision=1,
    )

    complete_rotations: BoolProperty(
        name="Key All Rotation Channels",
        description="Live keys the other channels where only part of a rotation was keyed",
        default=True,
    )

    def draw(self, context: bpy.types.Context) -> None:
        layout: bpy.types.UILayout = self.layout
        row = layout.row()
        row.label(text="Numbers:")
        row.prop(self, "numbers", expand=True)
        row = layout.row()
        row.label(text="Path Width:")
        row.prop(self, "path_width", text="")
        row = layout.row()
        row.label(text="Live:")
        row.prop(self, "complete_rotations")
        keymaps.draw(layout, context)


def shows_numbers_of_50(context: bpy.types.Context) -> bool:
    """Return whether parameters are shown as 3ds Max numbers them."""
    return bool(getattr(_preferences(context), "numbers", "") == "OF_50")


def path_width(context: bpy.types.Context) -> float:
    """Return how wide paths are drawn, in pixels at a resolution scale of 1."""
    return float(getattr(_preferences(context), "path_width", PATH_WIDTH))


def completes_rotations() -> bool:
    """Return whether Live keys a rotation in all channels where only some were keyed."""
    return bool(getattr(_preferences(bpy.context), "complete_rotations", True))


def _preferences(context: bpy.types.Context) -> Any:
    """Return the extension's preferences; None where a package that is run from a checkout has none."""
    preferences: Any = context.preferences
    addon = preferences.addons.get(PACKAGE)
    return None if addon is None else addon.preferences


def register() -> None:
    bpy.utils.register_class(TCBPreferences)


def unregister() -> None:
    bpy.utils.unregister_class(TCBPreferences)
