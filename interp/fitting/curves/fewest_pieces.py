# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest pieces within the tolerance: divide, join and balance pieces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...key_batch import BoolArray, IndexArray
from . import subdivision
from .cubics import Cubics
from .knots import Division
from .strands import Pieces, Spans, Strands, concatenate, count_of_strands, first_of_strands, sort_pieces

_MAX_LEVELS = 40
"""The maximum number of times that a span is divided."""
_MAX_PREDICTION = 4.0
"""Two neighbors are tried as one piece if the predicted error is at most this multiple of the goal.

The prediction assumes that errors grow with the fourth power of the length.
"""
_BALANCE_ROUNDS = 3


def fewest_pieces(strands: Strands) -> Pieces:
    """Return the pieces of all strands, in order of strand and frame."""
    cubics = Cubics(strands)
    division = Division(strands, cubics)
    whole = strands.whole_segments()
    spans, pieces = _divide(strands, cubics, division, whole)
    has_provisional = np.isin(pieces.strand, spans.strand[spans.provisional])
    if has_provisional.any():
        joined = _join(strands, cubics, spans.take(has_provisional), pieces.take(has_provisional))
        pieces = concatenate([pieces.take(~has_provisional), joined])
    pieces = sort_pieces([pieces])
    division.zones.allow_needed(pieces, whole)
    return cubics.with_dense_errors(_balance(strands, cubics, division, whole, pieces))


def _divide(strands: Strands, cubics: Cubics, division: Division, spans: Spans) -> tuple[Spans, Pieces]:
    """Return spans and pieces that are within their goals, or too short to be divided."""
    finished = []
    for level in range(_MAX_LEVELS):
        pieces = cubics.fit(spans)
        is_inaccurate = pieces.error > strands.goal[spans.strand]
        # Spans are divided at the ends of eases first. The remaining jumps are close to keys.
        is_close_to_key = division.zones.cover(spans) | (cubics.has_jump(spans) & (level > 0))
        if len(estimated := np.flatnonzero(is_inaccurate & is_close_to_key)):
            # Only a measured error, not an estimated one, may require a knot close to a key.
            pieces.error[estimated] = cubics.dense_errors(spans.take(estimated))
            is_inaccurate = pieces.error > strands.goal[spans.strand]
        finished.append((spans.take(~is_inaccurate), pieces.take(~is_inaccurate)))
        if not is_inaccurate.any():
            break
        spans, pieces = spans.take(is_inaccurate), pieces.take(is_inaccurate)
        cuts = division.cuts(spans, pieces, level == 0)
        is_divided = np.zeros(len(spans.strand), dtype=np.bool_)
        is_divided[cuts.span] = True
        finished.append((spans.take(~is_divided), pieces.take(~is_divided)))
        if not is_divided.any():
            break
        number = np.cumsum(is_divided) - 1
        spans = division.parts(spans.take(is_divided), replace(cuts, span=number[cuts.span]))
    return concatenate([spans for spans, _ in finished]), concatenate([pieces for _, pieces in finished])


def _join(strands: Strands, cubics: Cubics, spans: Spans, pieces: Pieces) -> Pieces:
    """Return the pieces without unnecessary provisional knots, which come from halving and from the ends of eases."""
    order = np.lexsort((spans.frames[0], spans.strand))
    spans, pieces = spans.take(order), pieces.take(order)
    tried = np.zeros(len(order), dtype=np.bool_)
    while len(spans.strand) > 1:
        left = _pairs_to_join(strands, spans, pieces, tried)
        if not len(left):
            break
        joined_spans = _with_next(spans, left)
        joined_pieces = cubics.fit(joined_spans)
        is_accurate = joined_pieces.error <= strands.goal[joined_spans.strand]
        tried[left] = True
        if not is_accurate.any():
            continue
        left = left[is_accurate]
        # A new neighbor makes this a new attempt.
        tried[np.maximum(left - 1, 0)] = False
        tried[left] = False
        stays = np.ones(len(spans.strand), dtype=np.bool_)
        stays[left] = stays[left + 1] = False
        order = np.argsort(np.concatenate((np.flatnonzero(stays), left)), kind="stable")
        spans = concatenate([spans.take(stays), joined_spans.take(is_accurate)]).take(order)
        pieces = concatenate([pieces.take(stays), joined_pieces.take(is_accurate)]).take(order)
        tried = np.concatenate((tried[stays], tried[left]))[order]
    return pieces


def _pairs_to_join(strands: Strands, spans: Spans, pieces: Pieces, tried: BoolArray) -> IndexArray:
    """Return the first spans of the pairs with the smallest predicted errors among their neighbors.

    `tried` is a mask of the spans that could not be joined with the next span.
    """
    length = spans.frames[1] - spans.frames[0]
    ratio = pieces.error / strands.goal[spans.strand]
    joined_length = length[1:] + length[:-1]
    predicted = np.maximum(
        ratio[1:] * (joined_length / length[1:]) ** 4, ratio[:-1] * (joined_length / length[:-1]) ** 4
    )
    predicted[(spans.strand[1:] != spans.strand[:-1]) | (predicted > _MAX_PREDICTION) | tried[:-1]] = np.inf
    padded = np.concatenate(([np.inf], predicted, [np.inf]))
    return np.flatnonzero((predicted < np.inf) & (predicted < padded[:-2]) & (predicted <= padded[2:]))


def _with_next(spans: Spans, left: IndexArray) -> Spans:
    """Return the spans at some indices, each joined with the next span."""
    joined = spans.take(left)
    return Spans(
        joined.strand,
        np.stack([joined.frames[0], spans.frames[1, left + 1]]),
        np.stack([joined.exact[0], spans.exact[1][:, left + 1]]),
        np.stack([joined.rates[0], spans.rates[1][:, left + 1]]),
        joined.numbers,
        joined.provisional,
    )


def _balance(strands: Strands, cubics: Cubics, division: Division, whole: Spans, pieces: Pieces) -> Pieces:
    """Return fewer pieces of equal error where possible, because dividing level by level rounds up each time."""
    trial = pieces
    for _ in range(_BALANCE_ROUNDS):
        strand, count = count_of_strands(trial)
        mass, needed = subdivision.pieces_needed(trial.error / strands.goal[trial.strand], first_of_strands(trial))
        best_count = np.bincount(pieces.strand, minlength=len(strands))[strand]
        # The search began with one piece, so two is the minimum.
        new_count = np.minimum(np.maximum(np.ceil(needed - 0.02), 2), best_count).astype(np.intp)
        is_fewer = new_count < best_count
        if not is_fewer.any():
            break
        start, end = whole.frames[:, trial.strand]
        ends = (trial.frames[1] - start) / (end - start)
        number, parameter = subdivision.equal_parts(count, ends, mass, new_count, is_fewer)
        trial = cubics.fit(division.parts_at(whole.take(strand[is_fewer]), number, parameter))
        accurate = np.setdiff1d(trial.strand, trial.strand[trial.error > strands.goal[trial.strand]])
        if len(accurate):
            unchanged = pieces.take(~np.isin(pieces.strand, accurate))
            pieces = sort_pieces([unchanged, trial.take(np.isin(trial.strand, accurate))])
    return pieces
