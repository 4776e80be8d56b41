# SPDX-License-Identifier: GPL-3.0-or-later
"""Selection flags of keys that are written in bulk. These flags are the slowest attributes to write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import bpy
import numpy as np

from .channels import channels_in
from .joined import Joined
from .keyframes import FLAGS, BoolArray, IndexArray
from .write_keys import write_flags, write_joined

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
    rows: IndexArray
    """Keys with at least one flag, shape (k,)."""
    flags: BoolArray
    """Flags of the keys in `rows`, in the order of FLAGS, shape (3, k)."""

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
        flags_of_rows = np.stack([array[rows] for array in flags])
        bounds = rows.searchsorted(joined.ends).tolist()
        starts = joined.starts.tolist()
        for fcurve, count, start, (low, high) in zip(fcurves, joined.counts, starts, pairwise(bounds), strict=True):
            written = _Written(fcurve, count, rows[low:high] - start, flags_of_rows[:, low:high])
            self._unselected.setdefault(fcurve.id_data, []).append(written)

    def select(self) -> None:
        """Set the selection of all written keys. The selection of other keys in the actions does not change."""
        for action, curves in self._unselected.items():
            _select(action, curves)


def _select(action: bpy.types.Action, curves: Sequence[_Written]) -> None:
    """Set the selection of the keys on these F-curves. Other keys of the action do not change."""
    keys_to_deselect = sum(curve.key_count for curve in curves if curve.has_few)
    pointers = {curve.fcurve.as_pointer() for curve in curves}
    is_deselected = keys_to_deselect > 0 and _deselect(action, pointers, limit=keys_to_deselect // 2)
    for curve in curves:
        if is_deselected and curve.has_few:
            points = curve.fcurve.keyframe_points
            for row, flags in zip(curve.rows.tolist(), curve.flags.T.tolist(), strict=True):
                point = points[row]
                point.select_control_point, point.select_left_handle, point.select_right_handle = flags
        else:
            flags_of_all = np.zeros((len(FLAGS), curve.key_count), dtype=np.bool_)
            flags_of_all[:, curve.rows] = curve.flags
            write_flags(curve.fcurve, list(flags_of_all))


def _deselect(action: bpy.types.Action, pointers: set[int], limit: int) -> bool:
    """Deselect all keys of the F-curves with these pointers. Return whether the keys were deselected.

    Blender can deselect only all keys of the action. The selection on the other F-curves is read and restored, which
    is worthwhile only if they have at most `limit` keys. Otherwise, nothing is changed.
    """
    others = [fcurve for channels in channels_in(action) for fcurve in channels if fcurve.as_pointer() not in pointers]
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
