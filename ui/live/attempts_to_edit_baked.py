# SPDX-License-Identifier: GPL-3.0-or-later
"""Detect attempts to edit baked tracks, and explain that these tracks are locked.

The curves of baked tracks are locked. Blender skips locked curves, usually without a message. Other keys move, and a
pose is reset at the next frame. An operator bound to Blender's own shortcuts (`operators/messages.py`) detects attempts
to edit keys. After an edit to an object, its pose is compared with its baked curves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy

from ...animation.datablocks import animation_data, name_of
from ...animation.edit.track_keys import baked_tracks_selected
from ...animation.report import Finding
from ...animation.scene_time import action_time
from ...animation.store.table.custom_property import has_baked_tracks
from ..operator_results import keep_result_notes
from ..redraw import redraw_editors
from ..scene import shown_scenes
from ..selection import BakedSelection, baked_selection

_READING_TIME = 5.0
"""Seconds for which editors show the message on an attempt."""


@dataclass
class _Events:
    """Events since the last check for attempts."""

    objects_changed: bool = False
    pose: frozenset[tuple[int, str, int, float]] = frozenset()
    """Values that differed from baked curves at the last check."""
    text: str = ""
    """Message on the last attempt, while editors show it."""


_events = _Events()


def text() -> str:
    """Return the message on the last attempt for some seconds, and then an empty string."""
    return _events.text


def clear() -> None:
    """Discard the record of attempts, and remove the message from editors."""
    global _events
    _events = _Events()
    redraw_editors()


def note_update(depsgraph: bpy.types.Depsgraph) -> None:
    """Record whether an update has changed objects. An operator may still hold the data."""
    _events.objects_changed |= depsgraph.id_type_updated("OBJECT")


def note_frame_change() -> None:
    """Discard the pose of the last frame."""
    _events.pose = frozenset()


def is_pending() -> bool:
    """Return whether there may have been an attempt since the last check."""
    return _events.objects_changed


def explain_attempts() -> None:
    """Find and explain poses since the last check that baked curves will replace."""
    _events.objects_changed = False
    if not any(map(has_baked_tracks, bpy.data.actions)):
        return
    pose: set[tuple[int, str, int, float]] = set()
    names = []
    context: Any = bpy.context
    for window in context.window_manager.windows:
        with context.temp_override(window=window):
            for selected in baked_selection(context):
                differences = _differences_from_bake(context.scene, selected)
                pose |= {(selected.datablock.session_uid, *difference) for difference in differences}
                paths = [path for path, _, _ in differences]
                posed = [start for start in selected.starts if any(path.startswith(start) for path in paths)]
                names += [_name(selected.datablock, start) for start in posed]
    before, _events.pose = _events.pose, frozenset(pose)
    if _events.pose != before:
        _explain("POSED_WHILE_BAKED", names)


def explain_keying(context: bpy.types.Context) -> None:
    """Explain that keys cannot be inserted into baked tracks of the selection."""
    selections = baked_selection(context)
    names = [_name(item.datablock, start) for item in selections for start in item.starts if item.is_baked(start)]
    _explain("KEYED_WHILE_BAKED", names)


def explain_locked_keys(context: bpy.types.Context, is_moved: bool) -> None:
    """Explain that selected keys in the context's editor are locked."""
    _explain("DID_NOT_MOVE" if is_moved else "DID_NOT_CHANGE", _count_baked_tracks(context))


def explain_drag(context: bpy.types.Context) -> None:
    """Explain that selected keys in the context's editor are locked, unless the drag is a box selection."""
    bpy.app.timers.register(partial(_explain_dragged, _count_baked_tracks(context)), first_interval=0.0)


def _explain_dragged(track_count: int) -> None:
    manager: Any = bpy.context.window_manager
    operators = (operator for window in manager.windows for operator in window.modal_operators)
    if not any(operator.bl_idname.endswith("_OT_select_box") for operator in operators):
        _explain("DID_NOT_MOVE", track_count)


def _explain(code: str, tracks_or_names: int | Sequence[str]) -> None:
    """Keep a note for the panels, and show it in editors for some seconds. Do nothing without tracks or names.

    `tracks_or_names`: number of baked tracks, or names of baked objects or bones.
    """
    if not tracks_or_names:
        return
    argument = tracks_or_names if isinstance(tracks_or_names, int) else tuple(dict.fromkeys(tracks_or_names))
    note = Finding(code, arguments=(argument,))
    keep_result_notes([note])
    _events.text = str(note)
    redraw_editors()
    if bpy.app.timers.is_registered(_hide):
        bpy.app.timers.unregister(_hide)
    bpy.app.timers.register(_hide, first_interval=_READING_TIME)


def _hide() -> None:
    _events.text = ""
    redraw_editors()


def _name(datablock: bpy.types.ID, start: str) -> str:
    return str(getattr(datablock.path_resolve(start), "name", start)) if start else name_of(datablock)


def _count_baked_tracks(context: bpy.types.Context) -> int:
    selected = baked_tracks_selected(context.visible_fcurves or ())
    return len({(action.session_uid, track.slot, track.path) for action, track in selected})


_POSE = re.compile(r'^(pose\.bones\["([^"\\]|\\.)*"\]\.)?(location|scale|rotation_(euler|quaternion|axis_angle))$')
"""Paths of the location, rotation and scale of an object or bone."""
_SAME_POSE = 1e-6
"""Maximum difference between a property and its curve, relative to values above 1."""


def _differences_from_bake(scene: Any, selected: BakedSelection) -> list[tuple[str, int, float]]:
    """Return the paths, components and values of a pose that differ from the baked curves at the current frame."""
    datablock, channels, baked = selected.datablock, selected.channels, selected.table.baked
    animation = animation_data(datablock)
    if animation is not None and animation.use_nla and len(animation.nla_tracks):
        # The displayed pose is the sum of all strips.
        return []
    if sum(datablock.name in shown.objects for shown in shown_scenes()) > 1:
        # The pose belongs to the frame of one scene, but the scene is unknown.
        return []
    frame = action_time(datablock, scene.frame_current_final)
    differences = []
    for fcurve in channels:
        path = fcurve.data_path
        is_muted = fcurve.mute or (fcurve.group is not None and fcurve.group.mute)
        if is_muted or not _POSE.match(path) or (channels.slot_handle, path) not in baked:
            continue
        try:
            value = float(datablock.path_resolve(path)[fcurve.array_index])
        except (ValueError, IndexError):
            # The bone no longer exists.
            continue
        if abs(value - fcurve.evaluate(frame)) > _SAME_POSE * max(1.0, abs(value)):
            differences.append((path, fcurve.array_index, value))
    return differences
