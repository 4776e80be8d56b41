# SPDX-License-Identifier: GPL-3.0-or-later
"""The first two lines of the tab in all editors: Live with the state of the tracks, and a line of messages."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy

from ..animation.bake.plans.handles import is_keyed_whole
from ..animation.datablocks import animation_data
from ..animation.errors import Finding
from ..animation.messages import ASK_TO_FREE
from ..animation.report import one_of_each
from ..animation.store.actions.live_switch import is_live
from ..animation.store.own_keys import read_own_keys
from ..animation.store.tracks import Track
from ..animation.translation import counted, iface_, listed, n_
from ..ui import redraw, selection
from ..ui.live import handlers
from ..ui.live.messages import note_seen, notes_of
from ..ui.redraw import layout_of
from ..ui.sliders.frame_field import reason_not_moved
from ..ui.track_text import settings_error, shown_state, track_label
from .widgets import cut_text, draw_text

_MOST = 12
"""Messages that are listed."""
_UNITS = 20
"""Width of the list of messages, in heights of a button."""
_ARROW = 4
"""Letters that the arrow of the list takes beside the first message."""
_LIVE = 0.36
"""Part of the first line that Live takes."""


class _Message(NamedTuple):
    """A message of the tab, with the notes of Live that it is made of, and a button that answers it."""

    text: str
    notes: tuple[Finding, ...] = ()
    short: str = ""
    """The text without the names of object and track, for the line that is cut; empty: as the text."""
    button: str = ""
    """"FREE", "DISCARD" or "WHOLE"; empty: none."""
    is_refusal: bool = False


class TCB_PT_messages(bpy.types.Panel):
    """Messages about the last edits, with the buttons that answer them"""

    bl_idname = "TCB_PT_messages"
    bl_label = "Messages"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = _UNITS

    def draw(self, context: bpy.types.Context) -> None:
        redraw.begin()
        layout = layout_of(self)
        messages = _messages(context)
        for message in messages[:_MOST]:
            column = layout.column(align=True)
            draw_text(column, context, message.text, _icon(message), _UNITS)
            note_seen(message.notes)
            match message.button:
                case "FREE":
                    column.operator("tcb.free", icon="UNLOCKED")
                case "DISCARD":
                    column.operator("tcb.free", text="Free Bake, Discard Edits", icon="TRASH").discard_edits = True
                case "WHOLE":
                    column.operator("tcb.key_whole", icon="KEY_HLT")
        if len(messages) > _MOST:
            layout.label(text=_rest(len(messages) - _MOST), translate=False)
        elif not messages:
            layout.label(text="No messages")
        layout.operator("tcb.messages_dismiss", icon="X")


def draw_header(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw Live beside the state or Enable TCB, and the first message; both lines are there always."""
    redraw.begin()
    actions = selection.active_actions(context)
    row = layout.split(factor=_LIVE, align=True)
    if len(actions) == 1:
        row.prop(actions[0], "tcb_live", text="Live", toggle=True, icon="PLAY")
    else:
        row.label(text="")
    _draw_state(row, context)
    for action in actions if len(actions) > 1 else ():
        layout.prop(action, "tcb_live", text=iface_("Live: {:s}", action.name), toggle=True, icon="PLAY")
    messages = _messages(context)
    row = layout.row(align=True)
    row.emboss = "NONE"
    if not messages:
        row.label(text="")
        return
    first, others = messages[0], len(messages) - 1
    rest = f" (+{others})" if others else ""
    text = cut_text(context, first.short or first.text, len(rest) + _ARROW) + rest
    row.popover("TCB_PT_messages", text=text, icon=_icon(first), translate=False)
    note_seen(first.notes)


def _draw_state(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw Enable TCB while something in the selection is not TCB; else the state that needs most attention."""
    states = shown_states(context)
    if not states or not selection.is_all_tcb(context) or any(not track.enabled for _, track, _ in states):
        layout.operator("tcb.enable", icon="KEYFRAME_HLT")
        return
    datablock, track, worst = min(states, key=lambda each: each[2].rank)
    row = layout.row(align=True)
    row.alert = worst.name in {"EDITED_OUTSIDE", "BLOCKED"}
    show = row.operator("tcb.track_select", text=worst.label, icon=worst.icon, emboss=False, translate=False)
    show.track = selection.track_identifier(datablock, track)


@redraw.once
def shown_states(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track, Any]]:
    """Return the tracks that the tab lists, with their states."""
    return [(datablock, track, shown_state(datablock, track)) for datablock, track in selection.active_tracks(context)]


@redraw.once
def _messages(context: bpy.types.Context) -> list[_Message]:
    """Return the messages, refusals first."""
    messages = []
    reason = reason_not_moved(selection.chosen_keys(context))
    if reason:
        messages.append(_Message(reason, is_refusal=True))
    edited = selection.count_edited_outside(context)
    if edited:
        one, more = n_("{:,} track was edited outside TCB. "), n_("{:,} tracks were edited outside TCB. ")
        text = counted(edited, one, more) + iface_("Finish > Apply keeps the edits")
        messages.append(_Message(text, button="DISCARD", is_refusal=True))
    tracks = [track for _, track in selection.active_tracks(context)]
    if any(map(_needs_whole_keys, tracks)):
        messages.append(_Message(iface_("Rotation channels are keyed at different frames"), button="WHOLE"))
    if selection.unused_tracks(context):
        messages.append(_Message(iface_("Keys of another rotation mode do not play. Choose their mode in the list")))
    others = baked_otherwise(context, only_live=True)
    if others:
        messages.append(_Message(iface_("Baked with other options or defaults: Bake Again changes {:s}", others)))
    notes = one_of_each(note for action in selection.active_actions(context) for note in notes_of(action))
    for text, findings in notes.items():
        is_free = any(note.code in ASK_TO_FREE for note in findings)
        fact = max(findings, key=lambda note: note.size).message
        messages.append(_Message(text, tuple(findings), fact[:1].upper() + fact[1:], "FREE" if is_free else ""))
    return messages


def _icon(message: _Message) -> Any:
    return "ERROR" if message.is_refusal else "INFO"


def _rest(count: int) -> str:
    return counted(count, n_("… and {:d} message more"), n_("… and {:d} messages more"))


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
