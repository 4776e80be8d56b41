# SPDX-License-Identifier: GPL-3.0-or-later
"""Create the table entries for enabled tracks, and the rows for their keys."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import field

import bpy

from ..fcurves.channels import Channels
from ..records import record
from .identities_in_keys import write_identities
from .own_arrays import OwnKeys
from .own_keys import read_all_own_keys
from .record_rows import NumbersByName, OwnChannel, record_rows
from .table.custom_property import update
from .table.rows import ROW, Rows, joined
from .table.track_records import Settings, TrackState
from .tracks import Track, default_settings


@record(eq=False)
class TrackToEnable:
    """A plain track, with its keys as they were read, and its future settings and parameters."""

    channels: Channels
    track: Track
    own_keys: Mapping[int, OwnKeys]
    settings: Settings
    numbers: Mapping[int, NumbersByName] = field(default_factory=dict)
    """Parameters of each channel, with one value per key, or NaN if not set."""


def enable_tracks(
    channels: Channels,
    tracks: Sequence[Track],
    settings: Sequence[Settings] | None = None,
    numbers: Sequence[NumbersByName] | None = None,
) -> None:
    """Make tracks on editable channels TCB. The keys of these tracks get identities, but are otherwise unchanged.

    `settings` contains the settings for each track. Default: the settings that Enable chooses. `numbers` contains the
    parameters for each track, with one value per key of every channel, or NaN if not set.
    """
    if settings is None:
        settings = list(map(default_settings, tracks))
    if numbers is None:
        numbers = [{}] * len(tracks)
    enable_with_keys(
        [
            TrackToEnable(channels, track, own_keys, settings_of_track, dict.fromkeys(own_keys, numbers_of_track))
            for track, own_keys, settings_of_track, numbers_of_track in zip(
                tracks, read_all_own_keys(tracks), settings, numbers, strict=True
            )
        ]
    )


def enable_with_keys(tracks: Sequence[TrackToEnable]) -> None:
    """Make tracks in one or more actions TCB."""
    own_channels: list[OwnChannel] = []
    fcurves: list[bpy.types.FCurve] = []
    numbers: list[NumbersByName] = []
    for each in tracks:
        track, channels = each.track, each.channels
        track.state = new_state(channels, track, each.settings)
        for index, own in each.own_keys.items():
            own_channels.append(OwnChannel(track.state.identity, index, own, False))
            fcurves.append(track.channels[index])
            numbers.append(each.numbers.get(index, {}))
    named, rows = record_rows(own_channels, numbers if any(numbers) else None)
    write_identities(
        [
            (fcurve, keys)
            for fcurve, channel, keys in zip(fcurves, own_channels, named, strict=True)
            if keys is not channel.own
        ]
    )
    _update_tables(tracks, rows)


def new_state(channels: Channels, track: Track, settings: Settings) -> TrackState:
    """Create a table entry for a track.

    The identity is derived from the track, so a repeated or redone operation gives the same result.
    """
    action, slot, path = channels.action, channels.slot_handle, track.path
    seed = f"{action.session_uid} {action.name} {slot} {path}".encode()
    identity = zlib.crc32(seed)
    while identity == 0 or identity in track.table.tracks:
        identity = zlib.crc32(seed, identity)
    return TrackState(identity, slot, path, settings)


def _update_tables(tracks: Sequence[TrackToEnable], rows: Sequence[Rows]) -> None:
    """Add the tracks, and the rows of their channels, to the tables, with one update per action."""
    rows_of_channels = iter(rows)
    additions: dict[int, tuple[bpy.types.Action, list[TrackState], list[Rows]]] = {}
    for each in tracks:
        action = each.channels.action
        _, states, rows_of_action = additions.setdefault(action.session_uid, (action, [], []))
        assert each.track.state is not None
        states.append(each.track.state)
        rows_of_action += [next(rows_of_channels) for _ in each.own_keys]
    for action, states, rows_of_action in additions.values():
        update(action, joined(rows_of_action, ROW), states)
