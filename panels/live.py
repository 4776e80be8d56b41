# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in all sidebars: its switch; its messages, in a panel of constant height at the bottom."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation.bake.plans.handles import is_keyed_whole
from ..animation.datablocks import animation_data
from ..animation.errors import FreeNote
from ..animation.report import one_of_each
from ..animation.store.actions.live_switch import is_live
from ..animation.store.own_keys import read_own_keys
from ..animation.store.tracks import Track
from ..animation.translation import counted, iface_, listed, n_
from ..ui import redraw, selection
from ..ui.live import handlers
from ..ui.live.messages import note_seen, notes_of
from ..ui.sliders.frame_field import reason_not_moved
from .track_text import settings_error, track_label
from .widgets import draw_text, wrapped

_LINES = 8
"""Lines of the panel of messages: it has as many whether there are messages or not."""


class MessagesPanel:
    """Messages of Live about the last edits, and on keys that were not moved and options that a bake would change"""

    bl_label = "Messages"
    bl_order = 30

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # Blender asks before it draws the first panel.
        redraw.begin()
        if any(track.enabled for _, track in selection.active_tracks(context)) or _reason_not_moved(context):
            return True
        return any(is_live(action) or notes_of(action) for action in selection.active_actions(context))

    def draw_header_preset(self: Any, _context: bpy.types.Context) -> None:
        self.layout.operator("tcb.messages_dismiss", text="", icon="X", emboss=False)

    def draw(self: Any, context: bpy.types.Context) -> None:
        redraw.begin()
        column = self.layout.column(align=True)
        messages, free, reason = _messages(context), _LINES, _reason_not_moved(context)
        if any(isinstance(note, FreeNote) for _, notes in messages for note in notes):
            column.operator("tcb.free", icon="UNLOCKED")
            free -= 1
        for number, (text, notes) in enumerate(messages):
            lines, after = len(wrapped(context, text)), len(messages) - number - 1
            # The last line counts those that have no room; the first has room always.
            if number and free < lines + (after > 0):
                rest = counted(after + 1, n_("… and {:d} note more"), n_("… and {:d} notes more"))
                column.label(text=rest, translate=False)
                free -= 1
                break
            draw_text(column, context, text, "ERROR" if text == reason else "INFO")
            note_seen(notes)
            free -= lines
        for _ in range(free):
            column.label(text="")


def _messages(context: bpy.types.Context) -> list[tuple[str, list[str]]]:
    """Return the messages, each with the notes that it stands for."""
    actions = selection.active_actions(context)
    notes = one_of_each(line for action in actions for line in notes_of(action))
    messages = list(notes.items())
    others = baked_otherwise(context, only_live=True)
    if others:
        messages.insert(0, (iface_("Baked with other options or defaults: Bake TCB changes {:s}", others), []))
    reason = _reason_not_moved(context)
    if reason:
        messages.insert(0, (reason, []))
    return messages


def _reason_not_moved(context: bpy.types.Context) -> str:
    """Return why the field of the frame moved no key; here, so that no field below that one moves away."""
    return reason_not_moved(selection.chosen_keys(context))


def draw_live(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw Free Bake, Live for each action of the active object and its data, and what handles need to play tracks."""
    tracks = [track for _, track in selection.active_tracks(context)]
    actions = selection.active_actions(context)
    # First, since locked keys can't be edited; always there, so that nothing moves under the mouse.
    row = layout.split(factor=0.74) if len(actions) == 1 else layout
    if selection.any_baked(context) or any(track.is_baked for track in tracks):
        text, edited = iface_("Baked: Free Bake to edit"), selection.count_edited_outside(context)
        if edited:
            text += f" ({counted(edited, n_('{:,} edited outside'), n_('{:,} edited outside'))})"
        row.operator("tcb.free", text=text, icon="LOCKED")
    elif actions:
        row.label(text="Not baked", icon="UNLOCKED")
    if len(actions) == 1:
        row.prop(actions[0], "tcb_live", text="Live")
    for action in actions if len(actions) > 1 else ():
        layout.prop(action, "tcb_live", text=iface_("Live: {:s}", action.name))
    if any(map(_needs_whole_keys, tracks)):
        layout.operator("tcb.key_whole", icon="KEY_HLT")


def _needs_whole_keys(track: Track) -> bool:
    """Check for a TCB rotation that handles can't play, as its channels are not keyed at the same frames."""
    if not (track.is_rotation and track.enabled) or track.is_baked:
        return False
    own = read_own_keys(track)
    return bool(own) and not is_keyed_whole(track, own)


def baked_otherwise(context: bpy.types.Context, only_live: bool = False) -> str:
    """Return the names of the tracks that were baked with other options or defaults than the sidebar's.

    Of those that the sidebar lists, or the live ones among them; empty where there is none.
    """
    options = handlers.sidebar_options(context.scene)
    names = []
    for datablock, track in selection.active_tracks(context):
        animation: Any = animation_data(datablock)
        if track.is_played and (is_live(animation.action) or not only_live) and not settings_error(track):
            kept = track.settings.options
            if kept is not None and not kept.is_as(options):
                names.append(track_label(datablock, track))
    return listed(names, "; ")
