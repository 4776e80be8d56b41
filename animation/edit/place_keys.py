# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that move keys in time and set their values.

Keys keep their identities and therefore their parameters. Baked tracks are rebaked. Tracks played by handles are
updated later, as after an edit in an animation editor.
"""

from __future__ import annotations

import numpy as np

from ..fcurves.frames import LAST_FRAME, ONE_KEY, SAME_FRAME, is_among
from ..fcurves.keyframes import BoolArray, Float32Array, IndexArray, Keyframes
from ..store.own_keys import OwnKeys
from ..store.parameters import Numbers
from .change_own_curves import moved, own_points, with_values, write_own_curves
from .track_keys import TrackKeys
from .track_settings import writable


def values_of(keys: TrackKeys) -> dict[int, Numbers]:
    """Return the animator's values in each channel, one per key, with NaN where the channel has no key."""
    result = {}
    for index, own in keys.own.items():
        numbers = np.full(len(keys), np.nan)
        rows, has_key = _rows(own, keys.frames)
        numbers[has_key] = own.keys.values[rows[has_key]]
        result[index] = numbers
    return result


def check_can_move(keys: TrackKeys, frames: Numbers | Float32Array) -> Float32Array:
    """Return the frames in float32, one per key. Raise AnimationError if the keys can't be moved to these frames.

    Keys can't be moved on a track that can't be edited, to a frame outside Blender's range, or to the frame of another
    key.
    """
    _, track = writable(keys.datablock, keys.track)
    targets = np.asarray(frames, dtype=np.float32)
    outside = ~(np.abs(targets) <= LAST_FRAME)
    if outside.any():
        raise track.error("NO_SUCH_FRAME", frame=float(targets[outside][0]))
    all_frames = np.concatenate([own.keys.frames for own in keys.own.values()])
    other_frames = all_frames[~is_among(all_frames, keys.frames)]
    occupied = np.concatenate((other_frames, targets))
    for number, target in enumerate(targets.tolist()):
        distances = np.abs(occupied - np.float32(target))
        distances[len(other_frames) + number] = np.inf  # the key itself
        if distances.min(initial=np.inf) < ONE_KEY:
            raise track.error("KEY_IN_THE_WAY", frame=target)
    return targets


def move_keys(keys: TrackKeys, frames: Numbers | Float32Array) -> None:
    """Move keys to other frames of their action, one frame per key, even past other keys. Handles move with their keys.

    Raises AnimationError, without changing anything, in the same cases as `check_can_move`.
    """
    targets = check_can_move(keys, frames)
    channels, track = writable(keys.datablock, keys.track)
    moved_keys: dict[int, Keyframes] = {}
    for index, (own, points) in own_points(track).items():
        rows, has_key = _rows(own, keys.frames)
        moved_keys[index] = moved(points, rows[has_key], frames=targets[has_key])
    write_own_curves(channels, track, moved_keys)


def set_value(keys: TrackKeys, component: int, values: Numbers | float) -> None:
    """Set one component of the keys' values, with one value for all keys or one per key. Handles move with their keys.

    Keys without this component are unchanged. Raises AnimationError, without changing anything, if the track can't be
    changed.
    """
    channels, track = writable(keys.datablock, keys.track)
    new_values = np.broadcast_to(np.asarray(values, dtype=np.float64), len(keys))
    channel = own_points(track).get(component)
    if channel is not None:
        rows, has_key = _rows(channel[0], keys.frames)
        new_keys = with_values(track, *channel, rows[has_key], new_values[has_key])
        write_own_curves(channels, track, {component: new_keys})


def _rows(own: OwnKeys, frames: Float32Array) -> tuple[IndexArray, BoolArray]:
    """Return the rows of the animator's keys at these frames, and a mask of the frames that have a key."""
    rows = np.searchsorted(own.keys.frames, frames - np.float32(SAME_FRAME))
    return rows, is_among(frames, own.keys.frames)
