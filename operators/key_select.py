# SPDX-License-Identifier: GPL-3.0-or-later
"""Operator that selects keys by parameters, or by velocities if the method uses velocities."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class _Track:
    """The keys of a track in the editor, and the values to compare."""

    keys: TrackKeys
    parameters: dict[str, Numbers]
    velocities: Numbers
    """One row per key. No columns if the method does not use velocities."""

    @classmethod
    def of(cls, keys: TrackKeys, defaults: dict[str, float]) -> _Track:
        """Read the values of a track's keys. Raises AnimationError."""
        none = np.empty((len(keys), 0))
        return cls(keys, keys.parameters(defaults), keys.velocities() if goes_by_velocities(keys.track) else none)

    def rows(self, parameter: str) -> Numbers:
        """Return the parameter's values for each key, shape (n, components)."""
        return self.velocities if parameter == VELOCITY else self.parameters[parameter][:, np.newaxis]

    def sizes(self, parameter: str) -> Numbers:
        """Return the parameter or the magnitude of the velocity for each key, or NaN if a key has no value."""
        if parameter != VELOCITY:
            return self.parameters[parameter]
        sizes: Numbers = np.linalg.norm(self.velocities, axis=1)
        return sizes if self.velocities.shape[1] else np.full(len(self.keys), np.nan)

    def kind(self, parameter: str) -> _Kind:
        """Return the kind of the values. Values of different kinds are never equal."""
        return parameter == VELOCITY and self.keys.track.is_rotation, self.rows(parameter).shape[1]

    def is_set(self, defaults: dict[str, float]) -> Any:
        """Return a mask of keys that differ from the defaults."""
        own = [np.abs(self.parameters[name] - defaults.get(name, 0.0)) > _SAME for name in PARAMETERS]
        return np.any([*own, (self.velocities != 0.0).any(axis=1)], axis=0)


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
            ("ABOVE", "Above", "The parameter is larger than the value"),
            ("BELOW", "Below", "The parameter is smaller than the value"),
            ("SET", "Not Default", "Any parameter differs from its default"),
            ("SAME", "Same as Selected", "The parameter is the same as that of a selected key"),
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
        if not selection.in_animation_editor(context):
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
        try:
            tracks = [_Track.of(keys, defaults) for keys in selection.shown_keys(context)]
        except AnimationError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        wanted = self._of_selected(tracks)
        if not self.extend:
            deselect(selection.editable_fcurves(context))
        count = 0
        for track in tracks:
            found = track.keys.take(self._meets(track, wanted, defaults))
            if len(found):
                select(found)
            count += len(found)
        redraw_editors()
        self.report({"INFO"}, rpt_("Keys selected: {:d}", count))
        return {"FINISHED"}

    def _of_selected(self, tracks: list[_Track]) -> dict[_Kind, Numbers]:
        """Return the unique values of the parameter on selected keys."""
        found: dict[_Kind, list[Numbers]] = {}
        for track in tracks:
            found.setdefault(track.kind(self.parameter), []).append(track.rows(self.parameter)[track.keys.selected])
        return {kind: np.unique(np.concatenate(rows), axis=0) for kind, rows in found.items()}

    def _meets(self, track: _Track, wanted: dict[_Kind, Numbers], defaults: dict[str, float]) -> Any:
        """Return a mask of the track's keys that meet the condition."""
        if self.condition == "SET":
            return track.is_set(defaults)
        if self.condition == "SAME":
            rows: Any = track.rows(self.parameter)
            same = np.abs(rows[:, np.newaxis] - wanted[track.kind(self.parameter)]) <= _SAME
            return same.all(axis=2).any(axis=1) & (rows.shape[1] > 0)
        sizes = track.sizes(self.parameter)
        return sizes > self.value + _SAME if self.condition == "ABOVE" else sizes < self.value - _SAME
