# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel Timing of the sidebar tab TCB: the frame functions of the track shown, its object and the scene."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation.store.frame_functions import curve_of, function_of
from ..animation.translation import iface_, n_
from ..ui import redraw, selection
from ..ui.redraw import layout_of


class TCB_PT_timing(bpy.types.Panel):
    """The frame of the motion that is played at each frame of the scene"""

    bl_idname = "TCB_PT_timing"
    bl_label = "Timing"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "TCB"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 10

    def draw(self, context: bpy.types.Context) -> None:
        redraw.begin()
        layout = layout_of(self)
        scene: Any = context.scene
        found = selection.active_track(context)
        curves = {"SCENE": curve_of(scene)}
        if found is not None:
            _, track = found
            curves = {"TRACK": track.frame_curve, "OBJECT": track.datablock_frame_curve} | curves
        for level, fcurve in curves.items():
            _draw_level(layout, level, fcurve)
        function = function_of(found[1]) if found is not None else None
        if found is not None and function is not None:
            frame = selection.action_frame(context, found[0])
            text = iface_("Frame {:g} plays frame {:.4g}", frame, float(function([frame])[0]))
            layout.label(text=text, icon="TIME", translate=False)


def _draw_level(layout: bpy.types.UILayout, level: str, fcurve: bpy.types.FCurve | None) -> None:
    labels = {"TRACK": n_("Track"), "OBJECT": n_("Object"), "SCENE": n_("Scene")}
    row = layout.split(factor=0.3)
    row.label(text=labels[level])
    row = row.row(align=True)
    text = iface_("Add") if fcurve is None else iface_("{:d} keys", len(fcurve.keyframe_points))
    add = row.operator_menu_enum("tcb.frame_function", "shape", text=text, icon="FCURVE")
    add.level = level
    if fcurve is not None:
        row.prop(fcurve, "mute", text="", icon="HIDE_ON" if fcurve.mute else "HIDE_OFF")
        row.operator("tcb.frame_function_remove", text="", icon="X").level = level
