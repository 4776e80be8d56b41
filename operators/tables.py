# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that import and export tables of keys."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..animation import AnimationError, TableKeys, export_table, import_table
from ..animation.options import IMPORT_TABLE
from ..animation.scene_time import frame_rate
from ..animation.steps import IMPORT_STEPS
from ..animation.store.paths import bone_path
from ..animation.text import rpt_, translated
from ..formats import table
from ..ui import selection
from ..ui.operator_results import Status, finish, refuse
from ..ui.option_properties import property_of
from .on_selection import Progress, poll_active
from .three_ds import path_of, read_file, write_file


class IMPORT_ANIM_OT_tcb_table(bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Import a table (CSV) as keys of the active object, or bone in Pose Mode"""

    bl_idname = "import_anim.tcb_table"
    bl_label = "Import Table of Keys"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv;*.tsv;*.txt", options={"HIDDEN"})

    frame_start: property_of(IMPORT_TABLE["frame_start"])
    use_tcb: property_of(IMPORT_TABLE["use_tcb"])
    use_replace: property_of(IMPORT_TABLE["replace"])

    poll = classmethod(poll_active)

    def execute(self: Any, context: bpy.types.Context) -> Status:
        path = path_of(self.filepath)
        try:
            options = TableKeys(self.frame_start, frame_rate(context.scene), self.use_tcb, self.use_replace)
            content = table.read(read_file(path))
        except table.TableError as error:
            return refuse(self, rpt_("{:s}: {:s}", path.name, translated(error)))
        except (ValueError, OSError) as error:
            return refuse(self, error)
        obj, bone = _object_and_bone_path(context)
        try:
            with closing(Progress(context.window_manager, IMPORT_STEPS)) as progress:
                report = import_table(obj, content, options, bone, progress)
        except AnimationError as refusal:
            return refuse(self, refusal)
        return finish(self, report, rpt_("Imported {:s}", report.counts))


def _object_and_bone_path(context: bpy.types.Context) -> tuple[Any, str]:
    """Return the active object or, in Pose Mode, the object and the path of the bone in the tab."""
    bone = selection.active_bone(context)
    return (bone.id_data, bone_path(bone)) if bone else (context.object, "")


class EXPORT_ANIM_OT_tcb_table(bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export keys of the active object, or bone in Pose Mode, as a table (CSV)"""

    bl_idname = "export_anim.tcb_table"
    bl_label = "Export Table of Keys"

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})

    poll = classmethod(poll_active)

    def execute(self: Any, context: bpy.types.Context) -> Status:
        try:
            content, report = export_table(*_object_and_bone_path(context))
            write_file(path_of(self.filepath), table.write(content))
        except (AnimationError, ValueError, OSError) as error:
            return refuse(self, error)
        return finish(self, report, rpt_("Exported {:s}", report.counts))
