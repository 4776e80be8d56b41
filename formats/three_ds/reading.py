# SPDX-License-Identifier: GPL-3.0-or-later
"""Read .3ds files from bytes to a scene. Chunks that cannot be read are skipped with a warning.

The format nests chunks at most five deep. Each depth has its own function, so there is no recursion. Every count is
checked against the remaining bytes before memory is allocated for it.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..interp import Float32Array, Text, n_
from . import idents
from .chunks import (
    FLOAT,
    FRAME,
    HEADER,
    LONG,
    NO_PARENT,
    NODE_HEADER,
    TWO_FLOATS,
    TWO_FRAMES,
    WORD,
    Chunk,
    ChunkError,
    ReadWarning,
    ThreeDSError,
)
from .idents import chunk_name
from .scene import (
    NODE_KINDS,
    TRACK_KINDS,
    Camera,
    Editor,
    Header,
    Keyframer,
    Light,
    Mesh,
    Node,
    Object,
    Scene,
    Spotlight,
    Track,
    find_parents,
)
from .tracks import key_warnings, read_track

_Scalar = TypeVar("_Scalar", bound=np.generic)

MOST_CHUNKS = 200_000
"""Maximum number of chunks in a file. A chunk takes up to 1 kB of memory, regardless of its size in the file."""
MOST_WARNINGS = 1000

_SHOWN = 40
"""Maximum number of characters of a name in a warning. Valid names have 10, but damaged names may be very long."""


def read(data: bytes) -> Scene:
    """Read a .3ds file.

    Parameters
    ----------
    data : bytes
        The whole file.

    Returns
    -------
    Scene
        The scene without damaged parts. A warning names each damaged part and its position. Unusual values (frames that
        decrease, numbers that are not finite, parameters out of range, faces without vertices, nodes that are their own
        ancestors) are kept unchanged, with a warning.

    Raises
    ------
    ThreeDSError
        If this is not a .3ds file, or if it has more than `MOST_CHUNKS` chunks.
    """
    source = _Source(data)
    if len(data) < HEADER.size:
        raise ThreeDSError(n_("this is not a .3ds file: it has only {:d} bytes", len(data)), 0)
    ident, length = HEADER.unpack_from(data)
    if ident != idents.M3DMAGIC:
        wanted = chunk_name(idents.M3DMAGIC)
        raise ThreeDSError(n_("this is not a .3ds file: it begins with {:s}, not {:s}", chunk_name(ident), wanted), 0)
    if length < HEADER.size:
        raise ThreeDSError(n_("{:s} declares a length of {:d} bytes", chunk_name(ident), length), 2)
    whole = _Span(ident, 0, min(length, len(data)), max(0, length - len(data)))
    if whole.missing:
        text = n_(
            "{:s} declares {:d} bytes, but the file has {:d}. The existing bytes were read",
            chunk_name(ident),
            length,
            len(data),
        )
        source.warn(0, text, lost=True)
    elif length < len(data):
        text = n_("{:d} bytes after the end of {:s} were skipped", len(data) - length, chunk_name(ident))
        source.warn(length, text)
    parts = _contents(source, whole, whole.body, _MAIN)
    return Scene(**{"version": None, **parts.values}, chunks=parts.chunks, warnings=source.all_warnings())


@dataclass(frozen=True, slots=True)
class _Span:
    """A chunk, with its number, the positions of its header and end, and its bytes beyond the end of its parent."""

    ident: int
    start: int
    end: int
    missing: int = 0

    @property
    def body(self) -> int:
        return self.start + HEADER.size


class _Source:
    """The bytes of a file, and the warnings so far."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.warnings: list[ReadWarning] = []
        self.left_out: list[bool] = []
        """For each warning beyond the limit, whether data was lost."""
        self.chunks = 0

    def warn(self, offset: int, message: Text, lost: bool = False) -> None:
        if len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(ReadWarning(offset, message, lost))
        else:
            self.left_out.append(lost)

    def name_owner(self, since: int, owner: Text) -> None:
        """Prefix the warnings from number `since` on with the name of a node or object."""
        for index in range(since, len(self.warnings)):
            warning = self.warnings[index]
            self.warnings[index] = replace(warning, message=n_("{:s}: {:s}", owner, warning.message))

    def all_warnings(self) -> tuple[ReadWarning, ...]:
        if not self.left_out:
            return tuple(self.warnings)
        text = n_("{:d} more warnings are not listed", len(self.left_out))
        return (*self.warnings, ReadWarning(len(self.data), text, any(self.left_out)))

    def numbers(self, layout: struct.Struct, span: _Span, at: int) -> tuple[Any, ...]:
        if span.end - at < layout.size:
            raise ChunkError(at, n_("has {:d} bytes left, but needs {:d}", max(0, span.end - at), layout.size))
        return layout.unpack_from(self.data, at)

    def array(
        self, kind: type[_Scalar], columns: int, count: int, span: _Span, at: int
    ) -> tuple[npt.NDArray[_Scalar], int]:
        """Return an array of numbers, and the position at which it ends."""
        dtype = np.dtype(kind)
        size = columns * dtype.itemsize
        left = max(0, span.end - at)
        if count * size > left:
            raise ChunkError(at, n_("declares {:d} times {:d} bytes, but has {:d}", count, size, left))
        numbers = np.frombuffer(self.data, dtype.newbyteorder("<"), count * columns, at)
        return _frozen(numbers.reshape(count, columns).astype(dtype)), at + count * size

    def string(self, span: _Span, at: int) -> tuple[bytes, int]:
        stop = self.data.find(b"\0", at, span.end)
        if stop < 0:
            raise ChunkError(at, n_("has a name without a terminating zero"))
        return self.data[at:stop], stop + 1

    def finish(self, span: _Span, at: int) -> None:
        """Warn about extra bytes at the end of a chunk."""
        if at < span.end:
            left = span.end - at
            self.warn(at, n_("{:s}: {:d} extra bytes were skipped", chunk_name(span.ident), left))

    def inside(self, parent: _Span, at: int) -> Iterator[_Span]:
        """Yield the chunks from a position to the end of the parent."""
        while at < parent.end:
            left = parent.end - at
            if left < HEADER.size:
                text = n_("{:s}: the last {:d} bytes are not a chunk and were skipped", chunk_name(parent.ident), left)
                self.warn(at, text)
                return
            ident, length = HEADER.unpack_from(self.data, at)
            self.chunks += 1
            if self.chunks > MOST_CHUNKS:
                raise ThreeDSError(n_("the file has more than {:d} chunks", MOST_CHUNKS), at)
            if length < HEADER.size:
                text = n_(
                    "{:s} declares a length of {:d} bytes. The rest of {:s}, {:d} bytes, was skipped",
                    chunk_name(ident),
                    length,
                    chunk_name(parent.ident),
                    left,
                )
                # Zeros are padding.
                self.warn(at, text, lost=any(self.data[at : parent.end]))
                return
            yield _Span(ident, at, at + min(length, left), max(0, length - left))
            at += length


def _frozen(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True)
class _Part:
    """The reader of a kind of chunk, its field (None for repeated chunks), and whether it contains chunks."""

    read: Callable[[_Source, _Span], Any]
    field: str = ""
    holds_chunks: bool = False


_Layout = Mapping[int, _Part]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The contents of a chunk: unique parts by field, repeated parts, and parts that are not modeled."""

    values: dict[str, Any]
    many: tuple[Any, ...]
    chunks: tuple[Chunk, ...]


def _contents(source: _Source, parent: _Span, start: int, layout: _Layout) -> _Parts:
    """Read the chunks that are nested in a chunk, starting at `start`."""
    values: dict[str, Any] = {}
    many: list[Any] = []
    chunks: list[Chunk] = []
    for span in source.inside(parent, start):
        part = layout.get(span.ident)
        taken = part is not None and part.holds_chunks
        # If the file ends early, every chunk around the end is too long. Warn once, about the lost part.
        if span.missing and not (taken and parent.missing):
            there = span.end - span.start
            known = chunk_name(span.ident), there + span.missing, chunk_name(parent.ident), there
            text = n_("{:s} declares {:d} bytes, but {:s} ends after {:d}. It was skipped", *known)
            if taken:
                text = n_("{:s} declares {:d} bytes, but {:s} ends after {:d}. The existing bytes were read", *known)
            source.warn(span.start, text, lost=True)
        if span.missing and not taken:
            continue
        if part is None:
            chunks.append(Chunk(span.ident, source.data[span.body : span.end], len(values) + len(many)))
            continue
        if part.field in values:
            text = n_("{:s} occurs a second time and was skipped", chunk_name(span.ident))
            source.warn(span.start, text, lost=part.holds_chunks)
            continue
        try:
            value = part.read(source, span)
        except ChunkError as error:
            text = n_("{:s} {:s}. It was skipped", chunk_name(span.ident), error.message)
            source.warn(error.offset, text, lost=True)
            continue
        if value is None:
            continue
        if part.field:
            values[part.field] = value
        else:
            many.append(value)
    return _Parts(values, tuple(many), tuple(chunks))


def _number(layout: struct.Struct) -> Callable[[_Source, _Span], float]:
    """Return a reader for chunks that contain one number."""

    def read_number(source: _Source, span: _Span) -> float:
        number: float
        (number,) = source.numbers(layout, span, span.body)
        source.finish(span, span.body + layout.size)
        _say_not_finite(source, span, number)
        return number

    return read_number


def _name(source: _Source, span: _Span) -> bytes:
    name, at = source.string(span, span.body)
    source.finish(span, at)
    return name


def _matrix(source: _Source, span: _Span, rows: int = 4) -> Float32Array:
    table, at = source.array(np.float32, 3, rows, span, span.body)
    source.finish(span, at)
    _say_not_finite(source, span, table)
    return table


def _vector(source: _Source, span: _Span) -> Float32Array:
    return _row(_matrix(source, span, 1), 0)


def _table(columns: int) -> Callable[[_Source, _Span], Float32Array | None]:
    """Return a reader for chunks that contain a count and that number of rows.

    If there are no rows, the reader returns None.
    """

    def read_table(source: _Source, span: _Span) -> Float32Array | None:
        (count,) = source.numbers(WORD, span, span.body)
        table, at = source.array(np.float32, columns, count, span, span.body + WORD.size)
        source.finish(span, at)
        _say_not_finite(source, span, table)
        return table if count else None

    return read_table


def _row(table: Float32Array, row: int) -> Float32Array:
    return _frozen(table[row].copy())


def _say_not_finite(source: _Source, span: _Span, *numbers: npt.ArrayLike) -> None:
    if not all(np.isfinite(number).all() for number in numbers):
        source.warn(span.body, n_("{:s} has a number that is not finite", chunk_name(span.ident)))


def _faces(source: _Source, span: _Span) -> tuple[int, dict[str, Any]] | None:
    """Return the position of the first face in the file, and attributes of the mesh, or None if there are no faces."""
    (count,) = source.numbers(WORD, span, span.body)
    start = span.body + WORD.size
    table, at = source.array(np.uint16, 4, count, span, start)
    chunks = _contents(source, span, at, {}).chunks
    if not count and not chunks:
        return None
    corners, flags = _frozen(table[:, :3].copy()), _frozen(table[:, 3].copy())
    return start, {"faces": corners, "face_flags": flags, "face_chunks": chunks}


def _mesh(source: _Source, span: _Span) -> Mesh:
    parts = _contents(source, span, span.body, _MESH)
    start, faces = parts.values.pop("faces", (0, {}))
    mesh = Mesh(**parts.values, **faces, chunks=parts.chunks)
    count, mapped = len(mesh.vertices), len(mesh.texture_coordinates)
    if mapped not in (0, count):
        text = n_("{:s} has {:d} vertices but {:d} texture coordinates", chunk_name(span.ident), count, mapped)
        source.warn(span.start, text)
    wrong = np.flatnonzero((mesh.faces >= count).any(axis=1))
    if len(wrong):
        face = int(wrong[0])
        name, corner, more = chunk_name(idents.FACE_ARRAY), mesh.faces[face].max(), len(wrong) - 1
        text = n_("{:s}: face {:d} has vertex {:d} of {:d}", name, face, corner, count)
        if more:
            text = n_("{:s}: face {:d} has vertex {:d} of {:d} (and {:d} more)", name, face, corner, count, more)
        source.warn(start + 8 * face, text)
    return mesh


def _camera(source: _Source, span: _Span) -> Camera:
    table, at = source.array(np.float32, 3, 2, span, span.body)
    roll, lens = source.numbers(TWO_FLOATS, span, at)
    _say_not_finite(source, span, table, (roll, lens))
    parts = _contents(source, span, at + TWO_FLOATS.size, {})
    return Camera(_row(table, 0), _row(table, 1), roll, lens, parts.chunks)


def _light(source: _Source, span: _Span) -> Light:
    table, at = source.array(np.float32, 3, 1, span, span.body)
    _say_not_finite(source, span, table)
    parts = _contents(source, span, at, _LIGHT)
    return Light(_row(table, 0), **parts.values, chunks=parts.chunks)


def _spotlight(source: _Source, span: _Span) -> Spotlight:
    table, at = source.array(np.float32, 3, 1, span, span.body)
    hotspot, falloff = source.numbers(TWO_FLOATS, span, at)
    _say_not_finite(source, span, table, (hotspot, falloff))
    parts = _contents(source, span, at + TWO_FLOATS.size, _SPOTLIGHT)
    return Spotlight(_row(table, 0), hotspot, falloff, **parts.values, chunks=parts.chunks)


def _object(source: _Source, span: _Span) -> Object:
    name, at = source.string(span, span.body)
    before = len(source.warnings)
    parts = _contents(source, span, at, _OBJECT)
    source.name_owner(before, n_("object {!r}", _shown(name)))
    return Object(name, **parts.values, chunks=parts.chunks)


def _editor(source: _Source, span: _Span) -> Editor:
    parts = _contents(source, span, span.body, _EDITOR)
    single = {"mesh_version": None, "master_scale": None, **parts.values}
    return Editor(parts.many, **single, chunks=parts.chunks)


def _shown(name: bytes) -> str:
    return name[:_SHOWN].decode("latin-1")


def _header(source: _Source, span: _Span) -> Header:
    (revision,) = source.numbers(WORD, span, span.body)
    name, at = source.string(span, span.body + WORD.size)
    (length,) = source.numbers(FRAME, span, at)
    source.finish(span, at + FRAME.size)
    return Header(revision, name, length)


def _segment(source: _Source, span: _Span) -> tuple[int, int]:
    first, last = source.numbers(TWO_FRAMES, span, span.body)
    source.finish(span, span.body + TWO_FRAMES.size)
    return first, last


def _node_header(source: _Source, span: _Span) -> dict[str, Any]:
    name, at = source.string(span, span.body)
    first, second, parent = source.numbers(NODE_HEADER, span, at)
    source.finish(span, at + NODE_HEADER.size)
    return {"name": name, "flags": (first, second), "parent": None if parent == NO_PARENT else parent}


def _track(kind: str) -> Callable[[_Source, _Span], Track]:
    """Return a reader for a kind of track."""

    def read_kind(source: _Source, span: _Span) -> Track:
        track, at = read_track(kind, source.data, span.body, span.end)
        source.finish(span, at)
        for warning in key_warnings(track, span.body):
            source.warn(warning.offset, n_("{:s}: {:s}", chunk_name(span.ident), warning.message))
        return track

    return read_kind


def _node(kind: str) -> Callable[[_Source, _Span], tuple[int, Node]]:
    """Return a reader for a kind of node. The reader also returns the node's position in the file."""

    def read_kind(source: _Source, span: _Span) -> tuple[int, Node]:
        before = len(source.warnings)
        parts = _contents(source, span, span.body, _NODE)
        header = parts.values.pop("header", None)
        if header is None:
            # The node is kept so that subsequent nodes keep their indices if the file has no ids.
            names = chunk_name(span.ident), chunk_name(idents.NODE_HDR)
            text = n_("{:s} has no {:s}. Without a name, its tracks were skipped", *names)
            source.warn(span.start, text, lost=True)
            return span.start, Node(kind, b"")
        node = Node(kind, **header, **parts.values, tracks=parts.many, chunks=parts.chunks)
        for track_kind, count in Counter(track.kind for track in node.tracks).items():
            if count > 1:
                name = chunk_name(TRACK_KINDS[track_kind])
                source.warn(span.start, n_("{:s} occurs {:d} times. The first is used", name, count))
        source.name_owner(before, n_("node {!r}", _shown(node.name)))
        return span.start, node

    return read_kind


def _keyframer(source: _Source, span: _Span) -> Keyframer:
    parts = _contents(source, span, span.body, _KEYFRAMER)
    starts = [start for start, _ in parts.many]
    nodes = tuple(node for _, node in parts.many)
    _, errors = find_parents([node.node_id for node in nodes], [node.parent for node in nodes])
    for index, message in errors:
        owner = n_("node {!r}", _shown(nodes[index].name))
        source.warn(starts[index], n_("{:s}: {:s}", owner, message))
    return Keyframer(nodes, **parts.values, chunks=parts.chunks)


_NODE = {
    idents.NODE_ID: _Part(_number(WORD), "node_id"),
    idents.NODE_HDR: _Part(_node_header, "header"),
    idents.PIVOT: _Part(_vector, "pivot"),
    idents.INSTANCE_NAME: _Part(_name, "instance_name"),
    **{ident: _Part(_track(kind)) for kind, ident in TRACK_KINDS.items()},
}
_KEYFRAMER = {
    idents.KFHDR: _Part(_header, "header"),
    idents.KFSEG: _Part(_segment, "segment"),
    idents.KFCURTIME: _Part(_number(FRAME), "current_frame"),
    **{ident: _Part(_node(kind), holds_chunks=True) for kind, ident in NODE_KINDS.items()},
}
_MESH = {
    idents.POINT_ARRAY: _Part(_table(3), "vertices"),
    idents.TEX_VERTS: _Part(_table(2), "texture_coordinates"),
    idents.MESH_MATRIX: _Part(_matrix, "matrix"),
    idents.FACE_ARRAY: _Part(_faces, "faces", holds_chunks=True),
}
_SPOTLIGHT = {idents.DL_SPOT_ROLL: _Part(_number(FLOAT), "roll")}
_LIGHT = {
    idents.COLOR_F: _Part(_vector, "color"),
    idents.DL_MULTIPLIER: _Part(_number(FLOAT), "multiplier"),
    idents.DL_SPOTLIGHT: _Part(_spotlight, "spotlight", holds_chunks=True),
}
_OBJECT = {
    idents.N_TRI_OBJECT: _Part(_mesh, "content", holds_chunks=True),
    idents.N_DIRECT_LIGHT: _Part(_light, "content", holds_chunks=True),
    idents.N_CAMERA: _Part(_camera, "content", holds_chunks=True),
}
_EDITOR = {
    idents.MESH_VERSION: _Part(_number(LONG), "mesh_version"),
    idents.MASTER_SCALE: _Part(_number(FLOAT), "master_scale"),
    idents.NAMED_OBJECT: _Part(_object, holds_chunks=True),
}
_MAIN = {
    idents.M3D_VERSION: _Part(_number(LONG), "version"),
    idents.MDATA: _Part(_editor, "editor", holds_chunks=True),
    idents.KFDATA: _Part(_keyframer, "keyframer", holds_chunks=True),
}
