# SPDX-License-Identifier: GPL-3.0-or-later
"""Write new keys to a copy of an action, and enable TCB on them."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..fcurves.channels import Channels
from ..fcurves.keyframes import HANDLE, Float64Array
from ..fcurves.keying import key_curve
from ..fcurves.read_keys import read
from ..fcurves.write_keys import write as write_keys
from ..store.enable_tracks import enable_read
from ..store.find_tracks import find_tracks
from ..store.own_keys import OwnKeys, read_all_own_keys
from ..store.record_rows import Numbers
from ..store.table.rows import CHOSEN_INTERPOLATION
from .beside_range import chosen_beside, join_keys, sides
from .extrapolation import extrapolate, key_straight
from .new_keys import LINEAR, NewKeys
from .sampled_track import outer_slopes


def write(copy: Channels, new_keys: Sequence[NewKeys], frames: Float64Array) -> None:
    """Write keys into the F-curves of a copied action."""
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in copy}
    for keys in new_keys:
        track = keys.sampled.track
        slopes = outer_slopes(keys.sampled, keys.values[[0, -1]])
        # Handles play a rotation only if all of its channels have keys.
        has_all_channels = track.is_rotation and len(keys.rows) > 1
        for index in range(keys.values.shape[1]) if has_all_channels else track.channels:
            fcurve = fcurves.get((track.path, index)) or copy.new(track.path, index, track.group_name)
            before = read(fcurve)
            _key(fcurve, keys, index, frames, slopes[:, index])
            if any(keys.sampled.joined):
                write_keys(fcurve, join_keys(fcurve, read(fcurve), before, frames))


def _key(fcurve: bpy.types.FCurve, keys: NewKeys, index: int, frames: Float64Array, slopes: Float64Array) -> None:
    """Replace the keys of a channel."""
    if keys.is_straight:
        key_straight(fcurve, frames, keys.sampled.raw[:, index], keys.rows, keys.types, slopes)
        return
    key_frames, values = frames[keys.rows], keys.values[:, index]
    key_curve(fcurve, key_frames, values)
    fcurve.keyframe_points.foreach_set("interpolation", keys.types)
    if keys.handles is not None:
        _set_handles(fcurve, key_frames, values, keys.handles[..., index])
    extrapolate(fcurve, slopes)


def _set_handles(
    fcurve: bpy.types.FCurve, key_frames: Float64Array, values: Float64Array, value_offsets: Float64Array
) -> None:
    """Set free handles at thirds of the segments. `value_offsets` has the shape (2, n)."""
    points = fcurve.keyframe_points
    third = np.diff(key_frames) / 3.0
    frame_offsets = -np.append(third[:1], third), np.append(third, third[-1:])
    for side, frame_offset, value_offset in zip(("left", "right"), frame_offsets, value_offsets, strict=True):
        points.foreach_set(f"handle_{side}_type", np.full(len(key_frames), HANDLE["FREE"], dtype=np.uint8))
        handles = np.stack([key_frames + frame_offset, values + value_offset], axis=1)
        points.foreach_set(f"handle_{side}", handles.astype(np.float32).ravel())
    fcurve.update()


def enable(datablock: bpy.types.ID, copy: Channels, new_keys: Sequence[NewKeys], frames: Float64Array) -> None:
    """Enable TCB on the tracks that have settings.

    Blender plays straight lines, and all segments outside the frames.
    """
    with_settings = {keys.sampled.track.path: (keys, keys.settings) for keys in new_keys if keys.settings is not None}
    tracks = [track for track in find_tracks(datablock, copy) if track.path in with_settings]
    own_keys = [
        {index: _played_by_blender(channel_keys, frames) for index, channel_keys in channels.items()}
        for channels in read_all_own_keys(tracks)
    ]
    numbers = [
        {
            index: _padded(with_settings[track.path][0].numbers[index], channel_keys, frames)
            for index, channel_keys in channels.items()
        }
        for track, channels in zip(tracks, own_keys, strict=True)
    ]
    settings = [with_settings[track.path][1] for track in tracks]
    enable_read([(copy, track) for track in tracks], own_keys, settings, numbers)


def _played_by_blender(own_keys: OwnKeys, frames: Float64Array) -> OwnKeys:
    """Return the keys with all straight lines and all segments outside the frames chosen to be played by Blender."""
    lines = np.where(own_keys.keys.interpolation == LINEAR, np.uint8(CHOSEN_INTERPOLATION), np.uint8(0))
    return own_keys.with_(chosen=chosen_beside(own_keys, frames) | lines)


def _padded(numbers: Numbers, own_keys: OwnKeys, frames: Float64Array) -> Numbers:
    """Extend the parameters of keys at the frames to all keys of a channel, with NaN for keys outside the frames."""
    before, after = (np.count_nonzero(side) for side in sides(own_keys.frames, frames))
    return {name: np.pad(column, (before, after), constant_values=np.nan) for name, column in numbers.items()}
