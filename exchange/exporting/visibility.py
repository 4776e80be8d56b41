# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of the visibility in renders."""

from __future__ import annotations

import bpy
import numpy as np

from ...animation.sampling.properties import curves_of
from ..keys import Keys, still
from .sample_limit import SampleLimit
from .spans import change_outside, span_of_keys


def visibility_keys(obj: bpy.types.Object, scene: bpy.types.Scene, limit: SampleLimit) -> Keys:
    """Return keys that are 1 while the object is hidden in renders.

    A curve that is not stepped, or that continues outside its keys, is sampled.
    """
    fcurve = curves_of(obj).get(("hide_render", 0))
    if fcurve is None:
        return still(float(obj.hide_render))
    points = list(fcurve.keyframe_points)
    span = span_of_keys([fcurve])
    goes_on = change_outside([fcurve], span, scene)
    if goes_on:
        span = span.with_frames_of(scene)
    if goes_on or not points or any(point.interpolation != "CONSTANT" for point in points[:-1]):
        limit.take(span.frame_count, obj.name, "hide_render")
        frames = span.frames()
    else:
        frames = np.array([point.co.x for point in points])
    # Blender treats all values below 1 as off.
    values = np.array([[float(fcurve.evaluate(frame) >= 1.0)] for frame in frames.tolist()])
    return Keys(frames, values, np.zeros((5, len(frames))))
