# SPDX-License-Identifier: GPL-3.0-or-later
"""Operator that writes velocities as animated custom properties."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation import Velocities, write_velocities_many
from ..animation.edit.velocities import has_velocities
from ..animation.options import VELOCITIES
from ..animation.scene_time import frame_rate
from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.layouts import draw_properties, layout_of
from ..ui.operator_results import Status, finish, refuse
from ..ui.option_properties import property_of
from ..ui.scene import defaults_of
from .on_selection import NOTHING_IS_TCB, OnSelection


class TCB_OT_velocities_write(OnSelection, bpy.types.Operator):
    """Write velocities of TCB tracks as animated custom properties, or remove these properties"""

    bl_idname = "tcb.velocities_write"
    bl_label = "Write Velocities"

    works_on = "TCB"
    nothing = NOTHING_IS_TCB

    quantities: property_of(VELOCITIES["quantities"])
    unit: property_of(VELOCITIES["unit"])
    step: property_of(VELOCITIES["step"])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Allow objects without TCB tracks, because velocities written earlier can still be removed."""
        selected = selection.selected_datablocks(context, use_data=True)
        return super().poll(context) or any(
            has_velocities(datablock, prefixes) for datablock, prefixes in selected.items()
        )

    def draw(self, _context: bpy.types.Context) -> None:
        draw_properties(layout_of(self), self, ("quantities", "unit", "step", "use_data"))

    def execute(self: Any, context: bpy.types.Context) -> Status:
        defaults = defaults_of(context.scene)
        try:
            velocities = Velocities(
                frozenset(self.quantities), self.step, self.unit, frame_rate(context.scene), defaults
            )
        except ValueError as error:
            return refuse(self, error)
        selected = selection.selected_datablocks(context, self.use_data)
        report = write_velocities_many(selected, how=velocities)
        result = n_("Wrote velocities of {:s}") if velocities.quantities else n_("Removed velocities of {:s}")
        return finish(self, report, rpt_(result, report.counts))
