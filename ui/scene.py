# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes: the current frame, the unit of length, default parameters, and the scenes that windows show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from ..animation.datablocks import of_object
from ..animation.scene_time import action_time
from ..animation.store.table.rows import PARAMETERS
from ..animation.text import number_text


def playhead(context: Any) -> float:
    """Return the current frame of the scene with its subframe."""
    return float(context.scene.frame_current_final)


def action_frame(context: bpy.types.Context, datablock: bpy.types.ID) -> float:
    """Return the current frame in the time of the datablock's action, which an NLA strip in tweak mode may change."""
    return action_time(datablock, playhead(context))


def go_to(scene: Any, frame: float) -> None:
    """Set the current frame of the scene, with its subframe."""
    if scene.frame_current_final != frame:
        scene.frame_set(int(frame // 1), subframe=frame % 1)


def length_text(scene: Any, length: float) -> str:
    """Return a length as text, in the scene's unit if it has one. A length that rounds to 0 appears as "<1 µm"."""
    units = scene.unit_settings
    if units.system == "NONE":
        return number_text(length, 6)
    if units.system == "METRIC" and 0.0 < length * units.scale_length < 0.5e-6:
        return "<1 µm"
    return bpy.utils.units.to_string(units.system, "LENGTH", length * units.scale_length, precision=2)


def defaults_of(scene: Any) -> dict[str, float]:
    """Return the scene's nonzero default parameters, for keys that have none of their own."""
    numbers = {name: float(getattr(scene.tcb.defaults, name)) for name in PARAMETERS}
    return {name: number for name, number in numbers.items() if number}


def default_parameters(datablocks: Sequence[bpy.types.ID]) -> dict[str, float]:
    """Return the default parameters of the first scene that contains any of the datablocks, or of the context's scene.

    The scenes of windows come first, in window order.
    """
    scenes = dict.fromkeys((*shown_scenes(), *bpy.data.scenes)) if len(bpy.data.scenes) > 1 else ()
    return defaults_of(next((scene for scene in scenes if _contains(scene, datablocks)), bpy.context.scene))


def shown_scenes() -> list[Any]:
    """Return the scenes shown in windows, in window order, then the context's scene, which no window may show."""
    context: Any = bpy.context
    return list(dict.fromkeys((*(window.scene for window in context.window_manager.windows), context.scene)))


def _contains(scene: Any, datablocks: Sequence[bpy.types.ID]) -> bool:
    """Return whether any of the datablocks is the scene, its world, one of its objects, or part of one of these."""
    # Most animated datablocks are objects, which are found by name.
    if any(datablock == scene.objects.get(datablock.name) for datablock in datablocks):
        return True
    if not set(_own_datablocks(scene)).isdisjoint(datablocks):
        return True
    return any(part in datablocks for obj in scene.objects for part in of_object(obj))


def _own_datablocks(scene: Any) -> Iterator[bpy.types.ID]:
    yield scene
    # Blender 5.0 renamed the compositor's node tree.
    compositor = getattr(scene, "compositing_node_group", None) or getattr(scene, "node_tree", None)
    if compositor is not None:
        yield compositor
    if scene.world is not None:
        yield scene.world
        if scene.world.node_tree is not None:
            yield scene.world.node_tree
