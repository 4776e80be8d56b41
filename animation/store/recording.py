# SPDX-License-Identifier: GPL-3.0-or-later
"""Recording of keys as rows, and of tracks in the action's table."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..datablocks import users_of
from ..errors import AnimationError
from ..fcurves.channels import Channels, channels_in, channels_of
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
    read_coordinates,
    read_floats,
    read_joined,
    write,
)
from ..fcurves.refused_actions import layered_reason
from .digest import RESTORED, digest
from .frame_functions import functions_of
from .own_keys import OwnKeys, identities_of, numbers_in, own_end_to_end, read_all_own_keys
from .table import identity
from .table import rows as rows_
from .table.custom_property import OWN, WRITTEN, Channel, State, Table, Written, read_table, update
from .table.custom_property import write as write_table
from .table.identity import Identities
from .table.rows import NO_ROWS, RECORDED, Rows
from .table.session import session
from .table.settings import Settings
from .table.stamps import is_stamped, unstamped
from .tracks import Track, default_settings, find_tracks

_IDENTIFYING = ("back", "amplitude", "period")
"""The floats of a key that contain its identity."""
_EXACT = ("co", "handle_left", "handle_right")
_OFFSET = 1e-4
"""Relative. Moving a key rounds its handles' offsets; only a larger change is an edit of the handle."""


@dataclass(frozen=True, eq=False)
class Part:
    """The own keys of one channel of a track, with the track's identity."""

    track: int
    index: int
    own: OwnKeys
    baked: bool


Numbers = Mapping[str, npt.NDArray[np.float64]]
"""Parameters, and components of velocity, by name."""


def new_state(action: bpy.types.Action, table: Table, slot: int, path: str, settings: Settings) -> State:
    """Make an entry of the table for a track; its identity is derived, so repeat and redo give the same."""
    seed = f"{action.session_uid} {action.name} {slot} {path}".encode()
    number = zlib.crc32(seed)
    while number == 0 or number in table.identities:
        number = zlib.crc32(seed, number)
    return State(number, slot, path, settings)


def recorded(
    parts: Sequence[Part], numbers: Sequence[Numbers] | None = None, chosen: Sequence[BoolArray] | None = None
) -> tuple[list[OwnKeys], list[Rows]]:
    """Make a row for each key that has none or differs from it; return keys with identities, and new rows a part.

    Of keys that a bake has written, those that only moved keep their rows. Of copies in one channel only one keeps its
    row, and keys from other channels don't: so each key has a row of its own from then on. A key with a number that is
    not finite gets no new row. `numbers`: parameters to be set, for each part, one number a key; NaN unsets one.
    `chosen`: the keys for which they are set. Default: all.
    """
    if not parts:
        return [], []
    own = own_end_to_end([part.own for part in parts])
    joined, before = Joined(own.keys, [part.own.count for part in parts]), own.identities
    at = session.rows.find(before)
    keys = _with_own_floats(joined.keys, at)
    known, stays, present = at >= 0, np.zeros(len(at), dtype=np.bool_), NO_ROWS
    if known.any():
        present = session.rows[at[known]]
        stays[known] = _are_recorded(parts, joined, own.with_(keys=keys), known, present)
    if numbers is None and stays.all():
        return [part.own for part in parts], [NO_ROWS] * len(parts)
    rows = rows_.record(keys, 0, 0)
    rows["track"] = joined.spread(np.array([part.track for part in parts], dtype=np.uint32))
    rows["index"] = joined.spread(np.array([part.index for part in parts], dtype=np.int32))
    rows["chosen"] = own.chosen
    if not np.isnan(own.numbers).all():
        rows["given"], rows["numbers"] = rows_.given_of(own.numbers)
    rows["identity"][known] = present["identity"]
    rows[stays] = present[stays[known]]
    if numbers is not None:
        every = [np.ones(count, dtype=np.bool_) for count in joined.counts] if chosen is None else chosen
        given = rows_.joined(list(map(rows_.give, joined.of_channels(rows), numbers, every)))
        stays &= (given["given"] == rows["given"]) & (given["numbers"] == rows["numbers"]).all(axis=1)
        rows = given
    stays |= ~rows_.are_finite(rows)
    if stays.all():
        return [part.own for part in parts], [NO_ROWS] * len(parts)
    fresh = rows[~stays]
    rows_.identify(fresh, session.rows)
    identities = before.copy()
    identities[~stays] = fresh["identity"]
    set_now = own.numbers if numbers is None else numbers_in(rows)
    named = own.with_(keys=identity.with_identities(keys, identities), identities=identities, numbers=set_now)
    owns = [part.own.among(named, each.rows) for part, each in zip(parts, joined.channels, strict=True)]
    return owns, in_parts(fresh, joined.sums(~stays).tolist())


def _with_own_floats(keys: Keyframes, at: npt.NDArray[np.intp]) -> Keyframes:
    """Return keys with the floats that they have without identities."""
    known = at >= 0
    if not known.any():
        return keys
    rows = session.rows[np.maximum(at, 0)]
    return keys.with_(
        **{
            name: np.where(known, identity.without_identities(getattr(keys, name), rows[name]), getattr(keys, name))
            for name in _IDENTIFYING
        }
    )


def _are_recorded(
    parts: Sequence[Part], joined: Joined, own: OwnKeys, known: BoolArray, present: Rows
) -> npt.NDArray[np.bool_]:
    """Return which of the `known` own keys have a row of their own that records them, apart from where they moved.

    `joined`: the keys of all parts; `present`: the rows of those that are known.
    """
    number = joined.spread(np.arange(len(parts)))
    if not known.all():
        own, number = own.take(known), number[known]
    keys, (given, numbers) = own.keys, rows_.given_of(own.numbers)
    same: npt.NDArray[np.bool_] = np.array([part.track for part in parts], np.uint32)[number] == present["track"]
    same &= np.array([part.index for part in parts], np.int32)[number] == present["index"]
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


def _is_copied(channels: npt.NDArray[np.intp], frames: Float32Array, present: Rows) -> npt.NDArray[np.bool_]:
    """Return which keys share their row with an earlier key of the channel, or with one where the row was made."""
    copied = np.zeros(len(present), dtype=np.bool_)
    if rows_.are_distinct(present["identity"]):
        return copied
    elsewhere = frames != present["co"][:, 0]
    order = np.lexsort((elsewhere, present["identity"], channels))
    in_order = present["identity"][order], channels[order]
    copied[order[1:]] = np.all([each[1:] == each[:-1] for each in in_order], axis=0)
    return copied


def write_identities(channels: Sequence[tuple[bpy.types.FCurve, OwnKeys]]) -> None:
    """Write the identities of own keys into the floats of their curves' keys, except floats that a key uses.

    From used floats another identity, which was written while they were not used, is removed.
    """
    if not channels:
        return
    joined = read_joined([fcurve for fcurve, _ in channels], (*MARKS, "interpolation"))
    identities = np.zeros(len(joined.keys), dtype=np.uint32)
    for start, (_, own) in zip(joined.starts.tolist(), channels, strict=True):
        there = own.rows >= 0
        identities[start + own.rows[there]] = own.identities[there]
    before = identities_of(joined.keys)
    renamed = (identities != identity.NONE) & (before != identities)
    plain = _with_own_floats(joined.keys, np.where(renamed, session.rows.find(before), -1))
    spelt = identity.with_identities(plain, identities)
    floats = [joined.of_channels(getattr(spelt, name)) for name in _IDENTIFYING]
    for (fcurve, _), *arrays in zip(channels, *floats, strict=True):
        for name, array in zip(_IDENTIFYING, arrays, strict=True):
            fcurve.keyframe_points.foreach_set(name, array)


def as_written(keys: Mapping[str, npt.NDArray[Any]], own: OwnKeys, placed: npt.NDArray[np.uint8]) -> Written:
    """Return records of the own keys of channels as they are written, n for each channel, shape (channels, n).

    `keys`: their attributes; `placed`: which handles the bake placed, shape (channels, n).
    """
    written = np.empty(placed.shape, dtype=OWN)
    written["identity"] = own.identities.reshape(written.shape)
    written["value"] = own.keys.values.reshape(written.shape)
    written["placed"] = placed
    for name in WRITTEN:
        written[name] = keys[name]
    return written


def enable_tracks(
    channels: Channels,
    tracks: Sequence[Track],
    settings: Sequence[Settings] | None = None,
    numbers: Sequence[Numbers] | None = None,
) -> None:
    """Make tracks of editable channels TCB: their keys get identities, and nothing else of them changes.

    `settings`: those of each track. Default: what Enable chooses. `numbers`: parameters of each track, one number a key
    of every channel; NaN where a key has none of its own.
    """
    given = (
        None
        if numbers is None
        else [dict.fromkeys(range(len(t.rest)), n) for t, n in zip(tracks, numbers, strict=True)]
    )
    enable_read([(channels, track) for track in tracks], read_all_own_keys(tracks), settings, given)


def enable_read(
    tracks: Sequence[tuple[Channels, Track]],
    own: Sequence[Mapping[int, OwnKeys]],
    settings: Sequence[Settings] | None = None,
    numbers: Sequence[Mapping[int, Numbers]] | None = None,
) -> None:
    """Make tracks of several actions TCB, whose own keys were read before; `numbers`: separate for each channel."""
    chosen_for = settings or [default_settings(track) for _, track in tracks]
    parts, curves, given = [], [], []
    for place, ((channels, track), choice) in enumerate(zip(tracks, chosen_for, strict=True)):
        state = track.state = new_state(channels.action, track.table, channels.slot_handle, track.path, choice)
        for index, keys in own[place].items():
            parts.append(Part(state.identity, index, keys, False))
            curves.append(track.channels[index])
            given.append({} if numbers is None else numbers[place].get(index, {}))
    named, rows = recorded(parts, None if numbers is None else given)
    write_identities(
        [(fcurve, keys) for part, keys, fcurve in zip(parts, named, curves, strict=True) if keys is not part.own]
    )
    fresh = iter(rows)
    by_action: dict[int, tuple[Channels, list[State], list[Rows]]] = {}
    for (channels, track), kept in zip(tracks, own, strict=True):
        _, states, news = by_action.setdefault(channels.action.session_uid, (channels, [], []))
        assert track.state is not None
        states.append(track.state)
        news += [next(fresh) for _ in kept]
    for channels, states, news in by_action.values():
        update(channels.action, rows_.joined(news), states)


def plain_keys(own: OwnKeys) -> Keyframes:
    """Return the keys with the floats that they had before they got identities."""
    return _with_own_floats(own.keys, session.rows.find(own.identities))


def remove_traces(fcurve: bpy.types.FCurve, own: OwnKeys | None = None) -> None:
    """Make keys of the curve that have identities or stamps plain ones.

    `own`: its own keys as they were read, which include keys whose amplitude and period are used.
    """
    keys = read(fcurve)
    identities = identities_of(keys)
    if own is not None:
        there = own.rows >= 0
        identities[own.rows[there]] = own.identities[there]
    if identities.any() or is_stamped(keys).any():
        write(fcurve, unstamped(_with_own_floats(keys, session.rows.find(identities))))


def adopt_tracks(action: bpy.types.Action) -> None:
    """Add TCB tracks that came into the action with their slots, from other actions, to its table."""
    table = read_table(action)
    at = session.rows.find(_spelled(action))
    owners = set(session.rows["track"][at[at >= 0]].tolist())
    if table.error or owners <= table.identities:
        return
    states = {}
    for datablock in users_of(action):
        with suppress(AnimationError):
            for track in find_tracks(datablock, channels_of(datablock)):
                if track.state is not None and table.identity_at(track.slot, track.path) is None:
                    states[track.slot, track.path] = track.state
    if states:
        update(action, states=states.values())


def clear_orphans(action: bpy.types.Action) -> None:
    """Reduce the rows of the action's table to those that its keys have; the session remembers the others.

    Rows of keys that came from other actions are added. A table that can't be read, and that of an action with several
    layers, are left alone.
    """
    table = read_table(action)
    if table.error or not (len(table.rows) or table.rows_of_tracks) or layered_reason(action):
        return
    kept = _rows_in_use(action, table)
    if kept.tobytes() == table.rows.tobytes():
        return
    write_table(action, table, table.with_rows(kept))


def _rows_in_use(action: bpy.types.Action, table: Table) -> Rows:
    """Return the rows of the session that keys of the action, or the table's records of written keys, refer to."""
    spelled = _spelled(action)
    named = rows_.distinct(np.concatenate((spelled, table.arrays["own"]["identity"])))
    at = session.rows.find(named)
    # Keys that use their amplitude and period are known by `back` alone.
    codes = identity.codes_of(_floats_of(action, "back"))
    codes = rows_.distinct(codes[(session.rows.find(spelled) < 0) & identity.spells_code(codes)])
    like = np.isin(identity.codes(table.rows["identity"]), codes)
    return rows_.merge(session.rows[at[at >= 0]], table.rows[like])


def _spelled(action: bpy.types.Action) -> Identities:
    """Read the identities in all keys of the action, whether there are such rows or not."""
    return identity.spelled(_floats_of(action, "amplitude"), _floats_of(action, "period"))


def _floats_of(action: bpy.types.Action, name: str) -> Float32Array:
    """Read one of the floats of all keys of the action."""
    every = [read_floats(fcurve, name) for channels in channels_in(action) for fcurve in channels]
    return np.concatenate(every) if every else np.empty(0, dtype=np.float32)


def play_restored(action: bpy.types.Action) -> None:
    """Include restored tracks in Live again."""
    table = read_table(action)
    if table.error:
        return
    states = []
    for slot, path in table.rows_of_tracks:
        with suppress(ValueError):
            state = table.state(slot, path)
            if state is not None and state.settings.digest == RESTORED:
                states.append(replace(state, settings=replace(state.settings, digest=0)))
    if states:
        update(action, states=states)


def is_up_to_date(track: Track) -> bool:
    """Return whether a baked track still has the keys, parameters and settings that it was baked from."""
    return are_up_to_date([track])[0]


def are_up_to_date(tracks: Sequence[Track], places: Sequence[bytes] | None = None) -> list[bool]:
    """Return the result of `is_up_to_date` for several tracks, which is faster than one after the other.

    `places`: frames and values of all keys of each track, where they were just read.
    """
    read_now = places or [b"".join([read_coordinates(curve).data for curve in t.channels.values()]) for t in tracks]
    standing = [track for track, now in zip(tracks, read_now, strict=True) if track.baked and _all_stand(track, now)]
    every = read_all_own_keys(standing)
    parts = [
        Part(track.state.identity, index, own, True)
        for track, kept in zip(standing, every, strict=True)
        if track.state is not None
        for index, own in kept.items()
    ]
    fresh = iter(recorded(parts)[1])
    changed = [sum(len(next(fresh)) for _ in kept) for kept in every]
    result = {
        id(track): not new and digest(track, track.settings, kept, function) == track.settings.digest
        for track, kept, new, function in zip(standing, every, changed, functions_of(standing), strict=True)
    }
    return [result.get(id(track), False) for track in tracks]


def keys_stand(action: bpy.types.Action) -> bool:
    """Return whether all keys of the action's baked tracks have the frames and values with which they were written."""
    table = read_table(action)
    for channels in channels_in(action):
        states: dict[str, State | None] = {}
        for fcurve in channels:
            path = fcurve.data_path
            if path not in states:
                try:
                    states[path] = table.state(channels.slot_handle, path)
                except ValueError:
                    return False
            state = states[path]
            written = state.channels.get(fcurve.array_index) if state is not None else None
            if written is not None and not _stands(read_coordinates(fcurve), written):
                return False
    return True


def _all_stand(track: Track, places: bytes) -> bool:
    """Return whether all keys of a track, with these frames and values, are as they were written."""
    channels = track.state.channels if track.state is not None else {}
    now, start = np.frombuffer(places, np.float32), 0
    for index in track.channels:
        if index not in channels:
            return False
        end = start + 2 * (len(channels[index].own) + len(channels[index].generated))
        if not _stands(now[start:end], channels[index]):
            return False
        start = end
    return start == len(now)


def _stands(places: Float32Array, written: Channel) -> bool:
    """Return whether all keys of a channel have the frames and values with which they were written."""
    at = places.reshape(-1, 2)
    if len(at) != len(written.own) + len(written.generated):
        return False
    if not len(written.generated):
        return bool((at == written.own["co"]).all())
    generated = written.generated.view(np.float32).reshape(-1, 2)
    every = np.concatenate((written.own["co"], generated))
    return bool((at == every[np.argsort(every[:, 0], kind="stable")]).all())
