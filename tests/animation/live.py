# SPDX-License-Identifier: GPL-3.0-or-later
"""Live objects played by handles, edits to them, and the processing after these edits."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import bpy

from tests.animation.curves import HAS_SLOTS, curve, key, new_object


def copied(thing: bpy.types.Object, name: str) -> bpy.types.Object:
    """Return a copy of an object with a copy of its action that is not live."""
    other = thing.copy()
    other.name = name
    action = other.animation_data.action = thing.animation_data.action.copy()
    if HAS_SLOTS:
        other.animation_data.action_slot = action.slots[0]
    action.tcb_live = False
    return other


def removed(thing: bpy.types.Object) -> None:
    bpy.data.actions.remove(thing.animation_data.action)
    bpy.data.objects.remove(thing)


def updates_of(animation) -> Any:
    return importlib.import_module(animation.__name__.replace(".animation", ".ui.live.updates"))


def results_of(animation) -> Any:
    return importlib.import_module(animation.__name__.replace(".animation", ".ui.operator_results"))


def by_handles(animation) -> Callable[[Any], Any]:
    """Return the function with which Live chooses the options of tracks that nothing plays yet."""
    return lambda _users: animation.Options(output="HANDLES")


def notes_of(animation, item: bpy.types.Object) -> list[Any]:
    """Return the notes on the state of the object's tracks and on the last edit."""
    watches = importlib.import_module(animation.__name__.replace(".animation", ".ui.live.updates")).watches
    standing = animation.live.update.standing_of(watches, item.animation_data.action)
    return list(dict.fromkeys((*standing, *results_of(animation).result_notes())))


def said(animation, item: bpy.types.Object) -> list[str]:
    return list(map(str, notes_of(animation, item)))


def let_time_pass(animation) -> None:
    """Run the timers that would run in a window after an edit. Without a window, no timer runs."""
    updates = updates_of(animation)
    bpy.context.view_layer.update()
    while updates.tick(at_once=True) is not None:
        pass


def live_object(animation, name: str) -> bpy.types.Object:
    item = new_object(name)
    key(item, "location", [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (1, 1, 2.5)), (40, (-3, 0, 2))], group="Transform")
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    animation.key_set(item, "location", 10, tension=0.5)
    animation.bake(item, output="HANDLES")
    item.animation_data.action.tcb_live = True
    bpy.ops.tcb.sync()
    return item


def set_value(thing: bpy.types.Object, value: float, row: int = 0) -> None:
    """Set the x value of the first key, or of another key."""
    curve(thing, "location").keyframe_points[row].co_ui.y = value
