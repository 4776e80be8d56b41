# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters recorded before a change of keys, such as a drag, and restored when it is canceled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...fcurves.channels import Channels, channels_of
from ...fcurves.frames import SAME_FRAME, is_among
from ...fcurves.keyframes import BoolArray
from ...records import record
from ...store.own_keys import OwnKeys, read_own_keys
from ...store.parameters import Numbers
from ...store.record_rows import remove_traces
from ...store.table.custom_property import read_table, remove_table, update
from ...store.table.rows import NO_ROWS, NUMBERS
from ...store.tracks import Track
from .. import restore
from ..change_own_curves import bake_again
from ..track_keys import TrackKeys, found_again
from .write_parameters import NAMES, Change, write_numbers, write_rows


@record()
class RecordedParameters:
    """Recorded parameters of a track's keys, which can be restored bit for bit."""

    keys: TrackKeys
    enabled: bool

    @classmethod
    def of(cls, keys: TrackKeys) -> RecordedParameters:
        """Record all parameters."""
        return cls(keys, keys.track.enabled)

    def put_back(self, channels: Channels, track: Track) -> None:
        """Restore the parameters of the keys on the current track. Make it plain again if it was not TCB."""
        if track.state is None:
            return
        recorded = self.keys.track.state
        if track.bake is not None and recorded is not None and recorded.bake is not None:
            # Restore the saved keys and their records. The curves still have the state of the last step.
            channels_now = track.bake.channels
            saved = {
                index: replace(channel, written=channels_now[index].written) if index in channels_now else channel
                for index, channel in recorded.bake.channels.items()
            }
            track.state = replace(recorded, bake=replace(recorded.bake, channels=saved))
            track.table = update(channels.action, states=[track.state])
            bake_again(channels, [track])
            return
        write_numbers([Change(channels, track, self.keys.frames, self._numbers)])
        own = read_own_keys(track)
        self._put_identities(channels, track, own)
        if not self.enabled and not any((~np.isnan(each.numbers)).any() for each in own.values()):
            # Live may have baked the track in the meantime.
            restore.restore_if_played(channels, track)
            for index, each in read_own_keys(track).items():
                remove_traces(track.channels[index], each)
            update(channels.action, removed=[track.state.identity])
            if not read_table(channels.action).rows_of_tracks:
                remove_table(channels.action)

    def _numbers(self, index: int, own: OwnKeys, there: BoolArray) -> dict[str, Numbers]:
        """Return the recorded values."""
        if index not in self.keys.own:
            return {}
        before = self._before(index, own, there)
        return {NAMES[column]: before.numbers[:, column].astype(np.float64) for column in range(NUMBERS)}

    def _before(self, index: int, own: OwnKeys, there: BoolArray) -> OwnKeys:
        """Return the recorded keys in the order of the current keys."""
        recorded = self.keys.own[index]
        row = np.searchsorted(recorded.keys.frames, own.keys.frames[there] - np.float32(SAME_FRAME))
        return recorded.take(np.minimum(row, len(recorded.keys) - 1))

    def _put_identities(self, channels: Channels, track: Track, own: Mapping[int, OwnKeys]) -> None:
        """Restore the identities of keys whose recorded values were restored."""
        found = {}
        for index, now in own.items():
            there = is_among(now.keys.frames, self.keys.frames)
            if index not in self.keys.own:
                continue
            before = self._before(index, now, there)
            same = (before.numbers.view(np.uint32) == now.numbers[there].view(np.uint32)).all(axis=1)
            same &= before.identities != 0
            identities = now.identities.copy()
            identities[np.flatnonzero(there)[same]] = before.identities[same]
            found[index] = (now, now.with_(identities=identities))
        write_rows(channels, [(track, found)], NO_ROWS)


def put_back(recorded: Sequence[RecordedParameters]) -> None:
    """Restore recorded parameters."""
    for each, keys in zip(recorded, found_again([each.keys for each in recorded]), strict=True):
        each.put_back(channels_of(keys.datablock), keys.track)
