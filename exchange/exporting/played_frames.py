# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames at which F-curves move what they animate."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...animation.fcurves.keyframes import Float64Array

SAME = 1e-6
"""Values within this of each other, times their size, are one value, rounded to float32."""


def frames_of(scene: bpy.types.Scene) -> Float64Array:
    """Return all frames of the scene."""
    return np.arange(scene.frame_start, scene.frame_end + 1, dtype=np.float64)


def frames_between_keys(fcurves: Sequence[bpy.types.FCurve]) -> Float64Array:
    """Return the whole frames from the first to the last key of any of the curves; none where these have no keys."""
    ends = [point.co.x for fcurve in fcurves for point in (*fcurve.keyframe_points, *fcurve.sampled_points)]
    return np.arange(np.floor(min(ends)), np.ceil(max(ends)) + 1.0) if ends else np.empty(0)


def with_frames_of(scene: bpy.types.Scene, keyed: Float64Array) -> Float64Array:
    """Return the frames from the first to the last of those between keys and the scene's."""
    both = np.concatenate((keyed, frames_of(scene)))
    return np.arange(both.min(), both.max() + 1.0)


def go_on(fcurves: Sequence[bpy.types.FCurve], keyed: Float64Array, scene: bpy.types.Scene) -> bool:
    """Return whether any of the curves changes outside the frames between keys, at frames of the scene."""
    return any(_goes_on(fcurve, keyed, frames_of(scene)) for fcurve in fcurves)


def _goes_on(fcurve: bpy.types.FCurve, keyed: Float64Array, frames: Float64Array) -> bool:
    if not len(keyed):
        return True
    if fcurve.extrapolation == "CONSTANT" and all(modifier.mute for modifier in fcurve.modifiers):
        return False
    for held, outside in ((keyed[0], frames[frames < keyed[0]]), (keyed[-1], frames[frames > keyed[-1]])):
        value = fcurve.evaluate(held)
        if any(abs(fcurve.evaluate(frame) - value) > SAME * max(1.0, abs(value)) for frame in outside.tolist()):
            return True
    return False
