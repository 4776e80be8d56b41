# SPDX-License-Identifier: GPL-3.0-or-later
"""Zones around keys where knots should not be placed, so that an animator can select each key with a click."""

from __future__ import annotations

import numpy as np

from ...arguments import checked_finite
from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array
from .strands import Pieces, Spans, Strands

_APART = 0.5
"""If keys are closer than this many frames, a click cannot reliably select one of them."""
_LEAST_FRAMES = 0.0125
"""The smallest length of a piece in frames. Blender merges keys closer than 0.01 frame."""
_LEAST_STEPS = 12
"""The smallest length of a piece in float32 steps, which must resolve the thirds of the piece."""


class Zones:
    """The frames around the keys of some strands where knots should not be placed."""

    def __init__(self, strands: Strands) -> None:
        zones, offsets, end = [], [], 0.0
        for request in strands.requests:
            keys = request.spline.keys.frames
            if request.other_keys is not None:
                keys = np.union1d(keys, checked_finite("other_keys", request.other_keys))
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
        zone = np.repeat(first, count) + ordinals(count)
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


def ordinals(counts: IndexArray) -> IndexArray:
    """Return the numbers 0, 1, … below each count, one count after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _rounded_out(frames: Float64Array, towards: float) -> Float64Array:
    """Return frames rounded to float32 in the direction of `towards`, which is inf or -inf."""
    rounded = frames.astype(np.float32)
    is_short = (rounded < frames) if towards > 0.0 else (rounded > frames)
    return np.where(is_short, np.nextafter(rounded, np.float32(towards)), rounded).astype(np.float64)
