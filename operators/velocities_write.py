# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the velocities of TCB tracks as custom properties."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty

from ..animation.edit.velocities import Velocities, has_velocities, write_velocities
from ..animation.translation import n_, rpt_, translated
from ..ui import selection
from ..ui.bake_options import step
from ..ui.redraw import layout_of
from ..ui.reporting import Status, finish, for_each
from .import_table import rate_of
from .on_selection import NOTHING_IS_TCB, OnSelection

QUANTITY_ITEMS = (
    ("VELOCITY", "Velocity", "Velocity per component, of rotations in radians about the parent's axes"),
    ("ACCELERATION", "Acceleration", "Change of the velocity"),
    ("SPEED", "Speed", "Length of the velocity"),
)
UNIT_ITEMS = (
    ("FRAME", "Per Frame", "Units per frame, of accelerations per frame squared"),
    ("SECOND", "Per Second", "Units per second, of accelerations per second squared"),
)


class TCB_OT_velocities_write(OnSelection, bpy.types.Operator):
    """Write velocities of TCB tracks as animated custom properties, or remove them"""

    bl_idname = "tcb.velocities_write"
    bl_label = "Write Velocities"

    works_on = "TCB"
    nothing = NOTHING_IS_TCB

    quantities: EnumProperty(
        name="Quantities",
        description="Quantities to write",
        items=QUANTITY_ITEMS,
        options={"ENUM_FLAG"},
        default={"VELOCITY", "ACCELERATION", "SPEED"},
    )
    unit: EnumProperty(name="Units", description="Unit of time", items=UNIT_ITEMS)
    step: step(soft_min=0.05)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Allow objects from which TCB was removed, too: what was written can still be removed."""
        selected = selection.selected_datablocks(context, use_data=True)
        return super().poll(context) or any(
            has_velocities(*datablock_and_paths) for datablock_and_paths in selected.items()
        )

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in ("quantities", "unit", "step", "use_data"):
            layout.prop(self, name)

    def execute(self, context: bpy.types.Context) -> Status:
        given: Any = self
        defaults = selection.default_parameters(context)
        try:
            how = Velocities(frozenset(given.quantities), given.step, given.unit, rate_of(context), defaults)
        except ValueError as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        report = for_each(
            selection.selected_datablocks(context, self.use_data),
            lambda datablock, prefixes: write_velocities(datablock, prefixes, how),
        )
        done = n_("Wrote velocities of {:s}") if how.quantities else n_("Removed velocities of {:s}")
        return finish(self, report, rpt_(done, report.counts))
