# SPDX-License-Identifier: GPL-3.0-or-later
"""Dense samples that were made from few keys: lines, steps and cubics between these play them to rounding.

Source: docs/formulas, "Keys of baked curves".
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array
from ..hermite_knots import Knots, fit_knots

_ROUNDING = 2.0**-24
"""Rounding of float32 samples, as a part of the largest."""
_BY_SECOND, _BY_FOURTH = 8.0, 32.0
"""Times this, the rounding of second and fourth differences, whose factors add up to 4 and 16."""
_KEY_BREAKS = 3
"""The number of fourth differences that a key between two cubics affects. A step affects one more."""
_SPARSE = 2
"""Frames per key, at least."""


class RecoveredKeys(NamedTuple):
    """The keys.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        The samples at whose frames the keys are; they have the samples' values.
    incoming, outgoing : ndarray, shape (n, d)
        Velocities per frame before and after each key.
    is_line, is_hold : ndarray of bool, shape (n-1,)
        Which segments are straight, and which keep their value up to the next key.
    """

    rows: IndexArray
    incoming: Float64Array
    outgoing: Float64Array
    is_line: BoolArray
    is_hold: BoolArray

    @property
    def is_straight(self) -> bool:
        """Return whether all segments are lines or steps."""
        return bool((self.is_line | self.is_hold).all())


def recover_keys(samples: Float64Array) -> RecoveredKeys | None:
    """Return the keys that samples (frames, d) were made from, or None.

    Notes
    -----
    Second differences are 0 but where lines meet, fourth ones but where cubics do. Candidates come from these. Then all
    cubics between them are one linear problem, and its residual decides.
    """
    count = len(samples)
    noise = _ROUNDING * np.abs(samples).max(axis=0, initial=0.0)
    for rows in (_corners(samples, noise), _joints(samples, noise)):
        if rows is None or len(rows) * _SPARSE > count:
            continue
        found = _fitted(samples, rows, noise)
        if found is not None:
            return found
    return None


def _corners(samples: Float64Array, noise: Float64Array) -> IndexArray | None:
    """Return the rows at which lines meet, and the ends."""
    if len(samples) < 3:
        return None
    bent = (np.abs(np.diff(samples, 2, axis=0)) > _BY_SECOND * noise).any(axis=1)
    return np.concatenate(([0], np.flatnonzero(bent) + 1, [len(samples) - 1])).astype(np.intp)


def _joints(samples: Float64Array, noise: Float64Array) -> IndexArray | None:
    """Return the rows at which cubics meet, and the ends; None where some are too near each other."""
    count = len(samples)
    if count < 5:
        return None
    broken = (np.abs(np.diff(samples, 4, axis=0)) > _BY_FOURTH * noise).any(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], broken, [False])).astype(np.int8)))
    first, last = edges[::2], edges[1::2]
    length = last - first
    if (length > _KEY_BREAKS + 1).any():
        return None
    is_step = length == _KEY_BREAKS + 1
    rows = np.where(is_step, last - 1, (first + last - 1) // 2 + 2)
    return np.unique(np.concatenate(([0], rows, rows[is_step] + 1, [count - 1]))).astype(np.intp)


def _fitted(samples: Float64Array, rows: IndexArray, noise: Float64Array) -> RecoveredKeys | None:
    """Return keys at the rows, or None where they do not play the samples. The keys of a step become one."""
    flat = np.array([bool((samples[a : b + 1] == samples[a]).all()) for a, b in itertools.pairwise(rows)])
    # A value that is held until the frame before the next key.
    jumps = np.flatnonzero(
        flat[:-1] & (np.diff(rows)[1:] == 1) & (samples[rows[1:-1]] != samples[rows[2:]]).any(axis=1)
    )
    is_hold = np.zeros(len(rows) - 1, dtype=np.bool_)
    is_hold[jumps] = True
    rows, is_hold = np.delete(rows, jumps + 1), np.delete(is_hold, jumps + 1)
    whole = np.ones(len(rows), dtype=np.bool_)
    knots = Knots(rows, np.zeros_like(rows), is_value_held=whole, is_corner=whole)
    fit = fit_knots(samples, knots)
    off = fit.largest(np.abs(fit.residuals))
    if (off[~is_hold] > _BY_FOURTH * noise).any():
        return None
    chord = np.diff(samples[rows], axis=0) / np.diff(rows)[:, np.newaxis]
    straight = samples[rows[:-1]][fit.segment] + (fit.row - rows[fit.segment])[:, np.newaxis] * chord[fit.segment]
    is_line = (fit.largest(np.abs(straight - samples[fit.row])) <= _BY_SECOND * noise).all(axis=1)
    return RecoveredKeys(rows, fit.incoming, fit.outgoing, is_line & ~is_hold, is_hold)
