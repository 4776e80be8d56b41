# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the tracks among the F-curves of a datablock, and their entries in the action's table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from typing import Any

import bpy
import numpy as np

from ..datablocks import animation_data, name_of
from ..fcurves.channels import Channels, channels_in, channels_of
from ..fcurves.read_and_write import KeyBlock
from ..report import AnimationError, Finding
from ..track_paths import path_filter
from .paths import BONES, FRAME_FUNCTION, is_stray, is_velocity, split, track_of
from .table import key_identity
from .table.custom_property import read_table, remembered_tables
from .table.key_identity import Identities
from .table.session import session
from .table.track_records import TrackState
from .tracks import EULER_ORDERS, KIND_BY_PROPERTY, Track, is_of_another_mode


def follow_keys(tracks: Sequence[Track]) -> None:
    """If a track's keys come from a track that has lost its F-curves, copy the state of that original track.

    The original track was renamed or moved with its slot. If several tracks have keys from the original track, the
    track with the most of these keys gets the state.
    """
    claims: dict[tuple[int, int, str], list[tuple[int, Track, TrackState]]] = {}
    for track, identities in _identities_of_origins(tracks):
        origin = _main_origin(track, identities)
        if origin is not None:
            key_count, action, state = origin
            claims.setdefault((action, state.slot, state.path), []).append((key_count, track, state))
    for claimed in claims.values():
        _, track, state = max(claimed, key=itemgetter(0))
        track.state = replace(state, slot=track.slot, path=track.path)


def _identities_of_origins(tracks: Sequence[Track]) -> Iterator[tuple[Track, Identities]]:
    """Yield each track that has keys with identities, together with the identity of each key's original track."""
    curves = [(number, fcurve) for number, track in enumerate(tracks) for fcurve in track.channels.values()]
    if not curves:
        return
    block = KeyBlock([fcurve.keyframe_points for _, fcurve in curves])
    amplitude = block.read("amplitude")
    if key_identity.have_none(amplitude):
        return
    at = session.rows.find(key_identity.identities_in(amplitude, block.read("period")))
    has_row = at >= 0
    if not has_row.any():
        return
    track_numbers = np.repeat([number for number, _ in curves], block.counts)[has_row]
    identities = session.rows["track"][at[has_row]]
    for number in np.unique(track_numbers).tolist():
        yield tracks[number], identities[track_numbers == number]


def _main_origin(track: Track, identities: Identities) -> tuple[int, int, TrackState] | None:
    """Return the number of keys from the track of most keys, and the action and state of that track, or None.

    Keys from tracks that still have F-curves are ignored, because they were pasted.
    """
    counts = Counter(identities.tolist())
    places = {identity: _place_of(track, identity) for identity in counts}
    lost = {
        identity: counts[identity] for identity, place in places.items() if place is None or not _has_fcurves(*place)
    }
    if not lost:
        return None
    identity = max(lost, key=lambda identity: lost[identity])
    place = places[identity]
    has_majority = 2 * lost[identity] > sum(lost.values())
    return (lost[identity], *place) if place is not None and has_majority else None


def _place_of(track: Track, identity: int) -> tuple[int, TrackState] | None:
    """Return the action and the state of the track with this identity, if it is another track."""
    action: Any = next(iter(track.channels.values())).id_data
    # The session also remembers deleted tracks.
    tables = {action.session_uid: track.table}
    tables |= {uid: table for uid, table in remembered_tables().items() if uid != action.session_uid}
    for uid, table in tables.items():
        state = table.find_state(identity)
        if state is not None and (uid, state.slot, state.path) != (action.session_uid, track.slot, track.path):
            return uid, state
    return None


def _has_fcurves(action_uid: int, state: TrackState) -> bool:
    """Return whether the track still has an F-curve at its own slot and path."""
    action = next((action for action in bpy.data.actions if action.session_uid == action_uid), None)
    if action is None:
        return False
    return any(
        fcurve.data_path == state.path
        for channels in channels_in(action)
        if channels.slot_handle == state.slot
        for fcurve in channels
    )


# Tracks among the F-curves of a datablock


def find_tracks(datablock: bpy.types.ID, channels: Channels, prefixes: Iterable[str] | None = None) -> list[Track]:
    """Find all float properties of the datablock that have F-curves, in the order of their first F-curves.

    `prefixes` limits the result to paths that start with one of the prefixes, for example the path of a bone. A
    `WholePath` matches only the track with this path.
    """
    if prefixes is None:
        return tracks_among(datablock, channels, channels)
    starts = tuple(prefixes)
    paths = (*starts, FRAME_FUNCTION)
    fcurves = [fcurve for fcurve in channels if (path := fcurve.data_path).startswith(paths) or "tcb_tracks" in path]
    tracks = tracks_among(datablock, channels, fcurves)
    if any(track.enabled and not track.is_at_home for track in tracks):
        # A track outside the prefixes may have more of the keys, and would then get the state.
        tracks = tracks_among(datablock, channels, channels)
    is_chosen = path_filter(starts)
    return [track for track in tracks if is_chosen(track.path)]


def tracks_shown(datablock: bpy.types.ID, channels: Channels, bone: str = "") -> list[Track]:
    """Find the tracks of one bone, given by path, or the tracks outside bones.

    All other F-curves are skipped, because the sidebar lists these tracks on every redraw.
    """
    if bone:
        return find_tracks(datablock, channels, [bone])
    return tracks_among(datablock, channels, [fcurve for fcurve in channels if not fcurve.data_path.startswith(BONES)])


def refreshed(datablock: bpy.types.ID, channels: Channels, tracks: Sequence[Track]) -> list[Track]:
    """Return the tracks with their current state, because rotation mode and other properties may have changed."""
    fcurves = [fcurve for track in tracks for fcurve in track.channels.values()]
    timing = [fcurve for track in tracks for fcurve in (track.frame_curve, track.datablock_frame_curve)]
    fcurves += [fcurve for fcurve in timing if fcurve is not None]
    return tracks_among(datablock, channels, fcurves)


def tracks_among(datablock: bpy.types.ID, channels: Channels, fcurves: Iterable[bpy.types.FCurve]) -> list[Track]:
    """Find the tracks of the given F-curves (see `find_tracks`)."""
    tracks, datablock_frame_curve = _group_fcurves(datablock, _name_in_messages(datablock, channels), fcurves)
    for track in tracks:
        track.datablock, track.datablock_frame_curve = datablock, datablock_frame_curve
    _give_states(channels, tracks)
    _mark_driven(datablock, tracks)
    baked_paths = {track.path for track in tracks if track.is_baked}
    group_locked_by_bake: dict[str, bool] = {}
    for track in tracks:
        track.baked_paths, track.group_locked_by_bake = baked_paths, group_locked_by_bake
    return tracks


def _name_in_messages(datablock: bpy.types.ID, channels: Channels) -> str:
    """Return the name of the datablock, with the name of the action if the action is not assigned to the datablock.

    Several NLA strips can have tracks with the same path.
    """
    name, data = name_of(datablock), animation_data(datablock)
    is_assigned = data is None or data.action == channels.action
    return name if is_assigned else f"{name} (action {channels.action.name})"


def _group_fcurves(
    datablock: bpy.types.ID, name: str, fcurves: Iterable[bpy.types.FCurve]
) -> tuple[list[Track], bpy.types.FCurve | None]:
    """Group F-curves by property. Return the tracks, and the F-curve of the datablock's frame function."""
    tracks: dict[str, Track | None] = {}
    frame_curves: dict[str, bpy.types.FCurve] = {}
    datablock_frame_curve = None
    for fcurve in fcurves:
        path = fcurve.data_path
        track = tracks.get(path)
        if track is not None:
            track.channels[fcurve.array_index] = fcurve
            continue
        retimed_path = track_of(path)
        if retimed_path:
            frame_curves[retimed_path] = fcurve
        elif path == FRAME_FUNCTION:
            datablock_frame_curve = fcurve
        elif path not in tracks and not is_stray(path) and not is_velocity(path):
            track = tracks[path] = property_track(datablock, name, path)
            if track is not None:
                track.channels[fcurve.array_index] = fcurve
    for path, fcurve in frame_curves.items():
        track = tracks.get(path)
        if track is not None:
            track.frame_curve = fcurve
    return [track for track in tracks.values() if track is not None], datablock_frame_curve


def property_track(datablock: bpy.types.ID, name: str, path: str) -> Track | None:
    """Create the track of a property, without F-curves. Return None if the path is not a float property.

    `name` is the name of the datablock.
    """
    owner_path, prop = split(path)
    try:
        owner: Any = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
        rest = _components(owner, prop)
    except (ValueError, KeyError, TypeError, AttributeError):
        # The path may not resolve to a property (for example, a path through a missing parent), or only to a number.
        return None
    if rest is None:
        return None
    kind = KIND_BY_PROPERTY.get(prop, "VECTOR") if hasattr(owner, "rotation_mode") else "VECTOR"
    track = Track(name, path, kind, rest=rest)
    if track.is_rotation:
        mode = owner.rotation_mode
        track.order = mode if mode in EULER_ORDERS else "XYZ"
        track.in_use = kind == ("EULER" if mode in EULER_ORDERS else mode)
    return track


def _components(owner: bpy.types.ID, name: str) -> tuple[float, ...] | None:
    """Return the components of a float property, or None for another property."""
    if name.startswith("["):
        return _custom_components(owner[bpy.utils.unescape_identifier(name[1:-1])])
    prop = owner.bl_rna.properties.get(name)
    if prop is None or prop.type != "FLOAT":
        return None
    value = getattr(owner, name)
    return tuple(value) if prop.is_array else (value,)


def _custom_components(value: Any) -> tuple[float, ...] | None:
    if isinstance(value, float):
        return (value,)
    if getattr(value, "typecode", "") in ("f", "d"):
        return tuple(value)
    return None


def _give_states(channels: Channels, tracks: list[Track]) -> None:
    """Find each track's entry in the action's table, either by slot and path or by the identities of its keys."""
    table = read_table(channels.action)
    for track in tracks:
        track.table, track.slot = table, channels.slot_handle
    if table.error:
        return
    for track in tracks:
        try:
            track.state = table.state(channels.slot_handle, track.path)
        except ValueError as error:
            track.table = replace(table, error=Finding("TABLE_DAMAGED", arguments=(str(error),)))
    if len(session.rows):
        follow_keys([track for track in tracks if track.state is None and not track.table.error])


def _mark_driven(datablock: bpy.types.ID, tracks: Iterable[Track]) -> None:
    """Mark the tracks with a component that is set by a driver."""
    animation: Any = animation_data(datablock)
    driven = {(driver.data_path, driver.array_index) for driver in animation.drivers if not driver.mute}
    for track in tracks if driven else ():
        # A rotation is a single value, so a driver on one component changes the meaning of the other components' keys.
        components = range(len(track.rest)) if track.is_rotation else track.channels
        track.driven = any((track.path, index) in driven for index in components)


class Properties:
    """The float properties of a datablock, as tracks with their F-curves. F-curves are searched only once."""

    def __init__(self, datablock: bpy.types.ID) -> None:
        self.datablock = datablock
        self.name = name_of(datablock)
        try:
            tracks = find_tracks(datablock, channels_of(datablock))
        except AnimationError:
            tracks = []
        self._tracks = {track.path: track for track in tracks}

    def track(self, path: str) -> Track | None:
        """Return the property at the path, or None if it is not a float property."""
        return self._tracks.get(path) or property_track(self.datablock, self.name, path)


def lost_tracks(datablock: bpy.types.ID, channels: Channels, found: Sequence[Track]) -> list[Track]:
    """Return the slot's baked tracks that have lost their F-curves. The table still contains the keys of these tracks.

    `found` contains all tracks of the datablock with F-curves. One of the found tracks may be a lost track under a new
    path.
    """
    table, name = read_table(channels.action), name_of(datablock)
    identities = {track.state.identity for track in found if track.state is not None}
    lost = []
    for slot, path in sorted(table.baked):
        if slot != channels.slot_handle or table.identity_of[slot, path] in identities:
            continue
        track = property_track(datablock, name, path)
        if track is not None:
            track.datablock, track.table, track.slot = datablock, table, slot
            with suppress(ValueError):
                track.state = table.state(slot, path)
                lost.append(track)
    return lost


def rotations_without_owner(channels: Channels, known: Iterable[Track]) -> list[Track]:
    """Return the rotations among the F-curves' paths, except known tracks, as tracks that are not in use.

    No datablock animated by the F-curves has these rotations, so the Euler order is unknown.
    """
    known_paths = {track.path for track in known}
    tracks: dict[str, Track] = {}
    for fcurve in channels:
        path = fcurve.data_path
        kind = KIND_BY_PROPERTY.get(split(path)[1])
        if kind is None or path in known_paths:
            continue
        rest = (0.0,) * (3 if kind == "EULER" else 4)
        track = tracks.setdefault(path, Track(name_of(channels.action), path, kind, in_use=False, rest=rest))
        track.channels[fcurve.array_index] = fcurve
    rotations = list(tracks.values())
    _give_states(channels, rotations)
    return rotations


def played_otherwise(tracks: Iterable[Track], users: Sequence[bpy.types.ID]) -> list[Finding]:
    """Return notes on `users` with a rotation mode that differs from the mode used to read the tracks."""
    notes = []
    for track in tracks:
        for user in users if track.is_rotation else ():
            if user == track.datablock:
                continue
            other = property_track(user, name_of(user), track.path)
            if other is not None and (track.in_use or other.in_use) and is_of_another_mode(other, track):
                notes.append(other.finding("SHARED_MODE", track.name))
    return notes
