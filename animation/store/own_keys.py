# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys in one or more channels as arrays, with their identities and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..fcurves.keyframes import (
    NO_KEYS,
    BoolArray,
    EnumArray,
    Float32Array,
    Float64Array,
    IndexArray,
    Keyframes,
    KeyframesSlice,
    are_consecutive,
    end_to_end,
)
from ..records import record
from .table.key_identity import Identities
from .table.rows import CHOSEN_INTERPOLATION, NUMBERS, PARAMETERS

_SPLINE_INPUT = np.dtype([("frame", "<f4"), ("begins_segment", "?"), ("parameters", "<f4", (len(PARAMETERS),))])
_BAKE_INPUT = np.dtype([("identity", "<u4"), ("co", "<f4", (2,)), ("begins_segment", "?"), ("chosen", "u1")])


@record(eq=False)
class OwnKeys:
    """The animator's keys in one channel, n keys, as they would be without TCB: the rows `span` of `arrays`."""

    arrays: OwnArrays
    span: slice
    edited: bool = False
    """True if keys were added, deleted or moved since they were recorded, so that Blender must update automatic
    handles."""

    @classmethod
    def of(cls, arrays: OwnArrays, edited: bool = False) -> OwnKeys:
        """Return all keys in the arrays."""
        return cls(arrays, slice(0, len(arrays.identities)), edited)

    @property
    def count(self) -> int:
        count: int = self.span.stop - self.span.start
        return count

    @cached_property
    def keys(self) -> Keyframes:
        """Return the keys, ordered by frame. `back`, `amplitude` and `period` contain the identities."""
        return KeyframesSlice(self.arrays.keys, self.span)

    @property
    def as_read(self) -> Keyframes | None:
        """Return the same keys, as read from the animator's curve.

        Attributes that are rarely edited may be from the last update by Live.
        """
        return None if self.arrays.as_read is None else KeyframesSlice(self.arrays.as_read, self.span)

    @property
    def identities(self) -> Identities:
        """Return the identities of the keys, or 0 for keys without identities, shape (n,)."""
        return self.arrays.identities[self.span]

    @property
    def numbers(self) -> Float32Array:
        """Return parameters and velocities, in the columns of `rows.ROW`, shape (n, k), with NaN if not set."""
        return self.arrays.numbers[self.span]

    @property
    def rows(self) -> IndexArray:
        """Return the rows of the keys on the animator's curve, shape (n,)."""
        return self.arrays.rows[self.span]

    @property
    def chosen(self) -> EnumArray:
        """Return flags `rows.CHOSEN_…` for changes that the animator made after the keys became TCB, shape (n,)."""
        return self.arrays.chosen[self.span]

    @property
    def placed(self) -> EnumArray:
        """Return the flags `placed` of `track_records.OWN`, shape (n,)."""
        return self.arrays.placed[self.span]

    @property
    def frames(self) -> Float32Array:
        """Return the frames of the keys as a contiguous array."""
        return self.arrays.frames[self.span]

    @property
    def frame_bytes(self) -> bytes:
        """Return the frames as bytes, which are equal for channels with keys at the same frames."""
        return self.frames.tobytes()

    @property
    def values(self) -> Float64Array:
        """Return the values of the keys as a contiguous array."""
        return self.arrays.values[self.span]

    @property
    def has_chosen(self) -> bool:
        """Return whether the animator has chosen an interpolation or a handle type for any of the keys."""
        return self.arrays.has_chosen and bool(np.count_nonzero(self.chosen))

    @property
    def are_named(self) -> bool:
        """Return whether all keys have identities."""
        return self.arrays.are_named or bool(np.count_nonzero(self.identities) == self.count)

    @property
    def begins_segment(self) -> BoolArray:
        """Return a mask of the keys that begin segments played by Blender, at which the spline is interrupted.

        Values in such a segment are constant, or follow the interpolation chosen by the animator.
        """
        return self.arrays.begins_segment[self.span]

    @property
    def has_blender_segment(self) -> bool:
        """Return whether any key begins a segment played by Blender."""
        return self.arrays.has_blender_segment and bool(np.count_nonzero(self.begins_segment))

    @property
    def bake_input(self) -> bytes:
        """Return, as bytes, identities, frames, values and other key data that affect a bake."""
        return self.arrays.bake_input[self.span].tobytes()

    @property
    def spline_input(self) -> bytes:
        """Return, as bytes, frames, parameters and `begins_segment`, equal for splines that differ only in values."""
        return self.arrays.spline_input[self.span].tobytes()

    def with_(self, **arrays: Any) -> OwnKeys:
        """Return a copy with the given arrays replaced."""
        others = {name: getattr(self, name) for name in _FIELDS if name not in arrays}
        return OwnKeys.of(OwnArrays(**others, **arrays), self.edited)

    def take(self, rows: BoolArray | IndexArray) -> OwnKeys:
        """Return the keys selected by indices or by a mask."""
        arrays = [getattr(self, name)[rows] for name in _ARRAYS]
        return OwnKeys.of(OwnArrays(self.keys.take(rows), *arrays), edited=True)


@record(eq=False)
class OwnArrays:
    """The animator's keys in one or more channels, concatenated. `OwnKeys` describes the arrays.

    Derived data are computed for all channels together, because a NumPy call takes as long for ten keys as for a
    thousand.
    """

    keys: Keyframes
    identities: Identities
    numbers: Float32Array
    rows: IndexArray
    chosen: EnumArray
    placed: EnumArray
    as_read: Keyframes | None = None

    @cached_property
    def has_chosen(self) -> bool:
        return bool(np.count_nonzero(self.chosen))

    @cached_property
    def are_named(self) -> bool:
        return bool(self.identities.all())

    @cached_property
    def has_blender_segment(self) -> bool:
        return bool(np.count_nonzero(self.begins_segment))

    @cached_property
    def frames(self) -> Float32Array:
        return np.ascontiguousarray(self.keys.frames)

    @cached_property
    def values(self) -> Float64Array:
        return np.array(self.keys.values, dtype=np.float64)

    @cached_property
    def largest_value(self) -> float:
        """Return the largest absolute value, or NaN if a value is NaN."""
        return float(np.abs(self.keys.values).max(initial=0.0))

    @cached_property
    def begins_segment(self) -> BoolArray:
        begins_segment: BoolArray = self.keys.stepped | ((self.chosen & CHOSEN_INTERPOLATION) != 0)
        return begins_segment

    @cached_property
    def bake_input(self) -> npt.NDArray[np.void]:
        bake_input = np.empty(len(self.identities), dtype=_BAKE_INPUT)
        bake_input["identity"], bake_input["co"] = self.identities, self.keys.co
        bake_input["begins_segment"], bake_input["chosen"] = self.begins_segment, self.chosen
        return bake_input

    @cached_property
    def spline_input(self) -> npt.NDArray[np.void]:
        spline_input = np.empty(len(self.identities), dtype=_SPLINE_INPUT)
        spline_input["frame"], spline_input["begins_segment"] = self.keys.frames, self.begins_segment
        spline_input["parameters"] = self.numbers[:, : len(PARAMETERS)]
        return spline_input


_FIELDS = tuple(field.name for field in fields(OwnArrays))
_ARRAYS = ("identities", "numbers", "rows", "chosen", "placed")


def own_end_to_end(channels: Sequence[OwnKeys]) -> OwnKeys:
    """Concatenate the animator's keys of several channels. Consecutive slices of the same arrays are not copied."""
    first_arrays, spans = channels[0].arrays, [own.span for own in channels]
    if all(own.arrays is first_arrays for own in channels) and are_consecutive(spans):
        return OwnKeys(first_arrays, slice(spans[0].start, spans[-1].stop))
    arrays: dict[str, Any] = {name: np.concatenate([getattr(own, name) for own in channels]) for name in _ARRAYS}
    as_read = [keys for own in channels if (keys := own.as_read) is not None]
    arrays["as_read"] = end_to_end(as_read) if len(as_read) == len(channels) else None
    return OwnKeys.of(OwnArrays(end_to_end([own.keys for own in channels]), **arrays))


NO_OWN_KEYS = OwnKeys.of(
    OwnArrays(
        NO_KEYS,
        np.empty(0, np.uint32),
        np.empty((0, NUMBERS), np.float32),
        np.empty(0, np.intp),
        np.empty(0, np.uint8),
        np.empty(0, np.uint8),
    )
)
