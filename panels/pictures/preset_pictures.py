# SPDX-License-Identifier: GPL-3.0-or-later
"""Picture menu with the curves of built-in and user presets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.app.translations import contexts
from bpy.props import EnumProperty, PointerProperty

from ...animation.number_text import number_text
from ...animation.store.table.rows import PARAMETERS
from ...animation.translation import iface_
from ...formats import preset
from ...operators.files import read_file
from ...ui import preferences
from ...ui.chosen_values import chosen_parameters
from ...ui.parameter_properties import DESCRIPTIONS, of_50
from ...ui.presets import apply_preset, label_of, presets
from ...ui.sliders.shared_slider import is_mixed
from .diagram_icons import icons_of

_BUTTON_SIZE = 2.1
"""Size of the picture in the tab, in button heights: two rows of buttons."""
_MENU_SIZE = 4.0
"""Size of the pictures in the preset menu, in button heights."""
_SAME = 1e-5
"""Tolerance for matching parameters with a preset, because parameters are float32."""
_CURRENT = "/"
"""Identifier of the current parameters. No file has this name."""
_CURRENT_NUMBER = 0
Item = tuple[str, str, str, int, int]
"""Enum item: identifier, label, tooltip, icon ID and number."""
_files_read: dict[Path, tuple[int, dict[str, float]]] = {}
"""Modification times in nanoseconds and parameters of preset files."""
_item_numbers: dict[str, int] = {}
"""Number of each preset, from 1. The number is stable while other presets are added or removed."""


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


def _get(_self: object) -> int:
    return _matching_number(bpy.context)


def _set(_self: object, number: int) -> None:
    for name, parameters in parameters_of_presets().items():
        if _item_number(name) == number:
            # The panel shows the reason if keys cannot be changed.
            apply_preset(bpy.context, parameters)


def _matching_number(context: bpy.types.Context) -> int:
    """Return the number of the preset that the chosen keys match, or the number of the current parameters."""
    current = _common_parameters(context)
    for preset_name, parameters in parameters_of_presets().items():
        if all(abs(current.get(name, np.inf) - number) <= _SAME for name, number in parameters.items()):
            return _item_number(preset_name)
    return _CURRENT_NUMBER


def _items(_self: object, context: bpy.types.Context | None) -> list[Item]:
    """Return the presets, and the current parameters if they do not match a preset."""
    context = context or bpy.context
    preset_parameters, current = parameters_of_presets(), _common_parameters(context)
    # Parameters that the preset does not set are unchanged.
    pictures: list[Mapping[str, float] | None] = [
        dict.fromkeys(PARAMETERS, 0.0) | current | parameters for parameters in preset_parameters.values()
    ]
    pictures.append(current if current.keys() >= set(PARAMETERS) else None)
    *icons, current_icon = icons_of(pictures)
    items = [
        _item(name, label_of(name), _description(context, parameters), icon, _item_number(name))
        for (name, parameters), icon in zip(preset_parameters.items(), icons, strict=True)
    ]
    if _matching_number(context) == _CURRENT_NUMBER:
        tooltip = iface_("Keep the current parameters")
        items.append(_item(_CURRENT, iface_("Current"), tooltip, current_icon, _CURRENT_NUMBER))
    return items


def _item_number(name: str) -> int:
    return _item_numbers.setdefault(name, len(_item_numbers) + 1)


@lru_cache(maxsize=1024)
def _item(*item: Any) -> Any:
    """Return an item with cached strings, because Blender keeps no reference to strings from callbacks."""
    return item


def _description(context: bpy.types.Context, parameters: Mapping[str, float]) -> str:
    """Return the nonzero parameters of a preset as text."""
    nonzero = {name: number for name, number in parameters.items() if number}
    if preferences.shows_numbers_of_50(context):
        nonzero = {name: of_50(name, number) for name, number in nonzero.items()}
    labels = {name: iface_(DESCRIPTIONS[name][0], msgctxt=contexts.id_action) for name in nonzero}
    return ", ".join(f"{labels[name]} {number_text(number, 3)}" for name, number in nonzero.items())


def _common_parameters(context: bpy.types.Context) -> dict[str, float]:
    """Return the parameters that are equal on all chosen keys."""
    numbers_by_name = chosen_parameters(context)
    return {
        name: float(numbers[0]) for name, numbers in numbers_by_name.items() if len(numbers) and not is_mixed(numbers)
    }


def parameters_of_presets() -> dict[str, dict[str, float]]:
    """Return the parameters of all presets by name."""
    parameters_by_name = {name: _parameters_of_file(file) for name, file in presets().items()}
    return {name: parameters for name, parameters in parameters_by_name.items() if parameters is not None}


def _parameters_of_file(file: Path) -> dict[str, float] | None:
    """Return the parameters of a preset file, or None if it is not a preset."""
    try:
        modified = file.stat().st_mtime_ns
        if file not in _files_read or _files_read[file][0] != modified:
            _files_read[file] = modified, preset.read(read_file(file), PARAMETERS)
    except (OSError, preset.PresetError):
        return None
    return _files_read[file][1]


def register() -> None:
    bpy.utils.register_class(TCBPresets)
    owner: Any = bpy.types.Scene
    owner.tcb_presets = PointerProperty(type=TCBPresets)


def unregister() -> None:
    owner: Any = bpy.types.Scene
    del owner.tcb_presets
    bpy.utils.unregister_class(TCBPresets)
    _files_read.clear()
    _item_numbers.clear()
