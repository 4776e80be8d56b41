# SPDX-License-Identifier: GPL-3.0-or-later
"""Diagrams as icons, which Blender can draw in panels and menus, and the preset menu, which shows curves of presets."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import bpy
import bpy.utils.previews
import numpy as np
from bpy.app.translations import contexts
from bpy.props import EnumProperty, PointerProperty

from ...animation.checks.shown_key import SPLINE, Sides
from ...animation.store.table.rows import PARAMETERS
from ...animation.text import iface_, number_text
from ...formats import preset
from ...operators.preset import apply_preset, label_of, presets
from ...operators.three_ds_and_tables import read_file
from ...ui.chosen_keys import chosen_parameters, different_parameters
from ...ui.operator_results import keep_result_notes
from ...ui.sliders.parameter_sliders import DESCRIPTIONS, displayed, is_mixed
from ...ui.sliders.slider_drag import once_a_drag
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


_BUTTON_SIZE = 2.1
"""Size of the picture in the tab, in button heights: two rows of buttons."""
_MENU_SIZE = 4.0
"""Size of the pictures in the preset menu, in button heights."""
_SAME = 1e-5
"""Tolerance for matching parameters with a preset, because parameters are float32."""
_CURRENT = "/"
"""Identifier of the current parameters. No file has this name."""
_CURRENT_NUMBER = 0
"""Number of the current parameters. Presets are numbered from 1."""
Item = tuple[str, str, str, int, int]
"""Enum item: identifier, label, tooltip, icon ID and number."""


def draw_presets(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the curve of the chosen keys as a button that opens the preset menu."""
    scene: Any = context.scene
    layout.template_icon_view(scene.tcb_presets, "preset", show_labels=True, scale=_BUTTON_SIZE, scale_popup=_MENU_SIZE)


class TCBPresets(bpy.types.PropertyGroup):
    """Preset of the chosen keys."""

    preset: EnumProperty(
        name="Preset",
        description="Apply a preset to the keys",
        items=_items,
        get=_get,
        set=_set,
        options=set(),
    )


PROPERTIES = ((bpy.types.Scene, "tcb_presets", PointerProperty(type=TCBPresets)),)
"""Properties to add to Blender's types: type, name and definition."""


def _get(_self: object) -> int:
    return _matching_number(bpy.context)


def _set(_self: object, number: int) -> None:
    all_parameters = list(parameters_of_presets(bpy.context).values())
    if 0 < number <= len(all_parameters):
        # The panel shows the reason if keys cannot be changed.
        keep_result_notes(apply_preset(bpy.context, all_parameters[number - 1]).notes)


def _matching_number(context: bpy.types.Context) -> int:
    """Return the number of the preset that the chosen keys match, or the number of the current parameters."""
    current = _common_parameters(context)
    for preset_number, parameters in enumerate(parameters_of_presets(context).values(), 1):
        if all(abs(current.get(name, np.inf) - number) <= _SAME for name, number in parameters.items()):
            return preset_number
    return _CURRENT_NUMBER


def _items(_self: object, context: bpy.types.Context | None) -> list[Item]:
    """Return the presets, and the current parameters if they do not match a preset."""
    context = context or bpy.context
    current = _common_parameters(context)
    items = []
    for number, (name, parameters) in enumerate(parameters_of_presets(context).items(), 1):
        # Parameters that the preset does not set are unchanged.
        icon = icon_of([dict.fromkeys(PARAMETERS, 0.0) | current | parameters])
        items.append(_item(name, label_of(name), _description(context, parameters), icon, number))
    if _matching_number(context) == _CURRENT_NUMBER:
        icon = icon_of(different_parameters(context))
        items.append(_item(_CURRENT, iface_("Current"), iface_("Keep the current parameters"), icon, _CURRENT_NUMBER))
    return items


@lru_cache(maxsize=1024)
def _item(*item: Any) -> Any:
    """Return an item with cached strings, because Blender keeps no reference to strings from callbacks."""
    return item


def _description(context: bpy.types.Context, parameters: Mapping[str, float]) -> str:
    texts = []
    for name, value in parameters.items():
        if value:
            label = iface_(DESCRIPTIONS[name][0], msgctxt=contexts.id_action)
            number, _ = displayed(context, name, value)
            texts.append(f"{label} {number_text(number, 3)}")
    return ", ".join(texts)


def _common_parameters(context: bpy.types.Context) -> dict[str, float]:
    numbers_by_name = chosen_parameters(context)
    return {
        name: float(numbers[0]) for name, numbers in numbers_by_name.items() if len(numbers) and not is_mixed(numbers)
    }


@once_a_drag
def parameters_of_presets(_context: bpy.types.Context) -> dict[str, dict[str, float]]:
    """Return the parameters of all presets by name."""
    parameters_by_name = {}
    for name, file in presets().items():
        # A file that is not a preset is skipped.
        with suppress(OSError, preset.PresetError):
            parameters_by_name[name] = preset.read(read_file(file), PARAMETERS)
    return parameters_by_name


def register() -> None:
    global _previews
    _previews = bpy.utils.previews.new()


def unregister() -> None:
    _icon_names.clear()
    bpy.utils.previews.remove(_previews)
