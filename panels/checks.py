# SPDX-License-Identifier: GPL-3.0-or-later
"""The Reduce and Checks panels in the TCB sidebar tab."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation.number_text import number_text
from ..animation.translation import iface_, n_
from ..ui.redraw import layout_of
from .advanced import Advanced
from .widgets import draw_text, sidebar_settings


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


_ZERO = {"key_count": n_("Unlimited"), "still": n_("Max Error"), "period": n_("Off")}
"""Text shown for 0."""


class TCB_PT_reduce(Advanced, bpy.types.Panel):
    """Reduce dense curves to few keys"""

    bl_idname = "TCB_PT_reduce"
    bl_label = "Reduce"
    bl_order = 15

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = layout_of(self), sidebar_settings(context).reduction
        text = iface_("Replace dense curves with few keys in a copy of the action")
        draw_text(layout, context, text)
        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        for name in settings.used(context):
            zero = "" if getattr(settings, name) else _ZERO.get(name, "")
            prop = settings.bl_rna.properties[name]
            label = iface_(prop.name, msgctxt=prop.translation_context)
            text = f"{label} ({iface_(zero)})" if zero else label
            column.prop(settings, name, text=text, translate=False)
        layout.operator_context = "INVOKE_DEFAULT"
        for operator in (
            layout.operator("tcb.reduce", icon="MOD_DECIM"),
            layout.operator("tcb.reduce_compare", icon="GRAPH"),
        ):
            settings.hand_to(operator)
        manager: Any = context.window_manager
        for line in manager.tcb_reduction.splitlines():
            draw_text(layout, context, line)
        _draw_counts(layout, context, settings)


def _draw_counts(layout: bpy.types.UILayout, context: bpy.types.Context, settings: Any) -> None:
    """Draw one row per error: a bar for the number of keys, and a button that reduces with this error."""
    manager: Any = context.window_manager
    most = max((count.key_count for count in manager.tcb_key_counts), default=1)
    column = layout.column(align=True)
    for count in manager.tcb_key_counts:
        row = column.split(factor=0.3, align=True)
        reduce = row.operator("tcb.reduce", text=number_text(count.error, 6), translate=False)
        settings.hand_to(reduce)
        reduce.error, reduce.angle = count.error, settings.angle * count.error / settings.error
        reduce.key_count = 0
        row.progress(factor=count.key_count / most, text=iface_("{:,} keys", count.key_count), translate=False)


class TCB_PT_checks(Advanced, bpy.types.Panel):
    """Check conditions at every frame, and find rotations that flip"""

    bl_idname = "TCB_PT_checks"
    bl_label = "Checks"
    bl_order = 20

    @classmethod
    def is_in_use(cls, context: bpy.types.Context) -> bool:
        manager: Any = context.window_manager
        return bool(len(manager.tcb_findings))

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
