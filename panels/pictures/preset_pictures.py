# SPDX-License-Identifier: GPL-3.0-or-later
"""The presets as pictures of their curves, to choose from: those that come along, and those that the user made."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import bpy
from bpy.props import EnumProperty, PointerProperty

from ...animation.store.table.rows import PARAMETERS
from ...animation.translation import iface_
from ...formats import preset
from ...operators.files import read_file
from ...operators.preset import give, presets
from ...ui import selection
from ...ui.key_fields import DESCRIPTIONS
from ...ui.shared_number import is_mixed
from .diagram import icon_of

_SHOWN, _TO_CHOOSE = 2.1, 4.0
"""Sizes of pictures, in heights of a button: in the tab, two rows of buttons; and of those to choose from."""
_SAME = 1e-5
"""Parameters nearer than this are those of a preset: they are float32."""
_KEYS_OWN = "OWN"
Item = tuple[str, str, str, int, int]
_read: dict[Path, tuple[int, dict[str, float]]] = {}
"""The numbers of files, with the times at which these were written."""


def draw_presets(layout: Any, context: bpy.types.Context) -> None:
    """Draw the curve of the chosen keys, on which a click shows the presets beside each other to choose from."""
    scene: Any = context.scene
    layout.template_icon_view(scene.tcb_presets, "preset", show_labels=True, scale=_SHOWN, scale_popup=_TO_CHOOSE)


def numbers_of(file: Path) -> dict[str, float] | None:
    """Return the parameters of a preset's file; None where it is no preset."""
    try:
        written = file.stat().st_mtime_ns
        kept = _read.get(file)
        if kept is None or kept[0] != written:
            _read[file] = kept = written, preset.read(read_file(file), PARAMETERS)
    except (OSError, preset.PresetError):
        return None
    return kept[1]


def shown_presets() -> dict[str, dict[str, float]]:
    """Return the parameters of all presets by their names."""
    found = {name: numbers_of(file) for name, file in presets().items()}
    return {name: numbers for name, numbers in found.items() if numbers is not None}


def _present(context: bpy.types.Context) -> dict[str, float] | None:
    """Return the parameters of the chosen keys; None where they differ."""
    numbers = selection.chosen_parameters(context)
    if any(not len(own) or is_mixed(own) for own in numbers.values()):
        return None
    return {name: float(own[0]) for name, own in numbers.items()}


def _whole(numbers: Mapping[str, float]) -> dict[str, float]:
    return dict.fromkeys(PARAMETERS, 0.0) | dict(numbers)


def _all_items(_self: object, context: bpy.types.Context | None) -> list[Item]:
    """Return the presets, and the keys as they are where they have none of them."""
    context = context or bpy.context
    items = []
    for number, (name, numbers) in enumerate(shown_presets().items(), start=1):
        items.append(_item(name, bpy.path.display_name(name), _description(numbers), icon_of(_whole(numbers)), number))
    if not _get(_self):
        items.append(_item(_KEYS_OWN, iface_("As It Is"), iface_("No preset"), icon_of(_present(context)), 0))
    return items


@lru_cache(maxsize=1024)
def _item(*item: Any) -> Any:
    """Return an item whose texts are kept: Blender keeps no reference to what it gets while drawing."""
    return item


def _description(numbers: Mapping[str, float]) -> str:
    return ", ".join(f"{iface_(DESCRIPTIONS[name][0])} {number:g}" for name, number in numbers.items() if number)


def _get(_self: object) -> int:
    present = _present(bpy.context)
    for number, numbers in enumerate(shown_presets().values(), start=1):
        if present is not None and all(abs(present[name] - each) <= _SAME for name, each in numbers.items()):
            return number
    return 0


def _set(_self: object, value: int) -> None:
    chosen = list(shown_presets().values())
    if 0 < value <= len(chosen):
        # The panel says why it can't be done.
        give(bpy.context, chosen[value - 1])


class TCBPresets(bpy.types.PropertyGroup):
    """The preset that the chosen keys have."""

    preset: EnumProperty(
        name="Preset",
        description="Give the keys the parameters of a preset",
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
