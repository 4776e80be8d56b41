# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes, actions, settings of objects and running operators that Live watches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import bpy

from ...animation.datablocks import of_object
from ...animation.live.update import Watch
from ...animation.store.live_switch import is_live
from ...animation.store.table.custom_property import has_baked_tracks
from .. import selection


def default_parameters(datablocks: Sequence[bpy.types.ID]) -> dict[str, float]:
    """Return the default parameters of the first scene that contains the datablocks, or of the context's scene."""
    return selection.defaults_of(next(scenes_with(datablocks), bpy.context.scene))


def shown_scenes() -> list[Any]:
    """Return the scenes shown in windows, in window order, then the context's scene, which no window may show."""
    context: Any = bpy.context
    return list(dict.fromkeys((*(window.scene for window in context.window_manager.windows), context.scene)))


def scenes_with(datablocks: Sequence[bpy.types.ID]) -> Iterator[Any]:
    """Yield the scenes that contain any of the datablocks: first the scenes of windows, in window order, then others.

    The only scene of a file is yielded without a search.
    """
    if len(bpy.data.scenes) == 1:
        # The search does not find some datablocks, such as node groups of modifiers.
        yield bpy.context.scene
        return
    for scene in dict.fromkeys((*shown_scenes(), *bpy.data.scenes)):
        if _contains(scene, datablocks):
            yield scene


def _contains(scene: Any, datablocks: Sequence[bpy.types.ID]) -> bool:
    """Return whether any of the datablocks is the scene, its world, one of its objects, or part of one of these."""
    # Most animated datablocks are objects, which are found by name.
    if any(datablock == scene.objects.get(datablock.name) for datablock in datablocks):
        return True
    if not set(_own_datablocks(scene)).isdisjoint(datablocks):
        return True
    return any(part in datablocks for obj in scene.objects for part in of_object(obj))


def _own_datablocks(scene: Any) -> Iterator[bpy.types.ID]:
    """Yield the scene, its compositor, its world and the nodes of the world."""
    yield scene
    # Blender 5.0 renamed the compositor's node tree.
    compositor = getattr(scene, "compositing_node_group", None) or getattr(scene, "node_tree", None)
    if compositor is not None:
        yield compositor
    if scene.world is not None:
        yield scene.world
        if scene.world.node_tree is not None:
            yield scene.world.node_tree


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


class _Settings(NamedTuple):
    """Settings of an object that affect the playback of its keys."""

    action: int
    """The action's `session_uid`."""
    slot: int
    drivers: Sequence[tuple[str, int]]
    rotation_modes: Sequence[str]
    """Rotation modes of the object and its bones."""


_UNWATCHED = _Settings(0, 0, (), ())
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
            changed |= {before.action, now.action}
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
    return _Settings(action.session_uid, getattr(animation, "action_slot_handle", 0), drivers, modes)


_KEY_EDITING_OPERATORS = ("TRANSFORM_OT_", "ANIM_OT_", "ACTION_OT_", "GRAPH_OT_", "NLA_OT_", "POSE_OT_")
"""Prefixes of operators that may hold keys."""


def is_editing() -> bool:
    """Return whether a modal operator holds keys, which must then not be written."""
    context: Any = bpy.context
    windows = context.window_manager.windows
    return any(
        operator.bl_idname.startswith(_KEY_EDITING_OPERATORS)
        for window in windows
        for operator in window.modal_operators
    )
