# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that panels and sliders need several times per redraw, computed once, and redraws of editors."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, TypeVar

import bpy

Result = TypeVar("Result")

_results: dict[tuple[object, int], Any] | None = None
"""Results since `begin`, by function and area, or None outside drawing. F-curves in the results are valid for only one
redraw."""


def once(function: Callable[[bpy.types.Context], Result]) -> Callable[[bpy.types.Context], Result]:
    """Call the function once per redraw for each area."""

    @wraps(function)
    def cached(context: bpy.types.Context) -> Result:
        if _results is None or context.area is None:
            return function(context)
        key = function, context.area.as_pointer()
        if key not in _results:
            _results[key] = function(context)
        result: Result = _results[key]
        return result

    return cached


def begin() -> None:
    """Begin the redraw of a panel. Cached values do not change until the panel's region is drawn."""
    global _results
    # Without windows the end of a redraw is unknown.
    if _results is None and not bpy.app.background:
        _results = {}
        if not bpy.app.timers.is_registered(_end):
            bpy.app.timers.register(_end)


def is_drawing() -> bool:
    """Return whether a panel is being drawn."""
    return _results is not None


def _end() -> None:
    """End the redraw. A timer also calls this, because a popover has no region that reports the end of drawing."""
    global _results
    _results = None


_EDITORS = ("GRAPH_EDITOR", "DOPESHEET_EDITOR", "VIEW_3D", "PROPERTIES")


def redraw_editors(kinds: Collection[str] = _EDITORS) -> None:
    """Redraw the editors that show keys and values, because Blender does not detect bulk changes of keys.

    `kinds`: types of the areas to redraw.
    """
    for window in getattr(bpy.context.window_manager, "windows", ()):
        for area in window.screen.areas:
            if area.type in kinds:
                area.tag_redraw()


SPACES = (bpy.types.SpaceView3D, bpy.types.SpaceGraphEditor, bpy.types.SpaceDopeSheetEditor)
"""Editors with the sidebar tab."""

_handlers: list[tuple[Any, Any]] = []


def register() -> None:
    for space in SPACES:
        _handlers.append((space, space.draw_handler_add(_end, (), "UI", "POST_PIXEL")))


def unregister() -> None:
    for space, handler in _handlers:
        space.draw_handler_remove(handler, "UI")
    _handlers.clear()
    if bpy.app.timers.is_registered(_end):
        bpy.app.timers.unregister(_end)
    _end()
