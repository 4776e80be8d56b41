# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of the TCB sidebar tab in the 3D Viewport, the Dope Sheet and the Graph Editor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.app.translations import contexts

from ..animation.bake.plans.track_methods import setting_names
from ..animation.checks.key_info import ShownKey
from ..animation.checks.track_state import has_animated_bones
from ..animation.datablocks import name_of
from ..animation.edit.track_keys import TrackKeys
from ..animation.fcurves.action_refusals import layered_refusals
from ..animation.store.table.track_records import Settings
from ..animation.store.tracks import Track
from ..animation.translation import iface_, n_
from ..ui import preferences, redraw, selection, sidebar_tracks
from ..ui.chosen_keys import chosen_keys, chosen_tracks, reason_no_key_is_chosen
from ..ui.layouts import draw_properties, layout_of
from ..ui.track_text import ShownState, labels_of, property_label, settings_error
from .header import baked_otherwise, draw_header, shown_states
from .key import draw_chosen_diagram, draw_chosen_keys, draw_frame_and_values, draw_key_heading, has_diagram
from .widgets import draw_text, sidebar_settings

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
        active = sidebar_tracks.active_key(context)
        if active is not None:
            _, _, key = active
            _draw_key(context, layout, key)
        elif sidebar_tracks.active_track(context) is not None:
            layout.label(text="This track has no keys", icon="INFO")


def _draw_tracks(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Draw the tracks of the active object or bone, or the reason why there are none."""
    tracks, lost, unused = (
        shown_states(context),
        sidebar_tracks.lost_tracks(context),
        sidebar_tracks.unused_tracks(context),
    )
    has_bones = context.mode != "POSE" and context.object is not None and has_animated_bones(context.object)
    if not (tracks or has_bones or lost or unused):
        _draw_reason_for_no_tracks(context, layout)
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
        gray_label = row.row()
        gray_label.enabled = False
        gray_label.label(text=property_label(datablock, track), icon="BLANK1", translate=False)
        row.prop(bone or context.object, "rotation_mode", text="")
    if has_bones:
        layout.label(text="For bones, use Pose Mode", icon="BONE_DATA")


def _draw_key(context: bpy.types.Context, layout: bpy.types.UILayout, key: ShownKey) -> None:
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


def _draw_list(
    context: bpy.types.Context, column: bpy.types.UILayout, tracks: list[tuple[bpy.types.ID, Track, ShownState]]
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


def _draw_reason_for_no_tracks(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
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


class _KeysPanel:
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


class _FrameAndValuesPanel:
    """Frame and values of the keys, and the motion at the current frame"""

    bl_label = "Frame and Values"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(chosen_keys(context))

    def draw(self: Any, context: bpy.types.Context) -> None:
        draw_frame_and_values(self.layout, context)


class _DiagramPanel:
    """Curve through the keys, with dots at equal time steps"""

    bl_label = "Diagram"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_diagram(context)

    def draw(self: Any, context: bpy.types.Context) -> None:
        draw_chosen_diagram(self.layout, context)


def _count_text(chosen: list[TrackKeys]) -> str:
    frames = np.concatenate([keys.frames for keys in chosen])
    if len(frames) == 1:
        return iface_("Frame {:g}", float(frames[0]))
    if frames.min() == frames.max():
        return iface_("Frame {:g} · {:d} keys", float(frames[0]), len(frames))
    return iface_("Frames {:g} to {:g} · {:d} keys", float(frames.min()), float(frames.max()), len(frames))


_ADVANCED = ("ends", "construction")
"""Settings that only old files need."""


class TrackPanel:
    """Method, cycle and turns of entire tracks"""

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
        layout.use_property_split = True
        layout.use_property_decorate = False
        if not all(track.enabled for track in tracks):
            layout.label(text="Enable TCB to change settings", icon="INFO")
            return
        error = next(filter(None, map(settings_error, tracks)), "")
        if error:
            layout.label(text=error, icon="ERROR", translate=False)
            return
        for name in _common_settings(context, tracks):
            layout.prop(sidebar_settings(context), name)
            if len({getattr(track.settings, name) for track in tracks}) > 1:
                row = layout.row()
                row.alignment = "RIGHT"
                row.label(text="Differs between tracks")


def _common_settings(context: bpy.types.Context, tracks: Sequence[Track]) -> list[str]:
    """Return the settings that apply to all tracks.

    Advanced settings are included if the preference is on or they are in use.
    """
    names = ["method", "angles", "cycle", "ends", "construction", "path"]
    for track in tracks:
        applicable = {"method", "cycle", *setting_names(track, track.settings)}
        if track.is_rotation:
            # The method of a rotation reports turns that it cannot keep.
            applicable.add("path")
        names = [name for name in names if name in applicable]
    if preferences.shows_advanced(context):
        return names
    return [name for name in names if name not in _ADVANCED or _is_in_use(name, tracks)]


def _is_in_use(name: str, tracks: Sequence[Track]) -> bool:
    """Return whether a setting of any track differs from the default."""
    default = getattr(Settings(), name)
    return any(getattr(track.settings, name) != default for track in tracks)


_OPTIONS_UNITS = 16
"""Width of the bake options, in button heights."""


class BakePanel:
    """Bake TCB motion, free it, or finish with plain animation"""

    bl_label = "Bake"
    bl_options: ClassVar[Any] = {"HIDE_HEADER"}

    def draw(self: Any, context: bpy.types.Context) -> None:
        redraw.begin()
        settings = sidebar_settings(context)
        column = self.layout.column(align=True)
        baked, tcb = sidebar_tracks.baked_and_tcb_counts(context)
        # Only the operator examines the actions of strips.
        if sidebar_tracks.in_strips_only(context) and selection.has_tracks(context, "BAKED"):
            baked, tcb = 1, 1
        row = column.row(align=True)
        if baked and baked == tcb:
            row.operator("tcb.free", icon="UNLOCKED", depress=True)
            settings.copy_to(row.operator("tcb.bake", text="", icon="FILE_REFRESH"))
        else:
            settings.copy_to(row.operator("tcb.bake", icon="LOCKED"))
            # Always visible, so that the layout does not shift under the mouse.
            free = row.row(align=True)
            free.enabled = bool(baked)
            free.operator("tcb.free", text="", icon="UNLOCKED")
        row = column.row(align=True)
        row.prop(settings, "output", text="")
        step = row.row(align=True)
        step.enabled = settings.output == "SAMPLES"
        step.prop(settings, "step", text="")
        row.popover("TCB_PT_bake_options", text="", icon="OPTIONS")
        self.layout.menu("TCB_MT_finish")


class TCB_PT_bake_options(bpy.types.Panel):
    """Options for the next bake"""

    bl_idname = "TCB_PT_bake_options"
    bl_label = "Bake Options"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = _OPTIONS_UNITS

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = layout_of(self), sidebar_settings(context)
        draw_properties(layout, settings, settings.used_options())
        track_names = baked_otherwise(context)
        if track_names:
            text = iface_("Baked with different options or defaults: Bake Again changes {:s}", track_names)
            draw_text(layout, context, text, units=_OPTIONS_UNITS)


def _panels(space: str, prefix: str, name: str, first: type) -> Iterator[Any]:
    """Yield the panels for the tab of one editor: the first panel, with this name, and its subpanels."""
    bases = {
        name: first,
        "place": _FrameAndValuesPanel,
        "diagram": _DiagramPanel,
        "track": TrackPanel,
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
    *_panels("DOPESHEET_EDITOR", "DOPESHEET_PT_tcb_", "keys", _KeysPanel),
    *_panels("GRAPH_EDITOR", "GRAPH_PT_tcb_", "keys", _KeysPanel),
)
