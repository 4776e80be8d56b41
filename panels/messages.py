# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages in the tab: problems, results of the last operator, and notes from Live."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import bpy

from ..animation.bake.plans.own_motion import is_keyed_whole
from ..animation.datablocks import animation_data
from ..animation.live.update import standing_of
from ..animation.messages import ASK_TO_FREE
from ..animation.report import Finding, one_of_each
from ..animation.store.paths import split
from ..animation.store.read_own_keys import read_own_keys
from ..animation.store.table.custom_property import has_baked_tracks
from ..animation.store.table_upkeep import is_live
from ..animation.store.tracks import Track
from ..animation.text import counted, iface_, listed, n_, size_text
from ..animation.track_paths import owner_name
from ..ui import redraw, sidebar_tracks
from ..ui.layouts import layout_of
from ..ui.live.updates import watches
from ..ui.operator_results import result_notes
from ..ui.scene import defaults_of, length_text
from ..ui.sidebar_tracks import shown_states, track_label
from .widgets import draw_text

_MAX_MESSAGES = 12
"""Maximum number of listed messages."""
_UNITS = 20
"""Width of the message list, in button heights."""


class TCB_PT_messages(bpy.types.Panel):
    """Messages about recent edits, with buttons that solve problems"""

    bl_label = "Messages"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = _UNITS

    def draw(self, context: bpy.types.Context) -> None:
        redraw.begin()
        layout = layout_of(self)
        messages = messages_in_tab(context)
        for message in messages[:_MAX_MESSAGES]:
            column = layout.column(align=True)
            draw_text(column, context, message.text, message.icon, _UNITS)
            _draw_button(column, message.button)
        remaining = len(messages) - _MAX_MESSAGES
        if remaining > 0:
            text = counted(remaining, n_("… and {:d} more message"), n_("… and {:d} more messages"))
            layout.label(text=text, translate=False)
        elif not messages:
            layout.label(text="No messages")
        layout.operator("tcb.messages_dismiss", icon="X")


Button = Literal["", "FREE", "DISCARD", "SHORTEST", "WHOLE"]
"""The solution that a message offers, or "" for none."""


def _draw_button(layout: bpy.types.UILayout, button: Button) -> None:
    match button:
        case "FREE":
            layout.operator("tcb.free", icon="UNLOCKED")
        case "DISCARD":
            layout.operator("tcb.free", text="Free Bake, Discard Edits", icon="TRASH").discard_edits = True
        case "SHORTEST":
            layout.operator("tcb.turns_shortest", icon="LOOP_BACK")
        case "WHOLE":
            layout.operator("tcb.key_whole", icon="KEY_HLT")


class Message(NamedTuple):
    """A message in the tab, with a button for the solution."""

    text: str
    short: str = ""
    """Text without the object name, for the shortened row. If empty, the full text is used."""
    button: Button = ""
    icon: Any = "INFO"


@redraw.once
def messages_in_tab(context: bpy.types.Context) -> list[Message]:
    """Return the messages, with errors first."""
    messages = [
        *_messages_about_edits_outside(context),
        *_messages_about_rotations(context),
        *_messages_about_last_edit(context),
        *_messages_about_bakes(context),
        *_messages_about_current_state(context),
    ]
    return messages or _how_to_edit_baked(context)


def _messages_about_edits_outside(context: bpy.types.Context) -> Iterator[Message]:
    edited_count = sidebar_tracks.count_edited_outside(context)
    if edited_count:
        one, more = n_("{:,} track was edited outside TCB. "), n_("{:,} tracks were edited outside TCB. ")
        text = counted(edited_count, one, more) + iface_("To keep the edits, use Finish > Apply")
        yield Message(text, button="DISCARD", icon="ERROR")


def _messages_about_rotations(context: bpy.types.Context) -> Iterator[Message]:
    if any(_needs_whole_keys(track) for _, track in sidebar_tracks.active_tracks(context)):
        yield Message(iface_("Rotation channels are keyed at different frames"), button="WHOLE")
    if sidebar_tracks.unused_tracks(context):
        yield Message(iface_("Keys for another rotation mode do not play. Choose their rotation mode in the list"))


def _needs_whole_keys(track: Track) -> bool:
    """Return whether the channels of a TCB rotation are keyed at different frames, which handles cannot play."""
    if not (track.is_rotation and track.enabled) or track.is_baked:
        return False
    own = read_own_keys(track)
    return bool(own) and not is_keyed_whole(track, own)


def _messages_about_last_edit(context: bpy.types.Context) -> Iterator[Message]:
    is_baked = any(map(has_baked_tracks, sidebar_tracks.active_actions(context)))
    yield from _messages_of_notes(note for note in result_notes() if is_baked or note.code not in ASK_TO_FREE)


def _messages_about_current_state(context: bpy.types.Context) -> Iterator[Message]:
    """Yield the messages on the current state of tracks that the last edit has not reported."""
    actions = sidebar_tracks.active_actions(context)
    standing = dict.fromkeys(note for action in actions for note in standing_of(watches, action))
    reported = result_notes()
    yield from _messages_of_notes(note for note in standing if note not in reported)


def _messages_of_notes(all_notes: Iterable[Finding]) -> Iterator[Message]:
    for text, notes in one_of_each(all_notes).items():
        largest = max(notes, key=lambda note: note.size)
        button: Button = "SHORTEST" if largest.code == "TURNS_KEPT" else ""
        if any(note.code in ASK_TO_FREE for note in notes):
            button = "FREE"
        yield Message(text, _short_text(largest), button)


def _messages_about_bakes(context: bpy.types.Context) -> Iterator[Message]:
    baked_count, tcb_count = sidebar_tracks.baked_and_tcb_counts(context)
    if 0 < baked_count < tcb_count:
        yield Message(iface_("{:,} of {:,} tracks are baked. Bake TCB bakes the others", baked_count, tcb_count))
    mixed_states = _state_beside_plain(context)
    if mixed_states:
        yield Message(mixed_states)
    bake_again = bake_again_text(context, only_live=True)
    if bake_again:
        yield Message(bake_again)


def _state_beside_plain(context: bpy.types.Context) -> str:
    """Return the most important state of TCB tracks, and the number of plain tracks, if the tab shows both."""
    tcb_states = [state for _, track, state in shown_states(context) if track.enabled]
    plain_count = len(shown_states(context)) - len(tcb_states)
    if not tcb_states or not plain_count:
        return ""
    worst_state = min(tcb_states, key=lambda state: state.rank)
    return f"{worst_state.label} · " + counted(plain_count, n_("{:d} track not TCB"), n_("{:d} tracks not TCB"))


def bake_again_text(context: bpy.types.Context, only_live: bool = False) -> str:
    """Return a text with the listed tracks whose bake options or defaults differ from the sidebar's, or "" for none.

    With `only_live`, only live tracks count.
    """
    scene: Any = context.scene
    options = scene.tcb.bake_options(scene, defaults_of(scene)).as_kept()
    names = []
    for datablock, track in sidebar_tracks.active_tracks(context):
        animation: Any = animation_data(datablock)
        if track.is_played and (is_live(animation.action) or not only_live):
            saved_options = track.settings.options
            if saved_options is not None and not saved_options.is_as(options):
                names.append(track_label(datablock, track))
    # Blender's tool for translations joins all texts in one call.
    tracks = listed(names, "; ")
    return iface_("Baked with different options or defaults: Bake Again changes {:s}", tracks) if tracks else ""


def _short_text(note: Finding) -> str:
    """Return the text of a note for the shortened row. Numbers come first, as a narrow sidebar cuts off the end."""
    if note.code == "LOOK_CHANGED" and note.frame is not None:
        number, unit = note.arguments[0]
        is_length = split(note.track)[1] == "location"
        size = size_text(math.radians(number), is_angle=True) if unit else size_text(number)
        size = length_text(bpy.context.scene, number) if is_length else size
        return iface_("Off by {:s} at frame {:.0f}: {:s}", size, note.frame, owner_name(note.track))
    if note.code == "GIMBAL_LOCK" and note.frame is not None:
        size = size_text(math.radians(note.size), is_angle=True)
        return iface_("Gimbal lock, off by {:s} at frame {:.0f}: {:s}", size, note.frame, owner_name(note.track))
    if note.code == "FLIP_NOT_KEPT" and note.frame is not None:
        return iface_("Flip at frame {:.0f}: {:s}", note.frame, owner_name(note.track))
    if note.code == "TURNS_KEPT" and note.frame is not None:
        return iface_("Turn of {:.0f}° to frame {:.0f}: {:s}", note.size, note.frame, owner_name(note.track))
    message = note.message
    return message[:1].upper() + message[1:]


def _how_to_edit_baked(context: bpy.types.Context) -> list[Message]:
    """Return the message that is shown if all TCB tracks are baked and there is no other message."""
    baked_count, tcb_count = sidebar_tracks.baked_and_tcb_counts(context)
    if not baked_count or baked_count < tcb_count:
        return []
    if sidebar_tracks.in_strips_only(context):
        return [Message(iface_("Baked: tweak or Free Bake"), button="FREE")]
    text = iface_("Baked: edit in the TCB tab, or Free Bake")
    return [Message(text, short=iface_("Baked: edit here, or Free Bake"), button="FREE")]
