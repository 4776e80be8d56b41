# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks that were renamed, or moved with their slot into another action. Their keys identify them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import bpy
import numpy as np

from ..fcurves.channels import channels_in
from ..fcurves.read_and_write import KeyBlock
from .table import key_identity
from .table.custom_property import remembered_tables
from .table.key_identity import Identities
from .table.session import session
from .table.track_records import TrackState
from .tracks import Track


def follow_keys(tracks: Sequence[Track]) -> None:
    """If a track's keys come from a track that has lost its F-curves, copy the state of that original track.

    The original track was renamed or moved with its slot. If several tracks have keys from the original track, the
    track with the most of these keys gets the state.
    """
    claims: dict[tuple[int, int, str], list[tuple[int, Track, TrackState]]] = {}
    for track, identities in _identities_of_origins(tracks):
        origin = _main_origin(track, identities)
        if origin is not None:
            key_count, action, state = origin
            claims.setdefault((action, state.slot, state.path), []).append((key_count, track, state))
    for claimed in claims.values():
        _, track, state = max(claimed, key=itemgetter(0))
        track.state = replace(state, slot=track.slot, path=track.path)


def _identities_of_origins(tracks: Sequence[Track]) -> Iterator[tuple[Track, Identities]]:
    """Yield each track that has keys with identities, together with the identity of each key's original track."""
    curves = [(number, fcurve) for number, track in enumerate(tracks) for fcurve in track.channels.values()]
    if not curves:
        return
    block = KeyBlock([fcurve.keyframe_points for _, fcurve in curves])
    amplitude = block.read("amplitude")
    if key_identity.have_none(amplitude):
        return
    at = session.rows.find(key_identity.identities_in(amplitude, block.read("period")))
    has_row = at >= 0
    if not has_row.any():
        return
    track_numbers = np.repeat([number for number, _ in curves], block.counts)[has_row]
    identities = session.rows["track"][at[has_row]]
    for number in np.unique(track_numbers).tolist():
        yield tracks[number], identities[track_numbers == number]


def _main_origin(track: Track, identities: Identities) -> tuple[int, int, TrackState] | None:
    """Return the number of keys from the track of most keys, and the action and state of that track, or None.

    Keys from tracks that still have F-curves are ignored, because they were pasted.
    """
    counts = Counter(identities.tolist())
    places = {identity: _place_of(track, identity) for identity in counts}
    lost = {
        identity: counts[identity] for identity, place in places.items() if place is None or not _has_fcurves(*place)
    }
    if not lost:
        return None
    identity = max(lost, key=lambda identity: lost[identity])
    place = places[identity]
    has_majority = 2 * lost[identity] > sum(lost.values())
    return (lost[identity], *place) if place is not None and has_majority else None


def _place_of(track: Track, identity: int) -> tuple[int, TrackState] | None:
    """Return the action and the state of the track with this identity, if it is another track."""
    action: Any = next(iter(track.channels.values())).id_data
    # The session also remembers deleted tracks.
    tables = {action.session_uid: track.table}
    tables |= {uid: table for uid, table in remembered_tables().items() if uid != action.session_uid}
    for uid, table in tables.items():
        state = table.find_state(identity)
        if state is not None and (uid, state.slot, state.path) != (action.session_uid, track.slot, track.path):
            return uid, state
    return None


def _has_fcurves(action_uid: int, state: TrackState) -> bool:
    """Return whether the track still has an F-curve at its own slot and path."""
    action = next((action for action in bpy.data.actions if action.session_uid == action_uid), None)
    if action is None:
        return False
    return any(
        fcurve.data_path == state.path
        for channels in channels_in(action)
        if channels.slot_handle == state.slot
        for fcurve in channels
    )
