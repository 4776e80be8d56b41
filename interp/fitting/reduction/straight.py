# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of dense samples that lie on straight lines between a few of them, or are held in steps.

Source: docs/formulas.md, "Fewest keys".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array

_ROUNDING = 16.0 * 2.0**-24
"""Of second differences of float32 numbers: the sum of the factors is 4, and some more."""
_DRIFT = 2.0
"""How far samples may lie from the lines, in those roundings."""


@dataclass(frozen=True, eq=False)
class Straight:
    """Keys between which samples lie on lines or are held.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        The samples at whose frames the keys are; the first and the last are among them.
    is_held : ndarray of bool, shape (n,)
        Whether the samples after the key are held up to the next key.
    """

    rows: IndexArray
    is_held: BoolArray

    def play(self, samples: Float64Array) -> Float64Array:
        """Return what these keys of the samples (frames, d) play, shape (frames, d)."""
        every = np.arange(len(samples))
        segment = np.minimum(np.searchsorted(self.rows, every, side="right") - 1, len(self.rows) - 2)
        first, last = self.rows[segment], self.rows[segment + 1]
        u = ((every - first) / (last - first))[:, np.newaxis]
        held = self.is_held[segment][:, np.newaxis] & (u < 1.0)
        played: Float64Array = np.where(held, samples[first], (1.0 - u) * samples[first] + u * samples[last])
        return played


def find_straight(samples: Float64Array) -> Straight | None:
    """Return the keys of samples (frames, d) on lines and steps, or None where others lie between.

    Samples are those of float32 numbers: they may be off by as much as these round. All columns have their keys at the
    same frames. A hold ends in a step where the samples of the next frame are others: one key there in place of two.
    """
    count = len(samples)
    if count < 3:
        return None
    noise = _ROUNDING * np.abs(samples).max(axis=0) + np.finfo(np.float64).tiny
    bent = (np.abs(np.diff(samples, 2, axis=0)) > noise).any(axis=1)
    rows = np.concatenate(([0], np.flatnonzero(bent) + 1, [count - 1]))
    found = _with_holds(rows, (np.diff(samples, axis=0) == 0.0).all(axis=1))
    off = np.abs(found.play(samples) - samples)
    return found if (off <= _DRIFT * noise).all() else None


def _with_holds(rows: IndexArray, stays: BoolArray) -> Straight:
    """Return the keys without those that only end a hold one frame before a step; `stays`: from frame to frame."""
    moving = np.concatenate(([0], np.cumsum(~stays)))
    still = moving[rows[1:]] == moving[rows[:-1]]
    kept = np.ones(len(rows), dtype=np.bool_)
    is_held = np.zeros(len(rows), dtype=np.bool_)
    for place in np.flatnonzero(still[:-1] & (np.diff(rows)[1:] == 1)).tolist():
        is_held[place], kept[place + 1] = True, False
    return Straight(rows[kept], is_held[kept])
