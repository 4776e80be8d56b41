# SPDX-License-Identifier: GPL-3.0-or-later
"""The SAMPLES output: linear keys on the splines, at regular intervals and at the animator's keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ....interp.rotations.equivalent import Maps
from ...fcurves.keyframes import Float32Array, Float64Array, IndexArray
from ...memoize import memoized
from ...records import record
from .channel_values import (
    by_own_frames,
    extrapolated,
    extrapolates,
    frames_beside_ends,
    matched_with_keys,
    slopes_at_ends,
    united_channel_keys,
)
from .plan import ChannelKeys, ComposedKeys, Evaluation, Plan, Results, Scope
from .rotations import LARGEST_STEP, Unwrapping
from .sample_frames import nearest_rows, united
from .track_splines import TrackSpline

_PEAK_SPEED = 3.0
"""Assumed maximum ratio of the peak to the mean angular speed between two keys."""
_MOST_PARTS = 64
"""Maximum number of parts into which the interval between two samples is divided to unwrap angles."""
_SAME = 1e-14
"""Unit quaternions whose dot product differs from 1 by less than this have the same orientation."""


def plan_samples(scope: Scope, splines: Sequence[TrackSpline]) -> list[Plan]:
    """Return the plan for a track's splines, which must contain channel values at the keys."""
    is_extrapolated = extrapolates(scope, splines)
    frames_of_splines = [scope.sampling.with_keys(spline.frames, scope.cycle, is_extrapolated) for spline in splines]
    frames = frames_of_splines[0]
    if len(splines) > 1:
        frames = united([spline.frames for spline in splines], frames_of_splines)
    sampled = [
        _SampledSpline(
            spline, *_sample_rows(frames, spline.frames, _parts(spline, scope.sampling.step), is_extrapolated)
        )
        for spline in splines
    ]
    return [SamplePlan(scope, frames, is_extrapolated, sampled)]


@record()
class _SampledSpline:
    """A spline, and the frames at which it is evaluated.

    These are the frames of the samples and the keys, and additional frames for slopes and for unwrapping angles.
    """

    spline: TrackSpline
    evaluated: Float64Array
    rows: IndexArray
    """Rows in `evaluated` of the frames to write."""
    key_rows: IndexArray
    """Rows in `evaluated` of the spline's keys."""
    written_keys: IndexArray
    """The spline's keys whose exact frames are written."""
    written_rows: IndexArray
    """Rows of these keys in the frames to write."""


@record()
class SamplePlan(Plan):
    """The plan that samples the splines of a track."""

    scope: Scope
    frames: Float32Array
    """Frames of the samples and of the animator's keys."""
    is_extrapolated: bool
    """True if any component is extrapolated linearly outside its keys."""
    splines: Sequence[_SampledSpline]

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return each spline with the frames at which to evaluate it."""
        return [Evaluation(each.spline.spline, each.evaluated, self._unwrapping(each)) for each in self.splines]

    def _unwrapping(self, sampled: _SampledSpline) -> Unwrapping | None:
        if not self.scope.track.is_rotation:
            return None
        return Unwrapping(self.scope.track, sampled.spline.values[0], int(sampled.key_rows[0]))

    def compose(self, results: Results) -> ComposedKeys:
        """Compose keys from the samples, which are channel values."""
        keys: list[ChannelKeys] = []
        for sampled in self.splines:
            keys += self._linear_keys(sampled, next(results.values))
        return ComposedKeys(united_channel_keys(self.scope, keys))

    def _linear_keys(self, sampled: _SampledSpline, evaluated_values: Float64Array) -> Iterator[ChannelKeys]:
        """Yield linear keys for a spline's components, with the values of the animator's keys at these keys."""
        scope, spline, maps = self.scope, sampled.spline, None
        if scope.track.is_rotation:
            evaluated_values, maps = matched_with_keys(scope.track, spline, evaluated_values, sampled.key_rows)
            if _is_still(sampled):
                # Samples are unit quaternions or unit axes, but keys may have any length.
                evaluated_values[:] = spline.values[0]
        are_all_written = len(sampled.rows) == len(evaluated_values)
        values = evaluated_values.T if are_all_written else evaluated_values.T.take(sampled.rows, axis=1)
        if self.is_extrapolated and len(spline.frames) > 1:
            slopes = slopes_at_ends(spline.frames, sampled.evaluated, evaluated_values.T)
            values = extrapolated(scope, spline, self.frames, values, slopes)
        key_values = spline.values if maps is None else maps.applied(spline.values)
        values.T[sampled.written_rows] = key_values[sampled.written_keys]
        for rows, own_frames in by_own_frames(scope, spline.components, spline.frames):
            components = [spline.components[row] for row in rows]
            values_of_rows = values if len(rows) == len(values) else values[rows]
            own_maps = None
            if maps is not None:
                own_rows = np.searchsorted(spline.frames, own_frames)
                own_maps = Maps(*(numbers[own_rows][:, rows].T for numbers in maps))
            keys = ChannelKeys(components, own_frames, self.frames, values_of_rows, maps=own_maps, spline=spline)
            yield keys.take(keys.may_have(self.frames)) if spline.is_interrupted else keys


def _is_still(sampled: _SampledSpline) -> bool:
    """Return whether the orientation is constant and all keys have the same values."""
    key_values = sampled.spline.values
    if (key_values[:1] != key_values[1:]).any():
        return False
    quaternions = sampled.spline.spline(sampled.evaluated)
    return bool((np.abs(quaternions @ quaternions[0]) > 1.0 - _SAME).all())


def _parts(spline: TrackSpline, step: float) -> IndexArray | None:
    """Return, for each key, the number of parts into which to divide the following intervals to unwrap angles.

    Return None if angles need no additional samples.
    """
    if spline.turns is None:
        return None
    steps = spline.turns / np.diff(spline.frames) * (_PEAK_SPEED * step / LARGEST_STEP)
    if steps.max(initial=0.0) <= 1.0:
        return None
    return np.append(np.clip(np.ceil(steps), 1, _MOST_PARTS), 1).astype(np.intp)


@memoized
def _sample_rows(
    frames: Float32Array, keys: Float32Array, parts: IndexArray | None, is_extrapolated: bool
) -> tuple[Float64Array, IndexArray, IndexArray, IndexArray, IndexArray]:
    """Return the fields of `_SampledSpline` for samples at the frames and a spline with keys at `keys`.

    The intervals between samples and keys are divided into the number of `parts` given for each key.
    """
    evaluated = np.unique(np.concatenate((frames, keys)).astype(np.float64))
    if is_extrapolated and len(keys) > 1:
        evaluated = np.union1d(evaluated, frames_beside_ends(keys))
    if parts is not None:
        count = parts[np.clip(np.searchsorted(keys, evaluated[:-1], side="right") - 1, 0, None)]
        start = np.repeat(evaluated[:-1], count)
        number_in_interval = np.arange(len(start)) - np.repeat(np.cumsum(count) - count, count)
        finer = start + np.repeat(np.diff(evaluated) / count, count) * number_in_interval
        evaluated = np.union1d(evaluated, finer)
    rows, key_rows = (np.searchsorted(evaluated, some.astype(np.float64)) for some in (frames, keys))
    nearest = nearest_rows(keys, frames)
    written_keys = np.flatnonzero(frames[nearest] == keys)
    return evaluated, rows, key_rows, written_keys, nearest[written_keys]
