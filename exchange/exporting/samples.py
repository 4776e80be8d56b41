# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of tracks, and keys from samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...animation.bake.plans.track_splines import TrackSpline
from ...animation.fcurves.keyframes import Float64Array
from ...animation.store.tracks import Track
from ...interp import evaluate_many, rotations
from ..keys import Keys
from .reasons_to_sample import played_fcurves
from .spans import SAME


def sampled(frames: Float64Array, values: Float64Array) -> Keys:
    """Return one key per sample, or a single key if all samples are equal."""
    if (np.ptp(values, axis=0) <= SAME * np.maximum(1.0, np.abs(values).max(axis=0))).all():
        frames, values = frames[:1], values[:1]
    return Keys(frames, values, np.zeros((5, len(frames))))


def sampled_turns(frames: Float64Array, quaternions: Float64Array) -> Keys:
    """Return one key per sample as turns along the shortest path, or a single key if nothing turns."""
    if rotations.angle_between(quaternions, quaternions[0]).max() <= SAME:
        frames, quaternions = frames[:1], quaternions[:1]
    angles, axes = rotations.rotations_to_turns(quaternions)
    return Keys(frames, np.column_stack((angles, axes)), np.zeros((5, len(frames))))


def evaluated(track: Track, splines: Sequence[TrackSpline], frames: Float64Array) -> Float64Array:
    """Return the values of the components at the frames, shape (frames, components)."""
    values = rest_values(track, len(frames))
    for index, fcurve in played_fcurves(track).items():
        values[:, index] = [fcurve.evaluate(float(frame)) for frame in frames]
    for spline in splines:
        values[:, spline.components] = evaluate_many([spline.spline], frames)[0]
    return values


def rest_values(track: Track, count: int) -> Float64Array:
    """Return the values of the components without animation, shape (count, components)."""
    return np.tile([track.component(index) for index in range(len(track.rest))], (count, 1))
