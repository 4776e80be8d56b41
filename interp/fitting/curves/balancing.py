# SPDX-License-Identifier: GPL-3.0-or-later
"""Balancing: move the knots of a strand so that its pieces have the same error, and take fewer where that does."""

from __future__ import annotations

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array
from .. import subdivision
from .cubics import Cubics
from .division import Division
from .knots_near_keys import too_near
from .spans import Cuts, Pieces, Spans, count_of_strands, first_of_strands, sort_pieces
from .strands import Strands

_MOST_ROUNDS = 3


class Balancing:
    """Divide whole strands again, into equal shares of the errors that a trial had."""

    def __init__(self, strands: Strands, division: Division, whole: Spans) -> None:
        self._strands = strands
        self._division = division
        self._whole = whole

    def balanced(self, pieces: Pieces, cubics: Cubics) -> Pieces:
        """Return the pieces, fewer where fewer of equal errors do: dividing level by level rounds up on each."""
        trial = pieces
        for _ in range(_MOST_ROUNDS):
            _, needed = self.needed(trial)
            best = self.count(pieces)[count_of_strands(trial)[0]]
            # The search began with one piece, so two is the least.
            wanted = np.minimum(np.maximum(np.ceil(needed - 0.02), 2), best).astype(np.intp)
            if not (wanted < best).any():
                break
            trial = cubics.fit(self.divide_again(trial, wanted, wanted < best))
            pieces, _ = self.take_good(pieces, trial)
        return pieces

    def needed(self, trial: Pieces) -> tuple[Float64Array, Float64Array]:
        """Return the mass of each piece, and how many pieces each strand needs: see `subdivision.pieces_needed`."""
        return subdivision.pieces_needed(trial.error / self._strands.goal[trial.strand], first_of_strands(trial))

    def count(self, pieces: Pieces) -> IndexArray:
        """Return how many pieces each strand has, shape (strands,)."""
        return np.bincount(pieces.strand, minlength=len(self._strands))

    def divide_again(self, trial: Pieces, wanted: IndexArray, chosen: BoolArray) -> Spans:
        """Return the chosen strands of a trial in `wanted` parts, with equal shares of the trial's errors."""
        strand, count = count_of_strands(trial)
        start, end = self._whole.frames[:, trial.strand]
        mass, _ = self.needed(trial)
        number, parameter = subdivision.equal_parts(
            count, (trial.frames[1] - start) / (end - start), mass, wanted, chosen
        )
        spans = self._whole.take(strand[chosen])
        first, last = spans.frames[:, number]
        frames = (first + parameter * (last - first)).astype(np.float32).astype(np.float64)
        frames = self._division.zones.move_out(spans, number, frames)
        near = too_near(spans, number, frames)
        provisional = np.zeros(np.count_nonzero(~near), dtype=np.bool_)
        return self._division.parts(spans, Cuts(number[~near], frames[~near], provisional))

    def take_good(self, pieces: Pieces, trial: Pieces) -> tuple[Pieces, IndexArray]:
        """Return the pieces, replaced by those of a trial in strands where these are all good, and these strands."""
        bad = np.unique(trial.strand[trial.error > self._strands.goal[trial.strand]])
        good = np.setdiff1d(trial.strand, bad)
        if len(good):
            pieces = sort_pieces([pieces.take(~np.isin(pieces.strand, good)), trial.take(np.isin(trial.strand, good))])
        return pieces, good
