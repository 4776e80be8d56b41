# SPDX-License-Identifier: GPL-3.0-or-later
"""Create table rows for new or changed keys.

This module also writes identities into keys, and removes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.keyframes import (
    MARKS,
    SIDES,
    BoolArray,
    Float32Array,
    Joined,
    Keyframes,
    both,
    in_parts,
    read,
    read_joined,
    write,
)
from .own_keys import OwnKeys, identities_of, numbers_in, own_end_to_end
from .table import key_identity
from .table import rows as rows_
from .table.custom_property import OWN, WRITTEN, Written
from .table.key_identity import Identities
from .table.rows import NO_ROWS, RECORDED, Rows
from .table.session import session

IDENTIFYING = ("back", "amplitude", "period")
"""The float attributes that hold a key's identity."""
_EXACT = ("co", "handle_left", "handle_right")
_OFFSET = 1e-4
"""Relative tolerance. Moving a key rounds the offsets of its handles. Only larger changes are edits to handles."""


class OwnChannel(NamedTuple):
    """The animator's keys in one channel of a track, with the identity of the track."""

    track: int
    component: int
    own: OwnKeys
    baked: bool


Numbers = Mapping[str, npt.NDArray[np.float64]]
"""Parameters and velocity components by name."""


def recorded(
    parts: Sequence[OwnChannel], numbers: Sequence[Numbers] | None = None, chosen: Sequence[BoolArray] | None = None
) -> tuple[list[OwnKeys], list[Rows]]:
    """Create a row for each key that has no row or differs from its row.

    Return the keys with identities, and the new rows, for each part. Keys with placed handles keep their rows if they
    have only moved. If keys were copied within a channel, only one of these keys keeps the row. Keys from other
    channels get new rows, so that no row is shared. Keys with numbers that are not finite get no new row. `numbers`
    contains parameters to set for each part, one value per key. NaN unsets a parameter. `chosen` is a mask of the keys
    to set. Default: all keys.
    """
    if not parts:
        return [], []
    own = own_end_to_end([part.own for part in parts])
    joined, before = Joined(own.keys, [part.own.count for part in parts]), own.identities
    at = session.rows.find(before)
    known, stays = at >= 0, np.zeros(len(at), dtype=np.bool_)
    keys, present, some_known = joined.keys, NO_ROWS, bool(known.any())
    if some_known:
        keys, present = with_own_floats(keys, at), session.rows[at[known]]
        stays[known] = _are_recorded(parts, joined, own.with_(keys=keys), known, rows_.Columns(present))
    if numbers is None and stays.all():
        return [part.own for part in parts], [NO_ROWS] * len(parts)
    rows = rows_.record(keys, 0, 0)
    rows["track"] = joined.spread(np.array([part.track for part in parts], dtype=np.uint32))
    rows["index"] = joined.spread(np.array([part.component for part in parts], dtype=np.int32))
    rows["chosen"] = own.chosen
    if not np.isnan(own.numbers).all():
        rows["given"], rows["numbers"] = rows_.given_of(own.numbers)
    if some_known:
        rows["identity"][known] = present["identity"]
        rows[stays] = present[stays[known]]
    if numbers is not None:
        given = _with_numbers(rows, joined, numbers, chosen)
        stays &= (given["given"] == rows["given"]) & (given["numbers"] == rows["numbers"]).all(axis=1)
        rows = given
    stays |= ~rows_.are_finite(rows)
    if stays.all():
        return [part.own for part in parts], [NO_ROWS] * len(parts)
    # In a first bake, all rows are new.
    fresh = rows[~stays] if stays.any() else rows
    rows_.identify(fresh, session.rows)
    identities = before.copy()
    identities[~stays] = fresh["identity"]
    set_now = own.numbers if numbers is None else numbers_in(rows)
    named = own.with_(keys=key_identity.with_identities(keys, identities), identities=identities, numbers=set_now)
    owns = [OwnKeys(named.every, span, part.own.edited) for part, span in zip(parts, joined.spans, strict=True)]
    return owns, in_parts(fresh, joined.sums(~stays).tolist() if stays.any() else joined.counts)


def _with_numbers(rows: Rows, joined: Joined, numbers: Sequence[Numbers], chosen: Sequence[BoolArray] | None) -> Rows:
    """Return the rows, with the parameters for each part set on its chosen keys."""
    given = rows.copy()
    places: dict[str, list[npt.NDArray[np.intp]]] = {}
    values: dict[str, list[npt.NDArray[np.float64]]] = {}
    for number, (span, each) in enumerate(zip(joined.spans, numbers, strict=True)):
        at = np.arange(span.start, span.stop)
        at = at if chosen is None else at[chosen[number]]
        for name, own in each.items():
            places.setdefault(name, []).append(at)
            values.setdefault(name, []).append(own if own.shape == at.shape else np.broadcast_to(own, at.shape))
    for name, every in values.items():
        rows_.give(given, name, np.concatenate(every), np.concatenate(places[name]))
    return given


def with_own_floats(keys: Keyframes, at: npt.NDArray[np.intp]) -> Keyframes:
    """Return the keys with the float attributes that they would have without identities."""
    known = at >= 0
    if not known.any():
        return keys
    rows = session.rows[np.maximum(at, 0)]
    return keys.with_(
        **{
            name: np.where(known, key_identity.without_identities(getattr(keys, name), rows[name]), getattr(keys, name))
            for name in IDENTIFYING
        }
    )


def _are_recorded(
    parts: Sequence[OwnChannel], joined: Joined, own: OwnKeys, known: BoolArray, present: rows_.Columns
) -> npt.NDArray[np.bool_]:
    """Return a mask of the `known` keys that have a row of their own, even if the keys were moved.

    `joined` contains the keys of all parts, and `present` the rows of the known keys.
    """
    number = joined.spread(np.arange(len(parts)))
    if not known.all():
        own, number = own.take(known), number[known]
    keys, (given, numbers) = own.keys, rows_.given_of(own.numbers)
    same: npt.NDArray[np.bool_] = np.array([part.track for part in parts], np.uint32)[number] == present["track"]
    same &= np.array([part.component for part in parts], np.int32)[number] == present["index"]
    same &= (own.chosen == present["chosen"]) & (given == present["given"])
    same &= (numbers == present["numbers"]).all(axis=1)
    for name in RECORDED:
        if name not in _EXACT:
            same &= getattr(keys, name) == present[name]
    baked = np.array([part.baked for part in parts])[number]
    exact = same.copy()
    for name in _EXACT if not baked.all() else ():
        exact &= both(getattr(keys, name).view(np.uint32) == present[name].view(np.uint32))
    for side in SIDES:
        offset, before = getattr(keys, side) - keys.co, present[side] - present["co"]
        size = 1e-3 + np.abs(keys.co) + np.abs(before)
        same &= both(np.abs(offset - before) <= _OFFSET * size)
    result: npt.NDArray[np.bool_] = np.where(baked, same, exact) & ~_is_copied(number, keys.frames, present)
    return result


def _is_copied(channels: npt.NDArray[np.intp], frames: Float32Array, present: rows_.Columns) -> npt.NDArray[np.bool_]:
    """Return a mask of the keys that share a row with the original key, or with an earlier key of the channel."""
    copied = np.zeros(len(present), dtype=np.bool_)
    if rows_.are_distinct(present["identity"]):
        return copied
    elsewhere = frames != present["co"][:, 0]
    order = np.lexsort((elsewhere, present["identity"], channels))
    in_order = present["identity"][order], channels[order]
    copied[order[1:]] = np.all([each[1:] == each[:-1] for each in in_order], axis=0)
    return copied


def write_identities(channels: Sequence[tuple[bpy.types.FCurve, OwnKeys]]) -> None:
    """Write the identities of the animator's keys into float attributes of the keys on the curves.

    Attributes that a key uses are not written. If such an attribute still contains an identity, the identity is
    removed.
    """
    if not channels:
        return
    joined = read_joined([fcurve for fcurve, _ in channels], (*MARKS, "interpolation"))
    spelt = with_own_identities(joined.keys, np.concatenate([own.identities for _, own in channels]))
    floats = [joined.of_channels(getattr(spelt, name)) for name in IDENTIFYING]
    for (fcurve, _), *arrays in zip(channels, *floats, strict=True):
        for name, array in zip(IDENTIFYING, arrays, strict=True):
            fcurve.keyframe_points.foreach_set(name, array)


def with_own_identities(keys: Keyframes, identities: Identities) -> Keyframes:
    """Return the keys with these identities in unused float attributes, replacing any other identities."""
    before = identities_of(keys)
    renamed = (identities != key_identity.NONE) & (before != identities)
    plain = with_own_floats(keys, np.where(renamed, session.rows.find(before), -1))
    return key_identity.with_identities(plain, identities)


def as_written(keys: Keyframes, own: OwnKeys, placed: npt.NDArray[np.uint8]) -> Written:
    """Return records of the animator's keys as they are written, n per channel, shape (channels, n).

    `placed` contains the flags of placed handles, shape (channels, n).
    """
    written = np.empty(placed.shape, dtype=OWN)
    written["identity"] = own.identities.reshape(written.shape)
    written["value"] = own.keys.values.reshape(written.shape)
    written["placed"] = placed
    for name in WRITTEN:
        written[name] = getattr(keys, name).reshape(written[name].shape)
    return written


def plain_keys(own: OwnKeys) -> Keyframes:
    """Return the keys with the float attributes that they had before identities were written."""
    return with_own_floats(own.keys, session.rows.find(own.identities))


def remove_traces(fcurve: bpy.types.FCurve, own: OwnKeys | None = None) -> None:
    """Restore the float attributes of the keys on the curve that have identities.

    `own` contains the animator's keys as read, including keys whose amplitude and period are used.
    """
    keys = read(fcurve)
    identities = identities_of(keys) if own is None else own.identities
    if identities.any():
        write(fcurve, with_own_floats(keys, session.rows.find(identities)))
