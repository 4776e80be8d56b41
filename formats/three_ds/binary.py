# SPDX-License-Identifier: GPL-3.0-or-later
"""The chunks of a .3ds file: their numbers and layouts, reading within their bounds, and errors with their positions.

A chunk consists of its header and its content. All numbers are little-endian. Every count is checked against the
remaining bytes before memory is allocated for it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..errors import FileError
from ..interp import Text, n_

# Numbers of chunks, named as in Autodesk's 3D Studio File Toolkit, and layouts of their contents

COLOR_F = 0x0010
M3D_VERSION = 0x0002
MASTER_SCALE = 0x0100
MDATA = 0x3D3D
MESH_VERSION = 0x3D3E
NAMED_OBJECT = 0x4000
N_TRI_OBJECT = 0x4100
POINT_ARRAY = 0x4110
FACE_ARRAY = 0x4120
TEX_VERTS = 0x4140
SMOOTH_GROUP = 0x4150
MESH_MATRIX = 0x4160
N_DIRECT_LIGHT = 0x4600
DL_SPOTLIGHT = 0x4610
DL_SPOT_ROLL = 0x4656
DL_MULTIPLIER = 0x465B
N_CAMERA = 0x4700
M3DMAGIC = 0x4D4D
MAT_ENTRY = 0xAFFF
KFDATA = 0xB000
AMBIENT_NODE_TAG = 0xB001
OBJECT_NODE_TAG = 0xB002
CAMERA_NODE_TAG = 0xB003
TARGET_NODE_TAG = 0xB004
LIGHT_NODE_TAG = 0xB005
L_TARGET_NODE_TAG = 0xB006
SPOTLIGHT_NODE_TAG = 0xB007
KFSEG = 0xB008
KFCURTIME = 0xB009
KFHDR = 0xB00A
NODE_HDR = 0xB010
INSTANCE_NAME = 0xB011
PIVOT = 0xB013
POS_TRACK_TAG = 0xB020
ROT_TRACK_TAG = 0xB021
SCL_TRACK_TAG = 0xB022
FOV_TRACK_TAG = 0xB023
ROLL_TRACK_TAG = 0xB024
COL_TRACK_TAG = 0xB025
MORPH_TRACK_TAG = 0xB026
HOT_TRACK_TAG = 0xB027
FALL_TRACK_TAG = 0xB028
HIDE_TRACK_TAG = 0xB029
NODE_ID = 0xB030

_NAMES = {number: name for name, number in globals().items() if isinstance(number, int)}

HEADER = struct.Struct("<HI")
"""The header of a chunk: its number, and its length including this header of six bytes."""
WORD = struct.Struct("<H")
LONG = struct.Struct("<I")
FRAME = struct.Struct("<i")
TWO_FRAMES = struct.Struct("<2i")
FLOAT = struct.Struct("<f")
TWO_FLOATS = struct.Struct("<2f")
NODE_HEADER = struct.Struct("<3H")
"""Header after a node's name, with two words of flags and the id of its parent."""
NO_PARENT = 0xFFFF


def pack(layout: struct.Struct, *values: float) -> bytes:
    """Pack the values in the format of the file. Raises ThreeDSError if a value does not fit."""
    try:
        return layout.pack(*values)
    except (struct.error, OverflowError) as error:
        raise ThreeDSError(Text("{:s}: {:s}", ", ".join(map(str, values)), str(error))) from error


def chunk_name(ident: int) -> str:
    """Return the name and number of a chunk for messages."""
    return f"{_NAMES.get(ident, 'chunk')} {ident:04X}"


# Errors and warnings


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


# Reading within the bounds of chunks


MAX_CHUNKS = 200_000
"""Maximum number of chunks in a file. A chunk takes up to 1 kB of memory, regardless of its size in the file."""
MAX_WARNINGS = 1000
"""Maximum number of warnings that are listed."""
_Scalar = TypeVar("_Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Span:
    """A chunk, with its number, the positions of its header and end, and its bytes beyond the end of its parent."""

    ident: int
    start: int
    end: int
    missing: int = 0

    @property
    def body(self) -> int:
        """Return the position after the header."""
        return self.start + HEADER.size


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk that is not modeled and is kept byte for byte."""

    ident: int
    """Its number."""
    content: bytes
    """Everything after the header, including nested chunks."""
    place: int = 0
    """The number of modeled sibling chunks before this chunk. 0 means that it comes first."""


class Source:
    """The bytes of a file, and the warnings so far.

    Methods raise ChunkError if a chunk has too few bytes.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.warnings: list[ReadWarning] = []
        self._unlisted_warnings = 0
        self._has_unlisted_loss = False
        self._chunks = 0

    def warn(self, offset: int, message: Text, lost: bool = False) -> None:
        """Add a warning, or only count it above the limit."""
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(ReadWarning(offset, message, lost))
        else:
            self._unlisted_warnings += 1
            self._has_unlisted_loss |= lost

    def name_owner(self, since: int, owner: Text) -> None:
        """Prefix the warnings from number `since` on with the name of a node or object."""
        for index in range(since, len(self.warnings)):
            warning = self.warnings[index]
            self.warnings[index] = replace(warning, message=n_("{:s}: {:s}", owner, warning.message))

    def all_warnings(self) -> tuple[ReadWarning, ...]:
        """Return the warnings, and the number of those above the limit as another warning."""
        if not self._unlisted_warnings:
            return tuple(self.warnings)
        text = n_("{:d} more warnings are not listed", self._unlisted_warnings)
        return (*self.warnings, ReadWarning(len(self.data), text, self._has_unlisted_loss))

    def numbers(self, layout: struct.Struct, span: Span, position: int) -> tuple[Any, ...]:
        """Return the numbers at a position in a chunk."""
        if span.end - position < layout.size:
            left = max(0, span.end - position)
            raise ChunkError(position, n_("has {:d} bytes left, but needs {:d}", left, layout.size))
        return layout.unpack_from(self.data, position)

    def array(
        self, kind: type[_Scalar], columns: int, count: int, span: Span, position: int
    ) -> tuple[npt.NDArray[_Scalar], int]:
        """Return a read-only array of numbers, shape (count, columns), and the position at which it ends."""
        dtype = np.dtype(kind)
        size = columns * dtype.itemsize
        left = max(0, span.end - position)
        if count * size > left:
            raise ChunkError(position, n_("declares {:d} times {:d} bytes, but has {:d}", count, size, left))
        numbers = np.frombuffer(self.data, dtype.newbyteorder("<"), count * columns, position)
        return frozen(numbers.reshape(count, columns).astype(dtype)), position + count * size

    def string(self, span: Span, position: int) -> tuple[bytes, int]:
        """Return a name, and the position after its terminating zero."""
        end = self.data.find(b"\0", position, span.end)
        if end < 0:
            raise ChunkError(position, n_("has a name without a terminating zero"))
        return self.data[position:end], end + 1

    def finish(self, span: Span, position: int) -> None:
        """Warn about extra bytes from a position to the end of a chunk."""
        if position < span.end:
            left = span.end - position
            self.warn(position, n_("{:s}: {:d} extra bytes were skipped", chunk_name(span.ident), left))

    def chunks(self, parent: Span, position: int) -> Iterator[Span]:
        """Yield the chunks from a position to the end of the parent. Raises ThreeDSError above `MAX_CHUNKS`."""
        while position < parent.end:
            left = parent.end - position
            if left < HEADER.size:
                text = n_("{:s}: the last {:d} bytes are not a chunk and were skipped", chunk_name(parent.ident), left)
                self.warn(position, text)
                return
            ident, length = HEADER.unpack_from(self.data, position)
            self._chunks += 1
            if self._chunks > MAX_CHUNKS:
                raise ThreeDSError(n_("the file has more than {:d} chunks", MAX_CHUNKS), position)
            if length < HEADER.size:
                text = n_(
                    "{:s} declares a length of {:d} bytes. The rest of {:s}, {:d} bytes, was skipped",
                    chunk_name(ident),
                    length,
                    chunk_name(parent.ident),
                    left,
                )
                # Zeros are padding.
                self.warn(position, text, lost=any(self.data[position : parent.end]))
                return
            yield Span(ident, position, position + min(length, left), max(0, length - left))
            position += length


def frozen(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True)
class ChunkReader:
    """The reader of a kind of chunk."""

    read: Callable[[Source, Span], Any]
    field: str = ""
    """The attribute of the parent, or "" for chunks that may repeat."""
    is_container: bool = False
    """True if the chunk contains other chunks."""


Layout = Mapping[int, ChunkReader]
"""The readers of the chunks that a chunk may contain, by number."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a chunk: unique parts by field, repeated parts, and chunks that are not modeled."""

    values: dict[str, Any]
    repeated: tuple[Any, ...]
    chunks: tuple[Chunk, ...]


def read_contents(source: Source, parent: Span, start: int, layout: Layout) -> Contents:
    """Read the chunks that are nested in a chunk, starting at `start`."""
    values: dict[str, Any] = {}
    repeated: list[Any] = []
    chunks: list[Chunk] = []
    for span in source.chunks(parent, start):
        reader = layout.get(span.ident)
        is_container = reader is not None and reader.is_container
        if span.missing:
            # If the file ends early, every chunk around the end is too long. Warn once, about the lost part.
            if not (is_container and parent.missing):
                _warn_too_long(source, span, parent, is_container)
            if not is_container:
                continue
        if reader is None:
            chunks.append(Chunk(span.ident, source.data[span.body : span.end], len(values) + len(repeated)))
            continue
        if reader.field in values:
            text = n_("{:s} occurs a second time and was skipped", chunk_name(span.ident))
            # A second container has data of its own, which is lost. A second number is only unusual.
            source.warn(span.start, text, lost=is_container)
            continue
        try:
            value = reader.read(source, span)
        except ChunkError as error:
            text = n_("{:s} {:s}. It was skipped", chunk_name(span.ident), error.message)
            source.warn(error.offset, text, lost=True)
            continue
        if reader.field and value is not None:
            values[reader.field] = value
        elif value is not None:
            repeated.append(value)
    return Contents(values, tuple(repeated), tuple(chunks))


def _warn_too_long(source: Source, span: Span, parent: Span, is_read_in_part: bool) -> None:
    """Warn about a chunk that extends beyond the end of its parent."""
    available = span.end - span.start
    numbers = chunk_name(span.ident), available + span.missing, chunk_name(parent.ident), available
    if is_read_in_part:
        text = n_("{:s} declares {:d} bytes, but {:s} ends after {:d}. The existing bytes were read", *numbers)
    else:
        text = n_("{:s} declares {:d} bytes, but {:s} ends after {:d}. It was skipped", *numbers)
    source.warn(span.start, text, lost=True)
