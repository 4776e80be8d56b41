# SPDX-License-Identifier: GPL-3.0-or-later
"""The selection of keys that are written by the thousand: the slowest of their attributes to write key by key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from .channels import channels_in
from .keyframes import FLAGS, BoolArray, Keyframes, write, write_flags

_action_type: Any = bpy.types.Action
CAN_DESELECT = "deselect_keys" in _action_type.bl_rna.functions
"""Blender 4.2 can not yet deselect all keys of an action in one call; 4.5 can."""


class Writer:
    """The F-curves of an action that were given keys; their flags of selection are written at the end."""

    def __init__(self) -> None:
        self._curves: list[tuple[bpy.types.FCurve, Keyframes]] = []

    def write(self, fcurve: bpy.types.FCurve, keys: Keyframes) -> None:
        """As `keyframes.write`, but the keys' selection is for later where all can be deselected at once."""
        write(fcurve, keys, flags=not CAN_DESELECT)
        if CAN_DESELECT:
            self._curves.append((fcurve, keys))

    def select(self, action: Any) -> None:
        """Give all that was written its selection, and leave that of the action's other keys as it is."""
        if not self._curves:
            return
        mine = {fcurve.as_pointer() for fcurve, _ in self._curves}
        others = [curve for bag in channels_in(action) for curve in bag if curve.as_pointer() not in mine]
        count = sum(len(keys) for _, keys in self._curves)
        if sum(len(curve.keyframe_points) for curve in others) > count // 2:
            # What the others have would have to be read, which takes as long as to write it.
            for fcurve, keys in self._curves:
                write_flags(fcurve, keys)
            return
        kept = [(curve, _flags(curve)) for curve in others]
        action.deselect_keys()
        for curve, flags in kept:
            if _is_any(flags):
                for name, array in zip(FLAGS, flags, strict=True):
                    curve.keyframe_points.foreach_set(name, array)
        for fcurve, keys in self._curves:
            if _is_any([keys.select_control_point, keys.select_left_handle, keys.select_right_handle]):
                write_flags(fcurve, keys)


@contextmanager
def selecting(action: bpy.types.Action) -> Iterator[Writer]:
    """Write keys into F-curves of the action, by `Writer.write`; at the end they are given their selection."""
    writer = Writer()
    try:
        yield writer
    finally:
        writer.select(action)


def _flags(fcurve: bpy.types.FCurve) -> list[BoolArray]:
    points = fcurve.keyframe_points
    arrays = [np.empty(len(points), dtype=np.bool_) for _ in FLAGS]
    for name, array in zip(FLAGS, arrays, strict=True):
        points.foreach_get(name, array)
    return arrays


def _is_any(flags: Sequence[BoolArray]) -> bool:
    # Ten times as fast as `any` of an array of some tens or hundreds.
    return any(b"\1" in array.tobytes() for array in flags)
