# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON of a glTF file, checked when it is read, its buffers, and arrays of numbers in the buffers.

All functions and methods raise MotionError if the file is damaged.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from .interp import Float64Array, n_
from .motion import MotionError, check_count

Fetch = Callable[[str], bytes]
"""A function that returns the content of an external file, by the name in its URI, or raises OSError."""
_HEADER, _CHUNK = struct.Struct("<4sII"), struct.Struct("<II")
"""The header of a .glb file: magic, version and length. The header of a chunk: its length and kind."""
_JSON, _BINARY = 0x4E4F534A, 0x004E4942
"""The kinds of chunks."""
_MAX_JSON_SIZE = 64 << 20
"""Maximum size of the JSON in bytes, because its objects take many times as much memory."""
_COMPONENT_TYPES: dict[int, Any] = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_COMPONENTS_OF_TYPE = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


@dataclass(frozen=True, slots=True)
class Json:
    """A value of the JSON, and its name for errors."""

    value: object
    name: str

    def as_object(self) -> Mapping[str, Any]:
        """Return the value, which must be an object."""
        if not isinstance(self.value, dict):
            raise MotionError(n_("{:s} is not an object", self.name))
        return self.value

    def get(self, key: str, default: object = None) -> Json:
        """Return a value of an object."""
        return Json(self.as_object().get(key, default), f"{self.name}.{key}")

    def as_list(self) -> list[Json]:
        """Return the items of a list."""
        if not isinstance(self.value, list):
            raise MotionError(n_("{:s} is not a list", self.name))
        return [Json(item, f"{self.name}[{i}]") for i, item in enumerate(self.value)]

    def as_index(self, size: int) -> int:
        """Return an index, which must be less than `size`."""
        if type(self.value) is not int or not 0 <= self.value < size:
            raise MotionError(n_("{:s} is {}, but must be from 0 to {:d}", self.name, str(self.value)[:40], size - 1))
        return self.value

    def as_count(self) -> int:
        """Return a nonnegative integer that is a possible array size."""
        return self.as_index(1 << 40)


class Document:
    """The JSON of a file, and the file's buffers."""

    def __init__(self, data: bytes, fetch: Fetch | None) -> None:
        chunks = _chunks(data) if data[:4] == b"glTF" else {_JSON: data}
        if _JSON not in chunks:
            raise MotionError(n_("no JSON"))
        text, self._binary = chunks[_JSON], chunks.get(_BINARY)
        self._fetch = fetch
        self._lists: dict[str, list[Json]] = {}
        self._buffers: dict[int, bytes] = {}
        if len(text) > _MAX_JSON_SIZE:
            raise MotionError(n_("the JSON has {:d} bytes, more than the limit of {:d}", len(text), _MAX_JSON_SIZE))
        try:
            root = json.loads(text.decode("utf-8-sig"), parse_constant=_reject_constant)
        except (ValueError, RecursionError) as error:
            raise MotionError(n_("the JSON cannot be read: {}", str(error)[:200])) from error
        if not isinstance(root, dict):
            raise MotionError(n_("the JSON is not an object"))
        self._root = root
        version = Json(root.get("asset"), "asset").get("version").value
        if not isinstance(version, str) or not version.startswith("2."):
            raise MotionError(n_("glTF version {} is not supported. Only version 2 is supported", str(version)[:20]))

    def items(self, name: str) -> list[Json]:
        """Return a list from the root object, or an empty list if it is missing."""
        if name not in self._lists:
            self._lists[name] = Json(self._root.get(name, []), name).as_list()
        return self._lists[name]

    def item(self, name: str, number: Json) -> Json:
        """Return the item of a list from the root object, by its index."""
        return self.items(name)[number.as_index(len(self.items(name)))]

    def buffer(self, number: Json) -> bytes:
        """Return the content of a buffer, by its index."""
        buffer = self.item("buffers", number)
        index = number.as_count()
        if index not in self._buffers:
            content = self._content(buffer.get("uri").value, index, buffer.name)
            length = buffer.get("byteLength").as_count()
            if len(content) < length:
                raise MotionError(n_("{:s} declares {:d} bytes, but has {:d}", buffer.name, length, len(content)))
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


def read_accessor(document: Document, number: Json, components: int) -> Float64Array:
    """Return the data of the accessor with an index, shape (count, components).

    Raises MotionError also if the accessor has a different number of components.
    """
    accessor = document.item("accessors", number)
    name, kind = accessor.name, accessor.get("type").value
    if not isinstance(kind, str) or _COMPONENTS_OF_TYPE.get(kind) != components:
        raise MotionError(
            n_("{:s} is of type {}, but {:s} needs {:d} components", name, str(kind)[:20], number.name, components)
        )
    count = accessor.get("count").as_count()
    check_count(count * components, name)
    dtype = _dtype(accessor)
    if accessor.get("bufferView").value is None:
        values = np.zeros((count, components), dtype=dtype)
    else:
        values = _elements(document, accessor, dtype, (count, components))
    if "sparse" in accessor.as_object():
        _replace_sparse(document, accessor.get("sparse"), values)
    return _as_floats(values, bool(accessor.get("normalized").value))


def _dtype(source: Json) -> np.dtype[Any]:
    """Return the type of the numbers of an accessor, or of the indices of a sparse accessor."""
    number = source.get("componentType").value
    if type(number) is not int or number not in _COMPONENT_TYPES:
        raise MotionError(n_("{:s} has an unknown component type, {}", source.name, str(number)[:20]))
    dtype: np.dtype[Any] = np.dtype(_COMPONENT_TYPES[number])
    return dtype


def _elements(document: Document, source: Json, dtype: np.dtype[Any], shape: tuple[int, int]) -> npt.NDArray[Any]:
    """Return elements of a shape from the buffer view that an accessor, or a part of a sparse accessor, refers to."""
    view = document.item("bufferViews", source.get("bufferView"))
    data = _view_data(document, view)
    offset = source.get("byteOffset", 0).as_count()
    count, components = shape
    size = dtype.itemsize * components
    # Without a stride, elements are adjacent.
    stride = view.get("byteStride", 0).as_count() or size
    if stride < size:
        raise MotionError(
            n_("{:s} has a stride of {:d} bytes, but each element is {:d} bytes long", view.name, stride, size)
        )
    end = offset + (stride * (count - 1) + size if count else 0)
    if end > len(data):
        raise MotionError(
            n_("{:s} needs {:d} bytes of {:s}, which has only {:d}", source.name, end, view.name, len(data))
        )
    if not count:
        return np.zeros(shape, dtype=dtype)
    return np.ndarray(shape, dtype, data, offset, (stride, dtype.itemsize)).copy()


def _view_data(document: Document, view: Json) -> memoryview:
    """Return the bytes of a buffer view."""
    data = document.buffer(view.get("buffer"))
    start = view.get("byteOffset", 0).as_count()
    end = start + view.get("byteLength").as_count()
    if end > len(data):
        raise MotionError(n_("{:s} ends at byte {:d}, but the buffer has only {:d} bytes", view.name, end, len(data)))
    return memoryview(data)[start:end]


def _replace_sparse(document: Document, sparse: Json, values: npt.NDArray[Any]) -> None:
    """Replace the elements of the array that a sparse accessor lists."""
    name, count = sparse.name, sparse.get("count").as_count()
    if count > len(values):
        raise MotionError(n_("{:s} replaces {:d} elements, but there are only {:d}", name, count, len(values)))
    indices, new_values = sparse.get("indices"), sparse.get("values")
    index_dtype = _dtype(indices)
    if index_dtype.kind != "u":
        raise MotionError(n_("{:s} has indices that are not unsigned integers", name))
    rows = _elements(document, indices, index_dtype, (count, 1))[:, 0]
    if count and int(rows.max()) >= len(values):
        raise MotionError(n_("{:s} replaces element {:d}, but there are only {:d}", name, int(rows.max()), len(values)))
    values[rows] = _elements(document, new_values, values.dtype, (count, values.shape[1]))


def _as_floats(values: npt.NDArray[Any], is_normalized: bool) -> Float64Array:
    """Return the values as float64. Normalized integers become fractions of the maximum of their type, at least -1."""
    numbers = values.astype(np.float64)
    if is_normalized and values.dtype.kind in "iu":
        numbers = np.maximum(numbers / np.iinfo(values.dtype).max, -1.0)
    return numbers
