# SPDX-License-Identifier: GPL-3.0-or-later
"""The first panel of the TCB sidebar tab in the 3D Viewport: tracks, and the key near the current frame."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation.checks.key_info import ShownKey
from ..animation.checks.track_state import has_animated_bones
from ..animation.datablocks import name_of
from ..animation.fcurves.action_refusals import layered_refusals
from ..animation.store.tracks import Track
from ..animation.translation import iface_, n_
from ..ui import selection
from ..ui.chosen_keys import chosen_keys
from ..ui.track_text import ShownState, property_label
from .header import draw_header, shown_states
from .key import draw_chosen_keys, draw_key_heading
from .widgets import draw_text

_HEADINGS = {
    "AT": n_("Frame {:g} · {:s}"),
    "BEFORE": n_("Before: frame {:g} · {:s}"),
    "AFTER": n_("After: frame {:g} · {:s}"),
}


class TracksPanel:
    """Tracks of the active object or bone, and the key near the current frame"""

    bl_label = "TCB"

    def draw(self: Any, context: bpy.types.Context) -> None:
        layout = self.layout
        draw_header(layout, context)
        _draw_tracks(context, layout)
        found = selection.active_key(context)
        if found is not None:
            _draw_key(context, layout, *found)
        elif selection.active_track(context) is not None:
            layout.label(text="This track has no keys", icon="INFO")


def _draw_tracks(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Draw the tracks of the active object or bone, or the reason why there are none."""
    tracks, lost, unused = shown_states(context), selection.lost_tracks(context), selection.unused_tracks(context)
    bones = context.mode != "POSE" and context.object is not None and has_animated_bones(context.object)
    if not (tracks or bones or lost or unused):
        _draw_nothing(context, layout)
        return
    bone = selection.active_bone(context)
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
        layout.label(text="For bones, use Pose Mode", icon="BONE_DATA")


def _draw_key(
    context: bpy.types.Context, layout: bpy.types.UILayout, datablock: bpy.types.ID, track: Track, key: ShownKey
) -> None:
    """Draw the heading, the sliders and the buttons of the key near the current frame."""
    count = len(chosen_keys(context))
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
        select.track = selection.track_identifier(datablock, track.path)
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
        bone = selection.active_bone(context)
        return iface_("The active bone has no keyframes") if bone else iface_("No active bone. Click a bone")
    return iface_("{:s} has no keyframes", context.object.name)
