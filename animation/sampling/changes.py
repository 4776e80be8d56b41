# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the largest difference between a track's splines and the motion of its F-curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise

import numpy as np

from ...interp import SplineBatch, rotations
from ...interp.base_spline import Spline
from ...interp.fitting.tcb_parameters import FLOAT32, SAMPLES, SplineToFit, sample_frames
from ...interp.splines import tcb
from ..bake.plans.own_motion import own_motion
from ..bake.plans.rotation_channels import quaternions_of, walk_of
from ..bake.plans.track_splines import TrackSpline
from ..fcurves import segments
from ..fcurves.frames import SAME_FRAME, union
from ..fcurves.keyframes import Float32Array, Float64Array, IndexArray, Joined
from ..records import record
from ..store.own_keys import OwnKeys
from ..store.tracks import Track

_Splines = tuple[Track, Mapping[int, OwnKeys], Sequence[TrackSpline]]
"""A track, the animator's keys, and its splines of at least two keys, without segments that Blender plays."""
_SplineFrames = tuple[Track, Mapping[int, OwnKeys], TrackSpline, Float64Array]
"""A track, the animator's keys, one of its splines, and frames between the spline's keys."""
_NO_ROTATION = 1e-5
"""Float32 quaternions shorter than this do not determine a rotation."""


def played_parts(tracks: Sequence[_Splines]) -> list[list[SplineToFit]]:
    """Return the splines of each track, with the values of its F-curves.

    The list is empty for a track whose values are not finite or do not represent a rotation.
    """
    samples = [
        (track, originals, spline, sample_frames(spline.frames.astype(np.float64)).ravel())
        for track, originals, splines in tracks
        for spline in splines
    ]
    channel_values = iter(_channel_values(samples))
    return [
        _splines_to_fit(track, originals, splines, [next(channel_values) for _ in splines])
        for track, originals, splines in tracks
    ]


def played_at(samples: Sequence[_SplineFrames]) -> list[Float64Array]:
    """Return the F-curves' motion at the frames of each spline: values (m, components) or unit quaternions (m, 4).

    The result is NaN where the values do not represent a rotation.
    """
    played = []
    for (track, *_), channel_values in zip(samples, _channel_values(samples), strict=True):
        if not track.is_rotation:
            played.append(channel_values)
            continue
        quaternions = quaternions_of(track, channel_values)
        length = np.linalg.norm(quaternions, axis=1, keepdims=True)
        played.append(quaternions / np.where(length > _NO_ROTATION, length, np.nan))
    return played


def _splines_to_fit(
    track: Track,
    originals: Mapping[int, OwnKeys],
    splines: Sequence[TrackSpline],
    channel_values: Sequence[Float64Array],
) -> list[SplineToFit]:
    """Return a track's splines with the played values, or an empty list if these values are unusable."""
    track_frames = union([original.keys.frames for original in originals.values()])
    result = []
    for spline, channels in zip(splines, channel_values, strict=True):
        played = _finite_motion(track, channels)
        if played is None:
            return []
        samples = played.reshape(len(spline.frames) - 1, SAMPLES, -1)
        rows = np.searchsorted(track_frames, spline.frames - np.float32(SAME_FRAME))
        # The splines contain no segments that Blender plays.
        assert isinstance(spline.spline, (tcb.VectorSpline, tcb.RotationSpline))
        result.append(SplineToFit(spline.spline, rows, samples, _walk(track, spline, channels)))
    return result


def _finite_motion(track: Track, channels: Float64Array) -> Float64Array | None:
    """Return the values, or unit quaternions for rotations.

    Return None if the values are not finite or do not represent a rotation.
    """
    if not track.is_rotation:
        return channels if np.isfinite(channels).all() else None
    quaternions = quaternions_of(track, channels)
    if not (quaternions.any(axis=1).all() and np.isfinite(quaternions).all()):
        return None
    return rotations.normalise(quaternions)


def _walk(track: Track, spline: TrackSpline, channels: Float64Array) -> Float64Array | None:
    """Return the rotation from the last key to each sample as changes in angles, shape (n - 1, SAMPLES, 3)."""
    if track.kind not in ("EULER", "AXIS_ANGLE") or spline.turns is None:
        return None
    samples = channels.reshape(len(spline.frames) - 1, SAMPLES, -1)
    from_keys = np.concatenate((spline.values[:-1, np.newaxis], samples), axis=1)
    # The change from a segment's last sample to the next key is not needed.
    walk = walk_of(track, from_keys.reshape(-1, from_keys.shape[2]))
    walk = np.append(walk, np.zeros((1, 3)), axis=0).reshape(len(samples), SAMPLES + 1, 3)
    return np.cumsum(walk[:, :-1], axis=1)


@record(eq=False)
class _Channel:
    """A channel, the frames at which its spline is sampled, and the array for the values."""

    track: Track
    index: int
    original: OwnKeys
    frames: Float32Array
    values: Float64Array

    @property
    def rows_before(self) -> IndexArray:
        """Return, for each frame, the row of the last key at or before it, or -1 before the first key."""
        return np.searchsorted(self.original.keys.frames, self.frames, side="right") - 1


def _channel_values(samples: Sequence[_SplineFrames]) -> list[Float64Array]:
    """Return the channel values at the frames of each spline, shape (m, components)."""
    result, channels = [], []
    for track, originals, spline, spline_frames in samples:
        frames = spline_frames.astype(np.float32)
        values = np.empty((len(frames), len(spline.components)))
        for column, index in zip(values.T, spline.components, strict=True):
            original = originals.get(index)
            if original is None:
                column[:] = track.component(index)
            else:
                channels.append(_Channel(track, index, original, frames, column))
        result.append(values)
    if channels:
        _evaluate(channels)
    return result


def _evaluate(channels: Sequence[_Channel]) -> None:
    """Fill in the channel values. Plain Bezier segments are vectorized, and Blender evaluates all other segments."""
    keys = Joined.of([channel.original.keys for channel in channels])
    is_plain = segments.is_plain(keys.keys)
    # Let Blender place the handles of edited keys.
    is_plain &= np.repeat([not channel.original.edited for channel in channels], keys.counts)
    is_plain[keys.starts + keys.counts - 1] = False
    rows = [channel.rows_before for channel in channels]
    begin = np.concatenate([start + np.maximum(before, 0) for start, before in zip(keys.starts, rows, strict=True)])
    is_vectorized = is_plain[begin] & (np.concatenate(rows) >= 0)
    frames = np.concatenate([channel.frames for channel in channels])
    values = np.empty(len(frames))
    values[is_vectorized] = segments.evaluate_beziers(keys.keys, begin[is_vectorized], frames[is_vectorized])
    end = 0
    for channel in channels:
        start, end = end, end + len(channel.frames)
        channel.values[:] = values[start:end]
        is_left = ~is_vectorized[start:end]
        if is_left.any():
            channel.values[is_left] = own_motion(
                channel.track, channel.index, channel.original, channel.frames[is_left]
            )


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
        differences: Float64Array = np.abs(values - played).max(axis=1)
        return differences

    def update(self, frames: Float64Array, differences: Float64Array) -> None:
        """If one of the differences exceeds the maximum difference, update the maximum."""
        worst = int(np.argmax(differences))
        if differences[worst] >= self.change:
            self.change, self.frame = float(differences[worst]), float(frames[worst])


@dataclass(eq=False)
class _Compared:
    """A fitted spline of a look, with its differences at the samples of the fit."""

    look: Look
    track_spline: TrackSpline
    keys: Float64Array
    """The frames of the spline's keys, shape (n,)."""
    rounding: Float64Array
    """Rounding errors of differences in the segment after each key, shape (n,). The last key repeats the last
    segment."""
    frames: Float64Array
    """The frames of the samples, shape (segments, samples)."""
    differences: Float64Array
    """The differences at the samples, which are 0 within the rounding errors, shape (segments, samples)."""


def measure_changes(looks: Sequence[Look], fitted: Sequence[Sequence[Spline]]) -> None:
    """Measure, for each look, the differences between its fitted splines and the played motion.

    The motions are compared at the samples of the fit. Segments with large differences get additional samples,
    especially around the maxima. If the components of a quaternion change sign, the rotation may turn by 180 degrees
    within a frame, so the rotation is also compared every quarter of a frame.
    """
    batch = SplineBatch(spline for splines in fitted for spline in splines)
    compared = _compare_at_samples(looks, fitted, batch)
    between = [_frames_between(spline) for spline in compared]
    differences = _differences(compared, batch, between)
    peaks = _frames_around_peaks(
        compared,
        [np.concatenate([spline.frames.ravel(), more]) for spline, more in zip(compared, between, strict=True)],
        [
            np.concatenate([spline.differences.ravel(), more])
            for spline, more in zip(compared, differences, strict=True)
        ],
    )
    _differences(compared, batch, peaks)


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
            largest = rounding.max(axis=1)
            by_key = np.append(largest, largest[-1])
            compared.append(_Compared(look, track_spline, spline.keys.frames, by_key, at, differences))
            if not look.track.is_rotation:
                values_and_samples = np.concatenate([part.spline.keys.values, played])
                look.spread = max(look.spread, float(np.ptp(values_and_samples, axis=0).max()))
        look.mean = float(np.concatenate(segment_means).mean())
    return compared


def _differences(
    compared: Sequence[_Compared], batch: SplineBatch, frames: Sequence[Float64Array]
) -> list[Float64Array]:
    """Measure the differences at additional frames of each spline, and store the largest in the spline's look."""
    played = played_at(
        [
            (spline.look.track, spline.look.originals, spline.track_spline, at)
            for spline, at in zip(compared, frames, strict=True)
        ]
    )
    values = batch(frames)
    is_rotation = [spline.look.track.is_rotation for spline in compared]
    angles = _angles_of_splines(list(compress(values, is_rotation)), list(compress(played, is_rotation)))
    result = []
    for spline, at, played_values, fitted_values in zip(compared, frames, played, values, strict=True):
        if spline.look.track.is_rotation:
            differences = next(angles)
        else:
            differences = np.abs(fitted_values - played_values).max(axis=1)
        if len(at):
            segment = np.searchsorted(spline.keys, at, side="right") - 1
            differences[differences <= spline.rounding[segment]] = 0.0
            spline.look.update(at, differences)
        result.append(differences)
    return result


def _angles_of_splines(values: Sequence[Float64Array], played: Sequence[Float64Array]) -> Iterator[Float64Array]:
    """Yield the angles of each spline. One NumPy call for all splines is faster than one call for each spline."""
    if values:
        ends = np.cumsum([len(spline_values) for spline_values in values])[:-1]
        yield from np.split(_angles(np.concatenate(values), np.concatenate(played)), ends)


def _angles(values: Float64Array, played: Float64Array) -> Float64Array:
    """Return the angles between rotations, or 0 where the motion is unknown."""
    return np.nan_to_num(rotations.angle_between(values, played))


def _frames_between(compared: _Compared) -> Float64Array:
    """Return additional frames, in the segments that may contain the maximum difference."""
    keys, largest = compared.keys, compared.differences.max(axis=1)
    is_large = largest >= max(_LEAST_RATIO * compared.look.change, 1e-300)
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


def _frames_around_peaks(
    compared: Sequence[_Compared], frames: Sequence[Float64Array], differences: Sequence[Float64Array]
) -> list[Float64Array]:
    """Return frames around the largest local maxima of each spline's differences."""
    if not compared:
        return []
    spline = np.repeat(np.arange(len(compared)), [len(at) for at in frames])
    frame, difference = np.concatenate(frames), np.concatenate(differences)
    order = np.lexsort((frame, spline))
    spline, frame, difference = spline[order], frame[order], difference[order]
    bounds = np.array([compared_spline.keys[[0, -1]] for compared_spline in compared])
    is_same = spline[1:] == spline[:-1]
    has_previous, has_next = np.append(False, is_same), np.append(is_same, False)
    low = np.where(has_previous, np.roll(frame, 1), bounds[spline, 0])
    high = np.where(has_next, np.roll(frame, -1), bounds[spline, 1])
    is_peak = (difference >= np.where(has_previous, np.roll(difference, 1), 0.0)) & (
        difference > np.where(has_next, np.roll(difference, -1), 0.0)
    )
    largest = np.array([compared_spline.look.change for compared_spline in compared])[spline]
    peaks = np.flatnonzero(is_peak & (difference >= _LEAST_PEAK_RATIO * largest))
    peaks = _highest_of_looks(compared, spline, difference, peaks)
    around = low[peaks, np.newaxis] + (high - low)[peaks, np.newaxis] * _AROUND_PEAK
    ends = np.searchsorted(spline[peaks], np.arange(len(compared) + 1)).tolist()
    return [around[start:stop].ravel() for start, stop in pairwise(ends)]


def _highest_of_looks(
    compared: Sequence[_Compared], spline: IndexArray, difference: Float64Array, peaks: IndexArray
) -> IndexArray:
    """Return the highest peaks of each look, at most `_MAX_PEAKS`, in ascending order.

    `spline` and `difference` belong to all samples, and `peaks` contains indices of samples.
    """
    look_numbers = {id(compared_spline.look): number for number, compared_spline in enumerate(compared)}
    look = np.array([look_numbers[id(compared_spline.look)] for compared_spline in compared])[spline]
    peaks = peaks[np.lexsort((-difference[peaks], look[peaks]))]
    first_of_look = np.searchsorted(look[peaks], look[peaks])
    return np.sort(peaks[np.arange(len(peaks)) - first_of_look < _MAX_PEAKS])


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
