# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write the keys of F-curves in bulk, bit for bit, with their selection.

`keyframe_points.add` and `foreach_set` are about fifty times faster than `keyframe_insert`. `foreach_set` stores all
values unchanged unless `FCurve.update` is called afterward.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, compress, pairwise
from typing import Any, Literal

import bpy
import numpy as np
import numpy.typing as npt

from .keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    DTYPES,
    INTERPOLATION,
    NAMES,
    NO_KEYS,
    PAIRS,
    SIDES,
    BoolArray,
    EnumArray,
    Float32Array,
    Joined,
    Keyframes,
)


def read(fcurve: bpy.types.FCurve) -> Keyframes:
    """Read all keys of an F-curve."""
    return read_joined([fcurve]).keys


def read_joined(fcurves: Sequence[bpy.types.FCurve], names: Sequence[str] = NAMES) -> Joined:
    """Read the keys of F-curves. Attributes not in `names` stay empty."""
    block = KeyBlock([fcurve.keyframe_points for fcurve in fcurves])
    return Joined(NO_KEYS.with_(**block.attributes(names)), block.counts)


def read_coordinates(fcurve: bpy.types.FCurve) -> Float32Array:
    """Return the frame and value of each key, interleaved, shape (2 n,)."""
    return coordinates_of(fcurve.keyframe_points)


def coordinates_of(points: Any) -> Float32Array:
    """Return the frame and value of each key in a Blender collection, interleaved, shape (2 n,)."""
    co = np.empty(2 * len(points), dtype=np.float32)
    points.foreach_get("co", co)
    return co


def read_types(fcurve: bpy.types.FCurve) -> EnumArray:
    """Read the types of all keys."""
    types: EnumArray = KeyBlock([fcurve.keyframe_points]).read("type")
    return types


class KeyBlock:
    """A reader that copies the keys of many F-curves, given as Blender collections, into one block of memory.

    The sidebar and Live read every key of a character after each edit. Most curves have few keys, so slicing and
    attribute lookup take longer than copying. All attributes of one type therefore share their slices, and
    `foreach_get` is looked up once per curve. Together, this is twice as fast as one NumPy array per attribute and
    curve.
    """

    def __init__(self, collections: Sequence[Any]) -> None:
        self.every = collections
        """The collections of keys."""
        self.counts = list(map(len, collections))
        """Number of keys per F-curve."""
        self._ends = list(accumulate(self.counts, initial=0))
        self._getters = [points.foreach_get for points in collections]
        self._slices: dict[tuple[int, type[np.generic]], tuple[npt.NDArray[Any], list[memoryview]]] = {}
        """Memory, and its slice for each curve, by the size and type of an attribute."""

    def read(self, name: str) -> npt.NDArray[Any]:
        """Read an attribute of all keys. The frames and values of `co` and of handles are interleaved."""
        layout = width, dtype = 2 if name in PAIRS else 1, DTYPES[name]
        if layout not in self._slices:
            memory = np.empty(width * self._ends[-1], dtype=dtype)
            self._slices[layout] = memory, sliced(memory, [width * end for end in self._ends])
        memory, slices = self._slices[layout]
        for foreach_get, buffer in zip(self._getters, slices, strict=True):
            foreach_get(name, buffer)
        return memory.copy()

    def attributes(self, names: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
        """Read several attributes of all keys, in the shapes that they have in `Keyframes`."""
        return {name: self.read(name).reshape(-1, 2) if name in PAIRS else self.read(name) for name in names}


def sliced(array: npt.NDArray[Any], ends: Iterable[int]) -> list[memoryview]:
    """Split a contiguous array at the given ends into slices that Blender can read and write.

    Slices of a memoryview are created and accessed faster than slices of an array.
    """
    flat: Any = array.reshape(-1)
    memory = memoryview(flat)
    return [memory[start:end] for start, end in pairwise(ends)]


# Write the keys of F-curves in bulk, bit for bit, with their selection


def write(fcurve: bpy.types.FCurve, keys: Keyframes) -> None:
    """Replace all keys of an F-curve. See `write_joined`."""
    write_joined([fcurve], Joined(keys, [len(keys)]))


def write_joined(fcurves: Sequence[bpy.types.FCurve], joined: Joined, names: Sequence[str] = NAMES) -> None:
    """Replace all keys of the F-curves. Writing is fastest if all handles are on their keys.

    Attributes not in `names`, which contains the `PAIRS`, are not written.

    `FCurve.update` is not called, because it would move handles and merge keys.
    """
    keys, ends = joined.keys, joined.ends
    co = keys.co.view(np.uint32)
    has_handles = any(not np.array_equal(getattr(keys, side).view(np.uint32), co) for side in SIDES)
    # Setting co_ui also moves the handles, which are at (0, 0) for new keys.
    arrays = {name: getattr(keys, name) for name in PAIRS} if has_handles else {"co_ui": keys.co}
    buffers = {name: sliced(array, [2 * end for end in ends]) for name, array in arrays.items()}
    # New keys have easing 0.
    others = [name for name in names if name not in PAIRS and (has_handles or name != "easing" or keys.easing.any())]
    buffers |= {name: sliced(getattr(keys, name), ends) for name in others}
    for fcurve, count, *buffers_of_curve in zip(fcurves, joined.counts, *buffers.values(), strict=True):
        points: Any = fcurve.keyframe_points
        if len(points) != count or (count and not has_handles):
            # `clear` would also remove samples.
            points.clear()
            points.add(count)
        foreach_set = points.foreach_set
        for name, buffer in zip(buffers, buffers_of_curve, strict=True):
            foreach_set(name, buffer)


def write_some(
    fcurves: Sequence[bpy.types.FCurve], keys: Keyframes, fcurves_by_attribute: Mapping[str, BoolArray]
) -> None:
    """Write attributes of existing keys. For each attribute, a mask selects the F-curves to write.

    `keys` contains the same number of keys for each F-curve.
    """
    setters = [fcurve.keyframe_points.foreach_set for fcurve in fcurves]
    for name, is_written in fcurves_by_attribute.items():
        array = np.ascontiguousarray(getattr(keys, name))
        buffers = sliced(array, range(0, array.size + 1, max(1, array.size // len(fcurves))))
        for foreach_set, buffer in compress(zip(setters, buffers, strict=True), is_written):
            foreach_set(name, buffer)


def extrapolate(fcurve: bpy.types.FCurve, extrapolation: Literal["CONSTANT", "LINEAR"]) -> None:
    """Set the curve's extrapolation.

    Call this before writing keys, because Blender updates a curve when its extrapolation changes.
    """
    if fcurve.extrapolation != extrapolation:
        fcurve.extrapolation = extrapolation


_DEFAULTS = {"back": DEFAULT_BACK, "amplitude": DEFAULT_AMPLITUDE, "period": DEFAULT_PERIOD}
"""Blender's defaults for new keys. Keys added in bulk have 0, so Back or Elastic would have no effect if an animator
chose them later."""


def key_curve(
    fcurve: bpy.types.FCurve,
    frames: npt.NDArray[np.floating],
    values: npt.NDArray[np.floating],
    interpolation: str = "BEZIER",
) -> None:
    """Replace the curve's keys with keys at ascending frames. Bezier keys get automatic handles."""
    points = fcurve.keyframe_points
    points.clear()
    points.add(len(frames))
    co = np.empty((len(frames), 2), dtype=np.float32)
    co[:, 0], co[:, 1] = frames, values
    if interpolation == "BEZIER":
        for name, default in _DEFAULTS.items():
            points.foreach_set(name, np.full(len(frames), default, dtype=np.float32))
        points.foreach_set("co", co.ravel())
        fcurve.update()
        return
    # Setting co_ui also moves the handles. Writing the handles would take as long again, and only Bezier keys use them.
    points.foreach_set("co_ui", co.ravel())
    points.foreach_set("interpolation", np.full(len(frames), INTERPOLATION[interpolation], dtype=np.uint8))
