# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators on tracks: show, method, cycle, turns, repair of rotations, velocities, and frame functions."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.app.translations import contexts, pgettext_tip
from bpy.props import EnumProperty, StringProperty

from .. import animation
from ..animation import AnimationError, remove_retiming, retime, write_velocities_many
from ..animation.datablocks import name_of
from ..animation.edit.track_settings import choose_settings
from ..animation.options import FIX_ROTATIONS, RETIME, TRACK, VELOCITIES
from ..animation.store.table.track_records import CHOICES
from ..animation.text import counted, n_, number_text, rpt_
from ..animation.track_paths import track_name
from ..ui import selection, sidebar_tracks
from ..ui.layouts import draw_properties, layout_of
from ..ui.operator_results import Status, errors_in, finish, for_named_track, refuse, result_notes
from ..ui.option_properties import property_of
from ..ui.properties import show_findings
from ..ui.redraw import redraw_editors
from ..ui.scene import action_frame, defaults_of
from ..ui.sidebar_tracks import shown_state
from .on_selection import OnSelection, poll_selection

# Operators that show a track, set its method, cycle and turns, and write velocities as custom properties


class TCB_OT_track_select(bpy.types.Operator):
    """Show the keys of this track"""

    bl_idname = "tcb.track_select"
    bl_label = "Show Track"
    bl_options = {"INTERNAL"}

    track: StringProperty(name="Track", description="Datablock and path of the track")

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """Return the state of the track as the tooltip."""
        for datablock, track in sidebar_tracks.active_tracks(context):
            if sidebar_tracks.track_identifier(datablock, track.path) == properties.track:
                return shown_state(datablock, track).tooltip
        return str(pgettext_tip(cls.__doc__ or ""))

    def execute(self, context: Any) -> Status:
        context.window_manager.tcb_track = self.track
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

        defaults = defaults_of(context.scene)
        report = for_named_track(
            selection.owners_of(context, self.track),
            self.track,
            lambda datablock, path: choose_settings(datablock, path, settings, defaults),
            keys=0,
        )
        return finish(self, report, rpt_("Changed the settings of {:s}", report.counts))


class TCB_OT_velocities_write(OnSelection, bpy.types.Operator):
    """Write velocities of TCB tracks as animated custom properties, or remove these properties"""

    bl_idname = "tcb.velocities_write"
    bl_label = "Write Velocities"

    remove: property_of(VELOCITIES["remove"])

    def execute(self: Any, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, self.use_data)
        report = write_velocities_many(selected, defaults=defaults_of(context.scene), remove=self.remove)
        done = n_("Removed velocities of {:s}") if self.remove else n_("Wrote velocities of {:s}")
        return finish(self, report, rpt_(done, report.counts))


# Operators that repair rotations that flip or jump between keys, shorten turns, and key all rotation channels


class TCB_OT_fix_rotations(bpy.types.Operator):
    """Repair rotations that flip or jump between keys, without changing poses"""

    bl_idname = "tcb.fix_rotations"
    bl_label = "Fix Rotations"
    bl_options = {"REGISTER", "UNDO"}

    turns: property_of(FIX_ROTATIONS["turns"])

    poll = classmethod(poll_selection)

    def execute(self, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, use_data=False)
        report = animation.fix_rotations_many(selected, turns=self.turns)
        rows = [row for obj, prefixes in selected.items() for row in _remaining_faults(obj, prefixes, self.turns)]
        result = counted(len(rows), n_("{:,} rotation fault remains"), n_("{:,} rotation faults remain"))
        show_findings(context.window_manager, result, rows)
        # Show the first remaining fault, such as a turn of more than 180 degrees, because users ask about it most
        # often.
        nothing_repaired = f"{result}: {rows[0]['name']}" if rows else n_("No rotation faults found")
        status = finish(self, report, rpt_("Repaired rotations: {:s}", report.counts), nothing_repaired)
        return {"FINISHED"} if rows else status


def _remaining_faults(obj: Any, prefixes: list[str] | None, turns: Any) -> list[dict[str, Any]]:
    """Return the remaining faults as properties of `TCBFinding`, or none if the object could not be repaired."""
    try:
        faults = animation.find_rotation_faults(obj, prefixes, turns)
    except AnimationError:
        return []
    bone_names = {} if obj.pose is None else {bone.path_from_id(): bone.name for bone in obj.pose.bones}
    return [
        {
            "item": obj.name,
            "bone": bone_names.get(fault.track.rpartition(".")[0], ""),
            "frame": fault.frames[0],
            "place": rpt_("frame {:g}", fault.frames[0])
            if len(fault.frames) == 1
            else rpt_("{:d} frames", len(fault.frames)),
            "track": track_name(fault.track),
            "name": fault.finding.message,
        }
        for fault in faults
    ]


class TCB_OT_key_whole(OnSelection, bpy.types.Operator):
    """Key all channels of a rotation at frames where any channel has a key"""

    bl_idname = "tcb.key_whole"
    bl_label = "Key All Rotation Channels"

    work = staticmethod(animation.key_whole_many)
    done = n_("Keyed all rotation channels of {:s}")
    otherwise = n_("All rotation channels are already keyed at the same frames")


class TCB_OT_turns_shortest(bpy.types.Operator):
    """Take the shortest path to the keys named in this message"""

    bl_idname = "tcb.turns_shortest"
    bl_label = "Set Turns to Shortest"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        if any(note.code == "TURNS_KEPT" for note in result_notes()):
            return True
        cls.poll_message_set("No message about long turns")
        return False

    def execute(self, context: Any) -> Status:
        paths_by_object: dict[str, list[str]] = {}
        for note in result_notes():
            if note.code == "TURNS_KEPT":
                paths_by_object.setdefault(note.object, []).append(note.track)
        report = animation.Report()
        for obj in context.scene.objects:
            for path in paths_by_object.get(name_of(obj), ()):
                with errors_in(report):
                    animation.choose(obj, path, path="SHORTEST")
                    report.tracks += 1
        return finish(self, report, rpt_("Turns are now Shortest on {:s}", report.counts))


# Operators that add and remove frame functions


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
            change = number_text(100 * timing.speed_change, 1)
            text = n_("Frame function with {:d} keys. The speed varies by {:s}% between frames. Bake to play it")
            self.report({"INFO"}, rpt_(text, count, change))


class TCB_OT_frame_function_remove(_FrameFunctionBase, bpy.types.Operator):
    """Remove the frame function and restore the original timing"""

    bl_idname = "tcb.frame_function_remove"
    bl_label = "Remove Frame Function"

    def work(self, _context: bpy.types.Context, datablock: bpy.types.ID, path: str) -> None:
        remove_retiming(datablock, path)
