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
from ..fcurves.keyframes import Float32Array, Float64Array, IndexArray, Joined
from ..records import record
from ..store.own_keys import OwnKeys
from ..store.tracks import Track

_Splines = tuple[Track, Mapping[int, OwnKeys], Sequence[TrackSpline]]
"""A track, the animator's keys, and its splines of at least two keys, without segments that Blender plays."""
_Sampled = tuple[Track, Mapping[int, OwnKeys], TrackSpline, Float64Array]
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
    raw = iter(_raw(samples))
    return [_parts(track, originals, splines, [next(raw) for _ in splines]) for track, originals, splines in tracks]


def played_at(samples: Sequence[_Sampled]) -> list[Float64Array]:
    """Return the F-curves' motion at the frames of each spline: values (m, components) or unit quaternions (m, 4).

    The result is NaN where the values do not represent a rotation.
    """
    played = []
    for (track, *_), raw in zip(samples, _raw(samples), strict=True):
        if not track.is_rotation:
            played.append(raw)
            continue
        quaternions = quaternions_of(track, raw)
        length = np.linalg.norm(quaternions, axis=1, keepdims=True)
        played.append(quaternions / np.where(length > _NO_ROTATION, length, np.nan))
    return played


def _parts(
    track: Track, originals: Mapping[int, OwnKeys], splines: Sequence[TrackSpline], raw: Sequence[Float64Array]
) -> list[SplineToFit]:
    frames = union([original.keys.frames for original in originals.values()])
    parts = []
    for spline, channels in zip(splines, raw, strict=True):
        played = _played(track, channels)
        if played is None:
            return []
        played = played.reshape(len(spline.frames) - 1, SAMPLES, -1)
        rows = np.searchsorted(frames, spline.frames - np.float32(SAME_FRAME))
        # The splines contain no segments that Blender plays.
        assert isinstance(spline.spline, (tcb.VectorSpline, tcb.RotationSpline))
        parts.append(SplineToFit(spline.spline, rows, played, _walk(track, spline, channels)))
    return parts


def _played(track: Track, raw: Float64Array) -> Float64Array | None:
    """Return the values, or unit quaternions for rotations.

    Return None if the values are not finite or do not represent a rotation.
    """
    if track.is_rotation:
        raw = quaternions_of(track, raw)
        if not raw.any(axis=1).all():
            return None
        raw = rotations.normalise(raw) if np.isfinite(raw).all() else raw
    return raw if np.isfinite(raw).all() else None


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
    def begins(self) -> IndexArray:
        """Return, for each frame, the row of the last key at or before it, or -1 before the first key."""
        return np.searchsorted(self.original.keys.frames, self.frames, side="right") - 1


def _raw(samples: Sequence[_Sampled]) -> list[Float64Array]:
    """Return the channel values at the frames of each spline, shape (m, components)."""
    result, channels = [], []
    for track, originals, spline, at in samples:
        frames = at.astype(np.float32)
        raw = np.empty((len(frames), len(spline.components)))
        for values, index in zip(raw.T, spline.components, strict=True):
            original = originals.get(index)
            if original is None:
                values[:] = track.component(index)
            else:
                channels.append(_Channel(track, index, original, frames, values))
        result.append(raw)
    _evaluate(channels)
    return result


def _evaluate(channels: Sequence[_Channel]) -> None:
    """Fill in the channel values. Plain Bezier segments are vectorized, and Blender evaluates all other segments."""
    if not channels:
        return
    keys = Joined.of([channel.original.keys for channel in channels])
    plain = beziers.is_plain(keys.keys)
    # Let Blender place the handles of edited keys.
    plain &= np.repeat([not channel.original.edited for channel in channels], keys.counts)
    plain[keys.starts + keys.counts - 1] = False
    begins = [channel.begins for channel in channels]
    begin = np.concatenate([start + np.maximum(own, 0) for start, own in zip(keys.starts, begins, strict=True)])
    here = plain[begin] & (np.concatenate(begins) >= 0)
    frames = np.concatenate([channel.frames for channel in channels])
    values = np.empty(len(frames))
    values[here] = beziers.evaluate(keys.keys, begin[here], frames[here])
    end = 0
    for channel in channels:
        start, end = end, end + len(channel.frames)
        channel.values[:] = values[start:end]
        rest = ~here[start:end]
        if rest.any():
            channel.values[rest] = own_motion(channel.track, channel.index, channel.original, channel.frames[rest])
