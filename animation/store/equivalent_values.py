# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversions between the values of the animator's keys and equivalent values on the curves.

For a continuous rotation, a key on the curves can have the negated quaternion, or other Euler angles with the same
orientation. The value on a curve is the animator's value, negated or not, plus a multiple of pi for angles.
"""

from __future__ import annotations

import numpy as np

from ..fcurves.keyframes import BoolArray, Float32Array, Float64Array
from .table.rows import Columns
from .table.track_records import NEGATED, Written

_TURN = 2.0 * np.pi


def is_negated(written: Columns | Written) -> BoolArray:
    """Return a mask of the keys whose values on the curve are negated, or have the opposite angular direction."""
    negated: BoolArray = (written["placed"] & NEGATED) != 0
    return negated


def values_shown(wanted: Float32Array, own: Float32Array, shown: Float32Array, negated: BoolArray) -> Float32Array:
    """Convert new values of the animator's keys to values on the curve, with the mapping from `own` to `shown`."""
    terms = multiples_of_pi(own, shown, negated)
    without_term = np.where(negated, -wanted, wanted)
    with_term = np.where(negated, terms - wanted, terms + wanted)
    # Without a term, float32 values stay bit for bit.
    values: Float32Array = np.where(terms == 0.0, without_term, with_term).astype(np.float32)
    return values


def own_values(now: Float32Array, written: Written) -> Float32Array:
    """Convert values on the curve to values of the animator's keys.

    If a key was edited, its value stays within half a turn of the animator's previous value.
    """
    before, shown, negated = written["value"], written["co"][:, 1], is_negated(written)
    terms = multiples_of_pi(before, shown, negated)
    values = np.where(negated, -now, now)
    has_term = terms != 0.0
    if has_term.any():
        angles = np.where(negated, terms - now, now - terms)
        angles += _TURN * np.rint((before - angles) / _TURN)
        values = np.where(has_term, angles, values)
    values = np.where(now == shown, before, values)
    return values.astype(np.float32)


def multiples_of_pi(own: Float32Array, shown: Float32Array, negated: BoolArray) -> Float64Array:
    """Return the multiples of pi by which values on the curve differ from the animator's values, negated or not."""
    difference = shown.astype(np.float64) - np.where(negated, -own, own)
    # Keys that are not recorded have NaN.
    return np.nan_to_num(np.pi * np.rint(difference / np.pi))
