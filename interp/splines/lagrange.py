# SPDX-License-Identifier: GPL-3.0-or-later
"""Lagrange interpolation, with one polynomial through all keys.

This method is only for comparison, because a polynomial through many keys overshoots far beyond the keys. Source:
docs/formulas, "Lagrange".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from ..base_spline import ComponentSpline, Cycle, Method
from ..keys import Float64Array, IndexArray, KeyBatch, Keys, KeysError
from ..messages import n_

if TYPE_CHECKING:
    from typing import Self

CALM_KEYS = 10
"""Up to this number of evenly spaced keys, the polynomial overshoots by a factor of up to 18."""
# If the polynomial may overshoot by more than this factor, fewer than four digits are correct.
_LARGEST_SWING = 1e12
# The time grows with the square of the number of keys.
_MAX_KEYS = 1000
# The local parameters at which `swing` is measured. It is largest near the middle of a segment, and in the outermost
# segments closer to the end.
_MEASURED_PARAMETERS = (0.3, 0.5, 0.7)


class VectorSpline(ComponentSpline):
    """Spline of values that is one polynomial, whose degree is one less than the number of keys.

    Parameters
    ----------
    keys, cycle
        See `ComponentSpline`. A loop repeats, because a polynomial does not return to its first key.

    Attributes
    ----------
    swing : float
        The maximum overshoot of the polynomial, relative to the keys, for the worst values at these frames (Lebesgue
        constant), measured at three places between keys. For n evenly spaced keys, the overshoot is about 2^n / (5 n
        log n).

    Raises
    ------
    KeysError
        If `swing` exceeds 1e12, as with 50 or more evenly spaced keys: few digits would be correct. The error
        is also raised for more than 1000 keys with any spacing.

    Notes
    -----
    Key values are exact. The error of a value is below 1e-14 `swing` times the largest value. The error of a derivative
    of order k is below 1e-13 `swing` squared times the largest value, divided by the k-th power of the shortest segment
    length.
    """

    is_cubic = False

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE") -> None:
        super().__init__(keys, cycle)
        if len(keys) > _MAX_KEYS:
            raise KeysError(
                n_("the track has {:d} keys, more than the limit of {:d} for a polynomial", len(keys), _MAX_KEYS)
            )
        swings = cast(_Polynomials, self.prepared.curve).swings
        # NaN counts as too large.
        if not self.swing <= _LARGEST_SWING:
            fault = n_(
                "a polynomial through {:d} such keys oscillates beyond the range of floating-point numbers after "
                "this key",
                len(keys),
            )
            raise keys.error(fault, int(np.argmax(~(swings <= _LARGEST_SWING))))

    @property
    def swing(self) -> float:
        """Return the maximum overshoot of the polynomial relative to the keys."""
        return float(cast(_Polynomials, self.prepared.curve).swings.max(initial=1.0))

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return a note on the overshoot caused by many keys."""
        count = len(self.keys)
        if count <= CALM_KEYS:
            return ()
        text = n_(
            "Lagrange through {:d} keys oscillates between them, up to {:.3g} times their range", count, self.swing
        )
        return (text,)

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> _Polynomials:
        return _Polynomials(tracks)


class _Polynomials:
    """Polynomials in barycentric form. Sums run in the order of keys, so results do not depend on other samples.

    Frames are scaled to an interval of length 4, whose capacity is 1. Products of distances then exceed the range of
    float64 only if the polynomial oscillates beyond all limits.
    """

    def __init__(self, tracks: KeyBatch) -> None:
        counts = tracks.last - tracks.first + 1
        self._largest_count = int(counts.max())
        self._frames = tracks.frames
        self._first, self._last = np.repeat(tracks.first, counts), np.repeat(tracks.last, counts)
        self._values = tracks.columns
        spans = tracks.frames[tracks.last] - tracks.frames[tracks.first]
        self._scale = np.repeat(np.divide(4.0, spans, out=np.ones_like(spans), where=spans > 0.0), counts)
        self._lengths = tracks.lengths * self._scale
        with np.errstate(all="ignore"):
            self._weights = 1.0 / self._products(np.arange(len(self._frames)), np.zeros(len(self._frames)))

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        # A derivative is also a polynomial, so the same sum evaluates it from its values at the keys.
        at_keys = self._values if nu == 0 else self._velocities if nu == 1 else self._accelerations
        total, key_at_sample = np.zeros((len(at_keys), len(segment))), np.full(len(segment), -1)
        for key, distance in self._distances(segment, u):
            is_at_key = distance == 0.0
            key_at_sample[is_at_key] = key[is_at_key]
            total += self._weights[key] / np.where(is_at_key, 1.0, distance) * at_keys[:, key]
        values = np.where(key_at_sample >= 0, at_keys[:, key_at_sample], total * self._products(segment, u))
        length = self._lengths[segment]
        per_segment = np.ones_like(length), length, length * length
        result: Float64Array = values * per_segment[nu]
        return result

    @cached_property
    def swings(self) -> Float64Array:
        """Return the largest overshoot in each segment, relative to the keys, for the worst values."""
        segment = np.flatnonzero(self._lengths > 0.0)
        largest = np.zeros(len(segment))
        for parameter in _MEASURED_PARAMETERS:
            u = np.full(len(segment), parameter)
            total = np.zeros(len(segment))
            with np.errstate(all="ignore"):
                for key, distance in self._distances(segment, u):
                    total += np.abs(self._weights[key] / distance)
                largest = np.maximum(largest, total * np.abs(self._products(segment, u)))
        return largest

    @cached_property
    def _velocities(self) -> Float64Array:
        """Return the derivatives per scaled frame (d, K) at the keys (Schneider and Werner)."""
        return self._sums_at_keys(lambda slope, distance: slope)

    @cached_property
    def _accelerations(self) -> Float64Array:
        """Return the second derivatives per scaled frame (d, K) at the keys (Schneider and Werner)."""
        velocities = self._velocities
        return self._sums_at_keys(lambda slope, distance: 2.0 * (velocities - slope) / distance)

    def _sums_at_keys(self, term: Callable[[Float64Array, Float64Array], Float64Array]) -> Float64Array:
        """Return minus the weighted sums of terms, which are functions of the slope and distance from another key."""
        total = np.zeros_like(self._values)
        for key, distance in self._distances(np.arange(len(self._frames)), np.zeros(len(self._frames))):
            is_other_key = np.isfinite(distance) & (distance != 0.0)
            divisor = np.where(is_other_key, distance, 1.0)
            slope = (self._values - self._values[:, key]) / divisor
            total -= np.where(is_other_key, self._weights[key] / self._weights, 0.0) * term(slope, divisor)
        return total

    def _products(self, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the products of the distances from all keys that are not at the frame."""
        product = np.ones(len(segment))
        for _, distance in self._distances(segment, u):
            product *= np.where(np.isfinite(distance) & (distance != 0.0), distance, 1.0)
        return product

    def _distances(self, segment: IndexArray, u: Float64Array) -> Iterator[tuple[IndexArray, Float64Array]]:
        """Yield the first, second and further keys of tracks with the scaled distances from them.

        Distances are infinite beyond the last key.
        """
        start, scale, offset = self._frames[segment], self._scale[segment], u * self._lengths[segment]
        first, last = self._first[segment], self._last[segment]
        for number in range(self._largest_count):
            key = np.minimum(first + number, last)
            yield key, np.where(first + number <= last, (start - self._frames[key]) * scale + offset, np.inf)


METHOD = Method(
    "LAGRANGE",
    n_("Lagrange"),
    n_("One polynomial through all keys. It overshoots with many keys"),
    VectorSpline,
    None,
)
