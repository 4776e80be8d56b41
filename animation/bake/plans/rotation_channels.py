# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert orientations to continuous channel values that match the keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....interp import rotations
from ....interp.rotations.equivalent import Maps
from ....interp.rotations.representations import JUMP, RotationRepresentation, rotation_representation
from ...errors import Finding
from ...fcurves.keyframes import Float32Array, Float64Array, IndexArray
from ...store.tracks import Track
from .splines import TrackSpline, run_slices

FOLLOWED = np.pi / 3
"""Largest rotation between samples, in radians, for unwrapping Euler angles. The limit is half a turn for rotation
about a single axis, and lower for rotation about several axes."""
_FEWEST_PARTS, _MOST_PARTS = 16, 1024
"""Minimum and maximum number of parts into which a segment is divided to unwrap its angles."""
_SMALL_CHANGE = 1.0
"""Tolerance in radians, or in units of an axis. Neighboring keys that differ by less than this keep their own
values."""


def as_shown(track: Track, spline: TrackSpline) -> TrackSpline:
    """Return the spline with the channel values at the keys.

    If the motion passes through the keys, the channel values are the values of the keys.
    """
    if spline.spline.interpolating:
        return spline
    if not track.is_rotation:
        return replace(spline, values=spline.spline(spline.frames))
    quaternions, rows = _densely_sampled(spline)
    return replace(spline, values=followed(track, quaternions, spline.values[0])[rows])


def maps_to_short_way(track: Track, spline: TrackSpline) -> Maps | None:
    """Return maps that make the angles continuous along the motion, shape (keys, components).

    Return None if the keys' angles are continuous. The signs of quaternions are chosen together with the handles.
    """
    if track.kind == "QUATERNION" or (np.abs(np.diff(spline.values, axis=0)) <= _SMALL_CHANGE).all():
        return None
    return continuous(track, spline, *_densely_sampled(spline))[1]


def _densely_sampled(spline: TrackSpline) -> tuple[Float64Array, IndexArray]:
    """Sample a spline densely enough to unwrap its angles. Return the orientations and the rows of the keys."""
    parts = _FEWEST_PARTS
    quaternions, rows = _in_parts(spline, parts)
    while parts < _MOST_PARTS and rotations.angle_between(quaternions[1:], quaternions[:-1]).max(initial=0) > FOLLOWED:
        parts *= 2
        quaternions, rows = _in_parts(spline, parts)
    return quaternions, rows


def _in_parts(spline: TrackSpline, parts: int) -> tuple[Float64Array, IndexArray]:
    """Return the orientations at the keys and at points between them, and the rows of the keys."""
    keys = spline.frames.astype(np.float64)
    fractions = np.arange(parts) / parts
    frames = np.append(keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * fractions, keys[-1])
    return spline.spline(frames), np.arange(len(keys)) * parts


def continuous(
    track: Track, spline: TrackSpline, quaternions: Float64Array, key_rows: IndexArray
) -> tuple[Float64Array, Maps | None]:
    """Return samples of a rotation as continuous channel values, and maps that make the values of its keys match them.

    `key_rows` are the rows of the keys among the samples. The maps have the shape (keys, components). They are None if
    the keys match without them.

    Both keys of a segment played by Blender have the same map, because the segment interpolates their values.
    """
    representation = rotation_representation(track.order if track.kind == "EULER" else track.kind)
    values = followed(track, quaternions, spline.values[0], int(key_rows[0]))
    next_rows = np.minimum(key_rows + 1, len(values) - 1)
    next_key = 0
    while True:
        maps = _nearest(representation, spline.values, values[key_rows])
        for run in run_slices(spline.between)[1:]:
            for numbers in maps:
                numbers[run.start] = numbers[run.start - 1]
        shown = maps.applied(spline.values)
        differing_keys = np.flatnonzero(np.abs(shown - values[key_rows]).max(axis=1) > JUMP)
        differing_keys = differing_keys[differing_keys >= next_key]
        maps_of_samples = _nearest(representation, values[next_rows[differing_keys]], shown[differing_keys])
        changed = np.flatnonzero(maps_of_samples.changed.any(axis=1))
        if not len(changed):
            return values, maps if maps.changed.any() else None
        # The values of this key, such as an axis without rotation, continue in another way than the samples before it.
        key, row = int(differing_keys[changed[0]]), changed[0]
        next_key = key + 1
        samples_after = values[key_rows[key] + 1 :]
        samples_after[:] = samples_after * maps_of_samples.factors[row] + maps_of_samples.terms[row]


def _nearest(representation: RotationRepresentation, values: Float64Array, others: Float64Array) -> Maps:
    """Return maps that bring the values closest to the others, shape (n, components)."""
    return Maps(*(numbers.T.copy() for numbers in representation.map_to_nearest(values.T, others.T)))


def followed(track: Track, quaternions: Float64Array, start: Float64Array, row: int = 0) -> Float64Array:
    """Convert samples to continuous channel values, with the equivalent values closest to `start` in a row."""
    after = _followed_onward(track, quaternions[row:], start)
    if not row:
        return after
    return np.concatenate((_followed_onward(track, quaternions[row::-1], start)[:0:-1], after))


def _followed_onward(track: Track, quaternions: Float64Array, start: Float64Array) -> Float64Array:
    """Convert samples to continuous channel values, with the first sample's values closest to `start`."""
    if track.kind == "QUATERNION":
        chain = rotations.unroll_signs(quaternions)
        return -chain if chain[0] @ start < 0.0 else chain
    if track.kind == "EULER":
        return rotations.follow_euler(quaternions, track.order, start)
    axes, angles = rotations.follow_axis_angle(quaternions, start[1:], start[0])
    return np.concatenate((angles[:, np.newaxis], axes), axis=1)


def other_turns(track: Track, frames: Float32Array) -> list[Finding]:
    """Return a note on keys where Euler angles jump. Jumps in signs and axes are not reported."""
    if track.kind != "EULER" or not len(frames):
        return []
    return [track.finding("EULER_OTHER_WAY", tuple(frames.tolist()))]
