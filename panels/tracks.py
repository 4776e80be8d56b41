# SPDX-License-Identifier: GPL-3.0-or-later
"""The first panel of the TCB tab in each editor, with the list of tracks or keys, and the panel of track settings.

The list has a button for each NLA strip to tweak. The subpanels of the tab are in other modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.app.translations import contexts

from ..animation.checks.shown_key import ShownKey
from ..animation.edit.track_keys import TrackKeys
from ..animation.fcurves.channels import channels_of, layered_refusals
from ..animation.report import AnimationError
from ..animation.store.paths import BONES
from ..animation.store.table.track_records import Settings
from ..animation.store.tracks import Track, setting_names
from ..animation.text import iface_, listed, n_
from ..ui import preferences, redraw, selection, sidebar_tracks
from ..ui.chosen_keys import chosen_keys, chosen_tracks, reason_no_key_is_chosen
from ..ui.layouts import draw_properties
from ..ui.sidebar_tracks import ShownState, labels_of, owner_label, property_label, shown_states, states_in_strips
from .bake import BakePanel
from .key import DiagramPanel, FrameAndValuesPanel, draw_chosen_keys, draw_key_heading
from .messages import messages_in_tab
from .widgets import cut_text, draw_text, sidebar_settings

# Panel with the method, cycle and turns of the chosen tracks


class TrackSettingsPanel:
    """Method, cycle and turns of all tracks whose keys the sliders change"""

    bl_label = "Track"
    bl_translation_context = contexts.id_action
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(chosen_tracks(context))

    def draw(self: Any, context: bpy.types.Context) -> None:
        """Draw the settings that all chosen tracks have, and a note if the settings differ."""
        layout = self.layout
        tracks = [track for _, track in chosen_tracks(context)]
        if not all(track.enabled for track in tracks):
            layout.label(text="Enable TCB to change settings", icon="INFO")
            return
        for name in _common_settings(context, tracks):
            draw_properties(layout, sidebar_settings(context), [name])
            if len({getattr(track.settings, name) for track in tracks}) > 1:
                row = layout.row()
                row.alignment = "RIGHT"
                row.label(text="Differs between tracks")


_ORDER = ("method", "angles", "cycle", "ends", "construction", "path")
_OF_ALL = ("method", "cycle")
"""Settings of all methods."""
_ADVANCED = ("ends", "construction")
"""Settings that only old files need."""


def _common_settings(context: bpy.types.Context, tracks: Sequence[Track]) -> list[str]:
    """Return the settings that apply to all tracks.

    Advanced settings are included if the preference is on or they are in use.
    """
    applicable = set.intersection(*({*_OF_ALL, *setting_names(track, track.settings)} for track in tracks))
    if all(track.is_rotation for track in tracks):
        # Methods without this setting report turns that they cannot keep.
        applicable.add("path")
    return [
        name
        for name in _ORDER
        if name in applicable
        and (name not in _ADVANCED or preferences.shows_advanced(context) or _is_in_use(name, tracks))
    ]


def _is_in_use(name: str, tracks: Sequence[Track]) -> bool:
    """Return whether a setting of any track differs from the default."""
    default = getattr(Settings(), name)
    return any(getattr(track.settings, name) != default for track in tracks)


# The first panel of the TCB tab in each editor: Live with the state, the message, and the list of tracks or keys


_LIVE_FACTOR = 0.36
"""Width of Live as a fraction of the first row."""


def draw_header(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw Live next to the state or Enable TCB, and the first message. Both rows are always visible."""
    redraw.begin()
    actions = sidebar_tracks.active_actions(context)
    row = layout.split(factor=_LIVE_FACTOR, align=True)
    if len(actions) == 1:
        row.prop(next(iter(actions)), "tcb_live", text="Live", toggle=True, icon="PLAY")
    else:
        row.label(text="")
    _draw_state(row, context)
    for action, owner in actions.items() if len(actions) > 1 else ():
        layout.prop(action, "tcb_live", text=iface_("Live: {:s}", owner_label(owner)), toggle=True, icon="PLAY")
    messages = messages_in_tab(context)
    row = layout.row(align=True)
    row.emboss = "NONE"
    if not messages:
        row.label(text="")
        return
    first, other_count = messages[0], len(messages) - 1
    suffix = f" (+{other_count})" if other_count else ""
    text = cut_text(context, first.short or first.text, len(suffix)) + suffix
    row.popover("TCB_PT_messages", text=text, icon=first.icon, translate=False)


def _draw_state(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw Enable TCB if any selected track is not TCB, or else the most important state."""
    states, in_strips = shown_states(context), states_in_strips(context)
    if in_strips and selection.is_all_tcb(context):
        layout.label(text=in_strips, icon="NLA", translate=False)
        return
    if not states or not selection.is_all_tcb(context) or any(not track.enabled for _, track, _ in states):
        layout.operator("tcb.enable", icon="KEYFRAME_HLT")
        return
    datablock, track, worst_state = min(states, key=lambda listed_track: listed_track[2].rank)
    row = layout.row(align=True)
    row.alert = worst_state.name in {"EDITED_OUTSIDE", "BLOCKED"}
    icon: Any = worst_state.icon
    show_track = row.operator("tcb.track_select", text=worst_state.label, icon=icon, emboss=False, translate=False)
    show_track.track = sidebar_tracks.track_identifier(datablock, track.path)


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
    tracks = shown_states(context)
    lost, unused = sidebar_tracks.lost_tracks(context), sidebar_tracks.unused_tracks(context)
    has_bones = context.mode != "POSE" and context.object is not None and _has_animated_bones(context.object)
    if not (tracks or has_bones or lost or unused):
        _draw_reason_for_no_tracks(layout, context)
        _draw_strips(layout, context)
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
    _draw_strips(layout, context)


def _has_animated_bones(armature: bpy.types.Object) -> bool:
    try:
        return any(fcurve.data_path.startswith(BONES) for fcurve in channels_of(armature))
    except AnimationError:
        # Without an F-curve, `_draw_reason_for_no_tracks` shows the reason.
        return False


def _draw_list(
    column: bpy.types.UILayout, context: bpy.types.Context, tracks: list[tuple[bpy.types.ID, Track, ShownState]]
) -> None:
    active = sidebar_tracks.active_track(context)
    has_several_owners = len({datablock for datablock, _, _ in tracks}) > 1
    for datablock, track, state in tracks:
        row = column.row(align=True)
        label = property_label(datablock, track)
        if has_several_owners and datablock != context.object and not isinstance(datablock, bpy.types.Key):
            label = f"{label}, {owner_label(datablock)}"
        is_active = active is not None and track.path == active[1].path and datablock == active[0]
        icon: Any = state.icon
        select = row.operator("tcb.track_select", text=label, icon=icon, depress=is_active, translate=False)
        select.track = sidebar_tracks.track_identifier(datablock, track.path)
        if state.name == "APPROXIMATE":
            error_column = row.row()
            error_column.alignment = "RIGHT"
            error_column.label(text=state.label, translate=False)


def _draw_reason_for_no_tracks(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    refusals = [refusal for action in sidebar_tracks.active_actions(context) for refusal in layered_refusals(action)]
    if refusals:
        draw_text(layout, context, str(refusals[0]))
    elif not sidebar_tracks.in_strips_only(context):
        layout.label(text=_reason_for_no_tracks(context), icon="INFO", translate=False)


def _draw_strips(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw a button to tweak a strip for each datablock of the object whose keys are only in NLA strips."""
    animations: Any = sidebar_tracks.in_strips_only(context)
    if animations:
        owners = listed([owner_label(animation.id_data) for animation in animations])
        text = iface_("{:s}: keys are in NLA strips, which Bake includes. Tweak a strip to edit them:", owners)
        draw_text(layout, context, text)
    for animation in animations:
        layout.prop(animation, "use_tweak_mode", text="Tweak Strip", icon="NLA", toggle=True)


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


class KeysPanel:
    """Selected keys and their parameters"""

    bl_label = "TCB"

    def draw(self: Any, context: bpy.types.Context) -> None:
        layout = self.layout
        draw_header(layout, context)
        chosen = chosen_keys(context)
        if not chosen:
            reason = reason_no_key_is_chosen(context) or iface_("Only generated keys are selected")
            layout.label(text=reason, icon="INFO", translate=False)
            return
        layout.label(text=labels_of([(keys.datablock, keys.track) for keys in chosen]), translate=False)
        draw_key_heading(layout, _count_text(chosen))
        draw_chosen_keys(layout, context)


def _count_text(chosen: list[TrackKeys]) -> str:
    frames = np.concatenate([keys.frames for keys in chosen])
    if len(frames) == 1:
        return iface_("Frame {:g}", float(frames[0]))
    if frames.min() == frames.max():
        return iface_("Frame {:g} · {:d} keys", float(frames[0]), len(frames))
    return iface_("Frames {:g} to {:g} · {:d} keys", float(frames.min()), float(frames.max()), len(frames))


def _panels(space: str, prefix: str, name: str, first: type) -> Iterator[Any]:
    """Yield the panels for the tab of one editor: the first panel, with this name, and its subpanels."""
    bases = {
        name: first,
        "place": FrameAndValuesPanel,
        "diagram": DiagramPanel,
        "track": TrackSettingsPanel,
        "bake": BakePanel,
    }
    for suffix, base in bases.items():
        idname = prefix + suffix
        attributes = {
            "__doc__": base.__doc__,
            "bl_idname": idname,
            "bl_space_type": space,
            "bl_region_type": "UI",
            "bl_category": "TCB",
        }
        if base is not first:
            attributes["bl_parent_id"] = prefix + name
        yield type(idname, (base, bpy.types.Panel), attributes)


PANELS = (
    *_panels("VIEW_3D", "TCB_PT_", "tracks", TracksPanel),
    *_panels("DOPESHEET_EDITOR", "DOPESHEET_PT_tcb_", "keys", KeysPanel),
    *_panels("GRAPH_EDITOR", "GRAPH_PT_tcb_", "keys", KeysPanel),
)
