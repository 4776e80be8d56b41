# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether baked tracks still have the keys, parameters and settings that they were baked from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

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

_PLACE = 8
"""Bytes of a key's frame and value."""


def is_up_to_date(track: Track) -> bool:
    """Return whether a baked track still has the keys, parameters and settings that it was baked from."""
    return are_up_to_date([track])[0]


def are_up_to_date(tracks: Sequence[Track], places: Sequence[bytes] | None = None) -> list[bool]:
    """Return the result of `is_up_to_date` for several tracks, which is faster than one after the other.

    `places`: frames and values of all keys of each track, where they were just read.
    """
    read_now = places or [b"".join([read_coordinates(curve).data for curve in t.channels.values()]) for t in tracks]
    standing = list(compress(tracks, _which_stand(tracks, read_now)))
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


def _which_stand(tracks: Sequence[Track], places: Sequence[bytes]) -> list[bool]:
    """Return which baked tracks have all keys, read as these frames and values, and extrapolation as written.

    All tracks are compared at once.
    """
    written = [track.all_written for track in tracks]
    sizes = [_PLACE * sum(len(channel.own) + len(channel.generated) for channel in channels) for channels in written]
    as_many = [0 < size == len(raw) for size, raw in zip(sizes, places, strict=True)]
    if not any(as_many):
        return as_many
    now = np.frombuffer(b"".join(compress(places, as_many)), np.float32).reshape(-1, 2)
    every = np.concatenate([_places(channel) for channels in compress(written, as_many) for channel in channels])
    differs = (now != every).any(axis=1)
    ends = np.cumsum([size // _PLACE for size in compress(sizes, as_many)])
    counts = np.add.reduceat(differs, np.concatenate(([0], ends[:-1])), dtype=np.intp)
    same = iter((counts == 0).tolist())
    return [
        many and next(same) and _extrapolates_as_written(track) for track, many in zip(tracks, as_many, strict=True)
    ]


def _extrapolates_as_written(track: Track) -> bool:
    every = zip(track.channels, track.all_written, strict=True)
    return all(track.extrapolation(index) == channel.extrapolation for index, channel in every)


def _stands(places: Float32Array, written: Channel) -> bool:
    """Return whether all keys of a channel have the frames and values with which they were written."""
    at, every = places.reshape(-1, 2), _places(written)
    return len(at) == len(every) and bool((at == every).all())


def _places(written: Channel) -> Float32Array:
    """Return frames and values of all keys of a channel as they were written, shape (n, 2)."""
    own: Float32Array = written.own["co"]
    if not len(written.generated):
        return own
    every = np.concatenate((own, written.generated.view(np.float32).reshape(-1, 2)))
    return every[np.argsort(every[:, 0], kind="stable")]
