# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the animation in glTF 2.0 files (.gltf, .glb): nodes, animations, and curves with their tangents.

file = gltf.read(path.read_bytes(), lambda name: (path.parent / name).read_bytes())

The formulas are from the glTF 2.0 specification.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from .interp import Float64Array, n_, rotations
from .motion import (
    CONSTANT,
    CUBIC,
    LINEAR,
    VALUE_LIMIT,
    Curve,
    MotionError,
    MotionFile,
    Node,
    NodeMotion,
    Take,
    Track,
    check_count,
    find_cycle,
)

Fetch = Callable[[str], bytes]
"""A function that returns the content of an external file, by the name in its URI, or raises OSError."""
_HEADER = struct.Struct("<4sII")
_CHUNK = struct.Struct("<II")
_JSON, _BINARY = 0x4E4F534A, 0x004E4942
_MAX_JSON_SIZE = 64 << 20
"""Maximum size of the JSON in bytes, because its objects take many times as much memory."""
_TYPES: dict[int, Any] = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_ACCESSOR_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_COMPONENTS = {"translation": 3, "rotation": 4, "scale": 3}
_INTERPOLATION = {"STEP": CONSTANT, "LINEAR": LINEAR, "CUBICSPLINE": CUBIC}
_W_FIRST = [3, 0, 1, 2]
"""Columns that convert quaternions x, y, z, w to w, x, y, z."""
_TIME_LIMIT = 1e9
"""Seconds. Later times count as damage."""
_MAX_SHEAR = 1e-3
"""Largest cosine between the axes of a matrix that counts as unsheared."""
_MIN_QUATERNION = 1e-6
"""Shorter quaternions count as damage, because their direction is lost in rounding."""
_Y_UP = rotations.from_axis_angle([1.0, 0.0, 0.0], np.pi / 2.0)
"""The rotation from glTF's axes to Blender's. The y axis becomes the z axis, and the z axis becomes the -y axis."""


def read(data: bytes, fetch: Fetch | None = None) -> MotionFile:
    """Return the nodes and animations of a .gltf or .glb file.

    Parameters
    ----------
    data : bytes
        The file.
    fetch : callable, optional
        A function that returns the content of an external file, by name. By default, only buffers within the file are
        read.

    Raises
    ------
    MotionError
        If the file is damaged, or a buffer that its animations use is missing.
    """
    document = Document(data, fetch)
    nodes = _nodes(document)
    animations = document.items("animations")
    takes = [_take(document, item, f"animations[{i}]", len(nodes)) for i, item in enumerate(animations)]
    return MotionFile(nodes, tuple(takes), _Y_UP)


def _nodes(document: Document) -> tuple[Node, ...]:
    values = document.items("nodes")
    entries = [document.as_object(value, f"nodes[{i}]") for i, value in enumerate(values)]
    parents = [-1] * len(entries)
    for i, entry in enumerate(entries):
        for child in document.as_list(entry.get("children", []), f"nodes[{i}].children"):
            parents[document.as_index(child, len(entries), f"nodes[{i}].children")] = i
    cyclic = find_cycle(parents)
    if cyclic is not None:
        raise MotionError(n_("nodes[{:d}] is its own ancestor", cyclic))
    return tuple(_node(document, entry, i, parents[i]) for i, entry in enumerate(entries))


def _node(document: Document, entry: Mapping[str, Any], number: int, parent: int) -> Node:
    name = _name(document, entry, number)
    if "matrix" in entry:
        matrix = _numbers(document, entry["matrix"], 16, f"nodes[{number}].matrix").reshape(4, 4).T
        return Node(name, parent, matrix[:3, 3], *_rotation_and_scale(matrix[:3, :3]))
    translation, rotation, scale = (
        _numbers(document, entry.get(key, default), len(default), f"nodes[{number}].{key}")
        for key, default in (("translation", [0.0] * 3), ("rotation", [0.0, 0.0, 0.0, 1.0]), ("scale", [1.0] * 3))
    )
    return Node(name, parent, translation, _unit(rotation[_W_FIRST]), scale)


def _rotation_and_scale(matrix: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the quaternion and the scale factors of a matrix (3, 3). A sheared matrix has no rotation."""
    scale = np.linalg.norm(matrix, axis=0)
    axes = matrix / np.where(scale > 0.0, scale, 1.0)
    if np.linalg.det(axes) < 0.0:
        axes, scale = -axes, -scale
    is_sheared = np.abs(axes.T @ axes - np.eye(3)).max() > _MAX_SHEAR
    return rotations.from_matrix(np.eye(3) if is_sheared else axes), scale


def _name(document: Document, entry: Mapping[str, Any], number: int) -> str:
    """Return the name of a node, or the name that Blender's importer creates from its mesh or number."""
    if entry.get("name"):
        return str(entry["name"])
    meshes = document.items("meshes")
    if "mesh" not in entry or not meshes:
        return f"Node_{number}"
    index = document.as_index(entry["mesh"], len(meshes), f"nodes[{number}].mesh")
    mesh = document.as_object(meshes[index], f"meshes[{index}]")
    return str(mesh.get("name") or f"Mesh_{index}")


def _numbers(document: Document, value: object, count: int, name: str) -> Float64Array:
    numbers = document.as_list(value, name)
    if len(numbers) != count or not all(type(n) in (int, float) and abs(n) < VALUE_LIMIT for n in numbers):
        raise MotionError(n_("{:s} must have {:d} numbers", name, count))
    return np.array(numbers, dtype=np.float64)


def _take(document: Document, item: object, name: str, node_count: int) -> Take:
    animation = document.as_object(item, name)
    samplers = document.as_list(animation.get("samplers", []), f"{name}.samplers")
    tracks: dict[int, dict[str, Track]] = {}
    for i, channel_item in enumerate(document.as_list(animation.get("channels", []), f"{name}.channels")):
        channel_name = f"{name}.channels[{i}]"
        channel = document.as_object(channel_item, channel_name)
        target = document.as_object(channel.get("target"), f"{channel_name}.target")
        path = target.get("path")
        if "node" not in target or not isinstance(path, str) or path not in _COMPONENTS:
            continue
        node = document.as_index(target["node"], node_count, f"{channel_name}.target.node")
        sampler_item = samplers[document.as_index(channel.get("sampler"), len(samplers), f"{channel_name}.sampler")]
        sampler = document.as_object(sampler_item, f"{channel_name}.sampler")
        track = _track(document, sampler, path, channel_name)
        # Like Blender's importer, use the first of several channels of one property.
        tracks.setdefault(node, {}).setdefault(path, track)
    return Take(str(animation.get("name", "")), {node: NodeMotion(**paths) for node, paths in tracks.items()})


def _track(document: Document, sampler: Mapping[str, Any], path: str, name: str) -> Track:
    """Return the track of a sampler. glTF keys all components of a property together."""
    times, arriving, values, leaving, interpolation = _read_keys(document, sampler, path, name)
    if path == "rotation":
        lengths = np.linalg.norm(values, axis=1)
        if not (lengths > _MIN_QUATERNION).all():
            raise MotionError(n_("{:s}: key {:d} is a quaternion of zero length", name, int(np.argmin(lengths))))
        if interpolation == LINEAR:
            values = rotations.unroll_signs(_unit(values))
    components = zip(values.T, arriving.T, leaving.T, strict=True)
    curves = tuple(Curve.hermite(times, value, interpolation, before, after) for value, before, after in components)
    evaluate: Callable[[Float64Array], Float64Array] = partial(_values, curves)
    if path == "rotation" and interpolation == LINEAR and len(times) > 1:
        evaluate = partial(_slerp, times, values)
    elif path == "rotation":
        evaluate = partial(_unit_values, curves)
    return Track(times, np.full(len(times), interpolation, dtype=np.uint8), evaluate, curves)


def _read_keys(
    document: Document, sampler: Mapping[str, Any], path: str, name: str
) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array, int]:
    """Return the times (n,), arriving slopes, values and leaving slopes (n, d), and interpolation of a sampler's keys.

    Quaternions are w, x, y, z.
    """
    components = _COMPONENTS[path]
    times = _read_accessor(document, sampler.get("input"), 1, f"{name}.input")[:, 0]
    rows = _read_accessor(document, sampler.get("output"), components, f"{name}.output")
    mode = sampler.get("interpolation", "LINEAR")
    if not isinstance(mode, str) or mode not in _INTERPOLATION:
        raise MotionError(n_("{:s} has an unknown interpolation, {}", name, str(mode)[:40]))
    interpolation = _INTERPOLATION[mode]
    rows_per_key = 3 if interpolation == CUBIC else 1
    if not len(times) or len(rows) != rows_per_key * len(times):
        raise MotionError(n_("{:s} has {:d} keys but {:d} values", name, len(times), len(rows)))
    _check_keys(times, rows.reshape(len(times), -1), name)
    if path == "rotation":
        rows = rows[:, _W_FIRST]
    if interpolation == CUBIC:
        arriving, values, leaving = rows.reshape(-1, 3, components).swapaxes(0, 1)
        return times, arriving, values, leaving, interpolation
    return times, np.zeros_like(rows), rows, np.zeros_like(rows), interpolation


def _check_keys(times: Float64Array, values: Float64Array, name: str) -> None:
    """Raise MotionError unless all times and values, shape (n, m), are finite and the times increase."""
    is_valid = (np.abs(times) < _TIME_LIMIT) & (np.abs(values) < VALUE_LIMIT).all(axis=1)
    if not is_valid.all():
        raise MotionError(n_("{:s}: key {:d} is not a finite number", name, int(np.argmin(is_valid))))
    early = np.flatnonzero(np.diff(times) <= 0.0)
    if early.size:
        raise MotionError(n_("{:s}: key {:d} is not later than the previous key", name, int(early[0]) + 1))


def _values(curves: Sequence[Curve], times: Float64Array) -> Float64Array:
    return np.stack([curve(times) for curve in curves], axis=-1)


def _unit_values(curves: Sequence[Curve], times: Float64Array) -> Float64Array:
    return _unit(_values(curves, times))


def _slerp(key_times: Float64Array, quaternions: Float64Array, times: Float64Array) -> Float64Array:
    """Return the rotations between at least two keys at times (m,), held outside the keys."""
    key = np.clip(np.searchsorted(key_times, times, side="right") - 1, 0, len(key_times) - 2)
    fraction = np.clip((times - key_times[key]) / (key_times[key + 1] - key_times[key]), 0.0, 1.0)
    return rotations.slerp(quaternions[key], quaternions[key + 1], fraction)


def _unit(quaternions: Float64Array) -> Float64Array:
    """Return unit quaternions, with the identity for zero quaternions."""
    length = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    is_zero = length == 0.0
    return np.where(is_zero, [1.0, 0.0, 0.0, 0.0], quaternions / np.where(is_zero, 1.0, length))


def _read_accessor(document: Document, number: object, components: int, owner: str) -> Float64Array:
    """Return the data of an accessor, shape (count, components).

    `number` is the accessor's index, and `owner` is the name of the item that refers to it. Raises MotionError if the
    accessor has a different number of components, or bytes are missing.
    """
    accessors = document.items("accessors")
    index = document.as_index(number, len(accessors), owner)
    name = f"accessors[{index}]"
    accessor = document.as_object(accessors[index], name)
    kind = accessor.get("type")
    if not isinstance(kind, str) or _ACCESSOR_COMPONENTS.get(kind) != components:
        raise MotionError(
            n_("{:s} is of type {}, but {:s} needs {:d} components", name, str(kind)[:20], owner, components)
        )
    count = document.as_count(accessor.get("count"), f"{name}.count")
    check_count(count * components, name)
    dtype = _dtype(accessor.get("componentType"), name)
    if accessor.get("bufferView") is None:
        values = np.zeros((count, components), dtype=dtype)
    else:
        values = _elements(document, accessor, dtype, (count, components), name)
    if "sparse" in accessor:
        _replace_sparse(document, accessor["sparse"], values, f"{name}.sparse")
    return _as_floats(values, bool(accessor.get("normalized")))


def _dtype(component_type: object, name: str) -> np.dtype[Any]:
    if type(component_type) is not int or component_type not in _TYPES:
        raise MotionError(n_("{:s} has an unknown component type, {}", name, str(component_type)[:20]))
    dtype: np.dtype[Any] = np.dtype(_TYPES[component_type])
    return dtype


def _elements(
    document: Document, source: Mapping[str, Any], dtype: np.dtype[Any], shape: tuple[int, int], name: str
) -> npt.NDArray[Any]:
    """Return elements of a shape from the buffer view that an accessor, or a part of a sparse accessor, refers to."""
    view_name, data, stride = _read_view(document, source.get("bufferView"), f"{name}.bufferView")
    offset = document.as_count(source.get("byteOffset", 0), f"{name}.byteOffset")
    count, components = shape
    size = dtype.itemsize * components
    stride = stride or size
    if stride < size:
        raise MotionError(
            n_("{:s} has a stride of {:d} bytes, but each element is {:d} bytes long", view_name, stride, size)
        )
    end = offset + (stride * (count - 1) + size if count else 0)
    if end > len(data):
        raise MotionError(n_("{:s} needs {:d} bytes of {:s}, which has only {:d}", name, end, view_name, len(data)))
    if not count:
        return np.zeros(shape, dtype=dtype)
    return np.ndarray(shape, dtype, data, offset, (stride, dtype.itemsize)).copy()


def _read_view(document: Document, number: object, owner: str) -> tuple[str, memoryview, int]:
    """Return the name of a buffer view, its data, and the bytes from one element to the next, or 0 if adjacent."""
    views = document.items("bufferViews")
    index = document.as_index(number, len(views), owner)
    name = f"bufferViews[{index}]"
    view = document.as_object(views[index], name)
    data = document.buffer(document.as_index(view.get("buffer"), len(document.items("buffers")), f"{name}.buffer"))
    start = document.as_count(view.get("byteOffset", 0), f"{name}.byteOffset")
    end = start + document.as_count(view.get("byteLength"), f"{name}.byteLength")
    if end > len(data):
        raise MotionError(n_("{:s} ends at byte {:d}, but the buffer has only {:d} bytes", name, end, len(data)))
    stride = document.as_count(view.get("byteStride", 0), f"{name}.byteStride")
    return name, memoryview(data)[start:end], stride


def _replace_sparse(document: Document, item: object, values: npt.NDArray[Any], name: str) -> None:
    """Replace the elements of the array that a sparse accessor lists."""
    sparse = document.as_object(item, name)
    count = document.as_count(sparse.get("count"), f"{name}.count")
    if count > len(values):
        raise MotionError(n_("{:s} replaces {:d} elements, but there are only {:d}", name, count, len(values)))
    indices = document.as_object(sparse.get("indices"), f"{name}.indices")
    new_values = document.as_object(sparse.get("values"), f"{name}.values")
    index_dtype = _dtype(indices.get("componentType"), name)
    if index_dtype.kind != "u":
        raise MotionError(n_("{:s} has indices that are not unsigned integers", name))
    rows = _elements(document, indices, index_dtype, (count, 1), name)[:, 0]
    if count and int(rows.max()) >= len(values):
        raise MotionError(n_("{:s} replaces element {:d}, but there are only {:d}", name, int(rows.max()), len(values)))
    values[rows] = _elements(document, new_values, values.dtype, (count, values.shape[1]), name)


def _as_floats(values: npt.NDArray[Any], is_normalized: bool) -> Float64Array:
    """Return the values as float64.

    Normalized integers are divided by the maximum of their type, and are at least -1.
    """
    numbers = values.astype(np.float64)
    if is_normalized and values.dtype.kind in "iu":
        numbers = np.maximum(numbers / np.iinfo(values.dtype).max, -1.0)
    return numbers


class Document:
    """The JSON of a file, whose items are checked when they are read, and the file's buffers.

    All methods raise MotionError if the file is damaged.
    """

    def __init__(self, data: bytes, fetch: Fetch | None = None) -> None:
        self._binary: bytes | None = None
        self._fetch = fetch
        self._buffers: dict[int, bytes] = {}
        text = self._text_of_binary(data) if data[:4] == b"glTF" else data
        if len(text) > _MAX_JSON_SIZE:
            raise MotionError(n_("the JSON has {:d} bytes, more than the limit of {:d}", len(text), _MAX_JSON_SIZE))
        try:
            root = json.loads(text.decode("utf-8-sig"), parse_constant=_reject_constant)
        except (ValueError, RecursionError) as error:
            raise MotionError(n_("the JSON cannot be read: {}", str(error)[:200])) from error
        if not isinstance(root, dict):
            raise MotionError(n_("the JSON is not an object"))
        self.root: Mapping[str, Any] = root
        version = self.as_object(root.get("asset"), n_("asset")).get("version")
        if not isinstance(version, str) or not version.startswith("2."):
            raise MotionError(n_("glTF version {} is not supported. Only version 2 is supported", str(version)[:20]))

    def _text_of_binary(self, data: bytes) -> bytes:
        """Return the JSON of a .glb file, and store its binary chunk."""
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
        if _JSON not in chunks:
            raise MotionError(n_("no JSON"))
        self._binary = chunks.get(_BINARY)
        return chunks[_JSON]

    def items(self, name: str) -> list[Any]:
        """Return a list from the root object, or an empty list if it is missing."""
        return self.as_list(self.root.get(name, []), name)

    def as_list(self, value: object, name: str) -> list[Any]:
        """Return a value of the JSON that must be a list. `name` names it in errors."""
        if not isinstance(value, list):
            raise MotionError(n_("{:s} is not a list", name))
        return value

    def as_object(self, value: object, name: str) -> Mapping[str, Any]:
        """Return a value that must be an object."""
        if not isinstance(value, dict):
            raise MotionError(n_("{:s} is not an object", name))
        return value

    def as_index(self, value: object, size: int, name: str) -> int:
        """Return an index, which must be less than `size`."""
        if type(value) is not int or not 0 <= value < size:
            raise MotionError(n_("{:s} is {}, but must be from 0 to {:d}", name, str(value)[:40], size - 1))
        return value

    def as_count(self, value: object, name: str) -> int:
        """Return a nonnegative integer that is a possible array size."""
        return self.as_index(value, 1 << 40, name)

    def buffer(self, index: int) -> bytes:
        """Return the content of a buffer."""
        if index not in self._buffers:
            name = f"buffers[{index}]"
            entry = self.as_object(self.items("buffers")[index], name)
            content = self._content(entry.get("uri"), index, name)
            length = self.as_count(entry.get("byteLength"), f"{name}.byteLength")
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
