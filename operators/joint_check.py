# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how far a joint comes apart."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation import AnimationError, joint_gap
from ..animation.number_text import size_text
from ..animation.translation import rpt_
from ..ui import findings
from ..ui.redraw import redraw_editors
from ..ui.reporting import Status


class TCB_OT_joint_check(bpy.types.Operator):
    """Measure the distance of the active bone or object from its place on its parent"""

    bl_idname = "tcb.joint_check"
    bl_label = "Joint"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj, bone = active_part(context)
        if obj is None or (context.mode == "POSE" and not bone):
            cls.poll_message_set("No active object" if obj is None else "No active bone")
            return False
        if (obj.pose.bones[bone] if bone else obj).parent is None:
            cls.poll_message_set("It has no parent")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> Status:
        obj, bone = active_part(context)
        try:
            gap = joint_gap(obj, bone, scene=context.scene)
        except AnimationError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        fault = rpt_("{:s} is {:s} from its place on {:s}", gap.name, size_text(gap.distance), gap.parent)
        finding = findings.FoundPlace(obj, gap.frame, rpt_("frame {:g}", gap.frame), "", fault, bone)
        findings.put(context.window_manager, [finding], str(gap))
        self.report({"INFO"}, str(gap))
        redraw_editors()
        return {"FINISHED"}


def active_part(context: bpy.types.Context) -> tuple[Any, str]:
    """Return the active object, and in Pose mode its active bone."""
    bone = context.active_pose_bone if context.mode == "POSE" else None
    return context.object, bone.name if bone else ""
