# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for tracks with a frame function, which gives the frame of the motion to play at each scene frame.

The motion is baked as samples, because only Blender can evaluate an F-curve with its modifiers. Retiming applies to the
entire track, including its keys. The keys get the values that are played at their frames, and the table stores the
animator's values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ....interp import rotations
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray, union
from ...records import record
from ...store.frame_functions import FrameFunction
from ...store.table.track_records import Options
from ...store.tracks import Track
from .channel_values import by_own_frames, united_channel_keys
from .own_motion import OwnChannels
from .plan import ChannelKeys, ComposedKeys, Evaluation, Plan, Results, Scope
from .rotations import LARGEST_STEP, Unwrapping
from .sample_frames import APART, Sampling, away_from, sampling_of
from .track_splines import TrackSpline

_FINEST = 1 / 64
"""Smallest distance between samples for unwrapping the turns of a rotation, in frames of the motion."""
_MOST_ORIENTATIONS = 2_000_000
"""Maximum number of orientations computed to unwrap the turns of a rotation."""
_JUMP = 2 * APART
"""Maximum duration of a jump in the frame function, in frames. Jumps have samples just before and just after them."""
_LEAST_JUMP = 0.25
"""Smallest jump, in frames of the motion. A smaller change within a frame is never a jump."""


def plan_retimed(scope: Scope, splines: Sequence[TrackSpline], function: FrameFunction) -> list[Plan]:
    """Return the plan for a track's splines, in scene frames.

    Raises AnimationError if the range of the frame function is too large.
    """
    keys, sampling = scope.key_frames, scope.sampling
    low, high = _range_to_bake(keys, sampling, function)
    ends = np.array([low, high], dtype=np.float32)
    grid = sampling.samples(ends, "SINGLE", False) if high > low else ends[:0]
    grid = np.union1d(grid, ends)
    samples = np.unique(np.concatenate((grid, *_frames_around_jumps(function, grid))))
    frames = np.union1d(keys, away_from(samples, keys))
    played = function(frames)
    if not np.isfinite(played).all():
        raise scope.track.error("TIMING_NOT_FINITE", frame=float(frames[np.argmin(np.isfinite(played))]))
    return [RetimedSamplePlan(scope, [_sampled_spline(scope, spline, frames, played) for spline in splines])]


def sample_count(own: OwnChannels, options: Options, function: FrameFunction) -> float:
    """Return the approximate number of samples of the retimed track."""
    keys = union([channel.keys.frames for channel in own.values()])
    if not np.isfinite(keys).all():
        return 0.0
    low, high = _range_to_bake(keys, sampling_of(keys, options.step, options.extend), function)
    return len(own) * (high - low) / options.step


def _range_to_bake(keys: Float32Array, sampling: Sampling, function: FrameFunction) -> tuple[float, float]:
    """Return the first and last frames to bake.

    The range includes the sampled range, and all keys of the track and of the function. If the function varies outside
    its keys, the range also includes the scene range.
    """
    frames = [float(keys[0]), float(keys[-1]), sampling.low, sampling.high, *function.bounds]
    scene = bpy.context.scene
    if function.goes_on and scene is not None:
        frames += [scene.frame_start, scene.frame_end]
    return min(frames), max(frames)


@record()
class _SampledSpline:
    """A spline, and the frames at which it is sampled."""

    spline: TrackSpline
    frames: Float32Array
    """Frames that need a sample."""
    evaluated: Float64Array
    """Spline frames to evaluate: the played frames, and frames needed to unwrap a rotation."""
    rows: IndexArray
    """Row in `evaluated` of the frame played at each of `frames`."""


@record()
class RetimedSamplePlan(Plan):
    """The plan that samples a track's splines, retimed by the track's frame function."""

    scope: Scope
    splines: Sequence[_SampledSpline]

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return each spline and the frames to evaluate."""
        return [
            Evaluation(sampled.spline.spline, sampled.evaluated, self._unwrapping(sampled)) for sampled in self.splines
        ]

    def _unwrapping(self, sampled: _SampledSpline) -> Unwrapping | None:
        if not self.scope.track.is_rotation:
            return None
        # Unwrap the motion before it is retimed, so that whole turns are undone where the function decreases.
        spline = sampled.spline
        first_key = int(np.searchsorted(sampled.evaluated, float(spline.frames[0])))
        return Unwrapping(self.scope.track, spline.values[0], first_key)

    def compose(self, results: Results) -> ComposedKeys:
        """Compose the keys of the retimed motion."""
        keys_of_components: list[ChannelKeys] = []
        for sampled in self.splines:
            spline, values = sampled.spline, next(results.values)[sampled.rows].T
            for rows, own_frames in by_own_frames(self.scope, spline.components, spline.frames):
                components = [spline.components[row] for row in rows]
                # Segments played by Blender are retimed too, so they are not Blender's in the keys.
                keys_of_components.append(ChannelKeys(components, own_frames, sampled.frames, values[rows]))
        return ComposedKeys(united_channel_keys(self.scope, keys_of_components))


def _sampled_spline(scope: Scope, spline: TrackSpline, frames: Float32Array, played: Float64Array) -> _SampledSpline:
    """Return the sample frames of a spline. `played` contains the frames of the motion played at `frames`."""
    if spline.spline.cycle == "SINGLE":
        played = np.clip(played, float(spline.frames[0]), float(spline.frames[-1]))
    is_needed = _is_needed(frames, played, spline.frames)
    frames, played = frames[is_needed], played[is_needed]
    if not scope.track.is_rotation:
        return _SampledSpline(spline, frames, played, np.arange(len(played)))
    evaluated = _dense_enough_to_unwrap(scope.track, spline, played)
    return _SampledSpline(spline, frames, evaluated, np.searchsorted(evaluated, played))


def _is_needed(frames: Float32Array, played: Float64Array, keys: Float32Array) -> BoolArray:
    """Return a mask of the frames to sample.

    Frames outside the keys are omitted if the frame function is constant between them and the end of the range.
    """
    changes = np.flatnonzero(np.diff(played))
    start, end = (changes[0], changes[-1] + 1) if len(changes) else (0, 0)
    rows = np.arange(len(frames))
    is_needed: BoolArray = (rows >= start) & (rows <= end)
    is_needed |= (frames >= keys[0]) & (frames <= keys[-1])
    return is_needed


def _dense_enough_to_unwrap(track: Track, spline: TrackSpline, played: Float64Array) -> Float64Array:
    """Return frames of a rotation that include all played frames and are dense enough to unwrap the angles.

    The frames include the first key. Raises AnimationError if the range is too large.
    """
    first = float(spline.frames[0])
    low, high = min(first, float(played.min())), max(first, float(played.max()))
    step = 1.0
    while True:
        if (high - low) / step > _MOST_ORIENTATIONS:
            raise track.error("TIMING_TOO_FAR", low, high)
        grid = np.arange(low, high + step, step)
        frames = np.unique(np.concatenate((played, spline.frames[:1], np.minimum(grid, high))))
        if step <= _FINEST:
            return frames
        quaternions = spline.spline(frames)
        if rotations.angle_between(quaternions[1:], quaternions[:-1]).max(initial=0.0) <= LARGEST_STEP:
            return frames
        step /= 2.0


def _frames_around_jumps(function: FrameFunction, grid: Float32Array) -> tuple[Float32Array, Float32Array]:
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
