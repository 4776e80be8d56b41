# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose equivalent channel values for rotation keys, so that the curves between the keys take the shortest path."""

from __future__ import annotations

import numpy as np

from ....interp.rotations.equivalent import Maps
from ....interp.rotations.representations import rotation_representation
from ...fcurves.keyframes import BoolArray, Float64Array
from ...store.tracks import Track
from .rotation_channels import densely_sampled, followed
from .splines import TrackSpline

_SHORT = 1.0
"""Tolerance in radians, or in units of an axis. Neighboring keys that differ by less than this keep their own
values."""


def maps_to_short_way(track: Track, spline: TrackSpline) -> Maps | None:
    """Return maps that make the angles continuous along the motion, shape (keys, components).

    Return None if the keys' angles are continuous. The signs of quaternions are chosen together with the handles.
    """
    if track.kind == "QUATERNION" or (np.abs(np.diff(spline.values, axis=0)) <= _SHORT).all():
        return None
    quaternions, rows = densely_sampled(spline)
    found = followed(track, quaternions, spline.values, rows)
    return continuous_maps(track, spline, found.arriving, found.jumps)


def continuous_maps(track: Track, spline: TrackSpline, arriving: Float64Array, jumps: BoolArray) -> Maps | None:
    """Return maps, shape (keys, components), that make the channel values continuous, or None if there are no jumps.

    Both keys of a segment played by Blender have the same map, because the segment interpolates their values.
    """
    # `equivalent.chained` compares unchanged values, so it can resolve a tie, such as a half turn, differently.
    inside = jumps.copy()
    inside[1:] &= ~spline.between[:-1]
    if not inside.any():
        return None
    representation = rotation_representation(track.order if track.kind == "EULER" else track.kind)
    factors, terms = np.ones_like(spline.values), np.zeros_like(spline.values)
    for key in range(1, len(factors)):
        factors[key], terms[key] = factors[key - 1], terms[key - 1]
        if inside[key]:
            chain = factors[key] * arriving[key] + terms[key]
            factor, term = representation.map_to_nearest(spline.values[key][:, np.newaxis], chain[:, np.newaxis])
            factors[key], terms[key] = factor[:, 0], term[:, 0]
    return Maps(factors, terms)
