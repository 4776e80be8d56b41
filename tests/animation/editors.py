# SPDX-License-Identifier: GPL-3.0-or-later
"""Run operators in an editor. In background mode, Blender keeps the windows of the open file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy


@contextmanager
def editor(ui_type: str, region_type: str = "WINDOW") -> Iterator[Any]:
    """Override the context with a region of the largest area, which becomes an editor of this type. Yield its space.

    Afterward, the area is the earlier editor again. "ACTION" is the Action Editor.
    """
    window = bpy.context.window_manager.windows[0]
    # Any area works. Using the same one every time keeps the other editors of the file.
    area = max(window.screen.areas, key=lambda area: area.width * area.height)
    ui_type_before = area.ui_type
    area.ui_type = "DOPESHEET" if ui_type == "ACTION" else ui_type
    if ui_type == "ACTION":
        # The Action Editor is a mode of the Dope Sheet.
        area.spaces.active.mode = "ACTION"
    region = next(region for region in area.regions if region.type == region_type)
    try:
        with bpy.context.temp_override(window=window, screen=window.screen, area=area, region=region):
            yield area.spaces.active
    finally:
        area.ui_type = ui_type_before
