# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a track's splines are from what its F-curves play: the largest difference between its keys."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...interp import evaluate_many, rotations
from ...interp.batch import Spline
from ...interp.fitting.tcb_parameters import FLOAT32, SAMPLES, Part, sample_frames
from ..bake.plans.splines import TrackSpline, last_place
from ..fcurves.keyframes import Float64Array
from ..store.own_keys import OwnKeys
from ..store.tracks import Track
from .fcurves import played_at

_STEP = 0.25
"""Frames between samples where a rotation may change the most."""
_MOST_SAMPLES = 200
"""The most of them in one place."""
_MOST_SEGMENTS = 3
"""Of a spline, beside those in which a quaternion changes its sign."""
_SHARE = 0.5
"""Of the largest change at the samples of the fit: where there is less, it is not looked for."""
_LARGE = math.radians(1.0)
"""Smaller turns don't change by much between the samples of the fit."""


@dataclass(eq=False)
class Look:
    """The splines of a track, what its F-curves play, and how far these are apart, which `measure_changes` finds."""

    track: Track
    originals: Mapping[int, OwnKeys]
    splines: Sequence[TrackSpline]
    parts: Sequence[Part]
    """What is played, of each spline."""
    change: float = 0.0
    """The largest difference: of values, or of rotations an angle in radians."""
    frame: float = 0.0
    """Its frame."""
    spread: float = 0.0
    """The range of values; 0 of rotations."""

    def differences(self, played: Float64Array, values: Float64Array) -> Float64Array:
        """Return the differences at samples, shape (m,); 0 where it is not known what is played."""
        if self.track.is_rotation:
            return np.nan_to_num(rotations.angle_between(values, played))
        largest: Float64Array = np.abs(values - played).max(axis=1)
        return largest

    def take(self, frames: Float64Array, differences: Float64Array) -> None:
        """Keep the largest of the differences if it is the largest so far."""
        worst = int(np.argmax(differences))
        if differences[worst] >= self.change:
            self.change, self.frame = float(differences[worst]), float(frames[worst])


def measure_changes(looks: Sequence[Look], fitted: Sequence[Sequence[Spline]]) -> None:
    """Find how far the fitted splines of each look are from what is played.

    They are compared at the samples of the fit. Where a rotation changes much, or the numbers of a quaternion change
    their sign, so that it may turn half round within a frame, it is every quarter of a frame, too.
    """
    every = [
        (look, *each)
        for look, own in zip(looks, fitted, strict=True)
        for each in zip(look.splines, look.parts, own, strict=True)
    ]
    frames = [sample_frames(part.spline.keys.frames) for _, _, part, _ in every]
    values = evaluate_many([spline for *_, spline in every], [each.ravel() for each in frames])
    near = []
    for (look, own, part, spline), at, value in zip(every, frames, values, strict=True):
        difference = look.differences(part.samples.reshape(value.shape), value)
        difference[difference <= _rounding(look.track, part, at).ravel()] = 0.0
        look.take(at.ravel(), difference)
        if look.track.is_rotation:
            searched = _frames_to_search(look.track, own, at, difference.reshape(at.shape))
            near += [(look, own, spline, searched)] if len(searched) else []
        else:
            numbers = np.concatenate([part.spline.keys.values, part.samples.reshape(value.shape)])
            look.spread = max(look.spread, float(np.ptp(numbers, axis=0).max()))
    played = played_at([(look.track, look.originals, own, at) for look, own, _, at in near])
    values = evaluate_many([spline for *_, spline, _ in near], [at for *_, at in near])
    for (look, _, _, at), now, value in zip(near, played, values, strict=True):
        look.take(at, look.differences(now, value))


def _frames_to_search(
    track: Track, spline: TrackSpline, frames: Float64Array, differences: Float64Array
) -> Float64Array:
    """Return further frames at which a rotation may change the most, by its changes at the samples of the fit."""
    keys = spline.frames.astype(np.float64)
    largest = differences.max(axis=1)
    # In short segments the samples of the fit are as near.
    is_long = np.diff(keys) > SAMPLES * _STEP
    flips = is_long & (track.kind == "QUATERNION")
    flips &= np.einsum("ij,ij->i", spline.values[1:], spline.values[:-1]) < 0.0
    row = np.argsort(largest)[-_MOST_SEGMENTS:]
    row = row[(largest[row] > max(_LARGE, _SHARE * largest.max())) & is_long[row] & ~flips[row]]
    # From the sample before the worst one to the one after it.
    bounds = np.concatenate([keys[:-1, np.newaxis], frames, keys[1:, np.newaxis]], axis=1)
    worst = differences[row].argmax(axis=1)
    begin = np.concatenate([bounds[row, worst], keys[:-1][flips]])
    end = np.concatenate([bounds[row, worst + 2], keys[1:][flips]])
    step = np.maximum(_STEP, (end - begin) / _MOST_SAMPLES)
    places = zip(np.ceil(begin / step), np.floor(end / step), step, strict=True)
    searched = [np.arange(first, last + 1.0) * each for first, last, each in places]
    return np.concatenate([np.empty(0), *searched])


def _rounding(track: Track, part: Part, frames: Float64Array) -> Float64Array:
    """Return the rounding error of differences at the frames, both of shape (segments, samples).

    It comes from the float32 values, and from the float32 frames of keys, handles and samples where values change.
    """
    steps = np.diff(part.samples, axis=1)
    # The length of a quaternion's chord is half the rotation's angle.
    size = 2.0 if track.is_rotation else 1.0
    steps = size * (np.linalg.norm(steps, axis=2) if track.is_rotation else np.abs(steps).max(axis=2))
    speed = (steps / np.diff(frames, axis=1)).max(axis=1, keepdims=True)
    # A fit ends once its mean error is within rounding.
    rounding: Float64Array = 2.0 * FLOAT32 * size * np.abs(part.samples).max() + last_place(frames) * speed
    return rounding
