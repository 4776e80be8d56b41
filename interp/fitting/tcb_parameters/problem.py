# SPDX-License-Identifier: GPL-3.0-or-later
"""Several tracks as one least-squares problem: their keys end to end, and the segments of all their parts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array
from .derivatives import products
from .parts import Part, scale_of
from .segments import Segments


class Equations(NamedTuple):
    """Normal equations: a symmetric matrix of a block for each key, and one for each segment's two keys."""

    own: Float64Array
    """The blocks on the diagonal, shape (columns, columns, keys)."""
    across: Float64Array
    """The blocks from a segment's left key to its right one, shape (columns, columns, segments)."""
    slope: Float64Array
    """The gradient, shape (columns, keys)."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Several tracks: their keys end to end, and the segments of all their parts."""

    track: IndexArray
    """The track of each key."""
    noise: Float64Array
    """The noise of each track, as a part of its range."""
    batches: list[Segments]

    @classmethod
    def of(cls, tracks: Sequence[Sequence[Part]]) -> Problem:
        """Return the problem of tracks, each with one part or more."""
        counts = [1 + max(int(part.rows[-1]) for part in track) for track in tracks]
        starts = np.cumsum([0, *counts])
        scales = [scale_of(track) for track in tracks]
        batches: dict[Hashable, list[tuple[Part, int, float]]] = {}
        for track, start, (scale, _) in zip(tracks, starts.tolist(), scales, strict=False):
            for part in track:
                batches.setdefault((part.spline.batch, part.has_whole_turns), []).append((part, start, scale))
        return cls(
            np.repeat(np.arange(len(tracks)), counts),
            np.array([noise for _, noise in scales]),
            [Segments.of(*zip(*batch, strict=True)) for batch in batches.values()],
        )

    def take(self, tracks: BoolArray) -> Problem:
        """Return the problem of some of its tracks."""
        keys = tracks[self.track]
        batches = [taken for batch in self.batches if (taken := batch.take(keys)) is not None]
        return Problem((np.cumsum(tracks) - 1)[self.track[keys]], self.noise[tracks], batches)

    @cached_property
    def left(self) -> IndexArray:
        """Return the keys that begin the segments."""
        return np.concatenate([batch.left for batch in self.batches])

    @cached_property
    def right(self) -> IndexArray:
        """Return the keys that end the segments."""
        return np.concatenate([batch.right for batch in self.batches])

    @cached_property
    def segments(self) -> Float64Array:
        """Return how many segments each track has, at least 1."""
        return np.maximum(np.bincount(self.track[self.left], minlength=len(self.noise)), 1.0)

    @property
    def goals(self) -> Float64Array:
        """Return the errors of tracks that are no larger than noise."""
        return self.segments * self.noise**2

    def residuals(self, parameters: Float64Array) -> list[Float64Array]:
        """Return the residuals of each batch."""
        return [batch.residuals(parameters) for batch in self.batches]

    def errors(self, residuals: Sequence[Float64Array]) -> Float64Array:
        """Return each track's sum of squares."""
        squares = np.concatenate([np.einsum("dsn,dsn->n", rows, rows) for rows in residuals])
        return binned(self.track[self.left], squares, len(self.noise))

    def chosen(self, tracks: BoolArray, new: Sequence[Float64Array], old: Sequence[Float64Array]) -> list[Float64Array]:
        """Return the new residuals of some tracks, the old ones of the others."""
        return [
            np.where(tracks[self.track[batch.left]], one, other)
            for batch, one, other in zip(self.batches, new, old, strict=True)
        ]

    def residuals_of(self, residuals: Sequence[Float64Array], keys: BoolArray) -> list[Float64Array]:
        """Return the residuals of the problem that `take` returns."""
        rows = [each.compress(keys[batch.left], axis=2) for batch, each in zip(self.batches, residuals, strict=True)]
        return [each for each in rows if each.shape[-1]]

    def normal_equations(
        self, parameters: Float64Array, residuals: Sequence[Float64Array], columns: Sequence[int]
    ) -> Equations:
        """Return the normal equations for some columns of the parameters."""
        squares, across, slopes = zip(
            *(products(batch, parameters, rows, columns) for batch, rows in zip(self.batches, residuals, strict=True)),
            strict=True,
        )
        return Equations(
            self.sum_at_keys(np.concatenate(squares, axis=-1)),
            np.concatenate(across, axis=-1),
            self.sum_at_keys(np.concatenate(slopes, axis=-1)),
        )

    def sum_at_keys(self, sides: Float64Array) -> Float64Array:
        """Return the sums of the terms of segments for their left and right keys: (2, …, segments) to (…, keys)."""
        shape, count = sides.shape[1:-1], len(self.track)
        rows = math.prod(shape)
        if rows not in self._bins:
            bins = np.stack([self.left, self.right])[:, np.newaxis] + count * np.arange(rows)[:, np.newaxis]
            self._bins[rows] = bins.ravel()
        return binned(self._bins[rows], sides.ravel(), rows * count).reshape(*shape, count)

    @cached_property
    def _bins(self) -> dict[int, IndexArray]:
        """Return the bins of the terms of segments, by the number of rows that are summed."""
        return {}

    def sum_of_tracks(self, numbers: Float64Array) -> Float64Array:
        """Return sums of numbers (columns, keys) over each track's keys."""
        return binned(self.track, numbers.sum(axis=0), len(self.noise))


def binned(bins: IndexArray, numbers: Float64Array, count: int) -> Float64Array:
    """Return the sums of the numbers in each bin."""
    sums: Float64Array = np.bincount(bins, numbers, count).astype(np.float64, copy=False)
    return sums
