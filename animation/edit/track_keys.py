# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys on a track, found by track, path, frame or selection.

A key counts as selected if one of its handles is selected, because dragging a handle in the Graph Editor selects only
the handle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..arguments import checked
from ..bake.plans.track_methods import setting_names
from ..datablocks import HAS_SLOTS, users_of
from ..errors import AnimationError
from ..fcurves.channels import Channels, channels_of
from ..fcurves.frames import SAME_FRAME, is_among, union
from ..fcurves.keyframes import FLAGS, INTERPOLATION, BoolArray, Float32Array, Keyframes
from ..fcurves.read_keys import read_joined
from ..records import record
from ..store.find_tracks import find_tracks, tracks_among
from ..store.own_keys import OwnKeys, read_all_own_keys, read_own_keys
from ..store.parameters import Numbers, read_parameters, read_velocities
from ..store.tracks import Track
from .track_settings import find_track


@record(eq=False)
class TrackKeys:
    """Some of the animator's keys on a track, as returned by `track_keys` and accepted by `relax`.

    Examples
    --------
    >>> keys = animation.track_keys(ball, "location")
    >>> later = keys.take(keys.frames > 10)
    >>> len(later), later.frames.tolist()
    (2, [20.0, 40.0])
    """

    datablock: bpy.types.ID
    """The datablock with the track."""
    track: Track
    """The track, as returned by `find_track`."""
    frames: Float32Array
    """Ascending frames of the keys, shape (n,)."""
    selected: BoolArray
    """Mask of the keys that are selected or have a selected handle in the animation editors, shape (n,)."""
    own: Mapping[int, OwnKeys]
    """All of the animator's keys of the track's channels."""

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.track.name!r}, {self.track.path!r}, {len(self)})"

    def take(self, rows: BoolArray) -> TrackKeys:
        """Return the keys for which the mask `rows` is true."""
        return TrackKeys(self.datablock, self.track, self.frames[rows], self.selected[rows], self.own)

    def parameters(self, defaults: Mapping[str, float]) -> dict[str, Numbers]:
        """Return each parameter, with one value per key. `defaults` replaces unset values. Raises AnimationError."""
        return read_parameters(self.track, self.own, self.frames, defaults)

    def velocities(self) -> Numbers:
        """Return the velocities, with one row per key and one column per component.

        For rotations, the velocities are angular. Velocities that are not set are 0.
        """
        return read_velocities(self.track, self.own, self.frames)


def found_again(chosen: Sequence[TrackKeys]) -> list[TrackKeys]:
    """Find the same keys on their current tracks. Raise AnimationError if a track is missing.

    Live may have baked the tracks in the meantime, or the action may have been copied.
    """
    paths: dict[bpy.types.ID, list[str]] = {}
    for keys in chosen:
        paths.setdefault(keys.datablock, []).append(keys.track.path)
    tracks = {
        (datablock, track.path): track
        for datablock, paths_of_datablock in paths.items()
        for track in find_tracks(datablock, channels_of(datablock), paths_of_datablock)
    }
    current_keys = []
    for keys in chosen:
        track = tracks.get((keys.datablock, keys.track.path))
        current_keys.append(replace(keys, track=track or find_track(keys.datablock, keys.track.path)))
    return current_keys


def goes_by_velocities(track: Track) -> bool:
    """Return whether the track's method uses velocities. If the settings can't be read, return False."""
    try:
        return "velocities" in setting_names(track, track.settings)
    except AnimationError:
        return False


def interpolations_of(keys: TrackKeys) -> set[str]:
    """Return the interpolations with which the keys are played. Keys that begin a spline segment have "BEZIER"."""
    names = {number: name for name, number in INTERPOLATION.items()}
    numbers: set[int] = set()
    for own in keys.own.values():
        is_chosen = is_among(own.keys.frames, keys.frames)
        numbers.update(own.keys.interpolation[is_chosen & own.ends_spline].tolist())
        if (is_chosen & ~own.ends_spline).any():
            numbers.add(INTERPOLATION["BEZIER"])
    return {names[number] for number in numbers}


@checked
def track_keys(datablock: bpy.types.ID, track: str) -> TrackKeys:
    """Return all of the animator's keys on a track, for example to relax keys of several tracks together.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the track.
    track : str
        Path of the track, as for `find_track`.

    Returns
    -------
    TrackKeys
        The keys. To select a subset, call `take` with a mask that has one boolean per key.

    Raises
    ------
    AnimationError
        There is no such track.

    Examples
    --------
    >>> keys = animation.track_keys(ball, "location")
    >>> keys.frames.tolist()
    [1.0, 20.0, 40.0]
    >>> keys.take(keys.frames > 10).frames.tolist()
    [20.0, 40.0]
    """
    return keys_of(datablock, find_track(datablock, track))


def keys_of(datablock: bpy.types.ID, track: Track) -> TrackKeys:
    """Return all of the animator's keys on the track."""
    return _keys_read(datablock, track, track.channels, read_own_keys(track))


def keys_on_paths(
    datablock: bpy.types.ID, channels: Channels, paths: Collection[str], visible: Collection[int] | None = None
) -> Iterator[TrackKeys]:
    """Yield all of the animator's keys on each track with one of the given paths.

    `visible` contains the pointers of the F-curves whose selected keys count. By default, all F-curves count.
    """
    tracks = tracks_among(datablock, channels, [fcurve for fcurve in channels if fcurve.data_path in paths])
    for track, own in zip(tracks, read_all_own_keys(tracks), strict=True):
        curves = track.channels.items()
        indices = [index for index, fcurve in curves if visible is None or fcurve.as_pointer() in visible]
        yield _keys_read(datablock, track, indices, own)


def key_at(datablock: bpy.types.ID, track: Track, frame: float) -> TrackKeys:
    """Return the key at `frame`. Raise AnimationError if there is no key."""
    keys = keys_of(datablock, track)
    key = keys.take(np.abs(keys.frames - frame) <= SAME_FRAME)
    if not len(key):
        raise track.error("NO_KEY_AT_FRAME", frame=frame)
    return key


def _keys_read(datablock: bpy.types.ID, track: Track, visible: Iterable[int], own: Mapping[int, OwnKeys]) -> TrackKeys:
    """Return all keys. Keys that are selected on a visible channel are marked as selected."""
    frames = union([channel.keys.frames for channel in own.values()])
    selected = union([_selected(track, index, own[index].keys) for index in visible if index in own])
    return TrackKeys(datablock, track, frames, is_among(frames, selected), own)


def _selected(track: Track, index: int, own: Keyframes) -> Float32Array:
    """Return the frames at which the animator's keys, or their handles, are selected in the animation editors."""
    if not track.is_baked:
        return own.frames[_any_flag(own)]
    # The saved keys have the selection from before the bake.
    fcurve = track.channels.get(index)
    if fcurve is None:
        return own.frames[:0]
    baked = read_joined([fcurve], ("co", *FLAGS)).keys
    return own.frames[is_among(own.frames, baked.frames[_any_flag(baked)])]


def _any_flag(keys: Keyframes) -> BoolArray:
    return keys.select_control_point | keys.select_left_handle | keys.select_right_handle


def selected_keys(visible: Iterable[bpy.types.FCurve]) -> list[TrackKeys]:
    """Return the animator's selected keys on the F-curves shown in an editor, for each track that has any."""
    return [keys.take(keys.selected) for keys in keys_among(visible, only_selected=True) if keys.selected.any()]


def keys_among(visible: Iterable[bpy.types.FCurve], only_selected: bool = False) -> Iterator[TrackKeys]:
    """Yield all of the animator's keys on each track with an F-curve shown in an editor.

    If `only_selected` is true, F-curves without selected keys are ignored, and tracks without other F-curves are
    omitted.
    """
    fcurves = [fcurve for fcurve in visible if not only_selected or _has_selected(fcurve)]
    for datablock, channels, pointers in _users_of(fcurves):
        paths = {fcurve.data_path for fcurve in channels if fcurve.as_pointer() in pointers}
        yield from keys_on_paths(datablock, channels, paths, pointers)


def baked_among(fcurves: Iterable[bpy.types.FCurve]) -> set[int]:
    """Return the pointers of the F-curves that belong to baked tracks."""
    tracks = [track for _, track in baked_tracks_among(fcurves)]
    return {fcurve.as_pointer() for track in tracks for fcurve in track.channels.values()}


def baked_tracks_selected(visible: Iterable[bpy.types.FCurve]) -> list[tuple[bpy.types.Action, Track]]:
    """Return the baked tracks that have a selected key or handle on one of the F-curves, and their actions."""
    return baked_tracks_among(fcurve for fcurve in visible if fcurve.lock and _has_selected(fcurve))


def baked_tracks_among(fcurves: Iterable[bpy.types.FCurve]) -> list[tuple[bpy.types.Action, Track]]:
    """Return the baked tracks to which the F-curves belong, and their actions."""
    baked = []
    for datablock, channels, pointers in _users_of(fcurves):
        given_fcurves = [fcurve for fcurve in channels if fcurve.as_pointer() in pointers]
        tracks = tracks_among(datablock, channels, given_fcurves)
        baked += [(channels.action, track) for track in tracks if track.is_baked]
    return baked


def _users_of(fcurves: Iterable[bpy.types.FCurve]) -> Iterator[tuple[bpy.types.ID, Channels, set[int]]]:
    """Yield datablocks and channels of each action that contains given F-curves, with pointers to these F-curves."""
    actions: dict[int, bpy.types.Action] = {}
    pointers: dict[int, set[int]] = {}
    for fcurve in fcurves:
        action = fcurve.id_data
        if isinstance(action, bpy.types.Action):
            actions[action.as_pointer()] = action
            pointers.setdefault(action.as_pointer(), set()).add(fcurve.as_pointer())
    for pointer, action in actions.items():
        for datablock, channels in _users(action):
            yield datablock, channels, pointers[pointer]


def _users(action: bpy.types.Action) -> Iterator[tuple[bpy.types.ID, Channels]]:
    """Yield one datablock animated by each slot of the action, with the slot's F-curves."""
    # This function is called on every redraw, and slots list their users quickly.
    users = [user for slot in action.slots for user in slot.users()] if HAS_SLOTS else users_of(action)
    yielded = set()
    for user in users:
        try:
            channels = channels_of(user)
        except AnimationError:
            continue
        if channels.action == action and channels.identity not in yielded:
            yielded.add(channels.identity)
            yield user, channels


def any_selected(visible: Iterable[bpy.types.FCurve]) -> bool:
    """Return whether a key or handle on the F-curves is selected, including generated keys."""
    return any(map(_has_selected, visible))


def _has_selected(fcurve: bpy.types.FCurve) -> bool:
    """Return whether any key or handle of the F-curve is selected."""
    flags = np.empty(len(fcurve.keyframe_points), dtype=np.bool_)
    for name in FLAGS:
        fcurve.keyframe_points.foreach_get(name, flags)
        if flags.any():
            return True
    return False
