# SPDX-License-Identifier: GPL-3.0-or-later
"""Least-squares fits of cubics through windows of a few consecutive keys, many windows at once.

Samples are at whole frames. Each key has a value and a velocity. The outer keys of a window do not change, so nothing
changes outside the window. The search fits tens of thousands of windows of four or five keys. For segments of equal
length, all sums are a single matrix product. Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np

from ...hermite_basis import hermite_weights
from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array

Method = Literal["HERMITE", "TCB"]
"""Keys with velocities, or with tension, continuity and bias."""
Measure = Callable[[IndexArray, IndexArray, Float64Array], Float64Array]
"""A function that returns the errors (n,) of values (n, d) at rows (n,) of tracks (n,), relative to the limit."""

_RIDGE = 1e-9
"""The weight of a change, relative to the samples. This weight matters only where no sample has an effect."""
_HOLD = 4
"""The minimum number of frames with equal samples for a hold."""
_ALIKE = 2.0**-22
"""The rounding of float32 in a hold, relative to the largest sample."""
_TURNS = 4
"""The number of times that weights are clipped to their bounds and the remaining weights are solved for again."""
_FIVE = 5
_MOST = 4.0
"""The largest sum of the weights of both chords, 2 (1-T)."""


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
    smooth : ndarray, shape (tracks, frames, d), or None
        The values of keys with tension and bias, or None for keys with velocities.
    """

    values: Float64Array
    measure: Measure
    parts: list[tuple[slice, bool]]
    ends: Float64Array | None = None
    smooth: Float64Array | None = None

    @property
    def count(self) -> int:
        """Return the number of frames."""
        return int(self.values.shape[1])

    @cached_property
    def held(self) -> BoolArray:
        """Return a mask (tracks, frames) of keys that keep their value and velocity, at holds and at given ends."""
        return self.holds if self.smooth is not None else self.holds | self._joined

    @cached_property
    def _joined(self) -> BoolArray:
        """Return a mask (tracks, frames) of keys with given velocities."""
        found = np.zeros(self.values.shape[:2], dtype=np.bool_)
        for row, velocities in self.given_ends:
            found[:, row] = ~np.isnan(velocities).any(axis=1)
        return found

    @property
    def given_ends(self) -> list[tuple[int, Float64Array]]:
        """Return the rows of both ends, with the velocities (tracks, d) there."""
        return [] if self.ends is None else [(0, self.ends[:, 0]), (self.count - 1, self.ends[:, 1])]

    @cached_property
    def holds(self) -> BoolArray:
        """Return a mask (tracks, frames) of the starts and ends of holds, where keys have zero velocity."""
        found = np.zeros(self.values.shape[:2], dtype=np.bool_)
        size = np.abs(self.values).max(axis=(1, 2), initial=0.0)
        alike = (np.abs(np.diff(self.values, axis=1)) <= _ALIKE * size[:, np.newaxis, np.newaxis]).all(axis=2)
        edges = np.diff(np.pad(alike, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        tracks, first = np.nonzero(edges == 1)
        last = np.nonzero(edges == -1)[1]
        is_long = last - first >= _HOLD
        found[tracks[is_long], first[is_long]] = found[tracks[is_long], last[is_long]] = True
        return found

    def values_at(self, track: IndexArray, rows: IndexArray) -> Float64Array:
        """Return the keys' initial values, which are final for keys with tension and bias."""
        if self.smooth is None:
            return self.values[track, rows]
        is_given = (self.holds | self._joined)[track, rows][..., np.newaxis]
        return np.where(is_given, self.values[track, rows], self.smooth[track, rows])


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

    def take(self, chosen: BoolArray | IndexArray) -> KeySet:
        """Return a subset of the keys or windows."""
        return KeySet(self.track[chosen], self.rows[chosen], self.values[chosen], self.velocities[chosen])

    def bounds(self) -> tuple[IndexArray, IndexArray]:
        """Return the indices of the first and last keys of each key's track."""
        first = np.searchsorted(self.track, self.track, side="left")
        last = np.searchsorted(self.track, self.track, side="right") - 1
        return first, last

    def windows(self, places: IndexArray) -> KeySet:
        """Return the windows that consist of the keys (n, m)."""
        return KeySet(self.track[places[:, 0]], self.rows[places], self.values[places], self.velocities[places])

    def put(self, places: IndexArray, fitted: KeySet, free: BoolArray) -> None:
        """Copy the rows, values and velocities of fitted keys."""
        at = places[free]
        self.rows[at] = fitted.rows[free]
        self.values[at] = fitted.values[free]
        self.velocities[at] = fitted.velocities[free]


@dataclass(frozen=True)
class Expanded:
    """The samples of segments (n,), including both ends, sorted by the length of the segments."""

    order: IndexArray
    """The segments in order of length, shape (n,)."""
    segment: IndexArray
    """The segment of each sample, shape (samples,)."""
    row: IndexArray
    starts: IndexArray
    """The first sample of each segment in order, shape (n,)."""
    lengths: list[tuple[int, int, int]]
    """Each length, with the first of its segments in order and the index after the last."""

    @classmethod
    def of(cls, first: IndexArray, last: IndexArray) -> Expanded:
        """Return the samples between first and last rows."""
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
        products = np.empty((len(self.order), 4, 4))
        found = np.empty((len(self.order), 4, target.shape[1]))
        for length, start, end in self.lengths:
            _, halved, squares = _weights(length)
            own = target[self.starts[start] : self.starts[start] + (length + 1) * (end - start)]
            products[self.order[start:end]] = squares
            found[self.order[start:end]] = halved.T @ own.reshape(end - start, length + 1, -1)
        return products, found

    def played(self, points: Float64Array) -> Float64Array:
        """Return the values (samples, d) of segments, given the values and velocities at both ends (n, 4, d)."""
        found = np.empty((len(self.segment), points.shape[2]))
        for length, start, end in self.lengths:
            own = found[self.starts[start] : self.starts[start] + (length + 1) * (end - start)]
            own.reshape(end - start, length + 1, -1)[:] = _weights(length)[0] @ points[self.order[start:end]]
        return found

    def largest(self, errors: Float64Array) -> Float64Array:
        """Return the largest errors (n, …) in each segment, from the errors (samples, …)."""
        found = np.zeros((len(self.order), *errors.shape[1:]))
        if len(self.order):
            found[self.order] = np.maximum.reduceat(errors, self.starts)
        return found


@lru_cache(maxsize=4096)
def _weights(length: int) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return the weights (length + 1, 4) at a segment's samples, the same with halved ends, and their products."""
    chord, leaving, arriving = hermite_weights(np.arange(length + 1) / length)
    weights = np.stack([1.0 - chord, leaving * length, chord, arriving * length], axis=1)
    halved = weights.copy()
    halved[[0, -1]] *= 0.5
    return weights, halved, weights.T @ halved


def refit(samples: Samples, windows: KeySet, free: BoolArray) -> tuple[KeySet, Float64Array]:
    """Return windows with fitted free keys (n, m), and their largest errors (n,)."""
    count, width = windows.rows.shape
    dimension = windows.values.shape[2]
    # Segments before the first key of a track or after the last key have length 0.
    real = np.flatnonzero(np.diff(windows.rows, axis=1).ravel() > 0)
    expanded = Expanded.of(windows.rows[:, :-1].ravel()[real], windows.rows[:, 1:].ravel()[real])
    track = np.repeat(windows.track, width - 1)[real][expanded.segment]
    squares = np.zeros((count * (width - 1), 4, 4))
    sums = np.zeros((count * (width - 1), 4, dimension))
    squares[real], sums[real] = expanded.sums(samples.values[track, expanded.row])
    columns = np.flatnonzero(free.any(axis=0))
    system = squares.reshape(count, width - 1, 4, 4), sums.reshape(count, width - 1, 4, dimension)
    if len(columns) and samples.smooth is None:
        fitted = _with_velocities(windows, free, columns, *system)
    elif len(columns):
        fitted = _with_tension_and_bias(samples, windows, free, columns, *system)
    else:
        fitted = windows
    played = expanded.played(_points(fitted).reshape(-1, 4, dimension)[real])
    largest = np.zeros(count * (width - 1))
    largest[real] = expanded.largest(samples.measure(track, expanded.row, played))
    return fitted, largest.reshape(count, width - 1).max(axis=1)


def _points(windows: KeySet) -> Float64Array:
    """Return the values and velocities at both ends of each segment, shape (n, m-1, 4, d)."""
    values, velocities = windows.values, windows.velocities
    return np.stack([values[:, :-1], velocities[:, :-1], values[:, 1:], velocities[:, 1:]], axis=2)


def _equations(columns: IndexArray, squares: Float64Array, off: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the normal matrix (n, c, 2, c, 2) of keys' values and velocities, and the slope (n, c, 2, d)."""
    count, segments = squares.shape[:2]
    matrix = np.zeros((count, len(columns), 2, len(columns), 2))
    slope = np.zeros((count, len(columns), 2, off.shape[3]))
    for place, key in enumerate(columns.tolist()):
        if key > 0:
            matrix[:, place, :, place] += squares[:, key - 1, 2:, 2:]
            slope[:, place] += off[:, key - 1, 2:]
        if key < segments:
            matrix[:, place, :, place] += squares[:, key, :2, :2]
            slope[:, place] += off[:, key, :2]
            if place + 1 < len(columns):
                matrix[:, place, :, place + 1] = squares[:, key, :2, 2:]
                matrix[:, place + 1, :, place] = squares[:, key, 2:, :2]
    return matrix, slope


def solved(matrix: Float64Array, right: Float64Array, known: BoolArray | None = None) -> Float64Array:
    """Return the solutions of symmetric systems (n, s, s). The result is 0 where the mask `known` (n, s) is True."""
    diagonal = np.arange(matrix.shape[1])
    size = matrix[:, diagonal, diagonal] * (1.0 + _RIDGE)
    matrix[:, diagonal, diagonal] = np.where(size > 0.0, size, 1.0)
    if known is not None and known.any():
        matrix[known] = 0.0
        matrix.transpose(0, 2, 1)[known] = 0.0
        matrix[:, diagonal, diagonal] += known
        right = right.copy()
        right[known] = 0.0
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)


def _with_velocities(
    windows: KeySet, free: BoolArray, columns: IndexArray, squares: Float64Array, sums: Float64Array
) -> KeySet:
    """Return the windows with least-squares values and velocities."""
    count, _, dimension = windows.values.shape
    matrix, slope = _equations(columns, squares, squares @ _points(windows) - sums)
    size = 2 * len(columns)
    known = np.repeat(~free[:, columns], 2, axis=1)
    move = solved(matrix.reshape(count, size, size), -slope.reshape(count, size, dimension), known)
    move = move.reshape(count, len(columns), 2, dimension)
    values, velocities = windows.values.copy(), windows.velocities.copy()
    values[:, columns] += move[:, :, 0]
    velocities[:, columns] += move[:, :, 1]
    return KeySet(windows.track, windows.rows, values, velocities)


def _with_tension_and_bias(
    samples: Samples,
    windows: KeySet,
    free: BoolArray,
    columns: IndexArray,
    squares: Float64Array,
    sums: Float64Array,
) -> KeySet:
    """Return the windows with the least-squares tension and bias of each part, and the value of the middle key.

    Without continuity, a key has one velocity, the sum of both chords with weights x = (1-T)(1+B) and y = (1-T)(1-B).
    For given values, the fit is a linear problem in the triangle x >= 0, y >= 0, x + y <= 4. For given weights, the
    problem is also linear in a value. In windows of five keys, the two problems are solved alternately, because the
    middle value does not affect the chords of the outer keys. Source: docs/formulas, "Fewest keys with tension and
    bias".
    """
    weights, fitted = _weighted(samples, windows, free, columns, squares, sums)
    if windows.rows.shape[1] != _FIVE:
        return fitted
    # The change in velocities due to the middle value, which ends a chord of the previous key and begins a chord of the
    # next.
    off = squares @ _points(fitted) - sums
    lengths = np.diff(windows.rows, axis=1).astype(np.float64)
    around = np.maximum(lengths[:, :-1] + lengths[:, 1:], 1.0)
    changes = np.zeros((*off.shape[:2], 4, len(samples.parts)))
    by_key = np.zeros((len(off), _FIVE, len(samples.parts)))
    is_inner = (lengths[:, :-1] > 0.0) & (lengths[:, 1:] > 0.0)
    by_key[:, 1] = weights[:, 0, :, 1] * (is_inner[:, 0] / around[:, 0])[:, np.newaxis]
    by_key[:, 2] = (weights[:, 1, :, 0] - weights[:, 1, :, 1]) / around[:, 1, np.newaxis]
    by_key[:, 3] = -weights[:, 2, :, 0] * (is_inner[:, 2] / around[:, 2])[:, np.newaxis]
    changes[:, :, 1], changes[:, :, 3] = by_key[:, :-1], by_key[:, 1:]
    changes[:, 1, 2] = changes[:, 2, 0] = 1.0
    size = np.einsum("nsip,nsij,nsjp->np", changes, squares, changes)
    values = fitted.values.copy()
    able = free[:, 2] & is_inner[:, 0] & is_inner[:, 2]
    for number, (part, _) in enumerate(samples.parts):
        slope = np.einsum("nsi,nsid->nd", changes[..., number], off[..., part])
        step = np.divide(able, size[:, number], out=np.zeros(len(off)), where=size[:, number] > 0.0)
        values[:, 2, part] -= step[:, np.newaxis] * slope
    moved = KeySet(windows.track, windows.rows, values, windows.velocities)
    return _weighted(samples, moved, free, columns, squares, sums)[1]


def _weighted(
    samples: Samples,
    windows: KeySet,
    free: BoolArray,
    columns: IndexArray,
    squares: Float64Array,
    sums: Float64Array,
) -> tuple[Float64Array, KeySet]:
    """Return the least-squares weights of both chords (n, c, parts, 2), and the windows with these weights."""
    count, width = len(windows.rows), len(columns)
    velocities = windows.velocities.copy()
    chords = directions(windows.rows, windows.values, windows.velocities, samples.parts)[:, columns]
    is_free = free[:, columns]
    velocities[:, columns] = np.where(is_free[..., np.newaxis], 0.0, velocities[:, columns])
    bare = KeySet(windows.track, windows.rows, windows.values, velocities)
    matrix, slope = _equations(columns, squares, squares @ _points(bare) - sums)
    matrix, slope = matrix[:, :, 1, :, 1], slope[:, :, 1]
    known = np.repeat(~is_free, 2, axis=1)
    every = np.zeros((count, width, len(samples.parts), 2))
    for number, (part, _) in enumerate(samples.parts):
        own = np.ascontiguousarray(chords[..., part]).reshape(count, 2 * width, -1)
        system = np.repeat(np.repeat(matrix, 2, axis=1), 2, axis=2) * (own @ own.transpose(0, 2, 1))
        right = -(own * np.repeat(slope[..., part], 2, axis=1)).sum(axis=2)
        every[:, :, number] = found = in_triangle(system, right, known).reshape(count, width, 2)
        velocities[:, columns, part] += (found[..., np.newaxis] * chords[..., part]).sum(axis=2)
    return every, KeySet(windows.track, windows.rows, windows.values, velocities)


def in_triangle(system: Float64Array, right: Float64Array, known: BoolArray) -> Float64Array:
    """Return the solutions (n, 2c) for pairs of nonnegative weights with a sum of at most 4. Known weights are 0.

    Weights below 0 are omitted, sums above 4 become 4, and the remaining weights are solved for again.
    """
    count, size = right.shape
    known = known.copy()
    heavy = np.zeros((count, size // 2), dtype=np.bool_)
    diagonal = np.arange(size)
    system[:, diagonal, diagonal] += np.finfo(np.float64).tiny ** 0.5
    force = 1e6 * system[:, diagonal, diagonal].max(axis=1, initial=0.0)
    first, second = diagonal[::2], diagonal[1::2]
    for _ in range(_TURNS):
        matrix, total = system.copy(), right.copy()
        weight: Float64Array = force[:, np.newaxis] * heavy
        for a, b in ((first, first), (first, second), (second, first), (second, second)):
            matrix[:, a, b] += weight
        total += np.repeat(_MOST * weight, 2, axis=1)
        found = solved(matrix, total[..., np.newaxis], known)[..., 0]
        below, above = found < 0.0, found[:, ::2] + found[:, 1::2] > _MOST * (1.0 + 1e-5)
        if not (below.any() or above.any()):
            break
        known |= below
        heavy |= above
    result: Float64Array = _within_triangle(found.reshape(count, -1, 2)).reshape(count, size)
    return result


def _within_triangle(weights: Float64Array) -> Float64Array:
    """Return nonnegative weights of two chords (..., 2) with a sum of at most 4."""
    found = np.maximum(weights, 0.0)
    total = found.sum(axis=-1, keepdims=True)
    result: Float64Array = found * np.where(total > _MOST, _MOST / np.maximum(total, _MOST), 1.0)
    return result


def directions(
    rows: IndexArray, values: Float64Array, velocities: Float64Array, parts: list[tuple[slice, bool]]
) -> Float64Array:
    """Return the chords before and after keys, per frame of their combined length, shape (n, m, 2, d).

    The first key of a track has only the chord after it, which determines its tangent as in TCB. For rotations, the
    tangent is along the chord. Otherwise, the tangent is along the rest of the parabola. The same applies to the last
    key.
    """
    length = np.diff(rows, axis=1).astype(np.float64)
    chord = np.diff(values, axis=1)
    before, after = np.zeros((2, *values.shape))
    before[:, 1:], after[:, :-1] = chord, chord
    to, from_ = np.pad(length, ((0, 0), (1, 0))), np.pad(length, ((0, 0), (0, 1)))
    around = np.where((to > 0.0) & (from_ > 0.0), to + from_, 2.0 * np.maximum(to, from_))
    is_first, is_last = (to == 0.0) & (from_ > 0.0), (from_ == 0.0) & (to > 0.0)
    for part, is_rotation in parts:
        if is_rotation:
            continue
        for is_end, own, step in ((is_first, after, 1), (is_last, before, -1)):
            window, key = np.nonzero(is_end)
            beside = np.clip(key + step, 0, rows.shape[1] - 1)
            span = (rows[window, beside] - rows[window, key])[:, np.newaxis]
            is_alone = (is_first if step < 0 else is_last)[window, beside][:, np.newaxis]
            bent = 1.5 * own[window, key, part] - 0.5 * step * span * velocities[window, beside, part]
            own[window, key, part] = np.where(is_alone, own[window, key, part], bent)
    return np.stack([before, after], axis=2) / np.maximum(around, 1.0)[..., np.newaxis, np.newaxis]


def played(samples: Samples, keys: KeySet) -> Float64Array:
    """Return the cubics of all tracks at all frames, shape (tracks, frames, d)."""
    inner = np.flatnonzero(keys.track[1:] == keys.track[:-1])
    expanded = Expanded.of(keys.rows[inner], keys.rows[inner + 1])
    points = [keys.values[inner], keys.velocities[inner], keys.values[inner + 1], keys.velocities[inner + 1]]
    every = np.empty_like(samples.values)
    every[keys.track[inner][expanded.segment], expanded.row] = expanded.played(np.stack(points, axis=1))
    return every
