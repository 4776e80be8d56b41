# SPDX-License-Identifier: GPL-3.0-or-later
"""Typed numbers and texts in the headers, for operators that follow the mouse."""

from __future__ import annotations

from typing import Any

import bpy

from .redraw import redraw_editors

_DIGITS = frozenset("0123456789.-")


def typed_after(text: str, event: bpy.types.Event) -> str | None:
    """Return the number typed during a drag, including the event, or None if the event does not change the number."""
    if event.value != "PRESS":
        return None
    if event.type == "BACK_SPACE":
        return text[:-1]
    return text + event.unicode if event.unicode and event.unicode in _DIGITS else None


def show_in_headers(context: bpy.types.Context, area: bpy.types.Area, header: str | None, status: str | None) -> None:
    """Show texts in the area's header and the status bar, and redraw. None restores Blender's own texts."""
    workspace: Any = context.workspace
    area.header_text_set(header)
    workspace.status_text_set(status)
    redraw_editors()
