# SPDX-License-Identifier: GPL-3.0-or-later
"""Preserve the extrapolation of curves before the first key and after the last key.

Blender extrapolates from a Bezier key along its outer handle, and from a linear key along the line to the next key. A
constant key holds its value.
"""

from __future__ import annotations

import bpy
import numpy as np

from ..fcurves.keyframes import INTERPOLATION, EnumArray, Float64Array, IndexArray
from ..fcurves.write_keys import key_curve

_CONSTANT = INTERPOLATION["CONSTANT"]
_ROUNDING = 2.0**-22
"""Rounding error in the difference between float32 values at adjacent frames, relative to the largest value."""


def slopes_outside(fcurve: bpy.types.FCurve, frames: Float64Array) -> tuple[float, float]:
    """Return the curve's slopes per frame before the first frame and after the last frame."""
    first, last = float(frames[0]), float(frames[-1])
    # Use distant frames, so that float32 rounding matters less.
    reach = max(last - first, 1.0)
    before = (fcurve.evaluate(first) - fcurve.evaluate(first - reach)) / reach
    after = (fcurve.evaluate(last + reach) - fcurve.evaluate(last)) / reach
    return before, after


def extrapolate(fcurve: bpy.types.FCurve, slopes: Float64Array) -> None:
    """Extrapolate a curve of Bezier keys linearly, with these slopes for the outer handles.

    If there are other keys beyond an end, the slope at that end is NaN.
    """
    points = fcurve.keyframe_points
    if fcurve.extrapolation != "LINEAR":
        return
    if not np.isnan(slopes[0]):
        length = (points[1].co[0] - points[0].co[0]) / 3.0 if len(points) > 1 else 1.0
        points[0].handle_left_type = "FREE"
        points[0].handle_left = points[0].co[0] - length, points[0].co[1] - length * slopes[0]
    if not np.isnan(slopes[1]):
        length = (points[-1].co[0] - points[-2].co[0]) / 3.0 if len(points) > 1 else 1.0
        points[-1].handle_right_type = "FREE"
        points[-1].handle_right = points[-1].co[0] + length, points[-1].co[1] + length * slopes[1]


def key_straight(
    fcurve: bpy.types.FCurve,
    frames: Float64Array,
    samples: Float64Array,
    rows: IndexArray,
    types: EnumArray,
    slopes: Float64Array,
) -> None:
    """Replace the keys with linear and constant keys.

    If linear and constant keys would extrapolate differently at an end, that end gets a Bezier key. If the first key is
    Bezier, a straight line leads from the key to an additional key one frame later.
    """
    bezier_start = bezier_end = False
    if fcurve.extrapolation == "LINEAR":
        bezier_start, bezier_end = _differ(samples, rows, types[0] == _CONSTANT, slopes)
    if bezier_start and rows[1] > 1:
        rows, types = np.insert(rows, 1, 1), np.insert(types, 1, types[0])
    key_curve(fcurve, frames[rows], samples[rows], "LINEAR")
    types = types.copy()
    types[[0, -1]] = np.where([bezier_start, bezier_end], INTERPOLATION["BEZIER"], types[[0, -1]])
    points = fcurve.keyframe_points
    points.foreach_set("interpolation", types)
    if bezier_start:
        points[0].handle_right_type = points[1].handle_left_type = "VECTOR"
    if bezier_start or bezier_end:
        extrapolate(fcurve, slopes)
    fcurve.update()


def _differ(samples: Float64Array, rows: IndexArray, is_held: bool, slopes: Float64Array) -> tuple[bool, bool]:
    """Return whether linear and constant keys would extrapolate with different slopes at the start, and at the end."""
    extrapolated = [(samples[b] - samples[a]) / (b - a) for a, b in (rows[:2], rows[-2:])]
    if is_held:
        extrapolated[0] = 0.0
    differ = np.abs(np.subtract(extrapolated, slopes)) > _ROUNDING * np.abs(samples).max()
    return bool(differ[0]), bool(differ[1])
