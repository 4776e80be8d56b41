# SPDX-License-Identifier: GPL-3.0-or-later
"""The items that panels and menus draw into real layouts."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import bpy


@contextlib.contextmanager
def in_viewport(region="UI"):
    """Override the context with a region of a 3D viewport."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    found = next(each for each in area.regions if each.type == region)
    with bpy.context.temp_override(window=window, area=area, region=found):
        yield


def layout_of(draw):
    """Return the items created by draw(layout)."""
    popup = bpy.context.window_manager.popmenu_begin__internal("x")
    draw(popup.layout)
    return popup.layout.introspect()


def texts(items):
    """Return the texts, operator calls and property paths of items."""
    for item in items:
        for kind in ("draw_string", "operator", "rna"):
            if item.get(kind):
                yield item[kind]
        yield from texts(item.get("items", ()))


def rows(items):
    """Return the rows of a layout that are not in a column."""
    for item in items:
        if item["type"] in ("LAYOUT_ROOT", "LAYOUT_COLUMN"):
            yield from rows(item["items"])
        else:
            yield item


def places_of_sliders(items):
    """Return the number of rows, and the rows of the first slider and of the Copy button."""
    shown = [" ".join(texts([row])) for row in rows(items)]
    return len(shown), [row for row, text in enumerate(shown) if ".tension" in text or "key_copy" in text]


def drawn(name):
    """Return the texts, operator calls and property paths of a visible panel or menu in the viewport."""
    assert is_there(name)
    with in_viewport():
        return list(texts(items_of(name)))


def items_of(name):
    """Return the items of a panel or menu."""
    draw = getattr(bpy.types, name).draw
    return layout_of(lambda layout: draw(SimpleNamespace(layout=layout), bpy.context))


def is_there(name):
    """True if the panel or menu is visible in the viewport."""
    panel = getattr(bpy.types, name)
    with in_viewport():
        return not hasattr(panel, "poll") or panel.poll(bpy.context)
