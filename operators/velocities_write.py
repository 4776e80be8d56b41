# SPDX-License-Identifier: GPL-3.0-or-later
"""Write how TCB tracks move: as custom properties, or as a table."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ..animation import AnimationError
from ..animation.options import VELOCITIES
from ..animation.tables.velocities import Velocities, has_velocities, velocity_table, write_velocities
from ..animation.translation import n_, rpt_, translated
from ..formats import table
from ..ui import selection
from ..ui.frame_ranges import RANGE_ITEMS, CustomRange, frame_range
from ..ui.option_properties import property_of
from ..ui.reporting import Status, finish, for_each, poll_selection
from .files import path_of, write_file
from .import_table import rate_of
from .on_selection import NOTHING_IS_TCB, OnSelection, WithData

_OPTIONS = ("quantities", "unit", "step", "frames")


class _Options(CustomRange):
    """Options of both operators."""

    quantities: property_of(VELOCITIES["quantities"])
    unit: property_of(VELOCITIES["unit"])
    step: property_of(VELOCITIES["step"])
    frames: EnumProperty(name="Frames", description="Quantities to write", items=RANGE_ITEMS)

    def draw(self, _context: bpy.types.Context) -> None:
        given: Any = self
        layout: bpy.types.UILayout = given.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in _OPTIONS:
            layout.prop(self, name)
        if given.frames == "CUSTOM":
            layout.prop(self, "frame_start")
            layout.prop(self, "frame_end")
        layout.prop(self, "use_data")

    def how(self, context: bpy.types.Context) -> Velocities:
        """Return the quantities and scale. Raises ValueError where the options make no sense."""
        given: Any = self
        scene: Any = context.scene
        return Velocities(
            frozenset(given.quantities),
            given.step,
            given.unit,
            rate_of(context),
            frame_range(given, scene),
            selection.default_parameters(context),
        )


class TCB_OT_velocities_write(_Options, OnSelection, bpy.types.Operator):
    """Write velocities of TCB tracks as animated custom properties, or remove them"""

    bl_idname = "tcb.velocities_write"
    bl_label = "Write Velocities"

    works_on = "TCB"
    nothing = NOTHING_IS_TCB

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Allow objects from which TCB was removed, too: what was written can still be removed."""
        selected = selection.selected_datablocks(context, use_data=True)
        return super().poll(context) or any(
            has_velocities(*datablock_and_paths) for datablock_and_paths in selected.items()
        )

    def execute(self, context: bpy.types.Context) -> Status:
        try:
            how = self.how(context)
        except ValueError as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        report = for_each(
            selection.selected_datablocks(context, self.use_data),
            lambda datablock, prefixes: write_velocities(datablock, prefixes, how),
        )
        done = n_("Wrote velocities of {:s}") if how.quantities else n_("Removed velocities of {:s}")
        return finish(self, report, rpt_(done, report.counts))


class EXPORT_ANIM_OT_tcb_velocities(_Options, WithData, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export velocities of selected objects' TCB tracks, in Pose mode of bones, as a table"""

    bl_idname = "export_anim.tcb_velocities"
    bl_label = "Export Velocities"
    bl_options = {"PRESET"}

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_selection(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        given: Any = self
        try:
            made, report = velocity_table(selection.selected_datablocks(context, self.use_data), self.how(context))
            write_file(path_of(given.filepath), table.write(made))
        except (AnimationError, ValueError, OSError) as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        return finish(self, report, rpt_("Exported velocities of {:s}", report.counts))
