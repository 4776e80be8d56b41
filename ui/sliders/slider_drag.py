# SPDX-License-Identifier: GPL-3.0-or-later
"""Drags of sliders, whose start and end Blender does not report.

Blender sets a slider, or several dragged sliders, at each mouse move. On `Esc`, it sets each slider to its displayed
initial value. After the release, it reads the value for the Info log, and then stores the undo step. The drag therefore
ends at this read, so that the undo step contains the result.

The last event of the window can be later than the event that Blender is handling. On a slow computer, a move, `Esc` and
the release may be queued together. A reset to the initial value therefore cancels a drag, even just after its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import bpy
import numpy as np

from ...animation import AnimationError
from ...animation.edit.canceled_changes import record_tracks, revert_tracks
from ...animation.edit.parameters.drag import Given, ParameterDrag
from ...animation.edit.place_keys import set_value
from ...animation.edit.track_keys import TrackKeys
from ...animation.fcurves.frames import is_among
from ...animation.store.parameters import Numbers
from .. import redraw
from .modifier_keys import LastEvent, last_event
from .shared_number import SharedSlider

Found = TypeVar("Found")

_QUIET = 0.25
"""Seconds after the last step of a drag before the mouse button is checked."""
_SAME = 5e-7
"""Tolerance, because values from 0 to 50 are rounded."""


class ValueDrag:
    """Key values that are written at each step of a drag."""

    def __init__(self, chosen: Sequence[TrackKeys]) -> None:
        self.is_shown = False
        """True from the first step to the end of the drag."""
        self._chosen, self._recorded = chosen, record_tracks((keys.datablock, keys.track) for keys in chosen)

    def to(self, given: Given) -> None:
        """Set values by component names. NaN means that a key lacks the component."""
        self.is_shown = True
        for keys, own in zip(self._chosen, given, strict=True):
            for name, values in own.items():
                there = ~np.isnan(values)
                # The panel shows the reason.
                with suppress(AnimationError):
                    set_value(keys.take(there), int(name), values[there])

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

    shown: float
    keys: Sequence[TrackKeys]
    numbers: Numbers


class SliderDrag:
    """Drag of one slider, or of several sliders of the same keys.

    `keeps_keys` is true if the drag changes only the dragged parameters of the keys.
    """

    def __init__(
        self, context: bpy.types.Context, chosen: Sequence[TrackKeys], drag: ParameterDrag | ValueDrag, keeps_keys: bool
    ) -> None:
        self.chosen, self.drag, self.keeps_keys = list(chosen), drag, keeps_keys
        self.keys = identity_of(chosen)
        self.found: dict[str, Any] = {}
        """Cached results that the drag does not change."""
        self.numbers: dict[str, tuple[Sequence[TrackKeys], Numbers]] = {}
        """Keys and dragged values by the name of the slider."""
        self._area = _area_of(context)
        self._window = context.window.as_pointer() if context.window is not None else 0
        self._starts: dict[str, _Start] = {}
        self._has_ended = self._is_loose = False
        self._stepped_at = 0.0

    def includes(self, context: bpy.types.Context, kind: type, keys: Hashable) -> bool:
        """Return whether a change to a slider of these keys belongs to the drag."""
        is_there = self._area == _area_of(context) and isinstance(self.drag, kind) and self.keys == keys
        return is_there and (self.drag.is_shown or self._has_ended)

    def is_shown_in(self, context: bpy.types.Context) -> bool:
        """Return whether the area shows these keys, which can then be reused."""
        return self.keeps_keys and self.drag.is_shown and self._area == _area_of(context)

    def numbers_of(self, keys: TrackKeys, name: str) -> Numbers | None:
        """Return the dragged values with this name for the keys of a track."""
        own = split_by_track(*self.numbers[name]) if name in self.numbers else []
        return next((numbers for each, numbers in own if _place(each) == _place(keys)), None)

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
        """Set the value with this name on the keys from a slider."""
        continues_drag = name in self._starts
        if not continues_drag:
            self._starts[name] = _Start(slider.shown(numbers), keys, numbers)
        start = self._starts[name]
        is_drag = continues_drag or event.presses or event.takes_back
        is_reset = is_drag and abs(value - start.shown) <= _SAME
        after = start.numbers if is_reset else slider.changed(start.numbers, start.shown, value, relative)
        self.numbers[name] = start.keys, after
        if is_drag and all(self.numbers[each][1] is own.numbers for each, own in self._starts.items()):
            self._take_back()
        elif event.presses or (self.drag.is_shown and not event.releases and (event.is_modifier or event.takes_back)):
            self._step()
        else:
            self.drag.finish(self._given())
            self._end()

    def finish(self) -> None:
        """End the drag at its last step."""
        if self.drag.is_shown:
            self.drag.finish_at_last_step()
            self._end()

    def _step(self) -> None:
        self._has_ended = self._is_loose = False
        self._stepped_at = time.monotonic()
        self.drag.to(self._given())
        if not bpy.app.background and not bpy.app.timers.is_registered(_watch):
            bpy.app.timers.register(_watch, first_interval=_QUIET)

    def _take_back(self) -> None:
        if self.drag.is_shown or self._has_ended:
            self.drag.take_back()
            self._end()

    def _end(self) -> None:
        """Keep the drag until the current events are handled, because one of the events may be `Esc`."""
        self._has_ended = not bpy.app.background
        if self._has_ended and not bpy.app.timers.is_registered(_forget_ended):
            bpy.app.timers.register(_forget_ended, first_interval=0.0)

    def _given(self) -> list[dict[str, Numbers]]:
        """Return the dragged values of each track, with NaN for keys without values."""
        given: list[dict[str, Numbers]] = [{} for _ in self.chosen]
        place = {_place(keys): number for number, keys in enumerate(self.chosen)}
        for name, (keys, numbers) in self.numbers.items():
            for own, part in split_by_track(keys, numbers):
                number = place[_place(own)]
                every = np.full(len(self.chosen[number]), np.nan)
                every[is_among(self.chosen[number].frames, own.frames)] = part
                given[number][name] = every
        return given

    def forget_ended(self) -> None:
        """Make the next change to a slider begin another drag."""
        self._has_ended = False

    def watch(self) -> bool:
        """End the drag if its slider no longer exists and the button is released. Return whether the drag continues."""
        if not self.drag.is_shown:
            return False
        if time.monotonic() - self._stepped_at < _QUIET:
            return True
        windows: Any = bpy.context.window_manager
        window = next((each for each in windows.windows if each.as_pointer() == self._window), None)
        is_held = False
        if window is not None:
            with bpy.context.temp_override(window=window):
                event = last_event(bpy.context)
            is_held = event.presses or (event.is_modifier and not event.releases)
        # Blender may not have handled the event yet.
        if not is_held and self._is_loose:
            self.finish()
        self._is_loose = not is_held
        return self.drag.is_shown


_current: SliderDrag | None = None


def going_on(context: bpy.types.Context, kind: type, chosen: Sequence[TrackKeys]) -> SliderDrag | None:
    """Return the current drag of this kind on these keys, for a changed slider, and end any other drag."""
    if _current is not None:
        keys = _current.keys if chosen is _current.chosen else identity_of(chosen)
        if _current.includes(context, kind, keys):
            return _current
        _current.finish()
    return None


def begin(
    context: bpy.types.Context, chosen: Sequence[TrackKeys], drag: ParameterDrag | ValueDrag, keeps_keys: bool
) -> SliderDrag:
    """Begin a drag."""
    global _current
    _current = SliderDrag(context, chosen, drag, keeps_keys)
    return _current


def end_if_released(context: bpy.types.Context) -> None:
    """End the drag if Blender reads a slider's value because the mouse button was released."""
    if _current is not None and _current.drag.is_shown and not redraw.is_drawing() and last_event(context).releases:
        _current.finish()


def shown_in(context: bpy.types.Context) -> SliderDrag | None:
    """Return the drag whose keys the area shows."""
    return _current if _current is not None and _current.is_shown_in(context) else None


def once_a_drag(function: Callable[[bpy.types.Context], Found]) -> Callable[[bpy.types.Context], Found]:
    """Call a function of the chosen keys once per drag. The function must not depend on the dragged values."""

    @wraps(function)
    def found(context: bpy.types.Context) -> Found:
        dragged = shown_in(context)
        if dragged is None:
            return function(context)
        if function.__name__ not in dragged.found:
            dragged.found[function.__name__] = function(context)
        result: Found = dragged.found[function.__name__]
        return result

    return found


def forget() -> None:
    """Discard the drag, because another file was loaded."""
    global _current
    _current = None


def _watch() -> float | None:
    return _QUIET if _current is not None and _current.watch() else None


def _forget_ended() -> None:
    if _current is not None:
        _current.forget_ended()


def split_by_track(chosen: Sequence[TrackKeys], numbers: Numbers) -> list[tuple[TrackKeys, Numbers]]:
    """Return the keys of each track with their values."""
    ends = np.cumsum([len(keys) for keys in chosen])
    return list(zip(chosen, np.split(numbers, ends[:-1]), strict=True))


def identity_of(chosen: Sequence[TrackKeys]) -> Hashable:
    """Return a value that identifies these keys at their frames."""
    return tuple((*_place(keys), keys.frames.tobytes()) for keys in chosen)


def _place(keys: TrackKeys) -> tuple[int, str]:
    return keys.datablock.as_pointer(), keys.track.path


def _area_of(context: bpy.types.Context) -> int:
    return context.area.as_pointer() if context.area is not None else 0
