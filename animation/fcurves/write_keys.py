# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the keys of F-curves in bulk, bit for bit, with their selection.

`keyframe_points.add` and `foreach_set` are about fifty times faster than `keyframe_insert`. `foreach_set` stores all
values unchanged unless `FCurve.update` is called afterward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
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
    SIDES,
    BoolArray,
    Keyframes,
)
from .read_keys import sliced


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
