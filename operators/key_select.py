# SPDX-License-Identifier: GPL-3.0-or-later
"""Operator that selects keys by parameters, or by velocities if the method uses velocities."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.app.translations import contexts
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..animation.edit.selected_keys import deselect, select
from ..animation.edit.track_keys import TrackKeys, goes_by_velocities
from ..animation.errors import AnimationError
from ..animation.store.parameters import Numbers
from ..animation.store.table.rows import PARAMETERS, VELOCITY
from ..animation.translation import rpt_
from ..ui import preferences, selection
from ..ui.chosen_keys import editable_fcurves, in_animation_editor, shown_keys
from ..ui.redraw import layout_of, redraw_editors
from ..ui.reporting import Status
from ..ui.sliders.key_fields import DESCRIPTIONS
from ..ui.sliders.numbers_of_50 import MAX, from_50, of_50

PARAMETER_ITEMS = [(name, *DESCRIPTIONS[name]) for name in PARAMETERS]
_ITEMS = [*PARAMETER_ITEMS, (VELOCITY, "Velocity", "Magnitude of the velocity, for methods that use velocities")]
_SAME = 1e-5
"""Values closer than this are equal, because typed values are float32."""


def _value_of_50(operator: Any) -> float:
    return of_50(operator.parameter, operator.value) if operator.parameter in PARAMETERS else 0.0


def _set_value_of_50(operator: Any, number: float) -> None:
    if operator.parameter in PARAMETERS:
        operator.value = from_50(operator.parameter, number)


_Kind = tuple[bool, int]


def _values(keys: TrackKeys, defaults: dict[str, float]) -> dict[str, Numbers]:
    """Return the values of each parameter, shape (n, components). Velocities have no columns if they are not used."""
    numbers = {name: own[:, np.newaxis] for name, own in keys.parameters(defaults).items()}
    return numbers | {VELOCITY: keys.velocities() if goes_by_velocities(keys.track) else np.empty((len(keys), 0))}


def _kind(keys: TrackKeys, parameter: str, rows: Numbers) -> _Kind:
    """Return the kind of the values. Values of different kinds are never equal."""
    return parameter == VELOCITY and keys.track.is_rotation, rows.shape[1]


class TCB_OT_key_select(bpy.types.Operator):
    """Select keys by comparing a parameter with a value or a selected key"""

    bl_idname = "tcb.key_select"
    bl_label = "Select Keys by TCB Parameter"
    bl_options = {"REGISTER", "UNDO"}

    condition: EnumProperty(
        name="Keys",
        description="Condition for selection",
        translation_context=contexts.id_action,
        items=[
            ("ABOVE", "Above", "The parameter is greater than the value"),
            ("BELOW", "Below", "The parameter is less than the value"),
            ("SET", "Not Default", "Any parameter differs from its default"),
            ("SAME", "Same as Selected", "The parameter equals a selected key's parameter"),
        ],
    )
    parameter: EnumProperty(
        name="Parameter", description="Parameter to compare", items=_ITEMS, translation_context=contexts.id_action
    )
    value: FloatProperty(name="Value", description="Value to compare with", soft_min=-1.0, soft_max=1.0)
    value_of_50: FloatProperty(
        name="Value",
        description="Value to compare with, from 0 to 50",
        min=0.0,
        max=MAX,
        get=_value_of_50,
        set=_set_value_of_50,
        options={"SKIP_SAVE"},
    )
    extend: BoolProperty(name="Extend", description="Keep the current selection")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not in_animation_editor(context):
            cls.poll_message_set("Works only in the Dope Sheet and the Graph Editor")
            return False
        return True

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        layout.prop(self, "condition")
        if self.condition != "SET":
            layout.prop(self, "parameter")
        if self.condition in ("ABOVE", "BELOW"):
            of_max = self.parameter in PARAMETERS and preferences.shows_numbers_of_50(context)
            layout.prop(self, "value_of_50" if of_max else "value")
        layout.prop(self, "extend")

    def execute(self, context: bpy.types.Context) -> Status:
        defaults = selection.default_parameters(context)
        shown = shown_keys(context)
        try:
            values = [_values(keys, defaults) for keys in shown]
        except AnimationError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        wanted = self._of_selected(shown, values) if self.condition == "SAME" else {}
        if not self.extend:
            deselect(editable_fcurves(context))
        count = 0
        for keys, rows in zip(shown, values, strict=True):
            found = keys.take(self._meets(keys, rows, wanted, defaults))
            if len(found):
                select(found)
            count += len(found)
        redraw_editors()
        self.report({"INFO"}, rpt_("Keys selected: {:d}", count))
        return {"FINISHED"}

    def _of_selected(self, shown: list[TrackKeys], values: list[dict[str, Numbers]]) -> dict[_Kind, Numbers]:
        """Return the values of the parameter on selected keys."""
        found: dict[_Kind, list[Numbers]] = {}
        for keys, own in zip(shown, values, strict=True):
            rows = own[self.parameter]
            found.setdefault(_kind(keys, self.parameter, rows), []).append(rows[keys.selected])
        return {kind: np.unique(np.concatenate(rows), axis=0) for kind, rows in found.items()}

    def _meets(
        self, keys: TrackKeys, own: dict[str, Numbers], wanted: dict[_Kind, Numbers], defaults: dict[str, float]
    ) -> Any:
        """Return a mask of the track's keys that meet the condition."""
        if self.condition == "SET":
            differ = [np.abs(rows - defaults.get(name, 0.0)) > _SAME for name, rows in own.items() if name != VELOCITY]
            return np.concatenate([*differ, own[VELOCITY] != 0.0], axis=1).any(axis=1)
        rows: Any = own[self.parameter]
        if self.condition == "SAME":
            same = np.abs(rows[:, np.newaxis] - wanted[_kind(keys, self.parameter, rows)]) <= _SAME
            return same.all(axis=2).any(axis=1) & (rows.shape[1] > 0)
        if not rows.shape[1]:
            return np.zeros(len(keys), dtype=np.bool_)
        sizes = np.linalg.norm(rows, axis=1) if self.parameter == VELOCITY else rows[:, 0]
        return sizes > self.value + _SAME if self.condition == "ABOVE" else sizes < self.value - _SAME
