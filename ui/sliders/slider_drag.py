# SPDX-License-Identifier: GPL-3.0-or-later
"""Drags of sliders for parameters and values, whose start and end Blender does not report.

An invoked operator receives the window's last event with the modifier keys. This method also works in a property's
setter and while Blender drags the slider. The last event can be later than the event that Blender is handling.

Blender sets a slider, or several dragged sliders, at each mouse move. On `Esc`, it sets each slider to its displayed
initial value. After the release, it reads the value for the Info log, and then stores the undo step. The drag therefore
ends at this read, so that the undo step contains the result.

The last event of the window can be later than the event that Blender is handling. On a slow computer, a move, `Esc` and
the release may be queued together. A reset to the initial value therefore cancels a drag, even just after its end.

Each step starts from the values before the drag, so that clamping loses no differences between keys.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import bpy
import numpy as np

from ...animation import AnimationError
from ...animation.edit.keys import record_tracks, revert_tracks
from ...animation.edit.parameter_drag import Given, ParameterDrag
from ...animation.edit.track_keys import TrackKeys
from ...animation.fcurves.keyframes import IndexArray, is_among
from ...animation.store.parameters import Numbers, component_parameters, means_of_keys
from ...animation.store.table.rows import PARAMETERS
from .. import redraw
from ..operator_results import keep_result_notes
from ..scene import defaults_of
from .parameter_sliders import SharedSlider

# The last mouse or keyboard event of a window, for properties, whose setters receive no event


@dataclass(frozen=True)
class LastEvent:
    """The last event of a window, as far as it concerns sliders."""

    alt: bool = False
    """Alt was held during an event that sets a slider."""
    is_modifier: bool = False
    """The last event was a press or release of a modifier key."""
    presses: bool = False
    """The last event was a press of the mouse button, or a modifier key after the press."""
    releases: bool = False
    """The last event was a release of the mouse button, or a modifier key after the release."""
    takes_back: bool = False
    """The event cancels a drag in Blender."""


_NO_EVENT = LastEvent()
_last = _NO_EVENT


def last_event(context: bpy.types.Context) -> LastEvent:
    """Return the last event of the context's window, or an empty event without a window or event."""
    global _last
    _last = _NO_EVENT
    if not bpy.app.background and context.window is not None:
        operators: Any = bpy.ops
        operators.tcb.last_event("INVOKE_DEFAULT")
    return _last


_MODIFIERS = frozenset(f"{side}_{key}" for side in ("LEFT", "RIGHT") for key in ("ALT", "CTRL", "SHIFT"))
_SLIDER_EVENTS = _MODIFIERS | {"LEFTMOUSE", "RET", "NUMPAD_ENTER", "TAB"}
"""Events that set a slider. Alt in other events, such as Alt-P to run a script, does not affect sliders."""


class TCB_OT_last_event(bpy.types.Operator):
    """Read the modifier keys that are pressed"""  # noqa: D400  Blender's tooltip

    bl_idname = "tcb.last_event"
    bl_label = "Last Event"
    bl_options: Any = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        global _last
        is_modifier = event.type in _MODIFIERS
        button = (event.type_prev, event.value_prev) if is_modifier else (event.type, event.value)
        _last = LastEvent(
            alt=event.alt and event.type in _SLIDER_EVENTS,
            is_modifier=is_modifier,
            presses=button == ("LEFTMOUSE", "PRESS"),
            releases=button == ("LEFTMOUSE", "RELEASE"),
            # Blender may reset the slider after the key is released.
            takes_back=event.type in {"ESC", "RIGHTMOUSE"},
        )
        return {"CANCELLED"}


# Drags of sliders for parameters and values, whose start and end Blender does not report


Result = TypeVar("Result")

_QUIET = 0.25
"""Seconds after the last step of a drag before the mouse button is checked."""
_SAME = 5e-7
"""Tolerance for a reset of a slider, because values from 0 to 50 are rounded."""

_current: SliderDrag | None = None
"""The last drag, until another begins. It may have ended."""


class WritingDrag:
    """Drag that writes keys at each step, with the methods of `ParameterDrag`."""

    def __init__(self, chosen: Sequence[TrackKeys], changed: Sequence[TrackKeys]) -> None:
        """Record the keys that the drag can change."""
        self.chosen = list(chosen)
        """The chosen keys at their current frames."""
        self.is_shown = False
        """True from the first step to the end of the drag."""
        self._recorded = record_tracks((keys.datablock, keys.track) for keys in changed)

    def to(self, given: Given) -> None:
        """Write the values, by name for the keys of each track."""
        raise NotImplementedError

    def finish(self, given: Given) -> None:
        """Write the values, and end the drag."""
        self.to(given)
        self.is_shown = False

    def finish_at_last_step(self) -> None:
        """End the drag with the values of its last step."""
        self.is_shown = False

    def take_back(self) -> None:
        """End the drag, and restore the keys."""
        self.is_shown = False
        revert_tracks(self._recorded)


DragType = type[ParameterDrag] | type[WritingDrag]


def drag_of(context: bpy.types.Context, drag_type: DragType, chosen: Sequence[TrackKeys]) -> SliderDrag:
    """Return the current drag if it is of this type and on these keys. Otherwise, end it and begin another."""
    global _current
    if _current is not None:
        if _current.includes(context, drag_type, chosen):
            return _current
        _current.finish()
    _current = SliderDrag(context, drag_type, chosen)
    return _current


def end_if_released(context: bpy.types.Context) -> None:
    """End the drag if Blender reads a slider's value because the mouse button was released."""
    if _current is not None and _current.drag.is_shown and not redraw.is_drawing() and last_event(context).releases:
        _current.finish()


def shown_in(context: bpy.types.Context) -> SliderDrag | None:
    """Return the drag whose keys the area shows."""
    return _current if _current is not None and _current.is_shown_in(context) else None


def once_a_drag(function: Callable[[bpy.types.Context], Result]) -> Callable[[bpy.types.Context], Result]:
    """Call a function of the chosen keys once per redraw and area, and only once during a drag.

    The function must not depend on the dragged values.
    """

    @redraw.once
    @wraps(function)
    def cached(context: bpy.types.Context) -> Result:
        drag = shown_in(context)
        if drag is None:
            return function(context)
        if function not in drag.cached_results:
            drag.cached_results[function] = function(context)
        result: Result = drag.cached_results[function]
        return result

    return cached


def forget() -> None:
    """Discard the drag."""
    global _current
    _current = None


class _Start(NamedTuple):
    slider: SharedSlider
    displayed: float
    keys: Sequence[TrackKeys]
    numbers: Numbers
    """Values of the keys."""


class SliderDrag:
    """Drag of one slider, or of several sliders of the same keys."""

    def __init__(self, context: bpy.types.Context, drag_type: Any, chosen: Sequence[TrackKeys]) -> None:
        """Begin a drag. A drag of parameters makes plain tracks TCB."""
        self.drag: ParameterDrag | WritingDrag
        self._displayed_parameters: dict[str, Numbers] = {}
        """Parameters of plain tracks before the drag, which the sliders display when their drag begins."""
        self._fitted_parameters: dict[str, Numbers] = {}
        """Parameters that preserve the motion of plain tracks, from which their sliders start."""
        if drag_type is ParameterDrag:
            defaults = defaults_of(context.scene)
            self._begin(ParameterDrag(chosen, defaults), defaults)
        else:
            self.drag = drag_type(context, chosen)
        self.chosen = self.drag.chosen
        """The chosen keys at their frames before the drag."""
        self.cached_results: dict[object, Any] = {}
        """Results that the drag does not change, by function."""
        self.numbers: dict[str, Numbers] = {}
        """Dragged values by the name of the slider."""
        self._area = _area_of(context)
        self._window = context.window.as_pointer() if context.window is not None else 0
        self._starts: dict[str, _Start] = {}
        self.has_just_ended = False
        """True from the end of the drag until Blender has handled the current events."""
        self._was_released = False
        """True if the button was released at the last check."""

    def _begin(self, drag: ParameterDrag, defaults: Mapping[str, float]) -> None:
        """Make plain tracks TCB, and keep the notes for the message line."""
        self.drag = drag
        if all(keys.track.enabled for keys in drag.chosen):
            return
        self._displayed_parameters = parameters_or_nan(drag.chosen, defaults)
        notes = drag.begin()
        if notes:
            keep_result_notes(notes)
        self._fitted_parameters = parameters_or_nan(drag.chosen, defaults)

    def includes(self, context: bpy.types.Context, drag_type: type, chosen: Sequence[TrackKeys]) -> bool:
        """Return whether a change to a slider of these keys belongs to the drag."""
        if not (self.drag.is_shown or self.has_just_ended):
            return False
        if self._area != _area_of(context) or not isinstance(self.drag, drag_type):
            return False
        # Keys that the dragged keys pass can also be chosen.
        return chosen is self.chosen or _identities(self.drag.chosen) <= _identities(chosen)

    def is_shown_in(self, context: bpy.types.Context) -> bool:
        """Return whether the area shows these keys, which can then be reused. A drag of values changes the keys."""
        return isinstance(self.drag, ParameterDrag) and self.drag.is_shown and self._area == _area_of(context)

    def begin(self, name: str, slider: SharedSlider, keys: Sequence[TrackKeys], numbers: Numbers) -> None:
        """Record a slider and the current values of its keys, unless it is already dragged."""
        if name not in self._starts:
            displayed = slider.shown(self._displayed_parameters.get(name, numbers))
            self._starts[name] = _Start(slider, displayed, keys, self._fitted_parameters.get(name, numbers))

    def set(self, name: str, value: float, event: LastEvent, relative: bool) -> None:
        """Set the values of a recorded slider's keys, after the slider was set to `value` during the event."""
        start = self._starts[name]
        is_drag = name in self.numbers or event.presses or event.takes_back
        is_reset = is_drag and abs(value - start.displayed) <= _SAME
        after = start.numbers if is_reset else start.slider.changed(start.numbers, start.displayed, value, relative)
        self.numbers[name] = after
        is_held = self.drag.is_shown and not event.releases and (event.is_modifier or event.takes_back)
        if is_drag and self._is_at_start():
            self.drag.take_back()
            forget()
        elif event.presses or is_held:
            self._step()
        else:
            self.drag.finish(self._given())
            self._end()

    def _is_at_start(self) -> bool:
        """Return whether all sliders have been reset, and the values are therefore the arrays of the start."""
        return all(self.numbers[name] is start.numbers for name, start in self._starts.items())

    def finish(self) -> None:
        """End the drag at its last step."""
        if self.drag.is_shown:
            self.drag.finish_at_last_step()
            self._end()

    def _step(self) -> None:
        self.has_just_ended = self._was_released = False
        self.drag.to(self._given())
        if not bpy.app.background:
            if bpy.app.timers.is_registered(_watch):
                bpy.app.timers.unregister(_watch)
            bpy.app.timers.register(_watch, first_interval=_QUIET)

    def _end(self) -> None:
        """Keep the drag until the current events are handled, because one of the events may be `Esc`."""
        self.has_just_ended = not bpy.app.background
        if self.has_just_ended and not bpy.app.timers.is_registered(_forget_ended):
            bpy.app.timers.register(_forget_ended, first_interval=0.0)

    def _given(self) -> list[dict[str, Numbers]]:
        """Return the dragged values of each track, with NaN for keys without values."""
        given: list[dict[str, Numbers]] = [{} for _ in self.chosen]
        indices = {_track_of(keys): index for index, keys in enumerate(self.chosen)}
        for name, numbers in self.numbers.items():
            for keys, numbers_of_track in split_by_track(self._starts[name].keys, numbers):
                index = indices[_track_of(keys)]
                numbers_or_nan = np.full(len(self.chosen[index]), np.nan)
                numbers_or_nan[is_among(self.chosen[index].frames, keys.frames)] = numbers_of_track
                given[index][name] = numbers_or_nan
        return given

    def watch(self) -> bool:
        """End the drag if its slider no longer exists and the button is released. Return whether the drag continues."""
        if not self.drag.is_shown:
            return False
        is_released = not self._is_button_held()
        # At the first check after the release, Blender may not have handled the event yet.
        if is_released and self._was_released:
            self.finish()
        self._was_released = is_released
        return self.drag.is_shown

    def _is_button_held(self) -> bool:
        manager: Any = bpy.context.window_manager
        window = next((window for window in manager.windows if window.as_pointer() == self._window), None)
        if window is None:
            return False
        with bpy.context.temp_override(window=window):
            event = last_event(bpy.context)
        return event.presses or (event.is_modifier and not event.releases)


def _watch() -> float | None:
    return _QUIET if _current is not None and _current.watch() else None


def _forget_ended() -> None:
    if _current is not None:
        _current.has_just_ended = False


def parameters_or_nan(chosen: Sequence[TrackKeys], defaults: Mapping[str, float]) -> dict[str, Numbers]:
    """Return the values of each parameter for all keys in order, with NaN for unreadable values."""
    return means_of_keys(*component_parameters_or_nan(chosen, defaults), sum(map(len, chosen)))


def component_parameters_or_nan(
    chosen: Sequence[TrackKeys], defaults: Mapping[str, float]
) -> tuple[IndexArray, dict[str, Numbers]]:
    """Return each parameter for all components of the keys, and the row of each value's key. NaN is unreadable."""
    rows, numbers = [np.empty(0, dtype=np.intp)], [dict.fromkeys(PARAMETERS, np.empty(0))]
    first_row = 0
    for keys in chosen:
        try:
            rows_of_track, numbers_of_track = component_parameters(keys.track, keys.own, keys.frames, defaults)
        except AnimationError:
            rows_of_track = np.arange(len(keys))
            numbers_of_track = dict.fromkeys(PARAMETERS, np.full(len(keys), np.nan))
        rows.append(first_row + rows_of_track)
        numbers.append(numbers_of_track)
        first_row += len(keys)
    return np.concatenate(rows), {name: np.concatenate([part[name] for part in numbers]) for name in PARAMETERS}


def split_by_track(chosen: Sequence[TrackKeys], numbers: Numbers) -> list[tuple[TrackKeys, Numbers]]:
    """Return the keys of each track with their values."""
    ends = np.cumsum([len(keys) for keys in chosen])
    return list(zip(chosen, np.split(numbers, ends[:-1]), strict=True))


def _identities(chosen: Sequence[TrackKeys]) -> set[Hashable]:
    """Return a value for each track that identifies its chosen keys at their frames."""
    return {(*_track_of(keys), keys.frames.tobytes()) for keys in chosen}


def _track_of(keys: TrackKeys) -> tuple[int, str]:
    return keys.datablock.as_pointer(), keys.track.path


def _area_of(context: bpy.types.Context) -> int:
    return context.area.as_pointer() if context.area is not None else 0
