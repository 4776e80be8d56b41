# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar tab TCB of the 3D viewport: the tracks of the active object or bone, the key near the current frame,
the track's choices, and the bake."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ..animation import Refusal, of_object
from ..animation.bake.plans.handles import is_keyed_whole
from ..animation.bake.plans.splines import bends_by_parameters, options_of
from ..animation.checks.key_info import has_animated_bones, state, state_text, turn_now, values_now
from ..animation.datablocks import name_of
from ..animation.edit.selected_keys import goes_by_velocities
from ..animation.fcurves.channels import layered_refusals
from ..animation.fcurves.editable import check_editable
from ..animation.report import one_of_each
from ..animation.store.live_switch import is_live
from ..animation.store.original_actions import originals
from ..animation.store.own_keys import read_own_keys
from ..animation.store.parameters import velocity_size
from ..animation.store.paths import split
from ..animation.store.table.options import Options
from ..animation.store.tracks import Track, why_not
from ..animation.translation import iface_, n_
from ..interp.splines.methods import METHODS
from ..ui import handlers, preferences, redraw, selection
from ..ui.properties import SLIDERS_OF_VELOCITY

_LETTER = 6.4
"""Pixels at a resolution scale of 1, on the average."""
_BESIDE = 70.0
"""The same, of what stands beside a line: an icon, margins and the tabs."""
_SLIDER = 0.62
"""Of a row in which the range of what is mixed stands, too."""
_WIDE = 0.7
"""Of a row with two buttons, the one that is pressed more often."""
_SHORTEST = 20
"""Letters. Narrower regions cut lines."""
SHOWN_NOTES = 3
"""Notes of Live that the panel has room for; the rest is counted."""
_STATE_ICONS = {
    "PLAIN": "BLANK1",
    "TCB": "KEYFRAME",
    "HANDLES": "HANDLE_FREE",
    "BAKED": "KEYFRAME_HLT",
    "OUT_OF_DATE": "FILE_REFRESH",
}
_KEY_LABELS = {"AT": n_("Key"), "BEFORE": n_("Key before"), "AFTER": n_("Key after")}
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
_LETTERS = {
    "TRANSLATION": "XYZ",
    "XYZ": "XYZ",
    "XYZ_LENGTH": "XYZ",
    "DIRECTION": "XYZ",
    "VELOCITY": "XYZ",
    "ACCELERATION": "XYZ",
    "EULER": "XYZ",
    "QUATERNION": "WXYZ",
    "AXISANGLE": "WXYZ",
    "COLOR": "RGBA",
    "COLOR_GAMMA": "RGBA",
}


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
        redraw.begin()
        draw_bake(self.layout, context)


def draw_bake(layout: Any, context: bpy.types.Context) -> None:
    options = sidebar(context)
    bake = layout.operator("tcb.bake", icon="KEYFRAME_HLT")
    for name in BAKE_OPTIONS:
        setattr(bake, name, getattr(options, name))
    if any(_has_generated(track) for _, track in selection.active_tracks(context)):
        back = layout.operator("tcb.bake", text="Back to Handles", icon="HANDLE_FREE")
        # What is not set here would be what the operator was last called with.
        for name in BAKE_OPTIONS:
            setattr(back, name, getattr(options, name))
        back.output, back.target, back.frames = "HANDLES", "IN_PLACE", "KEYS"
    if not originals().keys().isdisjoint(active_actions(context)):
        layout.operator("tcb.back_to_original", icon="BACK")
    if any(_is_ragged(track) for _, track in selection.active_tracks(context)):
        layout.operator("tcb.key_whole", icon="KEY_HLT")
    ends = layout.split(factor=_WIDE, align=True)
    ends.operator("tcb.restore", icon="LOOP_BACK")
    ends.operator("tcb.apply", text="Apply")
    draw_live(layout, context)


def _has_generated(track: Track) -> bool:
    """Whether a bake has put keys among the track's own."""
    return track.state is not None and any(len(each.generated) for each in track.state.channels.values())


def _is_ragged(track: Track) -> bool:
    """Whether it is a TCB rotation that handles can't play as its channels are not keyed together."""
    if not (track.is_rotation and track.enabled):
        return False
    own = read_own_keys(track)
    return bool(own) and not is_keyed_whole(track, own)


def draw_live(layout: Any, context: bpy.types.Context) -> None:
    """The switches of the actions of the active object and what it is made of, and what the last bakes by themselves
    could not do."""
    actions = active_actions(context)
    for action in actions:
        layout.prop(action, "tcb_live", text=iface_("Live: {:s}", action.name) if len(actions) > 1 else iface_("Live"))
    if any(map(is_live, actions)) and _has_other_options(context):
        draw_text(layout, context, iface_("Baked with other options or defaults: Bake TCB takes these"))
    said = one_of_each(line for action in actions for line in handlers.said_of(action))
    for line, alike in list(said.items())[:SHOWN_NOTES]:
        draw_text(layout, context, line)
        handlers.note_seen(alike)
    if len(said) > SHOWN_NOTES:
        layout.label(text=iface_("… and {:d} notes more", len(said) - SHOWN_NOTES), translate=False)


def _has_other_options(context: bpy.types.Context) -> bool:
    """Whether a live track that the sidebar lists was baked otherwise than the sidebar says."""
    options = handlers.options_of(context.scene)
    for datablock, track in selection.active_tracks(context):
        animation: Any = getattr(datablock, "animation_data")  # noqa: B009  it has tracks
        if track.baked and is_live(animation.action) and not _state_fault(track):
            kept = track.settings.options
            if kept is not None and not (_plays_handles(kept, options) or kept == options):
                return True
    return False


def _plays_handles(kept: Options, options: Options) -> bool:
    """Whether handles play a track with the defaults of the sidebar: of its other options none matters to them."""
    return kept.output == "HANDLES" and kept.defaults == options.defaults


def draw_text(layout: Any, context: bpy.types.Context, text: str, icon: str = "INFO") -> None:
    """A sentence, in as many lines as it takes where the region is narrow."""
    region, user = context.region, context.preferences
    # Without a window there is no scale, and may be no region.
    width = region.width / ((user and user.system.ui_scale) or 1.0) if region is not None else 0.0
    wrapped = textwrap.wrap(text, max(_SHORTEST, int((width - _BESIDE) / _LETTER)))
    column = layout.column(align=True)
    for number, line in enumerate(wrapped):
        column.label(text=line, icon="BLANK1" if number else icon, translate=False)


def active_actions(context: bpy.types.Context) -> list[bpy.types.Action]:
    """The actions of the active object and what it is made of, each once."""
    if context.object is None:
        return []
    animations = [getattr(datablock, "animation_data", None) for datablock in of_object(context.object)]
    return list(dict.fromkeys(animation.action for animation in animations if animation and animation.action))


class TCB_PT_bake_options(_Sidebar):
    """How to bake"""

    bl_idname = "TCB_PT_bake_options"
    bl_parent_id = "TCB_PT_bake"
    bl_label = "Bake Options"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        draw_bake_options(self.layout, context)


def draw_bake_options(layout: Any, context: bpy.types.Context) -> None:
    options = sidebar(context)
    layout.use_property_split = True
    layout.use_property_decorate = False
    hidden = {"value_tolerance", "rotation_tolerance"} if options.output == "SAMPLES" else {"step"}
    if options.frames != "CUSTOM":
        hidden |= {"frame_start", "frame_end"}
    for name in BAKE_OPTIONS:
        if name not in hidden:
            layout.prop(options, name)


class TCB_PT_defaults(_Sidebar):
    """The parameters of keys that have none of their own"""

    bl_idname = "TCB_PT_defaults"
    bl_parent_id = "TCB_PT_bake"
    bl_label = "Defaults"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        draw_defaults(self.layout, context)


def draw_defaults(layout: Any, context: bpy.types.Context) -> None:
    layout.label(text="Keys without parameters of their own:")
    draw_parameters(layout.column(align=True), context, sidebar(context).defaults)


class TCB_PT_tracks(_Sidebar):
    """The tracks, and how far they are"""

    bl_idname = "TCB_PT_tracks"
    bl_label = "TCB Tracks"

    def draw(self, context: bpy.types.Context) -> None:
        redraw.begin()
        layout: Any = self.layout
        tracks = selection.active_tracks(context)
        bones = context.mode != "POSE" and context.object is not None and has_animated_bones(context.object)
        if not tracks and not bones:
            layered = [refusal for action in active_actions(context) for refusal in layered_refusals(action)]
            if layered:
                draw_text(layout, context, str(layered[0]))
            else:
                layout.label(text=_why_no_tracks(context), icon="INFO", translate=False)
            if not selection.why_nothing_is_selected(context):
                layout.operator("tcb.enable")
                layout.operator("tcb.remove")
            return
        bone = context.active_pose_bone if context.mode == "POSE" else None
        if bone is not None:
            layout.label(text=bone.name, icon="BONE_DATA", translate=False)
        if tracks:
            _draw_list(context, layout, tracks)
        for datablock, track in selection.unused_tracks(context):
            row = layout.row()
            row.enabled = False
            row.label(text=track_label(datablock, track), icon="BLANK1", translate=False)
            row.label(text="other rotation mode")
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
        where = iface_(_KEY_LABELS[key.where])
        text = iface_("{:s}: frame {:g} ({:d} of {:d})", where, key.frame, key.number, key.count)
        label.label(text=text, translate=False)
        row.operator("tcb.key_jump", text="", icon="NEXT_KEYFRAME").direction = "NEXT"

        reason = why_not_editable(datablock, track)
        column = layout.column(align=True)
        column.enabled = not reason
        draw_parameters(column, context, sidebar(context), unused=without_bending([track]))
        if goes_by_velocities(track):
            draw_velocity(column, sidebar(context), [(datablock, track)])
        if reason:
            draw_text(layout, context, reason, "LOCKED")
        draw_key_tools(layout)
        if key.where != "AT":
            layout.operator("tcb.make_key", icon="KEYFRAME")
        _draw_value(context, layout, datablock, track)


def draw_parameters(
    layout: Any, context: bpy.types.Context, owner: Any, ranges: Mapping[str, str] | None = None, unused: str = ""
) -> None:
    """A slider for each parameter; of those that differ from key to key the range stands beside it.

    `unused`: says by what the method goes, where all but the eases mean nothing to it.
    """
    whole = layout
    if unused:
        whole.label(text=unused, icon="INFO", translate=False)
    for name, slider in preferences.shown_names(context).items():
        layout = whole.row()
        layout.active = not unused or name.startswith("ease")
        if ranges and name in ranges:
            row = layout.split(factor=_SLIDER, align=True)
            row.prop(owner, slider, slider=True)
            row.label(text=ranges[name], translate=False)
        else:
            layout.prop(owner, slider, slider=True)


def draw_velocity(
    layout: Any, owner: Any, tracks: Sequence[tuple[bpy.types.ID, Track]], ranges: Mapping[int, str] | None = None
) -> None:
    """A slider for each component of the velocity, of those of `tracks`; ranges as of `draw_parameters`."""
    layout.label(text="Velocity a frame:")
    sizes = [velocity_size(track) for _, track in tracks]
    for index in range(min(SLIDERS_OF_VELOCITY, max(sizes))):
        having = [pair for pair, size in zip(tracks, sizes, strict=True) if index < size]
        letters = {"XYZ"[index] if track.is_rotation else _letter(item, track, index) for item, track in having}
        letter = letters.pop() if len(letters) == 1 else str(index)
        row = layout.row()
        if ranges and index in ranges:
            row = layout.split(factor=_SLIDER, align=True)
        row.prop(owner, "velocity", index=index, text=letter, translate=False)
        if ranges and index in ranges:
            row.label(text=ranges[index], translate=False)


def without_bending(tracks: Sequence[Track]) -> str:
    """By what the method goes, where all have one to which tension, continuity and bias mean nothing; else nothing."""
    if any(_state_fault(track) or bends_by_parameters(track, track.settings) for track in tracks):
        return ""
    labels = {METHODS[track.settings.method].label for track in tracks}
    if len(labels) != 1:
        return ""
    by_velocities = any(map(goes_by_velocities, tracks))
    text = n_("{:s} goes by ease and velocity") if by_velocities else n_("{:s} goes by ease alone")
    return iface_(text, iface_(labels.pop()))


def draw_key_tools(layout: Any) -> None:
    """What can be done with the parameters of keys."""
    row = layout.row(align=True)
    row.popover("TCB_PT_presets", text="Presets", icon="PRESET")
    row.operator("tcb.key_copy", text="", icon="COPYDOWN")
    row.operator("tcb.key_paste", text="", icon="PASTEDOWN")
    row.operator("tcb.key_reset", text="", icon="LOOP_BACK")


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
        draw_choices(self.layout, context)


def draw_choices(layout: Any, context: bpy.types.Context) -> None:
    """What is chosen for tracks as a whole; of several what all of them have, and a word where they differ."""
    tracks = [track for _, track in selection.chosen_tracks(context)]
    layout.use_property_split = True
    layout.use_property_decorate = False
    if not all(track.enabled for track in tracks):
        layout.label(text="Enable TCB to choose", icon="INFO")
        return
    fault = next(filter(None, map(_state_fault, tracks)), "")
    if fault:
        layout.label(text=fault, icon="ERROR", translate=False)
        return
    for name in _choices_of(tracks):
        layout.prop(sidebar(context), name)
        if len({getattr(track.settings, name) for track in tracks}) > 1:
            row = layout.row()
            row.alignment = "RIGHT"
            row.label(text="not the same on all tracks")


def _choices_of(tracks: Sequence[Track]) -> list[str]:
    """Those that matter on all tracks."""
    names = ["method", "angles", "cycle", "ends", "construction", "path"]
    for track in tracks:
        # Every method says so where it can't turn as far as the keys.
        always = {"method", "cycle", *(("path",) if track.is_rotation else ())}
        names = [name for name in names if name in always or name in options_of(track, track.settings)]
    return names


def _draw_list(context: bpy.types.Context, layout: Any, tracks: list[tuple[bpy.types.ID, Track]]) -> None:
    shown = selection.active_track(context)
    assert shown is not None
    several = len({datablock for datablock, _ in tracks}) > 1
    column = layout.column(align=True)
    for datablock, track in tracks:
        current = _state(track)
        row = column.row(align=True)
        name = track_label(datablock, track)
        label = f"{name}, {name_of(datablock)}" if several and datablock != context.object else name
        chosen = track.path == shown[1].path and datablock == shown[0]
        select = row.operator(
            "tcb.track_select", text=label, icon=_STATE_ICONS[current], depress=chosen, translate=False
        )
        select.track = selection.track_identifier(datablock, track)
        state_row = row.row()
        state_row.alignment = "RIGHT"
        state_row.label(text=state_text(track, current), translate=False)


def sidebar(context: bpy.types.Context) -> Any:
    """What the tab edits."""
    scene: Any = context.scene
    return scene.tcb


def track_label(datablock: bpy.types.ID, track: Track) -> str:
    """The property's name as Blender shows it; of a part of the datablock with that part's name."""
    owner_path, name = split(track.path)
    if name.startswith("["):
        return name[1:-1]
    owner = _owner(datablock, track)
    prop = owner and owner.bl_rna.properties.get(name)
    if not prop:
        return track.path
    label = iface_(prop.name)
    part = "" if owner_path.startswith("pose.bones[") else getattr(owner, "name", "")
    return f"{label}, {part}" if owner_path and part else label


def _owner(datablock: bpy.types.ID, track: Track) -> Any:
    """What has the animated property."""
    owner_path = split(track.path)[0].removesuffix(".")
    try:
        return datablock.path_resolve(owner_path) if owner_path else datablock
    except ValueError:
        return None


def _letter(datablock: bpy.types.ID, track: Track, index: int) -> str:
    """How Blender names that component of the property."""
    owner = _owner(datablock, track)
    prop = owner and owner.bl_rna.properties.get(split(track.path)[1])
    letters = _LETTERS.get(prop.subtype, "") if prop else ""
    if index < len(letters):
        return letters[index]
    return str(index) if len(track.rest) > 1 else iface_("Value")


def _why_no_tracks(context: bpy.types.Context) -> str:
    if context.object is None:
        return iface_("No active object")
    if context.mode == "POSE":
        return iface_("The active bone has no keyframes") if context.active_pose_bone else iface_("No active bone")
    return iface_("{:s} has no keyframes", context.object.name)


def _state(track: Track) -> str:
    return "OUT_OF_DATE" if _state_fault(track) else state(track)


def why_not_editable(datablock: bpy.types.ID, track: Track) -> str:
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


def _draw_value(context: bpy.types.Context, layout: Any, datablock: bpy.types.ID, track: Track) -> None:
    """The interpolated value now; of a rotation the turn from the key before, as 3D Studio's key info shows it."""
    box = layout.box().column(align=True)
    frame = selection.action_frame(context, datablock)
    defaults = selection.default_parameters(context)
    try:
        if track.is_rotation:
            angle, axis = turn_now(track, frame, defaults)
            box.label(text="From the key before:")
            box.label(text=iface_("Angle {:.3f}°", math.degrees(angle)), translate=False)
            box.label(text=iface_("Axis {:.4f}, {:.4f}, {:.4f}", *axis), translate=False)
            return
        box.label(text=iface_("Value at frame {:g}:", frame), translate=False)
        for index, value in values_now(track, frame, defaults).items():
            box.label(text=f"{_letter(datablock, track, index)} {value:.6g}", translate=False)
    except Refusal as refusal:
        box.label(text=refusal.reason, icon="ERROR", translate=False)
