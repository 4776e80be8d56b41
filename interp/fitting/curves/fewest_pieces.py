# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest pieces within the tolerance: divide, join and balance pieces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...key_batch import IndexArray
from . import subdivision
from .cubics import Cubics
from .knots import Division
from .strands import Pieces, Spans, Strands, concatenate, count_of_strands, first_of_strands, sort_pieces

_MOST_LEVELS = 40
# Two neighbors are tried as one piece if the fourth power of the length predicts at most this fraction of the goal.
_HOPEFUL = 4.0
_MOST_ROUNDS = 3


def fewest_pieces(strands: Strands) -> Pieces:
    """Return the pieces of all strands, in order of strand and frame."""
    cubics = Cubics(strands)
    division = Division(strands, cubics)
    whole = strands.whole_segments()
    spans, pieces = _divide(strands, cubics, division, whole)
    with_steps = np.isin(pieces.strand, spans.strand[spans.provisional])
    if with_steps.any():
        joined = _join(strands, cubics, spans.take(with_steps), pieces.take(with_steps))
        pieces = concatenate([pieces.take(~with_steps), joined])
    pieces = sort_pieces([pieces])
    division.zones.allow_needed(pieces, whole)
    return cubics.with_dense_errors(_balance(strands, cubics, division, whole, pieces))


def _divide(strands: Strands, cubics: Cubics, division: Division, spans: Spans) -> tuple[Spans, Pieces]:
    """Return spans and pieces that are within their goals, or too short to be divided."""
    done = []
    for level in range(_MOST_LEVELS):
        pieces = cubics.fit(spans)
        poor = pieces.error > strands.goal[spans.strand]
        covered = division.zones.cover(spans) | (cubics.has_jump(spans) & (level > 0))
        if len(near := np.flatnonzero(poor & covered)):
            # Only a measured error, not an estimated one, may require a knot close to a key. Spans are divided at the
            # ends of eases first. The remaining spans are close to keys.
            pieces.error[near] = cubics.dense_errors(spans.take(near))
            poor = pieces.error > strands.goal[spans.strand]
        done.append((spans.take(~poor), pieces.take(~poor)))
        if not poor.any():
            break
        spans, pieces = spans.take(poor), pieces.take(poor)
        cuts = division.cuts(spans, pieces, level == 0)
        undivided = np.ones(len(spans.strand), dtype=np.bool_)
        undivided[cuts.span] = False
        done.append((spans.take(undivided), pieces.take(undivided)))
        if undivided.all():
            break
        number = np.cumsum(~undivided) - 1
        spans = division.parts(spans.take(~undivided), replace(cuts, span=number[cuts.span]))
    return concatenate([each for each, _ in done]), concatenate([each for _, each in done])


def _join(strands: Strands, cubics: Cubics, spans: Spans, pieces: Pieces) -> Pieces:
    """Return the pieces without unnecessary provisional knots, which come from halving and from the ends of eases."""
    order = np.lexsort((spans.frames[0], spans.strand))
    spans, pieces = spans.take(order), pieces.take(order)
    tried = np.zeros(len(order), dtype=np.bool_)
    while len(spans.strand) > 1:
        length = spans.frames[1] - spans.frames[0]
        share = pieces.error / strands.goal[spans.strand]
        both = length[1:] + length[:-1]
        expected = np.maximum(share[1:] * (both / length[1:]) ** 4, share[:-1] * (both / length[:-1]) ** 4)
        expected[(spans.strand[1:] != spans.strand[:-1]) | (expected > _HOPEFUL) | tried[:-1]] = np.inf
        around = np.concatenate(([np.inf], expected, [np.inf]))
        left = np.flatnonzero((expected < np.inf) & (expected < around[:-2]) & (expected <= around[2:]))
        if not len(left):
            break
        joined = _with_next(spans, left)
        attempt = cubics.fit(joined)
        good = attempt.error <= strands.goal[joined.strand]
        tried[left] = True
        if not good.any():
            continue
        left = left[good]
        # A new neighbor makes this a new attempt.
        tried[np.maximum(left - 1, 0)] = False
        tried[left] = False
        kept = np.ones(len(spans.strand), dtype=np.bool_)
        kept[left] = kept[left + 1] = False
        order = np.argsort(np.concatenate((np.flatnonzero(kept), left)), kind="stable")
        spans = concatenate([spans.take(kept), joined.take(good)]).take(order)
        pieces = concatenate([pieces.take(kept), attempt.take(good)]).take(order)
        tried = np.concatenate((tried[kept], tried[left]))[order]
    return pieces


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
    for _ in range(_MOST_ROUNDS):
        strand, count = count_of_strands(trial)
        mass, needed = subdivision.pieces_needed(trial.error / strands.goal[trial.strand], first_of_strands(trial))
        best = np.bincount(pieces.strand, minlength=len(strands))[strand]
        # The search began with one piece, so two is the minimum.
        wanted = np.minimum(np.maximum(np.ceil(needed - 0.02), 2), best).astype(np.intp)
        chosen = wanted < best
        if not chosen.any():
            break
        start, end = whole.frames[:, trial.strand]
        ends = (trial.frames[1] - start) / (end - start)
        number, parameter = subdivision.equal_parts(count, ends, mass, wanted, chosen)
        trial = cubics.fit(division.parts_at(whole.take(strand[chosen]), number, parameter))
        good = np.setdiff1d(trial.strand, trial.strand[trial.error > strands.goal[trial.strand]])
        if len(good):
            pieces = sort_pieces([pieces.take(~np.isin(pieces.strand, good)), trial.take(np.isin(trial.strand, good))])
    return pieces
