# SPDX-License-Identifier: GPL-3.0-or-later
"""The weights of controls in cubic B-splines whose knots are the frames of the keys.

The ends are natural. The two additional controls beyond the ends are means of keys, as if the keys and knots were
mirrored at the ends. Source: docs/formulas, "B-splines".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .key_batch import IndexArray, KeyBatch
from .keys import Float64Array


class BasisWeights(NamedTuple):
    """The weights of the four controls around each segment, as cumulative B-splines.

    Along a segment, the spline is ``c0 + (c1 - c0) b1 + (c2 - c1) b2 + (c3 - c2) b3`` with cubics b1 to b3 in u. The
    attributes are their Bezier ordinates, except that the others of ``1 - b1`` and b3 are 0.
    """

    c0_at_start: Float64Array
    """The first ordinate of ``1 - b1``, shape (K,)."""
    b2: Float64Array
    """The four ordinates of b2, shape (4, K)."""
    c3_at_end: Float64Array
    """The last ordinate of b3, shape (K,)."""

    @classmethod
    def of(cls, tracks: KeyBatch) -> BasisWeights:
        """Return the weights of all segments, from the knots around them."""
        length = tracks.lengths
        # The segment of a last key has no length and no motion, so any length is correct.
        length[tracks.last] = 1.0
        before, after = length[segments_away(tracks, -1)], length[segments_away(tracks, 1)]
        two_before, two_after = length[segments_away(tracks, -2)], length[segments_away(tracks, 2)]
        three_lengths = before + length + after
        start_share, end_share = before / three_lengths, (before + length) / three_lengths
        share_before, share_after = before / (before + length), length / (length + after)
        c0_at_start = (1.0 - share_before) * length / (two_before + before + length)
        b2 = np.stack([share_before * start_share, start_share, end_share, end_share + share_after * (1.0 - end_share)])
        c3_at_end = share_after * length / (length + after + two_after)
        # The segment that begins at the last key of a loop is the first segment.
        segment = np.arange(len(length))
        segment[tracks.last[tracks.looped]] = tracks.first[tracks.looped]
        return cls(c0_at_start[segment], b2[:, segment], c3_at_end[segment])

    def at(self, segment: IndexArray, u: Float64Array, nu: int) -> list[Float64Array]:
        """Return b1 - 1, b2 and b3, or their derivatives with respect to u."""
        rest = 1.0 - u
        start, end = self.c0_at_start[segment], self.c3_at_end[segment]
        p0, p1, p2, p3 = self.b2[:, segment]
        if nu == 0:
            b2 = ((p0 * rest + 3.0 * p1 * u) * rest + 3.0 * p2 * u * u) * rest + p3 * u**3
            return [-start * rest**3, b2, end * u**3]
        r0, r1, r2 = p1 - p0, p2 - p1, p3 - p2
        if nu == 1:
            b2_rate = 3.0 * ((r0 * rest + 2.0 * r1 * u) * rest + r2 * u * u)
            return [3.0 * start * rest**2, b2_rate, 3.0 * end * u**2]
        return [-6.0 * start * rest, 6.0 * ((r1 - r0) * rest + (r2 - r1) * u), 6.0 * end * u]


def segments_away(tracks: KeyBatch, offset: int) -> IndexArray:
    """Return the segment `offset` places after each segment, across a loop's seam or mirrored at other ends."""
    counts = tracks.last - tracks.first + 1
    first, segment_count = np.repeat(tracks.first, counts), np.repeat(np.maximum(counts - 1, 1), counts)
    index = np.arange(len(tracks.frames)) - first + offset
    mirrored_at_last = np.where(index >= segment_count, 2 * segment_count - 1 - index, index)
    mirrored = np.where(index < 0, -1 - index, mirrored_at_last)
    inside = np.where(np.repeat(tracks.looped, counts), np.mod(index, segment_count), mirrored)
    segments: IndexArray = first + np.clip(inside, 0, segment_count - 1)
    return segments
