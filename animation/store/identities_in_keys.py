# SPDX-License-Identifier: GPL-3.0-or-later
"""Identities of keys: read them from the float attributes of keys with their rows, write them, and remove them."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..fcurves.keyframes import BY_NUMBERS, INTERPOLATION, MARKS, BoolArray, Float32Array, IndexArray, Joined, Keyframes
from ..fcurves.read_and_write import read, read_joined, write
from .own_keys import OwnKeys
from .table import key_identity
from .table.key_identity import Identities
from .table.rows import NUMBERS, Rows, numbers_in
from .table.session import session
from .tracks import Track

IDENTIFYING = ("back", "amplitude", "period")
"""The float attributes that hold a key's identity."""


def identities_of(keys: Keyframes) -> Identities:
    """Read the identities of the keys from amplitude and period.

    The identity is 0 if a key has no identity, or if the session does not know the row.
    """
    if key_identity.have_none(keys.amplitude):
        return np.zeros(len(keys), dtype=np.uint32)
    identities = key_identity.identities_in(keys.amplitude, keys.period)
    has_row = session.rows.find(identities) >= 0
    return np.where(has_row, identities, np.uint32(key_identity.NONE))


def identities_on_curves(curves: Sequence[tuple[Track, int]], on_curves: Joined) -> Identities:
    """Read the identities of all keys on curves, which are given by track and component.

    If the amplitude and period of a TCB track's key are used or were edited, the code in `back` identifies the key.
    """
    identities = identities_of(on_curves.keys)
    is_enabled = [track.state is not None for track, _ in curves]
    if not any(is_enabled):
        return identities
    codes = key_identity.codes_in(on_curves.keys.back)
    is_missing = on_curves.spread(np.array(is_enabled)) & (identities == key_identity.NONE)
    is_missing &= key_identity.are_valid_codes(codes)
    if not is_missing.any():
        return identities
    rows = session.rows
    for (track, index), span in zip(curves, on_curves.spans, strict=True):
        keys_without_identity = span.start + np.flatnonzero(is_missing[span])
        if not len(keys_without_identity) or track.state is None:
            continue
        candidates = rows[(rows["track"] == track.state.identity) & (rows["index"] == index)]
        candidates = candidates[np.argsort(candidates["identity"])]
        candidate_codes = key_identity.codes_for(candidates["identity"])
        for key in keys_without_identity.tolist():
            same_code = candidates[candidate_codes == codes[key]]
            if len(same_code):
                identities[key] = _most_similar(same_code, on_curves.keys, key)["identity"]
    return identities


def _most_similar(rows: Rows, keys: Keyframes, key: int) -> np.void:
    """Return the row that is most similar to the key.

    The session also remembers rows of other files, so several rows may have the same code.
    """
    similarity = np.isin(rows["interpolation"], BY_NUMBERS).astype(np.intp)
    similarity += (rows["co"] == keys.co[key]).all(axis=1)
    for name in ("amplitude", "period", "type"):
        similarity += rows[name] == getattr(keys, name)[key]
    row: np.void = rows[np.argmax(similarity)]
    return row


def numbers_of(at: IndexArray) -> Float32Array:
    """Return the parameters and velocities of keys with the session rows `at`, shape (n, k), with NaN if not set.

    During a drag, parameters in the session replace those in the rows.
    """
    numbers = np.full((len(at), NUMBERS), np.nan, dtype=np.float32)
    has_row = at >= 0
    if has_row.any():
        numbers[has_row] = numbers_in(session.rows[at[has_row]])
    for substitutes in session.substitutes.values():
        places = np.minimum(np.searchsorted(substitutes.rows, at), len(substitutes.rows) - 1)
        is_substituted = substitutes.rows[places] == at
        numbers[is_substituted] = substitutes.numbers[places[is_substituted]]
    return numbers


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


def with_identities_in_unused(own: OwnKeys, plays: BoolArray) -> Keyframes:
    """Return the animator's keys in the channels, with key identities in all floats that the curves do not use.

    `plays` is a mask of the keys that begin a segment of the spline.
    """
    # Searching the bytes is ten times as fast as `isin`.
    kinds = own.keys.interpolation.tobytes()
    if not any(kind in kinds for kind in BY_NUMBERS):
        return own.keys
    played = np.tile(plays, len(kinds) // len(plays))
    interpolation = np.where(played, np.uint8(INTERPOLATION["LINEAR"]), own.keys.interpolation)
    return key_identity.with_identities(own.keys, own.identities, interpolation)
