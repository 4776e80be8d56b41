# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's keys, and the baked tracks, on the F-curves shown in an editor.

A key counts as selected if one of its handles is selected, because dragging a handle in the Graph Editor selects only
the handle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy
import numpy as np

from ..action_users import users_of
from ..datablocks import HAS_SLOTS
from ..errors import AnimationError
from ..fcurves.channels import Channels, channels_of
from ..fcurves.keyframes import FLAGS
from ..store.find_tracks import tracks_among
from ..store.tracks import Track
from .track_keys import TrackKeys, keys_on_paths


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
    for datablock, channels, pointers in _users_of(visible):
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
    for datablock, channels, pointers in _users_of(fcurves):
        tracks = tracks_among(datablock, channels, [fcurve for fcurve in channels if fcurve.as_pointer() in pointers])
        yield from ((channels.action, track) for track in tracks if track.is_baked)


def _users_of(fcurves: Iterable[bpy.types.FCurve]) -> Iterator[tuple[bpy.types.ID, Channels, set[int]]]:
    """Yield one datablock and its channels for each slot of the actions with these F-curves.

    The third item contains the pointers of the given F-curves in the action.
    """
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
