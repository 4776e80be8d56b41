# SPDX-License-Identifier: GPL-3.0-or-later
"""Go to a finding of a check."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import IntProperty

from ..animation.translation import rpt_
from ..ui.reporting import Status


class TCB_OT_finding_show(bpy.types.Operator):
    """Go to the frame of this finding, and select its object"""

    bl_idname = "tcb.finding_show"
    bl_label = "Go to Finding"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Finding", description="Index in the list, from 0", min=0)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        manager: Any = context.window_manager
        if len(manager.tcb_findings):
            return True
        cls.poll_message_set("No findings. Press Check first")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        manager: Any = context.window_manager
        if self.index >= len(manager.tcb_findings):
            self.report({"ERROR"}, rpt_("There are only {:d} findings", len(manager.tcb_findings)))
            return {"CANCELLED"}
        finding = manager.tcb_findings[self.index]
        manager.tcb_finding = self.index
        scene: Any = context.scene
        scene.frame_set(int(finding.frame // 1), subframe=finding.frame % 1)
        obj = context.view_layer.objects.get(finding.item) if context.view_layer else None
        if obj is None:
            self.report({"WARNING"}, rpt_('"{:s}" is not in this view layer any more', finding.item))
            return {"FINISHED"}
        if context.mode == "OBJECT":
            for other in context.selected_objects:
                other.select_set(False)
            obj.select_set(True)
            context.view_layer.objects.active = obj
        elif obj.pose and finding.bone in obj.pose.bones and context.object == obj:
            obj.data.bones.active = obj.data.bones[finding.bone]
        return {"FINISHED"}
