# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortcuts that the preferences offer. None is active until a person ticks it."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import rna_keymap_ui

_KEYMAPS = (("Dopesheet", "DOPESHEET_EDITOR"), ("Graph Editor", "GRAPH_EDITOR"))


class _Offer(NamedTuple):
    operator: str
    key: str
    properties: dict[str, str]
    modifiers: dict[str, bool]


_OFFERS = (
    _Offer("tcb.key_drag", "T", {"parameter": "tension"}, {"shift": True, "alt": True}),
    _Offer("tcb.key_drag", "C", {"parameter": "continuity"}, {"shift": True, "alt": True}),
    _Offer("tcb.key_drag", "B", {"parameter": "bias"}, {"shift": True, "alt": True}),
    _Offer("tcb.key_set", "K", {}, {"shift": True, "alt": True}),
    _Offer("wm.call_menu", "P", {"name": "TCB_MT_presets"}, {"shift": True, "alt": True}),
    _Offer("tcb.key_jump", "RIGHT_ARROW", {"direction": "NEXT"}, {"shift": True, "alt": True}),
    _Offer("tcb.key_jump", "LEFT_ARROW", {"direction": "PREVIOUS"}, {"shift": True, "alt": True}),
)
_items: list[tuple[Any, Any]] = []


def draw(layout: Any, context: bpy.types.Context) -> None:
    """The shortcuts as the user has them, to be ticked and changed."""
    layout.label(text="Shortcuts, off until ticked:")
    keyconfig: Any = getattr(context.window_manager, "keyconfigs").user  # noqa: B009  always there while drawing
    column = layout.column()
    for name, space in _KEYMAPS:
        keymap = keyconfig.keymaps.find(name, space_type=space)
        if keymap is None:
            continue
        column.label(text=name)
        column.context_pointer_set("keymap", keymap)
        for item in keymap.keymap_items:
            if _is_offered(item):
                rna_keymap_ui.draw_kmi([], keyconfig, keymap, item, column, 0)


def _is_offered(item: Any) -> bool:
    return any(
        item.idname == offer.operator
        and all(getattr(item.properties, name, None) == value for name, value in offer.properties.items())
        for offer in _OFFERS
    )


def register() -> None:
    window_manager: Any = bpy.context.window_manager
    keyconfig = window_manager.keyconfigs.addon
    if keyconfig is None:
        return
    for name, space in _KEYMAPS:
        keymap = keyconfig.keymaps.new(name, space_type=space)
        for offer in _OFFERS:
            item = keymap.keymap_items.new(offer.operator, offer.key, "PRESS", **offer.modifiers)
            item.active = False
            for prop, value in offer.properties.items():
                setattr(item.properties, prop, value)
            _items.append((keymap, item))


def unregister() -> None:
    for keymap, item in _items:
        keymap.keymap_items.remove(item)
    _items.clear()
