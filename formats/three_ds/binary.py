# SPDX-License-Identifier: GPL-3.0-or-later
"""The chunks of a .3ds file: their numbers and layouts, reading within their bounds, and errors with their positions.

A chunk consists of its header and its content. All numbers are little-endian. Every count is checked against the
remaining bytes before memory is allocated for it.
"""

from __future__ import annotations

import math
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
class Chunk:
    """A chunk that is not modeled and is kept byte for byte."""

    ident: int
    """Its number."""
    content: bytes
    """Everything after the header, including nested chunks."""
    place: int = 0
    """The number of modeled sibling chunks before this chunk. 0 means that it comes first."""


class Source:
    """The bytes of a file, and the warnings so far."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.chunk_count = 0
        self.warnings: list[ReadWarning] = []
        self._unlisted_warnings = 0
        self._has_unlisted_loss = False

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


@dataclass(frozen=True, slots=True)
class Field:
    """A kind of chunk that another chunk may contain."""

    read: Callable[[ChunkReader], Any]
    """The function that reads it. None means that there is nothing to keep."""
    name: str = ""
    """The attribute of the parent, or "" for chunks that may repeat."""
    is_container: bool = False
    """True if the chunk contains other chunks."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a chunk: unique parts by attribute, repeated parts, and chunks that are not modeled."""

    values: dict[str, Any]
    repeated: tuple[Any, ...]
    chunks: tuple[Chunk, ...]


class ChunkReader:
    """A chunk of a file, which is read from its header on. Methods raise ChunkError if the chunk has too few bytes."""

    def __init__(self, source: Source, ident: int, start: int, end: int, missing: int = 0) -> None:
        self.source = source
        self.ident = ident
        self.start = start
        """The position of the header in the file."""
        self.end = end
        self.missing = missing
        """The number of bytes beyond the end of the parent."""
        self.position = start + HEADER.size
        """The position up to which the chunk was read."""
        self._has_infinite_number = False

    @property
    def name(self) -> str:
        return chunk_name(self.ident)

    @property
    def left(self) -> int:
        """Return the number of bytes that were not read yet."""
        return self.end - self.position

    def numbers(self, layout: struct.Struct) -> tuple[Any, ...]:
        if self.left < layout.size:
            raise ChunkError(self.position, n_("has {:d} bytes left, but needs {:d}", self.left, layout.size))
        numbers = layout.unpack_from(self.source.data, self.position)
        self.position += layout.size
        self._has_infinite_number |= not all(map(math.isfinite, numbers))
        return numbers

    def array(self, kind: type[_Scalar], columns: int, count: int) -> npt.NDArray[_Scalar]:
        """Return a read-only array of numbers, shape (count, columns)."""
        dtype = np.dtype(kind)
        size = columns * dtype.itemsize
        if count * size > self.left:
            raise ChunkError(self.position, n_("declares {:d} times {:d} bytes, but has {:d}", count, size, self.left))
        numbers = np.frombuffer(self.source.data, dtype.newbyteorder("<"), count * columns, self.position)
        self.position += count * size
        self._has_infinite_number |= not np.isfinite(numbers).all()
        array = numbers.reshape(count, columns).astype(dtype)
        array.flags.writeable = False
        return array

    def string(self) -> bytes:
        """Return a name without its terminating zero."""
        start, end = self.position, self.source.data.find(b"\0", self.position, self.end)
        if end < 0:
            raise ChunkError(start, n_("has a name without a terminating zero"))
        self.position = end + 1
        return self.source.data[start:end]

    def finish(self) -> None:
        """Warn about numbers that are not finite, and skip the bytes that were not read."""
        self._warn_about_infinite_numbers()
        if self.left:
            self.source.warn(self.position, n_("{:s}: {:d} extra bytes were skipped", self.name, self.left))
            self.position = self.end

    def contents(self, fields: Mapping[int, Field]) -> Contents:
        """Read the chunks that follow in this chunk. `fields` contains the modeled chunks by number."""
        self._warn_about_infinite_numbers()
        values: dict[str, Any] = {}
        repeated: list[Any] = []
        chunks: list[Chunk] = []
        for chunk in self._chunks():
            field = fields.get(chunk.ident)
            is_container = field is not None and field.is_container
            if chunk.missing:
                # If the file ends early, every chunk around the end is too long. Warn once, about the lost part.
                if not (is_container and self.missing):
                    self._warn_too_long(chunk, is_container)
                if not is_container:
                    continue
            if field is None:
                content = self.source.data[chunk.position : chunk.end]
                chunks.append(Chunk(chunk.ident, content, len(values) + len(repeated)))
                continue
            if field.name in values:
                text = n_("{:s} occurs a second time and was skipped", chunk.name)
                # A second container has data of its own, which is lost. A second number is only unusual.
                self.source.warn(chunk.start, text, lost=is_container)
                continue
            try:
                value = field.read(chunk)
            except ChunkError as error:
                text = n_("{:s} {:s}. It was skipped", chunk.name, error.message)
                self.source.warn(error.offset, text, lost=True)
                continue
            chunk.finish()
            if field.name and value is not None:
                values[field.name] = value
            elif value is not None:
                repeated.append(value)
        return Contents(values, tuple(repeated), tuple(chunks))

    def _chunks(self) -> Iterator[ChunkReader]:
        """Yield the chunks up to the end. Raises ThreeDSError above `MAX_CHUNKS`."""
        while self.left:
            start, left = self.position, self.left
            if left < HEADER.size:
                text = n_("{:s}: the last {:d} bytes are not a chunk and were skipped", self.name, left)
                self.source.warn(start, text)
                break
            ident, length = HEADER.unpack_from(self.source.data, start)
            self.source.chunk_count += 1
            if self.source.chunk_count > MAX_CHUNKS:
                raise ThreeDSError(n_("the file has more than {:d} chunks", MAX_CHUNKS), start)
            if length < HEADER.size:
                names = chunk_name(ident), length, self.name, left
                text = n_("{:s} declares a length of {:d} bytes. The rest of {:s}, {:d} bytes, was skipped", *names)
                # Zeros are padding.
                self.source.warn(start, text, lost=any(self.source.data[start : self.end]))
                break
            self.position += min(length, left)
            yield ChunkReader(self.source, ident, start, self.position, max(0, length - left))
        self.position = self.end

    def _warn_too_long(self, chunk: ChunkReader, is_read_in_part: bool) -> None:
        """Warn about a nested chunk that extends beyond the end of this chunk."""
        available = chunk.end - chunk.start
        numbers = chunk.name, available + chunk.missing, self.name, available
        if is_read_in_part:
            text = n_("{:s} declares {:d} bytes, but {:s} ends after {:d}. The existing bytes were read", *numbers)
        else:
            text = n_("{:s} declares {:d} bytes, but {:s} ends after {:d}. It was skipped", *numbers)
        self.source.warn(chunk.start, text, lost=True)

    def _warn_about_infinite_numbers(self) -> None:
        if self._has_infinite_number:
            text = n_("{:s} has a number that is not finite", self.name)
            self.source.warn(self.start + HEADER.size, text)
            self._has_infinite_number = False
