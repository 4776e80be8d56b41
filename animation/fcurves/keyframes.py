# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of F-curves as arrays, one per attribute, with Blender's enum values, and sets of key frames.

A NumPy call takes as long for ten keys as for a thousand, so keys of many channels are processed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...interp.keys import BoolArray as BoolArray
from ...interp.keys import Float32Array as Float32Array
from ...interp.keys import Float64Array as Float64Array
from ...interp.keys import IndexArray as IndexArray
from ..memoize import memoized
from ..records import record

EnumArray = npt.NDArray[np.uint8]


def _enum(name: str) -> dict[str, int]:
    """Return Blender's numbers for the values of a key's enum, by identifier."""
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


@record(eq=False)
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
"""Names of all attributes."""
SIDES = ("handle_left", "handle_right")
"""Positions of the handles."""
PAIRS = ("co", *SIDES)
"""Attributes that consist of a frame and a value."""
KINDS = ("handle_left_type", "handle_right_type", "interpolation")
"""Enums that determine the shape of a curve, apart from easing."""
MARKS = ("co", "type", "back", "amplitude", "period")
"""Attributes that hold the position and identity of a key."""
FLAGS = ("select_control_point", "select_left_handle", "select_right_handle")
"""Selection flags of the key and its handles."""
DTYPES: dict[str, type[np.generic]] = {
    name: np.float32 if name in {*PAIRS, "back", "amplitude", "period"} else np.bool_ if name in FLAGS else np.uint8
    for name in NAMES
}
"""Type of each attribute's array."""


def _blank(count: int) -> Keyframes:
    """Create keys at frame 0 in which all attributes are 0."""
    return Keyframes(
        **{name: np.zeros((count, 2) if name in PAIRS else count, dtype=dtype) for name, dtype in DTYPES.items()}
    )


NO_KEYS = _blank(0)


def both(pairs: BoolArray) -> BoolArray:
    """Return a mask of the pairs, shape (n, 2), whose elements are both true. `all` would take ten times as long."""
    true: BoolArray = pairs[:, 0] & pairs[:, 1]
    return true


def either(pairs: BoolArray) -> BoolArray:
    """Return a mask of the pairs, shape (n, 2), with at least one true element. `any` would take ten times as long."""
    true: BoolArray = pairs[:, 0] | pairs[:, 1]
    return true


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
    lengths: tuple[Float64Array, Float64Array],
    interpolation: EnumArray,
) -> Keyframes:
    """Create unselected keys with FREE handles.

    `slopes` and `lengths` contain the slopes and the lengths, in frames, of the left and right handles.
    """
    count = len(frames)
    (left_slope, right_slope), (left_length, right_length) = slopes, lengths
    keys = made_like(
        _blank(count),
        np.stack((frames, values), axis=-1),
        np.stack((frames - left_length, values - left_slope * left_length), axis=-1),
        np.stack((frames + right_length, values + right_slope * right_length), axis=-1),
    )
    return keys.with_(
        handle_left_type=np.full(count, HANDLE["FREE"], dtype=np.uint8),
        handle_right_type=np.full(count, HANDLE["FREE"], dtype=np.uint8),
        interpolation=interpolation,
        type=np.full(count, KEY_TYPE["KEYFRAME"], dtype=np.uint8),
    )


# Sets of key frames. Frames that differ only by rounding count as equal


SAME_FRAME = 1e-3
"""Keys closer together than this, in frames, are at the same frame. The errors from moving a key in float32 are far
smaller, and Blender merges keys at ten times this distance."""
ONE_KEY = 0.0101
"""Minimum distance between keys, in frames. Blender replaces a key within 0.01 frames of a pasted or moved key."""
LAST_FRAME = 1_048_574
"""Blender's last frame."""


@memoized
def are_apart(frames: Float32Array) -> bool:
    """Return whether frames are finite, ascending and distinct."""
    return bool(np.isfinite(frames).all() and (np.diff(frames) > SAME_FRAME).all())


def union(arrays: list[Float32Array]) -> Float32Array:
    """Return the distinct frames of all arrays in ascending order."""
    # All channels usually have keys at the same frames.
    if arrays and len({frames.tobytes() for frames in arrays}) == 1 and are_apart(arrays[0]):
        return arrays[0].copy()
    frames = np.unique(np.concatenate(arrays)) if arrays else np.empty(0, dtype=np.float32)
    return frames[np.concatenate(([True], np.diff(frames) > SAME_FRAME))] if len(frames) else frames


def is_among(frames: Float32Array, among: Float32Array, within: float = SAME_FRAME) -> BoolArray:
    """Return a mask of the frames that are at most `within` frames away from a frame in the ascending array `among`."""
    if not len(among):
        return np.zeros(len(frames), dtype=np.bool_)
    row = np.clip(np.searchsorted(among, frames - np.float32(within)), 0, len(among) - 1)
    mask: BoolArray = np.abs(among[row] - frames) <= within
    return mask


def rows_of(frames: Float32Array, among: Float32Array) -> IndexArray:
    """Return the row of each frame in the ascending array `among`, which contains all of the frames."""
    return np.searchsorted(among, frames - np.float32(SAME_FRAME))


def matching_rows(frames: Float32Array, among: Float32Array) -> tuple[IndexArray, IndexArray]:
    """Return the rows of the frames that are in the ascending array `among`, and the matching rows of `among`."""
    rows = np.flatnonzero(is_among(frames, among))
    return rows, rows_of(frames[rows], among)


# The keys of many channels, one channel after another


KeyArrays = dict[str, npt.NDArray[Any]]
"""Key attributes by name, shape (channels, n) or (channels, n, 2)."""


@record(eq=False)
class Joined:
    """The keys of several channels, one channel after another. `counts` contains the number of keys per channel."""

    keys: Keyframes
    counts: list[int]

    @classmethod
    def of(cls, channels: Sequence[Keyframes]) -> Joined:
        """Concatenate the keys of several channels."""
        return cls(end_to_end(channels), [len(keys) for keys in channels])

    @cached_property
    def ends(self) -> list[int]:
        """Return 0, followed by the end row of each channel."""
        return [0, *accumulate(self.counts)]

    @cached_property
    def starts(self) -> IndexArray:
        """Return the first row of each channel."""
        return np.array(self.ends[:-1], dtype=np.intp)

    @property
    def spans(self) -> list[slice]:
        """Return the row slice of each channel."""
        return [slice(start, end) for start, end in pairwise(self.ends)]

    @property
    def channels(self) -> list[KeyframesSlice]:
        """Return the keys of each channel."""
        return [KeyframesSlice(self.keys, span) for span in self.spans]

    def of_channels(self, array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Split an array with one element per row into one array per channel."""
        return in_parts(array, self.counts)

    def sums(self, mask: BoolArray) -> IndexArray:
        """Return the number of rows per channel for which the mask is true."""
        true_before = np.concatenate(([0], np.cumsum(mask, dtype=np.intp)))
        counts: IndexArray = np.diff(true_before[self.ends])
        return counts

    def spread(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Expand an array with one element per channel to one element per row."""
        return np.repeat(array, self.counts)

    def by_channel(self, name: str) -> npt.NDArray[Any]:
        """Return an attribute of channels with the same number of keys, shape (channels, n) or (channels, n, 2)."""
        array: npt.NDArray[Any] = getattr(self.keys, name)
        return array.reshape(len(self.counts), self.counts[0], *array.shape[1:])


def flat(arrays: KeyArrays) -> Keyframes:
    """Return the keys of all channels, one channel after another, from arrays with one row per channel."""
    return Keyframes(**{name: array.reshape(-1, *array.shape[2:]) for name, array in arrays.items()})


class KeyframesSlice(Keyframes):
    """The keys of one channel, as a view of the keys of many channels. Attributes are sliced on first access.

    A channel has fourteen attributes, and most callers need only a few. `all_keys` contains the concatenated keys of
    all channels, and `rows` is the slice for this channel.
    """

    all_keys: Keyframes
    rows: slice

    def __init__(self, all_keys: Keyframes, rows: slice) -> None:
        self.all_keys, self.rows = all_keys, rows

    def __len__(self) -> int:
        return int(self.rows.stop - self.rows.start)

    def __getattr__(self, name: str) -> npt.NDArray[Any]:
        if name not in DTYPES:
            raise AttributeError(name)
        array: npt.NDArray[Any] = getattr(self.all_keys, name)[self.rows]
        vars(self)[name] = array
        return array


def end_to_end(channels: Sequence[Keyframes]) -> Keyframes:
    """Concatenate the keys of several channels. Consecutive slices of the same keys are not copied."""
    slices = [keys for keys in channels if isinstance(keys, KeyframesSlice)]
    if slices and len(slices) == len(channels) and all(keys.all_keys is slices[0].all_keys for keys in slices):
        spans = [keys.rows for keys in slices]
        if are_consecutive(spans):
            return KeyframesSlice(slices[0].all_keys, slice(spans[0].start, spans[-1].stop))
    return Keyframes(**{name: np.concatenate([getattr(keys, name) for keys in channels]) for name in NAMES})


def merged(first: Keyframes, second: Keyframes) -> Keyframes:
    """Return the keys of both arguments, ordered by frame."""
    keys = end_to_end([first, second])
    return keys.take(np.argsort(keys.frames, kind="stable"))


def are_consecutive(spans: Sequence[slice]) -> bool:
    """Return whether each slice starts at the end of the previous slice."""
    return [span.start for span in spans[1:]] == [span.stop for span in spans[:-1]]


def in_parts(array: npt.NDArray[Any], counts: Sequence[int]) -> list[npt.NDArray[Any]]:
    """Split an array into parts with the given row counts, ten times as fast as `np.split`."""
    return [array[start:end] for start, end in pairwise(accumulate(counts, initial=0))]
