# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays of numbers in the buffers of a glTF file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..interp import Float64Array, n_
from ..motion import MotionError, check_count
from .document import Document, as_count, as_index, as_object

_COMPONENT_TYPES: dict[int, Any] = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_COMPONENTS_OF_TYPE = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def read_accessor(document: Document, number: object, components: int, owner: str) -> Float64Array:
    """Return the data of an accessor, shape (count, components).

    `number` is the accessor's index, and `owner` is the name of the item that refers to it. Raises MotionError if the
    accessor has a different number of components, or bytes are missing.
    """
    accessors = document.items("accessors")
    index = as_index(number, len(accessors), owner)
    name = f"accessors[{index}]"
    accessor = as_object(accessors[index], name)
    kind = accessor.get("type")
    if not isinstance(kind, str) or _COMPONENTS_OF_TYPE.get(kind) != components:
        raise MotionError(
            n_("{:s} is of type {}, but {:s} needs {:d} components", name, str(kind)[:20], owner, components)
        )
    count = as_count(accessor.get("count"), f"{name}.count")
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
    if type(component_type) is not int or component_type not in _COMPONENT_TYPES:
        raise MotionError(n_("{:s} has an unknown component type, {}", name, str(component_type)[:20]))
    dtype: np.dtype[Any] = np.dtype(_COMPONENT_TYPES[component_type])
    return dtype


def _elements(
    document: Document, source: Mapping[str, Any], dtype: np.dtype[Any], shape: tuple[int, int], name: str
) -> npt.NDArray[Any]:
    """Return elements of a shape from the buffer view that an accessor, or a part of a sparse accessor, refers to."""
    view_name, data, stride = _read_view(document, source.get("bufferView"), f"{name}.bufferView")
    offset = as_count(source.get("byteOffset", 0), f"{name}.byteOffset")
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
    index = as_index(number, len(views), owner)
    name = f"bufferViews[{index}]"
    view = as_object(views[index], name)
    data = document.buffer(as_index(view.get("buffer"), len(document.items("buffers")), f"{name}.buffer"))
    start = as_count(view.get("byteOffset", 0), f"{name}.byteOffset")
    end = start + as_count(view.get("byteLength"), f"{name}.byteLength")
    if end > len(data):
        raise MotionError(n_("{:s} ends at byte {:d}, but the buffer has only {:d} bytes", name, end, len(data)))
    stride = as_count(view.get("byteStride", 0), f"{name}.byteStride")
    return name, memoryview(data)[start:end], stride


def _replace_sparse(document: Document, item: object, values: npt.NDArray[Any], name: str) -> None:
    """Replace the elements of the array that a sparse accessor lists."""
    sparse = as_object(item, name)
    count = as_count(sparse.get("count"), f"{name}.count")
    if count > len(values):
        raise MotionError(n_("{:s} replaces {:d} elements, but there are only {:d}", name, count, len(values)))
    indices = as_object(sparse.get("indices"), f"{name}.indices")
    new_values = as_object(sparse.get("values"), f"{name}.values")
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
