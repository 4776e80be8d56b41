# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters recorded before a change to keys, such as a drag, and restored when the change is canceled."""

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
from ...store.table import identity
from ...store.table.custom_property import Bake, TrackState, read_table, remove_table, update
from ...store.table.rows import NO_ROWS, NUMBERS
from ...store.tracks import Track
from .. import restore
from ..change_own_curves import bake_again
from ..track_keys import TrackKeys, found_again
from .write_parameters import NAMES, Change, KeysBeforeAfter, write_numbers, write_rows


@record()
class RecordedParameters:
    """Recorded parameters of a track's keys, which can be restored bit for bit."""

    keys: TrackKeys
    enabled: bool
    """True if the track was TCB."""

    @classmethod
    def of(cls, keys: TrackKeys) -> RecordedParameters:
        """Record all parameters."""
        return cls(keys, keys.track.enabled)

    def put_back(self, channels: Channels, track: Track) -> None:
        """Restore the parameters of the keys on the current track. Make the track plain again if it was not TCB."""
        if track.state is None:
            return
        recorded = self.keys.track.state
        if track.bake is not None and recorded is not None and recorded.bake is not None:
            _restore_saved_keys(channels, track, replace(recorded, bake=_as_written_now(recorded.bake, track.bake)))
            return
        write_numbers([Change(channels, track, self.keys.frames, self._recorded_numbers)])
        own_keys = read_own_keys(track)
        self._restore_identities(channels, track, own_keys)
        if not self.enabled and all(np.isnan(own.numbers).all() for own in own_keys.values()):
            _make_plain(channels, track)

    def _recorded_numbers(self, index: int, own: OwnKeys, is_chosen: BoolArray) -> dict[str, Numbers]:
        """Return the recorded numbers of a channel's chosen keys."""
        if index not in self.keys.own:
            return {}
        recorded = self._recorded_keys(index, own, is_chosen)
        return {NAMES[column]: recorded.numbers[:, column].astype(np.float64) for column in range(NUMBERS)}

    def _recorded_keys(self, index: int, own: OwnKeys, is_chosen: BoolArray) -> OwnKeys:
        """Return the recorded keys of a channel in the order of its chosen keys."""
        recorded = self.keys.own[index]
        rows = np.searchsorted(recorded.keys.frames, own.keys.frames[is_chosen] - np.float32(SAME_FRAME))
        return recorded.take(np.minimum(rows, len(recorded.keys) - 1))

    def _restore_identities(self, channels: Channels, track: Track, own_keys: Mapping[int, OwnKeys]) -> None:
        """Restore the identities of keys whose recorded numbers were restored."""
        keys_to_write: dict[int, KeysBeforeAfter] = {}
        for index, own in own_keys.items():
            if index not in self.keys.own:
                continue
            is_chosen = is_among(own.keys.frames, self.keys.frames)
            recorded = self._recorded_keys(index, own, is_chosen)
            # Bit by bit, because NaN is a number that was not given.
            is_same = (recorded.numbers.view(np.uint32) == own.numbers[is_chosen].view(np.uint32)).all(axis=1)
            is_same &= recorded.identities != identity.NONE
            identities = own.identities.copy()
            identities[np.flatnonzero(is_chosen)[is_same]] = recorded.identities[is_same]
            keys_to_write[index] = (own, own.with_(identities=identities))
        write_rows(channels, [(track, keys_to_write)], NO_ROWS)


def _as_written_now(recorded: Bake, current: Bake) -> Bake:
    """Return a recorded bake with the current contents of the curves, which still have the state of the last step."""
    channels = {
        index: replace(channel, written=current.channels[index].written) if index in current.channels else channel
        for index, channel in recorded.channels.items()
    }
    return replace(recorded, channels=channels)


def _restore_saved_keys(channels: Channels, track: Track, state: TrackState) -> None:
    """Restore the table entry of a baked track, which has its saved keys and their records, and bake it again."""
    track.state = state
    track.table = update(channels.action, states=[state])
    bake_again(channels, [track])


def _make_plain(channels: Channels, track: Track) -> None:
    """Remove all traces of TCB from a track."""
    assert track.state is not None
    # Live may have baked the track in the meantime.
    restore.restore_if_played(channels, track)
    for index, own in read_own_keys(track).items():
        remove_traces(track.channels[index], own)
    update(channels.action, removed=[track.state.identity])
    if not read_table(channels.action).rows_of_tracks:
        remove_table(channels.action)


def put_back(recorded: Sequence[RecordedParameters]) -> None:
    """Restore recorded parameters."""
    current_keys = found_again([parameters.keys for parameters in recorded])
    for parameters, keys in zip(recorded, current_keys, strict=True):
        parameters.put_back(channels_of(keys.datablock), keys.track)
