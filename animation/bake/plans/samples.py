# SPDX-License-Identifier: GPL-3.0-or-later
"""The output SAMPLES: linear keys on the splines, at regular frames between the animator's keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...fcurves.keyframes import BoolArray, Float32Array, IndexArray
from ...memoize import memoized
from ...records import record
from .protocol import Baked, ChannelKeys, Evaluation, Plan, PoseKeys, Results, Scope
from .rotation_channels import FOLLOWED, followed, other_turns, signs_through
from .sample_frames import APART, PICKED
from .splines import TrackSpline

_FASTER = 3.0
"""The ratio of the greatest to the mean angular speed between two keys that is allowed for."""
_MOST_PARTS = 64


def plan_samples(scope: Scope, splines: Sequence[TrackSpline]) -> list[Plan]:
    """Return the plans of a track's splines, whose values are those that the channels must have at the keys."""
    plan = _plan_rotation if scope.track.is_rotation else _plan_values
    return [plan(scope, spline) for spline in splines]


@record()
class ValueSamples(Plan):
    """Samples of channels that are interpolated separately."""

    spline: TrackSpline
    baked: BoolArray
    frames: Float32Array

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return the spline and the frames of the samples."""
        return [(self.spline.spline, self.frames)]

    def compose(self, results: Results) -> Baked:
        """Compose the samples of all components."""
        spline, samples = self.spline, next(results.values).T.astype(np.float32)
        held = np.zeros(len(self.frames), dtype=np.bool_)
        shown = None if spline.spline.interpolating else spline.values.T.astype(np.float32)
        return Baked([ChannelKeys(spline.components, self.frames, samples, held, self.baked, shown=shown)])


def _plan_values(scope: Scope, spline: TrackSpline) -> Plan:
    baked = scope.segments(spline)
    return ValueSamples(spline, baked, scope.sampling.samples(spline.frames, baked, scope.cycle))


@record()
class RotationSamples(Plan):
    """Samples of a rotation, converted to the values of its channels."""

    scope: Scope
    spline: TrackSpline
    baked: BoolArray
    frames: Float32Array
    """Frames at which the rotation is evaluated."""
    guards: Float32Array
    """For each key but the first, the frame before it at which a CONSTANT sample can be placed."""
    at_keys: IndexArray
    """The rows of the keys among `frames`."""
    generated: IndexArray
    """The rows of the samples, and of the keys on both sides of baked segments."""

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """Return the spline and the frames of samples, keys and those between to follow angles."""
        return [(self.spline.spline, self.frames)]

    def compose(self, results: Results) -> Baked:
        """Compose the samples as channel values, with CONSTANT samples before jumps."""
        numbers, jumps = followed(self.scope.track, next(results.values), self.spline.values, self.at_keys)
        # Keys that other channels have inside a channel's segments keep the values computed for them.
        numbers[self.at_keys] = self.spline.values
        jumps[1:] &= self.baked[:-1]
        signs = signs_through(jumps, self.baked, self.scope)
        if signs is not None:
            key = np.searchsorted(self.at_keys, np.arange(len(numbers)), side="right") - 1
            numbers *= signs[np.maximum(key, 0), np.newaxis]
            keys = PoseKeys(
                self.frames[self.generated], numbers[self.generated].T, np.zeros(len(self.generated), dtype=np.bool_)
            )
            return Baked(self.scope.channel_keys(self.spline, keys, self.baked, shown=True))
        rows, held = self.generated, np.zeros(len(self.generated), dtype=np.bool_)
        if jumps.any():
            before = np.searchsorted(self.frames, self.guards[jumps[1:]])
            rows = np.union1d(rows, before)
            held = np.isin(rows, before)
        keys = PoseKeys(self.frames[rows], numbers.take(rows, axis=0).T, held)
        notes = other_turns(self.scope.track, self.spline.frames[jumps])
        return Baked(self.scope.channel_keys(self.spline, keys, self.baked), notes)


def _plan_rotation(scope: Scope, spline: TrackSpline) -> Plan:
    baked = scope.segments(spline)
    samples = scope.sampling.samples(spline.frames, baked, scope.cycle)
    parts = _parts(spline, scope.sampling.step)
    return RotationSamples(scope, spline, baked, *_rotation_frames(samples, spline.frames, baked, parts))


def _parts(spline: TrackSpline, step: float) -> IndexArray:
    """Return for each key into how many parts the following distances between samples are divided, to follow angles."""
    parts = np.ones(len(spline.frames), dtype=np.intp)
    if spline.turns is not None:
        mean = spline.turns / np.diff(spline.frames.astype(np.float64)) * step
        parts[:-1] = np.clip(np.ceil(_FASTER * mean / FOLLOWED), 1, _MOST_PARTS)
    return parts


@memoized
def _rotation_frames(
    samples: Float32Array, keys: Float32Array, baked: BoolArray, parts: IndexArray
) -> tuple[Float32Array, Float32Array, IndexArray, IndexArray]:
    """Return `frames`, `guards`, `at_keys` and `generated` of `RotationSamples`.

    Distances between samples and keys are divided into `parts` after each key.
    """
    every = np.unique(np.concatenate((samples, keys)))
    before = every[np.searchsorted(every, keys[1:]) - 1]
    # CONSTANT samples are placed so far before a jump that the shutter of the frame before is closed by then.
    middle = np.where(keys[1:] - before > 2 * APART, (keys[1:] + before) / 2, before)
    guards = np.asarray(np.maximum(keys[1:] - np.float32(PICKED), middle), dtype=np.float32)
    every = np.union1d(every, guards)
    if (parts > 1).any():
        count = parts[np.clip(np.searchsorted(keys, every[:-1], side="right") - 1, 0, None)]
        start = np.repeat(every[:-1].astype(np.float64), count)
        number = np.arange(len(start)) - np.repeat(np.cumsum(count) - count, count)
        finer = start + np.repeat(np.diff(every) / count, count) * number
        every = np.union1d(every, finer.astype(np.float32))
    bounds = keys[baked | np.concatenate(([False], baked[:-1]))]
    generated = np.searchsorted(every, np.union1d(samples, bounds))
    return every, guards, np.searchsorted(every, keys), generated
