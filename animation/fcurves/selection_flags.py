# SPDX-License-Identifier: GPL-3.0-or-later
"""The selection flags of keys written in bulk: the slowest of their attributes to write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from .channels import channels_in
from .keyframes import FLAGS, BoolArray, Joined, Keyframes, write_flags, write_joined

_action_type: Any = bpy.types.Action
CAN_DESELECT = "deselect_keys" in _action_type.bl_rna.functions
"""Whether Blender can deselect all keys of an action in one call: 4.2 can't, 4.5 can."""


class Writer:
    """Write keys of an action's F-curves, and all selection flags of them at the end."""

    def __init__(self) -> None:
        self._curves: list[tuple[bpy.types.FCurve, int, list[BoolArray] | None]] = []
        """Each with how many keys it has, and their flags where some are set. Not the keys: their memory is needed for
        the next ones."""

    def write(self, fcurves: Sequence[bpy.types.FCurve], joined: Joined) -> None:
        """Write keys as `write_joined` does, but postpone their selection where Blender can deselect all at once."""
        write_joined(fcurves, joined, flags=not CAN_DESELECT)
        if CAN_DESELECT:
            is_any = _is_any(_flags_of(joined.keys))
            flags = map(_kept_flags, joined.channels) if is_any else [None] * len(joined.counts)
            self._curves += zip(fcurves, joined.counts, flags, strict=True)

    def select(self, action: bpy.types.Action) -> None:
        """Set the selection of all keys written, and leave that of the action's other keys as it is."""
        free = sum(count for _, count, flags in self._curves if flags is None)
        is_free = free and _deselect(action, {fcurve.as_pointer() for fcurve, _, _ in self._curves}, free // 2)
        for fcurve, count, flags in self._curves:
            if flags is not None:
                write_flags(fcurve, flags)
            elif not is_free:
                write_flags(fcurve, [np.zeros(count, dtype=np.bool_)] * len(FLAGS))


def _deselect(action: bpy.types.Action, written: set[int], most: int) -> bool:
    """Deselect all keys but those of the F-curves that were not written; return whether it was done.

    It is not done where these F-curves have more than `most` keys, whose selection would have to be read and restored.
    """
    others = [fcurve for bag in channels_in(action) for fcurve in bag if fcurve.as_pointer() not in written]
    if sum(len(fcurve.keyframe_points) for fcurve in others) > most:
        return False
    kept = [(fcurve.keyframe_points, _read_flags(fcurve)) for fcurve in others]
    action.deselect_keys()
    for points, flags in kept:
        if _is_any(flags):
            for name, array in zip(FLAGS, flags, strict=True):
                points.foreach_set(name, array)
    return True


@contextmanager
def selecting(action: bpy.types.Action) -> Iterator[Writer]:
    """Give a Writer for F-curves of the action; set the selection of the written keys at the end."""
    writer = Writer()
    try:
        yield writer
    finally:
        writer.select(action)


def _kept_flags(keys: Keyframes) -> list[BoolArray] | None:
    """Return copies of the flags of a curve's keys; None where none is set."""
    flags = _flags_of(keys)
    return [array.copy() for array in flags] if _is_any(flags) else None


def _flags_of(keys: Keyframes) -> list[BoolArray]:
    return [keys.select_control_point, keys.select_left_handle, keys.select_right_handle]


def _read_flags(fcurve: bpy.types.FCurve) -> list[BoolArray]:
    points = fcurve.keyframe_points
    arrays = [np.empty(len(points), dtype=np.bool_) for _ in FLAGS]
    for name, array in zip(FLAGS, arrays, strict=True):
        points.foreach_get(name, array)
    return arrays


def _is_any(flags: Sequence[BoolArray]) -> bool:
    # Twenty times as fast as `any` for arrays of some tens or hundreds.
    return any(b"\1" in array.tobytes() for array in flags)
