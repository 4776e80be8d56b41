# SPDX-License-Identifier: GPL-3.0-or-later
"""Least squares of cubic Hermite segments through a few keys in a row, many such windows at once.

Samples lie on whole frames. A window is a row of keys that all have a value and a velocity; those at its ends are
fixed, so that what is outside of it stays as it is. Source: docs/formulas.md, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import ClassVar, Protocol

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array

Measure = Callable[[IndexArray, IndexArray, Float64Array], Float64Array]
"""Return errors (n,) as parts of what is allowed, of values (n, d) in place of samples of tracks (n,) at rows (n,)."""

_RIDGE = 1e-9
"""The weight of a velocity's change, relative to a sample's: it decides only where no sample does."""
_HOLD = 4
"""Frames over which samples must stay alike for a hold."""
_ALIKE = 2.0**-22
"""As a part of the largest sample: what float32 rounds neighbouring samples of a hold by."""


@dataclass(frozen=True)
class Samples:
    """Samples of tracks, one a frame.

    Attributes
    ----------
    values : ndarray, shape (tracks, frames, d)
    measure : Measure
        How large the errors of values are.
    is_exact : bool
        Keys have the values of the samples; otherwise those of the least squares.
    curves : Curves
        What keys have beside their values. Default: velocities.
    ends : ndarray, shape (tracks, 2, d), or None
        The velocities with which tracks must begin and end, there at the samples; NaN, of all tracks, where an end is
        free.
    """

    values: Float64Array
    measure: Measure
    is_exact: bool
    curves: Curves = field(default_factory=lambda: HermiteCurves())
    ends: Float64Array | None = None

    @property
    def count(self) -> int:
        """Return the number of frames."""
        return int(self.values.shape[1])

    @cached_property
    def held(self) -> BoolArray:
        """Return where keys stay as they are, shape (tracks, frames): at holds, and at ends that are not free."""
        found = self.holds.copy()
        for row, velocities in self.given_ends:
            found[:, row] |= ~np.isnan(velocities).any(axis=1)
        return found

    @property
    def given_ends(self) -> list[tuple[int, Float64Array]]:
        """Return the rows of both ends, with the velocities (tracks, d) there."""
        return [] if self.ends is None else [(0, self.ends[:, 0]), (self.count - 1, self.ends[:, 1])]

    @cached_property
    def holds(self) -> BoolArray:
        """Return where holds begin and end, shape (tracks, frames): keys there have no velocity."""
        found = np.zeros(self.values.shape[:2], dtype=np.bool_)
        size = np.abs(self.values).max(axis=(1, 2), initial=0.0)
        alike = (np.abs(np.diff(self.values, axis=1)) <= _ALIKE * size[:, np.newaxis, np.newaxis]).all(axis=2)
        edges = np.diff(np.pad(alike, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        tracks, first = np.nonzero(edges == 1)
        last = np.nonzero(edges == -1)[1]
        long = last - first >= _HOLD
        found[tracks[long], first[long]] = found[tracks[long], last[long]] = True
        return found


class Curves(Protocol):
    """How the motion goes from key to key by the shapes of keys, and how these are fitted."""

    @property
    def margin(self) -> int:
        """Return how many keys a window has beside those that are fitted, on each side."""
        ...

    @property
    def simpler(self) -> Curves | None:
        """Return curves whose fewest keys are where the search begins; None: it begins with many keys."""
        ...

    def estimated(self, velocities: Float64Array, held: BoolArray) -> Float64Array:
        """Return shapes (n, s) to begin with, by velocities (n, d); at holds those of keys without velocity."""
        ...

    def refit(self, samples: Samples, windows: Windows, free: BoolArray) -> tuple[Windows, Float64Array]:
        """Return windows whose free keys (n, m) are fitted, and their largest errors (n,)."""
        ...

    def played(self, samples: Samples, keys: KeySet) -> Float64Array:
        """Return what the keys of all tracks play, shape (tracks, frames, d)."""
        ...


@dataclass
class KeySet:
    """Keys of several tracks, in order of track and row: arrays (n,), (n, d) and (n, s)."""

    track: IndexArray
    rows: IndexArray
    values: Float64Array
    shapes: Float64Array

    def keep(self, kept: BoolArray) -> KeySet:
        """Return some of the keys."""
        return KeySet(self.track[kept], self.rows[kept], self.values[kept], self.shapes[kept])

    def bounds(self) -> tuple[IndexArray, IndexArray]:
        """Return the places of the first and of the last key of each key's track."""
        first = np.searchsorted(self.track, self.track, side="left")
        last = np.searchsorted(self.track, self.track, side="right") - 1
        return first, last

    def windows(self, places: IndexArray) -> Windows:
        """Return the windows of keys (n, m)."""
        return Windows(self.track[places[:, 0]], self.rows[places], self.values[places], self.shapes[places])

    def put(self, places: IndexArray, fitted: Windows, free: BoolArray) -> None:
        """Take over the rows, values and shapes of fitted keys."""
        at = places[free]
        self.rows[at] = fitted.rows[free]
        self.values[at] = fitted.values[free]
        self.shapes[at] = fitted.shapes[free]


@dataclass(frozen=True)
class Windows:
    """Keys of n windows, m each, in order; those beyond the end of a track repeat its last row and are void."""

    track: IndexArray
    """Shape (n,)."""
    rows: IndexArray
    """Rows of the samples, shape (n, m)."""
    values: Float64Array
    """Shape (n, m, d)."""
    shapes: Float64Array
    """What `Curves` have beside, shape (n, m, s): of Hermite's velocities, units a frame."""

    def take(self, chosen: IndexArray | BoolArray) -> Windows:
        """Return some of the windows."""
        return Windows(self.track[chosen], self.rows[chosen], self.values[chosen], self.shapes[chosen])


def hermite(lengths: Float64Array | float, u: Float64Array) -> Float64Array:
    """Return the weights of value and velocity at the start and at the end, shape (n, 4), of segments at u."""
    v = 1.0 - u
    return np.stack([v * v * (1.0 + 2.0 * u), lengths * u * v * v, u * u * (3.0 - 2.0 * u), -lengths * u * u * v], -1)


@dataclass(frozen=True)
class Expanded:
    """The samples of segments (n,), both ends included, of one length after the other."""

    order: IndexArray
    """The segments in this order, shape (n,)."""
    segment: IndexArray
    """The segment of each sample, shape (samples,)."""
    row: IndexArray
    starts: IndexArray
    """The first sample of each segment in order, shape (n,)."""
    lengths: list[tuple[int, int, int]]
    """Each length, with the first of its segments in order, and the one after the last."""

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

    def sums(self, target: Float64Array) -> Float64Array:
        """Return the sums of weights times samples (samples, d), half of those at ends, shape (n, 4, d)."""
        found = np.empty((len(self.order), 4, target.shape[1]))
        for length, start, end in self.lengths:
            weights = _weights(length)[1]
            own = target[self.starts[start] : self.starts[start] + (length + 1) * (end - start)]
            found[self.order[start:end]] = weights.T @ own.reshape(end - start, length + 1, -1)
        return found

    def played(self, points: Float64Array) -> Float64Array:
        """Return values (samples, d) of segments with values and velocities at both ends (n, 4, d)."""
        found = np.empty((len(self.segment), points.shape[2]))
        for length, start, end in self.lengths:
            own = found[self.starts[start] : self.starts[start] + (length + 1) * (end - start)]
            own.reshape(end - start, length + 1, -1)[:] = _weights(length)[0] @ points[self.order[start:end]]
        return found

    def products(self) -> Float64Array:
        """Return sums of products of weights over the samples, half of those at ends, shape (n, 4, 4)."""
        found = np.empty((len(self.order), 4, 4))
        for length, start, end in self.lengths:
            found[self.order[start:end]] = _weights(length)[2]
        return found

    def squares(self, target: Float64Array) -> Float64Array:
        """Return the sums of the squares of samples (samples, d), half of those at ends, shape (n,)."""
        square = np.einsum("ij,ij->i", target, target)
        square[self.starts] *= 0.5
        square[np.append(self.starts[1:], len(square)) - 1] *= 0.5
        found = np.empty(len(self.order))
        found[self.order] = np.add.reduceat(square, self.starts)
        return found

    def largest(self, errors: Float64Array) -> Float64Array:
        """Return the largest of the samples' errors in each segment, shape (n,)."""
        found = np.empty(len(self.order))
        for length, start, end in self.lengths:
            own = errors[self.starts[start] : self.starts[start] + (length + 1) * (end - start)]
            found[self.order[start:end]] = own.reshape(end - start, length + 1).max(axis=1)
        return found


@lru_cache(maxsize=4096)
def _weights(length: int) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return the weights at each sample of a segment (length + 1, 4), those halved at the ends, and their products."""
    weights = hermite(float(length), np.arange(length + 1) / length)
    halved = weights.copy()
    halved[[0, -1]] *= 0.5
    return weights, halved, weights.T @ halved


@dataclass(frozen=True)
class HermiteCurves:
    """Keys with velocities: linear least squares.

    Attributes
    ----------
    has_corners : bool
        Whether a key has two velocities, before and after it, side by side.
    """

    has_corners: bool = False

    margin = 1
    simpler: ClassVar[None] = None

    def estimated(self, velocities: Float64Array, held: BoolArray) -> Float64Array:
        """Return the velocities, 0 at holds."""
        return np.tile(np.where(held[:, np.newaxis], 0.0, velocities), 1 + self.has_corners)

    def sides(self, shapes: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the velocities before and after keys, of shapes (..., s)."""
        if not self.has_corners:
            return shapes, shapes
        half = shapes.shape[-1] // 2
        return shapes[..., :half], shapes[..., half:]

    def refit(self, samples: Samples, windows: Windows, free: BoolArray) -> tuple[Windows, Float64Array]:
        """Return windows whose free keys (n, m) are fitted, and their largest errors (n,)."""
        count, width = windows.rows.shape
        dimension = samples.values.shape[2]
        first, last = windows.rows[:, :-1].ravel(), windows.rows[:, 1:].ravel()
        track = np.repeat(windows.track, width - 1)
        # Segments before the first key of a track, or after the last, have no length.
        real = np.flatnonzero(last > first)
        expanded = Expanded.of(first[real], last[real])
        own_track = track[real][expanded.segment]
        target = samples.values[own_track, expanded.row]
        # A key's value, and one velocity or two.
        each = 2 + self.has_corners
        matrix = np.zeros((count, each * width, each * width))
        right = np.zeros((count, each * width, dimension))
        products = np.zeros((count * (width - 1), 4, 4))
        products[real] = expanded.products()
        products = products.reshape(count, width - 1, 4, 4)
        by_segment = np.zeros((count * (width - 1), 4, dimension))
        by_segment[real] = expanded.sums(target)
        by_segment = by_segment.reshape(count, width - 1, 4, dimension)
        block = np.array([0, each - 1, each, each + 1])
        for place in range(width - 1):
            own = each * place + block
            matrix[:, own[:, np.newaxis], own] += products[:, place]
            right[:, own] += by_segment[:, place]
        shapes = windows.shapes.reshape(count, width, each - 1, dimension)
        present = np.concatenate([windows.values[:, :, np.newaxis], shapes], axis=2)
        if samples.is_exact:
            present[:, :, 0] = samples.values[windows.track[:, np.newaxis], windows.rows]
        flat = present.reshape(count, each * width, dimension)
        unknown = np.repeat(free, each, axis=1)
        if samples.is_exact:
            unknown[:, ::each] = False
        diagonal = np.arange(each * width)
        ridge = np.tile([0.0, *[_RIDGE] * (each - 1)], width)
        matrix[:, diagonal, diagonal] += ridge
        right += ridge[:, np.newaxis] * flat
        matrix[~unknown] = 0.0
        matrix[:, diagonal, diagonal] += ~unknown
        solved = np.linalg.solve(matrix, np.where(unknown[:, :, np.newaxis], right, flat))
        solved[~unknown] = flat[~unknown]
        solved = solved.reshape(count, width, each, dimension)
        fitted = Windows(windows.track, windows.rows, solved[:, :, 0], solved[:, :, 1:].reshape(windows.shapes.shape))
        points = np.concatenate([solved[:, :-1, [0, -1]], solved[:, 1:, :2]], axis=2).reshape(-1, 4, dimension)[real]
        errors = samples.measure(own_track, expanded.row, expanded.played(points))
        largest = np.zeros(count * (width - 1))
        largest[real] = expanded.largest(errors)
        return fitted, largest.reshape(count, width - 1).max(axis=1)

    def played(self, samples: Samples, keys: KeySet) -> Float64Array:
        """Return what the keys of all tracks play, shape (tracks, frames, d)."""
        inner = np.flatnonzero(keys.track[1:] == keys.track[:-1])
        expanded = Expanded.of(keys.rows[inner], keys.rows[inner + 1])
        before, after = self.sides(keys.shapes)
        points = np.stack([keys.values[inner], after[inner], keys.values[inner + 1], before[inner + 1]], axis=1)
        every = np.empty_like(samples.values)
        every[keys.track[inner][expanded.segment], expanded.row] = expanded.played(points)
        return every
