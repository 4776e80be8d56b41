# SPDX-License-Identifier: GPL-3.0-or-later
"""Operator that sets parameters and the interpolation of keys, by a dialog or from a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty, StringProperty

from ..animation import find_track
from ..animation.edit.parameter_drag import ParameterDrag
from ..animation.edit.set_parameters import set_parameters
from ..animation.edit.track_keys import TrackKeys, interpolations_of, key_at
from ..animation.errors import Finding
from ..animation.store.parameters import velocity_size
from ..animation.store.table.rows import PARAMETERS, VELOCITY, velocity_of
from ..animation.translation import rpt_
from ..ui import selection
from ..ui.chosen_keys import chosen_keys, chosen_parameters, in_animation_editor
from ..ui.layouts import layout_of
from ..ui.operator_results import Status, finish, for_each_edited_track, for_each_track, for_named_track, refuse
from ..ui.option_properties import Of50, parameter, slider_names
from ..ui.redraw import redraw_editors
from ..ui.scene import action_frame, defaults_of
from ..ui.sliders.shared_slider import is_mixed
from .on_selection import NO_OWN_KEY_SELECTED, poll_keys, poll_selection


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
