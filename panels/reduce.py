# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel with the options and results of Reduce."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation.translation import iface_, n_
from ..ui import sidebar_tracks
from ..ui.layouts import layout_of
from ..ui.scene import length_text
from .advanced import Advanced
from .widgets import draw_text, sidebar_settings

_ZERO = {"key_count": n_("Unlimited"), "period": n_("Off")}
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
        for name in settings.used_options(context):
            zero = "" if getattr(settings, name) else _ZERO.get(name, "")
            prop = settings.bl_rna.properties[name]
            label = iface_(prop.name, msgctxt=prop.translation_context)
            text = f"{label}: {iface_(zero)}" if zero else label
            column.prop(settings, name, text=text, translate=False)
        layout.operator_context = "INVOKE_DEFAULT"
        for operator in (
            layout.operator("tcb.reduce", icon="MOD_DECIM"),
            layout.operator("tcb.reduce_compare", icon="GRAPH"),
        ):
            settings.copy_to(operator)
        manager: Any = context.window_manager
        # After undo, or if another object is active, the results are not shown, because the action is another one.
        active_names = [action.name for action in sidebar_tracks.active_actions(context)]
        for reduced in manager.tcb_reductions:
            if reduced.name in active_names:
                draw_text(layout, context, reduced.text)
        _draw_counts(layout, context, settings)


def _draw_counts(layout: bpy.types.UILayout, context: bpy.types.Context, settings: Any) -> None:
    """Draw one row per error: a bar for the number of keys, and a button that reduces with this error."""
    manager: Any = context.window_manager
    actions = sidebar_tracks.active_action_names(context)
    counts = [count for count in manager.tcb_key_counts if count.name == actions]
    most = max((count.key_count for count in counts), default=1)
    column = layout.column(align=True)
    for count in counts:
        row = column.split(factor=0.3, align=True)
        reduce = row.operator("tcb.reduce", text=length_text(context.scene, count.error), translate=False)
        settings.copy_to(reduce)
        reduce.error, reduce.angle = count.error, settings.angle * count.error / settings.error
        reduce.key_count = 0
        row.progress(factor=count.key_count / most, text=iface_("{:,} keys", count.key_count), translate=False)
