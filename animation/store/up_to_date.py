# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether the playback data of tracks match the current keys, parameters and settings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..fcurves.read_keys import read_coordinates
from .digest import digest
from .frame_functions import functions_of
from .own_keys import read_all_own_keys
from .record_rows import OwnChannel, recorded
from .table.session import session
from .tracks import Track


def is_up_to_date(track: Track) -> bool:
    """Return whether keys, parameters and settings of a played track are unchanged since the last update."""
    return are_up_to_date([track])[0]


def are_up_to_date(tracks: Sequence[Track], places: Sequence[bytes] | None = None) -> list[bool]:
    """Return the results of `is_up_to_date` for several tracks, which is faster than separate calls.

    For baked tracks, this function checks the saved keys, and `edited_outside` checks the curves. Tracks shown by a
    drag count as up to date. `places` contains the frames and values of all keys on each track's F-curves, if they were
    just read.
    """
    if places is None:
        places = [_read_places(track) for track in tracks]
    are_shown = [track.state is not None and session.is_shown(track.state.identity) for track in tracks]
    candidates = [
        track
        for track, places_of_track, is_shown in zip(tracks, places, are_shown, strict=True)
        if not is_shown and _has_recorded_positions(track, places_of_track)
    ]
    up_to_date = {id(track) for track, matches in zip(candidates, _match_digests(candidates), strict=True) if matches}
    return [is_shown or id(track) in up_to_date for track, is_shown in zip(tracks, are_shown, strict=True)]


def _read_places(track: Track) -> bytes:
    """Read the frames and values of all keys on the track's F-curves, which are not needed for a baked track."""
    return b"" if track.is_baked else b"".join([read_coordinates(fcurve).data for fcurve in track.channels.values()])


def _match_digests(tracks: Sequence[Track]) -> list[bool]:
    """Return, for each track, whether no key needs a new row and the digest is as recorded."""
    own_by_track = read_all_own_keys(tracks)
    channels = [
        OwnChannel(track.state.identity, index, own, index in track.state.channels)
        for track, own_by_index in zip(tracks, own_by_track, strict=True)
        if track.state is not None
        for index, own in own_by_index.items()
    ]
    new_rows = iter(recorded(channels)[1])
    new_row_counts = [sum(len(next(new_rows)) for _ in own_by_index) for own_by_index in own_by_track]
    return [
        not new_row_count and digest(track, track.settings, own_by_index, function) == track.settings.digest
        for track, own_by_index, new_row_count, function in zip(
            tracks, own_by_track, new_row_counts, functions_of(tracks), strict=True
        )
    ]


def _has_recorded_positions(track: Track, places: bytes) -> bool:
    """Return whether the keys and extrapolations of the track's curves match its table entry.

    `places` contains the current frames and values. For a baked track, only the extrapolations are compared.
    """
    bake = track.bake
    if bake is not None:
        return track.channels.keys() <= bake.channels.keys() and all(
            fcurve.extrapolation == bake.channels[index].written.extrapolation
            for index, fcurve in track.channels.items()
        )
    if track.state is None or not track.is_played_by_handles:
        return False
    channels, co, start = track.state.channels, np.frombuffer(places, np.float32).reshape(-1, 2), 0
    for index in track.channels:
        if index not in channels or track.extrapolation(index) != channels[index].extrapolation:
            return False
        recorded_co = channels[index].own["co"]
        end = start + len(recorded_co)
        if not np.array_equal(co[start:end], recorded_co):
            return False
        start = end
    return start == len(co)
