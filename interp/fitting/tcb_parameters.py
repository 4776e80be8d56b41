# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the parameters with which keys best reproduce a given motion, by least squares over its samples.

The descent starts with the simplest model, and uses a fuller model only if it lowers the error enough. With all five
parameters there are many poor minima on the bounds, so the descent stays inside the bounds until its last stage.

The five parameters of a key affect only the segments on both sides of the key, so the normal equations couple each key
with its neighbors. Conjugate gradients solve the equations for each track separately, because the components of a track
may be keyed at different frames and couple different pairs of keys. Source: docs/formulas, "Fitting parameters to a
motion".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..keys import HIGHEST, LOWEST, BoolArray, Float64Array, IndexArray
from .least_squares import Method, descend
from .tcb_segments import SAMPLES, SplineSegments, SplineToFit, sample_frames

__all__ = ["FLOAT32", "SAMPLES", "SplineToFit", "fit_parameters", "sample_frames"]

_WORTHWHILE = 0.99
"""A model with more parameters is used if its error is below this fraction of the simpler model's error."""
_ROUNDING_SHARE = 0.02
"""Parameters are rounded to few digits if that changes the motion by less than this fraction of the track's error."""
_KEYS_AT_A_TIME = 5000
"""The number of keys fitted at a time, which fit the processor cache and are enough to amortize the NumPy calls."""
_INSIDE = 0.05
"""The distance from the bounds at which the descent starts.

Parameters within 2/5 of this distance are set to the bound.
"""


def fit_parameters(tracks: Sequence[Sequence[SplineToFit]]) -> list[Float64Array]:
    """Fit the parameters of each track's keys to the motions of its parts.

    Parameters
    ----------
    tracks : sequence of sequences of SplineToFit
        The parts of each track. A track without parts gets no parameters.

    Returns
    -------
    list of ndarray, shape (5, keys)
        The best parameters for each track, in the order of `PARAMETERS`, up to the last key of any part.

    Notes
    -----
    The error is the mean squared deviation over frames and components. For rotations, the deviation is the chord, 4
    sin(angle / 4). The error is never larger than with all parameters set to 0. Among parameters that give the same
    motion, the fit prefers parameters without ease, without continuity, close to 0 and with few digits.

    Examples
    --------
    Recover the tension of the second key, 0.5, from samples of the motion:

    >>> frames, values = np.arange(0.0, 40.0, 10.0), [[0, 1], [3, 0], [1, 4], [0, 1]]
    >>> motion = tcb.VectorSpline(Keys(frames, values, tension=[0, 0.5, 0, 0]))
    >>> samples = motion(tcb_parameters.sample_frames(frames))
    >>> spline = tcb.VectorSpline(Keys(frames, values))
    >>> part = tcb_parameters.SplineToFit(spline, rows=np.arange(4), samples=samples)
    >>> (parameters,) = tcb_parameters.fit_parameters([[part]])
    >>> parameters[0]
    array([0. , 0.5, 0. , 0. ])
    """
    results = [np.zeros((5, 0)) for _ in tracks]
    chunk: list[int] = []
    size = 0
    for number, track in enumerate(tracks):
        if track:
            chunk.append(number)
            size += sum(len(part.rows) for part in track)
        if chunk and (size >= _KEYS_AT_A_TIME or number == len(tracks) - 1):
            for index, parameters in zip(chunk, _fit([tracks[index] for index in chunk]), strict=True):
                results[index] = parameters
            chunk, size = [], 0
    return results


class _Stage(NamedTuple):
    """The parameters fitted by one descent, and its settings."""

    columns: list[int]
    method: Method


_STAGES = (
    _Stage([0, 2], Method(steps=6, least_gain=0.9, damping=1e-2)),
    _Stage([0, 1, 2], Method(steps=15, least_gain=0.1, damping=1e-2)),
    _Stage([0, 1, 2, 3, 4], Method(steps=3, least_gain=0.05, damping=1e-2, inside=True)),
    _Stage([0, 1, 2, 3, 4], Method(steps=12, least_gain=0.02, damping=1e-2)),
)


def _fit(parts_by_track: list[Sequence[SplineToFit]]) -> list[Float64Array]:
    """Fit tracks in stages, each for the tracks that are not yet reproduced."""
    tracks = FittedTracks.of(parts_by_track)
    best = np.zeros((5, len(tracks.track_of_key)))
    errors = tracks.errors(tracks.residuals(best))
    current = best.copy()
    for stage in _STAGES:
        pending = errors > tracks.goals
        if not pending.any():
            break
        is_pending_key = pending[tracks.track_of_key]
        start = current.compress(is_pending_key, axis=1)
        current[:, is_pending_key], new_errors = _descended(tracks.take(pending), start, stage)
        is_better = np.zeros_like(pending)
        is_better[pending] = new_errors < errors[pending] * _WORTHWHILE**2
        errors[is_better] = new_errors[is_better[pending]]
        best = np.where(is_better[tracks.track_of_key], current, best)
    rounded = _with_few_digits(tracks, best, errors)
    return np.split(rounded, np.flatnonzero(np.diff(tracks.track_of_key)) + 1, axis=1)


def _descended(tracks: FittedTracks, start: Float64Array, stage: _Stage) -> tuple[Float64Array, Float64Array]:
    """Return parameters with smaller errors, and the error of each track."""
    columns, method = stage
    low = LOWEST[columns]
    x = start[columns]
    if method.inside:
        x = np.clip(x, low + _INSIDE, HIGHEST - _INSIDE)
    elif len(columns) == len(start):
        # The previous stage stayed inside the bounds.
        distance = 0.4 * _INSIDE
        x = np.where(x < low + distance, low, np.where(x > HIGHEST - distance, HIGHEST, x))
    fit = ParameterProblem(tracks, columns)
    result = descend(fit, x, low, HIGHEST, method)
    parameters = np.zeros_like(start)
    parameters[columns] = result.x
    return parameters, result.cost - fit.penalty(result.x)


def _with_few_digits(tracks: FittedTracks, parameters: Float64Array, errors: Float64Array) -> Float64Array:
    """Round the parameters to the fewest digits that hardly change the motion, relative to rounding or its error."""
    allowed = np.maximum(3.0 * tracks.noise, _ROUNDING_SHARE * np.sqrt(errors / tracks.segments))[tracks.track_of_key]
    effects = tracks.largest_effects(parameters)
    rounded = parameters.copy()
    for digits in (3, 2, 1, 0):
        with_digits = np.round(parameters, digits)
        rounded = np.where(np.abs(with_digits - parameters) * effects <= allowed, with_digits, rounded)
    rounded = np.where(np.abs(parameters) * effects <= allowed, 0.0, rounded)
    is_good = tracks.errors(tracks.residuals(rounded)) <= np.maximum(errors / _WORTHWHILE**2, 20.0 * tracks.goals)
    return np.where(is_good[tracks.track_of_key], rounded, parameters)


FLOAT32 = 2.0**-22
"""The float32 rounding of samples and of the handles that produced them, relative to a track's largest value."""
_NOISE = 1e-6
"""Parameters that change the motion by less than this fraction of a track's range, below float32 resolution, stay 0."""
_SOLVED = 0.05
"""The relative residual of a step's equations, which is reduced after large decreases (Eisenstat and Walker)."""
_MAX_ITERATIONS = 30
"""The maximum number of conjugate gradient iterations. Most solutions need 6, because the coupling is loose."""


@dataclass(frozen=True, eq=False)
class FittedTracks:
    """The concatenated keys of several tracks, and the segments of all their parts."""

    track_of_key: IndexArray
    """The track of each key."""
    noise: Float64Array
    """The noise of each track, relative to its range."""
    batches: list[SplineSegments]

    @classmethod
    def of(cls, tracks: Sequence[Sequence[SplineToFit]]) -> FittedTracks:
        """Return the keys of all tracks. Each track has at least one part."""
        counts = [1 + max(int(part.rows[-1]) for part in track) for track in tracks]
        starts = np.cumsum([0, *counts])
        scales = [_scale_of(track) for track in tracks]
        batches: dict[Hashable, list[tuple[SplineToFit, int, float]]] = {}
        for track, start, (scale, _) in zip(tracks, starts.tolist(), scales, strict=False):
            for part in track:
                batches.setdefault((part.spline.batch, part.is_on_sphere), []).append((part, start, scale))
        return cls(
            np.repeat(np.arange(len(tracks)), counts),
            np.array([noise for _, noise in scales]),
            [SplineSegments.of(*zip(*batch, strict=True)) for batch in batches.values()],
        )

    def take(self, tracks: BoolArray) -> FittedTracks:
        """Return the keys of a subset of the tracks."""
        is_taken = tracks[self.track_of_key]
        batches = [taken for batch in self.batches if (taken := batch.take(is_taken)) is not None]
        return FittedTracks((np.cumsum(tracks) - 1)[self.track_of_key[is_taken]], self.noise[tracks], batches)

    @cached_property
    def begin_keys(self) -> IndexArray:
        """Return the keys that begin the segments."""
        return np.concatenate([batch.begin_keys for batch in self.batches])

    @cached_property
    def end_keys(self) -> IndexArray:
        """Return the keys that end the segments."""
        return np.concatenate([batch.end_keys for batch in self.batches])

    @cached_property
    def segments(self) -> Float64Array:
        """Return the number of segments of each track, at least 1."""
        return np.maximum(np.bincount(self.track_of_key[self.begin_keys], minlength=len(self.noise)), 1.0)

    @property
    def goals(self) -> Float64Array:
        """Return the error of each track that is due only to noise."""
        return self.segments * self.noise**2

    def residuals(self, parameters: Float64Array) -> list[Float64Array]:
        """Return the residuals of each batch."""
        return [batch.residuals(parameters) for batch in self.batches]

    def errors(self, residuals: Sequence[Float64Array]) -> Float64Array:
        """Return each track's sum of squares."""
        squares = np.concatenate([np.einsum("dsn,dsn->n", of_batch, of_batch) for of_batch in residuals])
        return _binned(self.track_of_key[self.begin_keys], squares, len(self.noise))

    def sum_at_keys(self, sides: Float64Array) -> Float64Array:
        """Sum the terms of segments for the keys that begin and end them, from (2, …, segments) to (…, keys)."""
        shape, count = sides.shape[1:-1], len(self.track_of_key)
        rows = math.prod(shape)
        # Each row of numbers has bins of its own.
        bins = np.stack([self.begin_keys, self.end_keys])[:, np.newaxis] + count * np.arange(rows)[:, np.newaxis]
        return _binned(bins.ravel(), sides.ravel(), rows * count).reshape(*shape, count)

    def sum_of_tracks(self, numbers: Float64Array) -> Float64Array:
        """Return the sums of numbers (columns, keys) over the keys of each track."""
        return _binned(self.track_of_key, numbers.sum(axis=0), len(self.noise))

    def largest_effects(self, parameters: Float64Array) -> Float64Array:
        """Return the largest change in the residuals of a segment per change in each parameter, shape (5, keys)."""
        squares = np.concatenate(
            [np.square(batch.jacobian(parameters, range(5))).sum(axis=(2, 3)) for batch in self.batches], axis=-1
        )
        effects = np.zeros((5, len(self.track_of_key)))
        for ends, segment_effects in zip((self.begin_keys, self.end_keys), np.sqrt(squares), strict=True):
            for largest, effect in zip(effects, segment_effects, strict=True):
                np.maximum.at(largest, ends, effect)
        return effects


def _scale_of(track: Sequence[SplineToFit]) -> tuple[float, float]:
    """Return the range of a track's motion, and the noise relative to the range."""
    spread = largest = 0.0
    for part in track:
        # The chord of a quaternion is half the chord of the rotation.
        per_chord = 2.0 if part.is_on_sphere else 1.0
        samples = part.compared_samples.reshape(-1, part.compared_samples.shape[2])
        values = samples if part.is_on_sphere else np.concatenate([samples, part.compared_keys])
        spread = max(spread, per_chord * float(np.ptp(values, axis=0).max()))
        largest = max(largest, per_chord * float(np.abs(values).max()))
    noise = max(_NOISE * spread, FLOAT32 * largest)
    return (spread, noise / spread) if spread > noise else (1.0, max(1.0, largest))


class _State(NamedTuple):
    """Residuals of each batch, with errors, costs and step accuracy of each track."""

    residuals: list[Float64Array]
    errors: Float64Array
    cost: Float64Array
    """The errors with the penalty."""
    forcing: Float64Array
    """The relative residual at which the solution of a step's equations is accurate enough."""


@dataclass(frozen=True)
class ParameterProblem:
    """Least-squares fit of some columns of the parameters. The others are 0. See `least_squares.Problem`."""

    tracks: FittedTracks
    columns: list[int]

    @property
    def owner(self) -> IndexArray:
        return self.tracks.track_of_key

    def _parameters(self, x: Float64Array) -> Float64Array:
        """Return all five parameters (5, keys) for the unknowns."""
        parameters = np.zeros((5, x.shape[1]))
        parameters[self.columns] = x
        return parameters

    def penalty(self, x: Float64Array) -> Float64Array:
        """Return the weights that pull parameters without any effect toward 0."""
        return self.tracks.noise**2 * self.tracks.sum_of_tracks(x * x)

    def evaluate(self, x: Float64Array, near: _State | None) -> _State:
        tracks = self.tracks
        residuals = tracks.residuals(self._parameters(x))
        errors = tracks.errors(residuals)
        cost = errors + self.penalty(x)
        forcing = np.full(len(cost), _SOLVED)
        if near is not None:
            forcing *= np.sqrt(np.minimum(cost / np.maximum(near.cost, 1e-300), 1.0))
        return _State(residuals, errors, cost, forcing)

    def equations(self, x: Float64Array, state: _State) -> _Equations:
        tracks, penalty = self.tracks, (self.tracks.noise**2)[self.tracks.track_of_key]
        parameters = self._parameters(x)
        count = len(self.columns)
        products, slopes = [], []
        for batch, residuals in zip(tracks.batches, state.residuals, strict=True):
            jacobian = batch.jacobian(parameters, self.columns).reshape(2 * count, -1, len(batch.begin))
            changes = np.ascontiguousarray(jacobian.transpose(2, 0, 1))
            products.append(changes @ changes.transpose(0, 2, 1))
            slopes.append(changes @ residuals.reshape(-1, len(changes), 1).swapaxes(0, 1))
        # The first axis of each pair distinguishes between the keys before and after each segment.
        squares = np.concatenate(products).reshape(-1, 2, count, 2, count).transpose(1, 3, 2, 4, 0)
        diagonal_blocks = tracks.sum_at_keys(np.stack([squares[0, 0], squares[1, 1]]))
        coupling_blocks = np.ascontiguousarray(squares[0, 1])
        slope = tracks.sum_at_keys(np.concatenate(slopes).reshape(-1, 2, count).transpose(1, 2, 0)) + penalty * x
        return _Equations(tracks, diagonal_blocks, coupling_blocks, slope, penalty, state.forcing)

    def moved(self, x: Float64Array, step: Float64Array) -> Float64Array:
        return np.clip(x + step, LOWEST[self.columns], HIGHEST)

    def is_good(self, state: _State, steps: int) -> BoolArray:
        return np.less_equal(state.errors, self.tracks.goals)

    def chosen(self, better: BoolArray, new: _State, old: _State) -> _State:
        residuals = [
            np.where(better[self.tracks.track_of_key[batch.begin_keys]], new_residuals, old_residuals)
            for batch, new_residuals, old_residuals in zip(
                self.tracks.batches, new.residuals, old.residuals, strict=True
            )
        ]
        by_track = (np.where(better, *arrays) for arrays in zip(new[1:], old[1:], strict=True))
        return _State(residuals, *by_track)

    def take(self, problems: BoolArray, state: _State) -> tuple[ParameterProblem, _State]:
        is_taken = problems[self.tracks.track_of_key]
        residuals = [
            of_batch.compress(is_taken[batch.begin_keys], axis=2)
            for batch, of_batch in zip(self.tracks.batches, state.residuals, strict=True)
        ]
        nonempty = [of_batch for of_batch in residuals if of_batch.shape[-1]]
        taken = _State(nonempty, *(by_track[problems] for by_track in state[1:]))
        return ParameterProblem(self.tracks.take(problems), self.columns), taken


@dataclass(frozen=True)
class _Equations:
    """The keys' normal equations, solved by conjugate gradients. See `least_squares.Equations`."""

    tracks: FittedTracks
    diagonal_blocks: Float64Array
    """The blocks on the diagonal, shape (columns, columns, keys)."""
    coupling_blocks: Float64Array
    """The blocks that couple the keys that begin and end each segment, shape (columns, columns, segments)."""
    gradient: Float64Array
    penalty: Float64Array
    forcing: Float64Array

    @property
    def diagonal(self) -> Float64Array:
        diagonal: Float64Array = np.einsum("iin->in", self.diagonal_blocks)
        return diagonal

    def times(self, step: Float64Array) -> Float64Array:
        return self._times(self.diagonal_blocks, step)

    def _times(self, diagonal_blocks: Float64Array, step: Float64Array) -> Float64Array:
        """Return the matrix with these diagonal blocks times a step."""
        at_begin = np.einsum("ijn,jn->in", self.coupling_blocks, step.take(self.tracks.end_keys, axis=1))
        at_end = np.einsum("jin,jn->in", self.coupling_blocks, step.take(self.tracks.begin_keys, axis=1))
        coupled = self.tracks.sum_at_keys(np.stack([at_begin, at_end]))
        product: Float64Array = np.einsum("ijn,jn->in", diagonal_blocks, step) + coupled
        return product

    def solve(self, added: Float64Array, free: BoolArray, right: Float64Array) -> Float64Array:
        """Return the solution by preconditioned conjugate gradients, with one step length per track."""
        tracks = self.tracks
        diagonal_blocks = self.diagonal_blocks * (free[:, np.newaxis] & free)
        diagonal_blocks[np.diag_indices(len(free))] += np.where(free, added + self.penalty, 1.0)
        # The diagonal blocks are the preconditioner.
        inverses: Float64Array = np.asarray(np.linalg.inv(diagonal_blocks.transpose(2, 0, 1)), dtype=np.float64)
        inverse = np.ascontiguousarray(inverses.transpose(1, 2, 0))
        solution = np.zeros_like(right)
        residual = np.where(free, right, 0.0)
        direction = preconditioned = np.einsum("ijn,jn->in", inverse, residual)
        size = tracks.sum_of_tracks(residual * preconditioned)
        accurate_size = self.forcing**2 * size
        for _ in range(_MAX_ITERATIONS):
            product = self._times(diagonal_blocks, direction) * free
            length = self._ratio(size, tracks.sum_of_tracks(direction * product))
            solution += length * direction
            residual = residual - length * product
            preconditioned = np.einsum("ijn,jn->in", inverse, residual)
            previous_size, size = size, tracks.sum_of_tracks(residual * preconditioned)
            if (size <= accurate_size).all():
                break
            direction = preconditioned + self._ratio(size, previous_size) * direction
        return solution

    def _ratio(self, dividend: Float64Array, divisor: Float64Array) -> Float64Array:
        """Return the ratio of each key's track, or 0 where the divisor is 0."""
        ratio = np.divide(dividend, divisor, out=np.zeros_like(dividend), where=divisor > 0.0)
        return ratio[self.tracks.track_of_key]


def _binned(bins: IndexArray, numbers: Float64Array, count: int) -> Float64Array:
    """Return the sums of the numbers in each bin."""
    sums: Float64Array = np.bincount(bins, numbers, count).astype(np.float64, copy=False)
    return sums
