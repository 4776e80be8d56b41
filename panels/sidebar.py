# SPDX-License-Identifier: GPL-3.0-or-later
"""The TCB sidebar tab of the 3D Viewport: bake, tracks, the key near the current frame, and track settings."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.translations import contexts

from ..animation import AnimationError
from ..animation.checks.key_info import ShownKey, turn_now, values_now
from ..animation.checks.track_state import has_animated_bones
from ..animation.datablocks import name_of
from ..animation.fcurves.action_refusals import layered_refusals
from ..animation.number_text import angle_text, number_text
from ..animation.store.tracks import Track
from ..animation.translation import iface_, n_
from ..ui import selection
from ..ui.redraw import layout_of
from ..ui.track_text import ShownState, property_label
from .bake import BakePanel
from .header import draw_header, shown_states
from .key import draw_chosen_diagram, draw_chosen_keys, draw_key_heading, draw_place, has_diagram
from .widgets import draw_choices, draw_text

_HEADINGS = {
    "AT": n_("Frame {:g} · {:s}"),
    "BEFORE": n_("Before: frame {:g} · {:s}"),
    "AFTER": n_("After: frame {:g} · {:s}"),
}


class _InSidebar(bpy.types.Panel):
    """Base class of panels in the sidebar tab."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "TCB"


class TCB_PT_tracks(_InSidebar):
    """Tracks of the active object or bone, and the key near the current frame"""

    bl_idname = "TCB_PT_tracks"
    bl_label = "TCB"

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        draw_header(layout, context)
        _draw_tracks(context, layout)
        found = selection.active_key(context)
        if found is not None:
            _draw_key(context, layout, *found)
        elif selection.active_track(context) is not None:
            layout.label(text="This track has no keys", icon="INFO")


class TCB_PT_place(_InSidebar):
    """Frame and values of the key, and the motion at the current frame"""

    bl_idname = "TCB_PT_place"
    bl_parent_id = "TCB_PT_tracks"
    bl_label = "Frame and Values"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return selection.active_key(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        found = selection.active_key(context)
        assert found is not None
        datablock, track, key = found
        # Rotations show the turn instead.
        has_values = key.where != "AT" and not track.is_rotation
        draw_place(
            layout, context, values_now(track, selection.action_frame(context, datablock)) if has_values else None
        )
        if track.is_rotation:
            _draw_turn(context, layout, datablock, track)


class TCB_PT_diagram(_InSidebar):
    """Curve through the key, with dots at equal time steps"""

    bl_idname = "TCB_PT_diagram"
    bl_label = "Diagram"
    bl_parent_id = "TCB_PT_tracks"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_diagram(context)

    def draw(self, context: bpy.types.Context) -> None:
        draw_chosen_diagram(layout_of(self), context)


class TCB_PT_track(_InSidebar):
    """Method, cycle and turns of the whole track"""

    bl_idname = "TCB_PT_track"
    bl_parent_id = "TCB_PT_tracks"
    bl_label = "Track"
    bl_translation_context = contexts.id_action
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return selection.active_track(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        draw_choices(self.layout, context)


class TCB_PT_bake(BakePanel, _InSidebar):
    """Bake TCB motion, free it, or finish with plain animation"""

    bl_idname = "TCB_PT_bake"
    bl_parent_id = "TCB_PT_tracks"
    bl_options = {"HIDE_HEADER"}


def _draw_tracks(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Draw the tracks of the active object or bone, or the reason why there are none."""
    tracks, lost, unused = shown_states(context), selection.lost_tracks(context), selection.unused_tracks(context)
    bones = context.mode != "POSE" and context.object is not None and has_animated_bones(context.object)
    if not (tracks or bones or lost or unused):
        _draw_nothing(context, layout)
        return
    bone = context.active_pose_bone if context.mode == "POSE" else None
    if bone is not None:
        layout.label(text=bone.name, icon="BONE_DATA", translate=False)
    column = layout.column(align=True)
    _draw_list(context, column, tracks)
    for datablock, track in lost:
        column.label(text=property_label(datablock, track), icon="ERROR", translate=False)
    for datablock, track in unused:
        row = column.row(align=True)
        name = row.row()
        name.enabled = False
        name.label(text=property_label(datablock, track), icon="BLANK1", translate=False)
        row.prop(bone or context.object, "rotation_mode", text="")
    if bones:
        layout.label(text="Bones: see Pose Mode", icon="BONE_DATA")


def _draw_key(
    context: bpy.types.Context, layout: bpy.types.UILayout, datablock: bpy.types.ID, track: Track, key: ShownKey
) -> None:
    """Draw the heading, the sliders and the buttons of the key near the current frame."""
    count = len(selection.chosen_keys(context))
    if count > 1:
        keys = iface_("{:d} bones", count) if context.mode == "POSE" else iface_("{:d} objects", count)
    else:
        # Blender's tool joins the texts of one call.
        numbers = n_("key {:d} of {:d}") if key.where == "AT" else n_("{:d} of {:d}")
        keys = iface_(numbers, key.number, key.count)
    can_make = key.where != "AT" and any(each.enabled for _, each in selection.active_tracks(context))
    draw_key_heading(layout, iface_(_HEADINGS[key.where], key.frame, keys), can_make)
    draw_chosen_keys(layout, context)


def _draw_list(
    context: bpy.types.Context, column: bpy.types.UILayout, tracks: list[tuple[bpy.types.ID, Track, ShownState]]
) -> None:
    """Draw a button for each track, with its maximum error if it exceeds the tolerance."""
    shown = selection.active_track(context)
    several = len({datablock for datablock, _, _ in tracks}) > 1
    for datablock, track, state in tracks:
        row = column.row(align=True)
        name = property_label(datablock, track)
        label = f"{name}, {name_of(datablock)}" if several and datablock != context.object else name
        chosen = shown is not None and track.path == shown[1].path and datablock == shown[0]
        icon: Any = state.icon
        select = row.operator("tcb.track_select", text=label, icon=icon, depress=chosen, translate=False)
        select.track = selection.track_identifier(datablock, track)
        if state.name == "APPROXIMATE":
            error = row.row()
            error.alignment = "RIGHT"
            error.label(text=state.label, translate=False)


def _draw_nothing(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Draw the reason why no track is listed, and a solution."""
    layered = [error for action in selection.active_actions(context) for error in layered_refusals(action)]
    strips = selection.in_strips_only(context)
    if layered:
        draw_text(layout, context, str(layered[0]))
    elif strips:
        draw_text(
            layout,
            context,
            iface_("All animation is in NLA strips, which Bake includes. Tweak a strip to edit its keys:"),
        )
        for animation in strips:
            layout.prop(animation, "use_tweak_mode", text="Tweak Strip", icon="NLA", toggle=True)
    else:
        layout.label(text=_reason_for_no_tracks(context), icon="INFO", translate=False)


def _reason_for_no_tracks(context: bpy.types.Context) -> str:
    if context.object is None:
        return iface_("No active object")
    if context.mode == "POSE":
        return iface_("The active bone has no keyframes") if context.active_pose_bone else iface_("No active bone")
    return iface_("{:s} has no keyframes", context.object.name)


def _draw_turn(context: bpy.types.Context, layout: bpy.types.UILayout, datablock: bpy.types.ID, track: Track) -> None:
    """Draw the turn of a rotation from the last key to the current frame, as in Key Info of 3D Studio."""
    box = layout.box().column(align=True)
    frame = selection.action_frame(context, datablock)
    try:
        turn = turn_now(track, frame, selection.default_parameters(context))
    except AnimationError as error:
        box.label(text=error.message, icon="ERROR", translate=False)
        return
    text = iface_(
        "Turn from frame {:g} to {:g}: {:s}", round(turn.start, 2), round(turn.end, 2), angle_text(turn.angle)
    )
    box.label(text=text, translate=False)
    box.label(text=iface_("Axis {:s}, {:s}, {:s}", *map(number_text, turn.axis)), translate=False)
