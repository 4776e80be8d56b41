# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages from Live about edits to an action, until newer messages replace them or the user dismisses them."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...animation.errors import Finding
from ...animation.live.update import standing_of
from ...animation.messages import ASK_TO_FREE
from ...animation.store.table.custom_property import has_baked_tracks
from ..operator_results import keep_result_notes
from .watched import watches

_notes: dict[int, list[Finding]] = {}
"""Last notes on updates and on an attempt to edit baked tracks, by the action's `session_uid`."""


def has_notes(action: bpy.types.Action) -> bool:
    """Return whether the action has notes that can be dismissed."""
    return bool(_notes.get(action.session_uid))


def notes_of(action: bpy.types.Action) -> list[Finding]:
    """Return the action's permanent notes and the notes on its last edits."""
    notes = _notes.get(action.session_uid, [])
    if not has_baked_tracks(action):
        notes = [note for note in notes if note.code not in ASK_TO_FREE]
    return list(dict.fromkeys((*standing_of(watches, action), *notes)))


def keep_notes(action: bpy.types.Action, notes: Iterable[Finding]) -> None:
    """Replace the action's notes, and the notes of the last operator, if there are new notes.

    A note on an attempt to edit baked tracks stays until the next one, because the same edit may change other tracks.
    """
    standing = standing_of(watches, action)
    new = [note for note in dict.fromkeys(notes) if note not in standing]
    if not new:
        return
    keep_result_notes(())
    if not any(note.code in ASK_TO_FREE for note in new):
        new += [note for note in _notes.get(action.session_uid, ()) if note.code in ASK_TO_FREE]
    _notes[action.session_uid] = new


def forget_notes(action: bpy.types.Action) -> None:
    """Remove all notes of the action."""
    _notes.pop(action.session_uid, None)


def forget_all_notes() -> None:
    """Remove the notes of all actions."""
    _notes.clear()
    keep_result_notes(())
