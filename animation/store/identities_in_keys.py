# SPDX-License-Identifier: GPL-3.0-or-later
"""Write identities into the float attributes of keys, and restore these attributes."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..fcurves.keyframes import MARKS, Float32Array, IndexArray, Keyframes
from ..fcurves.read_keys import read, read_joined
from ..fcurves.write_keys import write
from .own_arrays import OwnKeys
from .rows_of_keys import identities_of
from .table import key_identity
from .table.key_identity import Identities
from .table.session import session

IDENTIFYING = ("back", "amplitude", "period")
"""The float attributes that hold a key's identity."""


def write_identities(channels: Sequence[tuple[bpy.types.FCurve, OwnKeys]]) -> None:
    """Write the identities of the animator's keys into float attributes of the keys on the curves.

    Attributes that a key uses are not written. If such an attribute still contains an identity, the identity is
    removed.
    """
    if not channels:
        return
    joined = read_joined([fcurve for fcurve, _ in channels], (*MARKS, "interpolation"))
    keys = _with_own_identities(joined.keys, np.concatenate([own.identities for _, own in channels]))
    for name in IDENTIFYING:
        arrays = joined.of_channels(getattr(keys, name))
        for (fcurve, _), array in zip(channels, arrays, strict=True):
            fcurve.keyframe_points.foreach_set(name, array)


def _with_own_identities(keys: Keyframes, identities: Identities) -> Keyframes:
    """Return the keys with these identities in unused float attributes, replacing any other identities."""
    identities_before = identities_of(keys)
    is_replaced = (identities != key_identity.NONE) & (identities_before != identities)
    keys = with_own_floats(keys, np.where(is_replaced, session.rows.find(identities_before), -1))
    return key_identity.with_identities(keys, identities)


def remove_traces(fcurve: bpy.types.FCurve, own: OwnKeys | None = None) -> None:
    """Restore the float attributes of the keys on the curve that have identities.

    `own` contains the animator's keys as read, including keys whose amplitude and period are used.
    """
    keys = read(fcurve)
    identities = identities_of(keys) if own is None else own.identities
    if identities.any():
        write(fcurve, with_own_floats(keys, session.rows.find(identities)))


def plain_keys(own: OwnKeys) -> Keyframes:
    """Return the keys with the float attributes that they had before identities were written."""
    return with_own_floats(own.keys, session.rows.find(own.identities))


def with_own_floats(keys: Keyframes, at: IndexArray) -> Keyframes:
    """Return the keys with the float attributes that they would have without identities.

    `at` contains the indices of the keys' session rows, or -1.
    """
    has_row = at >= 0
    if not has_row.any():
        return keys
    rows = session.rows[np.maximum(at, 0)]
    arrays: dict[str, Float32Array] = {name: getattr(keys, name) for name in IDENTIFYING}
    return keys.with_(
        **{
            name: np.where(has_row, key_identity.without_identities(floats, rows[name]), floats)
            for name, floats in arrays.items()
        }
    )
