# SPDX-License-Identifier: GPL-3.0-or-later
"""Operator that changes one parameter of the selected or shown keys with the mouse, or with a typed number."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.app.translations import contexts
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..animation.edit.parameter_drag import ParameterDrag
from ..animation.edit.set_parameters import set_parameters
from ..animation.edit.track_keys import TrackKeys
from ..animation.errors import AnimationError
from ..animation.number_text import number_text
from ..animation.store.parameters import LIMITS, Numbers
from ..animation.store.table.rows import PARAMETERS
from ..animation.translation import iface_, rpt_
from ..ui import preferences
from ..ui.chosen_keys import chosen_keys
from ..ui.operator_results import Status, finish, for_each_edited_track, keep_result_notes, refuse
from ..ui.option_properties import DESCRIPTIONS, from_50, of_50
from ..ui.redraw import redraw_editors
from ..ui.scene import defaults_of
from ..ui.sliders.slider_drag import split_by_track
from .on_selection import NO_OWN_KEY_SELECTED, OnKeys

_PARAMETER_ITEMS = [(name, *DESCRIPTIONS[name]) for name in PARAMETERS]
_PIXELS_OF_RANGE = 400.0
"""Mouse movement in pixels for the full range of tension, at a resolution scale of 1."""
_PRECISION_FACTOR = 0.1
"""Factor of the mouse movement while Shift is held."""
_SNAP_STEPS = 20
"""Number of steps in the range of a parameter to which Ctrl snaps."""


class TCB_OT_key_drag(OnKeys, bpy.types.Operator):
    """Drag or type to change a parameter of the selected or shown keys"""

    bl_idname = "tcb.key_drag"
    bl_label = "Drag TCB Parameter"
    bl_options = {"REGISTER", "UNDO", "BLOCKING", "GRAB_CURSOR"}

    parameter: EnumProperty(
        name="Parameter",
        description="Parameter to change",
        items=_PARAMETER_ITEMS,
        translation_context=contexts.id_action,
    )
    amount: FloatProperty(
        name="Amount", description="Amount to add to the parameter of each key", min=-2.0, max=2.0, step=5
    )
    absolute: BoolProperty(name="Absolute", description="Set all keys to the amount instead of adding it")

    def execute(self, context: bpy.types.Context) -> Status:
        chosen = chosen_keys(context)
        if not chosen:
            return refuse(self, NO_OWN_KEY_SELECTED)
        defaults = defaults_of(context.scene)

        def change(keys: TrackKeys) -> None:
            after = self._changed(keys.parameters(defaults)[self.parameter])
            set_parameters(keys, {self.parameter: after}, defaults)

        report = for_each_edited_track(chosen, defaults, change)
        return finish(self, report, rpt_("Set {:s}", report.counts))

    def invoke(self, context: Any, event: bpy.types.Event) -> Status:
        self._chosen = chosen_keys(context)
        if not self._chosen:
            return refuse(self, NO_OWN_KEY_SELECTED)
        if context.area is None:
            return refuse(self, rpt_("No editor to drag in. In scripts, set the amount"))
        defaults = defaults_of(context.scene)
        self._drag = ParameterDrag(self._chosen, defaults)
        try:
            keep_result_notes(self._drag.begin())
            self._chosen = self._drag.chosen
            self._before = np.concatenate([keys.parameters(defaults)[self.parameter] for keys in self._chosen])
        except AnimationError as refusal:
            self._drag.take_back()
            return refuse(self, refusal)
        self._area: Any = context.area
        self._mouse_x, self._typed = event.mouse_x, ""
        self._mouse_change = 0.0
        """Change of the parameter by the mouse."""
        # Before the mouse moves, this reports keys that cannot be changed.
        status = self._apply(context, snap=False, is_confirmed=False)
        if status == {"RUNNING_MODAL"}:
            context.window_manager.modal_handler_add(self)
        return status

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        if event.type in {"ESC", "RIGHTMOUSE"}:
            self.cancel(context)
            return {"CANCELLED"}
        if event.type in {"RET", "NUMPAD_ENTER", "LEFTMOUSE"} and event.value == "PRESS":
            return self._apply(context, snap=event.ctrl, is_confirmed=True)
        if event.type == "MOUSEMOVE":
            movement = (event.mouse_x - self._mouse_x) / self._pixels_per_unit(context)
            self._mouse_change += movement * (_PRECISION_FACTOR if event.shift else 1.0)
            self._mouse_x = event.mouse_x
        elif (typed := typed_after(self._typed, event)) is not None:
            self._typed = typed
        elif event.type not in {"LEFT_CTRL", "RIGHT_CTRL"}:
            return {"RUNNING_MODAL"}
        return self._apply(context, snap=event.ctrl, is_confirmed=False)

    def cancel(self, context: bpy.types.Context) -> None:
        """Restore the keys. Blender also calls this when it closes the window or loads a file."""
        self._drag.take_back()
        show_in_headers(context, self._area, None, None)

    def _apply(self, context: bpy.types.Context, snap: bool, is_confirmed: bool) -> Status:
        """Set the typed value, or else change the values as the mouse has moved."""
        typed = self._typed_value(context)
        self.absolute = typed is not None
        self.amount = self._snapped_change(snap) if typed is None else typed
        after = self._changed(self._before)
        given = [{self.parameter: numbers} for _, numbers in split_by_track(self._chosen, after)]
        try:
            errors = (self._drag.finish if is_confirmed else self._drag.to)(given)
        except AnimationError as refusal:
            errors = [refusal]
        except BaseException:
            # Otherwise, the preview of the unfinished drag would remain.
            self.cancel(context)
            raise
        if errors:
            self.cancel(context)
            return refuse(self, errors[0])
        if is_confirmed:
            show_in_headers(context, self._area, None, None)
            return {"FINISHED"}
        self._show_state(context, after)
        return {"RUNNING_MODAL"}

    def _changed(self, before: Numbers) -> Numbers:
        numbers = np.full(len(before), self.amount) if self.absolute else before + self.amount
        after: Numbers = np.clip(numbers, *LIMITS[self.parameter])
        return after

    def _snapped_change(self, snap: bool) -> float:
        low, high = LIMITS[self.parameter]
        step = (high - low) / _SNAP_STEPS
        return round(self._mouse_change / step) * step if snap else self._mouse_change

    def _typed_value(self, context: bpy.types.Context) -> float | None:
        """Return the typed parameter within its limits, or None if no number was typed."""
        try:
            number = float(self._typed)
        except ValueError:
            return None
        low, high = LIMITS[self.parameter]
        value = from_50(self.parameter, number) if preferences.shows_numbers_of_50(context) else number
        return min(max(value, low), high)

    def _pixels_per_unit(self, context: Any) -> float:
        low, high = LIMITS["tension"]
        return float(_PIXELS_OF_RANGE * context.preferences.system.ui_scale / (high - low))

    def _show_state(self, context: bpy.types.Context, after: Numbers) -> None:
        label = iface_(DESCRIPTIONS[self.parameter][0], msgctxt=contexts.id_action)
        low, high = (self._number(context, value) for value in (after.min(), after.max()))
        values = low if low == high else f"{low} … {high}"
        typed = f"  [{self._typed}|]" if self._typed else ""
        keys = iface_("1 key") if len(after) == 1 else iface_("{:d} keys", len(after))
        hint = iface_("Enter or click: confirm, Esc: cancel, Ctrl: snap, Shift: precision, or type a number")
        show_in_headers(context, self._area, f"{label}: {values}{typed}   ({keys})", hint)

    def _number(self, context: bpy.types.Context, value: float) -> str:
        if preferences.shows_numbers_of_50(context):
            return number_text(of_50(self.parameter, value), 1)
        return number_text(value, 3)


_DIGITS = frozenset("0123456789.-")


def typed_after(text: str, event: bpy.types.Event) -> str | None:
    """Return the number typed during a drag, including the event, or None if the event does not change the number."""
    if event.value != "PRESS":
        return None
    if event.type == "BACK_SPACE":
        return text[:-1]
    return text + event.unicode if event.unicode and event.unicode in _DIGITS else None


def show_in_headers(context: Any, area: bpy.types.Area, header: str | None, status: str | None) -> None:
    """Show texts in the area's header and the status bar, and redraw. None restores Blender's own texts."""
    area.header_text_set(header)
    context.workspace.status_text_set(status)
    redraw_editors()
