# SPDX-License-Identifier: GPL-3.0-or-later
"""Frame field of the chosen keys. A drag moves the keys and the playhead.

In the viewport, all keys of the selection at this frame move, like a column of the Dope Sheet. A switch limits the move
to the displayed keys. A mouse drag moves keys by whole frames from their initial frames. Keys can move past other keys
but cannot replace them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from bpy.props import FloatProperty

from ...animation import AnimationError
from ...animation.edit.keys import check_can_move, move_keys
from ...animation.edit.recorded_tracks import RecordedTrack, record_tracks, revert_tracks
from ...animation.edit.track_keys import TrackKeys
from ...animation.fcurves.frames import LAST_FRAME
from ...animation.scene_time import action_time, scene_frame
from ...animation.store.parameters import Numbers
from .. import redraw
from ..chosen_keys import chosen_keys, column_of, in_animation_editor
from ..operator_results import keep_result_notes
from ..scene import go_to, playhead
from .last_event import last_event
from .slider_drag import split_by_track


def key_frame() -> Any:
    """Return the frame field of the chosen keys."""
    return FloatProperty(
        name="Frame",
        description="Frame of the first key. The other keys move with it",
        min=-LAST_FRAME,
        max=LAST_FRAME,
        step=100,
        precision=2,
        get=_get,
        set=_set,
        options=set(),
    )


def forget() -> None:
    """Discard the drag, because another file was loaded."""
    global _drag
    _drag = None


@dataclass(frozen=True)
class _Drag:
    """Frames of the chosen keys before a drag of the field, and their current frames."""

    tracks: tuple[Hashable, ...]
    displayed: float
    """Value of the field before the drag."""
    before: Numbers
    after: Numbers
    recorded: list[RecordedTrack]
    playhead: float
    """Current frame of the scene before the drag."""
    is_released: bool = False


_drag: _Drag | None = None
"""The current drag, which continues until the keys or their frames change otherwise."""


def _get(_group: object) -> float:
    """Return the first frame of the chosen keys. Blender also reads the frame after it has released a dragged field."""
    global _drag
    if _drag is not None and not redraw.is_drawing() and last_event(bpy.context).releases:
        _drag = replace(_drag, is_released=True)
    frames = _frames(chosen_keys(bpy.context))
    return float(frames.min()) if len(frames) else 0.0


def _set(group: Any, value: float) -> None:
    global _drag
    context, event = bpy.context, last_event(bpy.context)
    shown = chosen_keys(context)
    if not shown or np.float32(value) == np.float32(_frames(shown).min()):
        return
    keys_to_move = _keys_to_move(context, shown, group.whole_column)
    drag = _drag_of(context, keys_to_move)
    if event.takes_back and np.float32(value) == np.float32(drag.displayed):
        revert_tracks(drag.recorded)
        _drag = None
        go_to(context.scene, drag.playhead)
        return
    _drag = drag
    shift = value - drag.displayed
    # A mouse drag moves by whole frames.
    frames = drag.before + (round(shift) if event.presses and not event.is_modifier else shift)
    try:
        moves = _checked_moves(keys_to_move, frames)
    except AnimationError as refusal:
        keep_result_notes(refusal.findings)
        return
    keep_result_notes(())
    for keys, action_frames in moves:
        move_keys(keys, action_frames)
    if not in_animation_editor(context):
        go_to(context.scene, float(frames.min()))
    frames_now = _frames(_keys_to_move(context, chosen_keys(context), group.whole_column))
    _drag = replace(drag, after=frames_now) if event.presses or event.is_modifier else None


def _keys_to_move(context: bpy.types.Context, shown: list[TrackKeys], whole_column: bool) -> list[TrackKeys]:
    """Return the keys to move: the displayed keys, or in the viewport their column.

    A drag keeps to its initial tracks.
    """
    if not whole_column or in_animation_editor(context) or not shown:
        return shown
    column = column_of(context, shown)
    if _drag is None:
        return column
    # Keys that the drag passes do not join it.
    dragged = [keys for keys in column if _track(keys) in _drag.tracks]
    return dragged if _tracks(dragged) == _drag.tracks else column


def _drag_of(context: bpy.types.Context, keys_to_move: list[TrackKeys]) -> _Drag:
    """Return the current drag if it moves these keys and nothing else has moved them since, or else a new drag."""
    frames, tracks = _frames(keys_to_move), _tracks(keys_to_move)
    if _drag is not None and not _drag.is_released and _drag.tracks == tracks and np.array_equal(_drag.after, frames):
        return _drag
    recorded = record_tracks((keys.datablock, keys.track) for keys in keys_to_move)
    return _Drag(tracks, float(frames.min()), frames, frames, recorded, playhead(context))


def _checked_moves(keys_to_move: list[TrackKeys], frames: Numbers) -> list[tuple[TrackKeys, Numbers]]:
    """Return the keys of each track with their new frames in action time. Raises AnimationError if any cannot move.

    `frames`: new frames of all keys, in scene time.
    """
    moves = []
    for keys, frames_of_track in split_by_track(keys_to_move, frames):
        action_frames = np.array([action_time(keys.datablock, frame) for frame in frames_of_track.tolist()])
        check_can_move(keys, action_frames)
        moves.append((keys, action_frames))
    return moves


def _frames(chosen: list[TrackKeys]) -> Numbers:
    """Return the frames of the keys in scene time."""
    frames = [scene_frame(keys.datablock, frame) for keys in chosen for frame in keys.frames.tolist()]
    return np.array(frames, dtype=np.float64)


def _tracks(chosen: list[TrackKeys]) -> tuple[Hashable, ...]:
    return tuple(map(_track, chosen))


def _track(keys: TrackKeys) -> Hashable:
    """Return a value that identifies the track and the number of its moved keys."""
    return keys.datablock.as_pointer(), keys.track.path, len(keys)
