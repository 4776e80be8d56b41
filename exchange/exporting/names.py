# SPDX-License-Identifier: GPL-3.0-or-later
"""Create names for .3ds files, which are unique and have at most ten characters."""

from __future__ import annotations

from ...formats.three_ds import NAME_LENGTH
from ..clean_keys import AddNote


class Names:
    """Give objects unique names in a file."""

    def __init__(self) -> None:
        self._taken: set[bytes] = set()

    def take(self, name: str, add_note: AddNote) -> bytes:
        """Return a unique file name for the object `name`."""
        encoded = name.replace("\0", "").encode("latin-1", "replace")
        short = encoded[:NAME_LENGTH] or b"Unnamed"
        number = 0
        while short in self._taken:
            number += 1
            tail = b"~%d" % number
            short = encoded[: NAME_LENGTH - len(tail)] + tail
        self._taken.add(short)
        shown = short.decode("latin-1")
        if shown != name:
            add_note("SHORT_NAME", shown, NAME_LENGTH)
        return short
