# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks found by their paths, the animator's keys on a track, and selected keys on the F-curves shown in an editor.

A key counts as selected if one of its handles is selected, because dragging a handle in the Graph Editor selects only
the handle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..arguments import checked
from ..datablocks import HAS_SLOTS, name_of, users_of
from ..fcurves.channels import Channels, channels_of, check_editable, editable_channels
from ..fcurves.keyframes import FLAGS, INTERPOLATION, SAME_FRAME, BoolArray, Float32Array, Keyframes, is_among, union
from ..fcurves.read_and_write import read_joined
from ..records import record
from ..report import AnimationError, Finding
from ..store.editable import blocking_reasons
from ..store.find_tracks import find_tracks, tracks_among
from ..store.own_keys import OwnKeys
from ..store.parameters import Numbers, component_parameters, means_of_keys, read_velocities
from ..store.read_own_keys import read_all_own_keys, read_own_keys
from ..store.tracks import Track, setting_names
from ..text import rpt_


@checked
def find_track(datablock: bpy.types.ID, name: str) -> Track:
    """Find a track by its path.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the track.
    name : str
        Path of the track. `rotation`, or `pose.bones["Arm"].rotation` for a bone, is the rotation track of the current
        rotation mode.

    Returns
    -------
    Track
        The track, with its `path` and the F-curves of its channels.

    Raises
    ------
    AnimationError
        There is no such track. The error message lists the existing tracks.

    Examples
    --------
    >>> animation.find_track(ball, "rotation").path
    'rotation_euler'
    >>> animation.find_track(ball, "scale")
    Traceback (most recent call last):
    AnimationError: "Ball", Scale: no such track. Available tracks: location, rotation_euler
    """
    channels = channels_of(datablock)
    is_rotation = name.rpartition(".")[2] == "rotation"
    for track in find_tracks(datablock, channels, [name]):
        if track.path == name or (is_rotation and track.is_rotation and track.in_use):
            return track
    known = ", ".join(track.path for track in find_tracks(datablock, channels)) or rpt_("none")
    raise AnimationError(Finding("NO_SUCH_TRACK", name_of(datablock), name, arguments=(known,)))


def check_writable(datablock: bpy.types.ID, track: Track) -> None:
    """Raise AnimationError if the track can't be changed."""
    check_editable(datablock)
    (reason,) = blocking_reasons([track])
    if reason:
        raise AnimationError(reason)


def writable(datablock: bpy.types.ID, track: Track) -> tuple[Channels, Track]:
    """Return the channels for editing, and the track in these channels. A linked action of an override is copied.

    Raises AnimationError, without copying, if the track can't be changed.
    """
    check_writable(datablock, track)
    channels = editable_channels(datablock)
    # The action may have been copied, now or earlier for another track.
    if any(fcurve.id_data != channels.action for fcurve in track.channels.values()):
        track = find_track(datablock, track.path)
    return channels, track


# The animator's keys on a track


@record(eq=False)
class TrackKeys:
    """Some of the animator's keys on a track."""

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

    def take(self, rows: BoolArray) -> TrackKeys:
        """Return the keys for which the mask `rows` is true."""
        return TrackKeys(self.datablock, self.track, self.frames[rows], self.selected[rows], self.own)

    def parameters(self, defaults: Mapping[str, float]) -> dict[str, Numbers]:
        """Return each parameter, with one value per key. `defaults` replaces unset values. Raises AnimationError.

        If the components of a key have different values, the value is their mean.
        """
        components = component_parameters(self.track, self.own, self.frames, defaults)
        return means_of_keys(*components, len(self))

    def velocities(self) -> Numbers:
        """Return the velocities, with one row per key and one column per component.

        For rotations, the velocities are angular. Velocities that are not set are 0.
        """
        return read_velocities(self.track, self.own, self.frames)


def keys_of(datablock: bpy.types.ID, track: Track) -> TrackKeys:
    """Return all of the animator's keys on the track."""
    return _all_keys(datablock, track, track.channels, read_own_keys(track))


def key_at(datablock: bpy.types.ID, track: Track, frame: float) -> TrackKeys:
    """Return the key at `frame`. Raise AnimationError if there is no key."""
    keys = keys_of(datablock, track)
    key = keys.take(np.abs(keys.frames - frame) <= SAME_FRAME)
    if not len(key):
        raise track.error("NO_KEY_AT_FRAME", frame=frame)
    return key


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
        yield _all_keys(datablock, track, indices, own)


def read_again(chosen: Sequence[TrackKeys]) -> list[TrackKeys]:
    """Return the keys at the same frames, read again, because parameters set since then have given the keys new rows.

    Raises AnimationError if a track is missing.
    """
    tracks = current_tracks(chosen)
    return [
        replace(keys, track=track, own=own)
        for keys, track, own in zip(chosen, tracks, read_all_own_keys(tracks), strict=True)
    ]


def current_tracks(chosen: Sequence[TrackKeys]) -> list[Track]:
    """Find the tracks of the keys again. Raise AnimationError if a track is missing.

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
    places = [(keys.datablock, keys.track.path) for keys in chosen]
    return [tracks.get(place) or find_track(*place) for place in places]


def uses_velocities(track: Track) -> bool:
    """Return whether the track's method uses velocities."""
    return "velocities" in setting_names(track, track.settings)


def interpolations_of(keys: TrackKeys) -> set[str]:
    """Return the interpolations with which the keys are played. Keys that begin a spline segment have "BEZIER"."""
    names = {number: name for name, number in INTERPOLATION.items()}
    numbers: set[int] = set()
    for own in keys.own.values():
        is_chosen = is_among(own.keys.frames, keys.frames)
        numbers.update(own.keys.interpolation[is_chosen & own.begins_segment].tolist())
        if (is_chosen & ~own.begins_segment).any():
            numbers.add(INTERPOLATION["BEZIER"])
    return {names[number] for number in numbers}


def _all_keys(datablock: bpy.types.ID, track: Track, visible: Iterable[int], own: Mapping[int, OwnKeys]) -> TrackKeys:
    """Return all keys. Keys that are selected on one of the `visible` channels are marked as selected."""
    frames = union([channel.keys.frames for channel in own.values()])
    selected = union([_selected_frames(track, index, own[index].keys) for index in visible if index in own])
    return TrackKeys(datablock, track, frames, is_among(frames, selected), own)


def _selected_frames(track: Track, index: int, own: Keyframes) -> Float32Array:
    """Return the frames at which the animator's keys, or their handles, are selected in the animation editors."""
    if not track.is_baked:
        return own.frames[_has_flag(own)]
    # The saved keys have the selection from before the bake.
    baked = read_joined([track.channels[index]], ("co", *FLAGS)).keys
    return own.frames[is_among(own.frames, baked.frames[_has_flag(baked)])]


def _has_flag(keys: Keyframes) -> BoolArray:
    """Return a mask of the selected keys. Dragging a handle in the Graph Editor selects only the handle."""
    return keys.select_control_point | keys.select_left_handle | keys.select_right_handle


# Keys and baked tracks on the F-curves shown in an editor


def any_selected(fcurves: Iterable[bpy.types.FCurve]) -> bool:
    """Return whether a key or handle on the F-curves is selected, including generated keys."""
    return any(map(_has_selected, fcurves))


def _has_selected(fcurve: bpy.types.FCurve) -> bool:
    flags = np.empty(len(fcurve.keyframe_points), dtype=np.bool_)
    for name in FLAGS:
        fcurve.keyframe_points.foreach_get(name, flags)
        if flags.any():
            return True
    return False


def selected_keys(visible: Iterable[bpy.types.FCurve]) -> list[TrackKeys]:
    """Return the animator's selected keys on the F-curves shown in an editor, for each track that has any."""
    # Tracks without any selected key need not be read.
    candidates = keys_among(filter(_has_selected, visible))
    return [keys.take(keys.selected) for keys in candidates if keys.selected.any()]


def keys_among(visible: Iterable[bpy.types.FCurve]) -> Iterator[TrackKeys]:
    """Yield all of the animator's keys on each track with an F-curve shown in an editor.

    Keys that are selected only on other F-curves of the track are not marked as selected.
    """
    for datablock, channels, pointers in users_of_fcurves(visible):
        paths = {fcurve.data_path for fcurve in channels if fcurve.as_pointer() in pointers}
        yield from keys_on_paths(datablock, channels, paths, pointers)


def baked_among(fcurves: Iterable[bpy.types.FCurve]) -> set[int]:
    """Return the pointers of all F-curves of the baked tracks to which the given F-curves belong."""
    tracks = [track for _, track in _baked_tracks(fcurves)]
    return {fcurve.as_pointer() for track in tracks for fcurve in track.channels.values()}


def baked_tracks_selected(visible: Iterable[bpy.types.FCurve]) -> list[tuple[bpy.types.Action, Track]]:
    """Return the baked tracks that have a selected key or handle on one of the F-curves, and their actions."""
    return list(_baked_tracks(fcurve for fcurve in visible if fcurve.lock and _has_selected(fcurve)))


def _baked_tracks(fcurves: Iterable[bpy.types.FCurve]) -> Iterator[tuple[bpy.types.Action, Track]]:
    """Yield the baked tracks to which the F-curves belong, and their actions."""
    for datablock, channels, pointers in users_of_fcurves(fcurves):
        tracks = tracks_among(datablock, channels, [fcurve for fcurve in channels if fcurve.as_pointer() in pointers])
        yield from ((channels.action, track) for track in tracks if track.is_baked)


def users_of_fcurves(fcurves: Iterable[bpy.types.FCurve]) -> Iterator[tuple[bpy.types.ID, Channels, set[int]]]:
    """Yield one datablock and its channels for each slot of the actions with these F-curves.

    The third item contains the pointers of the given F-curves in the action.
    """
    pointers: dict[bpy.types.Action, set[int]] = {}
    for fcurve in fcurves:
        if isinstance(fcurve.id_data, bpy.types.Action):
            pointers.setdefault(fcurve.id_data, set()).add(fcurve.as_pointer())
    for action, pointers_of_action in pointers.items():
        for datablock, channels in _users(action):
            yield datablock, channels, pointers_of_action


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
