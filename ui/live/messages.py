# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages from Live about edits to an action. Messages are kept until the user has had time to read them."""

from __future__ import annotations

import time
from collections.abc import Iterable

import bpy

from ...animation.errors import Finding
from ...animation.live.update import standing_of
from ...animation.messages import ASK_TO_FREE
from ...animation.store.table.custom_property import has_baked_tracks
from ..operator_results import keep_result_notes
from .watched import watches

READING_TIME = 5.0
"""Seconds for which a note is kept after it was first drawn."""
_MAX_NOTES = 100
"""Maximum number of notes per action."""

_notes: dict[int, list[Finding]] = {}
"""Notes on updates, latest first, by the action's `session_uid`."""
seen_at: dict[Finding, float] = {}
"""Time when each note was first drawn."""


def has_notes(action: bpy.types.Action) -> bool:
    """Return whether the action has notes that can be dismissed."""
    return bool(_notes.get(action.session_uid))


def notes_of(action: bpy.types.Action) -> list[Finding]:
    """Return the action's permanent notes and its unread notes."""
    notes = _notes.get(action.session_uid, [])
    if not has_baked_tracks(action):
        notes = [note for note in notes if note.code not in ASK_TO_FREE]
    return list(dict.fromkeys((*standing_of(watches, action), *notes)))


def note_seen(notes: Iterable[Finding]) -> None:
    """Record that notes from `notes_of` were drawn. After the reading time, the next update may replace these notes."""
    for note in notes:
        seen_at.setdefault(note, time.monotonic())


def keep_notes(action: bpy.types.Action, notes: Iterable[Finding]) -> None:
    """Keep the action's new notes, and unread older notes. New notes replace the notes of the last operator."""
    now = time.monotonic()
    old = _notes.get(action.session_uid, [])
    unread = [note for note in old if now - seen_at.get(note, now) < READING_TIME]
    standing = standing_of(watches, action)
    new = [note for note in dict.fromkeys(notes) if note not in standing]
    if new:
        keep_result_notes(())
    for note in (*old, *new):
        # Notes that return are unread again.
        if note not in unread or note in new:
            seen_at.pop(note, None)
    _notes[action.session_uid] = list(dict.fromkeys((*new, *unread)))[:_MAX_NOTES]


def forget_notes(action: bpy.types.Action) -> None:
    """Remove all notes of the action."""
    _notes.pop(action.session_uid, None)


def forget_free_notes(action: bpy.types.Action) -> None:
    """Remove the action's notes that Free Bake resolves."""
    notes = _notes.get(action.session_uid, ())
    _notes[action.session_uid] = [note for note in notes if note.code not in ASK_TO_FREE]


def forget_all_notes() -> None:
    """Remove the notes of all actions."""
    _notes.clear()
    seen_at.clear()
    keep_result_notes(())
