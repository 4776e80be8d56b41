# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans for tracks with a frame function: samples of p(F(t)), or curves fitted to dense samples.

Samples are needed because only Blender can evaluate an F-curve with its modifiers. Retiming applies to the entire
track, including its keys. The keys get the values that are played at their frames, and the table stores the animator's
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import bpy
import numpy as np

from ....interp import rotations
from ....interp.fitting.samples import fit_samples
from ...fcurves.frames import is_among, union
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray
from ...records import record
from ...store.frame_functions import FrameFunction
from ...store.tracks import Track
from .component_keys import FOLLOWED, ComponentKeys, alike, together
from .protocol import Baked, Evaluation, OwnChannels, Plan, Results, Scope, Unwrapping
from .sample_frames import APART, Sampling, away_from, is_near
from .splines import TrackSpline

_JUMP = 2 * APART
"""Maximum duration of a jump in the frame function, in frames. Jumps have samples just before and just after them."""
_LEAST_JUMP = 0.25
"""Smallest jump, in frames of the motion. A smaller change within a frame is never a jump."""
_FINEST = 1 / 64
"""Smallest distance between samples for unwrapping the turns of a rotation, in frames of the motion."""
_MOST_ORIENTATIONS = 2_000_000
"""Maximum number of orientations computed to unwrap the turns of a rotation."""
_CLOSE = 1 / 8
"""Distance in frames between the samples to which curves are fitted."""


def plan_retimed(scope: Scope, splines: Sequence[TrackSpline], function: FrameFunction) -> list[Plan]:
    """Return the plans of a track's splines, in scene frames.

    Raises AnimationError if the range of the frame function is too large.
    """
    by_curves, keys = scope.options.output == "CURVES", scope.key_frames
    sampling = replace(scope.sampling, step=_CLOSE) if by_curves else scope.sampling
    low, high = _bounds(keys, sampling, function)
    ends = np.array([low, high], dtype=np.float32)
    grid = sampling.samples(ends, "SINGLE", False) if high > low else ends[:0]
    grid = np.union1d(grid, ends)
    before_jumps, after_jumps = _jumps(function, grid)
    passages = _passages(function, grid, keys) if by_curves else grid[:0]
    samples = np.unique(np.concatenate((grid, before_jumps, after_jumps, passages)))
    frames = np.union1d(keys, away_from(samples, keys))
    played = function(frames)
    if not np.isfinite(played).all():
        raise scope.track.error("TIMING_NOT_FINITE", frame=float(frames[np.argmin(np.isfinite(played))]))
    places = [_places(scope, spline, frames, played) for spline in splines]
    if not by_curves:
        return [RetimedSamples(scope, splines, places)]
    return [RetimedCurves(scope, splines, places, np.isin(frames, before_jumps), scope.tolerance(splines))]


@record()
class Places:
    """The frames at which a spline is sampled."""

    needed: BoolArray
    """Mask of the frames that need a sample."""
    frames: Float32Array
    """Frames that need a sample."""
    at: Float64Array
    """Spline frames to evaluate: the played frames, and frames needed to unwrap a rotation."""
    rows: IndexArray
    """Row in `at` of the frame played at each of `frames`."""


@record()
class RetimedSamples(Plan):
    """The plan that samples a track's splines, retimed by the track's frame function."""

    scope: Scope
    splines: Sequence[TrackSpline]
    places: Sequence[Places]

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return each spline and the frames to evaluate."""
        return [
            Evaluation(spline.spline, places.at, self._unwrapping(spline, places))
            for spline, places in zip(self.splines, self.places, strict=True)
        ]

    def _unwrapping(self, spline: TrackSpline, places: Places) -> Unwrapping | None:
        if not self.scope.track.is_rotation:
            return None
        # Unwrap the motion before it is retimed, so that whole turns are undone where the function decreases.
        return Unwrapping(self.scope.track, spline.values[0], int(np.searchsorted(places.at, float(spline.frames[0]))))

    def compose(self, results: Results) -> Baked:
        """Compose the keys of the retimed motion."""
        composed: list[ComponentKeys] = []
        error = 0.0
        for spline, places in zip(self.splines, self.places, strict=True):
            numbers = next(results.values)[places.rows].T
            # Segments played by Blender are retimed too.
            timed = replace(spline, between=np.zeros(len(spline.frames), dtype=np.bool_))
            # The components of a rotation are fitted together.
            every = list(range(len(numbers)))
            for rows in [every] if self.scope.track.is_rotation else [[row] for row in every]:
                keys, error_of_rows = self._fitted(timed, places, numbers[rows])
                error = max(error, error_of_rows)
                components = [spline.components[row] for row in rows]
                for group, own_frames in alike(self.scope, components):
                    components_of_group = [components[row] for row in group]
                    composed.append(replace(keys.of(group), components=components_of_group, own=own_frames))
        return Baked(together(self.scope, composed), error=error)

    def _fitted(self, spline: TrackSpline, places: Places, numbers: Float64Array) -> tuple[ComponentKeys, float]:
        """Return the components' keys for the values at the samples, shape (components, n), and the maximum error."""
        return ComponentKeys(list(range(len(numbers))), spline.frames, spline, places.frames, numbers), 0.0


@record()
class RetimedCurves(RetimedSamples):
    """Curves fitted to dense samples of a track that is retimed by a frame function."""

    jumps: BoolArray
    """Mask of the frames just before a jump in the function."""
    tolerance: float

    def _fitted(self, spline: TrackSpline, places: Places, numbers: Float64Array) -> tuple[ComponentKeys, float]:
        """Return keys of curves fitted to the samples, and the maximum error."""
        is_before_jump, frames = self.jumps[places.needed], places.frames
        is_break = is_among(frames, spline.frames) | is_before_jump
        is_break[1:] |= is_before_jump[:-1]
        is_break[[0, -1]] = True
        beside_keys, size = is_near(frames, self.scope.key_frames), partial(_size, self.scope.track.kind)
        fit = fit_samples(frames, numbers.T, np.flatnonzero(is_break), size, self.tolerance, avoided=beside_keys)
        samples, _ = super()._fitted(spline, places, numbers)
        keys = replace(samples.take(fit.rows), incoming=fit.incoming.T, outgoing=fit.outgoing.T)
        # Two orientations never differ by more than half a turn.
        return keys, min(fit.error, np.pi) if self.scope.track.is_rotation else fit.error


def sample_count(own: OwnChannels, sampling: Sampling, function: FrameFunction, output: str) -> float:
    """Return the approximate number of samples of the retimed track. Curves are also fitted to samples."""
    keys = union([channel.keys.frames for channel in own.values()])
    if not np.isfinite(keys).all():
        return 0.0
    low, high = _bounds(keys, sampling, function)
    return len(own) * (high - low) / (_CLOSE if output == "CURVES" else sampling.step)


def _bounds(keys: Float32Array, sampling: Sampling, function: FrameFunction) -> tuple[float, float]:
    """Return the first and last frames to bake.

    The bounds enclose the range, and all keys of the track and of the function. If the function varies outside its
    keys, the bounds also enclose the scene range.
    """
    places = [float(keys[0]), float(keys[-1]), sampling.low, sampling.high, *function.bounds]
    scene = bpy.context.scene
    if function.goes_on and scene is not None:
        places += [scene.frame_start, scene.frame_end]
    return min(places), max(places)


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


def _jumps(function: FrameFunction, grid: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Return the frames just before and just after each jump in the function, found by bisection."""
    frames = grid.astype(np.float64)
    played = function(frames)
    intervals = _Intervals(frames[:-1], frames[1:], played[:-1], played[1:])
    intervals = intervals.take(intervals.change > np.maximum(_LEAST_JUMP, 2.0 * np.diff(frames)))
    sizes = intervals.change
    while len(sizes) and (intervals.end - intervals.start).max() > _JUMP:
        intervals = _steeper_halves(function, intervals)
        # If the function is continuous, the change in the selected half soon becomes small.
        is_jump = intervals.change > sizes / 2.0
        intervals, sizes = intervals.take(is_jump), sizes[is_jump]
    return intervals.start.astype(np.float32), intervals.end.astype(np.float32)


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


def _passages(function: FrameFunction, grid: Float32Array, keys: Float32Array) -> Float32Array:
    """Return the approximate frames at which the function passes keys of the motion, where the motion may have corners.

    Frames close to the grid are omitted.
    """
    played = function(grid)
    low, high = np.minimum(played[:-1], played[1:]), np.maximum(played[:-1], played[1:])
    first = np.searchsorted(keys, low, side="right")
    count = np.maximum(np.searchsorted(keys, high) - first, 0)
    # There is one row for each key within an interval of the grid.
    interval = np.repeat(np.arange(len(first)), count)
    key = np.arange(len(interval)) - np.repeat(np.cumsum(count) - count - first, count)
    share = (keys[key] - played[interval]) / (played[interval + 1] - played[interval])
    passages: Float32Array = (grid[interval] + share * (grid[interval + 1] - grid[interval])).astype(np.float32)
    return away_from(np.unique(passages), grid)


def _places(scope: Scope, spline: TrackSpline, frames: Float32Array, played: Float64Array) -> Places:
    """Return the sample frames of a spline. `played` contains the values of F at `frames`."""
    if spline.spline.cycle == "SINGLE":
        played = np.clip(played, float(spline.frames[0]), float(spline.frames[-1]))
    needed = _needed(frames, played, spline.frames)
    frames, played = frames[needed], played[needed]
    if not scope.track.is_rotation:
        return Places(needed, frames, played, np.arange(len(played)))
    at = _followable(scope.track, spline, played)
    return Places(needed, frames, at, np.searchsorted(at, played))


def _needed(frames: Float32Array, played: Float64Array, keys: Float32Array) -> BoolArray:
    """Return a mask of the frames to sample.

    Frames outside the keys are omitted if F is constant between them and the end of the range.
    """
    changes = np.flatnonzero(np.diff(played))
    start, end = (changes[0], changes[-1] + 1) if len(changes) else (0, 0)
    rows = np.arange(len(frames))
    is_needed: BoolArray = (rows >= start) & (rows <= end)
    is_needed |= (frames >= keys[0]) & (frames <= keys[-1])
    return is_needed


def _followable(track: Track, spline: TrackSpline, played: Float64Array) -> Float64Array:
    """Return frames of a rotation that include all played frames and are dense enough to unwrap the angles.

    The frames start at the first key. Raises AnimationError if the range is too large.
    """
    first = float(spline.frames[0])
    low, high = min(first, float(played.min())), max(first, float(played.max()))
    step = 1.0
    while True:
        if (high - low) / step > _MOST_ORIENTATIONS:
            raise track.error("TIMING_TOO_FAR", low, high)
        grid = np.arange(low, high + step, step)
        at = np.unique(np.concatenate((played, spline.frames[:1], np.minimum(grid, high))))
        if step <= _FINEST or _is_followable(spline, at):
            return at
        step /= 2.0


def _is_followable(spline: TrackSpline, frames: Float64Array) -> bool:
    """Return whether the orientations at the frames are close enough together to unwrap the turns between them."""
    quaternions = spline.spline(frames)
    return float(rotations.angle_between(quaternions[1:], quaternions[:-1]).max(initial=0.0)) <= FOLLOWED


def _size(kind: str, change: Float64Array) -> Float64Array:
    """Return the sizes of changes in channel values. For a rotation, the sizes are upper bounds of the angles."""
    size: Float64Array
    if kind == "VECTOR":
        size = np.abs(change).max(axis=1)
    elif kind == "EULER":
        size = np.abs(change).sum(axis=1)
    elif kind == "QUATERNION":
        # The length of a small change in a unit quaternion is half the angle.
        size = 2.0 * np.linalg.norm(change, axis=1)
    else:
        size = np.abs(change[:, 0]) + 2.0 * np.linalg.norm(change[:, 1:], axis=1)
    return size
