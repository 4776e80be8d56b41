# SPDX-License-Identifier: GPL-3.0-or-later
"""The chunks of .3ds files, and errors in them.

A chunk consists of its number (u16), its length including this header of six bytes (u32), and its content, all
little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import FileError
from ..interp import Text, n_

HEADER = struct.Struct("<HI")
WORD = struct.Struct("<H")
LONG = struct.Struct("<I")
FRAME = struct.Struct("<i")
TWO_FRAMES = struct.Struct("<2i")
FLOAT = struct.Struct("<f")
TWO_FLOATS = struct.Struct("<2f")
NODE_HEADER = struct.Struct("<3H")
"""Header after a node's name, with two words of flags and the id of its parent."""
NO_PARENT = 0xFFFF
_ARRAYS = {
    "frames": n_("frames"),
    "values": n_("values"),
    "key_flags": n_("key flags"),
    "parameters": n_("parameters"),
    "faces": n_("faces"),
    "face_flags": n_("face flags"),
    "numbers": n_("numbers"),
}
"""Names of arrays in error messages."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk that is not modeled and is kept byte for byte.

    Attributes
    ----------
    ident : int
        Its number.
    content : bytes
        Everything after the header, including nested chunks.
    place : int
        The number of modeled sibling chunks before this chunk. 0 means that it comes first.
    """

    ident: int
    content: bytes
    place: int = 0


@dataclass(frozen=True, slots=True)
class ReadWarning:
    """An error in a file that did not prevent reading the rest.

    Attributes
    ----------
    offset : int
        Position in bytes from the start of the file.
    message : str
        A text that names the node or object, the chunk and the consequence.
    lost : bool
        True if the file is damaged there and data was not read. Otherwise, the file is only unusual, and either
        everything is read or only a part that no reader needs is skipped.
    """

    offset: int
    message: str
    lost: bool = False

    def __str__(self) -> str:
        return _with_offset(self.offset, self.message)

    @property
    def text(self) -> str:
        """Return the template of the whole warning, for translation."""
        return _with_offset(self.offset, self.message).text

    @property
    def values(self) -> tuple[object, ...]:
        """Return the values of the template."""
        return _with_offset(self.offset, self.message).values


class ChunkError(Exception):
    """A chunk that cannot be read, with its position. The chunk is skipped."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(offset, message)
        self.offset = offset
        self.message = message


class ThreeDSError(FileError):
    """A file that cannot be read, or a scene that cannot be written.

    Attributes
    ----------
    offset : int or None
        Position in bytes from the start of the file. None for a scene that cannot be written.
    """

    def __init__(self, reason: Text, offset: int | None = None) -> None:
        super().__init__(reason if offset is None else _with_offset(offset, reason))
        self.offset = offset


def _with_offset(offset: int, message: str) -> Text:
    return n_("byte {:d}: {:s}", offset, message)


def pack(layout: struct.Struct, *values: float) -> bytes:
    """Pack the values in the format of the file. Raises ThreeDSError if a value does not fit."""
    try:
        return layout.pack(*values)
    except (struct.error, OverflowError) as error:
        raise ThreeDSError(Text("{:s}: {:s}", ", ".join(map(str, values)), str(error))) from error


def check_array(name: str, array: npt.NDArray[np.generic], dtype: type[np.generic], shape: tuple[int, ...]) -> None:
    """Check the type and shape of an array, because converting it could lose data."""
    if array.dtype != dtype or array.shape != shape:
        text = n_(
            "{:s} must be {:s} of shape {}, not {:s} of shape {}",
            _ARRAYS[name],
            dtype.__name__,
            shape,
            array.dtype.name,
            array.shape,
        )
        raise ThreeDSError(text)
