# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks with a sample at each frame, as Reduce reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...interp import rotations
from ...interp.fitting.reduction import limits_while_still, low_pass
from ..bake.plans.rotations import quaternions_of
from ..fcurves.keyframes import Float64Array, IndexArray, union
from ..fcurves.read_and_write import read_coordinates
from ..report import AnimationError, Finding
from ..sampling.transforms import plays
from ..store.paths import BONES, split
from ..store.tracks import Track
from .keys_outside_range import has_beside, sides, velocities_beside

_STILL = 1e-6
"""Tracks that move less than this, relative to the largest value or to 1, keep one key."""


@dataclass(eq=False)
class SampledTrack:
    """A track with its values at whole frames."""

    track: Track
    raw: Float64Array
    """The channel values, shape (frames, components)."""
    values: Float64Array
    """The values, with rotations as unit quaternions."""
    slopes: Float64Array
    """The slopes of the channels per frame, before the first frame and after the last, shape (2, components)."""
    stays: bool = False
    """True if the track keeps its keys."""
    joined: tuple[bool, bool] = (False, False)
    """For the start and the end of the range, true if the track has keys beyond it."""
    ends: Float64Array | None = None
    """The required slopes of `values` per frame at both ends, shape (2, d). NaN at a free end."""
    key_frames: Float64Array = field(default_factory=lambda: np.zeros(0))
    """The frames of the track's keys, from the first frame to the last."""
    channel_keys: int = 0
    """The total number of keys at these frames in all channels."""

    @property
    def is_still(self) -> bool:
        """Return whether the track does not move."""
        size = max(1.0, float(np.abs(self.values).max()))
        return bool(np.ptp(self.values, axis=0).max() <= _STILL * size)

    @property
    def channels_to_key(self) -> int:
        """Return the number of channels that get new keys. Rotations are keyed in all channels."""
        return len(self.track.rest) if self.track.is_rotation else len(self.track.channels)

    @property
    def owner(self) -> str:
        """Return the path of the bone or other item that owns the property, or "" for the datablock itself."""
        return split(self.track.path)[0]

    @property
    def property_name(self) -> str:
        """Return "location", "rotation", "scale" or the name of another property."""
        name = split(self.track.path)[1]
        return "rotation" if self.track.is_rotation and not name.startswith("delta") else name

    @property
    def is_transform(self) -> bool:
        """Return whether the property is a location, rotation or scale."""
        return self.property_name in ("location", "rotation", "scale")

    @property
    def is_of_bone(self) -> bool:
        """Return whether the track moves a bone."""
        return self.track.path.startswith(BONES) and self.is_transform

    def errors(self, played: Float64Array) -> Float64Array:
        """Return the angles of rotations, or distances of other values, from played values, shape (frames,)."""
        errors: Float64Array = (
            rotations.angle_between(played, self.values)
            if self.track.is_rotation
            else np.linalg.norm(played - self.values, axis=1)
        )
        return errors

    def tolerances(self, error: float, angle: float, still: tuple[float, float] | None) -> Float64Array:
        """Return the tolerance at each frame of a track that does not belong to a bone, shape (1, frames).

        `still` contains the radius within which locations are at rest, and their tolerance.
        """
        tolerances = np.full((1, len(self.values)), angle if self.track.is_rotation else error)
        if self.property_name != "location":
            return tolerances
        return limits_while_still(tolerances, self.values[np.newaxis], still)


def existing_key_count(group: Sequence[SampledTrack]) -> int:
    """Return the number of common keys that corresponds to the group's existing keys, by frames or by channel keys."""
    frames = max(len(sampled.key_frames) for sampled in group)
    channel_keys = sum(sampled.channel_keys for sampled in group)
    return min(frames, channel_keys // max(1, sum(sampled.channels_to_key for sampled in group)))


def frames_to_sample(tracks: Sequence[Track], frame_range: tuple[float, float] | None, limit: int) -> Float64Array:
    """Return the whole frames in the range from the first to the last key of the tracks.

    Raises AnimationError if the tracks would have more samples than the limit.
    """
    first_and_last = [
        read_coordinates(fcurve)[[0, -2]]
        for track in tracks
        for fcurve in track.channels.values()
        if len(fcurve.keyframe_points)
    ]
    if not first_and_last:
        return np.zeros(0)
    first = np.floor(min(start for start, _ in first_and_last))
    last = np.ceil(max(end for _, end in first_and_last))
    if frame_range is not None:
        first, last = max(first, np.ceil(frame_range[0])), min(last, np.floor(frame_range[1]))
    count = max(0.0, last - first + 1.0) * sum(len(track.rest) for track in tracks)
    if not count <= limit:
        raise AnimationError(Finding("REDUCE_SAMPLE_LIMIT", tracks[0].name, arguments=(float(count), limit)))
    return np.arange(first, last + 1.0)


def sample_track(
    track: Track, frames: Float64Array, stays: bool = False, joins: tuple[bool, bool] = (False, False)
) -> SampledTrack:
    """Sample the track's F-curves at the frames. Raises AnimationError if values are not finite.

    `joins` states, for each end of the range, whether a track has keys beyond that end.
    """
    raw, slopes = np.empty((len(frames), len(track.rest))), np.zeros((2, len(track.rest)))
    for index, still in enumerate(track.rest):
        fcurve = track.channels.get(index)
        raw[:, index] = still
        if fcurve is None:
            continue
        if plays(fcurve):
            raw[:, index] = _values(fcurve, frames)
        slopes[:, index] = _slopes_outside(fcurve, frames)
    if not np.isfinite(raw).all():
        raise track.error("PLAYED_NOT_FINITE")
    values = _quaternions(track, raw) if track.is_rotation else raw
    key_frames, channel_keys = _keys_among(track, frames)
    if stays or not any(joins):
        return SampledTrack(track, raw, values, slopes, stays, key_frames=key_frames, channel_keys=channel_keys)
    joined = has_beside([track], frames)
    slopes[np.array(joined)] = np.nan
    ends = velocities_beside(track, frames, raw, values, joins)
    return SampledTrack(track, raw, values, slopes, stays, joined, ends, key_frames, channel_keys)


def _slopes_outside(fcurve: bpy.types.FCurve, frames: Float64Array) -> tuple[float, float]:
    """Return the curve's slopes per frame before the first frame and after the last frame."""
    first, last = float(frames[0]), float(frames[-1])
    # Use distant frames, so that float32 rounding matters less.
    reach = max(last - first, 1.0)
    before = (fcurve.evaluate(first) - fcurve.evaluate(first - reach)) / reach
    after = (fcurve.evaluate(last + reach) - fcurve.evaluate(last)) / reach
    return before, after


def _values(fcurve: bpy.types.FCurve, frames: Float64Array) -> Float64Array | list[float]:
    """Return the F-curve's values at the frames."""
    keys = read_coordinates(fcurve).reshape(-1, 2)
    if not fcurve.modifiers and np.array_equal(keys[:, 0], frames):
        # Reading is ten times as fast as evaluating.
        return keys[:, 1].astype(np.float64)
    return [fcurve.evaluate(frame) for frame in frames.tolist()]


def _keys_among(track: Track, frames: Float64Array) -> tuple[Float64Array, int]:
    """Return the frames of the keys from the first frame to the last, and the number of keys in all channels."""
    by_channel = []
    for fcurve in track.channels.values():
        keyed = read_coordinates(fcurve)[::2]
        by_channel.append(keyed[~np.logical_or(*sides(keyed, frames))])
    key_frames: Float64Array = union(by_channel).astype(np.float64)
    return key_frames, sum(map(len, by_channel))


def _quaternions(track: Track, raw: Float64Array) -> Float64Array:
    """Return the channel values of a rotation as unit quaternions with continuous signs."""
    q = quaternions_of(track, raw)
    length = np.linalg.norm(q, axis=1, keepdims=True)
    if not length.all():
        raise track.error("ZERO_QUATERNION")
    return rotations.unroll_signs(q / length)


def filtered(sampled: SampledTrack, period: float, frames: Float64Array) -> SampledTrack:
    """Remove oscillations with periods shorter than `period` frames from the track."""
    values = low_pass(sampled.values, period)
    if not sampled.track.is_rotation:
        return replace(sampled, raw=values, values=values)
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return replace(sampled, values=np.where(length > 0.0, values / np.where(length > 0.0, length, 1.0), sampled.values))


def keys_of_values(sampled: SampledTrack, values: Float64Array, rows: IndexArray) -> Float64Array:
    """Convert the values of the keys in these rows (quaternions for rotations) to channel values.

    If there are keys outside the frames, the keys at the ends get the exact channel values, and all other keys get
    values close to the channel values.
    """
    track, is_joined = sampled.track, any(sampled.joined)
    # Without keys outside the frames, the values continue from key to key, starting at the first sample.
    nearby = sampled.raw[rows] if is_joined else sampled.raw[0]
    followed = values[:, np.newaxis] if track.is_rotation and is_joined else values
    channel_values = values
    if track.kind == "EULER":
        channel_values = rotations.follow_euler(followed, track.order, nearby)
    elif track.kind == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(followed, nearby[..., 1:], nearby[..., 0])
        channel_values = np.concatenate([angles[..., np.newaxis], axes], axis=-1)
    if not is_joined:
        return channel_values
    channel_values = channel_values.reshape(len(rows), -1).copy()
    for side, row in ((0, 0), (1, -1)):
        if sampled.joined[side]:
            channel_values[row] = sampled.raw[row]
    return channel_values


def outer_slopes(sampled: SampledTrack, ends: Float64Array) -> Float64Array:
    """Return the slopes before the first key and after the last key, whose values are `ends`, shape (2, components).

    The signs and lengths of the keys' quaternions may differ from the track's.
    """
    if sampled.track.kind != "QUATERNION":
        return sampled.slopes
    samples = sampled.raw[[0, -1]]
    scale = (ends * samples).sum(axis=1, keepdims=True) / (samples * samples).sum(axis=1, keepdims=True)
    slopes: Float64Array = scale * sampled.slopes
    return slopes


def moves_bones(datablock: bpy.types.ID, tracks: Sequence[SampledTrack]) -> bool:
    """Return whether any of the tracks belongs to a bone of the datablock."""
    is_armature = getattr(datablock, "pose", None) is not None
    return is_armature and any(sampled.track.path.startswith(BONES) for sampled in tracks)
