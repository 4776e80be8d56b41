# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversions between a rotation's channel values and orientations.

Several channel values represent the same orientation: quaternions of opposite signs, and angles that differ by whole
turns. Unwrapping chooses values that change continuously from one sample to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....interp import rotations
from ...fcurves.keyframes import Float64Array
from ...store.tracks import Track

LARGEST_STEP = np.pi / 3
"""Largest rotation between samples, in radians, for unwrapping Euler angles. The limit is half a turn for rotation
about a single axis, and lower for rotation about several axes."""
_SAMPLES_AT_ONCE = 3000
"""Number of rotation samples to convert together, whose arrays fit into the processor's cache."""


def quaternions_of(track: Track, values: Float64Array) -> Float64Array:
    """Convert a rotation's channel values, shape (n, components), to quaternions of any length, shape (n, 4)."""
    if track.kind == "EULER":
        return rotations.from_euler(values, track.order)
    if track.kind == "AXIS_ANGLE":
        return rotations.from_axis_angle(values[:, 1:], values[:, 0])
    return values


def walk_of(track: Track, values: Float64Array) -> Float64Array:
    """Return the rotations between consecutive rows of angles, or of axes and angles, as rotation vectors.

    `values` has the shape (n, components), and the result (n - 1, 3).
    """
    if track.kind == "EULER":
        return rotations.walk_euler(values, track.order)
    return rotations.walk_axis_angle(values[:, 0], values[:, 1:])


def unwrapped(track: Track, quaternions: Float64Array, start: Float64Array, row: int = 0) -> Float64Array:
    """Convert orientations, shape (n, 4), to continuous channel values, shape (n, components).

    The sample in `row` gets the equivalent values that are closest to `start`, shape (components,).
    """
    after = _unwrapped_from_first(track, quaternions[row:], start)
    if not row:
        return after
    before = _unwrapped_from_first(track, quaternions[row::-1], start)[:0:-1]
    return np.concatenate((before, after))


class Unwrapping(NamedTuple):
    """The arguments of `unwrapped`, except the orientations."""

    track: Track
    start: Float64Array
    row: int


def unwrapped_together(unwrappings: Sequence[Unwrapping | None], samples: Sequence[Float64Array]) -> list[Float64Array]:
    """Unwrap the samples of several tracks. Samples without an `Unwrapping` are returned unchanged.

    Rotations with the same number of samples are converted together, which is several times faster.
    """
    results = list(samples)
    groups: dict[tuple[str, str, int], list[tuple[int, Unwrapping]]] = {}
    for number, (unwrapping, quaternions) in enumerate(zip(unwrappings, samples, strict=True)):
        if unwrapping is None:
            continue
        if unwrapping.row:
            results[number] = unwrapped(unwrapping.track, quaternions, unwrapping.start, unwrapping.row)
        else:
            track = unwrapping.track
            groups.setdefault((track.kind, track.order, len(quaternions)), []).append((number, unwrapping))
    for (*_, length), group in groups.items():
        at_once = max(1, _SAMPLES_AT_ONCE // length)
        for first in range(0, len(group), at_once):
            numbers, members = zip(*group[first : first + at_once], strict=True)
            starts = np.array([unwrapping.start for unwrapping in members])
            quaternions = np.stack([samples[number] for number in numbers])
            values = _unwrapped_from_first(members[0].track, quaternions, starts)
            for number, values_of_track in zip(numbers, values, strict=True):
                results[number] = values_of_track
    return results


def _unwrapped_from_first(track: Track, quaternions: Float64Array, start: Float64Array) -> Float64Array:
    """Unwrap orientations, shape (…, n, 4). The first sample's values are the closest to `start`, (…, components)."""
    if track.kind == "QUATERNION":
        chain = rotations.unroll_signs(quaternions)
        chain[np.einsum("...i,...i->...", chain[..., 0, :], start) < 0.0] *= -1.0
        return chain
    if track.kind == "EULER":
        return rotations.follow_euler(quaternions, track.order, start)
    axes, angles = rotations.follow_axis_angle(quaternions, start[..., 1:], start[..., 0])
    return np.concatenate((angles[..., np.newaxis], axes), axis=-1)
