# SPDX-License-Identifier: GPL-3.0-or-later
"""Select keys by their parameters."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .. import preferences, selection, words
from ..animation.companions import PARAMETERS
from ..animation.faults import Refusal
from ..animation.selected_keys import Numbers, deselect, select
from ..properties import DESCRIPTIONS, MAX, from_50, of_50
from .reporting import Status, redraw_editors

PARAMETER_ITEMS = [(name, *DESCRIPTIONS[name]) for name in PARAMETERS]
_SAME = 1e-5
"""Numbers nearer than this are the same: typed ones are float32."""


def _value_of_50(operator: Any) -> float:
    return of_50(operator.parameter, operator.value)


def _set_value_of_50(operator: Any, number: float) -> None:
    operator.value = from_50(operator.parameter, number)


class TCB_OT_key_select(bpy.types.Operator):
    """Select the keys of which a parameter is above or below a number, is set, or is that of a selected key"""

    bl_idname = "tcb.key_select"
    bl_label = "Select Keys by TCB Parameter"
    bl_options = {"REGISTER", "UNDO"}

    condition: EnumProperty(
        name="Keys",
        description="Which keys are selected",
        items=[
            ("ABOVE", "Above", "The parameter is larger than the value"),
            ("BELOW", "Below", "The parameter is smaller than the value"),
            ("SET", "Not Default", "Any parameter is another than its default"),
            ("SAME", "Same as Selected", "The parameter is the same as that of a selected key"),
        ],
    )
    parameter: EnumProperty(name="Parameter", description="What is looked at", items=PARAMETER_ITEMS)
    value: FloatProperty(name="Value", description="What the parameter is compared with", min=-1.0, max=1.0)
    value_of_50: FloatProperty(
        name="Value",
        description="What the parameter is compared with",
        min=0.0,
        max=MAX,
        get=_value_of_50,
        set=_set_value_of_50,
        options={"SKIP_SAVE"},
    )
    extend: BoolProperty(name="Extend", description="Leave selected what is")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not selection.in_animation_editor(context):
            cls.poll_message_set("In the Dope Sheet or the Graph Editor")
            return False
        return True

    def draw(self, context: bpy.types.Context) -> None:
        layout: Any = self.layout
        layout.use_property_split = True
        layout.prop(self, "condition")
        if self.condition != "SET":
            layout.prop(self, "parameter")
        if self.condition in ("ABOVE", "BELOW"):
            layout.prop(self, "value_of_50" if preferences.numbers_of_50(context) else "value")
        layout.prop(self, "extend")

    def execute(self, context: bpy.types.Context) -> Status:
        defaults = selection.default_parameters(context)
        keys_shown = selection.shown_keys(context)
        try:
            numbers = [keys.parameters(defaults) for keys in keys_shown]
        except Refusal as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        of_selected = [own[self.parameter][keys.selected] for keys, own in zip(keys_shown, numbers, strict=True)]
        wanted = np.unique(np.concatenate([np.empty(0), *of_selected]))
        if not self.extend:
            deselect(selection.editable_fcurves(context))
        count = 0
        for keys, own in zip(keys_shown, numbers, strict=True):
            found = keys.take(self._meets(own, wanted, defaults))
            if len(found):
                select(found)
            count += len(found)
        redraw_editors()
        self.report({"INFO"}, words.report("Keys selected: {:d}", count))
        return {"FINISHED"}

    def _meets(self, own: dict[str, Numbers], wanted: Numbers, defaults: dict[str, float]) -> Any:
        """Which keys meet the condition, of the numbers of one track's."""
        numbers = own[self.parameter]
        if self.condition == "ABOVE":
            return numbers > self.value + _SAME
        if self.condition == "BELOW":
            return numbers < self.value - _SAME
        if self.condition == "SET":
            return np.any([np.abs(own[name] - defaults.get(name, 0.0)) > _SAME for name in PARAMETERS], axis=0)
        return (np.abs(numbers[:, np.newaxis] - wanted) <= _SAME).any(axis=1)
