# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments that are cubics in the local parameter, of any number of components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .batch import IndexArray, KeyBatch
from .keys import Float64Array

if TYPE_CHECKING:
    from typing import Self


class Cubics:
    """Cubic segments, as polynomials in the local parameter. Source: docs/formulas.md, "Hermite cubics"."""

    def __init__(self, start: Float64Array, end: Float64Array, outgoing: Float64Array, incoming: Float64Array) -> None:
        chord = end - start
        self._components = len(start)
        self._coefficients = np.concatenate(
            [start, outgoing, 3.0 * chord - 2.0 * outgoing - incoming, outgoing + incoming - 2.0 * chord]
        )

    @classmethod
    def through(cls, tracks: KeyBatch, values: Float64Array, velocities: Float64Array) -> Self:
        """Return the segments through keys of given values and velocities a frame, both of shape (d, K)."""
        end = tracks.segment_end
        length = tracks.frames[end] - tracks.frames
        return cls(values, values[:, end], velocities * length, velocities[:, end] * length)

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return values or derivatives by u, shape (components, samples)."""
        return _polynomial(self._coefficients.take(segment, axis=1).reshape(4, self._components, -1), u, nu)

    def evaluate_one(self, segment: int, u: float, nu: int) -> Float64Array:
        """Return the value or derivative by u at one place, shape (components,): the same bits."""
        return _polynomial(self._coefficients[:, segment].reshape(4, self._components), u, nu)


def _polynomial(coefficients: Float64Array, u: Float64Array | float, nu: int) -> Float64Array:
    """Return cubics or their derivatives."""
    p, linear, square, cube = coefficients
    result: Float64Array
    if nu == 0:
        result = ((cube * u + square) * u + linear) * u + p
    elif nu == 1:
        result = (3.0 * cube * u + 2.0 * square) * u + linear
    else:
        result = 6.0 * cube * u + 2.0 * square
    return result
