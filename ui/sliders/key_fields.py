# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of the chosen keys in the tabs of all editors: parameters, velocities, values and frames.

In an animation editor, these fields show the selected keys. In the 3D Viewport, they show the sidebar's key and the
keys at the same frame in the rest of the selection.

A drag of the frame field moves the keys and the playhead. In the viewport, all keys of the selection at this frame
move, like a column of the Dope Sheet. A switch limits the move to the displayed keys. A mouse drag moves keys by whole
frames from their initial frames. Keys can move past other keys but cannot replace them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.props import FloatProperty, FloatVectorProperty

from ...animation import AnimationError
from ...animation.arguments import LARGEST
from ...animation.edit.keys import check_can_move, move_keys, values_of
from ...animation.edit.parameter_drag import ParameterDrag
from ...animation.edit.recorded_tracks import RecordedTrack, record_tracks, revert_tracks
from ...animation.edit.track_keys import TrackKeys
from ...animation.fcurves.frames import LAST_FRAME
from ...animation.scene_time import action_time, scene_frame
from ...animation.store.parameters import LIMITS, Numbers
from ...animation.store.table.rows import velocity_of
from .. import redraw
from ..chosen_keys import chosen_keys, chosen_velocities, column_of, in_animation_editor, parameters_of_keys
from ..operator_results import keep_result_notes
from ..option_properties import DECIMALS, parameter
from ..scene import go_to, playhead
from .last_event import last_event
from .shared_slider import SharedSlider
from .slider_drag import ValueDrag, drag_of, end_if_released, once_a_drag, split_by_track

MAX_COMPONENTS = 4
"""Number of fields for the components of a value or a velocity."""
_ANY_NUMBER = (-LARGEST, LARGEST)


def key_parameter(name: str) -> Any:
    """Return the slider for one parameter of the chosen keys."""
    field = _Field(name, SharedSlider(LIMITS[name], DECIMALS), ParameterDrag, partial(_parameter, name=name))

    def get(_self: object) -> float:
        end_if_released(bpy.context)
        return field.displayed()

    def set_(self: Any, value: float) -> None:
        field.set(value, self.relative)

    return parameter(name, get=get, set=set_, options=set())


def key_velocity() -> Any:
    """Return the velocity sliders of the chosen keys whose method uses velocities."""
    return _vector_property(
        [
            _Field(velocity_of(n), SharedSlider(_ANY_NUMBER), ParameterDrag, partial(velocity_component, component=n))
            for n in range(MAX_COMPONENTS)
        ],
        name="Velocity",
        description="Velocity per frame at the key. For rotations: in radians, about the parent's axes",
    )


def key_value(size: int = MAX_COMPONENTS, **declared: Any) -> Any:
    """Return the value fields of the chosen keys."""
    return _vector_property(
        [
            _Field(str(n), SharedSlider(_ANY_NUMBER), ValueDrag, partial(value_component, component=n))
            for n in range(size)
        ],
        name="Value",
        description="Value of the key",
        **declared,
    )


def velocity_component(context: bpy.types.Context, component: int) -> tuple[list[TrackKeys], Numbers]:
    """Return the chosen keys with this velocity component, and its values in the same order."""
    numbers_by_track = [
        (keys, velocities[:, component])
        for keys, velocities in chosen_velocities(context)
        if component < velocities.shape[1]
    ]
    numbers = np.concatenate([np.empty(0), *(numbers for _, numbers in numbers_by_track)])
    return [keys for keys, _ in numbers_by_track], numbers


def value_component(context: bpy.types.Context, component: int) -> tuple[list[TrackKeys], Numbers]:
    """Return the chosen keys with this component, and its values in the same order."""
    return _values_of_chosen(context).get(component, ([], np.empty(0)))


@once_a_drag
def _values_of_chosen(context: bpy.types.Context) -> dict[int, tuple[list[TrackKeys], Numbers]]:
    tracks_by_component: dict[int, list[tuple[TrackKeys, Numbers]]] = {}
    for keys in chosen_keys(context):
        for component, values in values_of(keys).items():
            has_component = ~np.isnan(values)
            if has_component.any():
                with_component = keys.take(has_component), values[has_component]
                tracks_by_component.setdefault(component, []).append(with_component)
    return {
        component: ([keys for keys, _ in tracks], np.concatenate([values for _, values in tracks]))
        for component, tracks in tracks_by_component.items()
    }


def _parameter(context: bpy.types.Context, name: str) -> tuple[list[TrackKeys], Numbers]:
    return chosen_keys(context), parameters_of_keys(context)[name]


class _Field(NamedTuple):
    """One number of the chosen keys: a parameter, or a component of their velocities or values."""

    name: str
    """Name in the drag."""
    slider: SharedSlider
    drag_type: type[ParameterDrag] | type[ValueDrag]
    find: Callable[[bpy.types.Context], tuple[list[TrackKeys], Numbers]]
    """Function that returns the chosen keys with this number, and their current numbers."""

    def displayed(self) -> float:
        """Return the value of the field, or 0 if no chosen key has the number."""
        _, numbers = self.find(bpy.context)
        return self.slider.shown(numbers) if len(numbers) else 0.0

    def set(self, value: float, relative: bool) -> None:
        """Change the keys after Blender has set the field. The panel shows the reason if they cannot be changed."""
        context = bpy.context
        keys, numbers = self.find(context)
        if len(numbers):
            event = last_event(context)
            drag = drag_of(context, self.drag_type, chosen_keys(context))
            drag.begin(self.name, self.slider, keys, numbers)
            drag.set(self.name, value, event, relative or event.alt)


def _vector_property(fields: Sequence[_Field], **declared: Any) -> Any:
    def get(_self: object) -> list[float]:
        end_if_released(bpy.context)
        return [field.displayed() for field in fields]

    def set_(self: Any, values: Sequence[float]) -> None:
        for field, value in zip(fields, values, strict=True):
            # Blender sets all components, but only one of them has changed.
            if np.float32(value) != np.float32(field.displayed()):
                field.set(value, self.relative)

    return FloatVectorProperty(size=len(fields), get=get, set=set_, precision=4, options=set(), **declared)


def key_frame() -> Any:
    """Return the frame field of the chosen keys."""
    return FloatProperty(
        name="Frame",
        description="Frame of the first key. The other keys move with it",
        min=-LAST_FRAME,
        max=LAST_FRAME,
        step=100,
        precision=2,
        get=_get_frame,
        set=_set_frame,
        options=set(),
    )


def forget_frame_drag() -> None:
    """Discard the drag of the frame field, because another file was loaded."""
    global _frame_drag
    _frame_drag = None


@dataclass(frozen=True)
class _FrameDrag:
    """Frames of the chosen keys before a drag of the field, and their current frames."""

    tracks: tuple[Hashable, ...]
    before: Numbers
    after: Numbers
    recorded: list[RecordedTrack]
    playhead: float
    """Current frame of the scene before the drag."""
    is_released: bool = False


_frame_drag: _FrameDrag | None = None
"""The current drag, which continues until the keys or their frames change otherwise."""


def _get_frame(_group: object) -> float:
    """Return the first frame of the chosen keys. Blender also reads the frame after it has released a dragged field."""
    global _frame_drag
    if _frame_drag is not None and not redraw.is_drawing() and last_event(bpy.context).releases:
        _frame_drag = replace(_frame_drag, is_released=True)
    frames = _frames(chosen_keys(bpy.context))
    return float(frames.min()) if len(frames) else 0.0


def _set_frame(group: Any, value: float) -> None:
    """Move all keys by the change of the first frame. The panel shows the reason if they cannot be moved."""
    global _frame_drag
    context, event = bpy.context, last_event(bpy.context)
    shown = chosen_keys(context)
    if not shown or np.float32(value) == np.float32(_frames(shown).min()):
        return
    keys_to_move = _keys_to_move(context, shown, group.whole_column)
    drag = _frame_drag_of(context, keys_to_move)
    displayed_before = float(drag.before.min())
    if event.takes_back and np.float32(value) == np.float32(displayed_before):
        revert_tracks(drag.recorded)
        _frame_drag = None
        go_to(context.scene, drag.playhead)
        return
    _frame_drag = drag
    shift = value - displayed_before
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
    _frame_drag = replace(drag, after=frames_now) if event.presses or event.is_modifier else None


def _keys_to_move(context: bpy.types.Context, shown: list[TrackKeys], whole_column: bool) -> list[TrackKeys]:
    """Return the keys to move: the displayed keys, or in the viewport their column.

    A drag keeps to its initial tracks.
    """
    if not whole_column or in_animation_editor(context) or not shown:
        return shown
    column = column_of(context, shown)
    if _frame_drag is None:
        return column
    # Keys that the drag passes do not join it.
    dragged = [keys for keys in column if _track(keys) in _frame_drag.tracks]
    return dragged if _tracks(dragged) == _frame_drag.tracks else column


def _frame_drag_of(context: bpy.types.Context, keys_to_move: list[TrackKeys]) -> _FrameDrag:
    """Return the current drag if it moves these keys and nothing else has moved them since, or else a new drag."""
    frames, tracks, drag = _frames(keys_to_move), _tracks(keys_to_move), _frame_drag
    if drag is not None and not drag.is_released and drag.tracks == tracks and np.array_equal(drag.after, frames):
        return drag
    recorded = record_tracks((keys.datablock, keys.track) for keys in keys_to_move)
    return _FrameDrag(tracks, frames, frames, recorded, playhead(context))


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
