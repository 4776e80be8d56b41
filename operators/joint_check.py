# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how far a joint comes apart."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, FloatVectorProperty

from ..animation import AnimationError, joint_gap
from ..animation.number_text import size_text
from ..animation.options import CHECK
from ..animation.translation import rpt_, translated
from ..ui import findings
from ..ui.option_properties import property_of
from ..ui.redraw import layout_of, redraw_editors
from ..ui.reporting import Status


class TCB_OT_joint_check(bpy.types.Operator):
    """Measure the distance between the active bone or object and its parent's joint"""

    bl_idname = "tcb.joint_check"
    bl_label = "Joint"
    bl_options = {"REGISTER"}

    point: FloatVectorProperty(
        name="Point", description="The joint in the child's own axes", size=3, subtype="TRANSLATION"
    )
    use_parent_point: BoolProperty(
        name="Parent's Point",
        description="Set the joint in the parent's axes, instead of its rest position",
        default=False,
    )
    parent_point: FloatVectorProperty(
        name="On Parent", description="The joint in the parent's own axes", size=3, subtype="TRANSLATION"
    )
    step: property_of(CHECK["step"])

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

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        layout.prop(self, "point")
        layout.prop(self, "use_parent_point")
        if self.use_parent_point:
            layout.prop(self, "parent_point")
        layout.prop(self, "step")

    def execute(self, context: bpy.types.Context) -> Status:
        obj, bone = active_part(context)
        try:
            gap = joint_gap(
                obj,
                bone,
                point=self.point,
                parent_point=self.parent_point if self.use_parent_point else None,
                step=self.step,
                scene=context.scene,
            )
        except (AnimationError, ValueError) as error:
            self.report({"ERROR"}, translated(error))
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
