# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the largest difference between a track's splines and the motion of its F-curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...interp import SplineBatch, rotations
from ...interp.base_spline import Spline
from ...interp.fitting.tcb_parameters import FLOAT32, SAMPLES, SplineToFit, sample_frames
from ..bake.plans.splines import TrackSpline, last_place
from ..fcurves.keyframes import Float64Array
from ..store.own_keys import OwnKeys
from ..store.tracks import Track
from .fcurves import played_at

_BETWEEN = np.delete(np.arange(0.5, 3 * SAMPLES), np.s_[1::3]) / (3 * SAMPLES)
"""Positions of additional samples in a segment, as fractions. Differences are smallest at the samples of the fit."""
_SHARE = 0.2
"""A segment gets no additional samples if the ratio of its differences to the track's largest difference is below
this."""
_TOPS = 4
"""Number of local maxima that are sampled again."""
_TOP_SHARE = 0.7
"""A local maximum is not sampled again if its ratio to the largest maximum is below this."""
_AROUND = np.arange(1.0, 16.0) / 16.0
"""Positions of samples around a maximum, as fractions between the samples before and after it."""
_FAR = 2.0
"""Difference in radians."""
_STEP = 0.25
"""Frames between samples where a quaternion changes sign or the difference exceeds `_FAR`."""
_MOST_SAMPLES = 200
"""Maximum number of samples in one such segment."""


@dataclass(eq=False)
class Look:
    """The splines of a track, the motion of its F-curves, and their maximum difference, found by `measure_changes`."""

    track: Track
    originals: Mapping[int, OwnKeys]
    splines: Sequence[TrackSpline]
    parts: Sequence[SplineToFit]
    """The current motion, for each spline."""
    change: float = 0.0
    """The maximum difference. For rotations, an angle in radians."""
    frame: float = 0.0
    """The frame of the maximum difference."""
    mean: float = 0.0
    """The mean difference at the samples of the fit."""
    spread: float = 0.0
    """The range of the values, or 0 for rotations."""

    def differences(self, played: Float64Array, values: Float64Array) -> Float64Array:
        """Return the differences at the samples, shape (m,), which are 0 where the motion is unknown."""
        if self.track.is_rotation:
            return _angles(values, played)
        largest: Float64Array = np.abs(values - played).max(axis=1)
        return largest

    def take(self, frames: Float64Array, differences: Float64Array) -> None:
        """If one of the differences exceeds the maximum difference, update the maximum."""
        worst = int(np.argmax(differences))
        if differences[worst] >= self.change:
            self.change, self.frame = float(differences[worst]), float(frames[worst])


@dataclass(eq=False)
class _Compared:
    """A fitted spline of a look, and the rounding error of differences in the segment after each key."""

    look: Look
    own: TrackSpline
    keys: Float64Array
    """The frames of the spline's keys."""
    rounding: Float64Array
    """Rounding errors by key, shape (n,). The last key repeats the value of the last segment."""


def measure_changes(looks: Sequence[Look], fitted: Sequence[Sequence[Spline]]) -> None:
    """Measure, for each look, the differences between its fitted splines and the played motion.

    The motions are compared at the samples of the fit. Segments with large differences get additional samples,
    especially around the maxima. If the components of a quaternion change sign, the rotation may turn by 180 degrees
    within a frame, so the rotation is also compared every quarter of a frame.
    """
    every: list[_Compared] = []
    found: list[tuple[Float64Array, Float64Array]] = []
    frames = [sample_frames(part.spline.keys.frames) for look in looks for part in look.parts]
    batch = SplineBatch(spline for own in fitted for spline in own)
    values = batch([each.ravel() for each in frames])
    measured = iter(zip(frames, values, strict=True))
    for look, splines in zip(looks, fitted, strict=True):
        segments: list[Float64Array] = []
        for own, part, spline in zip(look.splines, look.parts, splines, strict=True):
            at, value = next(measured)
            rounding = _rounding(look.track, part, at)
            difference = look.differences(part.samples.reshape(value.shape), value).reshape(at.shape)
            difference[difference <= rounding] = 0.0
            look.take(at.ravel(), difference.ravel())
            segments.append(difference.mean(axis=1))
            largest = rounding.max(axis=1)
            every.append(_Compared(look, own, spline.keys.frames, np.append(largest, largest[-1])))
            found.append((at, difference))
            if not look.track.is_rotation:
                numbers = np.concatenate([part.spline.keys.values, part.samples.reshape(value.shape)])
                look.spread = max(look.spread, float(np.ptp(numbers, axis=0).max()))
        look.mean = float(np.concatenate(segments).mean())
    further = [_further(compared, *each) for compared, each in zip(every, found, strict=True)]
    differences = _differences(every, batch, further)
    around = _around_tops(
        every,
        [np.concatenate([one.ravel(), two]) for (one, _), two in zip(found, further, strict=True)],
        [np.concatenate([one.ravel(), two]) for (_, one), two in zip(found, differences, strict=True)],
    )
    _differences(every, batch, around)


def _differences(every: Sequence[_Compared], batch: SplineBatch, frames: Sequence[Float64Array]) -> list[Float64Array]:
    """Measure the differences at additional frames of each spline, and store the largest in the spline's look."""
    played = played_at(
        [(each.look.track, each.look.originals, each.own, at) for each, at in zip(every, frames, strict=True)]
    )
    values = batch(frames)
    turned = [row for row, each in enumerate(every) if each.look.track.is_rotation]
    angles: Iterator[Float64Array] = iter(())
    if turned:
        # One NumPy call for all splines is faster than one call for each spline.
        joined = _angles(*(np.concatenate([of[row] for row in turned]) for of in (values, played)))
        angles = iter(np.split(joined, np.cumsum([len(frames[row]) for row in turned])[:-1]))
    result = []
    for each, at, now, value in zip(every, frames, played, values, strict=True):
        difference = next(angles) if each.look.track.is_rotation else np.abs(value - now).max(axis=1)
        if len(at):
            difference[difference <= each.rounding[np.searchsorted(each.keys, at, side="right") - 1]] = 0.0
            each.look.take(at, difference)
        result.append(difference)
    return result


def _angles(values: Float64Array, played: Float64Array) -> Float64Array:
    """Return the angles between rotations, or 0 where the motion is unknown."""
    return np.nan_to_num(rotations.angle_between(values, played))


def _further(compared: _Compared, frames: Float64Array, differences: Float64Array) -> Float64Array:
    """Return additional frames, in the segments that may contain the maximum difference."""
    keys, largest = compared.keys, differences.max(axis=1)
    chosen = largest >= max(_SHARE * compared.look.change, 1e-300)
    further = [(keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * _BETWEEN)[chosen].ravel()]
    if compared.look.track.is_rotation:
        # Maxima close to half a turn are narrow.
        searched = largest > _FAR
        if compared.look.track.kind == "QUATERNION":
            values = compared.own.values
            searched |= np.einsum("ij,ij->i", values[1:], values[:-1]) < 0.0
        for row in np.flatnonzero(searched):
            step = max(_STEP, (keys[row + 1] - keys[row]) / _MOST_SAMPLES)
            further.append(np.arange(np.ceil(keys[row] / step), np.floor(keys[row + 1] / step) + 1.0) * step)
    return np.concatenate(further)


def _around_tops(
    every: Sequence[_Compared], frames: Sequence[Float64Array], sizes: Sequence[Float64Array]
) -> list[Float64Array]:
    """Return frames around the largest local maxima of each spline's differences."""
    if not every:
        return []
    looks = {id(each.look): place for place, each in enumerate(every)}
    owner = np.repeat(np.arange(len(every)), [len(each) for each in frames])
    at, size = np.concatenate(frames), np.concatenate(sizes)
    order = np.lexsort((at, owner))
    owner, at, size = owner[order], at[order], size[order]
    bounds = np.array([each.keys[[0, -1]] for each in every])
    same = owner[1:] == owner[:-1]
    before, after = np.append(False, same), np.append(same, False)
    low = np.where(before, np.roll(at, 1), bounds[owner, 0])
    high = np.where(after, np.roll(at, -1), bounds[owner, 1])
    look = np.array([looks[id(each.look)] for each in every])[owner]
    largest = np.array([each.look.change for each in every])[owner]
    is_top = (size >= np.where(before, np.roll(size, 1), 0.0)) & (size > np.where(after, np.roll(size, -1), 0.0))
    tops = np.flatnonzero(is_top & (size >= _TOP_SHARE * largest))
    tops = tops[np.lexsort((-size[tops], look[tops]))]
    first = np.searchsorted(look[tops], look[tops])
    tops = np.sort(tops[np.arange(len(tops)) - first < _TOPS])
    near = low[tops, np.newaxis] + (high - low)[tops, np.newaxis] * _AROUND
    shares = np.searchsorted(owner[tops], np.arange(len(every) + 1)).tolist()
    return [near[start:stop].ravel() for start, stop in pairwise(shares)]


def _rounding(track: Track, part: SplineToFit, frames: Float64Array) -> Float64Array:
    """Return the rounding errors of differences at the frames. Errors and frames have the shape (segments, samples).

    The errors come from float32 values and, where values change, also from float32 frames of keys, handles and samples.
    """
    steps = np.diff(part.samples, axis=1)
    # The chord between two quaternions is half as long as the rotation angle.
    size = 2.0 if track.is_rotation else 1.0
    steps = size * (np.linalg.norm(steps, axis=2) if track.is_rotation else np.abs(steps).max(axis=2))
    speed = (steps / np.diff(frames, axis=1)).max(axis=1, keepdims=True)
    # A fit ends when its mean error is within the rounding error.
    rounding: Float64Array = 2.0 * FLOAT32 * size * np.abs(part.samples).max() + last_place(frames) * speed
    return rounding
