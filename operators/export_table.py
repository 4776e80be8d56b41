# SPDX-License-Identifier: GPL-3.0-or-later
"""Export keys, or the motion, as a table."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ..animation import AnimationError
from ..animation.options import EXPORT_TABLE
from ..animation.tables.export_table import TableContent, export_table
from ..animation.translation import rpt_, translated
from ..formats import table
from ..ui.frame_ranges import RANGE_ITEMS, range_end, range_start
from ..ui.option_properties import property_of
from ..ui.redraw import layout_of
from ..ui.reporting import Status, finish
from .files import path_of, write_file
from .import_table import active_bone, poll_active, rate_of


class EXPORT_ANIM_OT_tcb_table(bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export tracks of the active object, or bone in Pose mode, as a table (CSV)"""

    bl_idname = "export_anim.tcb_table"
    bl_label = "Export Table of Keys"
    bl_options = {"PRESET"}

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})

    content: property_of(EXPORT_TABLE["content"])
    step: property_of(EXPORT_TABLE["step"])
    frames: EnumProperty(name="Frames", description="Range of the motion to write", items=RANGE_ITEMS)
    # Here `frame_start` is the frame that the table begins with.
    range_start: range_start()
    range_end: range_end()
    rotation: property_of(EXPORT_TABLE["rotation"])
    unit: property_of(EXPORT_TABLE["unit"])
    frame_start: property_of(EXPORT_TABLE["frame_start"])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_active(cls, context)

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "content")
        if self.content == "MOTION":
            layout.prop(self, "step")
            layout.prop(self, "frames")
            if self.frames == "CUSTOM":
                layout.prop(self, "range_start")
                layout.prop(self, "range_end")
        layout.prop(self, "rotation")
        layout.prop(self, "unit")
        layout.prop(self, "frame_start")

    def execute(self, context: bpy.types.Context) -> Status:
        given: Any = self
        obj = context.object
        assert obj is not None
        try:
            how = TableContent(
                given.content,
                self.step,
                self._range(context),
                given.unit,
                rate_of(context),
                self.frame_start,
                given.rotation,
            )
            made, report = export_table(obj, how, active_bone(context), context.scene)
            write_file(path_of(given.filepath), table.write(made))
        except (AnimationError, ValueError, OSError) as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        return finish(self, report, rpt_("Exported {:s}", report.counts))

    def _range(self, context: bpy.types.Context) -> tuple[float, float] | None:
        scene: Any = context.scene
        if self.frames == "SCENE":
            return float(scene.frame_start), float(scene.frame_end)
        return (self.range_start, self.range_end) if self.frames == "CUSTOM" else None
