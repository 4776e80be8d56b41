# SPDX-License-Identifier: GPL-3.0-or-later
"""Diagrams as icons, which Blender can draw in panels and menus, with a cache of their pictures."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import bpy.utils.previews
import numpy as np

from ...animation.checks.played_at_keys import SPLINE, Sides
from ...animation.store.table.rows import PARAMETERS
from .diagram import render

_HEIGHT = 8.0
"""Height of the icon in the panel, in button heights."""
_PADDING = 0.15
"""Margin that Blender leaves around the picture of an icon, in button heights."""
_PARAMETER_STEPS = 200
"""Parameters are rounded to steps of 1/200, because smaller steps do not move any pixel."""
_MAX_CACHED = 256
"""Maximum number of cached pictures, more than the diagrams and presets that all windows show together."""

_previews: Any = None
_icon_names: OrderedDict[tuple[Any, ...], str] = OrderedDict()
"""Names of the cached pictures in `_previews`, in order of their last use."""


def draw_diagram(layout: bpy.types.UILayout, parameters_of_keys: Sequence[Mapping[str, float]], sides: Sides) -> None:
    """Draw overlaid curves of keys with these parameters, and adjacent segments that Blender plays."""
    row = layout.row()
    row.alignment = "CENTER"
    row.template_icon(icon_value=icon_of(parameters_of_keys, sides, has_tangents=True), scale=_HEIGHT)


def icon_of(
    parameters_of_keys: Sequence[Mapping[str, float]],
    sides: Sides = (SPLINE, SPLINE),
    has_tangents: bool = False,
) -> int:
    """Return the icon ID of the picture of these parameters. Draw the picture if it is not cached."""
    steps_of_keys = tuple(
        tuple(round(parameters[name] * _PARAMETER_STEPS) for name in PARAMETERS)
        for parameters in parameters_of_keys
        if np.isfinite([parameters[name] for name in PARAMETERS]).all()
    )
    size, colors = size_in_pixels(), _theme_colors()
    # Everything that determines the pixels.
    picture = (steps_of_keys, size, *colors, sides, has_tangents)
    if picture not in _icon_names:
        rounded = [
            dict(zip(PARAMETERS, (step / _PARAMETER_STEPS for step in steps), strict=True)) for steps in steps_of_keys
        ]
        bitmap = render(rounded, size, *colors, sides, has_tangents)
        _icon_names[picture] = repr(picture)
        preview = _previews.new(_icon_names[picture])
        preview.image_size = (size, size)
        preview.image_pixels.foreach_set(bitmap.packed())
    _icon_names.move_to_end(picture)
    while len(_icon_names) > _MAX_CACHED:
        _, oldest_name = _icon_names.popitem(last=False)
        del _previews[oldest_name]
    return int(_previews[_icon_names[picture]].icon_id)


def size_in_pixels() -> int:
    """Return the width of the picture in screen pixels.

    A picture with a different width would be scaled and blurred.
    """
    preferences: Any = bpy.context.preferences
    system = preferences.system
    # Blender's formula for the height of buttons.
    button_height: int = round(18.0 * system.ui_scale) + 2 * int(system.pixel_size)
    return max(1, int((_HEIGHT - 2 * _PADDING) * button_height))


def _theme_colors() -> tuple[tuple[float, ...], tuple[float, ...]]:
    preferences: Any = bpy.context.preferences
    field = preferences.themes[0].user_interface.wcol_text
    return (*field.text, 1.0), tuple(field.inner)


def register() -> None:
    global _previews
    _previews = bpy.utils.previews.new()


def unregister() -> None:
    _icon_names.clear()
    bpy.utils.previews.remove(_previews)
