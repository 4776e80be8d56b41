# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawings: the diagram of key parameters, and paths and text in the 3D Viewport."""

from __future__ import annotations

from typing import Any

import bpy

from ...ui import classes_in, redraw
from . import baked_marks, diagram_icons, path_cache, path_drag, path_tool, paths_in_viewport

_CLASSES = (*classes_in((diagram_icons, path_drag, path_tool)),)
_PROPERTIES = (*diagram_icons.PROPERTIES, *path_tool.PROPERTIES)
_MODULES = (diagram_icons, path_cache, path_tool)
_DRAW_HANDLERS: tuple[tuple[Any, Any, str], ...] = (
    (bpy.types.SpaceView3D, paths_in_viewport.draw_viewport, "POST_VIEW"),
    (bpy.types.SpaceView3D, paths_in_viewport.draw_labels, "POST_PIXEL"),
    (bpy.types.SpaceGraphEditor, baked_marks.draw_own_keys, "POST_PIXEL"),
    *((space, baked_marks.draw_text, "POST_PIXEL") for space in redraw.SPACES),
)
_handles: list[tuple[Any, object]] = []


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    for owner, name, definition in _PROPERTIES:
        setattr(owner, name, definition)
    for module in _MODULES:
        module.register()
    for space, function, draw_type in _DRAW_HANDLERS:
        _handles.append((space, space.draw_handler_add(function, (), "WINDOW", draw_type)))


def unregister() -> None:
    while _handles:
        space, handle = _handles.pop()
        space.draw_handler_remove(handle, "WINDOW")
    for module in reversed(_MODULES):
        module.unregister()
    for owner, name, _ in _PROPERTIES:
        delattr(owner, name)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
