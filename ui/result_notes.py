# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes of the last operator for the message line, kept until the next operator, a message from Live, or Undo."""

from __future__ import annotations

from collections.abc import Iterable

from ..animation.errors import Finding

_IMPORTANT = ("FLIP_NOT_KEPT", "LOOK_CHANGED", "LINEAR_CURVED", "TURNS_KEPT")
"""Codes of the most important notes, in order."""

_notes: list[Finding] = []


def result_notes() -> list[Finding]:
    """Return the notes of the last operator, with visible changes of the motion first."""
    return list(_notes)


def keep_result_notes(notes: Iterable[Finding]) -> None:
    """Replace the notes of the last operator."""
    order = {code: rank for rank, code in enumerate(_IMPORTANT)}
    _notes[:] = sorted(dict.fromkeys(notes), key=lambda note: order.get(note.code, len(order)))
