# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest pieces within the tolerance: divide, join and balance pieces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array, finite
from . import subdivision
from .cubics import Cubics
from .strands import Cuts, Pieces, Spans, Strands, concatenate, count_of_strands, first_of_strands, sort_pieces

_LEAST_FRAMES = 0.0125
"""The smallest length of a piece in frames. Blender merges keys closer than 0.01 frame."""
_LEAST_STEPS = 12
"""The smallest length of a piece in float32 steps, which must resolve the thirds of the piece."""
_APART = 0.5
"""If keys are closer than this many frames, a click cannot reliably select one of them."""
_FARTHER = np.arange(0.0, 1.5, 1.0 / 64.0)
"""The distances, in frames, by which knots for the end of an ease are moved away from a key."""


class Zones:
    """The frames around the keys of some strands where knots should not be placed."""

    def __init__(self, strands: Strands) -> None:
        zones, offsets, end = [], [], 0.0
        for request in strands.requests:
            keys = request.spline.keys.frames
            if request.other_keys is not None:
                keys = np.union1d(keys, finite("other_keys", request.other_keys))
            low, high = keys - _APART, keys + _APART
            overlaps = low[1:] < high[:-1]
            low, high = low[np.append(True, ~overlaps)], high[np.append(~overlaps, True)]
            zones.append(np.stack([_round_out(low, -np.inf), _round_out(high, np.inf)]))
            # The zones of all tracks are arranged one after the other on one axis.
            offsets.append(end - zones[-1][0, 0])
            end += zones[-1][1, -1] - zones[-1][0, 0] + 1.0
        self._zones = np.concatenate(zones, axis=1)
        self._starts = self._zones[0] + np.repeat(offsets, [zone.shape[1] for zone in zones])
        self._offset = np.array(offsets)[strands.request]
        self._needed = np.empty(0, dtype=np.intp)

    def allow_needed(self, pieces: Pieces, whole: Spans) -> None:
        """Allow knots in the zones where the given pieces have knots, because the tolerance requires them."""
        zone, is_inside, _, _ = self.find(pieces.strand, pieces.frames[0])
        is_knot = pieces.frames[0] > whole.frames[0, pieces.strand]
        self._needed = np.unique(zone[is_inside & is_knot])

    def find(
        self, strand: IndexArray, frames: Float64Array
    ) -> tuple[IndexArray, BoolArray, Float64Array, Float64Array]:
        """Return the zone of each strand and frame, whether the frame is inside, and the zone's start and end."""
        zone = np.searchsorted(self._starts, frames + self._offset[strand]) - 1
        low, high = self._zones[:, zone]
        return strand * len(self._starts) + zone, (frames > low) & (frames < high), low, high

    def move_out(self, spans: Spans, span: IndexArray, frames: Float64Array) -> Float64Array:
        """Return the knots' frames, after moving knots in zones to a zone edge within their span, if there is one."""
        zone, must_move, low, high = self.find(spans.strand[span], frames)
        must_move &= ~np.isin(zone, self._needed)
        if not must_move.any():
            return frames
        start, end = spans.frames[:, span]
        least = least_distance(start, end)
        to_low, to_high = must_move & (low - start >= least), must_move & (end - high >= least)
        to_low &= ~to_high | (frames - low <= high - frames)
        return np.where(to_low, low, np.where(to_high, high, frames))

    def cover(self, spans: Spans) -> BoolArray:
        """Return a mask of spans that have no room for a knot outside zones."""
        start, end = spans.frames
        _, is_inside, low, high = self.find(spans.strand, (start + end) / 2.0)
        least = least_distance(start, end)
        covered: BoolArray = is_inside & (low - start < least) & (end - high < least)
        return covered


def least_distance(start: Float64Array, end: Float64Array) -> Float64Array:
    """Return the minimum distance between knots within spans from `start` to `end`."""
    steps = np.spacing(np.maximum(-start, end).astype(np.float32))
    least: Float64Array = np.maximum(_LEAST_FRAMES, _LEAST_STEPS * steps)
    return least


def too_near(spans: Spans, span: IndexArray, frames: Float64Array) -> BoolArray:
    """Return a mask of sorted knots that are too close to the previous knot or to an end."""
    start, end = spans.frames[:, span]
    least = least_distance(start, end)
    previous = start.copy()
    has_previous = span[1:] == span[:-1]
    previous[1:][has_previous] = frames[:-1][has_previous]
    is_near: BoolArray = (frames - previous < least) | (frames - start < least) | (end - frames < least)
    return is_near


def _round_out(frames: Float64Array, towards: float) -> Float64Array:
    """Return the frames rounded to float32 in the direction of `towards`, which is inf or -inf."""
    rounded = frames.astype(np.float32)
    is_short = (rounded < frames) if towards > 0.0 else (rounded > frames)
    return np.where(is_short, np.nextafter(rounded, np.float32(towards)), rounded).astype(np.float64)


class Division:
    """The placement of knots in spans."""

    def __init__(self, strands: Strands, cubics: Cubics) -> None:
        self._strands = strands
        self._cubics = cubics
        self.zones = Zones(strands)

    def cuts(self, spans: Spans, pieces: Pieces, first_level: bool) -> Cuts:
        """Return the knots that divide spans.

        A span is divided at the ends of eases or, if there are none, by `subdivision.subdivide`. All knots are
        provisional except those from `subdivide` on the first level. If all knots are too close to each other or to the
        ends, the span is divided in the middle.
        """
        jumps = self._strands.ease_ends[:, spans.strand]
        span, row = np.nonzero(((jumps > spans.frames[0]) & (jumps < spans.frames[1])).T)
        frames = jumps[row, span]
        is_near = too_near(spans, span, frames)
        jump_span, jump_frames = span[~is_near], frames[~is_near]
        jump_frames = self._knots_for_jumps(spans, jump_span, jump_frames)
        without_jump = np.setdiff1d(np.arange(len(spans.strand)), jump_span)
        polynomial = subdivision.polynomials(pieces.points[..., without_jump], pieces.rest[..., without_jump])
        number, parameter = subdivision.subdivide(polynomial, self._measure(spans.strand[without_jump]))
        start, end = spans.frames[:, without_jump[number]]
        span = np.concatenate([jump_span, without_jump[number]])
        frames = np.concatenate([jump_frames, start + parameter * (end - start)])
        frames = self.zones.move_out(spans, span, frames.astype(np.float32).astype(np.float64))
        provisional = (np.arange(len(span)) < len(jump_span)) | ~np.bool_(first_level)
        order = np.lexsort((frames, span))
        is_near = too_near(spans, span[order], frames[order])
        order = order[~is_near]
        cuts = Cuts(span[order], frames[order], provisional[order])
        return _with_middles(spans, cuts) if is_near.any() else cuts

    def _measure(self, strands: IndexArray) -> subdivision.Measure:
        """Return the function with which `subdivision` measures errors relative to the goal."""
        goal = self._strands.goal[strands]
        representation = self._strands.representation

        def measure(span: IndexArray, values: Float64Array, change: Float64Array) -> Float64Array:
            error = np.abs(change[0]) if representation is None else representation.angle(values, change)
            ratio: Float64Array = error / goal[span]
            return ratio

        return measure

    def _knots_for_jumps(self, spans: Spans, span: IndexArray, jumps: Float64Array) -> Float64Array:
        """Return the knots for the ends of eases.

        A knot close to a key is moved away from the key, to the first frame at which the piece from the key meets its
        goal although it contains the jump.
        """
        frames = jumps.astype(np.float32).astype(np.float64)
        moved = self.zones.move_out(spans, span, frames)
        _, _, low, high = self.zones.find(spans.strand[span], frames)
        start, end = spans.frames[:, span]
        is_later = moved > frames
        near_key = np.flatnonzero((is_later & (low < start)) | ((moved < frames) & (high > end)))
        if not len(near_key):
            return moved
        direction = np.where(is_later[near_key], 1.0, -1.0)
        least, key_span = least_distance(start, end)[near_key], span[near_key]
        candidates = np.clip(
            moved[near_key] + direction * _FARTHER[:, np.newaxis], start[near_key] + least, end[near_key] - least
        )
        candidates = candidates.astype(np.float32).astype(np.float64)
        rows = np.tile(key_span, len(candidates))
        cuts = Cuts(np.arange(len(rows)), candidates.ravel(), np.ones(len(rows), dtype=np.bool_))
        parts = self.parts(spans.take(rows), cuts)
        # Each span has two parts. The part at the key is the second if knots move back.
        from_key = parts.take(2 * cuts.span + np.tile(direction < 0.0, len(candidates)))
        errors = self._cubics.dense_errors(from_key).reshape(candidates.shape)
        first_accurate = np.argmax(errors <= self._strands.goal[spans.strand[key_span]], axis=0)
        moved[near_key] = candidates[first_accurate, np.arange(len(near_key))]
        return moved

    def parts_at(self, spans: Spans, span: IndexArray, parameter: Float64Array) -> Spans:
        """Divide whole strands at parameters from 0 to 1, without knots that are too close together."""
        first, last = spans.frames[:, span]
        frames = (first + parameter * (last - first)).astype(np.float32).astype(np.float64)
        frames = self.zones.move_out(spans, span, frames)
        is_far = ~too_near(spans, span, frames)
        provisional = np.zeros(np.count_nonzero(is_far), dtype=np.bool_)
        return self.parts(spans, Cuts(span[is_far], frames[is_far], provisional))

    def parts(self, spans: Spans, cuts: Cuts) -> Spans:
        """Return the parts of spans that have at least one knot each."""
        span, frames = cuts.span, cuts.frames
        strand = spans.strand[span]
        exact, rates = self._strands.evaluate(strand, frames, 0), self._strands.evaluate(strand, frames, 1)
        representation = self._strands.representation
        numbers = exact if representation is None else representation.local(exact, rates)
        count = np.bincount(span, minlength=len(spans.strand)) + 1
        owner = np.repeat(np.arange(len(count)), count)
        stop = np.cumsum(count)
        starts_at_knot = np.ones(len(owner), dtype=np.bool_)
        starts_at_knot[stop - count] = False
        ends_at_knot = np.ones(len(owner), dtype=np.bool_)
        ends_at_knot[stop - 1] = False

        def at_ends_of_parts(at_ends: Float64Array, at_knots: Float64Array) -> Float64Array:
            result = at_ends[..., owner]
            result[0][..., starts_at_knot] = at_knots
            result[1][..., ends_at_knot] = at_knots
            return result

        start_numbers = spans.numbers[:, owner]
        start_numbers[:, starts_at_knot] = numbers
        provisional = spans.provisional[owner]
        provisional[starts_at_knot] = cuts.provisional
        return Spans(
            spans.strand[owner],
            at_ends_of_parts(spans.frames, frames),
            at_ends_of_parts(spans.exact, exact),
            at_ends_of_parts(spans.rates, rates),
            start_numbers,
            provisional,
        )


def _with_middles(spans: Spans, cuts: Cuts) -> Cuts:
    """Return the knots, with one added in the middle of each span that has none and has room for one."""
    undivided = np.setdiff1d(np.arange(len(spans.strand)), cuts.span)
    middles = spans.frames[:, undivided].mean(axis=0).astype(np.float32).astype(np.float64)
    is_far = ~too_near(spans, undivided, middles)
    span, frames = np.concatenate([cuts.span, undivided[is_far]]), np.concatenate([cuts.frames, middles[is_far]])
    provisional = np.concatenate([cuts.provisional, np.ones(np.count_nonzero(is_far), dtype=np.bool_)])
    order = np.argsort(span, kind="stable")
    return Cuts(span[order], frames[order], provisional[order])


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
