# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of segments, and the equations of least-squares fits in windows of a few consecutive keys.

Samples are at whole frames. The search fits tens of thousands of windows of four or five keys. For segments of equal
length, all sums are a single matrix product. The last axis of values has d components. A window of m keys has m - 1
segments. The segments have four unknowns: value and velocity at the start, and value and velocity at the end.
Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...cubics import hermite_weights
from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array
from .key_sets import KeySet, Samples


@dataclass(frozen=True)
class SegmentSamples:
    """The rows of the samples in n segments, including both ends, sorted by the length of the segments."""

    order: IndexArray
    """The segments in order of length, shape (n,)."""
    segment: IndexArray
    """The segment of each sample, shape (samples,)."""
    row: IndexArray
    """The row of each sample, shape (samples,)."""
    starts: IndexArray
    """The first sample of each segment in order, shape (n,)."""
    lengths: list[tuple[int, int, int]]
    """Each length, with the first of its segments in order and the index after the last."""

    @classmethod
    def of(cls, first: IndexArray, last: IndexArray) -> SegmentSamples:
        """Return the rows between first and last rows."""
        lengths = last - first
        order = np.argsort(lengths, kind="stable")
        sorted_lengths = lengths[order]
        counts = sorted_lengths + 1
        starts = np.cumsum(counts) - counts
        segment = np.repeat(order, counts)
        row = np.arange(len(segment)) - np.repeat(starts - first[order], counts)
        bounds = [0, *(np.flatnonzero(np.diff(sorted_lengths)) + 1).tolist(), len(order)]
        spans = [(int(sorted_lengths[start]), start, end) for start, end in pairwise(bounds) if end > start]
        return cls(order, segment, row, starts, spans)

    def sums(self, target: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return sums of products of weights (n, 4, 4), and of weights times samples (n, 4, d), halved at ends."""
        squares = np.empty((len(self.order), 4, 4))
        products = np.empty((len(self.order), 4, target.shape[1]))
        for length, start, end in self.lengths:
            _, halved_weights, weight_squares = _weights(length)
            samples = target[self._samples_of(length, start, end)].reshape(end - start, length + 1, -1)
            squares[self.order[start:end]] = weight_squares
            products[self.order[start:end]] = halved_weights.T @ samples
        return squares, products

    def played(self, points: Float64Array) -> Float64Array:
        """Return the values (samples, d) of segments, given the values and velocities at both ends (n, 4, d)."""
        values = np.empty((len(self.segment), points.shape[2]))
        for length, start, end in self.lengths:
            weights, _, _ = _weights(length)
            samples = values[self._samples_of(length, start, end)].reshape(end - start, length + 1, -1)
            samples[:] = weights @ points[self.order[start:end]]
        return values

    def _samples_of(self, length: int, start: int, end: int) -> slice:
        """Return the samples of segments with the same length, from index `start` to `end` in order."""
        first = int(self.starts[start])
        return slice(first, first + (length + 1) * (end - start))

    def largest(self, errors: Float64Array) -> Float64Array:
        """Return the largest errors (n, …) in each segment, from the errors (samples, …)."""
        largest = np.zeros((len(self.order), *errors.shape[1:]))
        if len(self.order):
            largest[self.order] = np.maximum.reduceat(errors, self.starts)
        return largest


@lru_cache(maxsize=4096)
def _weights(length: int) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return the weights (length + 1, 4) at a segment's samples, the same with halved ends, and their products."""
    chord, leaving, arriving = hermite_weights(np.arange(length + 1) / max(length, 1))
    weights = np.stack([1.0 - chord, leaving * length, chord, arriving * length], axis=1)
    halved = weights.copy()
    halved[[0, -1]] *= 0.5 if length else 0.0
    return weights, halved, weights.T @ halved


def played_values(samples: Samples, keys: KeySet) -> Float64Array:
    """Return the values of the keys' cubics at all frames, shape (tracks, frames, d)."""
    left = np.flatnonzero(keys.track[1:] == keys.track[:-1])
    segments = SegmentSamples.of(keys.rows[left], keys.rows[left + 1])
    points = [keys.values[left], keys.velocities[left], keys.values[left + 1], keys.velocities[left + 1]]
    values = np.empty_like(samples.values)
    # Tracks of one frame have no segments.
    values[keys.track, keys.rows] = keys.values
    values[keys.track[left][segments.segment], segments.row] = segments.played(np.stack(points, axis=1))
    return values


_RIDGE = 1e-9
"""The weight of a change, relative to the samples. This weight matters only where no sample has an effect."""


class WindowSums(NamedTuple):
    """Least-squares sums of n windows of m keys, with the windows on the last axis, where NumPy is fastest."""

    rows: IndexArray
    """Rows of the samples at the keys, shape (m, n)."""
    free: BoolArray
    """Mask of the keys to fit, shape (m, n)."""
    squares: Float64Array
    """Sums of products of the weights of the four unknowns, shape (4, 4, m - 1, n)."""
    products: Float64Array
    """Sums of products of weights and samples, shape (4, m - 1, d, n)."""

    def slopes(self, values: Float64Array, velocities: Float64Array) -> Float64Array:
        """Return the sums of products of weights and deviations from the samples, shape (4, m - 1, d, n).

        Values and velocities of the keys have the shape (m, d, n).
        """
        unknowns = values[:-1], velocities[:-1], values[1:], velocities[1:]
        slopes = -self.products
        for slope, squares in zip(slopes, self.squares, strict=True):
            for square, unknown in zip(squares, unknowns, strict=True):
                slope += square[:, np.newaxis] * unknown
        return slopes


def with_free_velocities(
    sums: WindowSums, values: Float64Array, velocities: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the least-squares values and velocities of the keys, shape (m, d, n).

    The normal equations have a block of two unknowns, value and velocity, for each key, and a block that couples each
    pair of neighboring keys. The unknowns of one key after another are eliminated.
    """
    slopes, squares, is_free = sums.slopes(values, velocities), sums.squares, sums.free[1:-1]
    couplings = np.where(is_free[:-1] & is_free[1:], squares[:2, 2:, 1:-1], 0.0)
    steps = -(slopes[2:, :-1] + slopes[:2, 1:])
    # The upper triangles of the blocks, then of their inverses.
    blocks = np.stack([squares[2 + i, 2 + j, :-1] + squares[i, j, 1:] for i, j in ((0, 0), (0, 1), (1, 1))])
    blocks[::2] *= 1.0 + _RIDGE
    for key in range(len(is_free)):
        value, mixed, velocity = blocks[:, key]
        if key:
            (a, b), (c, d) = couplings[:, :, key - 1]
            p, q, r = blocks[:, key - 1]
            pa, pb, qa, qb = p * a + q * c, p * b + q * d, q * a + r * c, q * b + r * d
            value, mixed, velocity = value - a * pa - c * qa, mixed - a * pb - c * qb, velocity - b * pb - d * qb
            steps[0, key] -= pa * steps[0, key - 1] + qa * steps[1, key - 1]
            steps[1, key] -= pb * steps[0, key - 1] + qb * steps[1, key - 1]
        determinant = value * velocity - mixed * mixed
        factor = np.divide(is_free[key], determinant, out=np.zeros_like(determinant), where=determinant > 0.0)
        blocks[:, key] = velocity * factor, -mixed * factor, value * factor
    for key in range(len(is_free) - 1, -1, -1):
        if key + 1 < len(is_free):
            (a, b), (c, d) = couplings[:, :, key]
            steps[0, key] -= a * steps[0, key + 1] + b * steps[1, key + 1]
            steps[1, key] -= c * steps[0, key + 1] + d * steps[1, key + 1]
        p, q, r = blocks[:, key]
        steps[:, key] = p * steps[0, key] + q * steps[1, key], q * steps[0, key] + r * steps[1, key]
    values, velocities = values.copy(), velocities.copy()
    values[1:-1] += steps[0]
    velocities[1:-1] += steps[1]
    return values, velocities
