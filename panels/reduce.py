# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel with the options and results of Reduce."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation.text import iface_, n_
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

    @classmethod
    def is_in_use(cls, context: bpy.types.Context) -> bool:
        return bool(_shown_reductions(context) or _shown_counts(context))

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
        for reduction in _shown_reductions(context):
            draw_text(layout, context, reduction.headline)
            if reduction.text != reduction.headline:
                draw_text(layout, context, reduction.text, "NONE")
        _draw_counts(layout, context, settings)


def _shown_reductions(context: Any) -> list[Any]:
    """Return the results of the last reduction, without results for actions that the active object does not play.

    After undo, the object plays its original action again.
    """
    active_names = [action.name for action in sidebar_tracks.active_actions(context)]
    return [reduction for reduction in context.window_manager.tcb_reductions if reduction.name in active_names]


def _shown_counts(context: Any) -> list[Any]:
    """Return the last key counts if they are for the actions of the active object."""
    actions = sidebar_tracks.active_action_names(context)
    return [count for count in context.window_manager.tcb_key_counts if count.name == actions]


def _draw_counts(layout: bpy.types.UILayout, context: bpy.types.Context, settings: Any) -> None:
    """Draw one row per error: a bar for the number of keys, and a button that reduces with this error."""
    counts = _shown_counts(context)
    most = max((count.key_count for count in counts), default=1)
    column = layout.column(align=True)
    for count in counts:
        row = column.split(factor=0.3, align=True)
        reduce = row.operator("tcb.reduce", text=length_text(context.scene, count.error), translate=False)
        settings.copy_to(reduce)
        reduce.error, reduce.angle = count.error, settings.angle * count.error / settings.error
        reduce.key_count = 0
        row.progress(factor=count.key_count / most, text=iface_("{:,} keys", count.key_count), translate=False)
