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
from .table.custom_property import Table, update
from .table.rows import Rows
from .table.track_records import Settings, TrackState
from .tracks import Track, default_settings


def new_state(action: bpy.types.Action, table: Table, slot: int, path: str, settings: Settings) -> TrackState:
    """Create a table entry for a track.

    The identity is derived from the track, so a repeated or redone operation gives the same result.
    """
    seed = f"{action.session_uid} {action.name} {slot} {path}".encode()
    identity = zlib.crc32(seed)
    while identity == 0 or identity in table.tracks:
        identity = zlib.crc32(seed, identity)
    return TrackState(identity, slot, path, settings)


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
    numbers_by_index = None
    if numbers is not None:
        numbers_by_index = [
            dict.fromkeys(range(len(track.rest)), numbers_of_track)
            for track, numbers_of_track in zip(tracks, numbers, strict=True)
        ]
    enable_read([(channels, track) for track in tracks], read_all_own_keys(tracks), settings, numbers_by_index)


def enable_read(
    tracks: Sequence[tuple[Channels, Track]],
    own: Sequence[Mapping[int, OwnKeys]],
    settings: Sequence[Settings] | None,
    numbers: Sequence[Mapping[int, Numbers]] | None,
) -> None:
    """Make tracks in several actions TCB from previously read keys. `numbers` are given for each channel separately."""
    if settings is None:
        settings = [default_settings(track) for _, track in tracks]
    own_channels: list[OwnChannel] = []
    fcurves: list[bpy.types.FCurve] = []
    for (channels, track), own_by_index, settings_of_track in zip(tracks, own, settings, strict=True):
        state = new_state(channels.action, track.table, channels.slot_handle, track.path, settings_of_track)
        track.state = state
        own_channels += [OwnChannel(state.identity, index, keys, False) for index, keys in own_by_index.items()]
        fcurves += [track.channels[index] for index in own_by_index]
    numbers_of_channels = None
    if numbers is not None:
        numbers_of_channels = [
            numbers_by_index.get(index, {})
            for own_by_index, numbers_by_index in zip(own, numbers, strict=True)
            for index in own_by_index
        ]
    named, rows = recorded(own_channels, numbers_of_channels)
    renamed = [
        (fcurve, keys)
        for fcurve, channel, keys in zip(fcurves, own_channels, named, strict=True)
        if keys is not channel.own
    ]
    write_identities(renamed)
    rows_of_channels = iter(rows)
    _update_tables(tracks, [[next(rows_of_channels) for _ in own_by_index] for own_by_index in own])


def _update_tables(tracks: Sequence[tuple[Channels, Track]], rows: Sequence[Sequence[Rows]]) -> None:
    """Add the tracks, and the rows of their channels, to the tables, with one update per action."""
    additions: dict[int, tuple[Channels, list[TrackState], list[Rows]]] = {}
    for (channels, track), rows_of_track in zip(tracks, rows, strict=True):
        _, states, rows_of_action = additions.setdefault(channels.action.session_uid, (channels, [], []))
        assert track.state is not None
        states.append(track.state)
        rows_of_action += rows_of_track
    for channels, states, rows_of_action in additions.values():
        update(channels.action, rows_.joined(rows_of_action), states)
