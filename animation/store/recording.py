# SPDX-License-Identifier: GPL-3.0-or-later
"""Giving keys rows, and tracks their places in the table."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import bpy
import numpy as np
import numpy.typing as npt

from ..datablocks import users_of
from ..faults import Refusal
from ..fcurves.channels import Channels, channels_in, channels_of
from ..fcurves.keyframes import FloatArray, Joined, Keyframes, places, read, read_floats, write
from . import identity
from . import rows as rows_
from .identity import Identities
from .own_keys import OwnKeys, digest, identities_of, numbers_of, read_all_own_keys, read_own_keys
from .rows import NO_ROWS, RECORDED, Rows
from .session import session
from .settings import Settings
from .stamps import is_stamped, unstamped
from .table import OWN, Channel, State, Table, Written, read_table, remove_table, update
from .table import write as write_table
from .tracks import Track, default_settings, find_tracks

_EXACT = ("co", "handle_left", "handle_right")
_OFFSET = 1e-4
"""Relative. Moving a key rounds its handles' offsets; only a larger change is an edit of the handle."""


@dataclass(frozen=True, eq=False)
class Part:
    """The own keys of one channel of a track, by the track's identity."""

    track: int
    index: int
    own: OwnKeys
    baked: bool


def new_state(action: bpy.types.Action, table: Table, slot: int, path: str, settings: Settings) -> State:
    """Make a place in the table for a track; its identity is derived, so repeating and redoing agree."""
    taken = set(table.arrays["tracks"]["identity"].tolist()) if table.places else set()
    seed = f"{action.session_uid} {action.name} {slot} {path}".encode()
    number = zlib.crc32(seed)
    while number == 0 or number in taken:
        number = zlib.crc32(seed, number)
    return State(number, slot, path, settings)


def recorded(
    parts: Sequence[Part], numbers: Sequence[Mapping[str, npt.NDArray[np.float64]]] | None = None
) -> tuple[list[OwnKeys], Rows]:
    """Give a row to each key that has none, or is otherwise than its row says: the keys with their identities, and the
    new rows.

    Of keys that a bake has written, those that only moved keep their rows. `numbers`: parameters for the keys of each
    part, which are new.
    """
    if not parts:
        return [], NO_ROWS
    joined = Joined.of([part.own.keys for part in parts])
    before = np.concatenate([part.own.identities for part in parts])
    at = rows_.find(session.rows, before)
    known = at >= 0
    counts = joined.counts
    keys = _with_own_floats(joined.keys, at)
    rows = rows_.record(keys, 0, 0)
    rows["track"] = np.repeat(np.array([part.track for part in parts], dtype=np.uint32), counts)
    rows["index"] = np.repeat(np.array([part.index for part in parts], dtype=np.int32), counts)
    baked = np.repeat(np.array([part.baked for part in parts], dtype=np.bool_), counts)
    present = session.rows[at[known]] if known.any() else NO_ROWS
    for name in ("identity", "given", "numbers"):
        rows[name][known] = present[name]
    if numbers is not None and any(numbers):
        given = [rows_.give(part, own) for part, own in zip(joined.of_channels(rows), numbers, strict=True)]
        rows = np.concatenate(given)
    stays = known.copy()
    if known.any():
        stays[known] = _is_recorded(rows[known], present, baked[known])
    if stays.all():
        return [part.own for part in parts], NO_ROWS
    fresh = rows_.identified(rows[~stays], session.rows)
    identities = before.copy()
    identities[~stays] = fresh["identity"]
    keys = identity.with_identities(keys, identities)
    each = zip(parts, Joined(keys, counts).channels, joined.of_channels(identities), strict=True)
    return [replace(part.own, keys=own, identities=named) for part, own, named in each], fresh


def _with_own_floats(keys: Keyframes, at: npt.NDArray[np.intp]) -> Keyframes:
    """Give keys the floats that they have without identities."""
    known = at >= 0
    if not known.any():
        return keys
    rows = session.rows[np.maximum(at, 0)]
    return keys.with_(
        **{
            name: np.where(known, identity.without_identities(getattr(keys, name), rows[name]), getattr(keys, name))
            for name in ("back", "amplitude", "period")
        }
    )


def _is_recorded(rows: Rows, present: Rows, baked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Tell which rows are, but for where their keys are and moved to, the present ones."""
    same = np.ones(len(rows), dtype=np.bool_)
    for name in RECORDED:
        if name not in _EXACT:
            same &= rows[name] == present[name]
    exact = same.copy()
    for name in _EXACT:
        exact &= (rows[name].view(np.uint32) == present[name].view(np.uint32)).reshape(len(rows), -1).all(axis=1)
    for side in ("handle_left", "handle_right"):
        offset, before = rows[side] - rows["co"], present[side] - present["co"]
        size = 1e-3 + np.abs(rows["co"]) + np.abs(before)
        same &= (np.abs(offset - before) <= _OFFSET * size).all(axis=1)
    result: npt.NDArray[np.bool_] = np.where(baked, same, exact)
    return result


def set_numbers(
    parts: Sequence[Part],
    numbers: Sequence[Mapping[str, npt.NDArray[np.float64]]],
    chosen: Sequence[npt.NDArray[np.bool_]],
) -> tuple[list[OwnKeys], Rows]:
    """Set parameters of the chosen keys of each part, a number a key; NaN takes one away.

    Returns the keys with their identities, and the new rows.
    """
    owns, fresh = recorded(parts)
    known = rows_.merge(session.rows, fresh)
    made = [fresh]
    result = []
    for own, given, which in zip(owns, numbers, chosen, strict=True):
        rows = known[rows_.find(known, own.identities[which])]
        changed = rows_.give(rows, given)
        same = (changed["given"] == rows["given"]) & (changed["numbers"] == rows["numbers"]).all(axis=1)
        new = rows_.identified(changed[~same], known)
        identities = own.identities.copy()
        identities[np.flatnonzero(which)[~same]] = new["identity"]
        made.append(new)
        known = rows_.merge(known, new)
        keys = identity.with_identities(own.keys, identities)
        result.append(replace(own, keys=keys, identities=identities, numbers=numbers_of(identities)))
    return result, rows_.merge(NO_ROWS, np.concatenate(made))


def write_identities(fcurve: bpy.types.FCurve, own: OwnKeys) -> None:
    """Write the identities of own keys into the floats of the curve's keys, but for those that keys play."""
    points = fcurve.keyframe_points
    every = read(fcurve)
    identities = np.zeros(len(every), dtype=np.uint32)
    there = own.rows >= 0
    identities[own.rows[there]] = own.identities[there]
    spelt = identity.with_identities(every, identities)
    for name in ("back", "amplitude", "period"):
        points.foreach_set(name, getattr(spelt, name))


def as_written(
    keys: Keyframes, rows: npt.NDArray[np.intp], own: OwnKeys | None, placed: npt.NDArray[np.uint8]
) -> Written:
    """Note own keys as they are written, in those `rows` of `keys`; `placed`: which handles the bake placed."""
    written = np.empty(len(rows), dtype=OWN)
    if own is not None:
        written["identity"], written["value"], written["placed"] = own.identities, own.keys.values, placed
    for name in ("co", "handle_left", "handle_right", "interpolation", "handle_left_type", "handle_right_type"):
        written[name] = getattr(keys, name)[rows]
    return written


def enable_tracks(
    channels: Channels,
    tracks: Sequence[Track],
    settings: Sequence[Settings] | None = None,
    numbers: Sequence[Mapping[str, npt.NDArray[np.float64]]] | None = None,
) -> None:
    """Make tracks of editable channels TCB: their keys get identities, and nothing else of them changes.

    `settings`: what is chosen for each. Default: what Enable chooses. `numbers`: parameters of each, a number a key
    of every channel; NaN where a key has none of its own.
    """
    if not tracks:
        return
    chosen_for = settings or [default_settings(track) for track in tracks]
    for track, choice in zip(tracks, chosen_for, strict=True):
        track.state = new_state(channels.action, track.table, channels.slot_handle, track.path, choice)
    own = read_all_own_keys(tracks)
    rows = write_rows(tracks, own, numbers or [{}] * len(tracks))
    update(channels.action, rows, [track.state for track in tracks if track.state is not None])


def write_rows(
    tracks: Sequence[Track],
    own: Sequence[Mapping[int, OwnKeys]],
    numbers: Sequence[Mapping[str, npt.NDArray[np.float64]]],
) -> Rows:
    """Give the keys of TCB tracks rows and identities, where they have none, or are otherwise than their rows say;
    returns the new rows."""
    parts, curves, given = [], [], []
    for track, channels, own_numbers in zip(tracks, own, numbers, strict=True):
        assert track.state is not None
        for index, keys in channels.items():
            parts.append(Part(track.state.identity, index, keys, index in track.state.channels))
            curves.append(track.channels[index])
            given.append(own_numbers)
    named, rows = recorded(parts, given)
    for part, keys, fcurve in zip(parts, named, curves, strict=True):
        if keys is not part.own:
            write_identities(fcurve, keys)
    return rows


def plain_keys(own: OwnKeys) -> Keyframes:
    """The keys with the floats that they had before they got identities."""
    return _with_own_floats(own.keys, rows_.find(session.rows, own.identities))


def remove_traces(fcurve: bpy.types.FCurve, own: OwnKeys | None = None) -> None:
    """Make keys of the curve that have identities or stamps plain ones; `own`: its keys as they were read, which also
    tells those whose amplitudes are played."""
    keys = read(fcurve)
    identities = identities_of(keys) if own is None else own.identities
    if identities.any() or is_stamped(keys).any():
        write(fcurve, unstamped(_with_own_floats(keys, rows_.find(session.rows, identities))))


def adopt_tracks(action: bpy.types.Action) -> None:
    """Put TCB tracks that came into the action with their slots, from other actions, into its table."""
    table = read_table(action)
    owners = np.unique(session.rows["track"][np.isin(session.rows["identity"], _spelled(action))])
    present = table.arrays["tracks"]["identity"] if table.places else owners[:0]
    if table.fault or np.isin(owners, present).all():
        return
    states = {}
    for datablock in users_of(action):
        with suppress(Refusal):
            for track in find_tracks(datablock, channels_of(datablock)):
                if track.state is not None and table.identity_at(track.slot, track.path) is None:
                    states[track.slot, track.path] = track.state
    if states:
        update(action, states=states.values())


def clear_orphans(action: bpy.types.Action) -> None:
    """Let the action's table have the rows that its keys have, and no others; the session remembers these.

    Rows of keys that came from other actions are added; a table that can't be understood is left alone.
    """
    table = read_table(action)
    if table.fault or not (len(table.rows) or table.places):
        return
    kept = _rows_in_use(action, table)
    if kept.tobytes() == table.rows.tobytes():
        return
    if len(kept) or table.places:
        write_table(action, kept, {}, [])
    else:
        remove_table(action)


def _rows_in_use(action: bpy.types.Action, table: Table) -> Rows:
    """The rows of the session that keys of the action name, or the table says were written."""
    rows = session.rows
    spelled = _spelled(action)
    named = np.isin(rows["identity"], spelled)
    if table.places:
        named |= np.isin(rows["identity"], table.arrays["own"]["identity"])
    # Keys that play their amplitudes and periods are known by `back` alone.
    codes = identity.codes_of(_floats_of(action, "back"))
    codes = np.unique(codes[(rows_.find(rows, spelled) < 0) & identity.spells_code(codes)])
    like = np.isin(identity.codes(table.rows["identity"]), codes)
    return rows_.merge(rows[named], table.rows[like])


def _spelled(action: bpy.types.Action) -> Identities:
    """The identities that all keys of the action spell, whether there are such rows or not."""
    return identity.spelled(_floats_of(action, "amplitude"), _floats_of(action, "period"))


def _floats_of(action: bpy.types.Action, name: str) -> FloatArray:
    """One of the floats of all keys of the action."""
    every = [read_floats(fcurve, name) for channels in channels_in(action) for fcurve in channels]
    return np.concatenate(every) if every else np.empty(0, dtype=np.float32)


def is_up_to_date(track: Track) -> bool:
    """Tell whether a baked track has the keys, parameters and choices that it was baked from."""
    if track.state is None or not track.baked:
        return False
    if not all(index in track.state.channels for index in track.channels):
        return False
    standing = all(_stands(fcurve, track.state.channels[index]) for index, fcurve in track.channels.items())
    if not standing:
        return False
    own = read_own_keys(track)
    if digest(track, track.settings, own) != track.settings.digest:
        return False
    _, changed = recorded([Part(track.state.identity, index, each, True) for index, each in own.items()])
    return not len(changed)


def _stands(fcurve: bpy.types.FCurve, written: Channel) -> bool:
    """Tell whether all keys of a channel stand where they were written, with the values they were written with."""
    at = places(fcurve).reshape(-1, 2)
    if len(at) != len(written.own) + len(written.generated):
        return False
    generated = written.generated.view(np.float32).reshape(-1, 2)
    every = np.concatenate((written.own["co"], generated))
    return bool((at == every[np.argsort(every[:, 0], kind="stable")]).all())
