# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel that checks conditions, with the list of findings."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation.translation import iface_
from ..ui.layouts import layout_of
from .advanced import Advanced
from .widgets import draw_text


class TCB_PT_checks(Advanced, bpy.types.Panel):
    """Check conditions at every frame, and find rotations that flip"""

    bl_idname = "TCB_PT_checks"
    bl_label = "Checks"
    bl_order = 20

    @classmethod
    def is_in_use(cls, context: Any) -> bool:
        return bool(len(context.window_manager.tcb_findings))

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        manager: Any = context.window_manager
        text = iface_("Find faults in cameras, targets, scales and joints")
        draw_text(layout, context, text)
        row = layout.row(align=True)
        row.operator("tcb.check", icon="CHECKMARK")
        row.operator("tcb.joint_check", icon="CONSTRAINT_BONE")
        layout.operator("tcb.fix_rotations", icon="CON_ROTLIKE")
        layout.operator("tcb.relax", icon="CON_FLOOR")
        if manager.tcb_result:
            draw_text(layout, context, manager.tcb_result)
        if not len(manager.tcb_findings):
            return
        layout.template_list("TCB_UL_findings", "", manager, "tcb_findings", manager, "tcb_finding", rows=3)
        index = min(manager.tcb_finding, len(manager.tcb_findings) - 1)
        finding = manager.tcb_findings[index]
        column = layout.column(align=True)
        column.label(text=iface_("{:s}, {:s}", finding.item, finding.place), translate=False)
        if finding.track:
            column.label(text=finding.track, translate=False)
        draw_text(column, context, finding.name, icon="NONE")


class TCB_UL_findings(bpy.types.UIList):
    """Findings, each with a button to jump to its frame"""

    bl_idname = "TCB_UL_findings"

    def draw_item(  # noqa: PLR0913  as Blender calls it
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: int | None,
        active_data: Any,
        active_property: str | None,
        index: int | None = 0,
        flt_flag: int | None = 0,
    ) -> None:
        row = layout.row(align=True)
        row.operator("tcb.finding_show", text=f"{item.frame:g}", icon="TRIA_RIGHT", translate=False).index = index
        row.label(text=item.item, translate=False)
        row.label(text=item.name, translate=False)
