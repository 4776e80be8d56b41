# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel with the buttons and options of a bake."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy

from ..ui import redraw, sidebar_tracks
from ..ui.layouts import draw_properties, layout_of
from .messages import bake_again_text
from .widgets import draw_text, sidebar_settings


class BakePanel:
    """Bake TCB motion, free it, or finish with plain animation"""

    bl_label = "Bake"
    bl_options: ClassVar[Any] = {"HIDE_HEADER"}

    def draw(self: Any, context: bpy.types.Context) -> None:
        redraw.begin()
        settings = sidebar_settings(context)
        column = self.layout.column(align=True)
        baked_count, tcb_count = sidebar_tracks.baked_and_tcb_counts(context)
        row = column.row(align=True)
        if baked_count and baked_count == tcb_count:
            row.operator("tcb.free", icon="UNLOCKED", depress=True)
            settings.copy_to(row.operator("tcb.bake", text="", icon="FILE_REFRESH"))
        else:
            settings.copy_to(row.operator("tcb.bake", icon="LOCKED"))
            # Always visible, so that the layout does not shift under the mouse.
            free = row.row(align=True)
            free.enabled = bool(baked_count)
            free.operator("tcb.free", text="", icon="UNLOCKED")
        row = column.row(align=True)
        row.prop(settings, "output", text="")
        step = row.row(align=True)
        step.enabled = settings.output == "SAMPLES"
        step.prop(settings, "step", text="")
        row.popover("TCB_PT_bake_options", text="", icon="OPTIONS")
        self.layout.menu("TCB_MT_finish")


_OPTIONS_UNITS = 16
"""Width of the bake options, in button heights."""


class TCB_PT_bake_options(bpy.types.Panel):
    """Options for the next bake"""

    bl_label = "Bake Options"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = _OPTIONS_UNITS

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = layout_of(self), sidebar_settings(context)
        # Output and Step are in the row with the button for these options.
        draw_properties(layout, settings, [name for name in settings.used_options() if name not in ("output", "step")])
        text = bake_again_text(context)
        if text:
            draw_text(layout, context, text, units=_OPTIONS_UNITS)
