# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors and warnings about .3ds files, with their positions."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FileError
from ..interp import Text, n_


class ThreeDSError(FileError):
    """A file that cannot be read, or a scene that cannot be written.

    Attributes
    ----------
    offset : int or None
        Position in bytes from the start of the file. None for a scene that cannot be written.
    """

    def __init__(self, reason: Text, offset: int | None = None) -> None:
        super().__init__(reason if offset is None else n_("byte {:d}: {:s}", offset, reason))
        self.offset = offset


class ChunkError(Exception):
    """A chunk that cannot be read, with its position. The chunk is skipped."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(offset, message)
        self.offset = offset
        self.message = message


@dataclass(frozen=True, slots=True)
class ReadWarning:
    """An error in a file that did not prevent reading the rest."""

    offset: int
    """Position in bytes from the start of the file."""
    message: str
    """A text that names the node or object, the chunk and the consequence."""
    lost: bool = False
    """True if the file is damaged there and data was not read. Otherwise, the file is only unusual, and either
    everything is read or only a part that no reader needs is skipped."""

    @property
    def located(self) -> Text:
        """Return the whole warning, with its position."""
        return n_("byte {:d}: {:s}", self.offset, self.message)

    def __str__(self) -> str:
        return self.located
