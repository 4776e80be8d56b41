# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether baked tracks still have the keys, parameters and settings that they were baked from."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..fcurves.channels import channels_in
from ..fcurves.keyframes import (
    Float32Array,
    read_coordinates,
)
from .digest import digest
from .frame_functions import functions_of
from .own_keys import read_all_own_keys
from .record_rows import Part, recorded
from .table.custom_property import Channel, State, read_table
from .tracks import Track


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
        if index not in channels or track.extrapolation(index) != channels[index].extrapolation:
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
