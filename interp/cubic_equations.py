# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve for the slopes at keys that make a cubic spline of values C2. Source: docs/formulas, "C2 cubics"."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .key_batch import BoolArray, KeyBatch
from .keys import Float64Array
from .tridiagonal import solve

SlopeEnds = Literal["CLAMPED", "NATURAL"]


def equation_weights(tracks: KeyBatch, ends: SlopeEnds) -> tuple[Float64Array, BoolArray]:
    """Return the weight of the segment before each key in the key's equation, and a mask of keys that have an equation.

    The weight of each side is the other side's share of the frames. At an end with zero second derivative, the same
    equation puts all the weight on the only segment.
    """
    both_lengths = tracks.before + tracks.after
    share = np.divide(tracks.after, both_lengths, out=np.zeros_like(both_lengths), where=both_lengths > 0.0)
    has_equation = (tracks.before > 0.0) & (tracks.after > 0.0)
    if ends == "NATURAL":
        first, last = tracks.open
        share[first], share[last] = 0.0, 1.0
        has_equation[first] = has_equation[last] = True
    return share, has_equation


def c2_slopes(
    tracks: KeyBatch, values: Float64Array, ends: SlopeEnds, velocities: Float64Array | None = None
) -> Float64Array:
    """Return the slopes per frame that make cubic segments through the values C2. Values and slopes have shape (d, K).

    At the ends of tracks that are not loops, the slopes are `velocities` if given. Otherwise, the second derivatives
    are 0. In a loop, the first and last slopes are equal even if the values differ.
    """
    segment_before, segment_after = tracks.segments_beside
    lengths = tracks.lengths
    chords = values[:, tracks.segment_end] - values
    mean = np.divide(chords, lengths, out=np.zeros_like(values), where=lengths > 0.0)
    share, has_equation = equation_weights(tracks, ends)
    before = np.where(has_equation, share, 0.0)
    diagonal = np.where(has_equation, 2.0, 1.0)
    after = np.where(has_equation, 1.0 - share, 0.0)
    weighted_means = share * mean[:, segment_before] + (1.0 - share) * mean[:, segment_after]
    right_side = np.where(has_equation, 3.0 * weighted_means, 0.0)
    first, last = tracks.open
    if ends == "CLAMPED" and velocities is not None:
        right_side[:, first], right_side[:, last] = velocities[:, first], velocities[:, last]
    before, diagonal, after = (numbers[np.newaxis, np.newaxis] for numbers in (before, diagonal, after))
    slopes: Float64Array = solve(before, diagonal, after, right_side[np.newaxis], tracks.previous, tracks.following)[0]
    return slopes
