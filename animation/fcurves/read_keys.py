# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the keys of F-curves in bulk, bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from .joined_keys import Joined
from .keyframes import DTYPES, NAMES, NO_KEYS, PAIRS, EnumArray, Float32Array, Keyframes


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
