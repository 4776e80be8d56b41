# SPDX-License-Identifier: GPL-3.0-or-later
"""Write new keys to a copy of an action, so that the original action stays unchanged."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..datablocks import name_of
from ..fcurves.channels import Channels, assign, channels_in, channels_of, users_of_channels
from ..fcurves.keyframes import HANDLE, EnumArray, Float64Array, IndexArray
from ..fcurves.read_and_write import key_curve, read
from ..fcurves.read_and_write import write as write_keys
from ..report import Finding
from ..store.find_tracks import find_tracks
from ..store.own_keys import OwnKeys
from ..store.read_own_keys import read_all_own_keys
from ..store.record_keys import NumbersByName, TrackToEnable, enable_with_keys
from ..store.table.rows import CHOSEN_INTERPOLATION
from ..store.table_upkeep import switch_off
from .keys_outside_range import chosen_beside, join_keys, sides
from .new_keys import BEZIER, CONSTANT, LINEAR, NewKeys
from .sampled_track import outer_slopes

_ROUNDING = 2.0**-22
"""Rounding error in the difference between float32 values at adjacent frames, relative to the largest value."""


class ActionCopy:
    """The copies of a datablock's action into which a reduction writes. At most one copy is assigned at a time.

    Attributes
    ----------
    original : Channels
        The F-curves of the original action.
    """

    def __init__(self, datablock: bpy.types.ID, original: Channels) -> None:
        self._datablock = datablock
        self.original = original

    def assign(self) -> Channels:
        """Assign a new copy of the action, without Live, to the datablock, and return the copy's F-curves."""
        action, slot = self.original.action, self.original.slot_handle
        copy = action.copy()
        copy.name = f"{action.name}.reduced"
        switch_off(copy)
        assign(self._datablock, copy, slot)
        return next(channels for channels in channels_in(copy) if channels.slot_handle == slot)

    def remove(self) -> None:
        """Assign the original action to the datablock again, and remove the copy, if there is one."""
        original, assigned = self.original.action, channels_of(self._datablock).action
        if assigned != original:
            assign(self._datablock, original, self.original.slot_handle)
            bpy.data.actions.remove(assigned)

    def keep_original(self) -> list[Finding]:
        """Give the original action a fake user so that it is saved with the file, and return a note."""
        original = self.original.action
        if original.library is not None:
            return []
        original.use_fake_user = True
        return [Finding("REDUCE_KEPT", name_of(self._datablock), arguments=(original.name,))]

    def other_users(self) -> list[Finding]:
        """Return a note on each other datablock that uses the original action."""
        (users,) = users_of_channels([self.original])
        return [
            Finding("REDUCE_SHARED", name_of(user), arguments=(self.original.action.name,))
            for user in users
            if user != self._datablock
        ]


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
            before = read(fcurve) if any(keys.sampled.joined) else None
            _key(fcurve, keys, index, frames, slopes[:, index])
            if before is not None:
                write_keys(fcurve, join_keys(fcurve, read(fcurve), before, frames))


def _key(fcurve: bpy.types.FCurve, keys: NewKeys, index: int, frames: Float64Array, slopes: Float64Array) -> None:
    """Replace the keys of a channel."""
    if keys.is_straight:
        _key_straight(fcurve, frames, keys.sampled.raw[:, index], keys.rows, keys.types, slopes)
        return
    key_frames, values = frames[keys.rows], keys.values[:, index]
    key_curve(fcurve, key_frames, values)
    fcurve.keyframe_points.foreach_set("interpolation", keys.types)
    if keys.handles is not None:
        _set_handles(fcurve, key_frames, values, keys.handles[..., index])
    _extrapolate(fcurve, slopes)


def _extrapolate(fcurve: bpy.types.FCurve, slopes: Float64Array) -> None:
    """Extrapolate a curve of Bezier keys linearly, with these slopes for the outer handles.

    If there are other keys beyond an end, the slope at that end is NaN.
    """
    points = fcurve.keyframe_points
    if fcurve.extrapolation != "LINEAR":
        return
    if not np.isnan(slopes[0]):
        length = (points[1].co[0] - points[0].co[0]) / 3.0 if len(points) > 1 else 1.0
        points[0].handle_left_type = "FREE"
        points[0].handle_left = points[0].co[0] - length, points[0].co[1] - length * slopes[0]
    if not np.isnan(slopes[1]):
        length = (points[-1].co[0] - points[-2].co[0]) / 3.0 if len(points) > 1 else 1.0
        points[-1].handle_right_type = "FREE"
        points[-1].handle_right = points[-1].co[0] + length, points[-1].co[1] + length * slopes[1]


def _key_straight(
    fcurve: bpy.types.FCurve,
    frames: Float64Array,
    samples: Float64Array,
    rows: IndexArray,
    types: EnumArray,
    slopes: Float64Array,
) -> None:
    """Replace the keys with linear and constant keys.

    If linear and constant keys would extrapolate differently at an end, that end gets a Bezier key. If the first key is
    Bezier, a straight line leads from the key to an additional key one frame later.
    """
    bezier_start = bezier_end = False
    if fcurve.extrapolation == "LINEAR":
        bezier_start, bezier_end = _differ(samples, rows, types[0] == CONSTANT, slopes)
    if bezier_start and rows[1] > 1:
        rows, types = np.insert(rows, 1, 1), np.insert(types, 1, types[0])
    key_curve(fcurve, frames[rows], samples[rows], "LINEAR")
    types = types.copy()
    types[[0, -1]] = np.where([bezier_start, bezier_end], BEZIER, types[[0, -1]])
    points = fcurve.keyframe_points
    points.foreach_set("interpolation", types)
    if bezier_start:
        points[0].handle_right_type = points[1].handle_left_type = "VECTOR"
    if bezier_start or bezier_end:
        _extrapolate(fcurve, slopes)
    fcurve.update()


def _differ(samples: Float64Array, rows: IndexArray, is_held: bool, slopes: Float64Array) -> tuple[bool, bool]:
    """Return whether linear and constant keys would extrapolate with different slopes at the start, and at the end."""
    extrapolated = [(samples[b] - samples[a]) / (b - a) for a, b in (rows[:2], rows[-2:])]
    if is_held:
        extrapolated[0] = 0.0
    differ = np.abs(np.subtract(extrapolated, slopes)) > _ROUNDING * np.abs(samples).max()
    return bool(differ[0]), bool(differ[1])


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
    to_enable = []
    for track, channels in zip(tracks, read_all_own_keys(tracks), strict=True):
        keys, settings = with_settings[track.path]
        own_keys = {index: _played_by_blender(channel_keys, frames) for index, channel_keys in channels.items()}
        numbers = {
            index: _padded(keys.numbers[index], channel_keys, frames) for index, channel_keys in own_keys.items()
        }
        to_enable.append(TrackToEnable(copy, track, own_keys, settings, numbers))
    enable_with_keys(to_enable)


def _played_by_blender(own_keys: OwnKeys, frames: Float64Array) -> OwnKeys:
    """Return the keys with all straight lines and all segments outside the frames chosen to be played by Blender."""
    lines = np.where(own_keys.keys.interpolation == LINEAR, np.uint8(CHOSEN_INTERPOLATION), np.uint8(0))
    return own_keys.with_(chosen=chosen_beside(own_keys, frames) | lines)


def _padded(numbers: NumbersByName, own_keys: OwnKeys, frames: Float64Array) -> NumbersByName:
    """Extend the parameters of keys at the frames to all keys of a channel, with NaN for keys outside the frames."""
    before, after = (np.count_nonzero(side) for side in sides(own_keys.frames, frames))
    return {name: np.pad(column, (before, after), constant_values=np.nan) for name, column in numbers.items()}
