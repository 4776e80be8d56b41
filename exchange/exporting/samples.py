# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole frames at which F-curves change, keys from samples at these frames, and the limit on samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np

from ...animation import AnimationError
from ...animation.errors import Finding
from ...animation.fcurves.keyframes import Float64Array
from ...interp import rotations
from ..keys import Keys

SAME = 1e-6
"""Values within this relative distance are equal except for float32 rounding."""
_MAX_EVALUATED_FRAMES = 1_000_000
"""Maximum number of frames for evaluating a motion to find its keys, independent of the sample limit."""


def sampled(frames: Float64Array, values: Float64Array) -> Keys:
    """Return one key per sample, or a single key if all samples are equal."""
    if (np.ptp(values, axis=0) <= SAME * np.maximum(1.0, np.abs(values).max(axis=0))).all():
        frames, values = frames[:1], values[:1]
    return Keys(frames, values, np.zeros((5, len(frames))))


def sampled_turns(frames: Float64Array, quaternions: Float64Array) -> Keys:
    """Return one key per sample as turns along the shortest path, or a single key if nothing turns."""
    if rotations.angle_between(quaternions, quaternions[0]).max() <= SAME:
        frames, quaternions = frames[:1], quaternions[:1]
    angles, axes = rotations.rotations_to_turns(quaternions)
    return Keys(frames, np.column_stack((angles, axes)), np.zeros((5, len(frames))))


class Span(NamedTuple):
    """The whole frames from `first` to `last`. Without an array, far more frames than memory allows can be counted."""

    first: float
    last: float

    def __bool__(self) -> bool:
        return self.first <= self.last

    @property
    def frame_count(self) -> int:
        """Return the number of frames."""
        return int(self.last - self.first) + 1 if self else 0

    def frames(self) -> Float64Array:
        return np.arange(self.first, self.last + 1.0) if self else np.empty(0)

    def with_frames_of(self, scene: bpy.types.Scene) -> Span:
        """Return a span that covers these frames and the scene's frames."""
        return Span(min(self.first, scene.frame_start), max(self.last, scene.frame_end))


def span_of_keys(fcurves: Sequence[bpy.types.FCurve]) -> Span:
    """Return the span from the first to the last key of the curves. Empty without keys."""
    frames = [point.co.x for fcurve in fcurves for point in (*fcurve.keyframe_points, *fcurve.sampled_points)]
    return Span(float(np.floor(min(frames))), float(np.ceil(max(frames)))) if frames else Span(np.inf, -np.inf)


def change_outside(fcurves: Sequence[bpy.types.FCurve], keyed: Span, scene: bpy.types.Scene) -> bool:
    """Return whether any curve changes outside its keys within the scene's frames, or may do so because it has none."""
    return any(_changes_outside(fcurve, keyed, frames_of(scene)) for fcurve in fcurves)


def _changes_outside(fcurve: bpy.types.FCurve, keyed: Span, frames: Float64Array) -> bool:
    if not keyed:
        return True
    if fcurve.extrapolation == "CONSTANT" and all(modifier.mute for modifier in fcurve.modifiers):
        return False
    before, after = frames[frames < keyed.first], frames[frames > keyed.last]
    return _changes(fcurve, keyed.first, before) or _changes(fcurve, keyed.last, after)


def _changes(fcurve: bpy.types.FCurve, end: float, frames: Float64Array) -> bool:
    """Return whether the value at any frame differs from the value at an end of the keys."""
    value = fcurve.evaluate(end)
    tolerance = SAME * max(1.0, abs(value))
    return any(abs(fcurve.evaluate(frame) - value) > tolerance for frame in frames.tolist())


def frames_of(scene: bpy.types.Scene) -> Float64Array:
    """Return all frames of the scene."""
    return np.arange(scene.frame_start, scene.frame_end + 1, dtype=np.float64)


@dataclass
class SampleLimit:
    """The number of samples of a file so far, which must not exceed a limit."""

    limit: int
    count: int = 0

    def take(self, count: int, name: str, path: str = "") -> None:
        """Count samples for a track. Raise AnimationError if the limit is exceeded."""
        self.count += count
        if self.count > self.limit:
            raise AnimationError(Finding("FILE_SAMPLE_LIMIT", name, path, arguments=(count, self.limit)))

    def check(self, frames: float, name: str, path: str) -> None:
        """Raise AnimationError if finding the keys of a track requires evaluating too many frames."""
        limit = max(self.limit, _MAX_EVALUATED_FRAMES)
        if frames > limit:
            raise AnimationError(Finding("FILE_KEYS_FAR_APART", name, path, arguments=(float(frames), limit)))
