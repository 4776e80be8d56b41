# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of numbers that come from elsewhere, written to an F-curve all at once."""

from __future__ import annotations

import bpy
import numpy as np
import numpy.typing as npt

from .keyframes import DEFAULT_AMPLITUDE, DEFAULT_BACK, DEFAULT_PERIOD, INTERPOLATION

_EASED = {"back": DEFAULT_BACK, "amplitude": DEFAULT_AMPLITUDE, "period": DEFAULT_PERIOD}
"""What Bezier keys, which are an animator's, need to play as Back or Elastic later; keys added in bulk have 0."""


def key_curve(
    fcurve: bpy.types.FCurve,
    frames: npt.NDArray[np.floating],
    values: npt.NDArray[np.floating],
    interpolation: str = "BEZIER",
) -> None:
    """Let the curve have plain keys there, which ascend, and no others; Bezier ones have automatic handles."""
    points = fcurve.keyframe_points
    points.clear()
    points.add(len(frames))
    co = np.empty((len(frames), 2), dtype=np.float32)
    co[:, 0], co[:, 1] = frames, values
    if interpolation == "BEZIER":
        for name, number in _EASED.items():
            points.foreach_set(name, np.full(len(frames), number, dtype=np.float32))
        points.foreach_set("co", co.ravel())
        fcurve.update()
        return
    # Takes handles along: what plays has none, and placing them takes half of the time.
    points.foreach_set("co_ui", co.ravel())
    points.foreach_set("interpolation", np.full(len(frames), INTERPOLATION[interpolation], dtype=np.uint8))
