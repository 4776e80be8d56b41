# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab TCB of the 3D viewport: the tracks of the active object or bone, the key near the current frame,
the track's choices, and the bake."""

from __future__ import annotations

import math
from typing import Any

import bpy

from .. import selection
from ..animation import Refusal
from ..animation.companions import PARAMETERS
from ..animation.datablocks import name_of
from ..animation.enabling import check_editable
from ..animation.inspecting import STATES, has_animated_bones, state, turn_now, values_now
from ..animation.tracks import Track, why_not

_STATE_ICONS = {"PLAIN": "BLANK1", "TCB": "KEYFRAME", "BAKED": "KEYFRAME_HLT", "OUT_OF_DATE": "FILE_REFRESH"}
_KEY_LABELS = {"AT": "Key", "BEFORE": "Key before", "AFTER": "Key after"}
BAKE_OPTIONS = (
    "output",
    "step",
    "value_tolerance",
    "rotation_tolerance",
    "target",
    "frames",
    "frame_start",
    "frame_end",
)
_AXES = {3: "XYZ", 4: "WXYZ"}


class _Sidebar(bpy.types.Panel):
    """Where the panels stand."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "TCB"


class TCB_PT_bake(_Sidebar):
    """Bake, and take it away again"""

    bl_idname = "TCB_PT_bake"
    bl_label = "TCB"

    def draw(self, context: bpy.types.Context) -> None:
        layout: Any = self.layout
        options = _sidebar(context)
        bake = layout.operator("tcb.bake", icon="KEYFRAME_HLT")
        for name in BAKE_OPTIONS:
            setattr(bake, name, getattr(options, name))
        layout.operator("tcb.restore", icon="LOOP_BACK")


class TCB_PT_bake_options(_Sidebar):
    """How to bake"""

    bl_idname = "TCB_PT_bake_options"
    bl_parent_id = "TCB_PT_bake"
    bl_label = "Bake Options"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout: Any = self.layout
        options = _sidebar(context)
        layout.use_property_split = True
        layout.use_property_decorate = False
        hidden = {"value_tolerance", "rotation_tolerance"} if options.output == "SAMPLES" else {"step"}
        if options.frames != "CUSTOM":
            hidden |= {"frame_start", "frame_end"}
        for name in BAKE_OPTIONS:
            if name not in hidden:
                layout.prop(options, name)


class TCB_PT_tracks(_Sidebar):
    """The tracks, and how far they are"""

    bl_idname = "TCB_PT_tracks"
    bl_label = "TCB Tracks"

    def draw(self, context: bpy.types.Context) -> None:
        layout: Any = self.layout
        tracks = selection.active_tracks(context)
        bones = context.mode != "POSE" and context.object is not None and has_animated_bones(context.object)
        if not tracks and not bones:
            layout.label(text=_why_no_tracks(context), icon="INFO")
            return
        bone = context.active_pose_bone if context.mode == "POSE" else None
        if bone is not None:
            layout.label(text=bone.name, icon="BONE_DATA")
        if tracks:
            _draw_list(context, layout, tracks)
        if bones:
            layout.label(text="Its bones' tracks: in Pose Mode", icon="BONE_DATA")
        layout.operator("tcb.enable")
        layout.operator("tcb.remove")


class TCB_PT_key(_Sidebar):
    """The key at, before or after the current frame"""

    bl_idname = "TCB_PT_key"
    bl_parent_id = "TCB_PT_tracks"
    bl_label = "Key"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return selection.active_track(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout: Any = self.layout
        found = selection.active_key(context)
        if found is None:
            layout.label(text="This track has no keys", icon="INFO")
            return
        datablock, track, key = found
        row = layout.row(align=True)
        row.operator("tcb.key_jump", text="", icon="PREV_KEYFRAME").direction = "PREVIOUS"
        label = row.row()
        label.alignment = "CENTER"
        label.label(text=f"{_KEY_LABELS[key.where]}: frame {key.frame:g} ({key.number} of {key.count})")
        row.operator("tcb.key_jump", text="", icon="NEXT_KEYFRAME").direction = "NEXT"

        reason = _why_not(datablock, track)
        column = layout.column(align=True)
        column.enabled = not reason
        sidebar = _sidebar(context)
        for name in PARAMETERS:
            column.prop(sidebar, name, slider=True)
        if reason:
            layout.label(text=reason, icon="LOCKED")
        _draw_value(layout, track, selection.action_frame(context, datablock))


class TCB_PT_track(_Sidebar):
    """What is chosen for the track as a whole"""

    bl_idname = "TCB_PT_track"
    bl_parent_id = "TCB_PT_tracks"
    bl_label = "Track"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return selection.active_track(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout: Any = self.layout
        found = selection.active_track(context)
        assert found is not None
        track = found[1]
        layout.use_property_split = True
        layout.use_property_decorate = False
        if not track.enabled:
            layout.label(text="Enable TCB to choose", icon="INFO")
            return
        if _state_fault(track):
            layout.label(text=_state_fault(track), icon="ERROR")
            return
        sidebar = _sidebar(context)
        names = ("cycle", "ends", "construction", "path") if track.is_rotation else ("cycle",)
        for name in names:
            layout.prop(sidebar, name)


def _draw_list(context: bpy.types.Context, layout: Any, tracks: list[tuple[bpy.types.ID, Track]]) -> None:
    shown = selection.active_track(context)
    assert shown is not None
    several = len({datablock for datablock, _ in tracks}) > 1
    column = layout.column(align=True)
    for datablock, track in tracks:
        current = _state(track)
        row = column.row(align=True)
        name = track_label(track)
        label = f"{name}, {name_of(datablock)}" if several and datablock != context.object else name
        chosen = track.path == shown[1].path and datablock == shown[0]
        select = row.operator(
            "tcb.track_select", text=label, icon=_STATE_ICONS[current], depress=chosen, translate=False
        )
        select.track = selection.track_identifier(datablock, track)
        state_row = row.row()
        state_row.alignment = "RIGHT"
        state_row.label(text=STATES[current])


def _sidebar(context: bpy.types.Context) -> Any:
    scene: Any = context.scene
    return scene.tcb


def track_label(track: Track) -> str:
    """The property's name as a person knows it: without the bone, which is the active one."""
    name = track.path.rpartition(".")[2] if track.path.startswith("pose.bones[") else track.path
    return name.replace("_", " ").title() if name.isidentifier() else name


def _why_no_tracks(context: bpy.types.Context) -> str:
    if context.object is None:
        return "No active object"
    if context.mode == "POSE":
        return "The active bone has no keyframes" if context.active_pose_bone else "No active bone"
    return f"{context.object.name} has no keyframes"


def _state(track: Track) -> str:
    return "OUT_OF_DATE" if _state_fault(track) else state(track)


def _why_not(datablock: bpy.types.ID, track: Track) -> str:
    """Why nothing of the track can be changed; empty where it can."""
    try:
        check_editable(datablock)
    except Refusal as refusal:
        return refusal.reason
    return why_not(track)


def _state_fault(track: Track) -> str:
    """Why the track's saved settings can't be read; empty where they can."""
    try:
        _ = track.settings
    except Refusal as refusal:
        return refusal.reason
    return ""


def _draw_value(layout: Any, track: Track, frame: float) -> None:
    """The interpolated value now; of a rotation the turn from the key before, as 3D Studio's key info shows it."""
    box = layout.box().column(align=True)
    try:
        if track.is_rotation:
            angle, axis = turn_now(track, frame)
            box.label(text="From the key before:")
            box.label(text=f"Angle {math.degrees(angle):.3f}°")
            box.label(text=f"Axis {axis[0]:.4f}, {axis[1]:.4f}, {axis[2]:.4f}")
            return
        box.label(text=f"TCB value at frame {frame:g}:")
        letters = _AXES.get(len(track.rest), "")
        for index, value in values_now(track, frame).items():
            name = letters[index] if letters else str(index) if len(track.rest) > 1 else "Value"
            box.label(text=f"{name} {value:.6g}")
    except Refusal as refusal:
        box.label(text=refusal.reason, icon="ERROR")
