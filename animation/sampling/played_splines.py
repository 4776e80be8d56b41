# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of F-curves in the segments of a track's splines, sampled as a fit of parameters needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...interp import rotations
from ...interp.fitting.tcb_parameters import SAMPLES, SplineToFit, sample_frames
from ...interp.splines import tcb
from ..bake.plans.own_motion import OwnChannels, own_motion
from ..bake.plans.rotations import quaternions_of
from ..bake.plans.track_splines import TrackSpline
from ..fcurves.keyframes import SAME_FRAME, Float32Array, Float64Array, IndexArray, Joined, union
from ..fcurves.segments import evaluate_beziers, is_plain
from ..records import record
from ..store.own_keys import OwnKeys
from ..store.tracks import Track

_NO_ROTATION = 1e-5
"""Float32 quaternions shorter than this do not determine a rotation."""


SplinesOfTrack = tuple[Track, OwnChannels, Sequence[TrackSpline]]
"""A track, and its splines, which have at least two keys and no segments that Blender plays."""


class SplineFrames(NamedTuple):
    """One of a track's splines, and frames between the spline's keys."""

    track: Track
    own: OwnChannels
    spline: TrackSpline
    frames: Float64Array


def played_parts(tracks: Sequence[SplinesOfTrack]) -> list[list[SplineToFit]]:
    """Return the splines of each track, with the values of its F-curves.

    The list is empty for a track whose values are not finite or do not represent a rotation.
    """
    samples = [
        SplineFrames(track, own, spline, sample_frames(spline.frames.astype(np.float64)).ravel())
        for track, own, splines in tracks
        for spline in splines
    ]
    channel_values = iter(_channel_values(samples))
    return [_splines_to_fit(of_track, [next(channel_values) for _ in of_track[2]]) for of_track in tracks]


def played_at(samples: Sequence[SplineFrames]) -> list[Float64Array]:
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


def _splines_to_fit(of_track: SplinesOfTrack, channel_values: Sequence[Float64Array]) -> list[SplineToFit]:
    """Return a track's splines with the played values, or an empty list if these values are unusable."""
    track, own, splines = of_track
    track_frames = union([keys.keys.frames for keys in own.values()])
    result = []
    for spline, channels in zip(splines, channel_values, strict=True):
        played = _finite_motion(track, channels)
        if played is None:
            return []
        samples = played.reshape(len(spline.frames) - 1, SAMPLES, -1)
        rows = np.searchsorted(track_frames, spline.frames - np.float32(SAME_FRAME))
        # The splines contain no segments that Blender plays.
        assert isinstance(spline.spline, (tcb.VectorSpline, tcb.RotationSpline))
        has_full_turns = isinstance(spline.spline, tcb.RotationSpline) and spline.spline.full_turns is not None
        angles = channels.reshape(*samples.shape[:2], -1) if has_full_turns else None
        result.append(SplineToFit(spline.spline, rows, samples, angles))
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


def _channel_values(samples: Sequence[SplineFrames]) -> list[Float64Array]:
    """Return the channel values at the frames of each spline, shape (m, components)."""
    result, channels = [], []
    for track, own, spline, spline_frames in samples:
        frames = spline_frames.astype(np.float32)
        values = np.empty((len(frames), len(spline.components)))
        for column, index in zip(values.T, spline.components, strict=True):
            if index in own:
                channels.append(_Channel(track, index, own[index], frames, column))
            else:
                column[:] = track.component(index)
        result.append(values)
    if channels:
        _evaluate(channels)
    return result


@record(eq=False)
class _Channel:
    """A channel, the frames at which its spline is sampled, and the array for the values."""

    track: Track
    index: int
    own: OwnKeys
    frames: Float32Array
    values: Float64Array

    @property
    def rows_before(self) -> IndexArray:
        """Return, for each frame, the row of the last key at or before it, or -1 before the first key."""
        return np.searchsorted(self.own.keys.frames, self.frames, side="right") - 1


def _evaluate(channels: Sequence[_Channel]) -> None:
    """Fill in the channel values. Plain Bezier segments are vectorized, and Blender evaluates all other segments."""
    keys = Joined.of([channel.own.keys for channel in channels])
    can_vectorize = is_plain(keys.keys)
    # Let Blender place the handles of edited keys.
    can_vectorize &= np.repeat([not channel.own.edited for channel in channels], keys.counts)
    can_vectorize[keys.starts + keys.counts - 1] = False
    rows = [channel.rows_before for channel in channels]
    begin = np.concatenate([start + np.maximum(before, 0) for start, before in zip(keys.starts, rows, strict=True)])
    is_vectorized = can_vectorize[begin] & (np.concatenate(rows) >= 0)
    frames = np.concatenate([channel.frames for channel in channels])
    values = np.empty(len(frames))
    values[is_vectorized] = evaluate_beziers(keys.keys, begin[is_vectorized], frames[is_vectorized])
    end = 0
    for channel in channels:
        start, end = end, end + len(channel.frames)
        channel.values[:] = values[start:end]
        is_left = ~is_vectorized[start:end]
        if is_left.any():
            channel.values[is_left] = own_motion(channel.track, channel.index, channel.own, channel.frames[is_left])
