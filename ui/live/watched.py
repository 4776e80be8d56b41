# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions whose edits are watched, and the settings of objects that affect how these actions play."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bpy

from ...animation.live.watch import Watch
from ...animation.store.live_switch import is_live
from ...animation.store.table.custom_property import has_baked_tracks

watches: dict[tuple[int, int], Watch] = {}
"""Tracks at their last update, by the `session_uid` of the action and the handle of its slot."""


def watched_actions() -> list[bpy.types.Action]:
    """Return the editable actions whose edits are watched."""
    return [action for action in bpy.data.actions if action.is_editable and is_watched(action)]


def is_watched(action: bpy.types.Action) -> bool:
    """Return whether edits to an editable action are watched.

    In a window, baked tracks that are not live are also watched.
    """
    return is_live(action) or (not bpy.app.background and has_baked_tracks(action))


_Settings = tuple[int, int, Sequence[tuple[str, int]], Sequence[str]]
"""Settings of an object that affect the playback of its keys: the action's `session_uid`, the handle of the slot,
drivers, and the rotation modes of the object and its bones."""
_UNWATCHED: _Settings = (0, 0, (), ())
_last_settings: dict[int, _Settings] = {}
"""Settings at the last check, by the object's `session_uid`."""


def actions_with_changed_playback(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Action]:
    """Return the current and former actions of objects whose settings have changed since the last check.

    Blender reports such a change as an update of the object, not of its action. Only editable watched actions are
    returned.
    """
    changed: set[int] = set()
    for obj in objects:
        before, now = _last_settings.get(obj.session_uid, _UNWATCHED), _settings_of(obj)
        if before != now:
            _last_settings[obj.session_uid] = now
            changed |= {before[0], now[0]}
    if not changed:
        return []
    actions = [action for action in bpy.data.actions if action.session_uid in changed]
    return [action for action in actions if action.is_editable and is_watched(action)]


def forget_settings() -> None:
    """Forget the settings of all objects."""
    _last_settings.clear()


def _settings_of(obj: bpy.types.Object) -> _Settings:
    animation: Any = obj.animation_data
    action = animation.action if animation is not None else None
    if action is None or not is_watched(action):
        return _UNWATCHED
    drivers = [(driver.data_path, driver.array_index) for driver in animation.drivers]
    modes = [obj.rotation_mode, *(bone.rotation_mode for bone in (obj.pose.bones if obj.pose else ()))]
    # Blender 4.2 has no slots.
    return action.session_uid, getattr(animation, "action_slot_handle", 0), drivers, modes
