# SPDX-License-Identifier: GPL-3.0-or-later
"""Redraws of editors. What one of the sidebar asks for several times, its panels and its sliders each by themselves, is
found once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import bpy

Found = TypeVar("Found")

_REDRAWN = ("GRAPH_EDITOR", "DOPESHEET_EDITOR", "VIEW_3D")
_SPACES = (bpy.types.SpaceView3D, bpy.types.SpaceGraphEditor, bpy.types.SpaceDopeSheetEditor)

# What was found since `begin`; None while nothing is drawn. It may be F-curves, which outlive no more than the redraw.
_found: dict[tuple[str, int], Any] | None = None
_handlers: list[tuple[Any, Any]] = []


def begin() -> None:
    """A panel is drawn: until its region has been, nothing that is found changes."""
    global _found
    # Without windows nothing tells when a redraw ends.
    if _found is None and not bpy.app.background:
        _found = {}
        if not bpy.app.timers.is_registered(_end):
            bpy.app.timers.register(_end)


def once(function: Callable[[bpy.types.Context], Found]) -> Callable[[bpy.types.Context], Found]:
    """Call the function once a redraw for each area."""

    @wraps(function)
    def found(context: bpy.types.Context) -> Found:
        if _found is None or context.area is None:
            return function(context)
        key = function.__name__, context.area.as_pointer()
        if key not in _found:
            _found[key] = function(context)
        result: Found = _found[key]
        return result

    return found


def redraw_editors() -> None:
    """Show what was changed: writing keys in bulk tells nobody of it."""
    for window in getattr(bpy.context.window_manager, "windows", ()):
        for area in window.screen.areas:
            if area.type in _REDRAWN:
                area.tag_redraw()


def _end() -> None:
    """Also called by a timer: a popover has no region of which the drawing is told."""
    global _found
    _found = None


def register() -> None:
    for space in _SPACES:
        _handlers.append((space, space.draw_handler_add(_end, (), "UI", "POST_PIXEL")))


def unregister() -> None:
    for space, handler in _handlers:
        space.draw_handler_remove(handler, "UI")
    _handlers.clear()
    if bpy.app.timers.is_registered(_end):
        bpy.app.timers.unregister(_end)
    _end()
