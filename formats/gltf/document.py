# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON and the buffers of a glTF file. Items of the JSON are checked when they are read."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from ..interp import n_
from ..motion import MotionError

Fetch = Callable[[str], bytes]
"""A function that returns the content of an external file, by the name in its URI, or raises OSError."""
_HEADER, _CHUNK = struct.Struct("<4sII"), struct.Struct("<II")
"""The header of a .glb file: magic, version and length. The header of a chunk: its length and kind."""
_JSON, _BINARY = 0x4E4F534A, 0x004E4942
"""The kinds of chunks."""
_MAX_JSON_SIZE = 64 << 20
"""Maximum size of the JSON in bytes, because its objects take many times as much memory."""


class Document:
    """The JSON of a file, and the file's buffers.

    All methods raise MotionError if the file is damaged.
    """

    def __init__(self, data: bytes, fetch: Fetch | None = None) -> None:
        chunks = _chunks(data) if data[:4] == b"glTF" else {_JSON: data}
        if _JSON not in chunks:
            raise MotionError(n_("no JSON"))
        text, self._binary = chunks[_JSON], chunks.get(_BINARY)
        self._fetch = fetch
        self._buffers: dict[int, bytes] = {}
        if len(text) > _MAX_JSON_SIZE:
            raise MotionError(n_("the JSON has {:d} bytes, more than the limit of {:d}", len(text), _MAX_JSON_SIZE))
        try:
            root = json.loads(text.decode("utf-8-sig"), parse_constant=_reject_constant)
        except (ValueError, RecursionError) as error:
            raise MotionError(n_("the JSON cannot be read: {}", str(error)[:200])) from error
        if not isinstance(root, dict):
            raise MotionError(n_("the JSON is not an object"))
        self.root: Mapping[str, Any] = root
        version = as_object(root.get("asset"), n_("asset")).get("version")
        if not isinstance(version, str) or not version.startswith("2."):
            raise MotionError(n_("glTF version {} is not supported. Only version 2 is supported", str(version)[:20]))

    def items(self, name: str) -> list[Any]:
        """Return a list from the root object, or an empty list if it is missing."""
        return as_list(self.root.get(name, []), name)

    def buffer(self, index: int) -> bytes:
        """Return the content of a buffer."""
        if index not in self._buffers:
            name = f"buffers[{index}]"
            entry = as_object(self.items("buffers")[index], name)
            content = self._content(entry.get("uri"), index, name)
            length = as_count(entry.get("byteLength"), f"{name}.byteLength")
            if len(content) < length:
                raise MotionError(n_("{:s} declares {:d} bytes, but has {:d}", name, length, len(content)))
            self._buffers[index] = content[:length]
        return self._buffers[index]

    def _content(self, uri: object, index: int, name: str) -> bytes:
        if uri is None:
            if index or self._binary is None:
                raise MotionError(n_("{:s} has neither a URI nor a binary chunk", name))
            return self._binary
        if not isinstance(uri, str):
            raise MotionError(n_("the URI of {:s} is not text", name))
        return _decode_data_uri(uri, name) if uri.startswith("data:") else self._external_content(unquote(uri), name)

    def _external_content(self, path: str, name: str) -> bytes:
        is_absolute = "://" in path or path.startswith(("/", "\\"))
        if is_absolute or ".." in path.replace("\\", "/").split("/") or "\0" in path:
            raise MotionError(n_("{:s} refers to {:s}, which is outside the folder of this file", name, path[:80]))
        if self._fetch is None:
            raise MotionError(n_("{:s} refers to the file {:s}, which is not available", name, path[:80]))
        try:
            return self._fetch(path)
        except (OSError, ValueError) as error:
            raise MotionError(n_("{:s}: the file {:s} cannot be read", name, path[:80])) from error


def _chunks(data: bytes) -> dict[int, bytes]:
    """Return the content of each kind of chunk in a .glb file. If a kind occurs twice, the first counts."""
    if len(data) < _HEADER.size:
        raise MotionError(n_("the file ends within the header"))
    _, version, length = _HEADER.unpack_from(data)
    if version != 2:
        raise MotionError(n_("glTF version {} is not supported. Only version 2 is supported", version))
    chunks: dict[int, bytes] = {}
    position, end = _HEADER.size, min(length, len(data))
    while position + _CHUNK.size <= end:
        size, kind = _CHUNK.unpack_from(data, position)
        position += _CHUNK.size
        if size > end - position:
            left = end - position
            raise MotionError(
                n_("the chunk at byte {:d} declares {:d} bytes, but only {:d} are left", position, size, left)
            )
        chunks.setdefault(kind, data[position : position + size])
        position += size
    return chunks


def _decode_data_uri(uri: str, name: str) -> bytes:
    head, _, body = uri.partition(",")
    if not head.endswith(";base64"):
        raise MotionError(n_("the data of {:s} is not base64", name))
    try:
        return base64.b64decode(body, validate=True)
    except ValueError as error:
        raise MotionError(n_("the data of {:s} cannot be decoded: {}", name, error)) from error


def _reject_constant(text: str) -> float:
    """Raise ValueError for NaN and infinities, which Python reads but JSON does not have."""
    raise ValueError(n_("{:s} is not a number", text))


def as_list(value: object, name: str) -> list[Any]:
    """Return a value of the JSON that must be a list. `name` names it in errors."""
    if not isinstance(value, list):
        raise MotionError(n_("{:s} is not a list", name))
    return value


def as_object(value: object, name: str) -> Mapping[str, Any]:
    """Return a value that must be an object."""
    if not isinstance(value, dict):
        raise MotionError(n_("{:s} is not an object", name))
    return value


def as_index(value: object, size: int, name: str) -> int:
    """Return an index, which must be less than `size`."""
    if type(value) is not int or not 0 <= value < size:
        raise MotionError(n_("{:s} is {}, but must be from 0 to {:d}", name, str(value)[:40], size - 1))
    return value


def as_count(value: object, name: str) -> int:
    """Return a nonnegative integer that is a possible array size."""
    return as_index(value, 1 << 40, name)
