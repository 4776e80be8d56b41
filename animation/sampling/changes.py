# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure by how much splines fitted to a track would change the motion of its F-curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...interp import SplineBatch, rotations
from ...interp.base_spline import Spline
from ...interp.fitting.tcb_parameters import FLOAT32, SAMPLES, SplineToFit, sample_frames
from ..bake.plans.own_motion import OwnChannels
from ..bake.plans.track_splines import TrackSpline
from ..fcurves.keyframes import Float64Array
from ..store.tracks import Track
from .played_splines import SplineFrames, played_at

_BETWEEN = np.delete(np.arange(0.5, 3 * SAMPLES), np.s_[1::3]) / (3 * SAMPLES)
"""Positions of additional samples in a segment, as fractions. Differences are smallest at the samples of the fit."""
_LEAST_RATIO = 0.2
"""A segment gets no additional samples if the ratio of its differences to the track's largest difference is below
this."""
_MAX_PEAKS = 4
"""Number of local maxima that are sampled again."""
_LEAST_PEAK_RATIO = 0.7
"""A local maximum is not sampled again if its ratio to the largest maximum is below this."""
_AROUND_PEAK = np.arange(1.0, 16.0) / 16.0
"""Positions of samples around a maximum, as fractions between the samples before and after it."""
_LARGE_ANGLE = 2.0
"""Difference in radians. Maxima close to half a turn are narrow."""
_STEP = 0.25
"""Frames between samples where a quaternion changes sign or the difference exceeds `_LARGE_ANGLE`."""
_MOST_SAMPLES = 200
"""Maximum number of samples in one such segment."""


@dataclass(eq=False)
class Look:
    """The splines of a track, the motion of its F-curves, and their maximum difference, found by `measure_changes`."""

    track: Track
    own: OwnChannels
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
            return np.nan_to_num(rotations.angle_between(values, played))
        differences: Float64Array = np.abs(values - played).max(axis=1)
        return differences

    def update(self, frames: Float64Array, differences: Float64Array) -> None:
        """If one of the differences exceeds the maximum difference, update the maximum."""
        worst = int(np.argmax(differences))
        if differences[worst] >= self.change:
            self.change, self.frame = float(differences[worst]), float(frames[worst])


def measure_changes(looks: Sequence[Look], fitted: Sequence[Sequence[Spline]]) -> None:
    """Measure, for each look, the differences between its fitted splines and the played motion.

    The motions are compared at the samples of the fit. Segments with large differences get additional samples,
    especially around the maxima. If the components of a quaternion change sign, the rotation may turn by 180 degrees
    within a frame, so the rotation is also compared every quarter of a frame.
    """
    batch = SplineBatch(spline for splines in fitted for spline in splines)
    compared = _compare_at_samples(looks, fitted, batch)
    _compare_at(compared, [_frames_between(spline) for spline in compared], batch)
    _compare_at(compared, _frames_around_peaks(compared), batch)


@dataclass(eq=False)
class _Compared:
    """A fitted spline of a look, with the differences found so far."""

    look: Look
    track_spline: TrackSpline
    keys: Float64Array
    """The frames of the spline's keys, shape (n,)."""
    rounding: Float64Array
    """Rounding errors of differences in the segment after each key, shape (n,). The last key repeats the last
    segment."""
    largest: Float64Array
    """The largest difference of each segment at the samples of the fit, shape (n - 1,)."""
    frames: Float64Array
    """The frames at which the motions were compared, shape (m,)."""
    differences: Float64Array
    """The differences at these frames, which are 0 within the rounding errors, shape (m,)."""


def _compare_at_samples(
    looks: Sequence[Look], fitted: Sequence[Sequence[Spline]], batch: SplineBatch
) -> list[_Compared]:
    """Compare all splines with the played motion at the samples of the fit, and store the results in the looks."""
    compared: list[_Compared] = []
    frames = [sample_frames(part.spline.keys.frames) for look in looks for part in look.parts]
    values = batch([spline_frames.ravel() for spline_frames in frames])
    samples = iter(zip(frames, values, strict=True))
    for look, splines in zip(looks, fitted, strict=True):
        segment_means: list[Float64Array] = []
        for track_spline, part, spline in zip(look.splines, look.parts, splines, strict=True):
            at, fitted_values = next(samples)
            played = part.samples.reshape(fitted_values.shape)
            rounding = _rounding(look.track, part, at)
            differences = look.differences(played, fitted_values).reshape(at.shape)
            differences[differences <= rounding] = 0.0
            look.update(at.ravel(), differences.ravel())
            segment_means.append(differences.mean(axis=1))
            by_segment = rounding.max(axis=1)
            compared.append(
                _Compared(
                    look,
                    track_spline,
                    spline.keys.frames,
                    rounding=np.append(by_segment, by_segment[-1]),
                    largest=differences.max(axis=1),
                    frames=at.ravel(),
                    differences=differences.ravel(),
                )
            )
            if not look.track.is_rotation:
                values_and_samples = np.concatenate([part.spline.keys.values, played])
                look.spread = max(look.spread, float(np.ptp(values_and_samples, axis=0).max()))
        look.mean = float(np.concatenate(segment_means).mean())
    return compared


def _rounding(track: Track, part: SplineToFit, frames: Float64Array) -> Float64Array:
    """Return the rounding errors of differences at the frames. Errors and frames have the shape (segments, samples).

    The errors come from float32 values and, where values change, also from float32 frames of keys, handles and samples.
    """
    changes = np.diff(part.samples, axis=1)
    # The chord between two quaternions is half as long as the rotation angle.
    per_chord = 2.0 if track.is_rotation else 1.0
    changes = per_chord * (np.linalg.norm(changes, axis=2) if track.is_rotation else np.abs(changes).max(axis=2))
    speed = (changes / np.diff(frames, axis=1)).max(axis=1, keepdims=True)
    # A fit ends when its mean error is within the rounding error.
    rounding: Float64Array = (
        2.0 * FLOAT32 * per_chord * np.abs(part.samples).max() + np.spacing(frames.astype(np.float32)) * speed
    )
    return rounding


def _compare_at(compared: Sequence[_Compared], frames: Sequence[Float64Array], batch: SplineBatch) -> None:
    """Compare each spline with the played motion at additional frames, and store the results in its look."""
    played = played_at(
        [
            SplineFrames(spline.look.track, spline.look.own, spline.track_spline, at)
            for spline, at in zip(compared, frames, strict=True)
        ]
    )
    for spline, at, played_values, fitted_values in zip(compared, frames, played, batch(frames), strict=True):
        if not len(at):
            continue
        differences = spline.look.differences(played_values, fitted_values)
        segment = np.searchsorted(spline.keys, at, side="right") - 1
        differences[differences <= spline.rounding[segment]] = 0.0
        spline.look.update(at, differences)
        spline.frames = np.concatenate((spline.frames, at))
        spline.differences = np.concatenate((spline.differences, differences))


def _frames_between(compared: _Compared) -> Float64Array:
    """Return additional frames, in the segments that may contain the maximum difference."""
    keys, largest = compared.keys, compared.largest
    is_large = (largest >= _LEAST_RATIO * compared.look.change) & (largest > 0.0)
    frames = [(keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * _BETWEEN)[is_large].ravel()]
    if compared.look.track.is_rotation:
        needs_steps = largest > _LARGE_ANGLE
        if compared.look.track.kind == "QUATERNION":
            values = compared.track_spline.values
            needs_steps |= np.einsum("ij,ij->i", values[1:], values[:-1]) < 0.0
        for row in np.flatnonzero(needs_steps):
            step = max(_STEP, (keys[row + 1] - keys[row]) / _MOST_SAMPLES)
            frames.append(np.arange(np.ceil(keys[row] / step), np.floor(keys[row + 1] / step) + 1.0) * step)
    return np.concatenate(frames)


def _frames_around_peaks(compared: Sequence[_Compared]) -> list[Float64Array]:
    """Return frames around the highest local maxima of each look, for each spline."""
    peaks: dict[int, list[tuple[float, int, Float64Array]]] = {}
    for number, spline in enumerate(compared):
        order = np.argsort(spline.frames, kind="stable")
        bounds = np.concatenate((spline.keys[:1], spline.frames[order], spline.keys[-1:]))
        heights = np.concatenate(([0.0], spline.differences[order], [0.0]))
        is_peak = (heights[1:-1] >= heights[:-2]) & (heights[1:-1] > heights[2:])
        is_peak &= heights[1:-1] >= _LEAST_PEAK_RATIO * spline.look.change
        for row in np.flatnonzero(is_peak).tolist():
            around = bounds[row] + (bounds[row + 2] - bounds[row]) * _AROUND_PEAK
            peaks.setdefault(id(spline.look), []).append((float(heights[row + 1]), number, around))
    result = [[np.empty(0)] for _ in compared]
    for peaks_of_look in peaks.values():
        for _, number, around in sorted(peaks_of_look, key=lambda peak: -peak[0])[:_MAX_PEAKS]:
            result[number].append(around)
    return list(map(np.concatenate, result))
