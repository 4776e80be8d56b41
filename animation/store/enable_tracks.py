# SPDX-License-Identifier: GPL-3.0-or-later
"""Create the table entries for enabled tracks, and the rows for their keys."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import bpy

from ..fcurves.channels import Channels
from .own_keys import OwnKeys, read_all_own_keys
from .record_rows import Numbers, OwnChannel, recorded, write_identities
from .table import rows as rows_
from .table.custom_property import Table, TrackState, update
from .table.rows import Rows
from .table.settings import Settings
from .tracks import Track, default_settings


def new_state(action: bpy.types.Action, table: Table, slot: int, path: str, settings: Settings) -> TrackState:
    """Create a table entry for a track.

    The identity is derived from the track, so a repeated or redone operation gives the same result.
    """
    seed = f"{action.session_uid} {action.name} {slot} {path}".encode()
    number = zlib.crc32(seed)
    while number == 0 or number in table.tracks:
        number = zlib.crc32(seed, number)
    return TrackState(number, slot, path, settings)


def enable_tracks(
    channels: Channels,
    tracks: Sequence[Track],
    settings: Sequence[Settings] | None = None,
    numbers: Sequence[Numbers] | None = None,
) -> None:
    """Make tracks on editable channels TCB. The keys of these tracks get identities, but are otherwise unchanged.

    `settings` contains the settings for each track. Default: the settings that Enable chooses. `numbers` contains the
    parameters for each track, with one value per key of every channel, or NaN if not set.
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
    settings: Sequence[Settings] | None,
    numbers: Sequence[Mapping[int, Numbers]] | None,
) -> None:
    """Make tracks in several actions TCB from previously read keys. `numbers` are given for each channel separately."""
    chosen_for = settings or [default_settings(track) for _, track in tracks]
    parts, curves, given = [], [], []
    for place, ((channels, track), choice) in enumerate(zip(tracks, chosen_for, strict=True)):
        state = track.state = new_state(channels.action, track.table, channels.slot_handle, track.path, choice)
        for index, keys in own[place].items():
            parts.append(OwnChannel(state.identity, index, keys, False))
            curves.append(track.channels[index])
            given.append({} if numbers is None else numbers[place].get(index, {}))
    named, rows = recorded(parts, None if numbers is None else given)
    write_identities(
        [(fcurve, keys) for part, keys, fcurve in zip(parts, named, curves, strict=True) if keys is not part.own]
    )
    fresh = iter(rows)
    by_action: dict[int, tuple[Channels, list[TrackState], list[Rows]]] = {}
    for (channels, track), kept in zip(tracks, own, strict=True):
        _, states, news = by_action.setdefault(channels.action.session_uid, (channels, [], []))
        assert track.state is not None
        states.append(track.state)
        news += [next(fresh) for _ in kept]
    for channels, states, news in by_action.values():
        update(channels.action, rows_.joined(news), states)
