# SPDX-License-Identifier: GPL-3.0-or-later
"""Zones around keys in which knots stand only where the tolerance needs them, and the least distance of knots."""

from __future__ import annotations

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array, finite
from .spans import Pieces, Spans
from .strands import Strands

# Frames. Blender merges keys nearer than 0.01 frame, and float32 frames have to resolve the thirds of a piece.
_LEAST_FRAMES = 0.0125
_LEAST_STEPS = 12
# Frames. Nearer to a key than this a click can't pick the one or the other.
_APART = 0.5


class Zones:
    """The frames around the keys of some strands that knots keep out of."""

    def __init__(self, strands: Strands) -> None:
        zones, offsets, end = [], [], 0.0
        for request in strands.requests:
            keys = request.spline.keys.frames
            if request.other_keys is not None:
                keys = np.union1d(keys, finite("other_keys", request.other_keys))
            low, high = keys - _APART, keys + _APART
            joined = low[1:] < high[:-1]
            low, high = low[np.append(True, ~joined)], high[np.append(~joined, True)]
            zones.append(np.stack([_round_out(low, -np.inf), _round_out(high, np.inf)]))
            # The zones of all tracks lie one after the other along one axis.
            offsets.append(end - zones[-1][0, 0])
            end += zones[-1][1, -1] - zones[-1][0, 0] + 1.0
        self._zones = np.concatenate(zones, axis=1)
        self._starts = self._zones[0] + np.repeat(offsets, [zone.shape[1] for zone in zones])
        self._offset = np.array(offsets)[strands.request]
        self._needed = np.empty(0, dtype=np.intp)

    def allow_needed(self, pieces: Pieces, whole: Spans) -> None:
        """Let knots stand in the zones in which those of these pieces do: the tolerance needs them there."""
        number, inside, _, _ = self.find(pieces.strand, pieces.frames[0])
        self._needed = np.unique(number[inside & (pieces.frames[0] > whole.frames[0, pieces.strand])])

    def find(
        self, strand: IndexArray, frames: Float64Array
    ) -> tuple[IndexArray, BoolArray, Float64Array, Float64Array]:
        """Return the number of a zone for each strand and frame, which frames are in it, and its start and end."""
        zone = np.searchsorted(self._starts, frames + self._offset[strand]) - 1
        low, high = self._zones[:, zone]
        return strand * len(self._starts) + zone, (frames > low) & (frames < high), low, high

    def move_out(self, spans: Spans, span: IndexArray, frames: Float64Array) -> Float64Array:
        """Return the frames of knots, those in zones moved to an edge that is within their span, if there is one."""
        number, inside, low, high = self.find(spans.strand[span], frames)
        inside &= ~np.isin(number, self._needed)
        if not inside.any():
            return frames
        start, end = spans.frames[:, span]
        least = least_distance(start, end)
        before, behind = inside & (low - start >= least), inside & (end - high >= least)
        before &= ~behind | (frames - low <= high - frames)
        return np.where(before, low, np.where(behind, high, frames))

    def cover(self, spans: Spans) -> BoolArray:
        """Return for each span whether it has no room for a knot outside zones."""
        start, end = spans.frames
        _, inside, low, high = self.find(spans.strand, (start + end) / 2.0)
        least = least_distance(start, end)
        covered: BoolArray = inside & (low - start < least) & (end - high < least)
        return covered


def least_distance(start: Float64Array, end: Float64Array) -> Float64Array:
    """Return how far knots have to be apart within spans from `start` to `end`."""
    steps = np.spacing(np.maximum(-start, end).astype(np.float32))
    least: Float64Array = np.maximum(_LEAST_FRAMES, _LEAST_STEPS * steps)
    return least


def too_near(spans: Spans, span: IndexArray, frames: Float64Array) -> BoolArray:
    """Return which knots, in order of span and frame, are too near to the one before or to an end."""
    start, end = spans.frames[:, span]
    least = least_distance(start, end)
    before = start.copy()
    same = span[1:] == span[:-1]
    before[1:][same] = frames[:-1][same]
    near: BoolArray = (frames - before < least) | (frames - start < least) | (end - frames < least)
    return near


def _round_out(frames: Float64Array, towards: float) -> Float64Array:
    """Return the frames as float32 has them, none rounded away from `towards`, which is infinite."""
    rounded = frames.astype(np.float32)
    short = (rounded < frames) if towards > 0.0 else (rounded > frames)
    return np.where(short, np.nextafter(rounded, np.float32(towards)), rounded).astype(np.float64)
