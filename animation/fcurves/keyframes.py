# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of an F-curve as arrays, read and written in bulk, to the last bit.

`keyframe_points.add` and `foreach_set` are some fifty times faster than `keyframe_insert`, and, where
`FCurve.update` is not called after them, they leave every value as it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from typing import Any, Literal

import bpy
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
EnumArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.intp]


def _enum(name: str) -> dict[str, int]:
    prop: Any = bpy.types.Keyframe.bl_rna.properties[name]
    return {item.identifier: item.value for item in prop.enum_items}


INTERPOLATION = _enum("interpolation")
HANDLE = _enum("handle_left_type")
KEY_TYPE = _enum("type")

# What Blender gives a new key; where a key's own are not known, these stand in.
DEFAULT_BACK = 1.70158
DEFAULT_AMPLITUDE = 0.8
DEFAULT_PERIOD = 4.1


@dataclass(frozen=True)
class Keyframes:
    """`n` keys in order of frame. Fields are named as those of `bpy.types.Keyframe`; co and handles are (n, 2)."""

    co: FloatArray
    handle_left: FloatArray
    handle_right: FloatArray
    handle_left_type: EnumArray
    handle_right_type: EnumArray
    interpolation: EnumArray
    easing: EnumArray
    type: EnumArray
    back: FloatArray
    amplitude: FloatArray
    period: FloatArray
    select_control_point: BoolArray
    select_left_handle: BoolArray
    select_right_handle: BoolArray

    def __len__(self) -> int:
        return len(self.co)

    @property
    def frames(self) -> FloatArray:
        return self.co[:, 0]

    @property
    def values(self) -> FloatArray:
        return self.co[:, 1]

    def take(self, rows: IndexArray | BoolArray) -> Keyframes:
        """The keys of those rows: indices, or a mask."""
        return Keyframes(**{name: getattr(self, name)[rows] for name in NAMES})

    def copy(self) -> Keyframes:
        return Keyframes(**{name: getattr(self, name).copy() for name in NAMES})

    def with_(self, **arrays: npt.NDArray[np.generic]) -> Keyframes:
        return replace(self, **arrays)  # type: ignore[arg-type]


NAMES = tuple(field.name for field in fields(Keyframes))
_DTYPES: dict[str, type[np.generic]] = {
    name: np.float32
    if name in {"co", "handle_left", "handle_right", "back", "amplitude", "period"}
    else np.bool_
    if name.startswith("select_")
    else np.uint8
    for name in NAMES
}
_PAIRS = frozenset({"co", "handle_left", "handle_right"})
FLAGS = ("select_control_point", "select_left_handle", "select_right_handle")
_SINGLE = tuple(name for name in NAMES if name not in _PAIRS and name not in FLAGS)
_UNPLACED = ("handle_left", "handle_right", "handle_left_type", "handle_right_type", "interpolation")


NO_KEYS = Keyframes(**{name: np.empty((0, 2) if name in _PAIRS else 0, dtype=_DTYPES[name]) for name in NAMES})


Write = Callable[[bpy.types.FCurve, Keyframes], None]
"""`write`, or another that does the same by the end of a bake."""


def read_floats(fcurve: bpy.types.FCurve, name: str) -> FloatArray:
    """Read one of the keys' floats: `back`, `amplitude` or `period`."""
    floats = np.empty(len(fcurve.keyframe_points), dtype=np.float32)
    fcurve.keyframe_points.foreach_get(name, floats)
    return floats


def places(fcurve: bpy.types.FCurve) -> FloatArray:
    """Frames and values of all keys in turn, shape (2 n,)."""
    return places_of(fcurve.keyframe_points)


def places_of(points: Any) -> FloatArray:
    co = np.empty(2 * len(points), dtype=np.float32)
    points.foreach_get("co", co)
    return co


def types(fcurve: bpy.types.FCurve) -> EnumArray:
    points = fcurve.keyframe_points
    kinds = np.empty(len(points), dtype=np.uint8)
    points.foreach_get("type", kinds)
    return kinds


def read_unplaced(fcurve: bpy.types.FCurve) -> list[npt.NDArray[Any]]:
    """Of what keys are but their places, what a bake changes: their interpolation, handles and handles' types."""
    points = fcurve.keyframe_points
    n = len(points)
    arrays = {name: np.empty(2 * n if name in _PAIRS else n, _DTYPES[name]) for name in _UNPLACED}
    for name, array in arrays.items():
        points.foreach_get(name, array)
    return list(arrays.values())


def merged(first: Keyframes, second: Keyframes) -> Keyframes:
    """The keys of both, in order of frame."""
    both = _end_to_end([first, second])
    return both.take(np.argsort(both.frames, kind="stable"))


def _end_to_end(channels: Sequence[Keyframes]) -> Keyframes:
    return Keyframes(**{name: np.concatenate([getattr(keys, name) for keys in channels]) for name in NAMES})


@dataclass(frozen=True, eq=False)
class Joined:
    """The keys of several channels, one's after the other's: a call of NumPy costs the same for ten as for a thousand.

    `keys` have as many rows as `counts` say together, one number a channel.
    """

    keys: Keyframes
    counts: list[int]

    @classmethod
    def of(cls, channels: Sequence[Keyframes]) -> Joined:
        return cls(_end_to_end(channels), [len(keys) for keys in channels])

    @property
    def starts(self) -> IndexArray:
        """The row at which each channel starts."""
        return np.cumsum([0, *self.counts[:-1]], dtype=np.intp)

    def of_channels(self, array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """What an array with an element for each row has for each channel."""
        ends = accumulate(self.counts)
        return [array[end - count : end] for count, end in zip(self.counts, ends, strict=True)]

    @property
    def channels(self) -> list[Keyframes]:
        """Each channel's keys, as views."""
        columns = zip(*(self.of_channels(getattr(self.keys, name)) for name in NAMES), strict=True)
        return [Keyframes(*column) for column in columns]


def read_joined(fcurves: Sequence[bpy.types.FCurve]) -> Joined:
    every = [fcurve.keyframe_points for fcurve in fcurves]
    counts = [len(points) for points in every]
    n = sum(counts)
    arrays = {name: np.empty(2 * n if name in _PAIRS else n, dtype) for name, dtype in _DTYPES.items()}
    for name, array in arrays.items():
        width, end = 2 if name in _PAIRS else 1, 0
        for points, count in zip(every, counts, strict=True):
            start, end = end, end + width * count
            points.foreach_get(name, array[start:end])
    for name in _PAIRS:
        arrays[name] = arrays[name].reshape(n, 2)
    return Joined(Keyframes(**arrays), counts)


def read(fcurve: bpy.types.FCurve) -> Keyframes:
    return read_joined([fcurve]).keys


_FEW = 30
"""One key in so many: to write as many handles one by one takes less time than to write those of all keys."""


def write(fcurve: bpy.types.FCurve, keys: Keyframes, flags: bool = True) -> None:
    """Replace all keys of `fcurve`; fastest where nearly all handles stand on their keys, and without the selection.

    Does not call `FCurve.update`, which would move handles and merge keys.
    """
    points = fcurve.keyframe_points
    off = np.flatnonzero(((keys.handle_left != keys.co) | (keys.handle_right != keys.co)).any(axis=1))
    few = len(off) * _FEW < len(keys)
    fresh = few or len(points) != len(keys)
    if fresh:
        points.clear()
        points.add(len(keys))
    if few:
        # Takes handles along, and those of new keys stand at (0, 0): a third of the time of writing all three.
        points.foreach_set("co_ui", keys.co.ravel())
        for row in off.tolist():
            points[row].handle_left, points[row].handle_right = keys.handle_left[row], keys.handle_right[row]
    else:
        for name in _PAIRS:
            points.foreach_set(name, getattr(keys, name).ravel())
    put = points.foreach_set
    arrays = vars(keys)
    for name in _SINGLE:
        array = arrays[name]
        # New keys have the first kind of easing already, which is what most keys have.
        if fresh and name == "easing" and not np.count_nonzero(array):
            continue
        put(name, array)
    if flags:
        write_flags(fcurve, keys)


def write_flags(fcurve: bpy.types.FCurve, keys: Keyframes) -> None:
    """Select those of the curve's keys and handles that are selected in `keys`, and deselect the others."""
    put = fcurve.keyframe_points.foreach_set
    for name in FLAGS:
        put(name, getattr(keys, name))


def extrapolate(fcurve: bpy.types.FCurve, extrapolation: Literal["CONSTANT", "LINEAR"]) -> None:
    """Set what the curve does outside its keys. Before they are written: Blender updates the curve at this."""
    if fcurve.extrapolation != extrapolation:
        fcurve.extrapolation = extrapolation
