# SPDX-License-Identifier: GPL-3.0-or-later
"""Division of spans: where the knots of a span with too large an error go, and the parts that they make of it."""

from __future__ import annotations

import numpy as np

from ...batch import IndexArray
from ...keys import Float64Array
from .. import subdivision
from .cubics import Cubics
from .knots_near_keys import Zones, least_distance, too_near
from .spans import Cuts, Pieces, Spans
from .strands import Strands

# Frames. How much farther from a key the knots that stand for the end of an ease are tried.
_FARTHER = np.arange(0.0, 1.5, 1.0 / 64.0)


class Division:
    """Place knots in spans of some strands."""

    def __init__(self, strands: Strands, cubics: Cubics) -> None:
        self._strands = strands
        self._cubics = cubics
        self.zones = Zones(strands)

    def cuts(self, spans: Spans, pieces: Pieces, first_level: bool) -> Cuts:
        """Return the knots of spans that have to be divided.

        A span is divided where eases end; else in the middle if five samples do not resolve it; else by
        `subdivision.subdivide`, and only those knots, on the first level, are not provisional. Where all of these are
        too near to each other or to the ends, it is divided in the middle too.
        """
        jumps = self._strands.ease_ends[:, spans.strand]
        span, row = np.nonzero(((jumps > spans.frames[0]) & (jumps < spans.frames[1])).T)
        frames = jumps[row, span]
        near = too_near(spans, span, frames)
        span, frames = span[~near], self._knots_for_jumps(spans, span[~near], frames[~near])
        rest = np.ones(len(spans.strand), dtype=np.bool_)
        rest[span] = False
        unresolved = np.flatnonzero(subdivision.unresolved(pieces.rest) & rest)
        rest[unresolved] = False
        resolved = np.flatnonzero(rest)
        polynomial = subdivision.polynomials(pieces.points[..., resolved], pieces.rest[..., resolved])
        own, parameter = subdivision.subdivide(polynomial, self._measure(spans.strand[resolved]))
        start, end = spans.frames[:, resolved[own]]
        span = np.concatenate([span, unresolved, resolved[own]])
        middles = spans.frames[:, unresolved].mean(axis=0)
        frames = np.concatenate([frames, middles, start + parameter * (end - start)])
        frames = self.zones.move_out(spans, span, frames.astype(np.float32).astype(np.float64))
        provisional = (np.arange(len(span)) < len(span) - len(own)) | ~np.bool_(first_level)
        order = np.lexsort((frames, span))
        near = too_near(spans, span[order], frames[order])
        order = order[~near]
        cuts = Cuts(span[order], frames[order], provisional[order])
        return _with_middles(spans, cuts) if near.any() else cuts

    def _measure(self, strands: IndexArray) -> subdivision.Measure:
        """Return the function with which `subdivision` measures errors in units of the goal."""
        goal = self._strands.goal[strands]
        representation = self._strands.representation

        def measure(span: IndexArray, values: Float64Array, change: Float64Array) -> Float64Array:
            error = np.abs(change[0]) if representation is None else representation.angle(values, change)
            share: Float64Array = error / goal[span]
            return share

        return measure

    def _knots_for_jumps(self, spans: Spans, span: IndexArray, jumps: Float64Array) -> Float64Array:
        """Return the knots for the ends of eases.

        One near to a key goes farther from it, as far as the first place where the piece from the key is within its
        goal with the jump in it.
        """
        frames = jumps.astype(np.float32).astype(np.float64)
        moved = self.zones.move_out(spans, span, frames)
        _, _, low, high = self.zones.find(spans.strand[span], frames)
        start, end = spans.frames[:, span]
        behind = moved > frames
        chosen = np.flatnonzero((behind & (low < start)) | ((moved < frames) & (high > end)))
        if not len(chosen):
            return moved
        side = np.where(behind[chosen], 1.0, -1.0)
        least, own = least_distance(start, end)[chosen], span[chosen]
        tries = np.clip(moved[chosen] + side * _FARTHER[:, np.newaxis], start[chosen] + least, end[chosen] - least)
        rows = np.tile(own, len(tries))
        knots = tries.astype(np.float32).astype(np.float64).ravel()
        cuts = Cuts(np.arange(len(rows)), knots, np.ones(len(rows), dtype=np.bool_))
        parts = self.parts(spans.take(rows), cuts)
        from_key = parts.take(2 * cuts.span + np.tile(side < 0.0, len(tries)))
        errors = self._cubics.dense_errors(from_key).reshape(tries.shape)
        first = np.argmax(errors <= self._strands.goal[spans.strand[own]], axis=0)
        moved[chosen] = knots.reshape(tries.shape)[first, np.arange(len(chosen))]
        return moved

    def parts(self, spans: Spans, cuts: Cuts) -> Spans:
        """Return the parts of spans, each of which has a knot or more."""
        span, frames = cuts.span, cuts.frames
        strand = spans.strand[span]
        exact, rates = self._strands.evaluate(strand, frames, 0), self._strands.evaluate(strand, frames, 1)
        representation = self._strands.representation
        numbers = exact if representation is None else representation.local(exact, rates)
        count = np.bincount(span, minlength=len(spans.strand)) + 1
        owner = np.repeat(np.arange(len(count)), count)
        stop = np.cumsum(count)
        begins = np.ones(len(owner), dtype=np.bool_)
        begins[stop - count] = False
        ends = np.ones(len(owner), dtype=np.bool_)
        ends[stop - 1] = False

        def both(outer: Float64Array, inner: Float64Array) -> Float64Array:
            sides = outer[..., owner]
            sides[0][..., begins] = inner
            sides[1][..., ends] = inner
            return sides

        first = spans.numbers[:, owner]
        first[:, begins] = numbers
        provisional = spans.provisional[owner]
        provisional[begins] = cuts.provisional
        return Spans(
            spans.strand[owner],
            both(spans.frames, frames),
            both(spans.exact, exact),
            both(spans.rates, rates),
            first,
            provisional,
        )


def _with_middles(spans: Spans, cuts: Cuts) -> Cuts:
    """Return the knots, and one in the middle of each span that has none and room for it."""
    rest = np.setdiff1d(np.arange(len(spans.strand)), cuts.span)
    middles = spans.frames[:, rest].mean(axis=0).astype(np.float32).astype(np.float64)
    far = ~too_near(spans, rest, middles)
    span, frames = np.concatenate([cuts.span, rest[far]]), np.concatenate([cuts.frames, middles[far]])
    provisional = np.concatenate([cuts.provisional, np.ones(np.count_nonzero(far), dtype=np.bool_)])
    order = np.argsort(span, kind="stable")
    return Cuts(span[order], frames[order], provisional[order])
