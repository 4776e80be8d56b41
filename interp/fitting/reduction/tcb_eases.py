# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of segments with eases, and what of them comes into the least squares of values and parameters.

Source: docs/formulas.md, "Ease" and "Fewest keys with tension, continuity and bias".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ... import ease
from ...batch import BoolArray, IndexArray
from ...keys import HIGHEST, Float64Array
from .windows import hermite

_STEP = 1e-6
"""Of the difference quotients: as far from rounding (1e-16 / 1e-6) as from curvature."""


class Sums(NamedTuple):
    """Sums over the samples of segments; the eases of a segment are ease from and ease to.

    `squares` (n, s, 4, 4) and `products` (n, s, 4, d) are those of `Fit`; `across` (n, s, 2, 4, d) of the weights times
    the changes by both eases, `own` (n, s, 2, 2) of these changes, `slopes` (n, s, 2) of these and the errors.
    """

    squares: Float64Array
    products: Float64Array
    across: Float64Array
    own: Float64Array
    slopes: Float64Array


@dataclass(frozen=True, eq=False)
class EasedSamples:
    """The samples of segments of n windows of m keys.

    Attributes
    ----------
    count, width : int
        n and m.
    window, segment : ndarray of int, shape (segments,)
    order, starts : ndarray of int, shape (segments,)
        The segments in the order of their samples, and the first sample of each.
    owner : ndarray of int, shape (samples,)
        The segment of each sample.
    share : ndarray, shape (samples,)
        Where in its segment each is.
    wanted : ndarray, shape (samples, d)
    """

    count: int
    width: int
    window: IndexArray
    segment: IndexArray
    order: IndexArray
    starts: IndexArray
    owner: IndexArray
    share: Float64Array
    wanted: Float64Array

    def take(self, chosen: BoolArray) -> EasedSamples:
        """Return the samples of some of the windows."""
        kept = chosen[self.window]
        number, own = np.cumsum(kept) - 1, kept[self.owner]
        ordered = kept[self.order]
        counts = np.diff(self.starts, append=len(self.owner))[ordered]
        return EasedSamples(
            int(chosen.sum()),
            self.width,
            (np.cumsum(chosen) - 1)[self.window[kept]],
            self.segment[kept],
            number[self.order[ordered]],
            np.cumsum(counts) - counts,
            number[self.owner[own]],
            self.share[own],
            self.wanted[own],
        )

    @property
    def _weights(self) -> Float64Array:
        """Return a half at both ends of segments, which others have in common with them."""
        return np.where((self.share == 0.0) | (self.share == 1.0), 0.5, 1.0)

    def _local(self, leave: Float64Array, arrive: Float64Array) -> Float64Array:
        return ease.ease(self.share, *ease.normalised(leave, arrive))

    def _eases(self, shapes: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return ease from and ease to of each sample's segment."""
        own = self.owner
        leave, arrive = shapes[self.window, self.segment, 4], shapes[self.window, self.segment + 1, 3]
        return leave[own], arrive[own]

    def cost(self, points: Float64Array, shapes: Float64Array) -> Float64Array:
        """Return the sums of squared errors (n,) of segments (n, s, 4, d), keys having parameters (n, m, 5)."""
        own = points[self.window, self.segment][self.owner]
        off = np.einsum("ij,ijd->id", hermite(1.0, self._local(*self._eases(shapes))), own) - self.wanted
        squares = self._weights * np.einsum("ij,ij->i", off, off)
        sums: Float64Array = np.bincount(self.window[self.owner], squares, self.count).astype(np.float64)
        return sums

    def sums(self, points: Float64Array, shapes: Float64Array) -> Sums:
        """Return the sums for segments (n, s, 4, d) and parameters (n, m, 5) of keys."""
        own = points[self.window, self.segment][self.owner]
        leave, arrive = self._eases(shapes)
        u = self._local(leave, arrive)
        steps = [np.where(each + _STEP > HIGHEST, -_STEP, _STEP) for each in (leave, arrive)]
        changes = np.stack(
            [
                (self._local(leave + steps[0], arrive) - u) / steps[0],
                (self._local(leave, arrive + steps[1]) - u) / steps[1],
            ],
            axis=1,
        )
        weights = hermite(1.0, u)
        by_u = np.stack([6.0 * u * (u - 1.0), (1.0 - u) * (1.0 - 3.0 * u), 6.0 * u * (1.0 - u), u * (3.0 * u - 2.0)], 1)
        off = np.einsum("ij,ijd->id", weights, own) - self.wanted
        by_eases = changes[:, :, np.newaxis] * np.einsum("ij,ijd->id", by_u, own)[:, np.newaxis]
        counted = self._weights[:, np.newaxis] * weights
        counted_eases = self._weights[:, np.newaxis, np.newaxis] * by_eases
        return Sums(
            self._summed(counted[:, :, np.newaxis] * weights[:, np.newaxis]),
            self._summed(counted[:, :, np.newaxis] * self.wanted[:, np.newaxis]),
            self._summed(counted[:, np.newaxis, :, np.newaxis] * by_eases[:, :, np.newaxis]),
            self._summed(np.einsum("iad,ibd->iab", counted_eases, by_eases)),
            self._summed(np.einsum("iad,id->ia", counted_eases, off)),
        )

    def _summed(self, numbers: Float64Array) -> Float64Array:
        """Return the sums of numbers (samples, …) over each segment, shape (n, s, …)."""
        found = np.zeros((self.count, self.width - 1, *numbers.shape[1:]))
        order = self.order
        found[self.window[order], self.segment[order]] = np.add.reduceat(numbers, self.starts, axis=0)
        return found
