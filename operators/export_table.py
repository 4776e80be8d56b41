# SPDX-License-Identifier: GPL-3.0-or-later
"""Export keys as a table."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper

from ..animation import AnimationError, export_table
from ..animation.translation import rpt_, translated
from ..formats import table
from ..ui.reporting import Status, finish
from .files import path_of, write_file
from .import_table import active_bone, poll_active


class EXPORT_ANIM_OT_tcb_table(bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export keys of the active object, or bone in Pose mode, as a table (CSV)"""

    bl_idname = "export_anim.tcb_table"
    bl_label = "Export Table of Keys"

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_active(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        given: Any = self
        obj = context.object
        assert obj is not None
        try:
            made, report = export_table(obj, active_bone(context))
            write_file(path_of(given.filepath), table.write(made))
        except (AnimationError, ValueError, OSError) as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        return finish(self, report, rpt_("Exported {:s}", report.counts))
