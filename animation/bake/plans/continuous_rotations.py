# SPDX-License-Identifier: GPL-3.0-or-later
"""Channel values of rotations that continue along the motion, without jumps in turns, signs or axes.

The animator's values at neighboring keys may be equivalent values that are far apart. Maps convert each key's values to
the equivalent values that continue the motion.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....interp import rotations
from ....interp.rotations.equivalent import Maps
from ....interp.rotations.representations import JUMP, RotationRepresentation, rotation_representation
from ...fcurves.keyframes import Float64Array, IndexArray
from ...store.tracks import Track
from .blender_segments import run_slices
from .rotation_channels import LARGEST_STEP, unwrapped
from .track_splines import TrackSpline

_FEWEST_PARTS, _MOST_PARTS = 16, 1024
"""Minimum and maximum number of parts into which a segment is divided to unwrap its angles."""
_SMALL_CHANGE = 1.0
"""Tolerance in radians, or in units of an axis. Neighboring keys that differ by less than this keep their own
values."""


def with_values_of_motion(track: Track, spline: TrackSpline) -> TrackSpline:
    """Return the spline with the channel values of the motion at the keys.

    If the motion passes through the keys, the channel values are the values of the keys.
    """
    if spline.spline.interpolating:
        return spline
    if not track.is_rotation:
        return replace(spline, values=spline.spline(spline.frames))
    quaternions, key_rows = _densely_sampled(spline)
    return replace(spline, values=unwrapped(track, quaternions, spline.values[0])[key_rows])


def shortest_path_maps(track: Track, spline: TrackSpline) -> Maps | None:
    """Return maps that make the keys' angles continuous along the motion, shape (keys, components).

    Return None if the keys' angles are continuous. The signs of quaternions are chosen together with the handles.
    """
    if track.kind == "QUATERNION" or (np.abs(np.diff(spline.values, axis=0)) <= _SMALL_CHANGE).all():
        return None
    quaternions, key_rows = _densely_sampled(spline)
    _, maps = matched_with_keys(track, spline, unwrapped(track, quaternions, spline.values[0]), key_rows)
    return maps


def _densely_sampled(spline: TrackSpline) -> tuple[Float64Array, IndexArray]:
    """Sample a spline densely enough to unwrap its angles. Return the orientations and the rows of the keys."""
    keys = spline.frames.astype(np.float64)
    parts = _FEWEST_PARTS
    while True:
        fractions = np.arange(parts) / parts
        frames = np.append(keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * fractions, keys[-1])
        quaternions = spline.spline(frames)
        steps = rotations.angle_between(quaternions[1:], quaternions[:-1])
        if parts >= _MOST_PARTS or steps.max(initial=0.0) <= LARGEST_STEP:
            return quaternions, np.arange(len(keys)) * parts
        parts *= 2


def matched_with_keys(
    track: Track, spline: TrackSpline, values: Float64Array, key_rows: IndexArray
) -> tuple[Float64Array, Maps | None]:
    """Return samples of a rotation as continuous channel values, and maps that make the values of its keys match them.

    `values` are unwrapped samples, which are changed in place, and `key_rows` are the rows of the keys among the
    samples. The maps have the shape (keys, components). They are None if the keys match without them.

    Both keys of a segment played by Blender have the same map, because the segment interpolates their values.
    """
    if np.abs(spline.values - values[key_rows]).max() <= JUMP:
        return values, None
    representation = rotation_representation(track.order if track.kind == "EULER" else track.kind)
    next_rows = np.minimum(key_rows + 1, len(values) - 1)
    next_key = 0
    while True:
        maps = _maps_to_nearest(representation, spline.values, values[key_rows])
        for run in run_slices(spline.begins_segment)[1:]:
            for numbers in maps:
                numbers[run.start] = numbers[run.start - 1]
        mapped = maps.applied(spline.values)
        differing_keys = np.flatnonzero(np.abs(mapped - values[key_rows]).max(axis=1) > JUMP)
        differing_keys = differing_keys[differing_keys >= next_key]
        maps_of_samples = _maps_to_nearest(representation, values[next_rows[differing_keys]], mapped[differing_keys])
        changed = np.flatnonzero(maps_of_samples.changed.any(axis=1))
        if not len(changed):
            return values, maps if maps.changed.any() else None
        # The values of this key, such as an axis without rotation, continue in another way than the samples before it.
        key, row = int(differing_keys[changed[0]]), changed[0]
        next_key = key + 1
        samples_after = values[key_rows[key] + 1 :]
        samples_after[:] = samples_after * maps_of_samples.factors[row] + maps_of_samples.terms[row]


def _maps_to_nearest(representation: RotationRepresentation, values: Float64Array, others: Float64Array) -> Maps:
    """Return maps that bring the values closest to the others, shape (n, components)."""
    return Maps(*(numbers.T.copy() for numbers in representation.map_to_nearest(values.T, others.T)))
