# SPDX-License-Identifier: GPL-3.0-or-later
"""Create keys on an F-curve in bulk from arrays of frames and values."""

from __future__ import annotations

import bpy
import numpy as np
import numpy.typing as npt

from .keyframes import DEFAULT_AMPLITUDE, DEFAULT_BACK, DEFAULT_PERIOD, INTERPOLATION

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
