# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab TCB of the 3D viewport: bake, tracks, the key near the current frame, the track's choices."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation import AnimationError
from ..animation.checks.key_info import turn_now, values_now
from ..animation.checks.track_state import STATES, has_animated_bones, state
from ..animation.datablocks import name_of
from ..animation.fcurves.refused_actions import layered_refusals
from ..animation.number_text import angle_text, number_text
from ..animation.store.tracks import Track
from ..animation.translation import iface_, n_
from ..ui import redraw, selection
from ..ui.redraw import layout_of
from .bake import BakeOptionsPanel, BakePanel, DefaultsPanel
from .chosen_keys import draw_chosen_diagram, draw_chosen_keys, has_diagram
from .live import MessagesPanel, draw_live
from .track_text import property_label, settings_error, state_text
from .widgets import draw_choices, draw_key_heading, draw_text

_STATE_ICONS = {
    "PLAIN": "BLANK1",
    "TCB": "KEYFRAME",
    "HANDLES": "HANDLE_FREE",
    "BAKED": "LOCKED",
    "OUT_OF_DATE": "FILE_REFRESH",
    "EDITED_OUTSIDE": "ERROR",
    "OTHER_MODE": "ORIENTATION_GIMBAL",
}
_KEY_LABELS = {"AT": n_("Key"), "BEFORE": n_("Key before"), "AFTER": n_("Key after")}


class _InSidebar(bpy.types.Panel):
    """Put panels into the sidebar's tab."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "TCB"


class TCB_PT_tracks(_InSidebar):
    """Live, and the tracks of the active object or bone with their states"""

    bl_idname = "TCB_PT_tracks"
    bl_label = "TCB"

    def draw(self, context: bpy.types.Context) -> None:
        redraw.begin()
        layout = layout_of(self)
        tracks = selection.active_tracks(context)
        draw_live(layout, context)
        bones = context.mode != "POSE" and context.object is not None and has_animated_bones(context.object)
        lost, unused = selection.lost_tracks(context), selection.unused_tracks(context)
        if not (tracks or bones or lost or unused):
            _draw_nothing(context, layout)
            return
        bone = context.active_pose_bone if context.mode == "POSE" else None
        if bone is not None:
            layout.label(text=bone.name, icon="BONE_DATA", translate=False)
        if tracks:
            _draw_list(context, layout, tracks)
        for datablock, track in lost:
            row = layout.row()
            row.label(text=property_label(datablock, track), icon="ERROR", translate=False)
            row.label(text=STATES["EDITED_OUTSIDE"])
        for datablock, track in unused:
            row = layout.row()
            row.enabled = False
            row.label(text=property_label(datablock, track), icon="BLANK1", translate=False)
            row.label(text="other rotation mode")
        if unused:
            draw_text(layout, context, iface_("These keys do not play in this rotation mode. Choose theirs:"))
            layout.prop(bone or context.object, "rotation_mode", text="")
        if bones:
            layout.label(text="Its bones' tracks: in Pose Mode", icon="BONE_DATA")
        _draw_enable(context, layout, [track for _, track in tracks])


class TCB_PT_key(_InSidebar):
    """The key at, before or after the current frame"""

    bl_idname = "TCB_PT_key"
    bl_parent_id = "TCB_PT_tracks"
    bl_label = "Key"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return selection.active_track(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        found = selection.active_key(context)
        if found is None:
            layout.label(text="This track has no keys", icon="INFO")
            return
        datablock, track, key = found
        where = iface_(_KEY_LABELS[key.where])
        draw_key_heading(layout, iface_("{:s}: frame {:g} ({:d} of {:d})", where, key.frame, key.number, key.count))
        chosen = selection.chosen_keys(context)
        if len(chosen) > 1:
            layout.label(text=_several(context, datablock, track, len(chosen)), translate=False)
        between = key.where != "AT"
        # A turn is told of a rotation instead.
        has_values = between and not track.is_rotation
        now = values_now(track, selection.action_frame(context, datablock)) if has_values else None
        draw_chosen_keys(layout, context, now)
        # There always, so that nothing below moves when the frame changes.
        row = layout.row()
        row.enabled = between
        row.operator("tcb.make_key", icon="KEYFRAME")
        if track.is_rotation:
            _draw_turn(context, layout, datablock, track)


class TCB_PT_diagram(_InSidebar):
    """The curve through the key: where it bends, and how fast it is along the way (dots at equal steps of time)"""

    bl_idname = "TCB_PT_diagram"
    bl_label = "Diagram"
    bl_parent_id = "TCB_PT_key"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_diagram(context)

    def draw(self, context: bpy.types.Context) -> None:
        draw_chosen_diagram(layout_of(self), context)


class TCB_PT_track(_InSidebar):
    """Choices for the track as a whole"""

    bl_idname = "TCB_PT_track"
    bl_parent_id = "TCB_PT_tracks"
    bl_label = "Track"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return selection.active_track(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        draw_choices(self.layout, context)


class TCB_PT_bake(BakePanel, _InSidebar):
    """Bake TCB motion, free it or keep it as plain animation"""

    bl_idname = "TCB_PT_bake"


class TCB_PT_bake_options(BakeOptionsPanel, _InSidebar):
    """Options of the next bake"""

    bl_idname = "TCB_PT_bake_options"
    bl_parent_id = "TCB_PT_bake"


class TCB_PT_defaults(DefaultsPanel, _InSidebar):
    """The parameters of keys that have none of their own"""

    bl_idname = "TCB_PT_defaults"
    bl_parent_id = "TCB_PT_bake"


class TCB_PT_messages(MessagesPanel, _InSidebar):
    """Messages of Live about the last edits, and on keys that were not moved and options that a bake would change"""

    bl_idname = "TCB_PT_messages"


def _draw_list(context: bpy.types.Context, layout: Any, tracks: list[tuple[bpy.types.ID, Track]]) -> None:
    shown = selection.active_track(context)
    assert shown is not None
    several = len({datablock for datablock, _ in tracks}) > 1
    column = layout.column(align=True)
    for datablock, track in tracks:
        current = _state(track)
        row = column.row(align=True)
        name = property_label(datablock, track)
        label = f"{name}, {name_of(datablock)}" if several and datablock != context.object else name
        chosen = track.path == shown[1].path and datablock == shown[0]
        select = row.operator(
            "tcb.track_select", text=label, icon=_STATE_ICONS[current], depress=chosen, translate=False
        )
        select.track = selection.track_identifier(datablock, track)
        state_row = row.row()
        state_row.alignment = "RIGHT"
        state_row.label(text=state_text(track, current), translate=False)


def _draw_nothing(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Draw why no track is listed, and the way out."""
    layered = [error for action in selection.active_actions(context) for error in layered_refusals(action)]
    strips = selection.in_strips_only(context)
    if layered:
        draw_text(layout, context, str(layered[0]))
    elif strips:
        draw_text(
            layout,
            context,
            iface_("The animation is in NLA strips, whose actions Bake includes. Tweak a strip to edit its keys:"),
        )
        for animation in strips:
            layout.prop(animation, "use_tweak_mode", text="Tweak Strip", icon="NLA", toggle=True)
    else:
        layout.label(text=_reason_for_no_tracks(context), icon="INFO", translate=False)
    if not selection.reason_nothing_is_selected(context):
        _draw_enable(context, layout, [])


def _draw_enable(context: bpy.types.Context, layout: bpy.types.UILayout, tracks: list[Track]) -> None:
    """Draw Enable, Remove, or both where the tracks or what else is selected may need either."""
    enabled = [track.enabled for track in tracks]
    several = len((context.mode == "POSE" and context.selected_pose_bones) or context.selected_objects) > 1
    column = layout.column(align=True)
    if not (selection.is_all_tcb(context) and all(enabled)):
        column.operator("tcb.enable")
    # Also what is left of TCB on tracks that are not.
    if several or not enabled or any(enabled) or any(track.table.error or track.frame_curve for track in tracks):
        column.operator("tcb.remove")


def _several(context: bpy.types.Context, datablock: bpy.types.ID, track: Track, count: int) -> str:
    """Return how many bones or objects the sliders are about, and the property."""
    text = n_("{:d} bones: {:s}") if context.mode == "POSE" else n_("{:d} objects: {:s}")
    return iface_(text, count, property_label(datablock, track))


def _reason_for_no_tracks(context: bpy.types.Context) -> str:
    if context.object is None:
        return iface_("No active object")
    if context.mode == "POSE":
        return iface_("The active bone has no keyframes") if context.active_pose_bone else iface_("No active bone")
    return iface_("{:s} has no keyframes", context.object.name)


def _state(track: Track) -> str:
    return "OUT_OF_DATE" if settings_error(track) else state(track)


def _draw_turn(context: bpy.types.Context, layout: bpy.types.UILayout, datablock: bpy.types.ID, track: Track) -> None:
    """Draw the turn of a rotation from the last key to the current frame, as 3D Studio's Key Info shows it."""
    box = layout.box().column(align=True)
    frame = selection.action_frame(context, datablock)
    try:
        turn = turn_now(track, frame, selection.default_parameters(context))
    except AnimationError as error:
        box.label(text=error.reason, icon="ERROR", translate=False)
        return
    text = iface_(
        "Turn from frame {:g} to {:g}: {:s}", round(turn.start, 2), round(turn.end, 2), angle_text(turn.angle)
    )
    box.label(text=text, translate=False)
    box.label(text=iface_("Axis {:s}, {:s}, {:s}", *map(number_text, turn.axis)), translate=False)
