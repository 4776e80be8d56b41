# SPDX-License-Identifier: GPL-3.0-or-later
"""Write new keys to a copy of an action, and enable TCB on them."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..fcurves.channels import Channels
from ..fcurves.keyframes import HANDLE, Float64Array, read
from ..fcurves.keyframes import write as write_keys
from ..fcurves.keying import key_curve
from ..store.enable_tracks import enable_read
from ..store.own_keys import OwnKeys, read_all_own_keys
from ..store.record_rows import Numbers
from ..store.table.rows import CHOSEN_INTERPOLATION
from ..store.table.settings import Settings
from ..store.tracks import find_tracks
from .beside_range import chosen_beside, joined, sides
from .extrapolation import extrapolate, key_straight
from .new_keys import LINEAR, NewKeys
from .sampled_track import slopes_of_keys


def write(copy: Channels, new: Sequence[NewKeys], frames: Float64Array) -> None:
    """Write keys into the F-curves of a copied action."""
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in copy}
    for keys in new:
        track = keys.sampled.track
        slopes = slopes_of_keys(keys.sampled, keys.values[[0, -1]])
        is_whole = track.is_rotation and len(keys.rows) > 1
        for index in range(keys.values.shape[1]) if is_whole else track.channels:
            fcurve = fcurves.get((track.path, index)) or copy.new(track.path, index, track.group_name)
            before = read(fcurve)
            _key(fcurve, keys, index, frames, slopes[:, index])
            if any(keys.sampled.joined):
                write_keys(fcurve, joined(fcurve, read(fcurve), before, frames))


def _key(fcurve: bpy.types.FCurve, keys: NewKeys, index: int, frames: Float64Array, slopes: Float64Array) -> None:
    """Replace the keys of a channel."""
    if keys.is_straight:
        key_straight(fcurve, frames, keys.sampled.raw[:, index], keys.rows, keys.types, slopes)
        return
    at, values = frames[keys.rows], keys.values[:, index]
    key_curve(fcurve, at, values)
    points = fcurve.keyframe_points
    points.foreach_set("interpolation", keys.types)
    if keys.handles is not None:
        length = np.diff(at) / 3.0
        away = -np.append(length[:1], length), np.append(length, length[-1:])
        for side, frame, value in zip(("left", "right"), away, keys.handles[..., index], strict=True):
            points.foreach_set(f"handle_{side}_type", np.full(len(at), HANDLE["FREE"], dtype=np.uint8))
            handles = np.stack([at + frame, values + value], axis=1)
            points.foreach_set(f"handle_{side}", handles.astype(np.float32).ravel())
        fcurve.update()
    extrapolate(fcurve, slopes)


def enable(datablock: bpy.types.ID, copy: Channels, new: Sequence[NewKeys], frames: Float64Array) -> None:
    """Enable TCB on the tracks that have settings.

    Blender plays straight lines, and all segments outside the frames.
    """
    by_path = {keys.sampled.track.path: keys for keys in new if keys.settings is not None}
    tracks = [track for track in find_tracks(datablock, copy) if track.path in by_path]
    chosen = [by_path[track.path] for track in tracks]
    own_keys = [
        {index: _played_by_blender(own, frames) for index, own in channels.items()}
        for channels in read_all_own_keys(tracks)
    ]
    numbers = [
        {index: _padded(keys.numbers[index], own, frames) for index, own in channels.items()}
        for keys, channels in zip(chosen, own_keys, strict=True)
    ]
    settings = [keys.settings or Settings() for keys in chosen]
    enable_read([(copy, track) for track in tracks], own_keys, settings, numbers)


def _played_by_blender(own: OwnKeys, frames: Float64Array) -> OwnKeys:
    """Return the keys with all straight lines and all segments outside the frames chosen to be played by Blender."""
    lines = np.where(own.keys.interpolation == LINEAR, np.uint8(CHOSEN_INTERPOLATION), np.uint8(0))
    return own.with_(chosen=chosen_beside(own, frames) | lines)


def _padded(numbers: Numbers, own: OwnKeys, frames: Float64Array) -> Numbers:
    """Extend the parameters of keys at the frames to all keys of a channel, with NaN for keys outside the frames."""
    before, after = (np.count_nonzero(side) for side in sides(own.frames, frames))
    return {name: np.pad(column, (before, after), constant_values=np.nan) for name, column in numbers.items()}
