# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore the saved keys of baked tracks, for Free Bake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import bpy

from ..fcurves.channels import Channels
from ..fcurves.cycles_modifier import repeat
from ..fcurves.read_and_write import extrapolate, write_joined
from ..store.read_own_keys import joined_saved
from ..store.table.track_records import BakedChannel, TrackState
from ..store.tracks import Track
from .locks import baked_curves, unlock
from .recreated_channels import place_automatic, recreate_channels, remove_made


def free_tracks(channels: Channels, tracks: Sequence[Track]) -> None:
    """Restore the saved keys of baked tracks, unlock the channels, and return the tracks to their previous state.

    The table is not written.
    """
    restored: list[tuple[bpy.types.FCurve, BakedChannel]] = []
    for track in tracks:
        bake = track.bake
        assert bake is not None
        recreate_channels(channels, track)
        unlock(baked_curves(track))
        for index, channel in bake.channels.items():
            if channel.rest is not None:
                if index in track.channels:
                    remove_made(channels, track, index)
                continue
            fcurve = track.channels[index]
            extrapolate(fcurve, channel.extrapolation)
            repeat(fcurve, channel.repeats)
            restored.append((fcurve, channel))
    if restored:
        write_joined([fcurve for fcurve, _ in restored], joined_saved([channel.keys for _, channel in restored]))
    for fcurve, channel in restored:
        if channel.edited:
            place_automatic(fcurve, channel.keys["co"][:, 0])
    for track in tracks:
        track.state = _freed(track)


def _freed(track: Track) -> TrackState:
    """Return a baked track's table entry with the track's state before the bake."""
    state, bake = track.state, track.bake
    assert state is not None
    assert bake is not None
    settings = replace(state.settings, digest=bake.digest, options=bake.options)
    return replace(state, slot=track.slot, path=track.path, settings=settings, bake=None)
