# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames at which F-curves move what they animate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...animation.fcurves.keyframes import Float64Array

SAME = 1e-6
"""Values within this of each other, times their size, are one value, rounded to float32."""


def frames_of(scene: bpy.types.Scene) -> Float64Array:
    """Return all frames of the scene."""
    return np.arange(scene.frame_start, scene.frame_end + 1, dtype=np.float64)


class Span(NamedTuple):
    """Whole frames from `first` to `last`, which are not made before somebody has counted them."""

    first: float
    last: float

    def __bool__(self) -> bool:
        return self.first <= self.last

    @property
    def number(self) -> int:
        """Return the number of frames."""
        return int(self.last - self.first) + 1 if self else 0

    def frames(self) -> Float64Array:
        """Return the frames."""
        return np.arange(self.first, self.last + 1.0) if self else np.empty(0)

    def with_frames_of(self, scene: bpy.types.Scene) -> Span:
        """Return the frames from the first to the last of these and the scene's."""
        return Span(min(self.first, scene.frame_start), max(self.last, scene.frame_end))


def span_of_keys(fcurves: Sequence[bpy.types.FCurve]) -> Span:
    """Return the frames from the first to the last key of any of the curves; none where these have no keys."""
    ends = [point.co.x for fcurve in fcurves for point in (*fcurve.keyframe_points, *fcurve.sampled_points)]
    return Span(float(np.floor(min(ends))), float(np.ceil(max(ends)))) if ends else Span(np.inf, -np.inf)


def go_on(fcurves: Sequence[bpy.types.FCurve], keyed: Span, scene: bpy.types.Scene) -> bool:
    """Return whether any of the curves changes outside the frames between keys, at frames of the scene."""
    return any(_goes_on(fcurve, keyed, frames_of(scene)) for fcurve in fcurves)


def _goes_on(fcurve: bpy.types.FCurve, keyed: Span, frames: Float64Array) -> bool:
    if not keyed:
        return True
    if fcurve.extrapolation == "CONSTANT" and all(modifier.mute for modifier in fcurve.modifiers):
        return False
    for held, outside in ((keyed.first, frames[frames < keyed.first]), (keyed.last, frames[frames > keyed.last])):
        value = fcurve.evaluate(held)
        if any(abs(fcurve.evaluate(frame) - value) > SAME * max(1.0, abs(value)) for frame in outside.tolist()):
            return True
    return False
