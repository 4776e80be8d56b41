# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether conditions hold at every moment."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from ..animation import check
from ..animation.options import CHECK
from ..animation.translation import rpt_, translated
from ..ui import findings
from ..ui.frame_ranges import CustomRange
from ..ui.option_properties import property_of
from ..ui.redraw import redraw_editors
from ..ui.reporting import SHOWN_NOTES, Status, report_notes


class TCB_OT_check(CustomRange, bpy.types.Operator):
    """Find frames with faults of cameras, targets and scales, also between frames"""

    bl_idname = "tcb.check"
    bl_label = "Check"
    bl_options = {"REGISTER"}

    step: property_of(CHECK["step"])
    use_range: BoolProperty(
        name="Custom Range", description="Check this range instead of the scene's and all keys", default=False
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if selected_objects(context):
            return True
        cls.poll_message_set("Select the objects to check")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        chosen = (self.frame_start, self.frame_end) if self.use_range else None
        try:
            checks = check(*selected_objects(context), frame_range=chosen, step=self.step, scene=context.scene)
        except ValueError as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        found = [
            findings.FoundPlace(
                bpy.data.objects[violation.name], violation.worst, violation.place, violation.track, violation.message
            )
            for violation in checks.violations
        ]
        findings.put(context.window_manager, found, checks.summary)
        report_notes(self, checks.notes)
        for refusal in checks.errors[:SHOWN_NOTES]:
            self.report({"WARNING"}, str(refusal))
        for violation in checks.violations[:SHOWN_NOTES]:
            self.report({"WARNING"}, str(violation))
        if len(checks.violations) > SHOWN_NOTES:
            more = len(checks.violations) - SHOWN_NOTES
            self.report({"WARNING"}, rpt_("… and {:d} more, in the sidebar's list", more))
        self.report({"WARNING"} if checks.errors else {"INFO"}, checks.summary)
        redraw_editors()
        return {"FINISHED"}


def selected_objects(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the selected objects; in Pose mode the armatures that are posed."""
    if context.mode == "POSE":
        return list(context.objects_in_mode)
    return list(context.selected_objects)
