# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel for frame functions, which change the timing of the motion."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.translations import contexts

from ..animation.store.frame_functions import curve_of, function_of
from ..animation.store.tracks import Track
from ..animation.translation import iface_
from ..ui import sidebar_tracks
from ..ui.layouts import layout_of
from ..ui.scene import action_frame
from .advanced import Advanced
from .widgets import draw_text


class TCB_PT_timing(Advanced, bpy.types.Panel):
    """Curves that change the timing of the motion without changing its keys"""

    bl_idname = "TCB_PT_timing"
    bl_label = "Timing"
    bl_order = 10

    @classmethod
    def is_in_use(cls, context: Any) -> bool:
        active = sidebar_tracks.active_track(context)
        return (active is not None and function_of(active[1]) is not None) or curve_of(context.scene) is not None

    def draw(self, context: Any) -> None:
        layout = layout_of(self)
        active = sidebar_tracks.active_track(context)
        curves = {"SCENE": curve_of(context.scene)}
        if active is not None:
            _, track = active
            curves = {"TRACK": track.frame_curve, "OBJECT": track.datablock_frame_curve} | curves
        draw_text(layout, context, iface_("A curve maps scene frames to frames of the motion. Bake to play it"))
        for level, fcurve in curves.items():
            _draw_level(layout, context, level, fcurve)
        if active is not None:
            _draw_played_frame(layout, context, *active)


def _draw_level(
    layout: bpy.types.UILayout, context: bpy.types.Context, level: str, fcurve: bpy.types.FCurve | None
) -> None:
    labels = {
        "TRACK": iface_("Track", msgctxt=contexts.id_action),
        "OBJECT": iface_("Object"),
        "SCENE": iface_("Scene"),
    }
    row = layout.split(factor=0.3)
    row.label(text=labels[level], translate=False)
    row = row.row(align=True)
    text = (
        iface_("Add", msgctxt=contexts.id_action)
        if fcurve is None
        else iface_("{:d} keys", len(fcurve.keyframe_points))
    )
    add = row.operator_menu_enum("tcb.frame_function", "shape", text=text, icon="FCURVE")
    add.level = level
    if fcurve is None:
        return
    row.prop(fcurve, "mute", text="", icon="HIDE_ON" if fcurve.mute else "HIDE_OFF")
    row.operator("tcb.frame_function_remove", text="", icon="X").level = level
    column = layout.column(align=True)
    if len(fcurve.keyframe_points):
        ends: Any = fcurve.range()
        draw_text(column, context, iface_("Frames {:g} to {:g}", *ends), icon="BLANK1")
    action: Any = fcurve.id_data
    draw_text(column, context, iface_("Graph Editor: Frame Function in {:s}", action.name), icon="BLANK1")


def _draw_played_frame(
    layout: bpy.types.UILayout, context: bpy.types.Context, datablock: bpy.types.ID, track: Track
) -> None:
    """Draw the frame of the motion that the track plays at the current frame, if a function times it."""
    function = function_of(track)
    if function is not None:
        frame = action_frame(context, datablock)
        text = iface_("Frame {:g} plays frame {:.4g}", frame, float(function([frame])[0]))
        layout.label(text=text, icon="TIME", translate=False)
