# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortcuts from the preferences, and Blender shortcuts for which a message explains locked keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import bpy
import rna_keymap_ui

from ..animation.text import n_

_KEYMAPS = (
    ("Object Mode", "EMPTY"),
    ("Pose", "EMPTY"),
    ("Dopesheet", "DOPESHEET_EDITOR"),
    ("Graph Editor", "GRAPH_EDITOR"),
)
"""Names and spaces of the extended keymaps. Blender does not use the keys of the shortcuts in these keymaps."""


class _Shortcut(NamedTuple):
    operator: str
    key: str
    properties: dict[str, str]
    label: str = ""
    """Label in the preferences."""
    value: str = "PRESS"
    modifiers: Sequence[str] = ()


_SHIFT_ALT = ("shift", "alt")
_OFFERED = (
    _Shortcut("tcb.key_drag", "T", {"parameter": "tension"}, n_("Drag Tension"), modifiers=_SHIFT_ALT),
    _Shortcut("tcb.key_drag", "C", {"parameter": "continuity"}, n_("Drag Continuity"), modifiers=_SHIFT_ALT),
    _Shortcut("tcb.key_drag", "B", {"parameter": "bias"}, n_("Drag Bias"), modifiers=_SHIFT_ALT),
    _Shortcut("tcb.key_set", "K", {}, n_("Set Parameters"), modifiers=_SHIFT_ALT),
    _Shortcut("wm.call_menu", "P", {"name": "TCB_MT_presets"}, n_("Presets"), modifiers=_SHIFT_ALT),
    _Shortcut("tcb.key_jump", "RIGHT_ARROW", {"direction": "NEXT"}, n_("Next Key"), modifiers=_SHIFT_ALT),
    _Shortcut("tcb.key_jump", "LEFT_ARROW", {"direction": "PREVIOUS"}, n_("Previous Key"), modifiers=_SHIFT_ALT),
)
"""Shortcuts that the preferences offer in all extended keymaps."""
_shortcut_items: list[tuple[Any, Any]] = []
"""The keymaps and items of the offered shortcuts."""

_KEYING = (_Shortcut("tcb.edit_tried", "I", {"edit": "KEY"}), _Shortcut("tcb.edit_tried", "K", {"edit": "KEY"}))
_EDITING = (
    _Shortcut("tcb.edit_tried", "LEFTMOUSE", {"edit": "DRAG"}, value="CLICK_DRAG"),
    _Shortcut("tcb.edit_tried", "G", {"edit": "MOVE"}),
    _Shortcut("tcb.edit_tried", "S", {"edit": "MOVE"}),
    _Shortcut("tcb.edit_tried", "X", {"edit": "CHANGE"}),
    _Shortcut("tcb.edit_tried", "DEL", {"edit": "CHANGE"}),
    _Shortcut("tcb.edit_tried", "I", {"edit": "CHANGE"}),
    _Shortcut("tcb.edit_tried", "D", {"edit": "CHANGE"}, modifiers=("shift",)),
)
_WATCHED = {"Object Mode": _KEYING, "Pose": _KEYING, "Dopesheet": _EDITING, "Graph Editor": _EDITING}
"""Blender shortcuts for which a message explains locked keys (`operators/messages.py`), by the name of the keymap."""
_watched_items: list[tuple[Any, Any]] = []
"""The keymaps and items of the watched shortcuts."""


def offer_shortcuts(is_on: bool) -> None:
    """Add or remove the shortcuts that the preferences offer."""
    _remove(_shortcut_items)
    if is_on:
        _add(_shortcut_items, {name: _OFFERED for name, _ in _KEYMAPS})


def _add(items: list[tuple[Any, Any]], shortcuts_by_keymap: Mapping[str, Sequence[_Shortcut]]) -> None:
    window_manager: Any = bpy.context.window_manager
    keyconfig = window_manager.keyconfigs.addon
    # In background mode, there is no key configuration of add-ons.
    for name, space in _KEYMAPS if keyconfig is not None else ():
        keymap = keyconfig.keymaps.new(name, space_type=space)
        for shortcut in shortcuts_by_keymap[name]:
            modifiers = dict.fromkeys(shortcut.modifiers, True)
            item = keymap.keymap_items.new(shortcut.operator, shortcut.key, shortcut.value, **modifiers)
            for prop, value in shortcut.properties.items():
                setattr(item.properties, prop, value)
            items.append((keymap, item))


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
    """Return the offered shortcut that a keymap item belongs to, or None if there is none."""
    for shortcut in _OFFERED:
        has_values = all(getattr(item.properties, name, None) == value for name, value in shortcut.properties.items())
        if item.idname == shortcut.operator and has_values:
            return shortcut
    return None


def register() -> None:
    _add(_watched_items, _WATCHED)


def unregister() -> None:
    _remove(_shortcut_items)
    _remove(_watched_items)


def _remove(items: list[tuple[Any, Any]]) -> None:
    for keymap, item in items:
        keymap.keymap_items.remove(item)
    items.clear()
