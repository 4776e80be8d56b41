# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that check conditions and joints, and jump to the findings."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty

from ..animation import AnimationError, check_many, joint_gap
from ..animation.number_text import size_text
from ..animation.track_names import track_name
from ..animation.translation import rpt_
from ..ui import selection
from ..ui.operator_results import Status, refuse, report_notes
from ..ui.option_properties import CustomRange
from ..ui.properties import show_findings
from ..ui.redraw import redraw_editors
from ..ui.scene import go_to
from .on_selection import poll_active


class TCB_OT_check(CustomRange, bpy.types.Operator):
    """Find faults in cameras, targets and scales, including faults between frames"""

    bl_idname = "tcb.check"
    bl_label = "Check"
    bl_options = {"REGISTER"}

    use_range: BoolProperty(name="Custom Range", description="Check this range instead of the scene range and all keys")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if _selected_objects(context):
            return True
        cls.poll_message_set("Select the objects to check")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        frame_range = (self.frame_start, self.frame_end) if self.use_range else None
        try:
            checks = check_many(_selected_objects(context), frame_range, context.scene)
        except ValueError as error:
            return refuse(self, error)
        rows = [
            {
                "item": violation.name,
                "frame": violation.worst,
                "place": violation.place,
                "track": track_name(violation.track),
                "name": violation.message,
            }
            for violation in checks.violations
        ]
        show_findings(context.window_manager, checks.summary, rows)
        found = [violation.finding for violation in checks.violations]
        report_notes(self, [*checks.errors, *found, *checks.notes], "WARNING")
        self.report({"WARNING"} if checks.errors else {"INFO"}, checks.summary)
        redraw_editors()
        return {"FINISHED"}


def _selected_objects(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the selected objects, or in Pose Mode the posed armatures."""
    if context.mode == "POSE":
        return list(context.objects_in_mode)
    return list(context.selected_objects)


class TCB_OT_joint_check(bpy.types.Operator):
    """Measure the gap between the active bone or object and its parent"""

    bl_idname = "tcb.joint_check"
    bl_label = "Joint"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not poll_active(cls, context):
            return False
        obj, bone = selection.active_object_and_bone(context)
        if (obj.pose.bones[bone] if bone else obj).parent is None:
            cls.poll_message_set("No parent")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> Status:
        obj, bone = selection.active_object_and_bone(context)
        try:
            gap = joint_gap(obj, bone, scene=context.scene)
        except AnimationError as refusal:
            return refuse(self, refusal)
        row = {
            "item": obj.name,
            "bone": bone,
            "frame": gap.frame,
            "place": rpt_("frame {:g}", gap.frame),
            "name": rpt_("{:s} is {:s} away from its position on {:s}", gap.name, size_text(gap.distance), gap.parent),
        }
        show_findings(context.window_manager, str(gap), [row])
        self.report({"INFO"}, str(gap))
        redraw_editors()
        return {"FINISHED"}


class TCB_OT_finding_show(bpy.types.Operator):
    """Go to the frame of this finding, and select its object"""

    bl_idname = "tcb.finding_show"
    bl_label = "Go to Finding"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Finding", description="Index in the list, starting at 0", min=0)

    @classmethod
    def poll(cls, context: Any) -> bool:
        if len(context.window_manager.tcb_findings):
            return True
        cls.poll_message_set("No findings. Press Check first")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        manager: Any = context.window_manager
        if self.index >= len(manager.tcb_findings):
            return refuse(self, rpt_("The list has only {:d} findings", len(manager.tcb_findings)))
        finding = manager.tcb_findings[self.index]
        manager.tcb_finding = self.index
        go_to(context.scene, finding.frame)
        obj = context.view_layer.objects.get(finding.item) if context.view_layer else None
        if obj is None:
            self.report({"WARNING"}, rpt_('"{:s}" is no longer in this view layer', finding.item))
        elif context.mode == "OBJECT":
            selection.select_only(context, [obj])
            context.view_layer.objects.active = obj
        elif obj.pose and finding.bone in obj.pose.bones and context.object == obj:
            obj.data.bones.active = obj.data.bones[finding.bone]
        return {"FINISHED"}
