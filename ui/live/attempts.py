# SPDX-License-Identifier: GPL-3.0-or-later
"""Detection of attempts to edit baked tracks, with messages that explain them.

The curves of baked tracks are locked. Blender skips locked curves, mostly without a message. Other keys move, and a
pose is reset at the next frame. Attempts are detected in three ways. An operator on Blender's own shortcuts
(`operators/messages.py`) detects attempts that leave no trace. After an edit of keys, the last operator and the
selected keys identify the affected baked tracks. After an edit of an object, its pose is compared with its baked
curves.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import bpy

from ...animation.datablocks import action_time, name_of
from ...animation.edit.selected_keys import baked_tracks_selected
from ...animation.errors import AnimationError, Finding
from ...animation.fcurves.channels import channels_of
from ...animation.store.table.custom_property import has_baked_tracks, read_table
from ...animation.translation import rpt_
from .. import selection
from ..redraw import redraw_editors
from .editing import is_editing
from .messages import READING, forget_free_notes, keep_notes
from .scenes import shown_scenes

_POSE = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
_SAME_POSE = 1e-6
"""Maximum difference between a property and its curve, relative to values above 1."""
_LEAVE_KEYS = ("select", "view", "copy", "marker", "preview", "jump", "cursor", "ghost")
"""Name parts of animation editor operators that do not change keys."""

_Selected = list[tuple[bpy.types.ID, bpy.types.Action, int, tuple[str, ...]]]
"""Datablocks with baked tracks, their actions and slots, and the path prefixes of selected bones."""
_Tracks = dict[tuple[int, int, str], bpy.types.Action]
"""Actions of baked tracks, by the action's `session_uid`, the slot and the path."""


class _State:
    """Events since the last check, and the last message."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.objects_changed = False
        self.keys_changed = False
        self.keys_transformed = False
        """True if keys changed during a transform, which was therefore in an animation editor."""
        last = _last_operator()
        self.operator = 0 if last is None else last.as_pointer()
        """The last operator at the last check."""
        self.pose: frozenset[tuple[int, str, int, float]] = frozenset()
        """Values that differed from baked curves at the last check."""
        self.text = ""
        self.until = 0.0
        """Time when editors stop showing the last message."""


def _last_operator() -> Any:
    manager: Any = getattr(bpy.context, "window_manager", None)
    return manager.operators[-1] if manager is not None and len(manager.operators) else None


_state = _State()


def clear() -> None:
    """Discard the record of attempts."""
    _state.clear()


def stop() -> None:
    """Discard the record of attempts, and remove the message."""
    clear()
    _take_away()


def answer(datablocks: Iterable[bpy.types.ID]) -> None:
    """Remove the messages on datablocks whose bake was freed."""
    animations: list[Any] = [getattr(datablock, "animation_data", None) for datablock in datablocks]
    for animation in animations:
        if animation is not None and animation.action is not None:
            forget_free_notes(animation.action)
    _state.until = 0.0
    _take_away()


def _take_away() -> None:
    """Remove the message from editors and status bars."""
    if bpy.app.timers.is_registered(_end_message):
        bpy.app.timers.unregister(_end_message)
        _show_in_status_bars(None)


def note_update(depsgraph: bpy.types.Depsgraph, is_transforming: bool) -> None:
    """Record the kinds of data that an update has changed. An operator may still hold the data."""
    if depsgraph.id_type_updated("ACTION"):
        _state.keys_changed = True
        _state.keys_transformed |= is_transforming
    _state.objects_changed |= depsgraph.id_type_updated("OBJECT")


def note_frame_change() -> None:
    """Discard the pose of the last frame."""
    _state.pose = frozenset()


def is_pending() -> bool:
    """Return whether there may have been an attempt since the last check."""
    return _state.objects_changed or _state.keys_changed


def explain() -> None:
    """Find and explain attempts since the last check."""
    last = _new_operator()
    objects, keys, transformed = _state.objects_changed, _state.keys_changed, _state.keys_transformed
    _state.objects_changed = _state.keys_changed = _state.keys_transformed = False
    if not any(map(has_baked_tracks, bpy.data.actions)):
        return
    if keys and transformed and last.startswith("TRANSFORM_OT_"):
        _explain_keys(_baked_in_editors(), "DID_NOT_MOVE")
    elif keys and last.startswith(("ACTION_OT_", "GRAPH_OT_")) and not any(part in last for part in _LEAVE_KEYS):
        _explain_keys(_baked_in_editors(), "DID_NOT_CHANGE")
    if last.startswith("ANIM_OT_keyframe_insert"):
        for context in _windows():
            explain_keying(context)
    if objects:
        _explain_poses()


def explain_keying(context: bpy.types.Context) -> None:
    """Explain that keys cannot be inserted into baked tracks of the selection."""
    selected = _selected(context)
    names = [name for item in selected for name in _names(*item)]
    if names:
        _explain({action for _, action, _, _ in selected}, Finding("KEYED_WHILE_BAKED", arguments=(tuple(names),)))


def explain_locked_keys(context: bpy.types.Context, is_moved: bool) -> None:
    """Explain that selected keys in the context's editor are locked."""
    _explain_keys(_tracks_shown(context), "DID_NOT_MOVE" if is_moved else "DID_NOT_CHANGE")


def explain_drag(context: bpy.types.Context) -> None:
    """Explain that selected keys in the context's editor are locked, unless the drag is a box selection."""
    tracks = _tracks_shown(context)
    if tracks:
        bpy.app.timers.register(partial(_explain_dragged, tracks), first_interval=0.0)


def _explain_dragged(tracks: _Tracks) -> None:
    """Explain that keys did not move, unless the drag is a box selection or moved other keys."""
    if not is_editing():
        _explain_keys(tracks, "DID_NOT_MOVE")


def text() -> str:
    """Return the last message if it is fresh, or the general message on baked tracks."""
    return _state.text if is_fresh() else rpt_("Baked: Free Bake to edit")


def is_fresh() -> bool:
    """Return whether the last message may still be unread."""
    return time.monotonic() < _state.until


def _explain_keys(tracks: _Tracks, code: str) -> None:
    if tracks:
        _explain(set(tracks.values()), Finding(code, arguments=(len(tracks),)))


def _explain(actions: Iterable[bpy.types.Action], note: Finding) -> None:
    """Keep the note for the panels, and temporarily show it in the editors."""
    for action in actions:
        keep_notes(action, [note])
    message = str(note)
    _state.text, _state.until = message, time.monotonic() + READING
    _show_in_status_bars(message)
    if not bpy.app.timers.is_registered(_end_message):
        bpy.app.timers.register(_end_message, first_interval=READING)


def _end_message() -> float | None:
    """Remove the message from editors and status bars after its reading time."""
    if is_fresh():
        return _state.until - time.monotonic()
    _show_in_status_bars(None)
    return None


def _show_in_status_bars(message: str | None) -> None:
    for context in _windows():
        context.workspace.status_text_set(message)
    redraw_editors()


def _new_operator() -> str:
    """Return the name of the last operator if it ran since the last check."""
    last = _last_operator()
    before, _state.operator = _state.operator, last.as_pointer() if last is not None else 0
    return "" if last is None or _state.operator == before else str(last.bl_idname)


def _windows() -> Iterator[Any]:
    """Yield the context of each window."""
    context: Any = bpy.context
    for window in context.window_manager.windows:
        with context.temp_override(window=window):
            yield context


def _baked_in_editors() -> _Tracks:
    """Return the baked tracks with selected keys in the open animation editors."""
    tracks: _Tracks = {}
    for context in _windows():
        for area in context.window.screen.areas:
            region = next((region for region in area.regions if region.type == "WINDOW"), None)
            if area.type in selection.ANIMATION_EDITORS and region is not None:
                with context.temp_override(area=area, region=region):
                    tracks |= _tracks_shown(context)
    return tracks


def _tracks_shown(context: bpy.types.Context) -> _Tracks:
    """Return the baked tracks with selected keys in the context's editor."""
    return {
        (action.session_uid, track.slot, track.path): action
        for action, track in baked_tracks_selected(context.visible_fcurves or ())
    }


def _selected(context: bpy.types.Context) -> _Selected:
    found: _Selected = []
    for datablock, prefixes in selection.selected_datablocks(context, use_data=False).items():
        animation: Any = getattr(datablock, "animation_data", None)
        if animation is None or animation.action is None or not has_baked_tracks(animation.action):
            continue
        try:
            slot = channels_of(datablock).slot_handle
        except AnimationError:
            continue
        found.append((datablock, animation.action, slot, tuple(prefixes or ("",))))
    return found


def _names(datablock: bpy.types.ID, action: bpy.types.Action, slot: int, starts: tuple[str, ...]) -> list[str]:
    """Return the names of selected bones with baked tracks, or the name of the object."""
    paths = [path for own, path in read_table(action).baked if own == slot]
    return [_name(datablock, start) for start in starts if any(path.startswith(start) for path in paths)]


def _name(datablock: bpy.types.ID, start: str) -> str:
    return str(getattr(datablock.path_resolve(start), "name", start)) if start else name_of(datablock)


def _explain_poses() -> None:
    """For each new pose that differs from baked curves, explain that it will not last."""
    pose: set[tuple[int, str, int, float]] = set()
    names: dict[str, bpy.types.Action] = {}
    for context in _windows():
        for datablock, action, _, starts in _selected(context):
            differing = _differing(context, datablock, action)
            pose |= {(datablock.session_uid, *each) for each in differing}
            for start in starts:
                if any(path.startswith(start) for path, _, _ in differing):
                    names[_name(datablock, start)] = action
    before, _state.pose = _state.pose, frozenset(pose)
    if names and _state.pose != before:
        _explain(set(names.values()), Finding("POSED_WHILE_BAKED", arguments=(tuple(names),)))


def _differing(
    context: bpy.types.Context, datablock: bpy.types.ID, action: bpy.types.Action
) -> list[tuple[str, int, float]]:
    """Return the paths, components and values of a pose that differ from the baked curves at the current frame."""
    animation: Any = getattr(datablock, "animation_data")  # noqa: B009  not every datablock has it
    scene: Any = context.scene
    if animation.use_nla and len(animation.nla_tracks):
        # The displayed pose is the sum of all strips.
        return []
    if sum(datablock.name in shown.objects for shown in shown_scenes()) > 1:
        # The pose belongs to the frame of one scene, but the scene is unknown.
        return []
    channels = channels_of(datablock)
    frame, baked = action_time(datablock, scene.frame_current_final), read_table(action).baked
    result = []
    for fcurve in channels:
        path = fcurve.data_path
        if not path.endswith(_POSE) or (channels.slot_handle, path) not in baked or _is_muted(fcurve):
            continue
        try:
            value = float(datablock.path_resolve(path)[fcurve.array_index])
        except (ValueError, IndexError):
            # The bone no longer exists.
            continue
        if abs(value - fcurve.evaluate(frame)) > _SAME_POSE * max(1.0, abs(value)):
            result.append((path, fcurve.array_index, value))
    return result


def _is_muted(fcurve: bpy.types.FCurve) -> bool:
    return fcurve.mute or (fcurve.group is not None and fcurve.group.mute)
