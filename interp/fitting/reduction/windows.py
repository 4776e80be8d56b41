# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples and keys of several tracks, and windows of a few consecutive keys with the sums of their fits.

Samples are at whole frames. The search fits tens of thousands of windows of five to eleven keys. For segments of equal
length, all sums are a single matrix product. A window of m keys has m - 1 segments. A segment has four unknowns: value
and velocity at the start, and value and velocity at the end. Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from ...cubics import hermite_weights
from ...keys import BoolArray, Float64Array, IndexArray

Method = Literal["HERMITE", "TCB"]
"""Keys with velocities, or with tension, continuity and bias."""
Measure = Callable[[IndexArray, IndexArray, Float64Array], Float64Array]
"""A function that returns the errors (n,) of values (n, d) at rows (n,) of tracks (n,), relative to the limit."""

_HOLD = 4
"""The minimum number of frames with equal samples for a hold."""
_ROUNDING = 2.0**-19
"""The rounding of samples in a hold, relative to the largest sample. Files round angles to four decimals of a degree.

With less, the rounding in a motionless track would split it into many holds.
"""


@dataclass(frozen=True)
class Samples:
    """The samples of several tracks, one per frame.

    Attributes
    ----------
    values : ndarray, shape (tracks, frames, d)
    measure : Measure
        The function that measures the errors of values.
    parts : list of (slice, bool)
        The columns of each property, and whether the property is a rotation.
    ends : ndarray, shape (tracks, 2, d), or None
        The velocities of the first and last keys, which then have the values of the samples. NaN marks an end that is
        free in all tracks.
    method : "HERMITE" or "TCB"
        The type of the keys.
    """

    values: Float64Array
    measure: Measure
    parts: list[tuple[slice, bool]]
    ends: Float64Array | None = None
    method: Method = "HERMITE"

    @property
    def count(self) -> int:
        """Return the number of frames."""
        return int(self.values.shape[1])

    @cached_property
    def held(self) -> BoolArray:
        """Return a mask (tracks, frames) of keys that keep their value and velocity, at holds and at given ends."""
        is_held = self.holds.copy()
        for row, velocities in self.given_ends:
            is_held[:, row] |= ~np.isnan(velocities).any(axis=1)
        return is_held

    @property
    def given_ends(self) -> list[tuple[int, Float64Array]]:
        """Return the rows of both ends, with the velocities (tracks, d) there. Keys with tension have none."""
        if self.ends is None or self.method == "TCB":
            return []
        return [(0, self.ends[:, 0]), (self.count - 1, self.ends[:, 1])]

    @cached_property
    def holds(self) -> BoolArray:
        """Return a mask (tracks, frames) of the starts and ends of holds, where keys have zero velocity."""
        is_edge = np.zeros(self.values.shape[:2], dtype=np.bool_)
        size = np.abs(self.values).max(axis=(1, 2), initial=0.0)
        is_flat = (np.abs(np.diff(self.values, axis=1)) <= _ROUNDING * size[:, np.newaxis, np.newaxis]).all(axis=2)
        # 1 at the start of each run of flat frames, and -1 at its end.
        changes = np.diff(np.pad(is_flat, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        tracks, first = np.nonzero(changes == 1)
        last = np.nonzero(changes == -1)[1]
        is_hold = last - first >= _HOLD
        is_edge[tracks[is_hold], first[is_hold]] = is_edge[tracks[is_hold], last[is_hold]] = True
        return is_edge


@dataclass
class KeySet:
    """Keys of several tracks in order of track and row, or windows of m consecutive keys.

    Keys beyond the end of a track repeat its last row and have no effect.
    """

    track: IndexArray
    """The track of each key or window, shape (n,)."""
    rows: IndexArray
    """Rows of the samples, shape (n,) or (n, m)."""
    values: Float64Array
    """The values of keys, shape (n, d) or (n, m, d)."""
    velocities: Float64Array
    """Velocities in units per frame, with the shape of `values`."""

    def take(self, chosen: BoolArray | IndexArray | tuple[IndexArray, ...]) -> KeySet:
        """Return a subset of the keys or windows."""
        return KeySet(self.track[chosen], self.rows[chosen], self.values[chosen], self.velocities[chosen])

    def bounds(self) -> tuple[IndexArray, IndexArray]:
        """Return the indices of the first and last keys of each key's track."""
        first = np.searchsorted(self.track, self.track, side="left")
        last = np.searchsorted(self.track, self.track, side="right") - 1
        return first, last

    def windows(self, indices: IndexArray) -> KeySet:
        """Return the windows that consist of the keys at some indices (n, m)."""
        return KeySet(self.track[indices[:, 0]], self.rows[indices], self.values[indices], self.velocities[indices])

    def put(self, indices: IndexArray, fitted: KeySet, free: BoolArray) -> None:
        """Replace the keys at some indices (n, m) with the keys of fitted windows, where the mask `free` is true."""
        replaced = indices[free]
        self.rows[replaced] = fitted.rows[free]
        self.values[replaced] = fitted.values[free]
        self.velocities[replaced] = fitted.velocities[free]


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
