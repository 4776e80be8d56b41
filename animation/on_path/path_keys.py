# SPDX-License-Identifier: GPL-3.0-or-later
"""The points of objects and bones whose paths are shown, and the keys of these paths."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ...interp import KeysError
from ..bake.drags import rebake_step
from ..bake.exact_motion import channel_values, leaves_keys
from ..datablocks import animation_data
from ..edit.keys import make_key, moved, write_and_bake_again, write_own_keys
from ..edit.track_keys import check_writable, writable
from ..fcurves.channels import Channels, channels_of, users_of_channels
from ..fcurves.keyframes import SAME_FRAME, BoolArray, Keyframes
from ..fcurves.read_and_write import read
from ..records import record
from ..report import AnimationError, Finding, Report
from ..sampling.fingerprints import is_inexact
from ..sampling.transforms import Matrices
from ..scene_time import action_time
from ..store.find_tracks import refreshed, tracks_shown
from ..store.frame_functions import function_of
from ..store.paths import bone_path
from ..store.read_own_keys import key_frames, read_own_keys
from ..store.tracks import Track

LOCATIONS = ("location", "delta_location")
_AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1), "-X": (-1, 0, 0), "-Y": (0, -1, 0), "-Z": (0, 0, -1)}

Vector = npt.NDArray[np.float64]
"""A vector, shape (3,)."""


@record()
class Followed:
    """The point on an object or bone whose path is shown."""

    point: str
    """ORIGIN: an object's origin or a bone's head. TAIL: a bone's tail. AXIS: the tip of a local axis."""
    axis: str
    length: float
    """The length of the axis, in world units."""

    def turns(self, bone: str) -> bool:
        """Return whether the point moves if the object, or the named bone, rotates about its origin."""
        return self.point == "AXIS" or (bool(bone) and self.point == "TAIL")

    def arm(self, tail: float) -> Vector:
        """Return the local vector from the origin to the point, or the direction of an axis."""
        return np.array(_AXES[self.axis] if self.point == "AXIS" else (0.0, tail, 0.0), dtype=np.float64)

    def at(self, matrices: Matrices, tail: float) -> npt.NDArray[np.float64]:
        """Return the points for these world matrices, shape (frames, 3). `tail` is the length of the bone, or 0."""
        origin: npt.NDArray[np.float64] = matrices[:, :3, 3]
        if self.point == "TAIL" and tail:
            return origin + tail * matrices[:, :3, 1]
        if self.point != "AXIS":
            return origin
        axis = matrices[:, :3, :3] @ self.arm(tail)
        size = np.linalg.norm(axis, axis=1, keepdims=True)
        return origin + self.length * axis / np.where(size > 0.0, size, 1.0)


class Spot(NamedTuple):
    """The key of a path at a frame."""

    scene: bpy.types.Scene
    item: Any
    bone: str
    """The name of the bone with the path. Empty for a path of the object itself."""
    followed: Followed
    frame: float
    """The frame of the scene."""
    defaults: tuple[tuple[str, float], ...] = ()
    """Names and values of the parameters of keys that have none of their own, on tracks that are off."""

    @property
    def prefix(self) -> str:
        """Return the path prefix of the tracks."""
        return f"{bone_path(self.item.pose.bones[self.bone])}." if self.bone else ""

    @property
    def owner(self) -> Any:
        """Return the object or the bone."""
        return self.item.pose.bones[self.bone] if self.bone else self.item

    @property
    def tail(self) -> float:
        """Return the length of the bone, or 0 for an object."""
        return float(self.item.data.bones[self.bone].length) if self.bone else 0.0

    @property
    def name(self) -> str:
        """Return the name of the object or bone as shown to users."""
        return self.bone or str(self.item.name)


def moving_tracks(item: Any, bone: str, followed: Followed) -> list[Track]:
    """Return the tracks of the object or bone itself that move the point, locations before rotations.

    Raises AnimationError if the animation can't be read.
    """
    prefix = bone_path(item.pose.bones[bone]) if bone else ""
    turns = followed.turns(bone)
    tracks = [track for track in tracks_shown(item, channels_of(item), prefix) if track.in_use]
    places = [track for track in tracks if track.path.removeprefix(f"{prefix}.") in LOCATIONS]
    return places + [track for track in tracks if turns and track.is_rotation and _is_transform(track, prefix)]


def _is_transform(track: Track, prefix: str) -> bool:
    return track.path.removeprefix(f"{prefix}.").removeprefix("delta_").startswith("rotation")


# Keys of a path


Values = npt.NDArray[np.float64]
"""One value per component of a track."""


class KeyedTrack:
    """The keys of a track at one frame, and the track in channels that can be edited.

    Raises AnimationError, without changing anything, if the keys can't be changed.
    """

    def __init__(self, datablock: bpy.types.ID, track: Track, frame: float) -> None:
        self.datablock, self.frame = datablock, frame
        _check_can_change(datablock, track, frame)
        key_frames = {index: own.keys.frames for index, own in read_own_keys(track).items()}
        self.components = [
            index for index, frames in key_frames.items() if (np.abs(frames - frame) <= SAME_FRAME).any()
        ]
        """The components that have a key at the frame."""
        if not self.components:
            raise track.error("NO_KEY_AT_FRAME", frame=frame)
        others = np.concatenate([frames[np.abs(frames - frame) > SAME_FRAME] for frames in key_frames.values()])
        self.room = (
            float(others[others < frame].max(initial=-np.inf)),
            float(others[others > frame].min(initial=np.inf)),
        )
        """The frames of the previous and next keys of any component. Infinite if there is none."""
        self.channels: Channels
        # This may copy a linked action, so all checks come before.
        self.channels, self.track = writable(datablock, track)
        (self._users,) = users_of_channels([self.channels])

    def values(self) -> Values:
        """Return the channel values at the frame, or the current values for components without a channel."""
        numbers = [self.track.component(index) for index in range(len(self.track.rest))]
        for index, fcurve in self.track.channels.items():
            numbers[index] = fcurve.evaluate(self.frame)
        # On a baked curve, other values may represent the same orientation.
        for index, keys in self.keys().items():
            numbers[index] = float(keys.values[self.is_at(keys)][0])
        return np.array(numbers, dtype=np.float64)

    def write(self, values: Values) -> None:
        """Move the keys, with their handles, to these values. Components without a key are not changed.

        `play` bakes a baked track again.
        """
        keys = self.keys()
        changed = {index: moved(own, self.is_at(own), values=values[index]) for index, own in keys.items()}
        write_own_keys(self.channels, self.track, changed)

    def move_to(self, frame: float) -> None:
        """Move the keys to another frame within `room`."""
        keys = self.keys()
        changed = {index: moved(own, self.is_at(own), frames=frame) for index, own in keys.items()}
        write_own_keys(self.channels, self.track, changed)
        self.frame = frame

    def refresh(self) -> None:
        """Read the track's state again after its table has changed."""
        (self.track,) = refreshed(self.datablock, self.channels, [self.track])

    def play(self) -> Report:
        """Update the track if it is baked or live, without waiting for Live."""
        report = rebake_step(self._users, self.channels, [self.track])
        if self.track.is_baked:
            self.refresh()
        return report

    @cached_property
    def leaves_keys(self) -> bool:
        """Return whether the motion does not pass through the keys."""
        return leaves_keys(self.track)

    def played(self, values: Values) -> Values:
        """Return the channel values of the motion at the frame if the keys get these values."""
        if not self.leaves_keys:
            return values
        own = read_own_keys(self.track)
        for index in self.components:
            keys = own[index].keys
            own[index] = own[index].with_(keys=moved(keys, self.is_at(keys), values=values[index]))
        return channel_values(self.track, own, self.frame, {})

    def is_at(self, keys: Keyframes) -> BoolArray:
        """Return a mask that is true for the key at the frame."""
        at: BoolArray = np.abs(keys.frames - np.float32(self.frame)) <= SAME_FRAME
        return at

    def keys(self) -> dict[int, Keyframes]:
        """Return the animator's keys on the components that have a key at the frame."""
        if self.track.is_baked:
            return {index: own.keys for index, own in read_own_keys(self.track).items() if index in self.components}
        return {index: read(self.track.channels[index]) for index in self.components}


def _check_can_change(datablock: bpy.types.ID, track: Track, frame: float) -> None:
    """Raise AnimationError if the track can't be changed, or if retiming or an NLA strip shifts its keys in time."""
    check_writable(datablock, track)
    if function_of(track) is not None:
        raise track.error("PLAYED_AT_OTHER_TIMES", frame=frame)
    animation = animation_data(datablock)
    if animation is not None and animation.use_tweak_mode:
        raise track.error("TWEAKED_TIMES", frame=frame)


def keyed_tracks(spot: Spot) -> list[KeyedTrack]:
    """Return the tracks that move the point and have a key at the point's frame.

    Raises AnimationError if there is no key, or if any of these tracks can't be changed.
    """
    return [KeyedTrack(spot.item, track, spot.frame) for track in _tracks_with_key(spot)]


def _tracks_with_key(spot: Spot) -> list[Track]:
    """Return the tracks that move the point and have a key at the point's frame. Raise AnimationError without a key."""
    moving = moving_tracks(spot.item, spot.bone, spot.followed)
    frame = action_time(spot.item, spot.frame)
    tracks = [track for track in moving if _has_key(track, frame)]
    if not tracks:
        raise AnimationError(Finding("NO_KEY_AT_FRAME", spot.name, frame=spot.frame))
    return tracks


def _has_key(track: Track, frame: float) -> bool:
    return bool((np.abs(key_frames(track) - frame) <= SAME_FRAME).any())


def insert_key(spot: Spot) -> None:
    """Insert a key at the point's position at the frame, in all tracks that move the point.

    Raises AnimationError, without changing anything, if there already is a key, or if a track can't be changed.
    """
    moving = moving_tracks(spot.item, spot.bone, spot.followed)
    if not moving:
        raise AnimationError(Finding("POINT_WITHOUT_TRACK", spot.name, frame=spot.frame))
    for track in moving:
        _check_can_change(spot.item, track, spot.frame)
    tracks = [track for track in moving if not _has_key(track, spot.frame)]
    if not tracks:
        raise moving[0].error("KEY_AT_FRAME", frame=spot.frame)
    # A new key changes the motion, so the exact values are computed before any key is made.
    exact_values = {track.path: values for track in tracks if (values := _exact_values(spot, track)) is not None}
    for track in tracks:
        make_key(spot.item, track, spot.frame)
    for keyed_track in keyed_tracks(spot):
        if keyed_track.track.path in exact_values:
            keyed_track.write(exact_values[keyed_track.track.path])
        if not keyed_track.track.is_baked:
            keyed_track.play()


def _exact_values(spot: Spot, track: Track) -> Values | None:
    """Return the channel values of the exact motion at the frame, or None if the F-curves play the motion."""
    # Live finds the parameters of a key on handles only if the key is on the curve.
    if track.is_played or not is_inexact(track):
        return None
    with suppress(AnimationError, KeysError):
        return channel_values(track, read_own_keys(track), spot.frame, dict(spot.defaults))
    return None


def delete_key(spot: Spot) -> None:
    """Delete the key in all tracks that move the point.

    Raises AnimationError, without changing anything, if the key is a channel's only key, or if a track can't be
    changed.
    """
    tracks = _tracks_with_key(spot)
    for track in tracks:
        _check_can_change(spot.item, track, spot.frame)
        if any(
            own.count == 1 and abs(own.keys.frames[0] - spot.frame) <= SAME_FRAME
            for own in read_own_keys(track).values()
        ):
            raise track.error("LAST_KEY", frame=spot.frame)
    for keyed_track in keyed_tracks(spot):
        remaining = {index: own.take(~keyed_track.is_at(own)) for index, own in keyed_track.keys().items()}
        write_and_bake_again(keyed_track.channels, keyed_track.track, remaining)
        if not keyed_track.track.is_baked:
            keyed_track.play()
