# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of tracks as they were before an edit, to restore the tracks if the edit is canceled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import bpy

from ..fcurves.channels import Channels, assign, channels_of, ensured_channels, evaluate_anew
from ..fcurves.keyframes import Keyframes
from ..fcurves.read_keys import read_joined
from ..fcurves.write_keys import extrapolate, write
from ..records import record
from ..store.table.custom_property import read_table, update
from ..store.table.track_records import TrackState
from ..store.tracks import Track
from .work_on_tracks import remove_entries


@record(eq=False)
class RecordedTrack:
    """The keys and the table entry of a track, which can be restored bit for bit."""

    datablock: bpy.types.ID
    channels: Channels
    """The F-curves to which the track belongs."""
    path: str
    group: str
    """Name of the channel group, in which deleted channels are recreated."""
    recorded_channels: Mapping[int, tuple[Keyframes, Literal["CONSTANT", "LINEAR"]]]
    """The keys and the extrapolation of each F-curve."""
    state: TrackState | None
    """The table entry. None for a plain track."""

    def revert(self) -> None:
        """Restore the track, even if it was baked again. Remove channels that were added.

        Deleted channels and table entries are recreated. Recreated channels are not selected and have no modifiers. If
        the edit has copied a linked action, assign the linked action again.
        """
        channels = ensured_channels(self.datablock)
        action: Any = channels.action
        if channels.identity != self.channels.identity:
            assign(self.datablock, self.channels.action, self.channels.slot_handle)
            if not action.users:
                bpy.data.actions.remove(action)
            return
        if action.library is not None:
            # Another track, restored before this one, may have assigned the linked action already.
            return
        fcurves = {fcurve.array_index: fcurve for fcurve in channels if fcurve.data_path == self.path}
        for index in fcurves.keys() - self.recorded_channels.keys():
            channels.remove(fcurves[index])
        for index, (keys, extrapolation) in self.recorded_channels.items():
            fcurve = fcurves.get(index) or channels.new(self.path, index, self.group)
            extrapolate(fcurve, extrapolation)
            write(fcurve, keys)
        identity = read_table(action).identity_of.get((channels.slot_handle, self.path))
        if self.state is not None:
            update(action, states=[self.state], removed=[] if identity is None else [identity])
        elif identity is not None:
            remove_entries(action, [identity])
        evaluate_anew(action)


def record_tracks(places: Iterable[tuple[bpy.types.ID, Track]]) -> list[RecordedTrack]:
    """Record the current keys and table entries of tracks, each given with its datablock."""
    pairs = list(places)
    # Reading all keys together is faster than reading one F-curve at a time.
    keys = iter(read_joined([fcurve for _, track in pairs for fcurve in track.channels.values()]).channels)
    recorded = []
    for datablock, track in pairs:
        recorded_channels = {index: (next(keys), fcurve.extrapolation) for index, fcurve in track.channels.items()}
        recorded.append(
            RecordedTrack(
                datablock, channels_of(datablock), track.path, track.group_name, recorded_channels, track.state
            )
        )
    return recorded


def revert_tracks(recorded: Sequence[RecordedTrack]) -> None:
    """Restore several tracks. A track that was recorded twice returns to the state recorded first."""
    for track in reversed(recorded):
        track.revert()
