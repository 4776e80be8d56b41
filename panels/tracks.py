# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel with the tracks of the active object or bone, and the key near the current frame."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation.checks.shown_key import ShownKey
from ..animation.datablocks import name_of
from ..animation.errors import AnimationError
from ..animation.fcurves.action_refusals import layered_refusals
from ..animation.fcurves.channels import channels_of
from ..animation.store.paths import BONES
from ..animation.store.tracks import Track
from ..animation.translation import iface_, n_
from ..ui import selection, sidebar_tracks
from ..ui.chosen_keys import chosen_keys
from ..ui.shown_states import ShownState, shown_states
from ..ui.track_text import property_label
from .header import draw_header
from .key import draw_chosen_keys, draw_key_heading
from .widgets import draw_text


class TracksPanel:
    """Tracks of the active object or bone, and the key near the current frame"""

    bl_label = "TCB"

    def draw(self: Any, context: bpy.types.Context) -> None:
        layout = self.layout
        draw_header(layout, context)
        _draw_tracks(layout, context)
        active = sidebar_tracks.active_key(context)
        if active is not None:
            _, _, key = active
            _draw_key(layout, context, key)
        elif sidebar_tracks.active_track(context) is not None:
            layout.label(text="This track has no keys", icon="INFO")


def _draw_tracks(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the tracks of the active object or bone, or the reason why there are none."""
    tracks = shown_states(context)
    lost, unused = sidebar_tracks.lost_tracks(context), sidebar_tracks.unused_tracks(context)
    has_bones = context.mode != "POSE" and context.object is not None and _has_animated_bones(context.object)
    if not (tracks or has_bones or lost or unused):
        _draw_reason_for_no_tracks(layout, context)
        return
    bone = selection.active_bone(context)
    if bone is not None:
        layout.label(text=bone.name, icon="BONE_DATA", translate=False)
    column = layout.column(align=True)
    _draw_list(column, context, tracks)
    for datablock, track in lost:
        column.label(text=property_label(datablock, track), icon="ERROR", translate=False)
    for datablock, track in unused:
        row = column.row(align=True)
        gray_label = row.row()
        gray_label.enabled = False
        gray_label.label(text=property_label(datablock, track), icon="BLANK1", translate=False)
        row.prop(bone or context.object, "rotation_mode", text="")
    if has_bones:
        layout.label(text="For bones, use Pose Mode", icon="BONE_DATA")


def _has_animated_bones(armature: bpy.types.Object) -> bool:
    try:
        return any(fcurve.data_path.startswith(BONES) for fcurve in channels_of(armature))
    except AnimationError:
        # Without an F-curve, `_draw_reason_for_no_tracks` shows the reason.
        return False


def _draw_list(
    column: bpy.types.UILayout, context: bpy.types.Context, tracks: list[tuple[bpy.types.ID, Track, ShownState]]
) -> None:
    """Draw a button for each track, with its maximum error if it exceeds the tolerance."""
    active = sidebar_tracks.active_track(context)
    has_several_owners = len({datablock for datablock, _, _ in tracks}) > 1
    for datablock, track, state in tracks:
        row = column.row(align=True)
        label = property_label(datablock, track)
        if has_several_owners and datablock != context.object:
            label = f"{label}, {name_of(datablock)}"
        is_active = active is not None and track.path == active[1].path and datablock == active[0]
        icon: Any = state.icon
        select = row.operator("tcb.track_select", text=label, icon=icon, depress=is_active, translate=False)
        select.track = sidebar_tracks.track_identifier(datablock, track.path)
        if state.name == "APPROXIMATE":
            error_column = row.row()
            error_column.alignment = "RIGHT"
            error_column.label(text=state.label, translate=False)


def _draw_reason_for_no_tracks(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the reason why no track is listed, and a solution."""
    refusals = [refusal for action in sidebar_tracks.active_actions(context) for refusal in layered_refusals(action)]
    animations_in_strips = sidebar_tracks.in_strips_only(context)
    if refusals:
        draw_text(layout, context, str(refusals[0]))
    elif animations_in_strips:
        text = iface_("All animation is in NLA strips, which Bake includes. Tweak a strip to edit its keys:")
        draw_text(layout, context, text)
        for animation in animations_in_strips:
            layout.prop(animation, "use_tweak_mode", text="Tweak Strip", icon="NLA", toggle=True)
    else:
        layout.label(text=_reason_for_no_tracks(context), icon="INFO", translate=False)


def _reason_for_no_tracks(context: bpy.types.Context) -> str:
    if context.object is None:
        return iface_("No active object")
    if context.mode == "POSE":
        bone = selection.active_bone(context)
        return iface_("The active bone has no keyframes") if bone else iface_("No active bone. Click a bone")
    return iface_("{:s} has no keyframes", context.object.name)


_HEADINGS = {
    "AT": n_("Frame {:g} · {:s}"),
    "BEFORE": n_("Before: frame {:g} · {:s}"),
    "AFTER": n_("After: frame {:g} · {:s}"),
}


def _draw_key(layout: bpy.types.UILayout, context: bpy.types.Context, key: ShownKey) -> None:
    count = len(chosen_keys(context))
    if count > 1:
        count_text = iface_("{:d} bones", count) if context.mode == "POSE" else iface_("{:d} objects", count)
    else:
        # Blender's tool for translations joins all texts in one call.
        text = n_("key {:d} of {:d}") if key.where == "AT" else n_("{:d} of {:d}")
        count_text = iface_(text, key.number, key.count)
    can_make = key.where != "AT" and any(track.enabled for _, track in sidebar_tracks.active_tracks(context))
    draw_key_heading(layout, iface_(_HEADINGS[key.where], key.frame, count_text), can_make)
    draw_chosen_keys(layout, context)
