# SPDX-License-Identifier: GPL-3.0-or-later
"""The current frame of a scene, its unit of length, and its default parameters."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation.number_text import number_text
from ..animation.scene_time import action_time
from ..animation.store.table.rows import PARAMETERS


def playhead(context: bpy.types.Context) -> float:
    """Return the current frame of the scene with its subframe."""
    scene: Any = context.scene
    return float(scene.frame_current_final)


def action_frame(context: bpy.types.Context, datablock: bpy.types.ID) -> float:
    """Return the current frame in the time of the datablock's action, which an NLA strip in tweak mode may change."""
    return action_time(datablock, playhead(context))


def go_to(scene: Any, frame: float) -> None:
    """Set the current frame of the scene, with its subframe."""
    if scene.frame_current_final != frame:
        scene.frame_set(int(frame // 1), subframe=frame % 1)


def length_text(scene: Any, length: float) -> str:
    """Return a length as text, in the scene's unit if it has one."""
    units = scene.unit_settings
    if units.system == "NONE":
        return number_text(length, 6)
    return bpy.utils.units.to_string(units.system, "LENGTH", length * units.scale_length, precision=2)


def defaults_of(scene: Any) -> dict[str, float]:
    """Return the scene's nonzero default parameters, for keys that have none of their own."""
    numbers = {name: float(getattr(scene.tcb.defaults, name)) for name in PARAMETERS}
    return {name: number for name, number in numbers.items() if number}
