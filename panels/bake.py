# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake panels in all sidebars: the button, its options and the Finish menu."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy

from ..animation.translation import iface_
from ..ui import option_properties, redraw, selection
from ..ui.redraw import layout_of
from .header import baked_otherwise
from .widgets import draw_text, sidebar_settings

_UNITS = 16
"""Width of the options, in button heights."""


class BakePanel:
    """Bake TCB motion, free it, or finish with plain animation"""

    bl_label = "Bake"
    bl_options: ClassVar[Any] = {"HIDE_HEADER"}

    def draw(self: Any, context: bpy.types.Context) -> None:
        redraw.begin()
        settings = sidebar_settings(context)
        column = self.layout.column(align=True)
        baked, tcb = selection.baked_of_tcb(context)
        # Only the operator examines the actions of strips.
        if selection.in_strips_only(context) and selection.has_tracks(context, "BAKED"):
            baked, tcb = 1, 1
        row = column.row(align=True)
        if baked and baked == tcb:
            row.operator("tcb.free", icon="UNLOCKED", depress=True)
            option_properties.copy(settings, row.operator("tcb.bake", text="", icon="FILE_REFRESH"))
        else:
            option_properties.copy(settings, row.operator("tcb.bake", icon="LOCKED"))
            # Always visible, so that the layout does not shift under the mouse.
            free = row.row(align=True)
            free.enabled = bool(baked)
            free.operator("tcb.free", text="", icon="UNLOCKED")
        row = column.row(align=True)
        row.prop(settings, "output", text="")
        step = row.row(align=True)
        step.enabled = settings.output == "SAMPLES"
        step.prop(settings, "step", text="")
        row.popover("TCB_PT_bake_options", text="", icon="OPTIONS")
        self.layout.menu("TCB_MT_finish")


class TCB_PT_bake_options(bpy.types.Panel):
    """Options for the next bake"""

    bl_idname = "TCB_PT_bake_options"
    bl_label = "Bake Options"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = _UNITS

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = layout_of(self), sidebar_settings(context)
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in option_properties.used(settings):
            layout.prop(settings, name)
        track_names = baked_otherwise(context)
        if track_names:
            text = iface_("Baked with different options or defaults: Bake Again changes {:s}", track_names)
            draw_text(layout, context, text, units=_UNITS)
