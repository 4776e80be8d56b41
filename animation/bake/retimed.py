# SPDX-License-Identifier: GPL-3.0-or-later
"""From a track's splines and its frame function to the keys of the retimed motion, p(F(t)): samples, or curves through
close samples, because only Blender knows what an F-curve with its modifiers plays.

The whole of the track is retimed: its keys show what is played at their frames, and keep their own values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import bpy
import numpy as np

from ...interp import evaluate_many, rotations
from ...interp.fitting import ROTATION_TOLERANCE, VALUE_TOLERANCE, Fit
from ...interp.sampled import fit_samples
from ...words import rpt_, told
from ..fcurves.frames import is_among, union
from ..fcurves.keyframes import FloatArray, IndexArray
from ..store.frame_functions import FrameFunction
from ..store.originals import Originals
from ..store.settings import Settings
from ..store.tracks import Track
from .components import FOLLOWED, followed
from .curves import FittedMotion, value_range
from .samples import STILL, BoolArray, Float64Array, Motion, Slopes, Written, own_frames
from .sampling import Sampling, away_from
from .splines import TrackSpline, track_splines

_JUMP = 1 / 64
"""Frames. What a frame function does within as short a time is a jump: samples stand close on both sides of it."""
_LEAST_JUMP = 0.25
"""Frames of the motion. Less than this may happen in a frame's time at any speed."""
_FINEST = 1 / 64
_MOST_ORIENTATIONS = 2_000_000
"""So many a rotation is followed through to know its turns."""
_CLOSE = 1 / 8
"""Frames from sample to sample of what curves are put through."""


@dataclass
class CurvesThroughSamples(FittedMotion):
    """What has to be evaluated for one track, and how curves through that become generated keys."""

    tolerance: float = ROTATION_TOLERANCE
    close: list[tuple[TrackSpline, Float64Array, Callable[[Float64Array], list[Written]]]] = field(default_factory=list)
    """The splines, at which frames of theirs, and what becomes of it."""

    @property
    def is_empty(self) -> bool:
        return not self.close

    def fitted(self, _fits: list[Fit]) -> list[Written]:
        samples = evaluate_many([spline.spline for spline, _, _ in self.close], [at for _, at, _ in self.close])
        written = [finish(values) for (_, _, finish), values in zip(self.close, samples, strict=True)]
        return [each for of_spline in written for each in of_spline]


def plan_retimed(
    track: Track,
    settings: Settings,
    originals: dict[int, Originals],
    sampling: Sampling,
    defaults: Mapping[str, float],
    function: FrameFunction,
) -> Motion:
    """The splines of the track, and the frames of theirs to sample for the frames of the scene.

    Raises Refusal where the keys or their parameters make no spline, or the function leads too far.
    """
    splines = track_splines(track, settings, originals, defaults)
    keys = union([spline.frames for spline in splines])
    motion = Motion(track, settings, originals, keys, shown=True)
    options = settings.options
    if options is not None and options.output == "CURVES":
        near = options.value_tolerance or VALUE_TOLERANCE * value_range(splines)
        tolerance = options.rotation_tolerance if track.is_rotation else near
        motion = CurvesThroughSamples(track, settings, originals, keys, shown=True, tolerance=tolerance)
        sampling = replace(sampling, step=_CLOSE)
    low, high = _bounds(keys, sampling, function)
    ends = np.array([low, high], dtype=np.float32)
    grid = sampling.samples(ends, np.array([True, False]), "SINGLE") if high > low else ends[:0]
    grid = np.union1d(grid, ends)
    before, after = _jumps(function, grid)
    passed = _passages(function, grid, keys) if isinstance(motion, CurvesThroughSamples) else grid[:0]
    frames = np.union1d(keys, away_from(np.unique(np.concatenate((grid, before, after, passed))), keys))
    held = np.isin(frames, before)
    played = function(frames)
    if not np.isfinite(played).all():
        raise track.refusal(
            rpt_("its frame function is not a finite number"), float(frames[np.argmin(np.isfinite(played))])
        )
    for spline in splines:
        motion.notes += map(told, getattr(spline.spline, "notes", ()))
        _plan(motion, spline, frames, held, played)
    return motion


def sample_count(originals: Mapping[int, Originals], sampling: Sampling, function: FrameFunction, output: str) -> float:
    """About how many samples the retimed track comes to; curves are put through some too."""
    keys = union([original.keys.frames for original in originals.values()])
    if not np.isfinite(keys).all():
        return 0.0
    low, high = _bounds(keys, sampling, function)
    return len(originals) * (high - low) / (_CLOSE if output == "CURVES" else sampling.step)


def _bounds(keys: FloatArray, sampling: Sampling, function: FrameFunction) -> tuple[float, float]:
    """From where to where the motion is retimed: over all keys and the range; where none is given, as far as the
    function has keys, and one that goes on outside them throughout the scene."""
    places = [float(keys[0]), float(keys[-1])]
    if sampling.start is not None and sampling.end is not None:
        places += [sampling.start, sampling.end]
    else:
        places += function.bounds
        scene = bpy.context.scene
        if function.goes_on and scene is not None:
            places += [scene.frame_start, scene.frame_end]
    return min(places), max(places)


def _jumps(function: FrameFunction, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The frames close before and after each jump of the function."""
    start, end = grid[:-1].astype(np.float64), grid[1:].astype(np.float64)
    first, last = function(start), function(end)
    whole = np.abs(last - first)
    fast = whole > np.maximum(_LEAST_JUMP, 2.0 * (end - start))
    start, end, first, last, whole = start[fast], end[fast], first[fast], last[fast], whole[fast]
    while len(start) and (end - start).max() > _JUMP:
        middle = (start + end) / 2.0
        between = function(middle)
        later = np.abs(last - between) > np.abs(between - first)
        start, first = np.where(later, middle, start), np.where(later, between, first)
        end, last = np.where(later, end, middle), np.where(later, last, between)
        jumps = np.abs(last - first) > whole / 2.0
        start, end, first, last, whole = start[jumps], end[jumps], first[jumps], last[jumps], whole[jumps]
    return start.astype(np.float32), end.astype(np.float32)


def _passages(function: FrameFunction, grid: FloatArray, keys: FloatArray) -> FloatArray:
    """About when the function passes keys of the motion, where that may bend; not near to the grid."""
    played = function(grid)
    low, high = np.minimum(played[:-1], played[1:]), np.maximum(played[:-1], played[1:])
    first = np.searchsorted(keys, low, side="right")
    count = np.maximum(np.searchsorted(keys, high) - first, 0)
    piece = np.repeat(np.arange(len(first)), count)
    key = np.arange(len(piece)) - np.repeat(np.cumsum(count) - count - first, count)
    share = (keys[key] - played[piece]) / (played[piece + 1] - played[piece])
    found: FloatArray = (grid[piece] + share * (grid[piece + 1] - grid[piece])).astype(np.float32)
    return away_from(np.unique(found), grid)


def _plan(motion: Motion, spline: TrackSpline, frames: FloatArray, held: BoolArray, played: Float64Array) -> None:
    """`played`: F at the frames."""
    first, last = float(spline.frames[0]), float(spline.frames[-1])
    if spline.spline.cycle == "SINGLE":
        played = np.clip(played, first, last)
    needed = _needed(frames, played, spline.frames)
    frames, held, played = frames[needed], held[needed], played[needed]
    at, rows = played, np.arange(len(played))
    if motion.track.is_rotation:
        at = _followable(motion.track, spline, played)
        rows = np.searchsorted(at, played)
    finish = partial(_finish, motion, spline, frames, held, at, rows)
    if isinstance(motion, CurvesThroughSamples):
        motion.close.append((spline, at, finish))
    else:
        motion.requests.append((spline.spline, at))
        motion.finish.append(finish)


def _finish(
    motion: Motion,
    spline: TrackSpline,
    frames: FloatArray,
    held: BoolArray,
    at: Float64Array,
    rows: IndexArray,
    values: Float64Array,
) -> list[Written]:
    """`values`: those of the spline at `at`, which has the frames that are played in its `rows`."""
    if motion.track.is_rotation:
        # The numbers of the motion as it is without the function: so whole turns come back where it runs back.
        key = np.searchsorted(at, spline.frames[:1].astype(np.float64))
        values, _ = followed(motion.track, values, spline.values[:1], key)
    return _channels(motion, spline, frames, held, values[rows].T)


def _needed(frames: FloatArray, played: Float64Array, keys: FloatArray) -> BoolArray:
    """Which frames are needed: not those before and after, outside the keys, over which one frame is held."""
    changes = np.flatnonzero(np.diff(played))
    start, end = (changes[0], changes[-1] + 1) if len(changes) else (0, 0)
    needed = np.arange(len(frames))
    wanted: BoolArray = (needed >= start) & (needed <= end)
    wanted |= (frames >= keys[0]) & (frames <= keys[-1])
    return wanted


def _followable(track: Track, spline: TrackSpline, played: Float64Array) -> Float64Array:
    """All frames of a rotation's motion from the first key to what is played, so near that its angles can be followed.

    Raises Refusal where that leads too far.
    """
    first = float(spline.frames[0])
    low, high = min(first, float(played.min())), max(first, float(played.max()))
    step = 1.0
    while True:
        if (high - low) / step > _MOST_ORIENTATIONS:
            raise track.refusal(
                rpt_("its frame function leads from frame {:g} to {:g} of it: too far to follow", low, high)
            )
        grid = np.arange(low, high + step, step)
        at = np.unique(np.concatenate((played, spline.frames[:1], np.minimum(grid, high))))
        if step <= _FINEST or _is_followable(spline, at):
            return at
        step /= 2.0


def _is_followable(spline: TrackSpline, at: Float64Array) -> bool:
    quaternions = evaluate_many([spline.spline], at)[0]
    return float(rotations.angle_between(quaternions[1:], quaternions[:-1]).max(initial=0.0)) <= FOLLOWED


def _channels(
    motion: Motion, spline: TrackSpline, frames: FloatArray, held: BoolArray, numbers: Float64Array
) -> list[Written]:
    """What each component gets: `numbers` at the frames, shape (components, n), those at its own keys to be shown."""
    alike: dict[bytes, list[int]] = {}
    for row, component in enumerate(spline.components):
        own = own_frames(motion, component)
        if len(own) or np.abs(numbers[row] - motion.track.component(component)).max(initial=0.0) > STILL:
            alike.setdefault(own.tobytes(), []).append(row)
    if not isinstance(motion, CurvesThroughSamples):
        every = np.arange(len(frames))
        return [_written(motion, spline, rows, frames, held, numbers, every) for rows in alike.values()]
    breaks = is_among(frames, spline.frames)
    breaks[[0, -1]] = True
    breaks |= held
    breaks[1:] |= held[:-1]
    if motion.track.is_rotation:
        return _curves(motion, spline, list(alike.values()), frames, held, numbers, np.flatnonzero(breaks))
    return [
        written
        for rows in alike.values()
        for row in rows
        for written in _curves(motion, spline, [[row]], frames, held, numbers, np.flatnonzero(breaks))
    ]


def _curves(
    motion: CurvesThroughSamples,
    spline: TrackSpline,
    groups: list[list[int]],
    frames: FloatArray,
    held: BoolArray,
    numbers: Float64Array,
    breaks: IndexArray,
) -> list[Written]:
    """The components in all groups get keys at the same frames."""
    if len(frames) == 1:
        return [_written(motion, spline, rows, frames, held, numbers, breaks) for rows in groups]
    together = [row for rows in groups for row in rows]
    size = _SIZES[motion.track.kind]
    if motion.track.is_rotation:
        together = list(range(len(numbers)))
    fit = fit_samples(frames, numbers[together].T, breaks, size, motion.tolerance)
    motion.error = max(motion.error, fit.error)
    result = []
    for rows in groups:
        columns = [together.index(row) for row in rows]
        slopes = fit.incoming[:, columns].T, fit.outgoing[:, columns].T
        result.append(_written(motion, spline, rows, frames, held, numbers, fit.rows, slopes))
    return result


def _largest(change: Float64Array) -> Float64Array:
    size: Float64Array = np.abs(change).max(axis=1)
    return size


def _between_quaternions(change: Float64Array) -> Float64Array:
    size: Float64Array = 2.0 * np.linalg.norm(change, axis=1)
    return size


def _between_angles(change: Float64Array) -> Float64Array:
    size: Float64Array = np.abs(change).sum(axis=1)
    return size


def _between_axes(change: Float64Array) -> Float64Array:
    size: Float64Array = np.abs(change[:, 0]) + 2.0 * np.linalg.norm(change[:, 1:], axis=1)
    return size


_SIZES = {
    "VECTOR": _largest,
    "QUATERNION": _between_quaternions,
    "EULER": _between_angles,
    "AXIS_ANGLE": _between_axes,
}
"""Of rotations no less than the angle between."""


def _written(
    motion: Motion,
    spline: TrackSpline,
    rows: list[int],
    frames: FloatArray,
    held: BoolArray,
    numbers: Float64Array,
    keys: IndexArray,
    slopes: tuple[Float64Array, Float64Array] | None = None,
) -> Written:
    """What components get whose own keys are alike: of the frames those that are to be `keys`."""
    own = own_frames(motion, spline.components[rows[0]])
    frames, held, values = frames[keys], held[keys], numbers[rows][:, keys].astype(np.float32)
    mine = is_among(frames, own)
    return Written(
        [spline.components[row] for row in rows],
        frames[~mine],
        values[:, ~mine],
        held[~mine],
        np.arange(len(own)) < len(own) - 1,
        None if slopes is None else Slopes(*(each[:, part] for part in (~mine, mine) for each in slopes)),
        values[:, mine],
    )
