# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of the chosen keys in the tabs of all editors: parameters, velocities, values and frames.

In an animation editor, these fields show the selected keys. In the 3D Viewport, they show the sidebar's key and the
keys at the same frame in the rest of the selection.

A drag of the frame field moves the keys and the playhead. In the viewport, all keys of the selection at this frame
move, like a column of the Dope Sheet. A switch limits the move to the displayed keys. A mouse drag moves keys by whole
frames from their initial frames. Keys can move past other keys but cannot replace them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.props import FloatProperty, FloatVectorProperty

from ...animation import AnimationError
from ...animation.arguments import LARGEST
from ...animation.edit.keys import check_can_move, move_keys, set_value, values_of
from ...animation.edit.parameter_drag import Given, ParameterDrag
from ...animation.edit.track_keys import TrackKeys, read_again
from ...animation.fcurves.keyframes import LAST_FRAME, Float32Array
from ...animation.scene_time import action_time, scene_frame
from ...animation.store.parameters import LIMITS, Numbers
from ...animation.store.table.rows import velocity_of
from ..chosen_keys import chosen_keys, chosen_velocities, column_of, in_animation_editor, parameters_of_keys
from ..operator_results import keep_result_notes
from ..scene import go_to, playhead
from .parameter_sliders import DECIMALS, SharedSlider, parameter
from .slider_drag import (
    DragType,
    WritingDrag,
    drag_of,
    end_if_released,
    last_event,
    once_a_drag,
    shown_in,
    split_by_track,
)

MAX_COMPONENTS = 4
"""Number of fields for the components of a value or a velocity."""
_ANY_NUMBER = (-LARGEST, LARGEST)


def key_parameter(name: str) -> Any:
    """Return the slider for one parameter of the chosen keys."""
    field = _Field(name, SharedSlider(LIMITS[name], DECIMALS), ParameterDrag, partial(_parameter, name=name))
    return parameter(
        name,
        get=lambda _group: field.displayed_to_blender(),
        set=lambda group, value: field.set(value, group.relative),
        options=set(),
    )


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
    before_drag = np.concatenate([np.empty(0), *(numbers for _, numbers in numbers_by_track)])
    drag = shown_in(context)
    numbers = before_drag if drag is None else drag.numbers.get(velocity_of(component), before_drag)
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
    """One number of the chosen keys: a parameter, a component of their velocities or values, or their frames."""

    name: str
    """Name in the drag."""
    slider: SharedSlider
    drag_type: DragType
    find: Callable[[bpy.types.Context], tuple[list[TrackKeys], Numbers]]
    """Function that returns the chosen keys with this number, and their current numbers."""

    def displayed_to_blender(self) -> float:
        """Return the value of the field. End its drag if Blender reads the value after the release."""
        end_if_released(bpy.context)
        return self.displayed()

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
            if (event.presses or event.takes_back) and np.float32(value) == np.float32(self.slider.shown(numbers)):
                return
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
    field = _Field("frame", _FrameSlider(), FrameDrag, _frames_of_chosen)
    return FloatProperty(
        name="Frame",
        description="Frame of the first key. The other keys move with it",
        min=-LAST_FRAME,
        max=LAST_FRAME,
        step=100,
        precision=2,
        get=lambda _group: field.displayed_to_blender(),
        set=lambda _group, value: field.set(value, relative=True),
        options=set(),
    )


def _frames_of_chosen(context: bpy.types.Context) -> tuple[list[TrackKeys], Numbers]:
    chosen = chosen_keys(context)
    return chosen, _frames(chosen)


class _FrameSlider(SharedSlider):
    """Slider for the frames of keys, which shows the first frame."""

    def shown(self, numbers: Numbers) -> float:
        return float(numbers.min())


class ValueDrag(WritingDrag):
    """Drag of components of key values."""

    def __init__(self, _context: bpy.types.Context, chosen: Sequence[TrackKeys]) -> None:
        super().__init__(chosen, chosen)

    def to(self, given: Given) -> None:
        """Set values by component names. NaN means that a key lacks the component."""
        self.is_shown = True
        for keys, values_by_component in zip(self.chosen, given, strict=True):
            for component, values in values_by_component.items():
                has_component = ~np.isnan(values)
                # The panel shows the reason if the keys cannot be changed.
                with suppress(AnimationError):
                    set_value(keys.take(has_component), int(component), values[has_component])


class FrameDrag(WritingDrag):
    """Drag of keys to other frames, with the playhead."""

    def __init__(self, context: Any, chosen: Sequence[TrackKeys]) -> None:
        moves_column = context.scene.tcb.whole_column and not in_animation_editor(context)
        self._keys = column_of(context, list(chosen)) if moves_column else list(chosen)
        """The moved keys, at their current frames. The chosen keys come first."""
        super().__init__(chosen, self._keys)
        self._frames_before = _frames(self._keys)
        self._playhead_before = playhead(context)

    def to(self, given: Given) -> None:
        """Move all keys by the change of the first frame. A reason why they cannot be moved is shown as a message."""
        self.is_shown = True
        context, event = bpy.context, last_event(bpy.context)
        shift = float(given[0]["frame"][0] - self._frames_before[0])
        # A mouse drag moves by whole frames.
        frames = self._frames_before + (round(shift) if event.presses and not event.is_modifier else shift)
        keep_result_notes(())
        if np.array_equal(frames, _frames(self._keys)):
            return
        try:
            moves = _checked_moves(self._keys, frames)
        except AnimationError as refusal:
            keep_result_notes(refusal.findings)
            return
        for keys, action_frames in moves:
            move_keys(keys, action_frames)
        self._keys = read_again([replace(keys, frames=action_frames) for keys, action_frames in moves])
        self.chosen = self._keys[: len(self.chosen)]
        if not in_animation_editor(context):
            go_to(context.scene, float(frames.min()))

    def take_back(self) -> None:
        super().take_back()
        go_to(bpy.context.scene, self._playhead_before)


def _checked_moves(keys_to_move: list[TrackKeys], frames: Numbers) -> list[tuple[TrackKeys, Float32Array]]:
    """Return the keys of each track with their new frames in action time. Raises AnimationError if any cannot move.

    `frames`: new frames of all keys, in scene time.
    """
    moves = []
    for keys, frames_of_track in split_by_track(keys_to_move, frames):
        times = [action_time(keys.datablock, frame) for frame in frames_of_track.tolist()]
        action_frames = np.array(times, dtype=np.float32)
        check_can_move(keys, action_frames)
        moves.append((keys, action_frames))
    return moves


def _frames(chosen: list[TrackKeys]) -> Numbers:
    """Return the frames of the keys in scene time."""
    frames = [scene_frame(keys.datablock, frame) for keys in chosen for frame in keys.frames.tolist()]
    return np.array(frames, dtype=np.float64)
