# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that a baked curve shows with other values than their own, as B-splines do, and quaternions played negated."""

from __future__ import annotations

import numpy as np

from ...fcurves.keyframes import BoolArray, Float32Array
from ..table.rows import Fields


def is_shown_elsewhere(written: Fields) -> BoolArray:
    """Return which keys have another value on the baked curve than their own."""
    elsewhere: BoolArray = np.abs(written["co"][:, 1] - written["value"]) > 0.0
    return elsewhere


def is_negated(written: Fields) -> BoolArray:
    """Return which keys of a quaternion are negated on the curve, which handles play so, values and handles both."""
    return _are_opposite(written["co"][:, 1], written["value"])


def _are_opposite(one: Float32Array, other: Float32Array) -> BoolArray:
    """Return which numbers are the negatives of others; of zeros the signs tell."""
    opposite: BoolArray = (one == -other) & (np.signbit(one) != np.signbit(other))
    return opposite


def values_shown(wanted: Float32Array, own: Float32Array, shown: Float32Array) -> Float32Array:
    """Return the values that keys get on the baked curve with the `wanted` own values; the inverse of the next."""
    moved = np.where(shown == own, wanted, shown + (wanted - own))
    return np.where(_are_opposite(shown, own), -wanted, moved)


def values_without_bake(now: Float32Array, written: Fields) -> Float32Array:
    """Return the own values of keys that have the values `now` on the baked curve.

    Where the curve shows another value than the key's own, the own value changes by as much as the shown one, and is
    negated where the shown one was.
    """
    shown, own = written["co"][:, 1], written["value"]
    moved = own.astype(np.float64) + (now.astype(np.float64) - shown)
    # Handles may play a quaternion negated, and an edit may leave this component unchanged.
    values = np.select(
        [now == shown, _are_opposite(own, shown), own == shown, now == -shown], [own, -now, now, -own], moved
    )
    return values.astype(np.float32)
