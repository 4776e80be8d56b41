# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortcuts from the preferences, and Blender shortcuts for which a message explains locked keys."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import rna_keymap_ui

from ..animation.translation import n_

_KEYMAPS = (
    ("Object Mode", "EMPTY"),
    ("Pose", "EMPTY"),
    ("Dopesheet", "DOPESHEET_EDITOR"),
    ("Graph Editor", "GRAPH_EDITOR"),
)
"""Names and spaces of the extended keymaps. Blender does not use the keys of the shortcuts in these keymaps."""


class _Shortcut(NamedTuple):
    label: str
    operator: str
    key: str
    properties: dict[str, str]


_SHORTCUTS = (
    _Shortcut(n_("Drag Tension"), "tcb.key_drag", "T", {"parameter": "tension"}),
    _Shortcut(n_("Drag Continuity"), "tcb.key_drag", "C", {"parameter": "continuity"}),
    _Shortcut(n_("Drag Bias"), "tcb.key_drag", "B", {"parameter": "bias"}),
    _Shortcut(n_("Set Parameters"), "tcb.key_set", "K", {}),
    _Shortcut(n_("Presets"), "wm.call_menu", "P", {"name": "TCB_MT_presets"}),
    _Shortcut(n_("Next Key"), "tcb.key_jump", "RIGHT_ARROW", {"direction": "NEXT"}),
    _Shortcut(n_("Previous Key"), "tcb.key_jump", "LEFT_ARROW", {"direction": "PREVIOUS"}),
)
_shortcut_items: list[tuple[Any, Any]] = []
"""The keymaps and items of the offered shortcuts."""


def offer_shortcuts(is_on: bool) -> None:
    """Add or remove the shortcuts that the preferences offer."""
    _remove(_shortcut_items)
    keyconfig = _keyconfig()
    if not is_on or keyconfig is None:
        return
    for name, space in _KEYMAPS:
        keymap = keyconfig.keymaps.new(name, space_type=space)
        for shortcut in _SHORTCUTS:
            item = keymap.keymap_items.new(shortcut.operator, shortcut.key, "PRESS", shift=True, alt=True)
            for prop, value in shortcut.properties.items():
                setattr(item.properties, prop, value)
            _shortcut_items.append((keymap, item))


def draw(layout: bpy.types.UILayout, context: Any) -> None:
    """Draw the shortcuts with the user's changes, for editing."""
    keyconfig = context.window_manager.keyconfigs.user
    column = layout.column()
    for name, space in _KEYMAPS:
        keymap = keyconfig.keymaps.find(name, space_type=space)
        if keymap is None:
            continue
        column.label(text=name)
        column.context_pointer_set("keymap", keymap)
        for item in keymap.keymap_items:
            shortcut = _shortcut_of(item)
            if shortcut is not None:
                # Blender's own row shows only the operator, which several shortcuts share.
                row = column.split(factor=0.2)
                row.label(text=shortcut.label)
                rna_keymap_ui.draw_kmi([], keyconfig, keymap, item, row.column(), 0)


def _shortcut_of(item: Any) -> _Shortcut | None:
    """Return the shortcut that a keymap item belongs to, or None if the item is not from this add-on."""
    for shortcut in _SHORTCUTS:
        has_values = all(getattr(item.properties, name, None) == value for name, value in shortcut.properties.items())
        if item.idname == shortcut.operator and has_values:
            return shortcut
    return None


class _Watched(NamedTuple):
    """A Blender shortcut for which a message explains locked keys (see `operators/messages.py`)."""

    edit: str
    """Value of the operator's property `edit`."""
    key: str
    value: str = "PRESS"
    modifiers: dict[str, bool] = {}


_KEYING = (_Watched("KEY", "I"), _Watched("KEY", "K"))
_EDITING = (
    _Watched("DRAG", "LEFTMOUSE", "CLICK_DRAG"),
    _Watched("MOVE", "G"),
    _Watched("MOVE", "S"),
    _Watched("CHANGE", "X"),
    _Watched("CHANGE", "DEL"),
    _Watched("CHANGE", "I"),
    _Watched("CHANGE", "D", modifiers={"shift": True}),
)
_WATCHED = {"Object Mode": _KEYING, "Pose": _KEYING, "Dopesheet": _EDITING, "Graph Editor": _EDITING}
"""The watched shortcuts, by the name of the keymap."""
_watched_items: list[tuple[Any, Any]] = []
"""The keymaps and items of the watched shortcuts."""


def register() -> None:
    keyconfig = _keyconfig()
    for name, space in _KEYMAPS if keyconfig is not None else ():
        keymap = keyconfig.keymaps.new(name, space_type=space)
        for watched in _WATCHED[name]:
            item = keymap.keymap_items.new("tcb.edit_tried", watched.key, watched.value, **watched.modifiers)
            item.properties.edit = watched.edit
            _watched_items.append((keymap, item))


def unregister() -> None:
    _remove(_shortcut_items)
    _remove(_watched_items)


def _remove(items: list[tuple[Any, Any]]) -> None:
    for keymap, item in items:
        keymap.keymap_items.remove(item)
    items.clear()


def _keyconfig() -> Any:
    """Return the key configuration of add-ons, or None in background mode."""
    window_manager: Any = bpy.context.window_manager
    return window_manager.keyconfigs.addon
