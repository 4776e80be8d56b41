# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene frames at which a frame function jumps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array
from ...store.frame_functions import FrameFunction
from .sample_frames import APART

_JUMP = 2 * APART
"""Maximum duration of a jump in the frame function, in frames. Jumps have samples just before and just after them."""
_LEAST_JUMP = 0.25
"""Smallest jump, in frames of the motion. A smaller change within a frame is never a jump."""


def frames_around_jumps(function: FrameFunction, grid: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Return the frames just before and just after each jump in the function between frames of the ascending `grid`.

    Jumps are found by bisection.
    """
    frames = grid.astype(np.float64)
    played = function(frames)
    intervals = _Intervals(frames[:-1], frames[1:], played[:-1], played[1:])
    intervals = intervals.take(intervals.change > np.maximum(_LEAST_JUMP, 2.0 * np.diff(frames)))
    first_change = intervals.change
    while len(first_change) and (intervals.end - intervals.start).max() > _JUMP:
        intervals = _steeper_halves(function, intervals)
        # If the function is continuous, the change in the selected half soon becomes small.
        is_jump = intervals.change > first_change / 2.0
        intervals, first_change = intervals.take(is_jump), first_change[is_jump]
    return intervals.start.astype(np.float32), intervals.end.astype(np.float32)


class _Intervals(NamedTuple):
    """Intervals between scene frames, and the motion frames that the function plays at both ends of each interval."""

    start: Float64Array
    end: Float64Array
    played_at_start: Float64Array
    played_at_end: Float64Array

    @property
    def change(self) -> Float64Array:
        """Return the change in motion frames over each interval."""
        change: Float64Array = np.abs(self.played_at_end - self.played_at_start)
        return change

    def take(self, mask: BoolArray) -> _Intervals:
        """Return the intervals selected by the mask."""
        return _Intervals(*(array[mask] for array in self))


def _steeper_halves(function: FrameFunction, intervals: _Intervals) -> _Intervals:
    """Return, for each interval, the half in which the function changes more."""
    start, end, played_at_start, played_at_end = intervals
    middle = (start + end) / 2.0
    played = function(middle)
    is_second = np.abs(played_at_end - played) > np.abs(played - played_at_start)
    return _Intervals(
        np.where(is_second, middle, start),
        np.where(is_second, end, middle),
        np.where(is_second, played, played_at_start),
        np.where(is_second, played_at_end, played),
    )
