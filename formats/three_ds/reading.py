# SPDX-License-Identifier: GPL-3.0-or-later
"""Read .3ds files from bytes to a scene. Chunks that cannot be read are skipped with a warning.

Each kind of chunk has a reader. Readers of chunks that contain chunks use layouts, which limit the recursion: the
deepest modeled chunk is nested five deep, and layouts never refer to an outer layout.
"""

from __future__ import annotations

import struct
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..interp import Float32Array, n_
from . import binary
from .binary import (
    FLOAT,
    FRAME,
    HEADER,
    LONG,
    NO_PARENT,
    NODE_HEADER,
    TWO_FLOATS,
    TWO_FRAMES,
    WORD,
    ChunkReader,
    Source,
    Span,
    ThreeDSError,
    chunk_name,
    frozen,
    read_contents,
)
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

_MAX_NAME_TEXT = 40
"""Maximum number of characters of a name in a warning. Valid names have up to 10, but damaged names may be long."""
_FACE_SIZE = 8
"""Bytes of a face: three vertices and the flags, as u16."""


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
        If this is not a .3ds file, or if it has more than `MAX_CHUNKS` chunks.
    """
    source = Source(data)
    main = _main_chunk(source)
    contents = read_contents(source, main, main.body, _MAIN)
    # A missing version is None. The default is for new scenes.
    values = {"version": None, **contents.values}
    return Scene(**values, chunks=contents.chunks, warnings=source.all_warnings())


def _main_chunk(source: Source) -> Span:
    """Return the chunk that contains the scene, which should be as long as the file."""
    size = len(source.data)
    if size < HEADER.size:
        raise ThreeDSError(n_("this is not a .3ds file: it has only {:d} bytes", size), 0)
    ident, length = HEADER.unpack_from(source.data)
    name = chunk_name(ident)
    if ident != binary.M3DMAGIC:
        expected = chunk_name(binary.M3DMAGIC)
        raise ThreeDSError(n_("this is not a .3ds file: it begins with {:s}, not {:s}", name, expected), 0)
    if length < HEADER.size:
        raise ThreeDSError(n_("{:s} declares a length of {:d} bytes", name, length), 2)
    if length > size:
        text = n_("{:s} declares {:d} bytes, but the file has {:d}. The existing bytes were read", name, length, size)
        source.warn(0, text, lost=True)
    elif length < size:
        source.warn(length, n_("{:d} bytes after the end of {:s} were skipped", size - length, name))
    return Span(ident, 0, min(length, size), max(0, length - size))


def _number(layout: struct.Struct, source: Source, span: Span) -> int | float:
    number: int | float
    (number,) = source.numbers(layout, span, span.body)
    source.finish(span, span.body + layout.size)
    _warn_if_not_finite(source, span, number)
    return number


def _name(source: Source, span: Span) -> bytes:
    name, end = source.string(span, span.body)
    source.finish(span, end)
    return name


def _vectors(count: int, source: Source, span: Span) -> Float32Array:
    vectors, end = source.array(np.float32, 3, count, span, span.body)
    source.finish(span, end)
    _warn_if_not_finite(source, span, vectors)
    return vectors


def _vector(source: Source, span: Span) -> Float32Array:
    return _row(_vectors(1, source, span), 0)


def _table(columns: int, source: Source, span: Span) -> Float32Array | None:
    """Return the rows of a chunk that begins with their number, or None if there are none, as in a new mesh."""
    (count,) = source.numbers(WORD, span, span.body)
    table, end = source.array(np.float32, columns, count, span, span.body + WORD.size)
    source.finish(span, end)
    _warn_if_not_finite(source, span, table)
    return table if count else None


def _row(table: Float32Array, row: int) -> Float32Array:
    return frozen(table[row].copy())


def _warn_if_not_finite(source: Source, span: Span, *numbers: npt.ArrayLike) -> None:
    if not all(np.isfinite(number).all() for number in numbers):
        source.warn(span.body, n_("{:s} has a number that is not finite", chunk_name(span.ident)))


def _faces(source: Source, span: Span) -> tuple[int, dict[str, Any]] | None:
    """Return the position of the first face in the file, and attributes of the mesh, or None if there are no faces."""
    (count,) = source.numbers(WORD, span, span.body)
    start = span.body + WORD.size
    table, end = source.array(np.uint16, 4, count, span, start)
    chunks = read_contents(source, span, end, {}).chunks
    if not count and not chunks:
        return None
    vertices, flags = frozen(table[:, :3].copy()), frozen(table[:, 3].copy())
    return start, {"faces": vertices, "face_flags": flags, "face_chunks": chunks}


def _mesh(source: Source, span: Span) -> Mesh:
    contents = read_contents(source, span, span.body, _MESH)
    faces_start, faces = contents.values.pop("faces", (0, {}))
    mesh = Mesh(**contents.values, **faces, chunks=contents.chunks)
    count, mapped = len(mesh.vertices), len(mesh.texture_coordinates)
    if mapped not in (0, count):
        text = n_("{:s} has {:d} vertices but {:d} texture coordinates", chunk_name(span.ident), count, mapped)
        source.warn(span.start, text)
    _warn_about_missing_vertices(source, mesh, faces_start)
    return mesh


def _warn_about_missing_vertices(source: Source, mesh: Mesh, faces_start: int) -> None:
    """Warn about faces with indices of missing vertices. The first face is at `faces_start`."""
    count = len(mesh.vertices)
    faces = np.flatnonzero((mesh.faces >= count).any(axis=1))
    if not len(faces):
        return
    face, more = int(faces[0]), len(faces) - 1
    name, vertex = chunk_name(binary.FACE_ARRAY), mesh.faces[face].max()
    if more:
        text = n_("{:s}: face {:d} has vertex {:d} of {:d} (and {:d} more)", name, face, vertex, count, more)
    else:
        text = n_("{:s}: face {:d} has vertex {:d} of {:d}", name, face, vertex, count)
    source.warn(faces_start + _FACE_SIZE * face, text)


def _camera(source: Source, span: Span) -> Camera:
    table, end = source.array(np.float32, 3, 2, span, span.body)
    roll, lens = source.numbers(TWO_FLOATS, span, end)
    _warn_if_not_finite(source, span, table, (roll, lens))
    contents = read_contents(source, span, end + TWO_FLOATS.size, {})
    return Camera(_row(table, 0), _row(table, 1), roll, lens, contents.chunks)


def _light(source: Source, span: Span) -> Light:
    table, end = source.array(np.float32, 3, 1, span, span.body)
    _warn_if_not_finite(source, span, table)
    contents = read_contents(source, span, end, _LIGHT)
    return Light(_row(table, 0), **contents.values, chunks=contents.chunks)


def _spotlight(source: Source, span: Span) -> Spotlight:
    table, end = source.array(np.float32, 3, 1, span, span.body)
    hotspot, falloff = source.numbers(TWO_FLOATS, span, end)
    _warn_if_not_finite(source, span, table, (hotspot, falloff))
    contents = read_contents(source, span, end + TWO_FLOATS.size, _SPOTLIGHT)
    return Spotlight(_row(table, 0), hotspot, falloff, **contents.values, chunks=contents.chunks)


def _object(source: Source, span: Span) -> Object:
    name, end = source.string(span, span.body)
    first_warning = len(source.warnings)
    contents = read_contents(source, span, end, _OBJECT)
    source.name_owner(first_warning, n_("object {!r}", _name_text(name)))
    return Object(name, **contents.values, chunks=contents.chunks)


def _editor(source: Source, span: Span) -> Editor:
    contents = read_contents(source, span, span.body, _EDITOR)
    # Missing numbers are None. The defaults are for new scenes.
    values = {"mesh_version": None, "master_scale": None, **contents.values}
    return Editor(contents.repeated, **values, chunks=contents.chunks)


def _name_text(name: bytes) -> str:
    return name[:_MAX_NAME_TEXT].decode("latin-1")


def _header(source: Source, span: Span) -> Header:
    (revision,) = source.numbers(WORD, span, span.body)
    name, end = source.string(span, span.body + WORD.size)
    (length,) = source.numbers(FRAME, span, end)
    source.finish(span, end + FRAME.size)
    return Header(revision, name, length)


def _segment(source: Source, span: Span) -> tuple[int, int]:
    first, last = source.numbers(TWO_FRAMES, span, span.body)
    source.finish(span, span.body + TWO_FRAMES.size)
    return first, last


def _node_header(source: Source, span: Span) -> dict[str, Any]:
    name, end = source.string(span, span.body)
    first, second, parent = source.numbers(NODE_HEADER, span, end)
    source.finish(span, end + NODE_HEADER.size)
    return {"name": name, "flags": (first, second), "parent": None if parent == NO_PARENT else parent}


def _track(kind: str, source: Source, span: Span) -> Track:
    track, end = read_track(kind, source.data, span.body, span.end)
    source.finish(span, end)
    for warning in key_warnings(track, span.body):
        source.warn(warning.offset, n_("{:s}: {:s}", chunk_name(span.ident), warning.message))
    return track


def _node(kind: str, source: Source, span: Span) -> tuple[int, Node]:
    """Return the node and its position in the file."""
    first_warning = len(source.warnings)
    contents = read_contents(source, span, span.body, _NODE)
    header = contents.values.pop("header", None)
    if header is None:
        # The node is kept so that subsequent nodes keep their indices if the file has no ids.
        names = chunk_name(span.ident), chunk_name(binary.NODE_HDR)
        text = n_("{:s} has no {:s}. Without a name, its tracks were skipped", *names)
        source.warn(span.start, text, lost=True)
        return span.start, Node(kind, b"")
    node = Node(kind, **header, **contents.values, tracks=contents.repeated, chunks=contents.chunks)
    for track_kind, count in Counter(track.kind for track in node.tracks).items():
        if count > 1:
            name = chunk_name(TRACK_KINDS[track_kind])
            source.warn(span.start, n_("{:s} occurs {:d} times. The first is used", name, count))
    source.name_owner(first_warning, n_("node {!r}", _name_text(node.name)))
    return span.start, node


def _keyframer(source: Source, span: Span) -> Keyframer:
    contents = read_contents(source, span, span.body, _KEYFRAMER)
    starts = [start for start, _ in contents.repeated]
    nodes = tuple(node for _, node in contents.repeated)
    _, errors = find_parents([node.node_id for node in nodes], [node.parent for node in nodes])
    for index, message in errors:
        owner = n_("node {!r}", _name_text(nodes[index].name))
        source.warn(starts[index], n_("{:s}: {:s}", owner, message))
    return Keyframer(nodes, **contents.values, chunks=contents.chunks)


_NODE = {
    binary.NODE_ID: ChunkReader(partial(_number, WORD), "node_id"),
    binary.NODE_HDR: ChunkReader(_node_header, "header"),
    binary.PIVOT: ChunkReader(_vector, "pivot"),
    binary.INSTANCE_NAME: ChunkReader(_name, "instance_name"),
    **{ident: ChunkReader(partial(_track, kind)) for kind, ident in TRACK_KINDS.items()},
}
_KEYFRAMER = {
    binary.KFHDR: ChunkReader(_header, "header"),
    binary.KFSEG: ChunkReader(_segment, "segment"),
    binary.KFCURTIME: ChunkReader(partial(_number, FRAME), "current_frame"),
    **{ident: ChunkReader(partial(_node, kind), is_container=True) for kind, ident in NODE_KINDS.items()},
}
_MESH = {
    binary.POINT_ARRAY: ChunkReader(partial(_table, 3), "vertices"),
    binary.TEX_VERTS: ChunkReader(partial(_table, 2), "texture_coordinates"),
    binary.MESH_MATRIX: ChunkReader(partial(_vectors, 4), "matrix"),
    binary.FACE_ARRAY: ChunkReader(_faces, "faces", is_container=True),
}
_SPOTLIGHT = {binary.DL_SPOT_ROLL: ChunkReader(partial(_number, FLOAT), "roll")}
_LIGHT = {
    binary.COLOR_F: ChunkReader(_vector, "color"),
    binary.DL_MULTIPLIER: ChunkReader(partial(_number, FLOAT), "multiplier"),
    binary.DL_SPOTLIGHT: ChunkReader(_spotlight, "spotlight", is_container=True),
}
_OBJECT = {
    binary.N_TRI_OBJECT: ChunkReader(_mesh, "content", is_container=True),
    binary.N_DIRECT_LIGHT: ChunkReader(_light, "content", is_container=True),
    binary.N_CAMERA: ChunkReader(_camera, "content", is_container=True),
}
_EDITOR = {
    binary.MESH_VERSION: ChunkReader(partial(_number, LONG), "mesh_version"),
    binary.MASTER_SCALE: ChunkReader(partial(_number, FLOAT), "master_scale"),
    binary.NAMED_OBJECT: ChunkReader(_object, is_container=True),
}
_MAIN = {
    binary.M3D_VERSION: ChunkReader(partial(_number, LONG), "version"),
    binary.MDATA: ChunkReader(_editor, "editor", is_container=True),
    binary.KFDATA: ChunkReader(_keyframer, "keyframer", is_container=True),
}
