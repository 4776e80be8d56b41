# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample a track's F-curves between keys, for comparison with the track's splines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...interp import rotations
from ...interp.fitting.tcb_parameters import SAMPLES, SplineToFit, sample_frames
from ...interp.splines import tcb
from ..bake.plans.splines import TrackSpline, own_motion, quaternions_of, walk_of
from ..fcurves import beziers
from ..fcurves.frames import SAME_FRAME, union
from ..fcurves.joined import Joined
from ..fcurves.keyframes import Float32Array, Float64Array, IndexArray
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
    is_plain = beziers.is_plain(keys.keys)
    # Let Blender place the handles of edited keys.
    is_plain &= np.repeat([not channel.original.edited for channel in channels], keys.counts)
    is_plain[keys.starts + keys.counts - 1] = False
    rows = [channel.rows_before for channel in channels]
    begin = np.concatenate([start + np.maximum(before, 0) for start, before in zip(keys.starts, rows, strict=True)])
    is_vectorized = is_plain[begin] & (np.concatenate(rows) >= 0)
    frames = np.concatenate([channel.frames for channel in channels])
    values = np.empty(len(frames))
    values[is_vectorized] = beziers.evaluate(keys.keys, begin[is_vectorized], frames[is_vectorized])
    end = 0
    for channel in channels:
        start, end = end, end + len(channel.frames)
        channel.values[:] = values[start:end]
        is_left = ~is_vectorized[start:end]
        if is_left.any():
            channel.values[is_left] = own_motion(
                channel.track, channel.index, channel.original, channel.frames[is_left]
            )
