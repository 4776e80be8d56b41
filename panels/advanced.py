# SPDX-License-Identifier: GPL-3.0-or-later
"""Base class for panels that are visible if the Advanced preference is on, or while they are in use."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy

from ..ui import preferences, redraw


class Advanced:
    """Base class for panels that are visible if the Advanced preference is on, or while they are in use."""

    bl_space_type: ClassVar[Any] = "VIEW_3D"
    bl_region_type: ClassVar[Any] = "UI"
    bl_category = "TCB"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # Blender polls before it draws the first panel.
        redraw.begin()
        return preferences.shows_advanced(context) or cls.is_in_use(context)

    @classmethod
    def is_in_use(cls, _context: bpy.types.Context) -> bool:
        """Return whether settings of the panel affect the motion, or the panel shows results."""
        return False
