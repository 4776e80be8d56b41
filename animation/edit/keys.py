# SPDX-License-Identifier: GPL-3.0-or-later
"""Insert keys on the motion, change the frames, values and handle types of keys, and cancel edits.

Keys keep their identities and therefore their parameters. Baked tracks are rebaked. Tracks played by handles are
updated later, as after an edit in an animation editor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import bpy
import numpy as np
import numpy.typing as npt

from ..bake.pipeline import rebake
from ..fcurves.channels import Channels, assign, channels_of, ensured_channels, evaluate_anew, users_of_channels
from ..fcurves.keyframes import (
    HANDLE,
    LAST_FRAME,
    ONE_KEY,
    PAIRS,
    SIDES,
    BoolArray,
    Float32Array,
    IndexArray,
    Keyframes,
    is_among,
    made_like,
    matching_rows,
    merged,
)
from ..fcurves.read_and_write import extrapolate, read, read_joined, write
from ..records import record
from ..report import AnimationError
from ..store.frame_functions import function_of
from ..store.own_keys import OwnKeys
from ..store.parameters import Numbers
from ..store.read_own_keys import key_frames, read_own_keys, with_saved
from ..store.restored_keys import values_shown
from ..store.table.custom_property import read_table, update
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT
from ..store.table.track_records import NEGATED, Options, TrackState
from ..store.tracks import Track
from .track_keys import TrackKeys, check_writable, find_track, writable
from .work_on_tracks import remove_entries


def make_key(datablock: bpy.types.ID, track: Track, frame: float) -> None:
    """Key the track's current motion at `frame` in all channels. If the track is baked, bake it again.

    Raises AnimationError if there is already a key at the frame, or if the track can't be edited.
    """
    if is_among(np.array([frame], dtype=np.float32), key_frames(track), within=ONE_KEY).any():
        raise track.error("KEY_AT_FRAME", frame=frame)
    channels, track = writable(datablock, track)
    if track.is_baked:
        if function_of(track) is not None:
            raise track.error("PLAYED_AT_OTHER_TIMES", frame=frame)
        keys = {
            index: _with_key(own.keys, frame, track.channels[index].evaluate(frame))
            for index, own in read_own_keys(track).items()
        }
        write_and_bake_again(channels, track, keys)
        return
    for fcurve in track.channels.values():
        fcurve.keyframe_points.insert(frame, fcurve.evaluate(frame))
        fcurve.update()
    channels.action.update_tag()


def _with_key(keys: Keyframes, frame: float, value: float) -> Keyframes:
    """Insert a key with the attributes of the previous key, or of the next key if there is no previous key."""
    previous = max(0, int(np.searchsorted(keys.frames, frame)) - 1)
    place = np.array([[frame, value]], dtype=np.float32)
    one_frame = np.array([[1.0, 0.0]], dtype=np.float32)
    return merged(keys, made_like(keys.take(np.array([previous])), place, place - one_frame, place + one_frame))


def move_keys(keys: TrackKeys, frames: Numbers | Float32Array) -> None:
    """Move keys to other frames of their action, one frame per key, even past other keys. Handles move with their keys.

    Raises AnimationError, without changing anything, in the same cases as `check_can_move`.
    """
    check_can_move(keys, frames)
    targets = np.asarray(frames, dtype=np.float32)
    channels, track = writable(keys.datablock, keys.track)
    moved_keys: dict[int, Keyframes] = {}
    for index, (own, points) in own_points(track).items():
        places, rows = matching_rows(keys.frames, own.keys.frames)
        moved_keys[index] = moved(points, rows, frames=targets[places])
    write_and_bake_again(channels, track, moved_keys)


def check_can_move(keys: TrackKeys, frames: Numbers | Float32Array) -> None:
    """Raise AnimationError if the keys can't be moved to these frames, one frame per key.

    Keys can't be moved on a track that can't be edited, to a frame outside Blender's range, or to the frame of another
    key.
    """
    track = keys.track
    check_writable(keys.datablock, track)
    targets = np.asarray(frames, dtype=np.float32)
    outside = ~(np.abs(targets) <= LAST_FRAME)
    if outside.any():
        raise track.error("FRAME_OUT_OF_RANGE", LAST_FRAME, frame=float(targets[outside][0]))
    all_frames = np.concatenate([own.keys.frames for own in keys.own.values()])
    other_frames = all_frames[~is_among(all_frames, keys.frames)]
    for number, target in enumerate(targets):
        occupied = np.concatenate((other_frames, np.delete(targets, number)))
        if (np.abs(occupied - target) < ONE_KEY).any():
            raise track.error("KEY_AT_FRAME", frame=float(target))


def values_of(keys: TrackKeys) -> dict[int, Numbers]:
    """Return the animator's values in each channel, one per key, with NaN where the channel has no key."""
    values = {}
    for index, own in keys.own.items():
        values[index] = np.full(len(keys), np.nan)
        places, rows = matching_rows(keys.frames, own.keys.frames)
        values[index][places] = own.keys.values[rows]
    return values


def set_value(keys: TrackKeys, component: int, values: Numbers | float) -> None:
    """Set one component of the keys' values, with one value for all keys or one per key. Handles move with their keys.

    Keys without this component are unchanged. Raises AnimationError, without changing anything, if the track can't be
    changed.
    """
    channels, track = writable(keys.datablock, keys.track)
    new_values = np.broadcast_to(np.asarray(values, dtype=np.float64), len(keys))
    channel = own_points(track).get(component)
    if channel is not None:
        own, points = channel
        places, rows = matching_rows(keys.frames, own.keys.frames)
        write_and_bake_again(channels, track, {component: with_values(track, own, points, rows, new_values[places])})


def free_handles(keys: TrackKeys) -> None:
    """If the animator has chosen the type of a handle, set the type to *Free*, so that TCB places the handle.

    A track that is not played by handles is unchanged. Raises AnimationError if the track can't be changed.
    """
    channels, track = writable(keys.datablock, keys.track)
    if not track.is_played_by_handles:
        return
    # Otherwise, a handle whose type is not recorded as chosen would seem to have been dragged.
    bake_again(channels, [track])
    track = find_track(keys.datablock, track.path)
    for index, (own, points) in own_points(track).items():
        is_wanted = is_among(own.keys.frames, keys.frames)
        types_by_side = {}
        for name, flag in (("handle_left_type", CHOSEN_LEFT), ("handle_right_type", CHOSEN_RIGHT)):
            types_by_side[name] = getattr(points, name).copy()
            types_by_side[name][own.rows[is_wanted & ((own.chosen & flag) != 0)]] = HANDLE["FREE"]
        write(track.channels[index], points.with_(**types_by_side))
    bake_again(channels, [find_track(keys.datablock, track.path)])


# Writing the animator's keys, which are on F-curves or, for a baked track, in the table


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
