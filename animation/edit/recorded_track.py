# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of tracks before an edit such as a drag, which is restored when the edit is canceled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import bpy

from ..fcurves.channels import Channels, assign, channels_of, evaluate_anew
from ..fcurves.keyframes import Keyframes, extrapolate, read_joined, write
from ..records import record
from ..store.table.custom_property import TrackState, update
from ..store.tracks import Track
from .restore import remove_entries
from .track_settings import find_track


@record(eq=False)
class RecordedTrack:
    """The keys and the table entry of a track, which can be restored bit for bit."""

    datablock: bpy.types.ID
    channels: Channels
    path: str
    keys: Mapping[int, tuple[Keyframes, Any]]
    """The keys and the extrapolation of each channel."""
    state: TrackState | None

    def put_back(self) -> None:
        """Restore the track, even if it was baked again. Remove channels that were added.

        If the edit has copied a linked action, assign the linked action again.
        """
        channels = channels_of(self.datablock)
        action: Any = channels.action
        if channels.identity != self.channels.identity:
            assign(self.datablock, self.channels.action, self.channels.slot_handle)
            if not action.users:
                bpy.data.actions.remove(action)
            return
        if action.library is not None:
            # A track that was restored before has assigned the linked action.
            return
        track = find_track(self.datablock, self.path)
        for index, fcurve in list(track.channels.items()):
            if index not in self.keys:
                channels.remove(fcurve)
                continue
            keys, extrapolation = self.keys[index]
            extrapolate(fcurve, extrapolation)
            write(fcurve, keys)
        if track.state is not None and self.state is not None:
            update(action, states=[self.state])
        elif track.state is not None:
            remove_entries(action, [track.state.identity])
        evaluate_anew(action)


def record_tracks(places: Iterable[tuple[bpy.types.ID, Track]]) -> list[RecordedTrack]:
    """Record tracks of datablocks."""
    pairs = list(places)
    # Reading all keys together is faster than reading each F-curve.
    keys = iter(read_joined([fcurve for _, track in pairs for fcurve in track.channels.values()]).channels)
    return [
        RecordedTrack(
            datablock,
            channels_of(datablock),
            track.path,
            {index: (next(keys), fcurve.extrapolation) for index, fcurve in track.channels.items()},
            track.state,
        )
        for datablock, track in pairs
    ]


def put_back(recorded: Sequence[RecordedTrack]) -> None:
    """Restore several tracks. A track that was recorded twice gets its first state."""
    for each in reversed(recorded):
        each.put_back()
