# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the keys of F-curves in bulk, bit for bit, with their selection.

`keyframe_points.add` and `foreach_set` are about fifty times faster than `keyframe_insert`. `foreach_set` stores all
values unchanged unless `FCurve.update` is called afterward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import bpy
import numpy as np
import numpy.typing as npt

from .joined_keys import Joined
from .keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    INTERPOLATION,
    NAMES,
    PAIRS,
    BoolArray,
    Float32Array,
    IndexArray,
    Keyframes,
)
from .read_keys import sliced

_SINGLE = tuple(name for name in NAMES if name not in PAIRS)
"""Attributes with one number per key."""
_KEYS_PER_HANDLE_SET_SINGLY = 30
"""If fewer than one in this many keys has handles off the key, writing these handles one by one is faster."""


def write(fcurve: bpy.types.FCurve, keys: Keyframes) -> None:
    """Replace all keys of an F-curve. See `write_joined`."""
    write_joined([fcurve], Joined(keys, [len(keys)]))


def write_joined(fcurves: Sequence[bpy.types.FCurve], joined: Joined) -> None:
    """Replace all keys of the F-curves. Writing is fastest if nearly all handles are on their keys.

    `FCurve.update` is not called, because it would move handles and merge keys.
    """
    keys, ends = joined.keys, joined.ends
    rows_apart = np.flatnonzero(handles_apart(keys.co, keys.handle_left, keys.handle_right))
    apart_in_channels = [rows_apart[low:high] for low, high in pairwise(rows_apart.searchsorted(ends).tolist())]
    has_few_apart = [
        len(rows) * _KEYS_PER_HANDLE_SET_SINGLY < count
        for rows, count in zip(apart_in_channels, joined.counts, strict=True)
    ]
    names = ("co", *_SINGLE) if all(has_few_apart) else (*PAIRS, *_SINGLE)
    ends_of_pairs = [2 * end for end in ends]
    buffers = {name: sliced(getattr(keys, name), ends_of_pairs if name in PAIRS else ends) for name in names}
    # New keys have easing 0, which most keys need.
    names_for_new = _SINGLE if keys.easing.any() else tuple(name for name in _SINGLE if name != "easing")
    for number, (fcurve, span) in enumerate(zip(fcurves, joined.spans, strict=True)):
        points: Any = fcurve.keyframe_points
        is_new = has_few_apart[number] or len(points) != joined.counts[number]
        if is_new:
            points.clear()
            points.add(joined.counts[number])
        if has_few_apart[number]:
            _write_positions(points, buffers["co"][number], keys, apart_in_channels[number], span.start)
        else:
            for name in PAIRS:
                points.foreach_set(name, buffers[name][number])
        for name in names_for_new if is_new else _SINGLE:
            points.foreach_set(name, buffers[name][number])


def _write_positions(points: Any, co: memoryview, keys: Keyframes, rows_apart: IndexArray, start: int) -> None:
    """Write the positions of new keys, with handles on the keys, and then the handles of the keys `rows_apart`.

    `start` is the first row of the channel in `keys`.
    """
    # Setting co_ui also moves the handles, which are at (0, 0) for new keys. Writing co_ui takes a third of the time
    # needed to write all three arrays.
    points.foreach_set("co_ui", co)
    for row in rows_apart.tolist():
        point = points[row - start]
        point.handle_left, point.handle_right = keys.handle_left[row].tolist(), keys.handle_right[row].tolist()


def handles_apart(co: Float32Array, left: Float32Array, right: Float32Array) -> BoolArray:
    """Return a mask of the keys with a handle that is not exactly on the key. The arrays may have any shape."""
    key_bits, left_bits, right_bits = (_pair_bits(positions) for positions in (co, left, right))
    apart: BoolArray = (left_bits != key_bits) | (right_bits != key_bits)
    return apart


def _pair_bits(positions: Float32Array) -> npt.NDArray[np.uint64]:
    """Return the bits of each pair of floats as an integer.

    Comparing integers is exact for zeros and NaN, and needs one comparison per pair.
    """
    return np.ascontiguousarray(positions).view(np.uint64)[..., 0]


def write_some(
    fcurves: Sequence[bpy.types.FCurve], keys: Keyframes, fcurves_by_attribute: Mapping[str, BoolArray]
) -> None:
    """Write attributes of existing keys. For each attribute, a mask selects the F-curves to write.

    `keys` contains the same number of keys for each F-curve.
    """
    setters = [fcurve.keyframe_points.foreach_set for fcurve in fcurves]
    for name, is_written in fcurves_by_attribute.items():
        array = np.ascontiguousarray(getattr(keys, name))
        size_per_curve = max(1, array.size // len(fcurves))
        buffers = sliced(array, range(0, array.size + 1, size_per_curve))
        for foreach_set, buffer, writes in zip(setters, buffers, is_written.tolist(), strict=True):
            if writes:
                foreach_set(name, buffer)


def extrapolate(fcurve: bpy.types.FCurve, extrapolation: Literal["CONSTANT", "LINEAR"]) -> bool:
    """Set the curve's extrapolation. Return whether the extrapolation changed.

    Call this before writing keys, because Blender updates a curve when its extrapolation changes.
    """
    if fcurve.extrapolation == extrapolation:
        return False
    fcurve.extrapolation = extrapolation
    return True


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
