# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels that the Advanced preference shows: their base class, and the Smoothness and Defaults panels."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy

from ..animation import AnimationError
from ..animation.checks.shown_key import largest_jumps
from ..animation.number_text import size_text
from ..animation.translation import iface_, n_
from ..interp.continuity import Jump, continuity
from ..ui import preferences, redraw, sidebar_tracks
from ..ui.layouts import layout_of
from ..ui.scene import defaults_of
from .widgets import draw_parameters, sidebar_settings


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


_DERIVATIVES = (n_("Value"), n_("Velocity"), n_("Acceleration"))


class TCB_PT_motion(Advanced, bpy.types.Panel):
    """Measured smoothness of the track at its keys"""

    bl_idname = "TCB_PT_motion"
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
