# SPDX-License-Identifier: GPL-3.0-or-later
"""The SAMPLES output: linear keys on the splines, at regular intervals and at the animator's keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....interp.rotations.equivalent import Maps
from ...fcurves.keyframes import Float32Array, Float64Array, IndexArray
from ...memoize import memoized
from ...records import record
from .component_keys import ComponentKeys, by_own_frames, united_channel_keys
from .composed_keys import ComposedKeys
from .continuous_rotations import matched_with_keys
from .linear_extrapolation import extrapolated, extrapolates, frames_beside_ends, slopes_at_ends
from .protocol import Evaluation, Plan, Results, Scope
from .rotation_channels import LARGEST_STEP, Unwrapping
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
    if not scope.track.is_rotation:
        return [ValueSamplePlan(scope, splines, frames, is_extrapolated)]
    (spline,) = splines
    parts = _parts(spline, scope.sampling.step)
    evaluated, rows, key_rows = _rotation_frames(frames, spline.frames, parts, is_extrapolated)
    return [RotationSamplePlan(scope, spline, frames, is_extrapolated, evaluated, rows, key_rows)]


@record()
class ValueSamplePlan(Plan):
    """The plan that samples a track's separately interpolated components."""

    scope: Scope
    splines: Sequence[TrackSpline]
    frames: Float32Array
    """Frames of the samples and of the animator's keys."""
    is_extrapolated: bool
    """True if any component is extrapolated linearly outside its keys."""

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return each spline with the frames of the samples."""
        return [Evaluation(spline.spline, self._evaluated_frames(spline)) for spline in self.splines]

    def compose(self, results: Results) -> ComposedKeys:
        """Compose the keys of all components."""
        keys: list[ComponentKeys] = []
        for spline in self.splines:
            values = next(results.values).T
            if self._needs_slopes(spline):
                evaluated = _with_frames_beside_ends(self.frames, spline.frames)
                slopes = slopes_at_ends(spline.frames, evaluated, values)
                values = values[:, np.searchsorted(evaluated, self.frames.astype(np.float64))]
                values = extrapolated(self.scope, spline, self.frames, values, slopes)
            keys += _linear_keys(self.scope, spline, self.frames, values)
        return ComposedKeys(united_channel_keys(self.scope, keys))

    def _evaluated_frames(self, spline: TrackSpline) -> Float32Array | Float64Array:
        """Return the frames at which to evaluate a spline."""
        return _with_frames_beside_ends(self.frames, spline.frames) if self._needs_slopes(spline) else self.frames

    def _needs_slopes(self, spline: TrackSpline) -> bool:
        """Return whether there are samples outside the spline's keys that may be extrapolated."""
        is_longer = self.frames[0] < spline.frames[0] or self.frames[-1] > spline.frames[-1]
        return self.is_extrapolated and len(spline.frames) > 1 and bool(is_longer)


@record()
class RotationSamplePlan(Plan):
    """The plan that samples a rotation and converts the samples to channel values."""

    scope: Scope
    spline: TrackSpline
    frames: Float32Array
    """Frames of the samples and of the animator's keys."""
    is_extrapolated: bool
    """True if any component is extrapolated linearly outside its keys."""
    evaluated: Float64Array
    """Frames at which to evaluate the rotation: samples, keys, and additional samples for unwrapping angles."""
    rows: IndexArray
    """Rows of `frames` in `evaluated`."""
    key_rows: IndexArray
    """Rows of the spline's keys in `evaluated`."""

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return the spline with the frames at which to evaluate it."""
        unwrapping = Unwrapping(self.scope.track, self.spline.values[0], int(self.key_rows[0]))
        return [Evaluation(self.spline.spline, self.evaluated, unwrapping)]

    def compose(self, results: Results) -> ComposedKeys:
        """Compose keys from the samples, converted to channel values."""
        unwrapped = next(results.values)
        evaluated_values, maps = matched_with_keys(self.scope.track, self.spline, unwrapped, self.key_rows)
        if self._is_still:
            # Samples are unit quaternions or unit axes, but keys may have any length.
            evaluated_values[:] = self.spline.values[0]
        values = evaluated_values.take(self.rows, axis=0).T
        if self.is_extrapolated and len(self.spline.frames) > 1:
            slopes = slopes_at_ends(self.spline.frames, self.evaluated, evaluated_values.T)
            values = extrapolated(self.scope, self.spline, self.frames, values, slopes)
        keys = _linear_keys(self.scope, self.spline, self.frames, values, maps)
        return ComposedKeys(united_channel_keys(self.scope, keys))

    @property
    def _is_still(self) -> bool:
        """Return whether the orientation is constant and all keys have the same values."""
        key_values = self.spline.values
        if (key_values[:1] != key_values[1:]).any():
            return False
        quaternions = self.spline.spline(self.evaluated)
        return bool((np.abs(quaternions @ quaternions[0]) > 1.0 - _SAME).all())


def _parts(spline: TrackSpline, step: float) -> IndexArray:
    """Return, for each key, the number of parts into which to divide the following intervals to unwrap angles."""
    parts = np.ones(len(spline.frames), dtype=np.intp)
    if spline.turns is not None:
        mean_step = spline.turns / np.diff(spline.frames.astype(np.float64)) * step
        parts[:-1] = np.clip(np.ceil(_PEAK_SPEED * mean_step / LARGEST_STEP), 1, _MOST_PARTS)
    return parts


@memoized
def _rotation_frames(
    frames: Float32Array, keys: Float32Array, parts: IndexArray, is_extrapolated: bool
) -> tuple[Float64Array, IndexArray, IndexArray]:
    """Return the fields `evaluated`, `rows` and `key_rows` of `RotationSamplePlan`.

    The intervals between samples and keys are divided into the number of `parts` given for each key.
    """
    evaluated = np.unique(np.concatenate((frames, keys)).astype(np.float64))
    if is_extrapolated and len(keys) > 1:
        evaluated = _with_frames_beside_ends(evaluated.astype(np.float32), keys)
    if (parts > 1).any():
        count = parts[np.clip(np.searchsorted(keys, evaluated[:-1], side="right") - 1, 0, None)]
        start = np.repeat(evaluated[:-1], count)
        number_in_interval = np.arange(len(start)) - np.repeat(np.cumsum(count) - count, count)
        finer = start + np.repeat(np.diff(evaluated) / count, count) * number_in_interval
        evaluated = np.union1d(evaluated, finer)
    rows, key_rows = (np.searchsorted(evaluated, some.astype(np.float64)) for some in (frames, keys))
    return evaluated, rows, key_rows


def _with_frames_beside_ends(frames: Float32Array, keys: Float32Array) -> Float64Array:
    """Return the frames, and additional frames from which to compute the slopes at the first and last keys."""
    return np.unique(np.concatenate((frames, keys[[0, -1]], frames_beside_ends(keys))).astype(np.float64))


def _linear_keys(
    scope: Scope, spline: TrackSpline, frames: Float32Array, values: Float64Array, maps: Maps | None = None
) -> list[ComponentKeys]:
    """Return linear keys for a spline's components at the frames, with `values`, shape (components, n).

    The values of the animator's keys are written into `values`. `maps` contains factors and terms, shape (keys,
    components), that convert values of the spline's keys to channel values.
    """
    rows_of_keys, columns = _exact_rows(spline.frames, frames)
    key_values = spline.values if maps is None else maps.applied(spline.values)
    values[:, columns] = (key_values if len(rows_of_keys) == len(key_values) else key_values[rows_of_keys]).T
    result = []
    for rows, own_frames in by_own_frames(scope, spline.components):
        own_rows = slice(None) if len(own_frames) == len(spline.frames) else np.searchsorted(spline.frames, own_frames)
        own_maps = None if maps is None else Maps(*(numbers[own_rows][:, rows].T for numbers in maps))
        components = [spline.components[row] for row in rows]
        values_of_rows = values if len(rows) == len(values) else values[rows]
        keys = ComponentKeys(components, own_frames, spline, frames, values_of_rows, maps=own_maps)
        result.append(keys.take(keys.may_have(frames)) if spline.is_interrupted else keys)
    return result


@memoized
def _exact_rows(keys: Float32Array, frames: Float32Array) -> tuple[IndexArray, IndexArray]:
    """Return the rows of the keys whose exact frames are in `frames`, and the matching rows of `frames`."""
    rows = nearest_rows(keys, frames)
    exact = np.flatnonzero(frames[rows] == keys)
    return exact, rows[exact]
