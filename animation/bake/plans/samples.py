# SPDX-License-Identifier: GPL-3.0-or-later
"""The SAMPLES output: linear keys on the splines, at regular intervals and at the animator's keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....interp.rotations.equivalent import Maps
from ...fcurves.keyframes import Float32Array, Float64Array, IndexArray
from ...memoize import memoized
from ...records import record
from .component_keys import (
    FOLLOWED,
    ComponentKeys,
    alike,
    continuous,
    extrapolated,
    frames_aside,
    goes_on,
    slopes_at_ends,
    together,
)
from .protocol import Baked, Evaluation, Plan, Results, Scope, Unwrapping
from .sample_frames import nearest_rows, united
from .splines import TrackSpline

_FASTER = 3.0
"""Assumed maximum ratio of the peak to the mean angular speed between two keys."""
_MOST_PARTS = 64
_SAME = 1e-14
"""Unit quaternions whose dot product differs from 1 by less than this have the same orientation."""


def plan_samples(scope: Scope, splines: Sequence[TrackSpline]) -> list[Plan]:
    """Return the plan for a track's splines, which must contain channel values at the keys."""
    is_extrapolated = goes_on(scope, splines)
    each = [scope.sampling.with_keys(spline.frames, scope.cycle, is_extrapolated) for spline in splines]
    frames = each[0] if len(splines) == 1 else united([spline.frames for spline in splines], each)
    if not scope.track.is_rotation:
        return [ValueSamples(scope, splines, frames, is_extrapolated)]
    (spline,) = splines
    at, rows, key_rows = _rotation_frames(frames, spline.frames, _parts(spline, scope.sampling.step), is_extrapolated)
    return [RotationSamples(scope, spline, frames, is_extrapolated, at=at, rows=rows, key_rows=key_rows)]


@record()
class ValueSamples(Plan):
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
        return [Evaluation(spline.spline, self._evaluated(spline)) for spline in self.splines]

    def _evaluated(self, spline: TrackSpline) -> Float32Array | Float64Array:
        """Return the frames at which to evaluate a spline."""
        return _with_aside(self.frames, spline.frames) if self._goes_beyond(spline) else self.frames

    def _goes_beyond(self, spline: TrackSpline) -> bool:
        """Return whether there are samples outside the spline's keys that may be extrapolated."""
        is_longer = self.frames[0] < spline.frames[0] or self.frames[-1] > spline.frames[-1]
        return self.is_extrapolated and len(spline.frames) > 1 and bool(is_longer)

    def compose(self, results: Results) -> Baked:
        """Compose the keys of all components."""
        keys: list[ComponentKeys] = []
        for spline in self.splines:
            values = next(results.values).T
            if self._goes_beyond(spline):
                at = _with_aside(self.frames, spline.frames)
                slopes = slopes_at_ends(at, values, spline.frames)
                values = values[:, np.searchsorted(at, self.frames.astype(np.float64))]
                values = extrapolated(self.scope, spline, values, self.frames, slopes)
            keys += _component_keys(self.scope, spline, self.frames, values)
        return Baked(together(self.scope, keys))


def _with_aside(frames: Float32Array, keys: Float32Array) -> Float64Array:
    """Return the frames, and additional frames from which to compute the slopes at the first and last keys."""
    return np.unique(np.concatenate((frames, keys[[0, -1]], frames_aside(keys))).astype(np.float64))


def _component_keys(
    scope: Scope,
    spline: TrackSpline,
    frames: Float32Array,
    values: Float64Array,
    maps: Maps | None = None,
) -> list[ComponentKeys]:
    """Return linear keys for a spline's components at the frames, with `values`, shape (components, n).

    The values of the animator's keys are written into `values`. `maps` contains factors and terms, shape (keys,
    components), that convert values of the spline's keys to channel values.
    """
    exact, columns = _exact_rows(spline.frames, frames)
    numbers = spline.values if maps is None else maps.applied(spline.values)
    values[:, columns] = (numbers if len(exact) == len(numbers) else numbers[exact]).T
    result = []
    for rows, own in alike(scope, spline.components):
        at = slice(None) if len(own) == len(spline.frames) else np.searchsorted(spline.frames, own)
        own_maps = None if maps is None else Maps(*(each[at][:, rows].T for each in maps))
        components = [spline.components[row] for row in rows]
        values_of_rows = values if len(rows) == len(values) else values[rows]
        keys = ComponentKeys(components, own, spline, frames, values_of_rows, maps=own_maps)
        result.append(keys.take(keys.may_have(frames)) if spline.is_broken else keys)
    return result


@memoized
def _exact_rows(keys: Float32Array, frames: Float32Array) -> tuple[IndexArray, IndexArray]:
    """Return the rows of the keys whose exact frames are in `frames`, and the matching rows of `frames`."""
    rows = nearest_rows(keys, frames)
    exact = np.flatnonzero(frames[rows] == keys)
    return exact, rows[exact]


@record()
class RotationSamples(Plan):
    """The plan that samples a rotation and converts the samples to channel values."""

    scope: Scope
    spline: TrackSpline
    frames: Float32Array
    """Frames of the samples and of the animator's keys."""
    is_extrapolated: bool
    at: Float64Array
    """Frames at which to evaluate the rotation."""
    rows: IndexArray
    """Rows of `frames` in `at`."""
    key_rows: IndexArray
    """Rows of the spline's keys in `at`."""

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return the spline with the frames of samples, of keys, and of additional samples for unwrapping angles."""
        unwrapping = Unwrapping(self.scope.track, self.spline.values[0], int(self.key_rows[0]))
        return [Evaluation(self.spline.spline, self.at, unwrapping)]

    def compose(self, results: Results) -> Baked:
        """Compose keys from the samples, converted to channel values."""
        numbers, maps = continuous(self.scope.track, self.spline, next(results.values), self.key_rows)
        if self._stands_still:
            # Samples are unit quaternions or unit axes, but keys may have any length.
            numbers[:] = self.spline.values[0]
        values = numbers.take(self.rows, axis=0).T
        if self.is_extrapolated and len(self.spline.frames) > 1:
            slopes = slopes_at_ends(self.at, numbers.T, self.spline.frames)
            values = extrapolated(self.scope, self.spline, values, self.frames, slopes)
        return Baked(together(self.scope, _component_keys(self.scope, self.spline, self.frames, values, maps)))

    @property
    def _stands_still(self) -> bool:
        """Return whether the orientation is constant and all keys have the same values."""
        keys = self.spline.values
        if (keys[:1] != keys[1:]).any():
            return False
        quaternions = self.spline.spline(self.at)
        return bool((np.abs(quaternions @ quaternions[0]) > 1.0 - _SAME).all())


def _parts(spline: TrackSpline, step: float) -> IndexArray:
    """Return, for each key, the number of subdivisions needed between the following samples to unwrap angles."""
    parts = np.ones(len(spline.frames), dtype=np.intp)
    if spline.turns is not None:
        mean = spline.turns / np.diff(spline.frames.astype(np.float64)) * step
        parts[:-1] = np.clip(np.ceil(_FASTER * mean / FOLLOWED), 1, _MOST_PARTS)
    return parts


@memoized
def _rotation_frames(
    frames: Float32Array, keys: Float32Array, parts: IndexArray, is_extrapolated: bool
) -> tuple[Float64Array, IndexArray, IndexArray]:
    """Return the fields `at`, `rows` and `key_rows` of `RotationSamples`.

    The intervals between samples and keys are divided into the number of `parts` given for each key.
    """
    at = np.unique(np.concatenate((frames, keys)).astype(np.float64))
    if is_extrapolated and len(keys) > 1:
        at = _with_aside(at.astype(np.float32), keys)
    if (parts > 1).any():
        count = parts[np.clip(np.searchsorted(keys, at[:-1], side="right") - 1, 0, None)]
        start = np.repeat(at[:-1], count)
        number = np.arange(len(start)) - np.repeat(np.cumsum(count) - count, count)
        finer = start + np.repeat(np.diff(at) / count, count) * number
        at = np.union1d(at, finer)
    rows, key_rows = (np.searchsorted(at, each.astype(np.float64)) for each in (frames, keys))
    return at, rows, key_rows
