# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that add and remove frame functions."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.app.translations import contexts
from bpy.props import EnumProperty

from ..animation import AnimationError, remove_retiming, retime
from ..animation.options import RETIME
from ..animation.translation import n_, rpt_
from ..ui import sidebar_tracks
from ..ui.layouts import draw_properties, layout_of
from ..ui.operator_results import Status, refuse
from ..ui.option_properties import property_of
from ..ui.redraw import redraw_editors
from ..ui.scene import action_frame, defaults_of

_LEVEL_ITEMS = (
    ("TRACK", "Track", "Track shown in the sidebar"),
    ("OBJECT", "Object", "All tracks of the object or object data that owns this track"),
    ("SCENE", "Scene", "All tracks of the scene's objects and their data"),
)


class _FrameFunctionBase:
    """Base class for operators with a method `work` for a track of a datablock, or for all if the path is empty."""

    bl_options: ClassVar[Any] = {"REGISTER", "UNDO"}

    level: EnumProperty(
        name="For",
        description="Motion to retime",
        items=_LEVEL_ITEMS,
        translation_context=contexts.id_action,
    )

    def execute(self: Any, context: Any) -> Status:
        active = sidebar_tracks.active_track(context)
        if self.level == "SCENE":
            datablock, path = context.scene, ""
        elif active is None:
            return refuse(self, sidebar_tracks.reason_for_no_track(context))
        else:
            datablock, path = active[0], active[1].path if self.level == "TRACK" else ""
        try:
            self.work(context, datablock, path)
        except (AnimationError, ValueError) as error:
            return refuse(self, error)
        redraw_editors()
        return {"FINISHED"}


class TCB_OT_frame_function(_FrameFunctionBase, bpy.types.Operator):
    """Add a curve that maps scene frames to frames of the motion"""

    bl_idname = "tcb.frame_function"
    bl_label = "Frame Function"

    shape: property_of(RETIME["shape"])
    scale: property_of(RETIME["scale"])
    length: property_of(RETIME["length"])

    def draw(self, _context: bpy.types.Context) -> None:
        shape_options = {"SCALE": ("scale",), "HOLD": ("length",)}.get(self.shape, ())
        draw_properties(layout_of(self), self, ("level", "shape", *shape_options))

    def work(self, context: bpy.types.Context, datablock: bpy.types.ID, path: str) -> None:
        active = sidebar_tracks.active_track(context)
        timing = retime(
            datablock,
            self.shape,
            track=path,
            by=active[1].path if active is not None else "",
            of=active[0] if active is not None else None,
            scale=self.scale,
            frame=action_frame(context, datablock) if self.shape == "HOLD" else None,
            length=self.length,
            defaults=defaults_of(context.scene),
        )
        count = len(timing.curve.keyframe_points)
        if timing.speed_change is None:
            self.report({"INFO"}, rpt_("Frame function with {:d} keys. Bake to play it", count))
        else:
            change = 100 * timing.speed_change
            text = n_("Frame function with {:d} keys. The speed varies by {:.2g}% between frames. Bake to play it")
            self.report({"INFO"}, rpt_(text, count, change))


class TCB_OT_frame_function_remove(_FrameFunctionBase, bpy.types.Operator):
    """Remove the frame function and restore the original timing"""

    bl_idname = "tcb.frame_function_remove"
    bl_label = "Remove Frame Function"

    def work(self, _context: bpy.types.Context, datablock: bpy.types.ID, path: str) -> None:
        remove_retiming(datablock, path)
