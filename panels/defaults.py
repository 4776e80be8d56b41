# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel with the scene's default parameters."""

from __future__ import annotations

import bpy

from ..ui.layouts import layout_of
from ..ui.scene import defaults_of
from .advanced import Advanced
from .widgets import draw_parameters, sidebar_settings


class TCB_PT_defaults(Advanced, bpy.types.Panel):
    """Parameters for keys that have none of their own"""

    bl_idname = "TCB_PT_defaults"
    bl_label = "Defaults"
    bl_order = 30

    @classmethod
    def is_in_use(cls, context: bpy.types.Context) -> bool:
        return bool(defaults_of(context.scene))

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.label(text="Default parameters:")
        draw_parameters(layout.column(align=True), context, sidebar_settings(context).defaults)
