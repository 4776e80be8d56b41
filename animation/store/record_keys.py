# SPDX-License-Identifier: GPL-3.0-or-later
"""Record the animator's keys and new TCB tracks in the table."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.channels import Channels
from ..fcurves.keyframes import PAIRS, SIDES, BoolArray, Float32Array, IndexArray, Joined, Keyframes, both, in_parts
from ..records import record
from .identities_in_keys import with_own_floats, write_identities
from .own_keys import OwnKeys, own_end_to_end
from .read_own_keys import read_all_own_keys
from .restored_keys import HANDLE_MOVED
from .table import key_identity
from .table import rows as rows_
from .table.custom_property import update
from .table.rows import NO_ROWS, RECORDED, ROW, Rows, joined, numbers_in
from .table.session import session
from .table.track_records import Settings, TrackState
from .tracks import Track, default_settings


class OwnChannel(NamedTuple):
    """The animator's keys in one channel of a track, with the identity of the track."""

    track: int
    component: int
    own: OwnKeys
    has_placed_handles: bool


NumbersByName = Mapping[str, npt.NDArray[np.float64]]
"""Parameters and velocity components by name."""


def record_rows(
    channels: Sequence[OwnChannel],
    numbers: Sequence[NumbersByName] | None = None,
    keys_to_set: Sequence[BoolArray] | None = None,
) -> tuple[list[OwnKeys], Rows, list[int]]:
    """Create a row for each key that has no row or differs from its row, and add the new rows to the session.

    Return the keys of each channel with identities, the new rows of all channels, one channel after another, and the
    number of new rows per channel. There are four exceptions:

    - Keys with placed handles keep their rows if they have only moved.
    - If keys were copied within a channel, only one of these keys keeps the row.
    - Keys from other channels get new rows, so that no row is shared.
    - Keys with numbers that are not finite get no new row.

    `numbers` contains parameters to set for each channel, one value per key. NaN unsets a parameter. `keys_to_set`
    contains a mask of these keys for each channel. Default: all keys.
    """
    if not channels:
        return [], NO_ROWS, []
    unchanged = [channel.own for channel in channels], NO_ROWS, [0] * len(channels)
    own = own_end_to_end([channel.own for channel in channels])
    joined = Joined(own.keys, [channel.own.count for channel in channels])
    at = session.rows.find(own.identities)
    has_row, keeps_row = at >= 0, np.zeros(len(at), dtype=np.bool_)
    keys, old_rows = with_own_floats(own.keys, at), session.rows[at[has_row]]
    if len(old_rows):
        keeps_row[has_row] = _are_recorded(channels, joined, own.with_(keys=keys), has_row, old_rows)
    if numbers is None and keeps_row.all():
        return unchanged
    rows = _rows_of(channels, joined, own, keys)
    if len(old_rows):
        # The identity of a new row depends on the identity of the old row.
        rows["identity"][has_row] = old_rows["identity"]
        rows[keeps_row] = old_rows[keeps_row[has_row]]
    if numbers is not None:
        rows_before, rows = rows, _with_numbers(rows, joined, numbers, keys_to_set)
        keeps_row &= (rows["given"] == rows_before["given"]) & (rows["numbers"] == rows_before["numbers"]).all(axis=1)
    keeps_row |= ~np.isfinite(rows_.floats_in(rows)).all(axis=1)
    if keeps_row.all():
        return unchanged
    new_rows = rows[~keeps_row]
    session.rows.identify(new_rows)
    identities = own.identities.copy()
    identities[~keeps_row] = new_rows["identity"]
    named = own.with_(
        keys=key_identity.with_identities(keys, identities),
        identities=identities,
        numbers=own.numbers if numbers is None else numbers_in(rows),
    )
    named_channels = [
        OwnKeys(named.arrays, span, channel.own.edited) for channel, span in zip(channels, joined.spans, strict=True)
    ]
    return named_channels, new_rows, joined.sums(~keeps_row).tolist()


def _rows_of(channels: Sequence[OwnChannel], joined: Joined, own: OwnKeys, keys: Keyframes) -> Rows:
    """Create rows for the concatenated keys, without identities. `keys` are the keys without identities."""
    rows = rows_.record(keys, 0, 0)
    rows["track"] = joined.spread(np.array([channel.track for channel in channels], dtype=np.uint32))
    rows["index"] = joined.spread(np.array([channel.component for channel in channels], dtype=np.int32))
    rows["chosen"] = own.chosen
    if not np.isnan(own.numbers).all():
        rows["given"], rows["numbers"] = rows_.given_of(own.numbers)
    return rows


def _with_numbers(
    rows: Rows, joined: Joined, numbers: Sequence[NumbersByName], keys_to_set: Sequence[BoolArray] | None
) -> Rows:
    """Return the rows, with the parameters for each channel set on its keys to set."""
    result = rows.copy()
    rows_by_name: dict[str, list[IndexArray]] = {}
    values_by_name: dict[str, list[npt.NDArray[np.float64]]] = {}
    for channel, (span, values_of_channel) in enumerate(zip(joined.spans, numbers, strict=True)):
        channel_rows = np.arange(span.start, span.stop)
        if keys_to_set is not None:
            channel_rows = channel_rows[keys_to_set[channel]]
        for name, values in values_of_channel.items():
            rows_by_name.setdefault(name, []).append(channel_rows)
            values_by_name.setdefault(name, []).append(np.broadcast_to(values, channel_rows.shape))
    for name, rows_to_set in rows_by_name.items():
        rows_.give(result, name, np.concatenate(values_by_name[name]), np.concatenate(rows_to_set))
    return result


def _are_recorded(
    channels: Sequence[OwnChannel], joined: Joined, own: OwnKeys, has_row: BoolArray, rows: Rows
) -> BoolArray:
    """Return a mask of the keys with a row that keep this row, even if the keys were moved.

    `joined` and `own` contain the keys of all channels, and `rows` contains the rows of the keys in the mask `has_row`.
    """
    channel_of_key = joined.spread(np.arange(len(channels)))
    if not has_row.all():
        own, channel_of_key = own.take(has_row), channel_of_key[has_row]
    keys, (given, numbers) = own.keys, rows_.given_of(own.numbers)
    tracks = np.array([channel.track for channel in channels], np.uint32)
    components = np.array([channel.component for channel in channels], np.int32)
    same: BoolArray = tracks[channel_of_key] == rows["track"]
    same &= components[channel_of_key] == rows["index"]
    same &= (own.chosen == rows["chosen"]) & (given == rows["given"]) & (numbers == rows["numbers"]).all(axis=1)
    for name in RECORDED:
        if name not in PAIRS:
            same &= getattr(keys, name) == rows[name]
    # A key whose handles were placed may move. Its row then keeps the position of the key as it was recorded.
    has_placed_handles = np.array([channel.has_placed_handles for channel in channels])[channel_of_key]
    same_bits = same.copy()
    for name in PAIRS if not has_placed_handles.all() else ():
        same_bits &= both(getattr(keys, name).view(np.uint32) == rows[name].view(np.uint32))
    for side in SIDES:
        offset, recorded_offset = getattr(keys, side) - keys.co, rows[side] - rows["co"]
        size = 1e-3 + np.abs(keys.co) + np.abs(recorded_offset)
        same &= both(np.abs(offset - recorded_offset) <= HANDLE_MOVED * size)
    are_recorded: BoolArray = np.where(has_placed_handles, same, same_bits)
    return are_recorded & ~_are_copies(channel_of_key, keys.frames, rows)


def _are_copies(channels: IndexArray, frames: Float32Array, rows: Rows) -> BoolArray:
    """Return a mask of the keys that share a row with the original key, or with an earlier key of the channel."""
    are_copies = np.zeros(len(rows), dtype=np.bool_)
    has_moved = frames != rows["co"][:, 0]
    order = np.lexsort((has_moved, rows["identity"], channels))
    identities, channels = rows["identity"][order], channels[order]
    are_copies[order[1:]] = (identities[1:] == identities[:-1]) & (channels[1:] == channels[:-1])
    return are_copies


# Tracks to enable


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
    named, rows, row_counts = record_rows(own_channels, numbers if any(numbers) else None)
    write_identities(
        [
            (fcurve, keys)
            for fcurve, channel, keys in zip(fcurves, own_channels, named, strict=True)
            if keys is not channel.own
        ]
    )
    _update_tables(tracks, in_parts(rows, row_counts))


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
