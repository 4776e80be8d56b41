# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's curves on tracks: the F-curves or, for a baked track, the saved keys in the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..fcurves.keyframes import FLAGS, NAMES, Joined, Keyframes
from ..fcurves.read_and_write import read_joined
from .table.rows import joined
from .table.track_records import SAVED, BakedChannel, SavedKeys, TrackState
from .tracks import Track

_SAVED = tuple(name for name in NAMES if name not in FLAGS)


def saved_keys(keys: Keyframes) -> SavedKeys:
    """Convert keys to records for the table."""
    saved = np.zeros(len(keys), dtype=SAVED)
    for name in _SAVED:
        saved[name] = getattr(keys, name)
    for bit, name in enumerate(FLAGS):
        saved["flags"] |= getattr(keys, name).astype(np.uint8) << np.uint8(bit)
    return saved


def joined_saved(channels: Sequence[SavedKeys]) -> Joined:
    """Convert records of several channels from the table to keys."""
    saved = joined(channels, SAVED)
    arrays: dict[str, npt.NDArray[Any]] = {name: saved[name].copy() for name in _SAVED}
    for bit, name in enumerate(FLAGS):
        arrays[name] = (saved["flags"] >> np.uint8(bit) & 1).astype(np.bool_)
    return Joined(Keyframes(**arrays), list(map(len, channels)))


def own_channels(track: Track) -> list[int]:
    """Return the components that have an F-curve made by the animator, excluding F-curves created by a bake."""
    bake = track.bake
    if bake is None:
        return list(track.channels)
    baked = [index for index, channel in bake.channels.items() if channel.rest is None]
    added_since = [index for index in track.channels if index not in bake.channels]
    return [*baked, *added_since]


def read_own_curves(curves: Sequence[tuple[Track, int]]) -> Joined:
    """Read all keys on the animator's curves, which are given by track and component, and concatenate the keys."""
    baked = [track.bake.channels.get(index) if track.bake is not None else None for track, index in curves]
    saved = [channel.keys for channel in baked if channel is not None]
    fcurves = [track.channels[index] for (track, index), channel in zip(curves, baked, strict=True) if channel is None]
    if not saved:
        return read_joined(fcurves)
    from_table = joined_saved(saved)
    if not fcurves:
        return from_table
    saved_channels, channels = iter(from_table.channels), iter(read_joined(fcurves).channels)
    return Joined.of([next(channels if channel is None else saved_channels) for channel in baked])


def with_saved(state: TrackState, keys: Mapping[int, Keyframes]) -> TrackState:
    """Return the state of a baked track, with the animator's keys replaced in these components.

    The records of handles are removed, because they belong to other keys.
    """
    bake = state.bake
    assert bake is not None
    channels: dict[int, BakedChannel] = dict(bake.channels)
    for index, own_keys in keys.items():
        channel = channels.get(index)
        if channel is not None:
            saved = saved_keys(own_keys)
            is_moved = channel.keys["co"].tobytes() != saved["co"].tobytes()
            channels[index] = replace(channel, keys=saved, edited=channel.edited or is_moved)
    return replace(state, channels={}, bake=replace(bake, channels=channels))
