# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit the values and the frame of a track's keys at one frame."""

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
        (self._users,) = users_of_channels([self.channels])
        key_frames = {index: own.keys.frames for index, own in read_own_keys(self.track).items()}
        self.keyed = [index for index, frames in key_frames.items() if (np.abs(frames - frame) <= SAME_FRAME).any()]
        """The components that have a key at the frame."""
        if not self.keyed:
            raise self.track.error("NO_KEY_AT_FRAME", frame=frame)
        self.is_last_of_a_channel = any(len(key_frames[index]) == 1 for index in self.keyed)
        """True if a component has no other key."""
        others = np.concatenate([frames[np.abs(frames - frame) > SAME_FRAME] for frames in key_frames.values()])
        self.room = (
            float(others[others < frame].max(initial=-np.inf)),
            float(others[others > frame].min(initial=np.inf)),
        )
        """The frames of the previous and next keys of any component. Infinite if there is none."""
        self._unsaved_values: Values | None = None
        """Values written to a baked curve but not yet to the saved keys."""
        self._baked: dict[int, list[float]] = {}
        """The baked values of the key and its handles in each component with unsaved values."""

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

        For a baked track, `move_to` and `play` update the saved keys.
        """
        self._unsaved_values = values if self.track.is_baked else None
        for index in self.keyed:
            point = self._point(self.track.channels[index])
            if point is None:
                continue
            if self.track.is_baked and index not in self._baked:
                self._baked[index] = [position[1] for position in _positions(point)]
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
        self._save_values()
        if self.track.is_baked:
            self._save(frame=frame)
        else:
            for index in self.keyed:
                fcurve = self.track.channels[index]
                keys = read(fcurve)
                write(fcurve, moved(keys, self.is_at(keys), frames=frame))
                if not self.track.is_played:
                    fcurve.update()
        self.frame = frame
        evaluate_anew(self.channels.action)

    def refresh(self) -> None:
        """Read the track's state again after its table has changed."""
        (self.track,) = refreshed(self.datablock, self.channels, [self.track])

    def play(self) -> Report:
        """Update the track if it is baked or live. Call this method only if no other tracks have changed."""
        self._save_values()
        report = rebake_step(self._users, self.channels, [self.track])
        if self.track.is_baked:
            self.refresh()
        return report

    def _save_values(self) -> None:
        """Save the values written to a baked track, and restore its curves.

        Other values on the curves would count as edits outside TCB.
        """
        if self._unsaved_values is None:
            return
        for index, values in self._baked.items():
            point = self._point(self.track.channels[index])
            for position, value in zip(_positions(point), values, strict=True):
                position[1] = value
        self._save(values=self._unsaved_values)
        self._unsaved_values, self._baked = None, {}

    def _save(self, frame: float | None = None, values: Values | None = None) -> None:
        """Move a baked track's saved keys to another frame or to other values."""
        points = own_points(self.track)
        changed = {}
        for index in self.keyed:
            _, keys = points[index]
            value = None if values is None else values[index]
            changed[index] = moved(keys, self.is_at(keys), frames=frame, values=value)
        save_own_keys(self.channels, self.track, changed)

    def is_at(self, keys: Keyframes) -> BoolArray:
        """Return a mask of the keys that is true for the key at the frame."""
        at: BoolArray = np.abs(keys.frames - np.float32(self.frame)) <= SAME_FRAME
        return at

    def _point(self, fcurve: bpy.types.FCurve) -> Any:
        """Return the F-curve's key at the frame, or None."""
        frames = read_coordinates(fcurve)[::2]
        row = int(np.searchsorted(frames, np.float32(self.frame - SAME_FRAME)))
        is_keyed = row < len(frames) and abs(float(frames[row]) - self.frame) <= SAME_FRAME
        return fcurve.keyframe_points[row] if is_keyed else None


def _positions(point: Any) -> tuple[Any, Any, Any]:
    """Return the positions of a key and its handles."""
    return point.co, point.handle_left, point.handle_right


def check_times(datablock: bpy.types.ID, track: Track, frame: float) -> None:
    """Raise AnimationError if retiming or an NLA strip shifts the track's keys to other scene frames."""
    if function_of(track) is not None:
        raise track.error("PLAYED_AT_OTHER_TIMES", frame=frame)
    animation = animation_data(datablock)
    if animation is not None and animation.use_tweak_mode:
        raise track.error("TWEAKED_TIMES", frame=frame)
