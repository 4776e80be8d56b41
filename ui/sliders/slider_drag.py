# SPDX-License-Identifier: GPL-3.0-or-later
"""Drags of sliders, whose start and end Blender does not report.

Blender sets a slider, or several dragged sliders, at each mouse move. On `Esc`, it sets each slider to its displayed
initial value. After the release, it reads the value for the Info log, and then stores the undo step. The drag therefore
ends at this read, so that the undo step contains the result.

The last event of the window can be later than the event that Blender is handling. On a slow computer, a move, `Esc` and
the release may be queued together. A reset to the initial value therefore cancels a drag, even just after its end.

An invoked operator receives the window's last event with the modifier keys. This method also works in a property's
setter and while Blender drags the slider.

If the values differ, the slider shows their mean. A change makes all values equal, or, with `relative`, shifts all by
the same amount. Blender sets a slider repeatedly during a drag. `SliderDrag` therefore starts each change from the
values before the drag, so that clamping loses no differences.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import bpy
import numpy as np

from ...animation import AnimationError
from ...animation.edit.keys import set_value
from ...animation.edit.parameter_drag import Given, ParameterDrag
from ...animation.edit.recorded_tracks import record_tracks, revert_tracks
from ...animation.edit.track_keys import TrackKeys
from ...animation.fcurves.frames import is_among
from ...animation.store.parameters import Numbers
from .. import redraw
from ..selection import defaults_of

_MODIFIERS = frozenset(f"{side}_{key}" for side in ("LEFT", "RIGHT") for key in ("ALT", "CTRL", "SHIFT"))
_SLIDER_EVENTS = _MODIFIERS | {"LEFTMOUSE", "RET", "NUMPAD_ENTER", "TAB"}
"""Events that set a slider. Alt in other events, such as Alt-P to run a script, does not affect sliders."""
_DIGITS = frozenset("0123456789.-")


def typed_after(text: str, event: bpy.types.Event) -> str | None:
    """Return the number typed during a drag, including the event, or None if the event does not change the number."""
    if event.value != "PRESS":
        return None
    if event.type == "BACK_SPACE":
        return text[:-1]
    return text + event.unicode if event.unicode and event.unicode in _DIGITS else None


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


def last_event(context: bpy.types.Context) -> LastEvent:
    """Return the last event of the context's window, or an empty event without a window or event."""
    global _last
    _last = _NO_EVENT
    if not bpy.app.background and context.window is not None:
        operators: Any = bpy.ops
        operators.tcb.last_event("INVOKE_DEFAULT")
    return _last


def register() -> None:
    bpy.utils.register_class(TCB_OT_last_event)


def unregister() -> None:
    bpy.utils.unregister_class(TCB_OT_last_event)


_ZERO = 5e-7
"""Numbers this small are shown as 0."""
_RESET_MARK = 1e-8
"""Value added to rounded numbers, so that a typed number differs from the number that Blender restores on Esc."""


class SharedSlider:
    """Slider for a value of several keys.

    In all methods, arrays contain the values of the keys, at least one. Means and values close to 0 are rounded to
    `decimals`, because Blender's fields show small values with more decimals, which leave no room for names.
    """

    def __init__(self, limits: tuple[float, float] = (-np.inf, np.inf), decimals: int | None = None) -> None:
        self._limits, self._decimals = limits, decimals

    def shown(self, numbers: Numbers) -> float:
        """Return the value that the slider displays for the values of the keys."""
        if not is_mixed(numbers):
            number = float(numbers[0])
            if abs(number) < _ZERO:
                return 0.0
            # A field would show a small negative value as -0.000.
            has_digits = self._decimals is None or abs(number) >= 0.5 * 10.0**-self._decimals
            return number if has_digits else _RESET_MARK
        mean = np.nanmean(numbers)
        rounded = np.float32(mean if self._decimals is None else mean.round(self._decimals))
        # The mark alone would be lost in the rounding of a large float32.
        return float(rounded + max(np.float32(_RESET_MARK), 2 * np.spacing(np.abs(rounded))))

    def changed(self, start_numbers: Numbers, start_shown: float, value: float, relative: bool) -> Numbers:
        """Return the values after the slider was set to `value`.

        `start_numbers` and `start_shown` are the values of the keys and of the slider before the change or, during a
        drag, before the drag.
        """
        if np.float32(value) == np.float32(start_shown):
            return start_numbers
        if relative:
            return np.clip(start_numbers + (value - start_shown), *self._limits)
        return np.full(len(start_numbers), value)


def is_mixed(numbers: Numbers) -> bool:
    """Return whether the values differ.

    NaN marks keys that cannot be read. NaN differs from every number, but values that are all NaN do not differ.
    """
    return bool((numbers != numbers[0]).any()) and not bool(np.isnan(numbers).all())


Result = TypeVar("Result")

_QUIET = 0.25
"""Seconds after the last step of a drag before the mouse button is checked."""
_SAME = 5e-7
"""Tolerance for a reset of a slider, because values from 0 to 50 are rounded."""


class ValueDrag:
    """Key values that are written at each step of a drag, with the methods of `ParameterDrag`."""

    def __init__(self, chosen: Sequence[TrackKeys]) -> None:
        self.is_shown = False
        """True from the first step to the end of the drag."""
        self._chosen = chosen
        self._recorded = record_tracks((keys.datablock, keys.track) for keys in chosen)

    def to(self, given: Given) -> None:
        """Set values by component names. NaN means that a key lacks the component."""
        self.is_shown = True
        for keys, values_by_component in zip(self._chosen, given, strict=True):
            for component, values in values_by_component.items():
                has_component = ~np.isnan(values)
                # The panel shows the reason if the keys cannot be changed.
                with suppress(AnimationError):
                    set_value(keys.take(has_component), int(component), values[has_component])

    def finish(self, given: Given) -> None:
        """Set values, and end the drag."""
        self.to(given)
        self.is_shown = False

    def finish_at_last_step(self) -> None:
        """End the drag."""
        self.is_shown = False

    def take_back(self) -> None:
        """End the drag, and restore the keys."""
        self.is_shown = False
        revert_tracks(self._recorded)


class _Start(NamedTuple):
    """State of a slider before the drag."""

    displayed: float
    keys: Sequence[TrackKeys]
    numbers: Numbers
    """Values of the keys."""


class SliderDrag:
    """Drag of one slider, or of several sliders of the same keys."""

    def __init__(
        self, context: bpy.types.Context, chosen: Sequence[TrackKeys], drag: ParameterDrag | ValueDrag
    ) -> None:
        self.chosen, self.drag = list(chosen), drag
        self.identity = identity_of(chosen)
        self.cached_results: dict[object, Any] = {}
        """Results that the drag does not change, by function."""
        self.numbers: dict[str, tuple[Sequence[TrackKeys], Numbers]] = {}
        """Keys and dragged values by the name of the slider."""
        self._area = _area_of(context)
        self._window = context.window.as_pointer() if context.window is not None else 0
        self._starts: dict[str, _Start] = {}
        self.has_just_ended = False
        """True from the end of the drag until Blender has handled the current events."""
        self._was_released = False
        """True if the button was released at the last check."""
        self._stepped_at = 0.0

    def includes(self, context: bpy.types.Context, kind: type, identity: Hashable) -> bool:
        """Return whether a change to a slider of the keys with this identity belongs to the drag."""
        if not (self.drag.is_shown or self.has_just_ended):
            return False
        return self._area == _area_of(context) and isinstance(self.drag, kind) and self.identity == identity

    def is_shown_in(self, context: bpy.types.Context) -> bool:
        """Return whether the area shows these keys, which can then be reused. A drag of values changes the keys."""
        return isinstance(self.drag, ParameterDrag) and self.drag.is_shown and self._area == _area_of(context)

    def numbers_of(self, keys: TrackKeys, name: str) -> Numbers | None:
        """Return the dragged values with this name for the keys of a track."""
        if name not in self.numbers:
            return None
        numbers_by_track = split_by_track(*self.numbers[name])
        return next((numbers for dragged, numbers in numbers_by_track if _track_of(dragged) == _track_of(keys)), None)

    def set(
        self,
        name: str,
        slider: SharedSlider,
        keys: Sequence[TrackKeys],
        numbers: Numbers,
        value: float,
        event: LastEvent,
        relative: bool,
    ) -> None:
        """Set the value with this name on the keys, after the slider was set to `value` during the event.

        `numbers`: current values of the keys.
        """
        continues_drag = name in self._starts
        if not continues_drag:
            self._starts[name] = _Start(slider.shown(numbers), keys, numbers)
        start = self._starts[name]
        is_drag = continues_drag or event.presses or event.takes_back
        is_reset = is_drag and abs(value - start.displayed) <= _SAME
        after = start.numbers if is_reset else slider.changed(start.numbers, start.displayed, value, relative)
        self.numbers[name] = start.keys, after
        is_held = self.drag.is_shown and not event.releases and (event.is_modifier or event.takes_back)
        if is_drag and self._is_at_start():
            self._take_back()
        elif event.presses or is_held:
            self._step()
        else:
            self.drag.finish(self._given())
            self._end()

    def _is_at_start(self) -> bool:
        """Return whether all sliders have been reset, and the values are therefore the arrays of the start."""
        return all(self.numbers[name][1] is start.numbers for name, start in self._starts.items())

    def finish(self) -> None:
        """End the drag at its last step."""
        if self.drag.is_shown:
            self.drag.finish_at_last_step()
            self._end()

    def _step(self) -> None:
        self.has_just_ended = self._was_released = False
        self._stepped_at = time.monotonic()
        self.drag.to(self._given())
        if not bpy.app.background and not bpy.app.timers.is_registered(_watch):
            bpy.app.timers.register(_watch, first_interval=_QUIET)

    def _take_back(self) -> None:
        if self.drag.is_shown or self.has_just_ended:
            self.drag.take_back()
            self._end()

    def _end(self) -> None:
        """Keep the drag until the current events are handled, because one of the events may be `Esc`."""
        self.has_just_ended = not bpy.app.background
        if self.has_just_ended and not bpy.app.timers.is_registered(_forget_ended):
            bpy.app.timers.register(_forget_ended, first_interval=0.0)

    def _given(self) -> list[dict[str, Numbers]]:
        """Return the dragged values of each track, with NaN for keys without values."""
        given: list[dict[str, Numbers]] = [{} for _ in self.chosen]
        indices = {_track_of(keys): index for index, keys in enumerate(self.chosen)}
        for name, (dragged, numbers) in self.numbers.items():
            for keys, numbers_of_track in split_by_track(dragged, numbers):
                index = indices[_track_of(keys)]
                numbers_or_nan = np.full(len(self.chosen[index]), np.nan)
                numbers_or_nan[is_among(self.chosen[index].frames, keys.frames)] = numbers_of_track
                given[index][name] = numbers_or_nan
        return given

    def watch(self) -> bool:
        """End the drag if its slider no longer exists and the button is released. Return whether the drag continues."""
        if not self.drag.is_shown:
            return False
        if time.monotonic() - self._stepped_at < _QUIET:
            return True
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


_current: SliderDrag | None = None


def drag_of(
    context: bpy.types.Context, kind: type[ParameterDrag] | type[ValueDrag], chosen: Sequence[TrackKeys]
) -> SliderDrag:
    """Return the current drag if it is of this kind and on these keys. Otherwise, end it and begin another."""
    global _current
    if _current is not None:
        identity = _current.identity if chosen is _current.chosen else identity_of(chosen)
        if _current.includes(context, kind, identity):
            return _current
        _current.finish()
    drag = ParameterDrag(chosen, defaults_of(context.scene)) if kind is ParameterDrag else ValueDrag(chosen)
    _current = SliderDrag(context, chosen, drag)
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
    """Discard the drag, because another file was loaded."""
    global _current
    _current = None


def _watch() -> float | None:
    return _QUIET if _current is not None and _current.watch() else None


def _forget_ended() -> None:
    if _current is not None:
        _current.has_just_ended = False


def split_by_track(chosen: Sequence[TrackKeys], numbers: Numbers) -> list[tuple[TrackKeys, Numbers]]:
    """Return the keys of each track with their values."""
    ends = np.cumsum([len(keys) for keys in chosen])
    return list(zip(chosen, np.split(numbers, ends[:-1]), strict=True))


def identity_of(chosen: Sequence[TrackKeys]) -> Hashable:
    """Return a value that identifies these keys at their frames."""
    return tuple((*_track_of(keys), keys.frames.tobytes()) for keys in chosen)


def _track_of(keys: TrackKeys) -> tuple[int, str]:
    return keys.datablock.as_pointer(), keys.track.path


def _area_of(context: bpy.types.Context) -> int:
    return context.area.as_pointer() if context.area is not None else 0
