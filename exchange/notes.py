# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes on the objects of a file and on their tracks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..animation.errors import Finding

AddNote = Callable[..., None]
"""A function that adds a note, called with its code, its arguments, and the affected track as `track`."""


def note(notes: list[Finding], name: str, code: str, *arguments: Any, track: str = "") -> None:
    """Add a note on an object or one of its tracks."""
    notes.append(Finding(code, name, track, arguments=arguments))


def drop_note(*_code: object, **_track: object) -> None:
    """Discard a note that the user does not need."""
