# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits to the values and the frame of a track's keys at one frame."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..bake.replay import rebake_step
from ..datablocks import animation_data
from ..edit.change_own_curves import moved, own_points, save_own_keys
from ..edit.track_settings import writable
from ..fcurves.channels import Channels, evaluate_anew, users_of_channels
from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import BoolArray, Keyframes, read, read_coordinates, write
from ..report import Report
from ..store.frame_functions import function_of
from ..store.own_keys import read_own_keys
from ..store.tracks import Track, refreshed

Values = npt.NDArray[np.float64]


class KeyedTrack:
    """The keys of a track at one frame. Raises AnimationError if the keys can't be changed."""

    def __init__(self, datablock: bpy.types.ID, track: Track, frame: float) -> None:
        self.datablock = datablock
        self.channels: Channels
        self.channels, self.track = writable(datablock, track)
        check_times(datablock, self.track, frame)
        self.frame = frame
        (self.users,) = users_of_channels([self.channels])
        own = read_own_keys(self.track)
        self._pending: Values | None = None
        self._baked: dict[int, list[float]] = {}
        """The values of the key and its handles on baked curves, if new values have been written but not played yet."""
        self.keyed = [index for index, each in own.items() if (np.abs(each.keys.frames - frame) <= SAME_FRAME).any()]
        """The components that have a key at the frame."""
        if not self.keyed:
            raise self.track.error("NO_KEY_AT_FRAME", frame=frame)
        self.is_last_of_a_channel = any(len(own[index].keys.frames) == 1 for index in self.keyed)
        others = [each.keys.frames[np.abs(each.keys.frames - frame) > SAME_FRAME] for each in own.values()]
        before = [float(frames[frames < frame].max()) for frames in others if (frames < frame).any()]
        after = [float(frames[frames > frame].min()) for frames in others if (frames > frame).any()]
        self.room = max(before, default=-np.inf), min(after, default=np.inf)
        """The frames of the previous and next keys of any component. Infinite if there is none."""

    def values(self) -> Values:
        """Return the channel values at the frame, or the current values for components without a channel."""
        numbers = [self.track.component(index) for index in range(len(self.track.rest))]
        for index, fcurve in self.track.channels.items():
            point = self._point(fcurve) if index in self.keyed else None
            numbers[index] = fcurve.evaluate(self.frame) if point is None else point.co[1]
        if self.track.is_baked:
            # On a baked curve, other values may represent the same orientation.
            for index, own in read_own_keys(self.track).items():
                if index in self.keyed:
                    numbers[index] = float(own.values[np.argmin(np.abs(own.frames - self.frame))])
        return np.array(numbers, dtype=np.float64)

    def write(self, values: Values) -> None:
        """Move the keys, with their handles, to these values. Components without a key are not changed.

        For a baked track, `play` updates the saved keys.
        """
        self._pending = values if self.track.is_baked else None
        for index in self.keyed:
            point = self._point(self.track.channels[index])
            if point is None:
                continue
            if self.track.is_baked and index not in self._baked:
                self._baked[index] = [place[1] for place in (point.co, point.handle_left, point.handle_right)]
            change = float(np.float32(values[index])) - point.co[1]
            point.co[1] = float(values[index])
            for handle in (point.handle_left, point.handle_right):
                handle[1] += change
        if not self.track.is_played:
            for index in self.keyed:
                self.track.channels[index].update()
        evaluate_anew(self.channels.action)

    def move_to(self, frame: float) -> None:
        """Move the keys to another frame within `room`."""
        if self.track.is_baked:
            points = own_points(self.track)
            keys = {index: points[index][1] for index in self.keyed}
            changed = {index: moved(each, self.is_at(each), frames=frame) for index, each in keys.items()}
            save_own_keys(self.channels, self.track, changed)
        else:
            for index in self.keyed:
                fcurve = self.track.channels[index]
                keys_now = read(fcurve)
                write(fcurve, moved(keys_now, self.is_at(keys_now), frames=frame))
                if not self.track.is_played:
                    fcurve.update()
        self.frame = frame
        evaluate_anew(self.channels.action)

    def refresh(self) -> None:
        """Read the track's state again after its table has changed."""
        (self.track,) = refreshed(self.datablock, self.channels, [self.track])

    def play(self) -> Report:
        """Update the track if it is baked or live. No other tracks may have been changed."""
        if self._pending is not None:
            self._put_baked_back()
            self._save(self._pending)
            self._pending = None
        report = rebake_step(self.users, self.channels, [self.track])
        if self.track.is_baked:
            self.refresh()
        return report

    def _put_baked_back(self) -> None:
        """Restore the keys' baked values, because other values would count as edits outside TCB."""
        for index, values in self._baked.items():
            point = self._point(self.track.channels[index])
            for place, value in zip((point.co, point.handle_left, point.handle_right), values, strict=True):
                place[1] = value
        self._baked = {}

    def _save(self, values: Values) -> None:
        """Write these values to a baked track's saved keys at the frame."""
        points = own_points(self.track)
        keys = {index: points[index][1] for index in self.keyed}
        changed = {index: moved(each, self.is_at(each), values=values[index]) for index, each in keys.items()}
        save_own_keys(self.channels, self.track, changed)

    def is_at(self, keys: Keyframes) -> BoolArray:
        """Return a mask of the keys that is true for the key at the frame."""
        at: BoolArray = np.abs(keys.frames - np.float32(self.frame)) <= SAME_FRAME
        return at

    def _point(self, fcurve: bpy.types.FCurve) -> Any:
        frames = read_coordinates(fcurve)[::2]
        row = int(np.searchsorted(frames, np.float32(self.frame - SAME_FRAME)))
        found = row < len(frames) and abs(float(frames[row]) - self.frame) <= SAME_FRAME
        return fcurve.keyframe_points[row] if found else None


def check_times(datablock: bpy.types.ID, track: Track, frame: float) -> None:
    """Raise AnimationError if retiming or an NLA strip shifts the track's keys to other scene frames."""
    if function_of(track) is not None:
        raise track.error("PLAYED_AT_OTHER_TIMES", frame=frame)
    animation = animation_data(datablock)
    if animation is not None and animation.use_tweak_mode:
        raise track.error("TWEAKED_TIMES", frame=frame)
