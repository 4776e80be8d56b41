# SPDX-License-Identifier: GPL-3.0-or-later
"""Read .3ds files from bytes to a scene. Chunks that cannot be read are skipped with a warning.

Each kind of chunk has a function that reads it. Tables of fields list the chunks that a chunk may contain. They limit
the recursion: the deepest modeled chunk is nested five deep, and tables never refer to an outer table.
"""

from __future__ import annotations

import struct
from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from ..interp import Float32Array, n_
from . import binary
from .binary import ChunkReader, Field, Source, ThreeDSError, chunk_name
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
    contents = _main_chunk(source).contents(_MAIN)
    # A missing version is None. The default is for new scenes.
    values = {"version": None, **contents.values}
    return Scene(**values, chunks=contents.chunks, warnings=source.all_warnings())


def _main_chunk(source: Source) -> ChunkReader:
    """Return the chunk that contains the scene, which should be as long as the file."""
    size = len(source.data)
    if size < binary.HEADER.size:
        raise ThreeDSError(n_("this is not a .3ds file: it has only {:d} bytes", size), 0)
    ident, length = binary.HEADER.unpack_from(source.data)
    name = chunk_name(ident)
    if ident != binary.M3DMAGIC:
        expected = chunk_name(binary.M3DMAGIC)
        raise ThreeDSError(n_("this is not a .3ds file: it begins with {:s}, not {:s}", name, expected), 0)
    if length < binary.HEADER.size:
        raise ThreeDSError(n_("{:s} declares a length of {:d} bytes", name, length), 2)
    if length > size:
        text = n_("{:s} declares {:d} bytes, but the file has {:d}. The existing bytes were read", name, length, size)
        source.warn(0, text, lost=True)
    elif length < size:
        source.warn(length, n_("{:d} bytes after the end of {:s} were skipped", size - length, name))
    return ChunkReader(source, ident, 0, min(length, size), max(0, length - size))


def _number(layout: struct.Struct, chunk: ChunkReader) -> int | float:
    number: int | float
    (number,) = chunk.numbers(layout)
    return number


def _vectors(count: int, chunk: ChunkReader) -> Float32Array:
    return chunk.array(np.float32, 3, count)


def _vector(chunk: ChunkReader) -> Float32Array:
    vector: Float32Array = chunk.array(np.float32, 3, 1)[0]
    return vector


def _table(columns: int, chunk: ChunkReader) -> Float32Array | None:
    """Return the rows of a chunk that begins with their number, or None if there are none, as in a new mesh."""
    (count,) = chunk.numbers(binary.WORD)
    table = chunk.array(np.float32, columns, count)
    return table if count else None


def _faces(chunk: ChunkReader) -> tuple[int, dict[str, Any]] | None:
    """Return the position of the first face in the file, and attributes of the mesh, or None if there are no faces."""
    (count,) = chunk.numbers(binary.WORD)
    start = chunk.position
    table = chunk.array(np.uint16, 4, count)
    chunks = chunk.contents({}).chunks
    if not count and not chunks:
        return None
    return start, {"faces": table[:, :3], "face_flags": table[:, 3], "face_chunks": chunks}


def _mesh(chunk: ChunkReader) -> Mesh:
    contents = chunk.contents(_MESH)
    faces_start, faces = contents.values.pop("faces", (0, {}))
    mesh = Mesh(**contents.values, **faces, chunks=contents.chunks)
    count, mapped = len(mesh.vertices), len(mesh.texture_coordinates)
    if mapped not in (0, count):
        text = n_("{:s} has {:d} vertices but {:d} texture coordinates", chunk.name, count, mapped)
        chunk.source.warn(chunk.start, text)
    _warn_about_missing_vertices(chunk.source, mesh, faces_start)
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


def _camera(chunk: ChunkReader) -> Camera:
    position, target = chunk.array(np.float32, 3, 2)
    roll, lens = chunk.numbers(binary.TWO_FLOATS)
    return Camera(position, target, roll, lens, chunk.contents({}).chunks)


def _light(chunk: ChunkReader) -> Light:
    position = _vector(chunk)
    contents = chunk.contents(_LIGHT)
    return Light(position, **contents.values, chunks=contents.chunks)


def _spotlight(chunk: ChunkReader) -> Spotlight:
    target = _vector(chunk)
    hotspot, falloff = chunk.numbers(binary.TWO_FLOATS)
    contents = chunk.contents(_SPOTLIGHT)
    return Spotlight(target, hotspot, falloff, **contents.values, chunks=contents.chunks)


def _object(chunk: ChunkReader) -> Object:
    name = chunk.string()
    first_warning = len(chunk.source.warnings)
    contents = chunk.contents(_OBJECT)
    chunk.source.name_owner(first_warning, n_("object {!r}", _name_text(name)))
    return Object(name, **contents.values, chunks=contents.chunks)


def _editor(chunk: ChunkReader) -> Editor:
    contents = chunk.contents(_EDITOR)
    # Missing numbers are None. The defaults are for new scenes.
    values = {"mesh_version": None, "master_scale": None, **contents.values}
    return Editor(contents.repeated, **values, chunks=contents.chunks)


def _name_text(name: bytes) -> str:
    return name[:_MAX_NAME_TEXT].decode("latin-1")


def _header(chunk: ChunkReader) -> Header:
    (revision,) = chunk.numbers(binary.WORD)
    name = chunk.string()
    (length,) = chunk.numbers(binary.FRAME)
    return Header(revision, name, length)


def _segment(chunk: ChunkReader) -> tuple[int, int]:
    first, last = chunk.numbers(binary.TWO_FRAMES)
    return first, last


def _node_header(chunk: ChunkReader) -> dict[str, Any]:
    name = chunk.string()
    first, second, parent = chunk.numbers(binary.NODE_HEADER)
    return {"name": name, "flags": (first, second), "parent": None if parent == binary.NO_PARENT else parent}


def _track(kind: str, chunk: ChunkReader) -> Track:
    start = chunk.position
    track, chunk.position = read_track(kind, chunk.source.data, start, chunk.end)
    chunk.finish()
    for warning in key_warnings(track, start):
        chunk.source.warn(warning.offset, n_("{:s}: {:s}", chunk.name, warning.message))
    return track


def _node(kind: str, chunk: ChunkReader) -> tuple[int, Node]:
    """Return the node and its position in the file."""
    source = chunk.source
    first_warning = len(source.warnings)
    contents = chunk.contents(_NODE)
    header = contents.values.pop("header", None)
    if header is None:
        # The node is kept so that subsequent nodes keep their indices if the file has no ids.
        text = n_("{:s} has no {:s}. Without a name, its tracks were skipped", chunk.name, chunk_name(binary.NODE_HDR))
        source.warn(chunk.start, text, lost=True)
        return chunk.start, Node(kind, b"")
    node = Node(kind, **header, **contents.values, tracks=contents.repeated, chunks=contents.chunks)
    for track_kind, count in Counter(track.kind for track in node.tracks).items():
        if count > 1:
            name = chunk_name(TRACK_KINDS[track_kind])
            source.warn(chunk.start, n_("{:s} occurs {:d} times. The first is used", name, count))
    source.name_owner(first_warning, n_("node {!r}", _name_text(node.name)))
    return chunk.start, node


def _keyframer(chunk: ChunkReader) -> Keyframer:
    contents = chunk.contents(_KEYFRAMER)
    starts = [start for start, _ in contents.repeated]
    nodes = tuple(node for _, node in contents.repeated)
    _, errors = find_parents([node.node_id for node in nodes], [node.parent for node in nodes])
    for index, message in errors:
        owner = n_("node {!r}", _name_text(nodes[index].name))
        chunk.source.warn(starts[index], n_("{:s}: {:s}", owner, message))
    return Keyframer(nodes, **contents.values, chunks=contents.chunks)


_NODE = {
    binary.NODE_ID: Field(partial(_number, binary.WORD), "node_id"),
    binary.NODE_HDR: Field(_node_header, "header"),
    binary.PIVOT: Field(_vector, "pivot"),
    binary.INSTANCE_NAME: Field(ChunkReader.string, "instance_name"),
    **{ident: Field(partial(_track, kind)) for kind, ident in TRACK_KINDS.items()},
}
_KEYFRAMER = {
    binary.KFHDR: Field(_header, "header"),
    binary.KFSEG: Field(_segment, "segment"),
    binary.KFCURTIME: Field(partial(_number, binary.FRAME), "current_frame"),
    **{ident: Field(partial(_node, kind), is_container=True) for kind, ident in NODE_KINDS.items()},
}
_MESH = {
    binary.POINT_ARRAY: Field(partial(_table, 3), "vertices"),
    binary.TEX_VERTS: Field(partial(_table, 2), "texture_coordinates"),
    binary.MESH_MATRIX: Field(partial(_vectors, 4), "matrix"),
    binary.FACE_ARRAY: Field(_faces, "faces", is_container=True),
}
_SPOTLIGHT = {binary.DL_SPOT_ROLL: Field(partial(_number, binary.FLOAT), "roll")}
_LIGHT = {
    binary.COLOR_F: Field(_vector, "color"),
    binary.DL_MULTIPLIER: Field(partial(_number, binary.FLOAT), "multiplier"),
    binary.DL_SPOTLIGHT: Field(_spotlight, "spotlight", is_container=True),
}
_OBJECT = {
    binary.N_TRI_OBJECT: Field(_mesh, "content", is_container=True),
    binary.N_DIRECT_LIGHT: Field(_light, "content", is_container=True),
    binary.N_CAMERA: Field(_camera, "content", is_container=True),
}
_EDITOR = {
    binary.MESH_VERSION: Field(partial(_number, binary.LONG), "mesh_version"),
    binary.MASTER_SCALE: Field(partial(_number, binary.FLOAT), "master_scale"),
    binary.NAMED_OBJECT: Field(_object, is_container=True),
}
_MAIN = {
    binary.M3D_VERSION: Field(partial(_number, binary.LONG), "version"),
    binary.MDATA: Field(_editor, "editor", is_container=True),
    binary.KFDATA: Field(_keyframer, "keyframer", is_container=True),
}
