# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels that the preference Advanced shows, and that are shown in any case while they are in use."""

from __future__ import annotations

import bpy

from ..ui import preferences, redraw


class Advanced:
    """Base of such panels of the 3D viewport's tab."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # Blender asks before it draws the first panel.
        redraw.begin()
        return preferences.shows_advanced(context) or cls.is_in_use(context)

    @classmethod
    def is_in_use(cls, _context: bpy.types.Context) -> bool:
        """Check for settings of the panel that affect the motion, or results that it shows."""
        return False
