# SPDX-License-Identifier: GPL-3.0-or-later
"""Insert keys on the motion, and change their frames, values and handle types.

Keys keep their identities and therefore their parameters. Baked tracks are rebaked. Tracks played by handles are
updated later, as after an edit in an animation editor.
"""

from __future__ import annotations

import bpy
import numpy as np

from ..fcurves.keyframes import (
    HANDLE,
    LAST_FRAME,
    ONE_KEY,
    Float32Array,
    Keyframes,
    is_among,
    made_like,
    matching_rows,
    merged,
)
from ..fcurves.read_and_write import write
from ..store.frame_functions import function_of
from ..store.parameters import Numbers
from ..store.read_own_keys import key_frames, read_own_keys
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT
from ..store.tracks import Track
from .own_curves import bake_again, moved, own_points, with_values, write_and_bake_again
from .track_keys import TrackKeys, check_writable, find_track, writable


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
