# SPDX-License-Identifier: GPL-3.0-or-later
"""Base classes of operators on selected objects, bones or keys, and of operators that run in steps with progress.

In interactive use, Blender handles events between steps, and Esc cancels the operator.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty

from ..animation import AnimationError
from ..animation.steps import Result, Steps, collector_paused
from ..animation.text import iface_, n_, rpt_
from ..ui import selection
from ..ui.chosen_keys import reason_no_key_is_chosen, shown_and_selected_keys
from ..ui.operator_results import Status, finish, for_each_edited_track, for_each_track, refuse
from ..ui.scene import defaults_of

# Base classes and polls for operators on selected objects, bones or keys


NOTHING_IS_TCB = n_("No selected track is TCB")
"""Message of grayed-out buttons that need TCB tracks."""
NO_OWN_KEY_SELECTED = n_("Generated keys have no parameters. Select your own keys")


def poll_selection(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Return whether the selection can be used. Otherwise, the grayed-out button shows the reason."""
    reason = selection.reason_nothing_is_selected(context)
    if reason:
        operator.poll_message_set(reason)
    return not reason


def poll_keys(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Return whether there is a key to use: a selected key in an animation editor, or else the sidebar's key."""
    reason = reason_no_key_is_chosen(context)
    if reason:
        operator.poll_message_set(reason)
    return not reason


def poll_active(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Return whether there is an active object, or an active bone in Pose Mode."""
    if context.object is None:
        operator.poll_message_set("No active object")
        return False
    if context.mode == "POSE" and selection.active_bone(context) is None:
        operator.poll_message_set("No active bone. Click a bone")
        return False
    return True


class WithData:
    """Option to include object data."""

    use_data: BoolProperty(
        name="Object Data",
        description="Include cameras, lights, shape keys, materials and nodes of the objects",
        default=True,
    )


class OnSelection(WithData):
    """Base class for operators that call a function of `animation` with the selected datablocks.

    This class is not an operator, because Blender's translation tools look only at registered operators and their
    subclasses.
    """

    bl_options: ClassVar[Any] = {"REGISTER", "UNDO"}

    work: ClassVar[Any]
    """Static function that takes a mapping from datablocks to path prefixes, or None, and returns a Report."""
    done: ClassVar[str]
    """Message on success, with a placeholder for the counts."""
    otherwise: ClassVar[str] = ""
    """Message if there was nothing to do and no error occurred."""
    works_on: ClassVar[str] = ""
    """Required tracks, as for `selection.has_tracks`."""
    nothing: ClassVar[str] = ""
    """Tooltip of the grayed-out button if the selection has no such tracks."""

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        if not poll_selection(cls, context):
            return False
        if selection.has_tracks(context, cls.works_on):
            return True
        cls.poll_message_set(cls.nothing)
        return False

    def execute(self: Any, context: bpy.types.Context) -> Status:
        report = type(self).work(selection.selected_datablocks(context, self.use_data))
        return finish(self, report, rpt_(self.done, report.counts), self.otherwise)


class OnKeys:
    """Base class for operators on the chosen keys: the keys selected in an animation editor, or the sidebar's key."""

    bl_options: Any = {"REGISTER", "UNDO"}

    poll = classmethod(poll_keys)


class OnShownAndSelectedKeys(OnKeys):
    """Base class for operators on the chosen keys and the selected keys of all TCB tracks of the selection."""

    work: ClassVar[Any]
    """Static function that takes the keys of a track."""
    done: ClassVar[str]
    """Message on success, with a placeholder for the counts."""
    makes_tcb: ClassVar[bool] = False
    """True if the function makes plain tracks TCB. They are then enabled first, as *Enable TCB* does."""

    def execute(self: Any, context: bpy.types.Context) -> Status:
        keys, work = shown_and_selected_keys(context), type(self).work
        if self.makes_tcb:
            report = for_each_edited_track(keys, defaults_of(context.scene), work)
        else:
            report = for_each_track(keys, work)
        return finish(self, report, rpt_(self.done, report.counts), NO_OWN_KEY_SELECTED)


# The progress of operators, and operators that run in steps


_SECONDS_BETWEEN_LINES = 2.0
"""Minimum number of seconds between printed lines."""


class Progress:
    """Progress shown at the mouse pointer, or printed as lines if there is no window.

    `line` is the printed text, with placeholders for the finished and the total number of steps.
    """

    def __init__(self, window_manager: Any, line: str = n_("{:d} of {:d} tracks baked")) -> None:
        self._window_manager = window_manager
        self._line = line
        self._printed_at = time.monotonic()
        self.percent = 0
        window_manager.progress_begin(0, 100)

    def __call__(self, done: int, total: int) -> None:
        self.percent = 100 * done // max(1, total)
        self._window_manager.progress_update(self.percent)
        if bpy.app.background and time.monotonic() - self._printed_at > _SECONDS_BETWEEN_LINES:
            self._printed_at = time.monotonic()
            print(f"TCB: {rpt_(self._line, done, total)}", flush=True)

    def close(self) -> None:
        self._window_manager.progress_end()


_AT_ONCE = 1.0
"""Seconds for which interactive work may block Blender before Blender handles events and checks for Esc."""
_SECONDS_PER_SLICE = 0.2
"""Seconds of work between two checks for events."""
_PAUSE = 0.01
"""Seconds of the pause for events."""


class InSteps:
    """An operator that runs in steps, and whose changes are undone if it is canceled."""

    hint: ClassVar[str]
    """Text in the status bar during the work."""
    cancelled: ClassVar[str]
    """Message after Esc."""
    _is_by_hand = False
    """True if long work runs in steps that Esc can cancel."""
    _timer: bpy.types.Timer | None = None

    def start(
        self,
        context: Any,
        steps: Steps[Result],
        progress: Progress,
        finish: Callable[[bpy.types.Context, Result], Status],
    ) -> Status:
        """Run all steps. In interactive use, run only the first steps. The modal operator runs the rest.

        `finish`: function that ends the operator with the return value of the steps.
        """
        self._steps, self._progress, self._finish_with = steps, progress, finish
        if bpy.app.background or not self._is_by_hand:
            return self._work(context, math.inf)
        status = self._work(context, _AT_ONCE)
        if status == {"RUNNING_MODAL"}:
            context.window_manager.modal_handler_add(self)
            self._timer = context.window_manager.event_timer_add(_PAUSE, window=context.window)
            self._show_progress(context)
        return status

    def _show_progress(self, context: Any) -> None:
        context.workspace.status_text_set(f"{iface_(self.hint)}   {self._progress.percent} %")

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            operator: Any = self
            operator.report({"WARNING"}, rpt_(self.cancelled))
            return {"CANCELLED"}
        # Other events must not reach the scene during the work.
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        status = self._work(context, _SECONDS_PER_SLICE)
        if status == {"RUNNING_MODAL"}:
            self._show_progress(context)
        return status

    def cancel(self, context: bpy.types.Context) -> None:
        """Undo all changes. Blender also calls this when it closes the window or loads a file."""
        try:
            self._steps.close()
        finally:
            self._end(context)

    def _work(self, context: bpy.types.Context, seconds: float) -> Status:
        """Work for the given time. Return RUNNING_MODAL while the work is not complete."""
        end = time.monotonic() + seconds
        try:
            with collector_paused():
                while time.monotonic() < end:
                    self._progress(*next(self._steps))
        except StopIteration as stop:
            result = stop.value
        except AnimationError as refusal:
            return self._fail(context, refusal)
        except BaseException:
            self._end(context)
            raise
        else:
            return {"RUNNING_MODAL"}
        self._end(context)
        return self._finish_with(context, result)

    def _fail(self: Any, context: bpy.types.Context, error: Exception) -> Status:
        self._end(context)
        return refuse(self, error)

    def _end(self, context: Any) -> None:
        """Remove the progress indicators. On redo, the operator runs without steps."""
        self._progress.close()
        self._is_by_hand = False
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            context.workspace.status_text_set(None)
            self._timer = None
