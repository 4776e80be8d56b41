# SPDX-License-Identifier: GPL-3.0-or-later
"""The items that panels and menus draw into real layouts."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import bpy


@contextlib.contextmanager
def in_viewport(region="UI"):
    """In a region of a 3D viewport."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    found = next(each for each in area.regions if each.type == region)
    with bpy.context.temp_override(window=window, area=area, region=found):
        yield


def layout_of(draw):
    """The items that draw(layout) makes."""
    popup = bpy.context.window_manager.popmenu_begin__internal("x")
    draw(popup.layout)
    return popup.layout.introspect()


def texts(items):
    """Texts, operator calls and property paths of items."""
    for item in items:
        for kind in ("draw_string", "operator", "rna"):
            if item.get(kind):
                yield item[kind]
        yield from texts(item.get("items", ()))


def drawn(name):
    """Texts, operator calls and property paths of a panel or menu in the viewport, even where it is not there."""
    with in_viewport():
        return list(texts(items_of(name)))


def items_of(name):
    """The items of a panel or menu."""
    draw = getattr(bpy.types, name).draw
    return layout_of(lambda layout: draw(SimpleNamespace(layout=layout), bpy.context))


def is_there(name):
    """True if the panel or menu is visible in the viewport."""
    panel = getattr(bpy.types, name)
    with in_viewport():
        return not hasattr(panel, "poll") or panel.poll(bpy.context)
