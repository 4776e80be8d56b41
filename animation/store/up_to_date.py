# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether the playback data of tracks match the current keys, parameters and settings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..fcurves.keyframes import Float32Array, read_coordinates
from .digest import digest
from .frame_functions import functions_of
from .own_keys import read_all_own_keys
from .record_rows import OwnChannel, recorded
from .table.custom_property import Channel
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
    read_now = places or [
        b"" if t.is_baked else b"".join([read_coordinates(curve).data for curve in t.channels.values()]) for t in tracks
    ]
    shown = [track.state is not None and session.is_shown(track.state.identity) for track in tracks]
    every_now = zip(tracks, read_now, shown, strict=True)
    standing = [track for track, now, is_shown in every_now if not is_shown and _stands_as_played(track, now)]
    every = read_all_own_keys(standing)
    parts = [
        OwnChannel(track.state.identity, index, own, index in track.state.channels)
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
    return [is_shown or result.get(id(track), False) for track, is_shown in zip(tracks, shown, strict=True)]


def _stands_as_played(track: Track, places: bytes) -> bool:
    """Return whether the keys and extrapolations of the track's curves match its table entry."""
    bake = track.bake
    if bake is not None:
        return track.channels.keys() <= bake.channels.keys() and all(
            fcurve.extrapolation == bake.channels[index].written.extrapolation
            for index, fcurve in track.channels.items()
        )
    return track.is_played_by_handles and _all_stand(track, places)


def _all_stand(track: Track, places: bytes) -> bool:
    """Return whether all keys of a track still have their recorded frames and values.

    `places` contains the current frames and values.
    """
    channels = track.state.channels if track.state is not None else {}
    now, start = np.frombuffer(places, np.float32), 0
    for index in track.channels:
        if index not in channels or track.extrapolation(index) != channels[index].extrapolation:
            return False
        end = start + 2 * len(channels[index].own)
        if not _stands(now[start:end], channels[index]):
            return False
        start = end
    return start == len(now)


def _stands(places: Float32Array, written: Channel) -> bool:
    """Return whether all keys of a channel have their recorded frames and values."""
    at = places.reshape(-1, 2)
    return len(at) == len(written.own) and bool((at == written.own["co"]).all())
