# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of a bake in all sidebars: its buttons, its options, and the defaults of keys."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy

from ..animation.store.actions.original_actions import originals
from ..animation.store.tracks import Track
from ..animation.translation import iface_
from ..ui import bake_options, redraw, selection
from .live import baked_otherwise
from .widgets import draw_parameters, draw_text, sidebar_settings

_BAKED_MORE_OFTEN = 0.7
"""Part of a row of two buttons for the one that is pressed more often."""


class BakePanel:
    """Bake, and take it away again"""

    bl_label = "Bake"

    def draw(self: Any, context: bpy.types.Context) -> None:
        redraw.begin()
        layout, settings = self.layout, sidebar_settings(context)
        bake_options.copy(settings, layout.operator("tcb.bake", icon="KEYFRAME_HLT"))
        row = layout.split(factor=_BAKED_MORE_OFTEN, align=True)
        row.operator("tcb.restore", icon="LOOP_BACK")
        row.operator("tcb.apply", text="Apply")
        # There always, and what comes and goes last, so that no button takes another's place under the mouse.
        row = layout.row()
        row.enabled = has_generated_keys(context)
        back = row.operator("tcb.bake", text="Back to Handles", icon="HANDLE_FREE")
        bake_options.copy(settings, back)
        back.output, back.target, back.frames = "HANDLES", "IN_PLACE", "KEYS"
        if not originals().keys().isdisjoint(selection.active_actions(context)):
            layout.operator("tcb.back_to_original", icon="BACK")


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
            draw_text(layout, context, iface_("Baked otherwise; Bake TCB changes {:s}", others))


class DefaultsPanel:
    """The parameters of keys that have none of their own"""

    bl_label = "Defaults"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    def draw(self: Any, context: bpy.types.Context) -> None:
        self.layout.label(text="Keys without parameters of their own:")
        draw_parameters(self.layout.column(align=True), context, sidebar_settings(context).defaults)


def has_generated_keys(context: bpy.types.Context) -> bool:
    """Check whether a bake has put keys among those of a track that the sidebar lists."""
    return any(_has_generated_keys(track) for _, track in selection.active_tracks(context))


def _has_generated_keys(track: Track) -> bool:
    return track.state is not None and any(len(channel.generated) for channel in track.state.channels.values())
