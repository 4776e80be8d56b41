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
from ...ui.chosen_keys import chosen_parameters
from ...ui.presets import apply_preset, label_of, presets
from ...ui.sliders.key_fields import DESCRIPTIONS
from ...ui.sliders.numbers_of_50 import of_50
from ...ui.sliders.shared_number import is_mixed
from .diagram import icons_of

_SHOWN, _TO_CHOOSE = 2.1, 4.0
"""Picture sizes in button heights: in the tab (two rows of buttons), and in the preset menu."""
_SAME = 1e-5
"""Tolerance for matching parameters with a preset, because parameters are float32."""
_KEYS_OWN = "/"
"""Identifier of the current parameters. No file has this name."""
Item = tuple[str, str, str, int, int]
_read: dict[Path, tuple[int, dict[str, float]]] = {}
"""Parameters from files, with the modification times of the files."""
_numbers: dict[str, int] = {}
"""Number of each preset, from 1. The number is stable while other presets are added or removed."""


def draw_presets(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the curve of the chosen keys as a button that opens the preset menu."""
    scene: Any = context.scene
    layout.template_icon_view(scene.tcb_presets, "preset", show_labels=True, scale=_SHOWN, scale_popup=_TO_CHOOSE)


def numbers_of(file: Path) -> dict[str, float] | None:
    """Return the parameters of a preset file, or None if it is not a preset."""
    try:
        written = file.stat().st_mtime_ns
        kept = _read.get(file)
        if kept is None or kept[0] != written:
            _read[file] = kept = written, preset.read(read_file(file), PARAMETERS)
    except (OSError, preset.PresetError):
        return None
    return kept[1]


def shown_presets() -> dict[str, dict[str, float]]:
    """Return the parameters of all presets by name."""
    found = {name: numbers_of(file) for name, file in presets().items()}
    return {name: numbers for name, numbers in found.items() if numbers is not None}


def _present(context: bpy.types.Context) -> dict[str, float]:
    """Return the parameters that are equal on all chosen keys."""
    numbers = chosen_parameters(context)
    return {name: float(own[0]) for name, own in numbers.items() if len(own) and not is_mixed(own)}


def _all_items(_self: object, context: bpy.types.Context | None) -> list[Item]:
    """Return the presets, and the current parameters if they do not match a preset."""
    context = context or bpy.context
    given, present = shown_presets(), _present(context)
    # Parameters that the preset does not set are unchanged.
    pictures: list[Mapping[str, float] | None] = [
        dict.fromkeys(PARAMETERS, 0.0) | present | numbers for numbers in given.values()
    ]
    pictures.append(present if present.keys() >= set(PARAMETERS) else None)
    *icons, own = icons_of(pictures)
    items = [
        _item(name, label_of(name), _description(context, numbers), icon, _number(name))
        for (name, numbers), icon in zip(given.items(), icons, strict=True)
    ]
    if not _get(_self):
        items.append(_item(_KEYS_OWN, iface_("Current"), iface_("Keep the current parameters"), own, 0))
    return items


def _number(name: str) -> int:
    return _numbers.setdefault(name, len(_numbers) + 1)


@lru_cache(maxsize=1024)
def _item(*item: Any) -> Any:
    """Return an item with cached strings, because Blender keeps no reference to strings from callbacks."""
    return item


def _description(context: bpy.types.Context, given: Mapping[str, float]) -> str:
    shown = {name: number for name, number in given.items() if number}
    if preferences.shows_numbers_of_50(context):
        shown = {name: of_50(name, number) for name, number in shown.items()}
    labels = {name: iface_(DESCRIPTIONS[name][0], msgctxt=contexts.id_action) for name in shown}
    return ", ".join(f"{labels[name]} {number_text(number, 3)}" for name, number in shown.items())


def _get(_self: object) -> int:
    present = _present(bpy.context)
    for name, given in shown_presets().items():
        if all(abs(present.get(each, np.inf) - number) <= _SAME for each, number in given.items()):
            return _number(name)
    return 0


def _set(_self: object, value: int) -> None:
    for name, given in shown_presets().items():
        if _number(name) == value:
            # The panel shows the reason.
            apply_preset(bpy.context, given)


class TCBPresets(bpy.types.PropertyGroup):
    """Preset of the chosen keys."""

    preset: EnumProperty(
        name="Preset",
        description="Apply a preset to the keys",
        items=_all_items,
        get=_get,
        set=_set,
        options=set(),
    )


def register() -> None:
    bpy.utils.register_class(TCBPresets)
    owner: Any = bpy.types.Scene
    owner.tcb_presets = PointerProperty(type=TCBPresets)


def unregister() -> None:
    owner: Any = bpy.types.Scene
    del owner.tcb_presets
    bpy.utils.unregister_class(TCBPresets)
    _read.clear()
    _numbers.clear()
