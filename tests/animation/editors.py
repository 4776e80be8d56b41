# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's animation editors, even without a window: running of operators, and selection of keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy


@contextmanager
def editor(ui_type: str, part: str = "WINDOW") -> Iterator[Any]:
    """Run operators in this part of an editor of this type. Provide its space."""
    manager: Any = bpy.context.window_manager
    window = manager.windows[0]
    area = max(window.screen.areas, key=lambda area: area.width * area.height)
    area.ui_type = ui_type
    region = next(region for region in area.regions if region.type == part)
    with bpy.context.temp_override(window=window, screen=window.screen, area=area, region=region):
        yield area.spaces.active


def mark_selected(point: Any, chosen: bool) -> None:
    """Select a key and its handles, or deselect all three."""
    point.select_control_point = point.select_left_handle = point.select_right_handle = chosen
