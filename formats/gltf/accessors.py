# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the bytes of buffers to arrays, using dense or sparse accessors of normalized integers or floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..interp import Float64Array, n_
from ..motion import MotionError, check_count
from .containers import Document

_TYPES: dict[int, Any] = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def read_accessor(document: Document, number: object, components: int, what: str) -> Float64Array:
    """Return the data of an accessor, shape (count, components).

    Raises MotionError if the accessor has a different number of components, or bytes are missing.
    """
    accessors = document.items("accessors")
    index = document.index(number, len(accessors), what)
    name = f"accessors[{index}]"
    accessor = document.object(accessors[index], name)
    kind = accessor.get("type")
    if not isinstance(kind, str) or _COMPONENTS.get(kind) != components:
        raise MotionError(
            n_("{:s} is of type {}, but {:s} needs {:d} components", name, str(kind)[:20], what, components)
        )
    count = document.count(accessor.get("count"), f"{name}.count")
    check_count(count * components, name)
    component = _type(accessor.get("componentType"), name)
    if accessor.get("bufferView") is None:
        values = np.zeros((count, components), dtype=component)
    else:
        values = _view(
            document, accessor["bufferView"], accessor.get("byteOffset", 0), component, (count, components), name
        )
    if "sparse" in accessor:
        values = _sparse(document, accessor["sparse"], values, f"{name}.sparse")
    return _as_floats(values, bool(accessor.get("normalized")))


def _type(value: object, what: str) -> np.dtype[Any]:
    if type(value) is not int or value not in _TYPES:
        raise MotionError(n_("{:s} has an unknown component type, {}", what, str(value)[:20]))
    component: np.dtype[Any] = np.dtype(_TYPES[value])
    return component


def _view(
    document: Document, number: object, offset: object, component: np.dtype[Any], shape: tuple[int, int], what: str
) -> npt.NDArray[Any]:
    """Return an array from a buffer view, which may have a stride."""
    views = document.items("bufferViews")
    index = document.index(number, len(views), f"{what}.bufferView")
    view = document.object(views[index], f"bufferViews[{index}]")
    name = f"bufferViews[{index}]"
    data = document.buffer(document.index(view.get("buffer"), len(document.items("buffers")), f"{name}.buffer"))
    first = document.count(view.get("byteOffset", 0), f"{name}.byteOffset")
    length = document.count(view.get("byteLength"), f"{name}.byteLength")
    if first + length > len(data):
        raise MotionError(
            n_("{:s} ends at byte {:d}, but the buffer has only {:d} bytes", name, first + length, len(data))
        )
    start = document.count(offset, f"{what}.byteOffset")
    size = component.itemsize * shape[1]
    stride = document.count(view.get("byteStride", 0), f"{name}.byteStride") or size
    if stride < size:
        raise MotionError(
            n_("{:s} has a stride of {:d} bytes, but each element is {:d} bytes long", name, stride, size)
        )
    needed = start + (stride * (shape[0] - 1) + size if shape[0] else 0)
    if needed > length:
        raise MotionError(n_("{:s} needs {:d} bytes of {:s}, which has only {:d}", what, needed, name, length))
    if not shape[0]:
        return np.zeros(shape, dtype=component)
    return np.ndarray(shape, component, data, first + start, (stride, component.itemsize)).copy()


def _sparse(document: Document, value: object, values: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """Replace the elements listed in a sparse accessor."""
    sparse = document.object(value, what)
    count = document.count(sparse.get("count"), f"{what}.count")
    if count > len(values):
        raise MotionError(n_("{:s} replaces {:d} elements, but there are only {:d}", what, count, len(values)))
    indices = document.object(sparse.get("indices"), f"{what}.indices")
    replaced = document.object(sparse.get("values"), f"{what}.values")
    kind = _type(indices.get("componentType"), what)
    if kind.kind != "u":
        raise MotionError(n_("{:s} has indices that are not unsigned integers", what))
    rows = _view(document, indices.get("bufferView"), indices.get("byteOffset", 0), kind, (count, 1), what)[:, 0]
    if count and int(rows.max()) >= len(values):
        raise MotionError(n_("{:s} replaces element {:d}, but there are only {:d}", what, int(rows.max()), len(values)))
    shape = (count, values.shape[1])
    values[rows] = _view(document, replaced.get("bufferView"), replaced.get("byteOffset", 0), values.dtype, shape, what)
    return values


def _as_floats(values: npt.NDArray[Any], normalized: bool) -> Float64Array:
    """Return the values as float64.

    Normalized integers are divided by the maximum of their type, and are at least -1.
    """
    numbers = values.astype(np.float64)
    if normalized and values.dtype.kind in "iu":
        numbers = np.maximum(numbers / np.iinfo(values.dtype).max, -1.0)
    return numbers
