# SPDX-License-Identifier: GPL-3.0-or-later
"""Catmull-Rom spline of logarithms, with equal factors in equal times, for values that keep their sign.

Halfway from 1 to 4, the value is 2, which matches the perception of scales and focal lengths. Uneven spacing and ends
are handled as in `catmull_rom`. Source: docs/formulas, "Logarithmic".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ..base_spline import ComponentSpline, Cycle, Method
from ..cubics import Cubics
from ..keys import Float64Array, IndexArray, KeyBatch, Keys
from ..messages import n_
from . import catmull_rom

_LARGEST_LOGARITHM = float(np.log(np.finfo(np.float32).max))
# The number of parts in which a segment is sampled. Between two samples, a cubic rises above both by at most 1/512 of
# its second derivative.
_PARTS = 8


class VectorSpline(ComponentSpline):
    """Catmull-Rom spline of the logarithms of values, whose components keep their signs and are never 0.

    Parameters
    ----------
    keys, cycle
        See `ComponentSpline`.

    Raises
    ------
    KeysError
        If a value is 0 or differs in sign from the first key of its component, or the motion would exceed the range of
        float32. With uneven spacing, large factors can overshoot exponentially.

    Notes
    -----
    Key values are exact. The relative error is below 1e-13 times the largest logarithm, or the largest change in its
    velocity within a segment, if that is above 1.
    """

    is_cubic = False

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE") -> None:
        super().__init__(keys, cycle)
        _check_signs(keys)
        is_too_large = _largest_logarithms(keys, cast(Exponentials, self.prepared.curve).exponents) > _LARGEST_LOGARITHM
        if is_too_large.any():
            fault = n_("the spline of logarithms exceeds the range of float32 after this key")
            raise keys.error(fault, int(np.argmax(is_too_large)))

    @classmethod
    def curve(cls, splines: Sequence[VectorSpline], tracks: KeyBatch) -> Exponentials:
        return Exponentials(tracks.columns, _exponents(tracks))


def _check_signs(keys: Keys) -> None:
    """Raise KeysError if a value is 0 or differs in sign from the first key."""
    has_other_sign = (keys.values == 0.0) | (np.sign(keys.values) != np.sign(keys.values[0]))
    if not has_other_sign.any():
        return
    key, component = (int(index) for index in np.argwhere(has_other_sign)[0])
    value = keys.values[key, component]
    if value == 0.0:
        fault = n_("component {:d} of the value is 0, which has no logarithm", component)
    else:
        fault = n_("component {:d} of the value is {:g}, with a different sign than the first key", component, value)
    raise keys.error(fault, key, component)


def _exponents(tracks: KeyBatch) -> Cubics:
    """Return the splines of the logarithms, relative to the start of each segment, so that key values are exact."""
    logs = np.log(np.abs(tracks.columns))
    velocities = catmull_rom.velocities(tracks, *tracks.chords(logs))
    end = tracks.segment_end
    lengths = tracks.lengths
    return Cubics(np.zeros_like(logs), logs[:, end] - logs, velocities * lengths, velocities[:, end] * lengths)


def _largest_logarithms(keys: Keys, exponents: Cubics) -> Float64Array:
    """Return approximately the largest logarithm in the segment after each key, shape (n,)."""
    segment = np.repeat(np.arange(len(keys)), _PARTS + 1)
    u = np.tile(np.linspace(0.0, 1.0, _PARTS + 1), len(keys))
    logs = exponents.evaluate(segment, u, 0) + np.log(np.abs(keys.values.T))[:, segment]
    largest: Float64Array = logs.max(axis=0).reshape(len(keys), _PARTS + 1).max(axis=1)
    return largest


class Exponentials:
    """Segments given by their first value times the exponential of a cubic."""

    def __init__(self, start: Float64Array, exponents: Cubics) -> None:
        self._start = start
        self.exponents = exponents

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        values: Float64Array = self._start.take(segment, axis=1) * np.exp(self.exponents.evaluate(segment, u, 0))
        if nu == 0:
            return values
        rates = self.exponents.evaluate(segment, u, 1)
        return values * rates if nu == 1 else values * (rates * rates + self.exponents.evaluate(segment, u, 2))


METHOD = Method(
    "LOGARITHMIC",
    n_("Logarithmic"),
    n_("Catmull-Rom spline of logarithms, for scale and other values that keep their sign"),
    VectorSpline,
    None,
)
