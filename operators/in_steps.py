# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that work in steps: started by hand, long work lets Blender go on between steps, and Esc ends it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, ClassVar

import bpy

from ..animation import AnimationError
from ..animation.steps import Result, Steps, collector_paused
from ..animation.translation import iface_, n_, rpt_, translated
from ..ui.reporting import Status

_AT_ONCE = 1.0
"""Seconds that work by hand takes before it lets Blender go on and looks for Esc."""
_SLICE, _PAUSE = 0.2, 0.01
"""Seconds: of work from look to look, and between."""
_SECONDS_BETWEEN_LINES = 2.0


class Progress:
    """Progress, by default of a bake: at the mouse pointer, and without a window in lines."""

    def __init__(self, window_manager: Any, line: str = n_("{:d} of {:d} tracks baked")) -> None:
        self.window_manager = window_manager
        self.line = line
        self.printed_at = time.monotonic()
        self.percent = 0
        window_manager.progress_begin(0, 100)

    def __call__(self, done: int, total: int) -> None:
        self.percent = 100 * done // max(1, total)
        self.window_manager.progress_update(self.percent)
        if bpy.app.background and time.monotonic() - self.printed_at > _SECONDS_BETWEEN_LINES:
            self.printed_at = time.monotonic()
            print(f"TCB: {rpt_(self.line, done, total)}", flush=True)

    def end(self) -> None:
        self.window_manager.progress_end()


class InSteps:
    """Run an operator's steps to their end, or close them, whereupon they take back what they did."""

    hint: ClassVar[str]
    """What the status bar says while it goes on."""
    cancelled: ClassVar[str]
    """What is said where Esc ended it."""
    _is_by_hand = False
    """Then work that takes long goes on in steps, between which Esc ends it."""
    _timer: bpy.types.Timer | None = None

    def start(
        self,
        context: bpy.types.Context,
        steps: Steps[Result],
        progress: Progress,
        done: Callable[[bpy.types.Context, Result], Status],
    ) -> Status:
        """Do the steps: all of them, or where a person waits those that take no time, and the rest by and by.

        `done` finishes with what the steps returned.
        """
        self._steps, self._progress, self._done = steps, progress, done
        if bpy.app.background or not self._is_by_hand:
            return self._go_on(context, math.inf)
        status = self._go_on(context, _AT_ONCE)
        if status == {"RUNNING_MODAL"}:
            window_manager: Any = context.window_manager
            window_manager.modal_handler_add(self)
            self._timer = window_manager.event_timer_add(_PAUSE, window=context.window)
            self._say_how_far(context)
        return status

    def _say_how_far(self, context: bpy.types.Context) -> None:
        workspace: Any = context.workspace
        workspace.status_text_set(f"{iface_(self.hint)}   {self._progress.percent} %")

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            operator: Any = self
            operator.report({"WARNING"}, rpt_(self.cancelled))
            return {"CANCELLED"}
        # All other events are kept from the scene that is worked on.
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        status = self._go_on(context, _SLICE)
        if status == {"RUNNING_MODAL"}:
            self._say_how_far(context)
        return status

    def cancel(self, context: bpy.types.Context) -> None:
        try:
            self._steps.close()
        finally:
            self._end(context)

    def _go_on(self, context: bpy.types.Context, seconds: float) -> Status:
        """Work for so long; RUNNING_MODAL says that more is left to do."""
        end = time.monotonic() + seconds
        try:
            with collector_paused():
                while time.monotonic() < end:
                    self._progress(*next(self._steps))
        except StopIteration as stop:
            result = stop.value
        except AnimationError as refusal:
            return self._failed(context, refusal)
        except BaseException:
            self._end(context)
            raise
        else:
            return {"RUNNING_MODAL"}
        self._end(context)
        return self._done(context, result)

    def _failed(self, context: bpy.types.Context, error: Exception) -> Status:
        self._end(context)
        operator: Any = self
        operator.report({"ERROR"}, translated(error))
        return {"CANCELLED"}

    def _end(self, context: bpy.types.Context) -> None:
        """Take away what shows that it goes on. Done again from the list of operators, it is done at once."""
        self._progress.end()
        self._is_by_hand = False
        if self._timer is not None:
            window_manager: Any = context.window_manager
            workspace: Any = context.workspace
            window_manager.event_timer_remove(self._timer)
            workspace.status_text_set(None)
            self._timer = None
