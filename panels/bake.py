# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of a bake in all sidebars: its buttons with Live and its notes, its options, and the defaults of keys."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy

from ..animation.bake.plans.handles import is_keyed_whole
from ..animation.report import one_of_each
from ..animation.store.live_switch import is_live
from ..animation.store.original_actions import originals
from ..animation.store.own_keys import read_own_keys
from ..animation.store.table.options import Options
from ..animation.store.tracks import Track
from ..animation.translation import iface_
from ..ui import bake_options, handlers, redraw, selection
from .track_text import settings_error
from .widgets import draw_parameters, draw_text, sidebar_settings

_BAKED_MORE_OFTEN = 0.7
"""Part of a row of two buttons for the one that is pressed more often."""
SHOWN_NOTES = 3
"""Notes of Live that the panel has room for; the rest is counted."""


class BakePanel:
    """Bake, and take it away again"""

    bl_label = "TCB"

    def draw(self: Any, context: bpy.types.Context) -> None:
        redraw.begin()
        _draw_bake(self.layout, context)


class BakeOptionsPanel:
    """Options of the next bake"""

    bl_label = "Bake Options"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    def draw(self: Any, context: bpy.types.Context) -> None:
        layout, settings = self.layout, sidebar_settings(context)
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in bake_options.used(settings):
            layout.prop(settings, name)


class DefaultsPanel:
    """The parameters of keys that have none of their own"""

    bl_label = "Defaults"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    def draw(self: Any, context: bpy.types.Context) -> None:
        self.layout.label(text="Keys without parameters of their own:")
        draw_parameters(self.layout.column(align=True), context, sidebar_settings(context).defaults)


def _draw_bake(layout: Any, context: bpy.types.Context) -> None:
    """Draw the buttons that bake and restore, and Live."""
    settings = sidebar_settings(context)
    bake_options.copy(settings, layout.operator("tcb.bake", icon="KEYFRAME_HLT"))
    tracks = [track for _, track in selection.active_tracks(context)]
    if any(map(_has_generated_keys, tracks)):
        back = layout.operator("tcb.bake", text="Back to Handles", icon="HANDLE_FREE")
        bake_options.copy(settings, back)
        back.output, back.target, back.frames = "HANDLES", "IN_PLACE", "KEYS"
    if not originals().keys().isdisjoint(selection.active_actions(context)):
        layout.operator("tcb.back_to_original", icon="BACK")
    if any(map(_needs_whole_keys, tracks)):
        layout.operator("tcb.key_whole", icon="KEY_HLT")
    row = layout.split(factor=_BAKED_MORE_OFTEN, align=True)
    row.operator("tcb.restore", icon="LOOP_BACK")
    row.operator("tcb.apply", text="Apply")
    _draw_live(layout, context)


def _has_generated_keys(track: Track) -> bool:
    """Check whether a bake has put keys among the track's own."""
    return track.state is not None and any(len(channel.generated) for channel in track.state.channels.values())


def _needs_whole_keys(track: Track) -> bool:
    """Check for a TCB rotation that handles can't play, as its channels are not keyed at the same frames."""
    if not (track.is_rotation and track.enabled):
        return False
    own = read_own_keys(track)
    return bool(own) and not is_keyed_whole(track, own)


def _draw_live(layout: Any, context: bpy.types.Context) -> None:
    """Draw Live for each action of the active object and its data, and the notes of the last updates."""
    actions = selection.active_actions(context)
    for action in actions:
        layout.prop(action, "tcb_live", text=iface_("Live: {:s}", action.name) if len(actions) > 1 else iface_("Live"))
    if any(map(is_live, actions)) and _has_other_options(context):
        draw_text(layout, context, iface_("Baked with other options or defaults: Bake TCB takes these"))
    notes = one_of_each(line for action in actions for line in handlers.notes_of(action))
    for line, alike in list(notes.items())[:SHOWN_NOTES]:
        draw_text(layout, context, line)
        handlers.note_seen(alike)
    if len(notes) > SHOWN_NOTES:
        layout.label(text=iface_("… and {:d} notes more", len(notes) - SHOWN_NOTES), translate=False)


def _has_other_options(context: bpy.types.Context) -> bool:
    """Check whether a live track that the sidebar lists was baked with other options than the sidebar's."""
    options = handlers.sidebar_options(context.scene)
    for datablock, track in selection.active_tracks(context):
        animation: Any = getattr(datablock, "animation_data")  # noqa: B009  it has tracks
        if track.baked and is_live(animation.action) and not settings_error(track):
            kept = track.settings.options
            if kept is not None and not (_plays_handles(kept, options) or kept == options):
                return True
    return False


def _plays_handles(kept: Options, options: Options) -> bool:
    """Check whether handles play a track with the sidebar's defaults: its other options don't matter to them."""
    return kept.output == "HANDLES" and kept.defaults == options.defaults
