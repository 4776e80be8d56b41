# SPDX-License-Identifier: GPL-3.0-or-later
"""Export keys, or the motion, as a table."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.translations import contexts
from bpy.props import EnumProperty, FloatProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ..animation import AnimationError
from ..animation.tables.export_table import TableContent, export_table
from ..animation.translation import rpt_, translated
from ..formats import table
from ..ui.frame_ranges import RANGE_ITEMS, range_end, range_start
from ..ui.redraw import layout_of
from ..ui.reporting import Status, finish
from .files import path_of, write_file
from .import_table import active_bone, poll_active, rate_of

CONTENT_ITEMS = (
    ("KEYS", "Keys", "A row per frame with keys, with their own numbers"),
    ("MOTION", "Motion", "A row per step with the motion, baked or not"),
)
ROTATION_ITEMS = (
    ("OBJECT", "As They Are", "Numbers of the channels, exact, with Euler angles in radians"),
    ("QUATERNION", "Quaternions", "Unit quaternions w, x, y, z, each of the sign nearer to the one before"),
    ("EULER_DEGREES", "Euler Angles in Degrees", "Euler angles in the object's order, or in XYZ"),
    ("MATRIX", "Matrices", "Nine numbers, row by row"),
)
UNIT_ITEMS = (
    ("FRAME", "Frames", "The first column counts frames"),
    ("SECOND", "Seconds", "The first column counts seconds"),
)


class EXPORT_ANIM_OT_tcb_table(bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export tracks of the active object, or bone in Pose mode, as a table (CSV)"""

    bl_idname = "export_anim.tcb_table"
    bl_label = "Export Table of Keys"
    bl_options = {"PRESET"}

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})

    content: EnumProperty(
        name="Rows",
        description="Contents of the rows",
        items=CONTENT_ITEMS,
        translation_context=contexts.id_action,
    )
    step: FloatProperty(name="Step", description="Frames from row to row", default=1.0, soft_min=0.05, soft_max=10)
    frames: EnumProperty(name="Frames", description="Range of the motion to write", items=RANGE_ITEMS)
    # Here `frame_start` is the frame that the table begins with.
    range_start: range_start()
    range_end: range_end()
    rotation: EnumProperty(
        name="Rotations",
        description="Format of rotations",
        items=ROTATION_ITEMS,
        translation_context=contexts.id_action,
    )
    unit: EnumProperty(name="Time", description="Unit of the first column", items=UNIT_ITEMS)
    frame_start: FloatProperty(
        name="Start Frame", description="Frame that becomes frame 0, or second 0, of the table", default=0.0
    )

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
