# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest pieces within the tolerance: divide, join and balance pieces, and choose quaternion lengths.

The length of a quaternion has no effect, so a knot may use any length, with the same rate on both sides to keep
channels smooth. The spline's keys keep their lengths.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...hermite_basis import hermite_weights
from ...key_batch import IndexArray
from ...keys import Float64Array
from ...rotations.representations import RotationRepresentation
from . import subdivision
from .cubics import Cubics, dot
from .knots import Balancing, Division
from .strands import Pieces, Samples, Spans, Strands, concatenate, count_of_strands, sort_pieces

_MOST_LEVELS = 40
# Two neighbors are tried as one piece if the fourth power of the length predicts at most this fraction of the goal.
_HOPEFUL = 4.0


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
    balancing = Balancing(strands, division, whole)
    pieces = balancing.balanced(pieces, cubics)
    representation = strands.representation
    if representation and representation.homogeneous:
        pieces = with_free_lengths(strands, cubics, balancing, pieces, representation)
    return cubics.with_dense_errors(pieces)


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


_MOST_TRIES = 3
# Equal shares of the errors may be accurate enough even if they predict this many additional pieces.
_HOPED = 0.1
# The largest change in a piece due to knot lengths and their rates, in the units of `_best_lengths`. This limits the
# change in the quaternion length at a knot to half as much.
_MOST_CHANGE = 1.0 / 32.0


def with_free_lengths(
    strands: Strands, cubics: Cubics, balancing: Balancing, pieces: Pieces, representation: RotationRepresentation
) -> Pieces:
    """Return the pieces, or fewer pieces where other quaternion lengths save knots."""
    tries = np.where(strands.free_lengths, 0, _MOST_TRIES)
    step = np.ones_like(tries)
    trial = pieces
    while True:
        trial = trial.take(((balancing.count(pieces) > 2) & (tries < _MOST_TRIES))[trial.strand])
        if not len(trial.strand):
            return pieces
        strand, _ = count_of_strands(trial)
        wanted = np.maximum(balancing.count(pieces)[strand] - step[strand], 2)
        spans = balancing.divide_again(trial, wanted, np.ones(len(strand), dtype=np.bool_))
        trial = _fit_with_lengths(cubics, spans, representation)
        pieces, good = balancing.take_good(pieces, trial)
        _, needed = balancing.needed(trial)
        count = count_of_strands(trial)[1]
        # Each step is half of the estimated remainder. A step that was too long is tried again as the shortest step.
        left = np.maximum((count - np.ceil(needed).astype(np.intp)) // 2, 1)
        tries[strand] += np.where(step[strand] > 1, 0, np.where(needed <= count + _HOPED, 1, _MOST_TRIES))
        step[strand] = np.where(np.isin(strand, good), left, 1)
        tries[good] = 0


def _fit_with_lengths(cubics: Cubics, spans: Spans, representation: RotationRepresentation) -> Pieces:
    """Return the cubic of each span with the best quaternion lengths."""
    samples = cubics.sample(spans)
    lengths = _best_lengths(samples, cubics.from_samples(samples))
    sides = [representation.scaled(*each) for each in zip(samples.values, samples.rates, *lengths, strict=True)]
    values, rates = (np.stack(each) for each in zip(*sides, strict=True))
    return cubics.from_samples(samples._replace(values=values, rates=rates))


def _best_lengths(samples: Samples, pieces: Pieces) -> tuple[Float64Array, Float64Array]:
    """Return the quaternion lengths at the ends of pieces, and their rates per frame, that reduce the errors the most.

    Returns
    -------
    lengths, rates : ndarray, shape (2, n)
        The lengths and rates at the start and end of each piece.

    Notes
    -----
    The error of a cubic with exact ends is proportional to t² (1-t)². A rate of change in the length at an end adds the
    same shape to the turn along the motion, where most of the error is. A change in the length has this effect with
    opposite signs before and after the knot. With the rate g and the length 1 + d at a knot, the coefficient increases
    by h g - 2 d in the piece of h frames before the knot. In the piece of k frames after the knot, the increase is k g
    + 2 d. Each piece needs a certain change, within a limit. The returned lengths produce this change and minimize the
    sum of d² + h k g² / 4.
    """
    exact = samples.between
    square = dot(exact, exact)

    def across(vectors: Float64Array) -> Float64Array:
        return vectors - exact * (dot(exact, vectors) / square)[:, np.newaxis]

    t = subdivision.NODES[:, np.newaxis, np.newaxis]
    _, by_leaving, by_arriving = hermite_weights(t)
    shape = across(by_leaving * pieces.values[0] + by_arriving * pieces.values[1])
    size = np.add.reduce(dot(shape, shape), axis=0)
    wanted = 2.0 * np.add.reduce(dot(across(pieces.rest), shape), axis=0)
    wanted = np.clip(np.divide(wanted, size, out=np.zeros_like(size), where=size > 0.0), -_MOST_CHANGE, _MOST_CHANGE)
    frames = pieces.frames[1] - pieces.frames[0]
    before = np.flatnonzero(pieces.strand[1:] == pieces.strand[:-1])
    behind = before + 1
    share = np.zeros_like(wanted)
    share[before] += 4.0 * (frames[before] / frames[behind] + 1.0)
    share[behind] += 4.0 * (frames[behind] / frames[before] + 1.0)
    given = np.divide(wanted, share, out=np.zeros_like(share), where=share > 0.0)
    lengths, rates = np.ones((2, len(wanted))), np.zeros((2, len(wanted)))
    lengths[0, behind] = lengths[1, before] = 1.0 + 2.0 * (given[behind] - given[before])
    rates[0, behind] = rates[1, before] = 4.0 * (given[before] / frames[behind] + given[behind] / frames[before])
    return lengths, rates
