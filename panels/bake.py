# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of a bake in all sidebars: its buttons, its options, and the defaults of keys."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy

from ..animation.translation import iface_
from ..ui import bake_options, redraw, selection
from .live import baked_otherwise
from .widgets import draw_parameters, draw_text, sidebar_settings

_BAKED_MORE_OFTEN = 0.7
"""Part of a row of two buttons for the one that is pressed more often."""


class BakePanel:
    """Bake TCB motion, free it or keep it as plain animation"""

    bl_label = "Bake"

    def draw(self: Any, context: bpy.types.Context) -> None:
        redraw.begin()
        layout, settings = self.layout, sidebar_settings(context)
        bake_options.copy(settings, layout.operator("tcb.bake", icon="KEYFRAME_HLT"))
        row = layout.split(factor=_BAKED_MORE_OFTEN, align=True)
        row.operator("tcb.restore", icon="LOOP_BACK")
        row.operator("tcb.apply", text="Apply")
        # Always there, so that no button takes another's place under the mouse.
        layout.operator("tcb.free", icon="UNLOCKED")
        if selection.count_edited_outside(context):
            layout.operator("tcb.free", text="Free Bake, Discard Edits", icon="TRASH").discard_edits = True


class BakeOptionsPanel:
    """Options of the next bake"""

    bl_label = "Bake Options"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    def draw(self: Any, context: bpy.types.Context) -> None:
        layout, settings = self.layout, sidebar_settings(context)
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in bake_options.used(settings):
            layout.prop(settings, name)
        others = baked_otherwise(context)
        if others:
            draw_text(layout, context, iface_("Baked with other options or defaults: Bake TCB changes {:s}", others))


class DefaultsPanel:
    """The parameters of keys that have none of their own"""

    bl_label = "Defaults"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    def draw(self: Any, context: bpy.types.Context) -> None:
        self.layout.label(text="Keys without parameters of their own:")
        draw_parameters(self.layout.column(align=True), context, sidebar_settings(context).defaults)
