# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of an F-curve as arrays, read and written in bulk, bit for bit.

`keyframe_points.add` and `foreach_set` are about fifty times faster than `keyframe_insert`. Both functions store all
values unchanged unless `FCurve.update` is called afterward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Literal

import bpy
import numpy as np
import numpy.typing as npt

from ...interp.key_batch import BoolArray as BoolArray
from ...interp.key_batch import IndexArray as IndexArray
from ...interp.keys import Float32Array as Float32Array
from ...interp.keys import Float64Array as Float64Array
from ..records import record

EnumArray = npt.NDArray[np.uint8]


def _enum(name: str) -> dict[str, int]:
    prop: Any = bpy.types.Keyframe.bl_rna.properties[name]
    return {item.identifier: item.value for item in prop.enum_items}


INTERPOLATION = _enum("interpolation")
EASING = _enum("easing")
HANDLE = _enum("handle_left_type")
KEY_TYPE = _enum("type")
AUTOMATIC = np.zeros(256, dtype=np.bool_)
"""For each handle type, true if Blender places the handle automatically."""
AUTOMATIC[[HANDLE[name] for name in ("AUTO", "AUTO_CLAMPED", "VECTOR")]] = True
BY_NUMBERS = (INTERPOLATION["BACK"], INTERPOLATION["ELASTIC"])
"""Interpolation types that use `back`, `amplitude` and `period`."""

# Blender's values for new keys, used if a key's values are unknown.
DEFAULT_BACK = 1.70158
DEFAULT_AMPLITUDE = 0.8
DEFAULT_PERIOD = 4.1


@record()
class Keyframes:
    """The keys of one channel, ordered by frame.

    The fields are named after the attributes of `bpy.types.Keyframe`. `co` and handles have shape (n, 2), all other
    fields (n,).
    """

    co: Float32Array
    handle_left: Float32Array
    handle_right: Float32Array
    handle_left_type: EnumArray
    handle_right_type: EnumArray
    interpolation: EnumArray
    easing: EnumArray
    type: EnumArray
    back: Float32Array
    amplitude: Float32Array
    period: Float32Array
    select_control_point: BoolArray
    select_left_handle: BoolArray
    select_right_handle: BoolArray

    def __len__(self) -> int:
        return len(self.co)

    @property
    def frames(self) -> Float32Array:
        return self.co[:, 0]

    @property
    def values(self) -> Float32Array:
        return self.co[:, 1]

    @property
    def stepped(self) -> BoolArray:
        """Return a mask of the keys with CONSTANT interpolation, at which splines end on both sides."""
        stepped: BoolArray = self.interpolation == INTERPOLATION["CONSTANT"]
        return stepped

    def take(self, rows: IndexArray | BoolArray) -> Keyframes:
        """Return the keys selected by indices or by a mask."""
        return Keyframes(**{name: getattr(self, name)[rows] for name in NAMES})

    def replaced(self, rows: BoolArray, others: Keyframes) -> Keyframes:
        """Return a copy in which `others` replaces the keys in the mask `rows`."""
        result = self.copy()
        for name in NAMES:
            getattr(result, name)[rows] = getattr(others, name)
        return result

    def copy(self) -> Keyframes:
        return Keyframes(**{name: getattr(self, name).copy() for name in NAMES})

    def with_(self, **arrays: npt.NDArray[np.generic]) -> Keyframes:
        """Return a copy with the given arrays replaced."""
        others = {name: getattr(self, name) for name in NAMES if name not in arrays}
        return Keyframes(**others, **arrays)  # type: ignore[arg-type]


NAMES = tuple(field.name for field in fields(Keyframes))
_DTYPES: dict[str, type[np.generic]] = {
    name: np.float32
    if name in {"co", "handle_left", "handle_right", "back", "amplitude", "period"}
    else np.bool_
    if name.startswith("select_")
    else np.uint8
    for name in NAMES
}
SIDES = ("handle_left", "handle_right")
_PAIRS = frozenset({"co", *SIDES})
FLAGS = ("select_control_point", "select_left_handle", "select_right_handle")
_SINGLE = tuple(name for name in NAMES if name not in _PAIRS and name not in FLAGS)
KINDS = ("handle_left_type", "handle_right_type", "interpolation")


def both(pairs: BoolArray) -> BoolArray:
    """Return a mask of the pairs, shape (n, 2), whose elements are both true. `all` would take ten times as long."""
    true: BoolArray = pairs[:, 0] & pairs[:, 1]
    return true


def either(pairs: BoolArray) -> BoolArray:
    """Return a mask of the pairs, shape (n, 2), with at least one true element. `any` would take ten times as long."""
    true: BoolArray = pairs[:, 0] | pairs[:, 1]
    return true


NO_KEYS = Keyframes(**{name: np.empty((0, 2) if name in _PAIRS else 0, dtype=_DTYPES[name]) for name in NAMES})


def read_coordinates(fcurve: bpy.types.FCurve) -> Float32Array:
    """Return the frame and value of each key, interleaved, shape (2 n,)."""
    return coordinates_of(fcurve.keyframe_points)


def coordinates_of(points: Any) -> Float32Array:
    """Return the frame and value of each key in a Blender collection, interleaved, shape (2 n,)."""
    co = np.empty(2 * len(points), dtype=np.float32)
    points.foreach_get("co", co)
    return co


def types(fcurve: bpy.types.FCurve) -> EnumArray:
    """Read the types of all keys."""
    kinds: EnumArray = KeyBlock([fcurve.keyframe_points]).read("type")
    return kinds


def merged(first: Keyframes, second: Keyframes) -> Keyframes:
    """Return the keys of both arguments, ordered by frame."""
    both = end_to_end([first, second])
    return both.take(np.argsort(both.frames, kind="stable"))


def made_like(keys: Keyframes, co: npt.ArrayLike, left: npt.ArrayLike, right: npt.ArrayLike) -> Keyframes:
    """Create unselected keys with these positions and handles, and the other attributes of the given keys."""
    pairs = {"co": co, "handle_left": left, "handle_right": right}
    defaults = {"back": DEFAULT_BACK, "amplitude": DEFAULT_AMPLITUDE, "period": DEFAULT_PERIOD}
    return keys.with_(
        **{name: np.array(pair, dtype=np.float32) for name, pair in pairs.items()},
        **{name: np.full(len(keys), default, dtype=np.float32) for name, default in defaults.items()},
        **{name: np.zeros(len(keys), dtype=np.bool_) for name in FLAGS},
    )


def free_keys(
    frames: Float64Array,
    values: Float64Array,
    slopes: tuple[Float64Array, Float64Array],
    reaches: tuple[Float64Array, Float64Array],
    interpolation: EnumArray,
) -> Keyframes:
    """Create unselected keys with FREE handles.

    `slopes` and `reaches` contain the slopes and the lengths, in frames, of the left and right handles.
    """
    count = len(frames)
    (before, after), (left, right) = slopes, reaches
    blank = Keyframes(
        **{name: np.zeros((count, 2) if name in _PAIRS else count, dtype=_DTYPES[name]) for name in NAMES}
    )
    keys = made_like(
        blank,
        np.stack((frames, values), axis=-1),
        np.stack((frames - left, values - before * left), axis=-1),
        np.stack((frames + right, values + after * right), axis=-1),
    )
    return keys.with_(
        handle_left_type=np.full(count, HANDLE["FREE"], dtype=np.uint8),
        handle_right_type=np.full(count, HANDLE["FREE"], dtype=np.uint8),
        interpolation=interpolation,
        type=np.full(count, KEY_TYPE["KEYFRAME"], dtype=np.uint8),
    )


class KeyframesSlice(Keyframes):
    """The keys of one channel, as a view of the keys of many channels. Attributes are sliced on first access.

    A channel has fourteen attributes, and most callers need only a few. `every` contains the concatenated keys of all
    channels, and `rows` is the slice for this channel.
    """

    every: Keyframes
    rows: slice

    def __init__(self, every: Keyframes, rows: slice) -> None:
        self.every, self.rows = every, rows

    def __len__(self) -> int:
        return int(self.rows.stop - self.rows.start)

    def __getattr__(self, name: str) -> npt.NDArray[Any]:
        if name not in _DTYPES:
            raise AttributeError(name)
        array: npt.NDArray[Any] = getattr(self.every, name)[self.rows]
        vars(self)[name] = array
        return array


def end_to_end(channels: Sequence[Keyframes]) -> Keyframes:
    """Concatenate the keys of several channels. Consecutive slices of the same keys are not copied."""
    parts = [keys for keys in channels if isinstance(keys, KeyframesSlice)]
    if parts and len(parts) == len(channels) and all(part.every is parts[0].every for part in parts):
        spans = [part.rows for part in parts]
        if are_consecutive(spans):
            return KeyframesSlice(parts[0].every, slice(spans[0].start, spans[-1].stop))
    return Keyframes(**{name: np.concatenate([getattr(keys, name) for keys in channels]) for name in NAMES})


def are_consecutive(parts: Sequence[slice]) -> bool:
    """Return whether each part starts at the end of the previous part."""
    return [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]


def in_parts(array: npt.NDArray[Any], counts: Sequence[int]) -> list[npt.NDArray[Any]]:
    """Split an array into parts with the given row counts, ten times as fast as `np.split`."""
    return [array[end - count : end] for count, end in zip(counts, accumulate(counts), strict=True)]


@record(eq=False)
class Joined:
    """The concatenated keys of several channels. A NumPy call takes as long for ten keys as for a thousand.

    `counts` contains the number of keys per channel.
    """

    keys: Keyframes
    counts: list[int]
    block: KeyBlock | None = None
    """The block that read the keys."""

    @classmethod
    def of(cls, channels: Sequence[Keyframes]) -> Joined:
        """Concatenate the keys of several channels."""
        return cls(end_to_end(channels), [len(keys) for keys in channels])

    @cached_property
    def starts(self) -> IndexArray:
        """Return the first row of each channel."""
        return np.array([0, *accumulate(self.counts)][: len(self.counts)], dtype=np.intp)

    def of_channels(self, array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Split an array with one element per row into one array per channel."""
        return in_parts(array, self.counts)

    def sums(self, mask: BoolArray) -> IndexArray:
        """Return the number of rows per channel for which the mask is true."""
        before = np.concatenate(([0], np.cumsum(mask, dtype=np.intp)))
        starts = self.starts
        counts: IndexArray = before[starts + self.counts] - before[starts]
        return counts

    def spread(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Expand an array with one element per channel to one element per row."""
        return np.repeat(array, self.counts)

    @property
    def spans(self) -> list[slice]:
        """Return the row slice of each channel."""
        return [slice(end - count, end) for count, end in zip(self.counts, accumulate(self.counts), strict=True)]

    @property
    def channels(self) -> list[KeyframesSlice]:
        """Return the keys of each channel."""
        return [KeyframesSlice(self.keys, span) for span in self.spans]


Write = Callable[[Sequence[bpy.types.FCurve], Joined], None]
"""`write_joined`, or a function that has the same effect by the end of a bake."""

MARKS = ("co", "type", "back", "amplitude", "period")
"""Attributes that hold the position and identity of a key."""


def read_joined(fcurves: Sequence[bpy.types.FCurve], names: Sequence[str] = NAMES) -> Joined:
    """Read the keys of F-curves. Attributes not in `names` stay empty."""
    block = KeyBlock([fcurve.keyframe_points for fcurve in fcurves])
    arrays = {name: _shaped(name, block.read(name)) for name in names}
    return Joined(NO_KEYS.with_(**arrays), block.counts, block)


class KeyBlock:
    """A reader that copies the keys of many F-curves, given as Blender collections, into one block of memory.

    For each F-curve, all attributes of the same type share one slice, because creating a slice takes a quarter of the
    time needed to read ten keys.
    """

    def __init__(self, every: Sequence[Any]) -> None:
        self.every = every
        self.counts = list(map(len, every))
        """Number of keys per F-curve."""
        self._ends = list(accumulate(self.counts, initial=0))
        self._slices: dict[tuple[int, type[np.generic]], tuple[npt.NDArray[Any], list[memoryview]]] = {}

    @cached_property
    def _gets(self) -> list[Callable[[str, memoryview], None]]:
        """Return the read method of each collection.

        Looking up the method takes a fifth of the time needed to read ten keys.
        """
        return [points.foreach_get for points in self.every]

    def read(self, name: str) -> npt.NDArray[Any]:
        """Read an attribute of all keys. The frames and values of `co` and of handles are interleaved."""
        width, dtype = _width(name), _DTYPES[name]
        kind = width, dtype
        if kind not in self._slices:
            memory = np.empty(width * self._ends[-1], dtype=dtype)
            self._slices[kind] = memory, sliced(memory, [width * end for end in self._ends])
        memory, slices = self._slices[kind]
        for get, part in zip(self._gets, slices, strict=True):
            get(name, part)
        return memory.copy()


def sliced(array: npt.NDArray[Any], ends: Sequence[int]) -> list[memoryview]:
    """Split a contiguous array at the given ends into slices that Blender can read and write.

    NumPy slices would take a third longer to create, and Blender would take a seventh longer to use them.
    """
    flat: Any = array.reshape(-1)
    memory = memoryview(flat)
    return [memory[start:end] for start, end in pairwise(ends)]


def _width(name: str) -> int:
    return 2 if name in _PAIRS else 1


def _shaped(name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an attribute in the shape that it has in `Keyframes`."""
    return array.reshape(-1, 2) if name in _PAIRS else array


def read_anew(joined: Joined, names: Iterable[str]) -> Joined:
    """Read additional attributes of keys that were just read."""
    block = joined.block
    assert block is not None
    arrays = {name: _shaped(name, block.read(name)) for name in names}
    return replace(joined, keys=joined.keys.with_(**arrays))


def read(fcurve: bpy.types.FCurve) -> Keyframes:
    """Read all keys of an F-curve."""
    return read_joined([fcurve]).keys


_FEW = 30
"""If fewer than one in this many keys has handles off the key, writing these handles one by one is faster."""


def write(fcurve: bpy.types.FCurve, keys: Keyframes) -> None:
    """Replace all keys of an F-curve. See `write_joined`."""
    write_joined([fcurve], Joined(keys, [len(keys)]))


def write_joined(fcurves: Sequence[bpy.types.FCurve], joined: Joined, flags: bool = True) -> None:
    """Replace all keys of the F-curves. Writing is fastest if nearly all handles are on their keys.

    If `flags` is true, the selection is also written, which takes the most time. `FCurve.update` is not called, because
    it would move handles and merge keys.
    """
    keys, counts = joined.keys, joined.counts
    ends = [0, *accumulate(counts)]
    apart = handles_apart(keys.co, keys.handle_left, keys.handle_right).nonzero()[0]
    bounds = apart.searchsorted(ends).tolist()
    few = [(high - low) * _FEW < count for (low, high), count in zip(pairwise(bounds), counts, strict=True)]
    wanted = ("co", *_SINGLE) if all(few) else (*_PAIRS, *_SINGLE)
    in_pairs = [2 * end for end in ends]
    parts = {name: sliced(getattr(keys, name), in_pairs if name in _PAIRS else ends) for name in wanted}
    left, right = (side[apart].tolist() for side in (keys.handle_left, keys.handle_right)) if any(few) else ([], [])
    # New keys have easing 0, which most keys need.
    none_eased = not np.count_nonzero(keys.easing)
    for place, (fcurve, count) in enumerate(zip(fcurves, counts, strict=True)):
        points = fcurve.keyframe_points
        put, fresh = points.foreach_set, few[place] or len(points) != count
        if fresh:
            points.clear()
            points.add(count)
        if few[place]:
            # Setting co_ui also moves the handles, which are at (0, 0) for new keys. Writing co_ui takes a third of the
            # time needed to write all three arrays.
            put("co_ui", parts["co"][place])
            for at in range(bounds[place], bounds[place + 1]):
                point = points[int(apart[at]) - ends[place]]
                point.handle_left, point.handle_right = left[at], right[at]
        else:
            for name in _PAIRS:
                put(name, parts[name][place])
        for name in _SINGLE:
            if not (fresh and none_eased and name == "easing"):
                put(name, parts[name][place])
        if flags:
            write_flags(fcurve, [getattr(keys, name)[ends[place] : ends[place + 1]] for name in FLAGS])


def write_some(fcurves: Sequence[bpy.types.FCurve], keys: Keyframes, chosen: Mapping[str, BoolArray]) -> None:
    """Write attributes of existing keys. `chosen` contains a mask of the F-curves for each attribute.

    `keys` contains the same number of keys for each F-curve.
    """
    every: list[Any] = [fcurve.keyframe_points for fcurve in fcurves] if chosen else []
    for name, which in chosen.items():
        array = np.ascontiguousarray(getattr(keys, name))
        size = max(1, array.size // len(every))
        for points, row, differs in zip(
            every, sliced(array, range(0, array.size + 1, size)), which.tolist(), strict=True
        ):
            if differs:
                points.foreach_set(name, row)


def handles_apart(co: Float32Array, left: Float32Array, right: Float32Array) -> BoolArray:
    """Return a mask of the keys with a handle that is not exactly on the key. The arrays may have any shape."""
    at, *sides = (_bits(places) for places in (co, left, right))
    apart: BoolArray = (sides[0] != at) | (sides[1] != at)
    return apart


def _bits(places: Float32Array) -> npt.NDArray[np.uint64]:
    """Return the bits of each pair of floats as an integer."""
    return np.ascontiguousarray(places).view(np.uint64)[..., 0]


def write_flags(fcurve: bpy.types.FCurve, flags: Sequence[BoolArray]) -> None:
    """Set the selection flags of the curve's keys and handles. There is one array per name in FLAGS."""
    put = fcurve.keyframe_points.foreach_set
    for name, array in zip(FLAGS, flags, strict=True):
        put(name, array)


def extrapolate(fcurve: bpy.types.FCurve, extrapolation: Literal["CONSTANT", "LINEAR"]) -> bool:
    """Set the curve's extrapolation. Return whether the extrapolation changed.

    Call this before writing keys, because Blender updates a curve when its extrapolation changes.
    """
    if fcurve.extrapolation == extrapolation:
        return False
    fcurve.extrapolation = extrapolation
    return True
