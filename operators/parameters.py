# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that set parameters and the interpolation of keys: with the mouse, by a dialog, or from a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import bpy
import numpy as np
from bpy.app.translations import contexts
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, StringProperty

from ..animation import find_track
from ..animation.edit.parameter_drag import ParameterDrag
from ..animation.edit.parameters import set_parameters
from ..animation.edit.track_keys import TrackKeys, interpolations_of, key_at
from ..animation.report import AnimationError, Finding
from ..animation.store.parameters import LIMITS, Numbers, velocity_size
from ..animation.store.table.rows import PARAMETERS, VELOCITY, velocity_of
from ..animation.text import iface_, number_text, rpt_
from ..ui import preferences, selection
from ..ui.chosen_keys import chosen_keys, chosen_parameters, in_animation_editor
from ..ui.layouts import layout_of
from ..ui.operator_results import (
    Status,
    finish,
    for_each_edited_track,
    for_each_track,
    for_named_track,
    keep_result_notes,
    refuse,
)
from ..ui.redraw import redraw_editors
from ..ui.scene import action_frame, defaults_of
from ..ui.sliders.parameter_sliders import DESCRIPTIONS, Of50, displayed, from_50, is_mixed, parameter, slider_names
from ..ui.sliders.slider_drag import split_by_track
from .on_selection import NO_OWN_KEY_SELECTED, OnKeys, poll_keys, poll_selection

# Operator that sets parameters and the interpolation of keys, by a dialog or from a script


class TCB_OT_key_set(Of50, bpy.types.Operator):
    """Set TCB parameters and interpolation of the selected or shown keys"""

    bl_idname = "tcb.key_set"
    bl_label = "Set TCB Parameters"
    bl_options = {"REGISTER", "UNDO"}

    track: StringProperty(
        name="Track",
        description="Data path of the animated property, or 'rotation' for the current rotation mode",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    frame: FloatProperty(
        name="Frame",
        description="Frame of the key, by default the current frame",
        options={"SKIP_SAVE", "HIDDEN"},
    )
    tension: parameter("tension", options={"SKIP_SAVE"})
    continuity: parameter("continuity", options={"SKIP_SAVE"})
    bias: parameter("bias", options={"SKIP_SAVE"})
    ease_to: parameter("ease_to", options={"SKIP_SAVE"})
    ease_from: parameter("ease_from", options={"SKIP_SAVE"})
    velocity: FloatVectorProperty(
        name="Velocity",
        description="Velocity per frame, as three components. For rotations: in radians, about the parent's axes",
        size=3,
        options={"SKIP_SAVE"},
    )
    interpolation: EnumProperty(
        name="Interpolation",
        description="Interpolation after the keys. Bezier uses TCB, and other types work as usual",
        items=[
            (item.identifier, item.name, item.description, item.icon, item.value)
            for item in bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items
        ],
        default="BEZIER",
        options={"SKIP_SAVE"},
    )

    _kept: Mapping[str, float | str] = MappingProxyType({})
    """Properties that change keys only if the user changes them: means of mixed values, and the keys' interpolation."""
    _is_by_hand = False
    """True if the dialog was opened. Plain tracks are then enabled as *Enable TCB* does."""
    _drag: ParameterDrag | None = None
    """Preview of the changes while the dialog is open."""
    _notes: Sequence[Finding] = ()
    """Notes on the tracks that the preview enabled."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_keys(cls, context) if in_animation_editor(context) else poll_selection(cls, context)

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        if self.track:
            return self.execute(context)
        chosen = chosen_keys(context)
        if not chosen:
            return refuse(self, NO_OWN_KEY_SELECTED)
        self._is_by_hand = True
        self._drag = ParameterDrag(chosen, defaults_of(context.scene))
        self._show_values_of_keys(context, chosen)
        return context.window_manager.invoke_props_dialog(self)

    def _show_values_of_keys(self, context: Any, chosen: Sequence[TrackKeys]) -> None:
        """Show the values of the chosen keys. A mean of mixed values is set only if the user changes it."""
        numbers_by_name = chosen_parameters(context)
        for name in numbers_by_name:
            setattr(self, name, getattr(context.scene.tcb, name))
        kept = [name for name, numbers in numbers_by_name.items() if is_mixed(numbers)]
        interpolations = set().union(*map(interpolations_of, chosen))
        if len(interpolations) == 1:
            self.interpolation = interpolations.pop()
            kept.append("interpolation")
        self._kept = {name: getattr(self, name) for name in kept}

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        for name, slider in slider_names(context).items():
            row = layout.row()
            row.prop(self, slider)
            if self._is_kept(name):
                row.label(text="mixed, kept")
        row = layout.row()
        row.prop(self, "interpolation")
        if not self.properties.is_property_set("interpolation"):
            row.label(text="mixed, kept")

    def check(self, _context: bpy.types.Context) -> bool:
        """Update the motion after each change in the dialog. Errors are reported on OK."""
        assert self._drag is not None
        # If nothing was changed, there is nothing to restore, and an unkeyed pose remains.
        self._notes = [*self._notes, *self._drag.begin()]
        numbers = self._given().items()
        self._drag.to([{name: np.full(len(keys), number) for name, number in numbers} for keys in self._drag.chosen])
        redraw_editors()
        return True

    def cancel(self, _context: bpy.types.Context) -> None:
        """Restore the keys. Blender calls this when the user closes the dialog without OK."""
        if self._drag is not None:
            self._drag.take_back()
        redraw_editors()

    def execute(self, context: bpy.types.Context) -> Status:
        if self._drag is not None:
            self._drag.finish_at_last_step()
        status = self._set_given(context)
        if status == {"CANCELLED"}:
            # There is no undo step with the changes of the preview.
            self.cancel(context)
        # Redo starts from the keys before the dialog.
        self._drag, self._notes = None, ()
        return status

    def _set_given(self, context: bpy.types.Context) -> Status:
        properties = self.properties
        for name in filter(self._is_kept, self._kept):
            properties.property_unset(name)
        if not self._given() and not any(map(properties.is_property_set, (VELOCITY, "interpolation"))):
            names = ", ".join((*PARAMETERS, VELOCITY, "interpolation"))
            return refuse(self, rpt_("Nothing to set. Give one of {:s}", names))
        return self._set_named(context) if self.track else self._set_selected(context)

    def _set_selected(self, context: bpy.types.Context) -> Status:
        defaults = defaults_of(context.scene)
        chosen, work = chosen_keys(context), lambda keys: self._set(keys, defaults)
        report = for_each_edited_track(chosen, defaults, work) if self._is_by_hand else for_each_track(chosen, work)
        report.notes[:0] = self._notes
        return finish(self, report, rpt_("Set {:s}", report.counts), NO_OWN_KEY_SELECTED)

    def _set_named(self, context: bpy.types.Context) -> Status:
        """Set the key at the frame in the named track of each selected object or bone."""
        defaults = defaults_of(context.scene)
        has_frame = self.properties.is_property_set("frame")

        def set_at_frame(datablock: bpy.types.ID, path: str) -> None:
            frame = self.frame if has_frame else action_frame(context, datablock)
            self._set(key_at(datablock, find_track(datablock, path), frame), defaults)

        report = for_named_track(selection.owners_of(context, self.track), self.track, set_at_frame, keys=1)
        return finish(self, report, rpt_("Set {:s}", report.counts))

    def _set(self, keys: TrackKeys, defaults: Mapping[str, float]) -> None:
        is_given = self.properties.is_property_set
        velocity = self.velocity[: velocity_size(keys.track)] if is_given(VELOCITY) else ()
        velocities = {velocity_of(component): number for component, number in enumerate(velocity)}
        interpolation = self.interpolation if is_given("interpolation") else None
        set_parameters(keys, {**self._given(), **velocities}, defaults, interpolation)

    def _given(self) -> dict[str, float]:
        """Return the parameters to set, except mixed values that are kept."""
        names = [name for name in PARAMETERS if self.properties.is_property_set(name) and not self._is_kept(name)]
        return {name: getattr(self, name) for name in names}

    def _is_kept(self, name: str) -> bool:
        """Return whether the keys keep their own values, because the user has not changed the property."""
        return name in self._kept and bool(getattr(self, name) == self._kept[name])


# Operator that changes one parameter of the selected or shown keys with the mouse, or with a typed number


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
        low, high = (number_text(*displayed(context, self.parameter, value)) for value in (after.min(), after.max()))
        values = low if low == high else f"{low} … {high}"
        typed = f"  [{self._typed}|]" if self._typed else ""
        keys = iface_("1 key") if len(after) == 1 else iface_("{:d} keys", len(after))
        hint = iface_("Enter or click: confirm, Esc: cancel, Ctrl: snap, Shift: precision, or type a number")
        show_in_headers(context, self._area, f"{label}: {values}{typed}   ({keys})", hint)


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
