# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear least squares for the values and velocities of Hermite cubics at given knots, for many chains at once.

Between two knots a channel plays the Hermite cubic of their values and velocities, as with handles at thirds. The
played motion is linear in values and velocities, and a knot shares segments only with its two neighbors. The normal
equations are therefore block tridiagonal, and all chains and components are solved together. Source: docs/formulas,
"Fitting knots".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..batch import BoolArray, IndexArray
from ..hermite_basis import hermite_weights
from ..keys import Float64Array
from ..tridiagonal import solve_symmetric

_RIDGE = 1e-9
"""The weight of differences from the start, relative to the samples. It matters where no sample has an effect."""
_VALUE, _INTO, _OUT = range(3)


@dataclass(frozen=True, eq=False)
class Knots:
    """Concatenated chains with K knots in total.

    Attributes
    ----------
    row : ndarray of int, shape (K,)
        The sample index of each knot, ascending within a chain. Chains may cover the same samples.
    chain : ndarray of int, shape (K,)
        The chain of each knot, in ascending order.
    values, incoming, outgoing : ndarray, shape (K, d), optional
        Values, and velocities per frame before and after each knot. Held values and velocities are kept. Others are the
        preferred result where no sample determines it. Default: the samples, and the slopes between neighboring knots.
    is_value_held, is_velocity_held : ndarray of bool, shape (K,), optional
        Masks of knots that keep their values or velocities. Default: none.
    is_corner : ndarray of bool, shape (K,), optional
        Mask of knots with separate velocities before and after. Default: none.
    """

    row: IndexArray
    chain: IndexArray
    values: Float64Array | None = None
    incoming: Float64Array | None = None
    outgoing: Float64Array | None = None
    is_value_held: BoolArray | None = None
    is_velocity_held: BoolArray | None = None
    is_corner: BoolArray | None = None


@dataclass(frozen=True, eq=False)
class FittedKnots:
    """Fitted knots, and the motion between them at the samples.

    Attributes
    ----------
    values, incoming, outgoing : ndarray, shape (K, d)
        Values, and velocities per frame before and after each knot.
    begin : ndarray of int, shape (segments,)
        The first knot of each segment. The segment ends at the next knot.
    row : ndarray of int, shape (m,)
        The sample indices of all segments in order, including both ends of each segment.
    starts : ndarray of int, shape (segments,)
        The index in `row` of each segment's first sample.
    played : ndarray, shape (m, d)
        The cubics at these samples.
    residuals : ndarray, shape (m, d)
        The cubics minus the samples.
    """

    values: Float64Array
    incoming: Float64Array
    outgoing: Float64Array
    begin: IndexArray
    row: IndexArray
    starts: IndexArray
    played: Float64Array
    residuals: Float64Array

    @property
    def segment(self) -> IndexArray:
        """Return the segment of each sample in `row`, shape (m,)."""
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.row)))

    def largest(self, errors: Float64Array) -> Float64Array:
        """Return the largest errors (segments, …) of segments, from the errors (m, …) of the samples in `row`."""
        result: Float64Array = np.maximum.reduceat(errors, self.starts, axis=0) if len(self.starts) else errors[:0]
        return result


def fit_knots(
    samples: Float64Array, knots: Knots, frames: Float64Array | None = None, weights: Float64Array | None = None
) -> FittedKnots:
    """Return the values and velocities that minimize the squared errors at the samples.

    Components are fitted independently with the same weights, so scaling a component only scales its result.

    Parameters
    ----------
    samples : ndarray, shape (n, d)
        The samples of all tracks, finite.
    knots : Knots
        The knots.
    frames : ndarray, shape (n,), optional
        The frames of the samples, in ascending order from knot to knot. Default: one sample per frame.
    weights : ndarray, shape (n,), optional
        The nonnegative weights of the squared errors. Default: 1.

    Notes
    -----
    Values and velocities that no sample determines are taken from `knots`. The result contains no NaN. The result of a
    chain does not depend on other chains.
    """
    segments = _Segments.of(knots, samples, frames, weights)
    start = _start(knots, samples, segments)
    own, across, slope = segments.equations(start)
    is_corner = _or_none(knots.is_corner, knots)
    is_held = np.stack([_or_none(each, knots) for each in (knots.is_value_held, *[knots.is_velocity_held] * 2)])
    _join_velocities(own, across, slope, ~is_corner)
    is_held[_OUT] |= ~is_corner
    if not is_corner.any():
        own, across, slope, is_held = own[:_OUT, :_OUT], across[:_OUT, :_OUT], slope[:_OUT], is_held[:_OUT]
    diagonal = np.arange(len(own))
    size = own[diagonal, diagonal]
    size *= 1.0 + _RIDGE
    own[diagonal, diagonal] = np.where(size > 0.0, size, 1.0)
    free = ~is_held
    own *= free[:, np.newaxis] & free
    own[diagonal, diagonal] += is_held
    across[:, :, :-1] *= free[:, np.newaxis, :-1] & free[:, 1:]
    move = solve_symmetric(own, across, np.where(is_held[:, np.newaxis], 0.0, -slope), segments.is_first)
    fitted = start.copy()
    fitted[: len(move)] += move
    fitted[_OUT] += np.where(is_corner, 0.0, move[_INTO])
    return segments.played(fitted, samples)


def _or_none(chosen: BoolArray | None, knots: Knots) -> BoolArray:
    """Return a mask of the chosen knots, by default none."""
    return np.zeros(len(knots.row), dtype=np.bool_) if chosen is None else chosen


def _join_velocities(own: Float64Array, across: Float64Array, slope: Float64Array, joined: BoolArray) -> None:
    """At the chosen knots, add the rows and columns of the outgoing velocity to the incoming velocity."""
    following = np.append(joined[1:], False)
    for matrix, columns in ((own, joined), (across, following)):
        matrix[_INTO] += np.where(joined, matrix[_OUT], 0.0)
        matrix[:, _INTO] += np.where(columns, matrix[:, _OUT], 0.0)
    slope[_INTO] += np.where(joined, slope[_OUT], 0.0)


@dataclass(frozen=True, eq=False)
class _Segments:
    """The segments between knots, with the weights of their values and velocities at the samples."""

    is_first: BoolArray
    begin: IndexArray
    row: IndexArray
    starts: IndexArray
    number: IndexArray
    """The segment of each sample."""
    length: Float64Array
    basis: Float64Array
    """The weights of value and velocity at the start and at the end, shape (4, m)."""
    weighted: Float64Array
    """These weights times the weights of the samples."""
    target: Float64Array
    """The samples relative to the sample at the chain's first knot, shape (d, m)."""
    origin: Float64Array
    """The sample at the chain's first knot, shape (d, K)."""

    @classmethod
    def of(
        cls, knots: Knots, samples: Float64Array, frames: Float64Array | None, weights: Float64Array | None
    ) -> _Segments:
        """Return the segments with the samples between knots."""
        follows = knots.chain[1:] == knots.chain[:-1]
        begin = np.flatnonzero(follows)
        is_first, is_last = np.append(True, ~follows), np.append(~follows, True)
        first = knots.row[begin]
        counts = knots.row[begin + 1] - first + 1
        starts = np.cumsum(counts) - counts
        number = np.repeat(np.arange(len(begin)), counts)
        row = np.arange(len(number)) - np.repeat(starts - first, counts)
        at = row.astype(np.float64) if frames is None else frames[row]
        ends = starts + counts - 1
        length = at[ends] - at[starts]
        chord, leaving, arriving = hermite_weights((at - at[starts][number]) / length[number])
        basis = np.stack([1.0 - chord, leaving * length[number], chord, arriving * length[number]])
        # A sample at an inner knot belongs to two segments.
        share = np.ones(len(row)) if weights is None else weights[row]
        share[starts] *= np.where(is_first[begin], 1.0, 0.5)
        share[ends] *= np.where(is_last[begin + 1], 1.0, 0.5)
        origin = samples[knots.row[is_first]][np.cumsum(is_first) - 1].T
        target = samples[row].T - origin[:, begin[number]]
        return cls(is_first, begin, row, starts, number, length, basis, basis * share, target, origin)

    def at_ends(self, unknowns: Float64Array) -> Float64Array:
        """Return the values and velocities at both ends of segments (4, d, segments) from knots (3, d, K)."""
        begin, end = self.begin, self.begin + 1
        sides = ((_VALUE, begin), (_OUT, begin), (_VALUE, end), (_INTO, end))
        return np.stack([unknowns[which].take(at, axis=1) for which, at in sides])

    def rise(self, unknowns: Float64Array) -> Float64Array:
        """Return the cubics at the samples, shape (d, m)."""
        ends = self.at_ends(unknowns)
        total: Float64Array = ends[0].take(self.number, axis=1) * self.basis[0]
        for points, weights in zip(ends[1:], self.basis[1:], strict=True):
            total += points.take(self.number, axis=1) * weights
        return total

    def equations(self, start: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the matrix, as diagonal (3, 3, K) and off-diagonal blocks, and the gradient (3, d, K) at a start."""
        count, (begin, end) = len(self.is_first), (self.begin, self.begin + 1)
        off = self.rise(start) - self.target
        own, across = np.zeros((2, 3, 3, count))
        slope = np.zeros_like(start)
        sides = ((_VALUE, begin), (_OUT, begin), (_VALUE, end), (_INTO, end))
        for place, (row, at) in enumerate(sides):
            slope[row][:, at] += self._sums(self.weighted[place] * off)
            for other in range(place, 4):
                column, column_at = sides[other]
                sums = self._sums(self.weighted[place] * self.basis[other])
                if column_at is not at:
                    across[row, column, begin] = sums
                    continue
                own[row, column, at] += sums
                if row != column:
                    own[column, row, at] += sums
        return own, across, slope

    def _sums(self, numbers: Float64Array) -> Float64Array:
        """Return sums over the samples of each segment, in an order that does not depend on the other segments."""
        if not len(self.starts):
            return numbers[..., :0]
        sums: Float64Array = np.add.reduceat(numbers, self.starts, axis=-1)
        return sums

    def played(self, unknowns: Float64Array, samples: Float64Array) -> FittedKnots:
        """Return the fitted knots with their motion."""
        residuals = (self.rise(unknowns) - self.target).T
        values, incoming, outgoing = unknowns.transpose(0, 2, 1)
        place = self.begin, self.row, self.starts
        return FittedKnots(values + self.origin.T, incoming, outgoing, *place, samples[self.row] + residuals, residuals)


def _start(knots: Knots, samples: Float64Array, segments: _Segments) -> Float64Array:
    """Return the initial values, relative to the origin, and velocities before and after knots, shape (3, d, K)."""
    values = (samples[knots.row] if knots.values is None else knots.values).T - segments.origin
    begin, end, length = segments.begin, segments.begin + 1, segments.length
    rise, run = np.zeros((2, *values.shape)), np.zeros((2, values.shape[1]))
    chord = values[:, end] - values[:, begin]
    rise[0][:, end] = rise[1][:, begin] = chord
    run[0, end] = run[1, begin] = length
    is_corner = _or_none(knots.is_corner, knots)
    both, whole = rise.sum(axis=0), run.sum(axis=0)
    slopes = []
    for given, own_rise, own_run in zip((knots.incoming, knots.outgoing), rise, run, strict=True):
        over, along = np.where(is_corner, own_rise, both), np.where(is_corner, own_run, whole)
        slope = np.divide(over, along, out=np.zeros_like(values), where=along > 0.0)
        slopes.append(slope if given is None else given.T)
    is_split = is_corner | _or_none(knots.is_velocity_held, knots)
    return np.stack([values, slopes[0], np.where(is_split, slopes[1], slopes[0])])
