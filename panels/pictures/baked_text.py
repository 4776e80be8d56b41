# SPDX-License-Identifier: GPL-3.0-or-later
"""Text in the editors while a baked object or bone is selected.

Blender shows no lock in the viewport, and does not explain in the editors that locked keys cannot move. After an
attempt to edit, the text temporarily shows the message about this attempt.
"""

from __future__ import annotations

from typing import Any

import blf
import bpy

from ...animation.translation import rpt_
from ...ui import selection
from ...ui.live import attempts_to_edit_baked

_FONT_SIZE = 11.0
"""Font size in points, equal to Blender's own viewport text."""
_MARGIN = 20.0
"""Offset from the bottom left corner, in pixels at a display scale of 1."""


def draw_text() -> None:
    """Draw the text if the editor shows text. Blender calls this for each editor."""
    context = bpy.context
    if not _shows_text(context.space_data):
        return
    text = attempts_to_edit_baked.text()
    if not text and selection.any_baked(context):
        text = rpt_("Baked: edit in the TCB tab, or Free Bake")
    if not text:
        return
    preferences: Any = context.preferences
    theme = preferences.themes[0].view_3d.space.text_hi
    scale = preferences.system.ui_scale
    x, y = _corner(context.area, context.region)
    blf.size(0, _FONT_SIZE * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 5, 0.0, 0.0, 0.0, 0.8)
    blf.color(0, theme[0], theme[1], theme[2], 1.0)
    blf.position(0, x + _MARGIN * scale, y + _MARGIN * scale, 0.0)
    blf.draw(0, text)
    blf.disable(0, blf.SHADOW)


def _shows_text(space: Any) -> bool:
    """Return whether the editor has room for text, and shows text in the viewport."""
    if space.type == "VIEW_3D":
        return bool(space.overlay.show_overlays and space.overlay.show_text)
    # A timeline has no room for text.
    return getattr(space, "mode", "") != "TIMELINE"


def _corner(area: Any, region: Any) -> tuple[int, int]:
    """Return the bottom left corner of the visible part of a region, in pixels of the region."""
    x = y = 0
    # Regions with one pixel are hidden.
    for covering in area.regions:
        if covering.type == "TOOLS" and covering.x == region.x and covering.width > 1:
            x = max(x, covering.width)
        if covering.type in ("ASSET_SHELF", "ASSET_SHELF_HEADER", "HUD") and covering.height > 1:
            y = max(y, covering.y + covering.height - region.y)
    return x, y
