# SPDX-License-Identifier: GPL-3.0-or-later
"""Warn in a window that a render contains tracks whose handles approximate the motion."""

from __future__ import annotations

from functools import partial
from typing import Any

import bpy

from ...animation.action_users import users_of
from ...animation.store.table.custom_property import read_table
from ...animation.track_names import track_name
from ...animation.translation import rpt_
from .scenes import scenes_with

_MAX_LINES = 6
"""Maximum number of listed tracks. The remaining tracks are counted."""
_warned: set[int] = set()
"""Actions for which a render has warned, by their `session_uid`."""


def warn_of_render(scene: bpy.types.Scene) -> None:
    """Warn of approximate tracks in a rendered scene, once per action."""
    lines = []
    for action in bpy.data.actions:
        paths = [] if action.session_uid in _warned else read_table(action).approximate
        if paths and scene in scenes_with(users_of(action)):
            _warned.add(action.session_uid)
            lines += [f'"{action.name}": {track_name(path)}' for path in paths]
    if lines:
        # This may run in the render thread.
        bpy.app.timers.register(partial(show_warning, lines), first_interval=0.0)


def forget_warnings() -> None:
    """Make the next render warn of all actions again."""
    _warned.clear()


def show_warning(lines: list[str]) -> None:
    """Show a popup with the names of tracks."""

    def draw(menu: Any, _context: bpy.types.Context) -> None:
        for line in lines[:_MAX_LINES]:
            menu.layout.label(text=line, translate=False)
        if len(lines) > _MAX_LINES:
            menu.layout.label(text=rpt_("… and {:d} more", len(lines) - _MAX_LINES), translate=False)
        menu.layout.label(text="Handles approximate the motion. Bake for an exact render")

    manager: Any = bpy.context.window_manager
    with bpy.context.temp_override(window=manager.windows[0]):
        manager.popup_menu(draw, title=rpt_("Rendered with approximate handles"), icon="ERROR")
