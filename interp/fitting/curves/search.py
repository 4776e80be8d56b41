# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest pieces within the tolerance.

The error of a piece grows with the fourth power of its length, so a piece whose error is E times its goal should become
E^(1/4) pieces. As a density, E^(1/4) predicts the number of pieces and the knots at which all pieces have equal errors.
Each trial fits the predicted pieces to the spline and improves the prediction. Source: docs/formulas, "Fitting curves".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...keys import BoolArray, Float64Array, IndexArray
from .cubics import CubicFits
from .strands import Pieces, Spans, Strands, concatenate

_LEAST_FRAMES = 0.0125
"""The smallest length of a piece in frames. Blender merges keys closer than 0.01 frame."""
_LEAST_STEPS = 12
"""The smallest length of a piece in float32 steps, which must resolve the thirds of the piece."""
_MAX_TRIALS = 16
_MAX_REBALANCED = 3
"""The maximum number of successive trials with the same number of pieces."""
_AIM = 0.97
"""The fraction of the goal at which a prediction aims. Some errors turn out slightly larger than predicted."""
_SLACK = 0.1
"""The number of pieces by which a trial may be smaller than predicted."""
_LESS = 0.9
"""Inaccurate pieces are replaced only by pieces whose largest error is below this fraction."""
_UNITS = 2.0**40
"""The density of a span in integer units."""


def fewest_pieces(strands: Strands) -> Pieces:
    """Return the pieces of all strands, in order of strand and frame."""
    return _Search(strands).pieces()


class _Search:
    """The search for the pieces of all strands together."""

    def __init__(self, strands: Strands) -> None:
        self._strands, self._cubics = strands, CubicFits(strands)

    def pieces(self) -> Pieces:
        """Return the pieces of all strands, in order of strand and frame."""
        strands, cubics = self._strands, self._cubics
        whole = strands.whole_segments()
        pieces = cubics.fit(whole)
        is_accurate = pieces.error <= strands.goal
        finished, whole, pieces = pieces.take(is_accurate), whole.take(~is_accurate), pieces.take(~is_accurate)
        # Where the acceleration jumps, one knot saves many short pieces.
        span, frames = _far_knots(whole, *self._knots_at_jumps(whole))
        sections = strands.divided(whole, span, frames)
        if len(span):
            pieces = cubics.fit(sections)
        pieces = self._fewest(sections, np.arange(len(sections.strand)), pieces)
        # Some pieces can be joined across a jump.
        with_jump = whole.take(np.unique(span))
        has_jump = np.isin(pieces.strand, with_jump.strand)
        finished, pieces = concatenate([finished, pieces.take(~has_jump)]), pieces.take(has_jump)
        pieces = self._fewest(with_jump, np.searchsorted(with_jump.strand, pieces.strand), pieces)
        # The remaining inaccurate pieces are too short to divide, and five samples may not resolve them.
        return cubics.measured(concatenate([finished, pieces]))

    def _knots_at_jumps(self, spans: Spans) -> tuple[IndexArray, Float64Array]:
        """Return the spans and frames of knots for the ends of eases."""
        ease_ends = self._strands.ease_ends[:, spans.strand]
        span, row = np.nonzero(((ease_ends > spans.frames[0]) & (ease_ends < spans.frames[1])).T)
        return span, _rounded(ease_ends[row, span])

    def _fewest(self, sections: Spans, owner: IndexArray, pieces: Pieces) -> Pieces:
        """Return the fewest accurate pieces of each section, or else the most accurate pieces that were found.

        `pieces` contains at least one piece for each section, and `owner` the section of each piece, in ascending
        order.
        """
        if not len(owner):
            return pieces
        strands, cubics = self._strands, self._cubics
        trials = _Trials(sections)
        for _ in range(_MAX_TRIALS):
            # Only a measured error may require a knot close to the end of an ease.
            pieces = cubics.measured(pieces, cubics.has_jump(pieces))
            trial = _Trial.of(owner, pieces, pieces.error / strands.goal[pieces.strand])
            trials.add(trial)
            active, span, parameter = trials.next_knots(trial)
            if not len(active):
                break
            spans = sections.take(active)
            start, end = spans.frames[:, span]
            span, frames = _far_knots(spans, span, _rounded(start + parameter * (end - start)))
            pieces = cubics.fit(strands.divided(spans, span, frames))
            owner = np.repeat(active, np.bincount(span, minlength=len(active)) + 1)
        return trials.best()


class _Trial(NamedTuple):
    """Pieces of some sections, which are tried together."""

    owner: IndexArray
    """The section of each piece, in ascending order."""
    pieces: Pieces
    ratio: Float64Array
    """The error of each piece, relative to its goal."""

    first: IndexArray
    """The first piece of each section, shape (sections,)."""
    section: IndexArray
    """The sections."""
    counts: IndexArray
    """The number of pieces of each section."""
    error: Float64Array
    """The largest ratio of each section."""

    @classmethod
    def of(cls, owner: IndexArray, pieces: Pieces, ratio: Float64Array) -> _Trial:
        """Return a trial of pieces with these sections and ratios."""
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        counts = np.diff(first, append=len(owner))
        return cls(owner, pieces, ratio, first, owner[first], counts, np.maximum.reduceat(ratio, first))

    @property
    def is_good(self) -> BoolArray:
        """Return a mask of the sections whose pieces are all accurate."""
        return np.less_equal(self.error, 1.0)


class _Trials:
    """The trials of all sections, the best trial of each section, and the prediction of the next trial."""

    def __init__(self, sections: Spans) -> None:
        self._start, self._end = sections.frames
        lengths = self._end - self._start
        self._most = np.maximum(np.floor(lengths / _least_distance(*sections.frames)), 1.0).astype(np.intp)
        self._trials: list[_Trial] = []
        count = len(lengths)
        # The best trial, its number of pieces if all are accurate, and its largest error otherwise.
        self._best = np.zeros(count, dtype=np.intp)
        self._best_count, self._best_error = np.full((2, count), np.inf)
        # The largest number of pieces that failed, and the number of successive trials with the same number of pieces.
        self._too_few, self._rebalanced = np.zeros((2, count), dtype=np.intp)

    def add(self, trial: _Trial) -> None:
        """Add a trial, which may be the best of some sections."""
        section, count, error, is_good = trial.section, trial.counts, trial.error, trial.is_good
        is_better = np.where(is_good, count < self._best_count[section], error < _LESS * self._best_error[section])
        self._best[section[is_better]] = len(self._trials)
        self._best_error[section[is_better]] = np.where(is_good, 0.0, error)[is_better]
        self._best_count[section[is_good & is_better]] = count[is_good & is_better]
        self._trials.append(trial)

    def best(self) -> Pieces:
        """Return the pieces of each section's best trial."""
        return concatenate([trial.pieces.take(self._best[trial.owner] == n) for n, trial in enumerate(self._trials)])

    def next_knots(self, trial: _Trial) -> tuple[IndexArray, IndexArray, Float64Array]:
        """Predict the knots of the next trial from the last one, and remember which counts failed.

        Returns
        -------
        active : ndarray of int, shape (sections,)
            The sections for which another trial is needed.
        number, parameter : ndarray, shape (knots,)
            The index of each knot's section among `active`, in ascending order, and the knot's parameter, from 0 to 1.
        """
        owner, pieces, ratio, first, section, count, error = trial
        # The number of pieces by which each piece should be replaced. The small terms are for pieces without an error.
        room = (pieces.frames[1] - pieces.frames[0]) / _least_distance(*pieces.frames)
        density = np.minimum(np.sqrt(np.sqrt(ratio + 1e-4 * np.repeat(error, count) + 1e-30)), room)
        total = np.add.reduceat(density, first)

        rebalances = ~trial.is_good & (total <= count) & (self._rebalanced[section] < _MAX_REBALANCED)
        self._rebalanced[section] = np.where(rebalances, self._rebalanced[section] + 1, 0)
        has_failed = ~trial.is_good & ~rebalances
        self._too_few[section[has_failed]] = count[has_failed]
        predicted = np.ceil(total / _AIM**0.25 - _SLACK).astype(np.intp)
        more = np.maximum(predicted, self._too_few[section] + 1)
        new_count = np.where(rebalances, count, np.minimum(more, self._most[section]))

        # If more pieces seem unnecessary but rebalancing failed, all knots stay, and each inaccurate piece is divided.
        divides = has_failed & (predicted <= count) & np.isinf(self._best_count[section])
        parts = np.clip(np.ceil(np.sqrt(np.sqrt(ratio))), 1.0, np.maximum(np.floor(room), 1.0))
        density = np.where(np.repeat(divides, count), parts, density)
        new_count = np.where(divides, np.add.reduceat(parts, first).astype(np.intp), new_count)

        goes_on = rebalances | ((new_count != count) & (new_count < self._best_count[section]))
        start, end = self._start[owner], self._end[owner]
        ends = (pieces.frames[1] - start) / (end - start)
        number, parameter = _equal_parts(count, ends, density, new_count, goes_on)
        return section[goes_on], number, parameter


def _equal_parts(
    count: IndexArray, ends: Float64Array, density: Float64Array, new_count: IndexArray, is_divided: BoolArray
) -> tuple[IndexArray, Float64Array]:
    """Return knots that divide the sum of the densities of old pieces equally.

    Parameters
    ----------
    count : ndarray, shape (spans,)
        The old number of pieces of each span.
    ends, density : ndarray, shape (pieces,)
        The end of each old piece, from 0 to 1 in its span, and the density of the piece.
    new_count : ndarray, shape (spans,)
        The new number of pieces of each span.
    is_divided : ndarray of bool, shape (spans,)
        The spans to divide.

    Returns
    -------
    number, parameter : ndarray, shape (knots,)
        The index of each knot's span among the divided spans, in ascending order, and the knot's parameter.
    """
    first = np.cumsum(count) - count
    # Sums of integers are exact, so they do not depend on the previous spans.
    fraction = density / np.repeat(np.add.reduceat(density, first), count)
    units = np.rint(fraction * _UNITS).astype(np.int64)
    before = np.concatenate(([0], np.cumsum(units)))
    spans = np.flatnonzero(is_divided)
    knots_per_span = new_count[spans] - 1
    number = np.repeat(np.arange(len(spans)), knots_per_span)
    span = spans[number]
    low, high = before[first[span]], before[first[span] + count[span]]
    target = low + (high - low) * (_ordinals(knots_per_span) + 1) // new_count[span]
    piece = np.searchsorted(before, target, side="right") - 1
    starts = np.concatenate(([0.0], ends[:-1]))
    starts[first] = 0.0
    inside = (target - before[piece]) / units[piece]
    return number, starts[piece] + inside * (ends[piece] - starts[piece])


def _far_knots(spans: Spans, span: IndexArray, frames: Float64Array) -> tuple[IndexArray, Float64Array]:
    """Return the knots in order, without knots that are too close to the previous knot or to an end."""
    order = np.lexsort((frames, span))
    span, frames = span[order], frames[order]
    start, end = spans.frames[:, span]
    previous = start.copy()
    has_previous = span[1:] == span[:-1]
    previous[1:][has_previous] = frames[:-1][has_previous]
    least = _least_distance(start, end)
    is_far = (frames - previous >= least) & (frames - start >= least) & (end - frames >= least)
    return span[is_far], frames[is_far]


def _rounded(frames: Float64Array) -> Float64Array:
    """Return frames rounded to float32."""
    return frames.astype(np.float32).astype(np.float64)


def _least_distance(start: Float64Array, end: Float64Array) -> Float64Array:
    """Return the minimum distance between knots within spans from `start` to `end`."""
    steps = np.spacing(np.maximum(-start, end).astype(np.float32))
    least: Float64Array = np.maximum(_LEAST_FRAMES, _LEAST_STEPS * steps)
    return least


def _ordinals(counts: IndexArray) -> IndexArray:
    """Return the numbers 0, 1, … below each count, one count after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
