# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels that the Advanced preference shows: Timing, Smoothness, Checks and Defaults, and their base class."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.app.translations import contexts

from ..animation import AnimationError
from ..animation.checks.shown_key import largest_jumps
from ..animation.store.frame_functions import curve_of, function_of
from ..animation.store.tracks import Track
from ..animation.text import iface_, n_, size_text
from ..interp.continuity import Jump, continuity
from ..ui import preferences, redraw, sidebar_tracks
from ..ui.layouts import layout_of
from ..ui.scene import action_frame, defaults_of
from .widgets import draw_parameters, draw_text, sidebar_settings


class Advanced:
    """Base class for panels that are visible if the Advanced preference is on, or while they are in use."""

    bl_space_type: ClassVar[Any] = "VIEW_3D"
    bl_region_type: ClassVar[Any] = "UI"
    bl_category = "TCB"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # Blender polls before it draws the first panel.
        redraw.begin()
        return preferences.shows_advanced(context) or cls.is_in_use(context)

    @classmethod
    def is_in_use(cls, _context: bpy.types.Context) -> bool:
        """Return whether settings of the panel affect the motion, or the panel shows results."""
        return False


class TCB_PT_timing(Advanced, bpy.types.Panel):
    """Curves that change the timing of the motion without changing its keys"""

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


_DERIVATIVES = (n_("Value"), n_("Velocity"), n_("Acceleration"))


class TCB_PT_motion(Advanced, bpy.types.Panel):
    """Measured smoothness of the track at its keys"""

    bl_label = "Smoothness"
    bl_order = 12

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and sidebar_tracks.active_track(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        active = sidebar_tracks.active_track(context)
        assert active is not None
        _, track = active
        box = layout.box().column(align=True)
        try:
            jumps = largest_jumps(track, defaults_of(context.scene))
        except AnimationError as error:
            box.label(text=error.message, icon="ERROR", translate=False)
        else:
            _draw_jumps(box, jumps, track.is_rotation)
        layout.operator("tcb.velocities_write", icon="TRACKING_FORWARDS")


def _draw_jumps(layout: bpy.types.UILayout, jumps: list[Jump], is_rotation: bool) -> None:
    """Draw the largest jumps of the value, the velocity and the acceleration. The value is left out if it has none."""
    measured = continuity(jumps)
    heading = (
        iface_("Measured with {:s}. Largest jumps:", measured)
        if measured
        else iface_("The values jump. Largest jumps:")
    )
    layout.label(text=heading, translate=False)
    for order, jump in enumerate(jumps):
        name = iface_(_DERIVATIVES[order])
        if jump.is_seen:
            size = size_text(jump.size, is_angle=is_rotation)
            layout.label(text=iface_("{:s}: {:s} at frame {:g}", name, size, jump.frame), translate=False)
        elif order:
            layout.label(text=iface_("{:s}: none", name), translate=False)


class TCB_PT_checks(Advanced, bpy.types.Panel):
    """Check conditions at every frame, and find rotations that flip"""

    bl_label = "Checks"
    bl_order = 20

    @classmethod
    def is_in_use(cls, context: Any) -> bool:
        return bool(len(context.window_manager.tcb_findings))

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


class TCB_UL_findings(bpy.types.UIList):
    """Findings, each with a button to jump to its frame"""

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


class TCB_PT_defaults(Advanced, bpy.types.Panel):
    """Parameters for keys that have none of their own"""

    bl_label = "Defaults"
    bl_order = 30

    @classmethod
    def is_in_use(cls, context: bpy.types.Context) -> bool:
        return bool(defaults_of(context.scene))

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.label(text="Default parameters:")
        draw_parameters(layout.column(align=True), context, sidebar_settings(context).defaults)
