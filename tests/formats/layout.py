# SPDX-License-Identifier: GPL-3.0-or-later
"""The bytes of a .3ds file, assembled from the notes on its layout, independently of the code under test."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

MAIN, EDITOR, OBJECT = 0x4D4D, 0x3D3D, 0x4000
MESH, CAMERA, LIGHT, SPOTLIGHT = 0x4100, 0x4700, 0x4600, 0x4610
VERTICES, FACES, TEXTURE_COORDINATES, MATRIX = 0x4110, 0x4120, 0x4140, 0x4160
KEYFRAMER, SEGMENT, CURRENT_FRAME, HEADER = 0xB000, 0xB008, 0xB009, 0xB00A
OBJECT_NODE, NODE_ID, NODE_HEADER, PIVOT, INSTANCE = 0xB002, 0xB030, 0xB010, 0xB013, 0xB011
POSITION, ROTATION, SCALE, ROLL, MORPH, HIDE = 0xB020, 0xB021, 0xB022, 0xB024, 0xB026, 0xB029


class Key(NamedTuple):
    """Return the bytes of a key: frame, flags, floats, and a name or nothing."""

    frame: int
    flags: int
    floats: Sequence[float]
    name: bytes = b""


def chunk(ident: int, *content: bytes) -> bytes:
    body = b"".join(content)
    return struct.pack("<HI", ident, 6 + len(body)) + body


def floats(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def track(ident: int, keys: Sequence[Key], flags: int = 0, count: int | None = None) -> bytes:
    body = b"".join(struct.pack("<iH", key.frame, key.flags) + floats(*key.floats) + key.name for key in keys)
    return chunk(ident, struct.pack("<HIII", flags, 0, 100, len(keys) if count is None else count), body)


def node(
    name: bytes, *content: bytes, kind: int = OBJECT_NODE, ident: int | None = None, parent: int = 0xFFFF
) -> bytes:
    number = b"" if ident is None else chunk(NODE_ID, struct.pack("<H", ident))
    header = chunk(NODE_HEADER, name + b"\0", struct.pack("<HHH", 0x4000, 0, parent))
    return chunk(kind, number, header, *content)


def keyframes(*content: bytes) -> bytes:
    """Return a file with only a keyframer section."""
    return chunk(MAIN, chunk(KEYFRAMER, *content))


def objects(*content: bytes) -> bytes:
    """Return a file with only an editor section."""
    return chunk(MAIN, chunk(EDITOR, *content))
