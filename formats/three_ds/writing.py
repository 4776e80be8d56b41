# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a scene as the bytes of a .3ds file."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ..interp import Text, n_
from . import binary
from .binary import Chunk, ThreeDSError, pack
from .scene import (
    NODE_KINDS,
    TRACK_KINDS,
    Camera,
    Editor,
    Keyframer,
    Light,
    Mesh,
    Node,
    Object,
    Scene,
    Spotlight,
)
from .tracks import track_bytes


def write(scene: Scene) -> bytes:
    """Return the scene as a .3ds file. `read` restores it bit for bit.

    Raises
    ------
    ThreeDSError
        If the file cannot store data, such as a name that contains a zero, or more than 65,535 vertices. The message
        names the node or object.
    """
    chunks = _number(binary.M3D_VERSION, binary.LONG, scene.version)
    if scene.editor is not None:
        chunks.append(_editor(scene.editor))
    if scene.keyframer is not None:
        chunks.append(_keyframer(scene.keyframer))
    return _chunk(binary.M3DMAGIC, _with_unmodeled(chunks, scene.chunks))


def _keyframer(keyframer: Keyframer) -> bytes:
    chunks = []
    if keyframer.header is not None:
        header = keyframer.header
        content = pack(binary.WORD, header.revision) + _string(header.name) + pack(binary.FRAME, header.length)
        chunks.append(_chunk(binary.KFHDR, content))
    if keyframer.segment is not None:
        chunks.append(_chunk(binary.KFSEG, pack(binary.TWO_FRAMES, *keyframer.segment)))
    chunks += _number(binary.KFCURTIME, binary.FRAME, keyframer.current_frame)
    for node in keyframer.nodes:
        with _named(n_("node {!r}", node.name.decode("latin-1"))):
            chunks.append(_node(node))
    return _chunk(binary.KFDATA, _with_unmodeled(chunks, keyframer.chunks))


def _node(node: Node) -> bytes:
    chunks = _number(binary.NODE_ID, binary.WORD, node.node_id)
    parent = binary.NO_PARENT if node.parent is None else node.parent
    chunks.append(_chunk(binary.NODE_HDR, _string(node.name) + pack(binary.NODE_HEADER, *node.flags, parent)))
    if node.pivot is not None:
        chunks.append(_chunk(binary.PIVOT, _floats(node.pivot)))
    if node.instance_name is not None:
        chunks.append(_chunk(binary.INSTANCE_NAME, _string(node.instance_name)))
    for track in node.tracks:
        with _named(n_("{:s} track", track.kind.lower())):
            chunks.append(_chunk(TRACK_KINDS[track.kind], track_bytes(track)))
    return _chunk(NODE_KINDS[node.kind], _with_unmodeled(chunks, node.chunks))


def _editor(editor: Editor) -> bytes:
    chunks = _number(binary.MESH_VERSION, binary.LONG, editor.mesh_version)
    chunks += _number(binary.MASTER_SCALE, binary.FLOAT, editor.master_scale)
    for obj in editor.objects:
        with _named(n_("object {!r}", obj.name.decode("latin-1"))):
            chunks.append(_object(obj))
    return _chunk(binary.MDATA, _with_unmodeled(chunks, editor.chunks))


def _object(obj: Object) -> bytes:
    match obj.content:
        case Mesh():
            chunks = [_mesh(obj.content)]
        case Camera():
            chunks = [_camera(obj.content)]
        case Light():
            chunks = [_light(obj.content)]
        case None:
            chunks = []
    return _chunk(binary.NAMED_OBJECT, _string(obj.name) + _with_unmodeled(chunks, obj.chunks))


def _mesh(mesh: Mesh) -> bytes:
    chunks = []
    if len(mesh.vertices):
        chunks.append(_chunk(binary.POINT_ARRAY, _table(mesh.vertices)))
    if len(mesh.texture_coordinates):
        chunks.append(_chunk(binary.TEX_VERTS, _table(mesh.texture_coordinates)))
    if mesh.matrix is not None:
        chunks.append(_chunk(binary.MESH_MATRIX, _floats(mesh.matrix)))
    if len(mesh.faces) or mesh.face_chunks:
        table = np.column_stack([mesh.faces, mesh.face_flags]).astype("<u2")
        content = pack(binary.WORD, len(table)) + table.tobytes() + _with_unmodeled([], mesh.face_chunks)
        chunks.append(_chunk(binary.FACE_ARRAY, content))
    return _chunk(binary.N_TRI_OBJECT, _with_unmodeled(chunks, mesh.chunks))


def _camera(camera: Camera) -> bytes:
    points = _floats(camera.position) + _floats(camera.target)
    content = points + pack(binary.TWO_FLOATS, camera.roll, camera.lens)
    return _chunk(binary.N_CAMERA, content + _with_unmodeled([], camera.chunks))


def _light(light: Light) -> bytes:
    chunks = []
    if light.color is not None:
        chunks.append(_chunk(binary.COLOR_F, _floats(light.color)))
    chunks += _number(binary.DL_MULTIPLIER, binary.FLOAT, light.multiplier)
    if light.spotlight is not None:
        chunks.append(_spotlight(light.spotlight))
    return _chunk(binary.N_DIRECT_LIGHT, _floats(light.position) + _with_unmodeled(chunks, light.chunks))


def _spotlight(spotlight: Spotlight) -> bytes:
    chunks = _number(binary.DL_SPOT_ROLL, binary.FLOAT, spotlight.roll)
    cones = pack(binary.TWO_FLOATS, spotlight.hotspot, spotlight.falloff)
    content = _floats(spotlight.target) + cones + _with_unmodeled(chunks, spotlight.chunks)
    return _chunk(binary.DL_SPOTLIGHT, content)


def _number(ident: int, layout: struct.Struct, number: float | None) -> list[bytes]:
    """Return the chunk of a number, or no chunk for None."""
    return [] if number is None else [_chunk(ident, pack(layout, number))]


def _chunk(ident: int, content: bytes) -> bytes:
    return pack(binary.HEADER, ident, binary.HEADER.size + len(content)) + content


def _with_unmodeled(modeled: Sequence[bytes], unmodeled: Iterable[Chunk]) -> bytes:
    """Join modeled chunks and, each in its place, the chunks that are not modeled."""
    entries = [(place, 1, chunk) for place, chunk in enumerate(modeled)]
    entries += [(chunk.place, 0, _chunk(chunk.ident, chunk.content)) for chunk in unmodeled]
    return b"".join(chunk for *_, chunk in sorted(entries, key=lambda entry: entry[:2]))


def _string(text: bytes) -> bytes:
    if b"\0" in text:
        raise ThreeDSError(n_("{!r} contains a null character, which would end the name", text))
    return text + b"\0"


def _floats(array: npt.NDArray[np.float32]) -> bytes:
    return array.astype("<f4").tobytes()


def _table(table: npt.NDArray[np.float32]) -> bytes:
    return pack(binary.WORD, len(table)) + _floats(table)


@contextlib.contextmanager
def _named(owner: Text) -> Iterator[None]:
    """Prefix errors with the owner."""
    try:
        yield
    except ThreeDSError as error:
        raise ThreeDSError(n_("{:s}: {:s}", owner, Text(error.text, *error.values))) from error
