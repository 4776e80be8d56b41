# SPDX-License-Identifier: GPL-3.0-or-later
"""Change the animator's keys, on F-curves or saved in the table, and restore tracks if an edit is canceled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import bpy
import numpy as np
import numpy.typing as npt

from ..bake.pipeline import rebake
from ..fcurves.channels import Channels, assign, channels_of, ensured_channels, evaluate_anew, users_of_channels
from ..fcurves.keyframes import PAIRS, SIDES, BoolArray, IndexArray, Keyframes
from ..fcurves.read_and_write import extrapolate, read, read_joined, write
from ..records import record
from ..report import AnimationError
from ..store.own_keys import OwnKeys
from ..store.parameters import Numbers
from ..store.read_own_keys import read_own_keys, with_saved
from ..store.restored_keys import values_shown
from ..store.table.custom_property import read_table, update
from ..store.table.track_records import NEGATED, Options, TrackState
from ..store.tracks import Track
from .work_on_tracks import remove_entries


def own_points(track: Track) -> dict[int, tuple[OwnKeys, Keyframes]]:
    """Return the animator's keys for each channel, and the keys on the animator's curve, in the same rows."""
    return {
        index: (own, own.keys if track.is_baked else read(track.channels[index]))
        for index, own in read_own_keys(track).items()
    }


def moved(
    keys: Keyframes,
    rows: BoolArray | IndexArray,
    frames: npt.ArrayLike | None = None,
    values: npt.ArrayLike | None = None,
) -> Keyframes:
    """Return the keys, ordered by frame, with new frames or values in the given rows. Handles move with their keys."""
    coordinates = {name: getattr(keys, name).copy() for name in PAIRS}
    for column, targets in enumerate((frames, values)):
        if targets is None:
            continue
        shifts = np.asarray(targets, dtype=np.float32) - keys.co[rows, column]
        for side in SIDES:
            coordinates[side][rows, column] += shifts
        coordinates["co"][rows, column] = targets
    changed = keys.with_(**coordinates)
    return changed if frames is None else changed.take(np.argsort(changed.frames, kind="stable"))


def with_values(track: Track, own: OwnKeys, points: Keyframes, rows: IndexArray, values: Numbers) -> Keyframes:
    """Return a channel's keys from `own_points`, with new values for the animator's keys in the given rows."""
    current = points.values[rows]
    negated = np.zeros(len(rows), dtype=np.bool_) if track.is_baked else (own.placed[rows] & NEGATED) != 0
    new_values = values_shown(values.astype(np.float32), own.keys.values[rows], current, negated)
    return moved(points, rows, values=new_values)


def write_and_bake_again(channels: Channels, track: Track, keys: Mapping[int, Keyframes]) -> None:
    """Replace the animator's keys in these channels. If the track is baked, bake it again."""
    before = track.state
    write_own_keys(channels, track, keys)
    if track.is_baked:
        assert before is not None
        bake_again(channels, [track], [before])


def write_own_keys(channels: Channels, track: Track, keys: Mapping[int, Keyframes]) -> None:
    """Replace the animator's keys in these channels. A baked track must then be baked again."""
    if track.is_baked:
        track.state = with_own_keys(track, keys)
        track.table = update(channels.action, states=[track.state])
        return
    for index, own in keys.items():
        write(track.channels[index], own)
        # Update the automatic handles of these keys and of the adjacent keys.
        track.channels[index].update()
    evaluate_anew(channels.action)


def with_own_keys(track: Track, keys: Mapping[int, Keyframes]) -> TrackState:
    """Return the table entry of a baked track, with the saved keys replaced in these channels."""
    assert track.state is not None
    return with_saved(track.state, {index: own.keys for index, own in read_own_keys(track).items()} | dict(keys))


def bake_again(channels: Channels, tracks: Sequence[Track], before: Sequence[TrackState] = ()) -> None:
    """Bake tracks again. If a bake fails, restore the table entries in `before` and raise AnimationError."""
    (users,) = users_of_channels([channels])
    report = rebake(users, channels, tracks, Options())
    if report.errors:
        update(channels.action, states=before)
        raise AnimationError(*report.errors)


# Canceling edits


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
            # The linked action is assigned already, by another track that was restored before this one.
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
