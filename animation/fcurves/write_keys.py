# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the keys of F-curves in bulk, bit for bit, with their selection.

`keyframe_points.add` and `foreach_set` are about fifty times faster than `keyframe_insert`. `foreach_set` stores all
values unchanged unless `FCurve.update` is called afterward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from .channels import channels_in
from .joined_keys import Joined
from .keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    FLAGS,
    INTERPOLATION,
    NAMES,
    PAIRS,
    BoolArray,
    Float32Array,
    IndexArray,
    Keyframes,
)
from .read_keys import sliced

Write = Callable[[Sequence[bpy.types.FCurve], Joined], None]
"""`write_joined`, or a function that has the same effect by the end of a bake."""

_SINGLE = tuple(name for name in NAMES if name not in PAIRS and name not in FLAGS)
"""Attributes with one number per key, except selection flags."""
_KEYS_PER_HANDLE_SET_SINGLY = 30
"""If fewer than one in this many keys has handles off the key, writing these handles one by one is faster."""


def write(fcurve: bpy.types.FCurve, keys: Keyframes) -> None:
    """Replace all keys of an F-curve. See `write_joined`."""
    write_joined([fcurve], Joined(keys, [len(keys)]))


def write_joined(fcurves: Sequence[bpy.types.FCurve], joined: Joined, flags: bool = True) -> None:
    """Replace all keys of the F-curves. Writing is fastest if nearly all handles are on their keys.

    If `flags` is true, the selection is also written, which takes the most time. `FCurve.update` is not called, because
    it would move handles and merge keys.
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
        if flags:
            write_flags(fcurve, [getattr(keys, name)[span] for name in FLAGS])


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
    for name, is_written in fcurves_by_attribute.items():
        array = np.ascontiguousarray(getattr(keys, name))
        size_per_curve = max(1, array.size // len(fcurves))
        buffers = sliced(array, range(0, array.size + 1, size_per_curve))
        for fcurve, buffer, writes in zip(fcurves, buffers, is_written.tolist(), strict=True):
            if writes:
                points: Any = fcurve.keyframe_points
                points.foreach_set(name, buffer)


def write_flags(fcurve: bpy.types.FCurve, flags: Sequence[BoolArray]) -> None:
    """Set the selection flags of the curve's keys and handles. There is one array per name in FLAGS."""
    points = fcurve.keyframe_points
    for name, array in zip(FLAGS, flags, strict=True):
        points.foreach_set(name, array)


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


_action_type: Any = bpy.types.Action
CAN_DESELECT = "deselect_keys" in _action_type.bl_rna.functions
"""True if Blender can deselect all keys of an action in one call. Blender 4.5 has such a call, but 4.2 does not."""
_KEYS_PER_SELECTED_KEY = 20
"""If fewer than one in this many keys is selected, it is faster to deselect all keys and then select single keys."""


class _Written(NamedTuple):
    """An F-curve whose keys were written, with the selection to set."""

    fcurve: bpy.types.FCurve
    key_count: int
    """Number of keys. The keys are not stored, because their memory is reused."""
    rows: list[int]
    """Keys with at least one flag."""
    flags: list[tuple[bool, bool, bool]]
    """Flags of the keys in `rows`, in the order of FLAGS."""

    @property
    def has_few(self) -> bool:
        """Return whether only a few keys are selected."""
        return _KEYS_PER_SELECTED_KEY * len(self.rows) < self.key_count


class Writer:
    """A writer that writes keys immediately, and their selection flags at the end."""

    def __init__(self) -> None:
        self._unselected: dict[Any, list[_Written]] = {}
        """Written F-curves whose selection is not yet set, by action."""

    def write(self, fcurves: Sequence[bpy.types.FCurve], joined: Joined) -> None:
        """Write keys with `write_joined`. If Blender can deselect all keys at once, the selection is set later."""
        write_joined(fcurves, joined, flags=not CAN_DESELECT)
        if not CAN_DESELECT:
            return
        flags = [getattr(joined.keys, name) for name in FLAGS]
        rows = np.flatnonzero(flags[0] | flags[1] | flags[2]) if _is_any(flags) else np.empty(0, dtype=np.intp)
        flags_of_rows = list(zip(*(array[rows].tolist() for array in flags), strict=True))
        bounds = rows.searchsorted(joined.ends)
        rows_in_channels = (rows - np.repeat(joined.ends[:-1], np.diff(bounds))).tolist()
        for fcurve, count, (low, high) in zip(fcurves, joined.counts, pairwise(bounds.tolist()), strict=True):
            written = _Written(fcurve, count, rows_in_channels[low:high], flags_of_rows[low:high])
            self._unselected.setdefault(fcurve.id_data, []).append(written)

    def select(self) -> None:
        """Set the selection of all written keys. The selection of other keys in the actions does not change."""
        for action, curves in self._unselected.items():
            _select(action, curves)


def _select(action: bpy.types.Action, curves: Sequence[_Written]) -> None:
    """Set the selection of the keys on these F-curves. Other keys of the action do not change."""
    keys_to_deselect = sum(curve.key_count for curve in curves if curve.has_few)
    is_deselected = keys_to_deselect > 0 and _deselect(action, curves, limit=keys_to_deselect // 2)
    for curve in curves:
        if is_deselected and curve.has_few:
            points = curve.fcurve.keyframe_points
            for row, flags in zip(curve.rows, curve.flags, strict=True):
                point = points[row]
                point.select_control_point, point.select_left_handle, point.select_right_handle = flags
        else:
            flags_of_all = np.zeros((len(FLAGS), curve.key_count), dtype=np.bool_)
            flags_of_all[:, curve.rows] = np.array(curve.flags, dtype=np.bool_).reshape(-1, len(FLAGS)).T
            write_flags(curve.fcurve, list(flags_of_all))


def _deselect(action: bpy.types.Action, curves: Sequence[_Written], limit: int) -> bool:
    """Deselect all keys of the F-curves. Return whether the keys were deselected.

    Blender can deselect only all keys of the action. The selection on the other F-curves is read and restored, which
    is worthwhile only if they have at most `limit` keys. Otherwise, nothing is changed.
    """
    others = [fcurve for channels in channels_in(action) for fcurve in channels]
    if len(others) == len(curves):
        others = []
    else:
        pointers = {curve.fcurve.as_pointer() for curve in curves}
        others = [fcurve for fcurve in others if fcurve.as_pointer() not in pointers]
    if sum(len(fcurve.keyframe_points) for fcurve in others) > limit:
        return False
    flags_of_others = [_read_flags(fcurve) for fcurve in others]
    action.deselect_keys()
    for fcurve, flags in zip(others, flags_of_others, strict=True):
        if _is_any(flags):
            write_flags(fcurve, flags)
    return True


@contextmanager
def selecting() -> Iterator[Writer]:
    """Provide a Writer for F-curves, and set the selection of the written keys at the end."""
    writer = Writer()
    try:
        yield writer
    finally:
        writer.select()


def _read_flags(fcurve: bpy.types.FCurve) -> list[BoolArray]:
    """Return the flags of all keys, one array for each name in FLAGS."""
    points = fcurve.keyframe_points
    arrays = [np.empty(len(points), dtype=np.bool_) for _ in FLAGS]
    for name, array in zip(FLAGS, arrays, strict=True):
        points.foreach_get(name, array)
    return arrays


def _is_any(flags: Sequence[BoolArray]) -> bool:
    """Return whether any flag is set."""
    # Searching the bytes is twenty times as fast as `any` for arrays of up to a few hundred elements.
    return any(b"\1" in array.tobytes() for array in flags)
