# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that show a track, set its method, cycle and turns, and edit its frame function."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.app.translations import contexts, pgettext_tip
from bpy.props import EnumProperty, StringProperty

from ..animation import AnimationError, Report, remove_retiming, retime
from ..animation.edit.track_settings import choose_settings
from ..animation.options import RETIME, TRACK
from ..animation.store.table.track_records import CHOICES
from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.operator_results import Status, finish, for_each_track, poll_selection, refuse
from ..ui.option_properties import property_of
from ..ui.redraw import draw_properties, layout_of, redraw_editors
from ..ui.track_text import shown_state


class TCB_OT_track_select(bpy.types.Operator):
    """Show the keys of this track"""

    bl_idname = "tcb.track_select"
    bl_label = "Show Track"
    bl_options = {"INTERNAL"}

    track: StringProperty(name="Track", description="Datablock and path of the track")

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """Return the state of the track as the tooltip."""
        for datablock, track in selection.active_tracks(context):
            if selection.track_identifier(datablock, track.path) == properties.track:
                return shown_state(datablock, track).tooltip
        return str(pgettext_tip(cls.__doc__ or ""))

    def execute(self, context: bpy.types.Context) -> Status:
        window_manager: Any = context.window_manager
        window_manager.tcb_track = self.track
        return {"FINISHED"}


class TCB_OT_track_choose(bpy.types.Operator):
    """Set the method, cycle and turns of a track in the selection"""

    bl_idname = "tcb.track_choose"
    bl_label = "Set TCB Track"
    bl_options = {"REGISTER", "UNDO"}

    track: StringProperty(
        name="Track",
        description="Data path of the animated property, or 'rotation' for the current rotation mode",
    )
    method: property_of(TRACK["method"])
    angles: property_of(TRACK["angles"])
    cycle: property_of(TRACK["cycle"])
    ends: property_of(TRACK["ends"])
    construction: property_of(TRACK["construction"])
    path: property_of(TRACK["path"])

    poll = classmethod(poll_selection)

    def execute(self, context: bpy.types.Context) -> Status:
        settings = {name: getattr(self, name) for name in CHOICES if self.properties.is_property_set(name)}
        if not settings:
            names = ", ".join(CHOICES)
            return refuse(self, rpt_("Nothing to set. Give one of {:s}", names))

        defaults = selection.defaults_of(context.scene)

        def set_on_track(datablock: bpy.types.ID, path: str) -> Report:
            return choose_settings(datablock, path, settings, defaults)

        owners = selection.owners_of(context, self.track)
        report = for_each_track(owners, self.track, set_on_track, keys=0)
        return finish(self, report, rpt_("Changed the settings of {:s}", report.counts))


LEVEL_ITEMS = (
    ("TRACK", "Track", "Track shown in the sidebar"),
    ("OBJECT", "Object", "All tracks of the object or object data that owns this track"),
    ("SCENE", "Scene", "All tracks of the scene's objects and their data"),
)


class _FrameFunctionBase:
    """Base class for operators on the frame function of the active track, object or scene."""

    bl_options: ClassVar[Any] = {"REGISTER", "UNDO"}

    level: EnumProperty(
        name="For",
        description="Motion to retime",
        items=LEVEL_ITEMS,
        translation_context=contexts.id_action,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.scene is None:
            operator: Any = cls
            operator.poll_message_set("No scene")
            return False
        return True

    def execute(self: Any, context: bpy.types.Context) -> Status:
        scene: Any = context.scene
        active = selection.active_track(context)
        if self.level == "SCENE":
            datablock, path = scene, ""
        elif active is None:
            return refuse(self, selection.reason_for_no_track(context))
        else:
            datablock, path = active[0], active[1].path if self.level == "TRACK" else ""
        try:
            self.work(context, datablock, path)
        except (AnimationError, ValueError) as error:
            return refuse(self, error)
        redraw_editors()
        return {"FINISHED"}

    def work(self, context: bpy.types.Context, datablock: bpy.types.ID, path: str) -> None:
        """Apply the operator to a track of the datablock, or to all tracks if the path is empty.

        Raises AnimationError or ValueError.
        """
        raise NotImplementedError


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
        active = selection.active_track(context)
        timing = retime(
            datablock,
            self.shape,
            track=path,
            by=active[1].path if active is not None else "",
            of=active[0] if active is not None else None,
            scale=self.scale,
            frame=selection.action_frame(context, datablock) if self.shape == "HOLD" else None,
            length=self.length,
            defaults=selection.defaults_of(context.scene),
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
