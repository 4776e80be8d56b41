# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest pieces within the tolerance.

The error of a piece grows with the fourth power of its length, so a piece whose error is E times its goal should become
E^(1/4) pieces. As a density, E^(1/4) predicts the number of pieces and the knots at which all pieces have equal errors.
Each trial fits the predicted pieces to the spline and improves the prediction. Source: docs/formulas, "Fitting curves".
"""

from __future__ import annotations

import numpy as np

from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array, finite
from .cubics import Cubics
from .strands import Pieces, Spans, Strands, concatenate

_LEAST_FRAMES = 0.0125
"""The smallest length of a piece in frames. Blender merges keys closer than 0.01 frame."""
_LEAST_STEPS = 12
"""The smallest length of a piece in float32 steps, which must resolve the thirds of the piece."""
_APART = 0.5
"""If keys are closer than this many frames, a click cannot reliably select one of them."""
_AIM = 0.97
"""The fraction of the goal at which a prediction aims. Some errors turn out slightly larger than predicted."""
_SLACK = 0.1
"""The number of pieces by which a trial may be smaller than predicted."""
_LESS = 0.9
"""Inaccurate pieces are replaced only by pieces whose largest error is below this fraction."""
_FARTHER = np.arange(0.0, 1.5, 0.125)
"""The distances, in frames, by which knots for the end of an ease are moved away from a zone."""
_MAX_TRIALS = 16
_MAX_REBALANCED = 3
"""The maximum number of successive trials with the same number of pieces."""
_UNITS = 2.0**40
"""The density of a span in integer units."""


def fewest_pieces(strands: Strands) -> Pieces:
    """Return the pieces of all strands, in order of strand and frame."""
    cubics, zones = Cubics(strands), Zones(strands)
    whole = strands.whole_segments()
    pieces = cubics.fit(whole)
    is_accurate = pieces.error <= strands.goal
    finished, whole, pieces = pieces.take(is_accurate), whole.take(~is_accurate), pieces.take(~is_accurate)
    # Where the acceleration jumps, one knot saves many short pieces.
    span, frames = _far_knots(whole, *_knots_at_jumps(strands, cubics, zones, whole))
    sections = _divided(strands, whole, span, frames)
    if len(span):
        pieces = cubics.fit(sections)
    # Knots are needed in a zone if one piece across the zone is inaccurate.
    inaccurate = sections.take(pieces.error > strands.goal[pieces.strand])
    parts = _divided(strands, inaccurate, *_far_knots(inaccurate, *zones.edges(inaccurate)))
    across = cubics.measured(cubics.fit(parts.take(zones.cover(parts))))
    zones.allow(across.take(across.error > strands.goal[across.strand]))
    pieces = _fewest(strands, cubics, zones, sections, np.arange(len(sections.strand)), pieces)
    # Some pieces can be joined across a jump.
    with_jump = whole.take(np.unique(span))
    has_jump = np.isin(pieces.strand, with_jump.strand)
    finished, pieces = concatenate([finished, pieces.take(~has_jump)]), pieces.take(has_jump)
    pieces = _fewest(strands, cubics, zones, with_jump, np.searchsorted(with_jump.strand, pieces.strand), pieces)
    # The remaining inaccurate pieces are too short to divide, and five samples may not resolve them.
    return cubics.measured(concatenate([finished, pieces]))


def _knots_at_jumps(strands: Strands, cubics: Cubics, zones: Zones, spans: Spans) -> tuple[IndexArray, Float64Array]:
    """Return the spans and frames of knots for the ends of eases.

    A knot in a zone is moved out of the zone. If the zone is at an end of the span, the knot is moved to the first
    frame at which the piece from the key is accurate although it contains the jump. If there is no such frame, the knot
    is needed in the zone.
    """
    ease_ends = strands.ease_ends[:, spans.strand]
    span, row = np.nonzero(((ease_ends > spans.frames[0]) & (ease_ends < spans.frames[1])).T)
    jumps = _rounded(ease_ends[row, span])
    frames = zones.moved_out(spans, span, jumps)
    is_later = frames > jumps
    start, end = spans.frames[:, span]
    keys = np.where(is_later, start, end)
    near_key = np.flatnonzero((frames != jumps) & (zones.moved_out(spans, span, keys) == frames))
    if not len(near_key):
        return span, frames
    owner, is_later = span[near_key], is_later[near_key]
    start, end = spans.frames[:, owner]
    least = least_distance(start, end)
    farther = frames[near_key] + np.where(is_later, 1.0, -1.0) * _FARTHER[:, np.newaxis]
    farther = _rounded(np.clip(farther, start + least, end - least))
    both_parts = _divided(strands, spans.take(np.tile(owner, len(_FARTHER))), np.arange(farther.size), farther.ravel())
    # If the knot moves to a later frame, the first of both parts contains the jump, and otherwise the second.
    part = 2 * np.arange(farther.size) + np.tile(~is_later, len(_FARTHER))
    pieces = cubics.measured(cubics.fit(both_parts.take(part)))
    is_accurate = (pieces.error <= strands.goal[pieces.strand]).reshape(farther.shape)
    first_accurate = np.argmax(is_accurate, axis=0), np.arange(len(near_key))
    frames[near_key] = np.where(is_accurate.any(axis=0), farther[first_accurate], jumps[near_key])
    return span, frames


def _fewest(
    strands: Strands, cubics: Cubics, zones: Zones, sections: Spans, owner: IndexArray, trial: Pieces
) -> Pieces:
    """Return the fewest accurate pieces of each section, or else the most accurate pieces that were found.

    `trial` contains at least one piece for each section, and `owner` the section of each piece, in ascending order.
    """
    n = len(sections.strand)
    lengths = sections.frames[1] - sections.frames[0]
    most = np.maximum(np.floor(lengths / least_distance(*sections.frames)), 1.0).astype(np.intp)
    trials: list[tuple[IndexArray, Pieces]] = []
    # For each section, the best trial, its number of pieces if all are accurate, and its largest error otherwise.
    best_trial, best_count, best_error = np.zeros(n, dtype=np.intp), np.full(n, np.inf), np.full(n, np.inf)
    # The largest number of pieces that failed, and the number of successive trials with the same number of pieces.
    too_few, rebalanced = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    while n and len(trials) < _MAX_TRIALS:
        # Only a measured error may require a knot close to a key or to the end of an ease.
        trial = cubics.measured(trial, zones.cover(trial) | cubics.has_jump(trial))
        ratio = trial.error / strands.goal[trial.strand]
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        section, count = owner[first], np.diff(first, append=len(owner))
        error = np.maximum.reduceat(ratio, first)
        is_good = error <= 1.0
        is_better = np.where(is_good, count < best_count[section], error < _LESS * best_error[section])
        best_trial[section[is_better]] = len(trials)
        best_error[section[is_better]] = np.where(is_good, 0.0, error)[is_better]
        best_count[section[is_good & is_better]] = count[is_good & is_better]
        trials.append((owner, trial))

        # The number of pieces by which each piece should be replaced. The small terms are for pieces without an error.
        room = (trial.frames[1] - trial.frames[0]) / least_distance(*trial.frames)
        density = np.minimum(np.sqrt(np.sqrt(ratio + 1e-4 * np.repeat(error, count) + 1e-30)), room)
        total = np.add.reduceat(density, first)
        rebalances = ~is_good & (total <= count) & (rebalanced[section] < _MAX_REBALANCED)
        rebalanced[section] = np.where(rebalances, rebalanced[section] + 1, 0)
        has_failed = ~is_good & ~rebalances
        too_few[section[has_failed]] = count[has_failed]
        predicted = np.ceil(total / _AIM**0.25 - _SLACK).astype(np.intp)
        more = np.maximum(predicted, too_few[section] + 1)
        new_count = np.where(rebalances, count, np.minimum(more, most[section]))
        # If more pieces seem unnecessary but rebalancing failed, all knots stay, and each inaccurate piece is divided.
        divides = has_failed & (predicted <= count) & np.isinf(best_count[section])
        parts = np.clip(np.ceil(np.sqrt(np.sqrt(ratio))), 1.0, np.maximum(np.floor(room), 1.0))
        density = np.where(np.repeat(divides, count), parts, density)
        new_count = np.where(divides, np.add.reduceat(parts, first).astype(np.intp), new_count)
        goes_on = rebalances | ((new_count != count) & (new_count < best_count[section]))
        if not goes_on.any():
            break

        start, end = sections.frames[:, owner]
        ends = (trial.frames[1] - start) / (end - start)
        span, parameter = _equal_parts(count, ends, density, new_count, goes_on)
        active = section[goes_on]
        spans = sections.take(active)
        start, end = spans.frames[:, span]
        frames = zones.moved_out(spans, span, _rounded(start + parameter * (end - start)))
        span, frames = _far_knots(spans, span, frames)
        trial = cubics.fit(_divided(strands, spans, span, frames))
        owner = np.repeat(active, np.bincount(span, minlength=len(active)) + 1)
    best = [pieces.take(best_trial[owner] == number) for number, (owner, pieces) in enumerate(trials)]
    return concatenate(best) if best else trial


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
            zones.append(np.stack([_rounded_out(low, -np.inf), _rounded_out(high, np.inf)]))
            # The zones of all tracks are arranged one after the other on one axis.
            offsets.append(end - zones[-1][0, 0])
            end += zones[-1][1, -1] - zones[-1][0, 0] + 1.0
        self._zones = np.concatenate(zones, axis=1)
        self._starts = self._zones[0] + np.repeat(offsets, [zone.shape[1] for zone in zones])
        self._offset = np.array(offsets)[strands.request]
        self._allowed = np.empty(0, dtype=np.intp)

    def edges(self, spans: Spans) -> tuple[IndexArray, Float64Array]:
        """Return the spans and frames of the edges of all zones that overlap the spans."""
        start, end = spans.frames + self._offset[spans.strand]
        first = np.searchsorted(self._starts, start, side="right") - 1
        count = np.searchsorted(self._starts, end) - first
        zone = np.repeat(first, count) + _ordinals(count)
        return np.repeat(np.arange(len(count)), 2 * count), self._zones[:, zone].T.ravel()

    def allow(self, pieces: Pieces) -> None:
        """Allow knots in the zones that cover these pieces."""
        self._allowed = np.unique(self._find(pieces.strand, pieces.frames.mean(axis=0))[0])

    def moved_out(self, spans: Spans, span: IndexArray, frames: Float64Array) -> Float64Array:
        """Return the knots' frames, after moving knots in zones to a zone edge within their span, if there is one."""
        _, must_move, low, high = self._find(spans.strand[span], frames)
        start, end = spans.frames[:, span]
        least = least_distance(start, end)
        to_low, to_high = must_move & (low - start >= least), must_move & (end - high >= least)
        to_low &= ~to_high | (frames - low <= high - frames)
        return np.where(to_low, low, np.where(to_high, high, frames))

    def cover(self, spans: Spans | Pieces) -> BoolArray:
        """Return a mask of spans that have no room for a knot outside zones."""
        start, end = spans.frames
        _, is_inside, low, high = self._find(spans.strand, (start + end) / 2.0)
        least = least_distance(start, end)
        covered: BoolArray = is_inside & (low - start < least) & (end - high < least)
        return covered

    def _find(
        self, strand: IndexArray, frames: Float64Array
    ) -> tuple[IndexArray, BoolArray, Float64Array, Float64Array]:
        """Return the zone of each strand and frame, whether it keeps the frame free, and the zone's start and end."""
        zone = np.searchsorted(self._starts, frames + self._offset[strand]) - 1
        low, high = self._zones[:, zone]
        zone_of_strand = strand * len(self._starts) + zone
        is_free = (frames > low) & (frames < high) & ~np.isin(zone_of_strand, self._allowed)
        return zone_of_strand, is_free, low, high


def least_distance(start: Float64Array, end: Float64Array) -> Float64Array:
    """Return the minimum distance between knots within spans from `start` to `end`."""
    steps = np.spacing(np.maximum(-start, end).astype(np.float32))
    least: Float64Array = np.maximum(_LEAST_FRAMES, _LEAST_STEPS * steps)
    return least


def _far_knots(spans: Spans, span: IndexArray, frames: Float64Array) -> tuple[IndexArray, Float64Array]:
    """Return the knots in order, without knots that are too close to the previous knot or to an end."""
    order = np.lexsort((frames, span))
    span, frames = span[order], frames[order]
    start, end = spans.frames[:, span]
    previous = start.copy()
    has_previous = span[1:] == span[:-1]
    previous[1:][has_previous] = frames[:-1][has_previous]
    least = least_distance(start, end)
    is_far = (frames - previous >= least) & (frames - start >= least) & (end - frames >= least)
    return span[is_far], frames[is_far]


def _rounded(frames: Float64Array) -> Float64Array:
    """Return frames rounded to float32."""
    return frames.astype(np.float32).astype(np.float64)


def _rounded_out(frames: Float64Array, towards: float) -> Float64Array:
    """Return frames rounded to float32 in the direction of `towards`, which is inf or -inf."""
    rounded = frames.astype(np.float32)
    is_short = (rounded < frames) if towards > 0.0 else (rounded > frames)
    return np.where(is_short, np.nextafter(rounded, np.float32(towards)), rounded).astype(np.float64)


def _divided(strands: Strands, spans: Spans, span: IndexArray, frames: Float64Array) -> Spans:
    """Return the parts into which knots, in order of span and frame, divide spans."""
    if not len(span):
        return spans
    strand = spans.strand[span]
    exact, rates = strands.evaluate(strand, frames, 0), strands.evaluate(strand, frames, 1)
    numbers = exact if strands.representation is None else strands.representation.local(exact, rates)
    count = np.bincount(span, minlength=len(spans.strand)) + 1
    owner, last = np.repeat(np.arange(len(count)), count), np.cumsum(count) - 1
    starts_at_knot, ends_at_knot = np.ones((2, len(owner)), dtype=np.bool_)
    starts_at_knot[last - count + 1] = ends_at_knot[last] = False

    def at_ends_of_parts(at_ends: Float64Array, at_knots: Float64Array) -> Float64Array:
        result = at_ends[..., owner]
        result[0][..., starts_at_knot] = at_knots
        result[1][..., ends_at_knot] = at_knots
        return result

    start_numbers = spans.numbers[:, owner]
    start_numbers[:, starts_at_knot] = numbers
    return Spans(
        spans.strand[owner],
        at_ends_of_parts(spans.frames, frames),
        at_ends_of_parts(spans.exact, exact),
        at_ends_of_parts(spans.rates, rates),
        start_numbers,
    )


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


def _ordinals(counts: IndexArray) -> IndexArray:
    """Return the numbers 0, 1, … below each count, one count after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
