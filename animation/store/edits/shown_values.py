# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that a baked curve shows with other values than their own, as B-splines do, and quaternions played negated."""

from __future__ import annotations

import numpy as np

from ...fcurves.keyframes import BoolArray, Float32Array
from ..table.custom_property import NEGATED
from ..table.rows import Fields


def is_shown_elsewhere(written: Fields) -> BoolArray:
    """Return which keys have another value on the baked curve than their own."""
    elsewhere: BoolArray = np.abs(written["co"][:, 1] - written["value"]) > 0.0
    return elsewhere


def is_negated(written: Fields) -> BoolArray:
    """Return which keys of a quaternion are negated on the curve, which handles play so, values and handles both."""
    negated: BoolArray = (written["placed"] & NEGATED) != 0
    return negated


def values_shown(wanted: Float32Array, own: Float32Array, shown: Float32Array, negated: BoolArray) -> Float32Array:
    """Return the values that keys get on the baked curve with the `wanted` own values; the inverse of the next."""
    moved = np.where(shown == own, wanted, shown + (wanted - own))
    return np.where(negated, -wanted, moved)


def values_without_bake(now: Float32Array, written: Fields) -> Float32Array:
    """Return the own values of keys that have the values `now` on the baked curve.

    Where the curve shows another value than the key's own, the own value changes by as much as the shown one. It is the
    negative of that of a key that handles play negated, and is negated where the shown one was.
    """
    shown, own = written["co"][:, 1], written["value"]
    moved = own.astype(np.float64) + (now.astype(np.float64) - shown)
    conditions = [now == shown, is_negated(written), own == shown, now == -shown]
    values = np.select(conditions, [own, -now, now, -own], moved)
    return values.astype(np.float32)
