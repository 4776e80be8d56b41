# SPDX-License-Identifier: GPL-3.0-or-later
"""Import keys from a table."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ImportHelper

from ..animation import AnimationError
from ..animation.datablocks import bone_path
from ..animation.options import IMPORT_TABLE
from ..animation.steps import IMPORT_STEPS
from ..animation.tables.import_table import TableKeys, import_table
from ..animation.translation import rpt_, translated
from ..formats import table
from ..ui.option_properties import property_of
from ..ui.reporting import Status, finish
from .files import path_of, read_file
from .in_steps import Progress


class IMPORT_ANIM_OT_tcb_table(bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Import a table (CSV) as keys of the active object, or bone in Pose mode"""

    bl_idname = "import_anim.tcb_table"
    bl_label = "Import Table of Keys"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv;*.tsv;*.txt", options={"HIDDEN"})

    frame_start: property_of(IMPORT_TABLE["frame_start"])
    rotation: property_of(IMPORT_TABLE["rotation"])
    use_tcb: property_of(IMPORT_TABLE["use_tcb"])
    use_replace: property_of(IMPORT_TABLE["replace"])
    use_known_only: property_of(IMPORT_TABLE["known_only"])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_active(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        given: Any = self
        path = path_of(given.filepath)
        try:
            how = TableKeys(
                self.frame_start, rate_of(context), self.use_tcb, self.use_replace, given.rotation, self.use_known_only
            )
            read = table.read(read_file(path))
        except table.TableError as error:
            self.report({"ERROR"}, rpt_("{:s}: {:s}", path.name, translated(error)))
            return {"CANCELLED"}
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        obj = context.object
        assert obj is not None
        progress = Progress(context.window_manager, IMPORT_STEPS)
        try:
            report = import_table(obj, read, how, active_bone(context), progress)
        except AnimationError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        finally:
            progress.end()
        return finish(self, report, rpt_("Imported {:s}", report.counts))


def poll_active(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Check for an active object, in Pose mode an active bone; the greyed button says that there is none."""
    if context.object is None or (context.mode == "POSE" and context.active_pose_bone is None):
        operator.poll_message_set("No active bone" if context.mode == "POSE" else "No active object")
        return False
    return True


def active_bone(context: bpy.types.Context) -> str:
    """Return the path of the active bone in Pose mode; else empty."""
    bone = context.active_pose_bone if context.mode == "POSE" else None
    return bone_path(bone) if bone else ""


def rate_of(context: bpy.types.Context) -> float:
    """Return the scene's frames a second."""
    scene: Any = context.scene
    return float(scene.render.fps / scene.render.fps_base)
