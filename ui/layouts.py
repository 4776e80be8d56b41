# SPDX-License-Identifier: GPL-3.0-or-later
"""Layouts of panels, menus and operators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy


def layout_of(drawn: bpy.types.Panel | bpy.types.Menu | bpy.types.Operator) -> bpy.types.UILayout:
    """Return the layout of a panel, menu or operator. The layout exists only during drawing."""
    layout = drawn.layout
    assert layout is not None
    return layout


def draw_properties(layout: bpy.types.UILayout, owner: Any, names: Iterable[str]) -> None:
    """Draw one property per row, with the label on the left. Sets property split for the layout."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    for name in names:
        layout.prop(owner, name)
