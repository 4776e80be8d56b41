# SPDX-License-Identifier: GPL-3.0-or-later
"""The tracks of a datablock: the F-curves of each animated float property, and its TCB state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import bpy
import numpy as np
import numpy.typing as npt

from ...interp import rotations
from ...interp.base_spline import Cycle
from ...interp.rotations.orientations import Path
from ..datablocks import animation_data, name_of
from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels, channels_in, channels_of
from ..fcurves.cycles_modifier import repeats
from ..fcurves.keyframes import KEY_TYPE, KeyBlock, read_joined
from .paths import BONES, FRAME_FUNCTION, is_stray, split, track_of
from .table import key_identity
from .table.custom_property import (
    NO_TABLE,
    Bake,
    Channel,
    Table,
    TrackState,
    read_table,
    remembered_tables,
)
from .table.session import session
from .table.settings import Settings
from .velocity_properties import is_derived

EULER_ORDERS: tuple[rotations.Order, ...] = get_args(rotations.Order)

_ROTATIONS = {
    "rotation_quaternion": "QUATERNION",
    "delta_rotation_quaternion": "QUATERNION",
    "rotation_axis_angle": "AXIS_ANGLE",
    "rotation_euler": "EULER",
    "delta_rotation_euler": "EULER",
}
_OF_MODE = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def rotation_property(mode: str) -> str:
    """Return the rotation property of objects and bones with this rotation mode."""
    return _OF_MODE.get(mode, "rotation_euler")


@dataclass
class Track:
    """The F-curves of one animated property, interpolated together."""

    name: str
    """Name of the datablock."""
    path: str
    kind: str
    """VECTOR (separate components), QUATERNION, AXIS_ANGLE or EULER."""
    order: rotations.Order = "XYZ"
    """The Euler order."""
    in_use: bool = True
    """False if the rotation mode of the object or bone does not use these F-curves."""
    rest: tuple[float, ...] = ()
    """Current components of the property, used for components without an F-curve."""
    channels: dict[int, bpy.types.FCurve] = field(default_factory=dict)
    slot: int = 0
    """Handle of the action's slot that contains the track."""
    state: TrackState | None = None
    """The track's entry in the table of its action. If None, the track is not TCB."""
    table: Table = NO_TABLE
    """The table of the action, as it was read."""
    datablock: bpy.types.ID | None = None
    frame_curve: bpy.types.FCurve | None = None
    """The track's own frame function (see frame_functions.py)."""
    datablock_frame_curve: bpy.types.FCurve | None = None
    """The datablock's frame function."""
    driven: bool = False
    """True if a driver, instead of keys, controls the value of a component."""
    baked_paths: set[str] = field(default_factory=set)
    """Paths of the baked tracks among the tracks found together."""
    groups: dict[str, bool] = field(default_factory=dict)
    """For tracks found together, a cache of whether a locked group was locked by a bake."""

    @cached_property
    def is_rotation(self) -> bool:
        """Return whether the components together represent a rotation."""
        return self.kind != "VECTOR"

    @property
    def enabled(self) -> bool:
        """Return whether the track is TCB."""
        return self.state is not None

    @property
    def bake(self) -> Bake | None:
        """Return the track's bake, or None."""
        return self.state.bake if self.state is not None else None

    @property
    def is_baked(self) -> bool:
        """Return whether generated keys on locked channels play the track."""
        return self.bake is not None

    @property
    def is_played_by_handles(self) -> bool:
        """Return whether the handles of the animator's keys play the track."""
        return self.state is not None and self.state.bake is None and self.state.settings.options is not None

    @property
    def is_played(self) -> bool:
        """Return whether a bake or handles play the track."""
        return self.state is not None and self.state.settings.options is not None

    @property
    def all_written(self) -> list[Channel]:
        """Return the records of all channels' handles in order. Return an empty result if a channel has no records."""
        before = self.state.channels if self.state is not None else {}
        return [before[index] for index in self.channels] if before.keys() >= self.channels.keys() else []

    @property
    def is_at_home(self) -> bool:
        """Return whether the table lists the track with its current slot and path.

        Such a track was neither renamed nor moved with its slot.
        """
        return (self.slot, self.path) in self.table.identity_of

    @property
    def locked(self) -> bool:
        """Return whether the animator has locked a channel or its group. Locks set by a bake are ignored."""
        baked = self.bake.channels if self.bake is not None else {}
        if any(fcurve.lock for index, fcurve in self.channels.items() if index not in baked):
            return True
        groups = (fcurve.group for fcurve in self.channels.values())
        return any(group is not None and group.lock and not self._is_locked_by_bake(group) for group in groups)

    def _is_locked_by_bake(self, group: bpy.types.ActionGroup) -> bool:
        """Return whether a group was locked by a bake and not by the animator.

        A bake locks groups whose channels are all baked. Channels that were added later are not locked, unless the
        animator has clicked the padlock of the group.
        """
        key = group.name
        if key not in self.groups:
            channels = list(group.channels)
            others = [fcurve for fcurve in channels if not self._is_baked(fcurve.data_path)]
            has_baked = len(others) < len(channels)
            self.groups[key] = has_baked and not (others and all(fcurve.lock for fcurve in others))
        return self.groups[key]

    def _is_baked(self, path: str) -> bool:
        return path in self.baked_paths or (self.slot, path) in self.table.baked

    @property
    def curves_and_groups(self) -> list[bpy.types.FCurve | bpy.types.ActionGroup]:
        """Return the F-curves of the channels and their groups."""
        groups = [fcurve.group for fcurve in self.channels.values()]
        return [*self.channels.values(), *[group for group in groups if group is not None]]

    @property
    def group(self) -> bpy.types.ActionGroup | None:
        """Return the channel group for F-curves added to the track."""
        groups = (fcurve.group for fcurve in self.channels.values())
        return next((group for group in groups if group is not None), None)

    @property
    def group_name(self) -> str:
        return self.group.name if self.group is not None else ""

    @property
    def settings(self) -> Settings:
        """Return the saved settings, or the settings that Enable would choose for a track that was never enabled."""
        return self._chosen_by_enable if self.state is None else self.state.settings

    @cached_property
    def _chosen_by_enable(self) -> Settings:
        return default_settings(self)

    @property
    def made(self) -> dict[int, float]:
        """Return the components whose F-curves the bake created, with the previous values of the property."""
        bake = self.bake
        channels = bake.channels if bake is not None else {}
        return {index: channel.rest for index, channel in channels.items() if channel.rest is not None}

    def component(self, index: int) -> float:
        """Return the value of a component that the animator has not animated."""
        rest = self.made.get(index)
        return self.rest[index] if rest is None else rest

    def extrapolation(self, index: int) -> Literal["CONSTANT", "LINEAR"]:
        """Return the animator's extrapolation of a channel, which is saved for a baked track."""
        baked = self.bake.channels.get(index) if self.bake is not None else None
        if baked is not None:
            return baked.extrapolation
        return self.channels[index].extrapolation if index in self.channels else "CONSTANT"

    def finding(self, code: str, *arguments: Any, frame: float | None = None) -> Finding:
        """Return a finding that names the track."""
        return Finding(code, self.name, self.path, frame, arguments)

    def error(self, code: str, *arguments: Any, frame: float | None = None) -> AnimationError:
        """Return an error that names the track."""
        return AnimationError(self.finding(code, *arguments, frame=frame))


def default_settings(track: Track) -> Settings:
    """Return the settings that Enable would choose for the track.

    Turns of more than 180 degrees between keys are preserved for Euler angles and axis-angles, whose keys can represent
    such turns. Quaternion keys can't represent such turns with either sign. If every channel has a Cycles modifier, the
    modifiers determine the cycle.
    """
    path: Path = "AS_KEYED" if track.kind in ("EULER", "AXIS_ANGLE") else "SHORTEST"
    cycle: Cycle = "SINGLE"
    if track.channels and all(repeats(fcurve) for fcurve in track.channels.values()):
        closed = all(_closes(fcurve) for fcurve in track.channels.values())
        cycle = "LOOP" if closed else "REPEAT"
    return Settings(cycle=cycle, path=path)


def _closes(fcurve: bpy.types.FCurve) -> bool:
    points = fcurve.keyframe_points
    return len(points) > 1 and points[0].co.y == points[-1].co.y


def find_tracks(datablock: bpy.types.ID, channels: Channels, prefixes: Iterable[str] | None = None) -> list[Track]:
    """Find all float properties of the datablock that have F-curves, in the order of their first F-curves.

    `prefixes` limits the result to paths that start with one of the prefixes, for example the path of a bone.
    """
    if prefixes is None:
        return _tracks_among(datablock, channels, channels)
    starts = tuple(prefixes)
    paths = (*starts, FRAME_FUNCTION)
    near = [fcurve for fcurve in channels if (path := fcurve.data_path).startswith(paths) or "tcb_tracks" in path]
    tracks = _tracks_among(datablock, channels, near)
    if any(track.enabled and not track.is_at_home for track in tracks):
        # A track outside the prefixes may have more of the keys, and would then get the state.
        tracks = _tracks_among(datablock, channels, channels)
    return [track for track in tracks if track.path.startswith(starts)]


def rotations_without_owner(channels: Channels, known: Iterable[Track] = ()) -> list[Track]:
    """Return the rotations among the F-curves' paths, except known tracks, as tracks that are not in use.

    No datablock animated by the F-curves has these rotations, so the Euler order is unknown.
    """
    paths = {track.path for track in known}
    tracks: dict[str, Track] = {}
    for fcurve in channels:
        path = fcurve.data_path
        kind = _ROTATIONS.get(split(path)[1])
        if kind is None or path in paths:
            continue
        rest = (0.0,) * (3 if kind == "EULER" else 4)
        track = tracks.setdefault(path, Track(name_of(channels.action), path, kind, in_use=False, rest=rest))
        track.channels[fcurve.array_index] = fcurve
    found = list(tracks.values())
    _give_states(channels, found, {})
    return found


def refreshed(datablock: bpy.types.ID, channels: Channels, tracks: Sequence[Track]) -> list[Track]:
    """Return the tracks with their current state, because rotation mode and other properties may have changed."""
    timing = [curve for track in tracks for curve in (track.frame_curve, track.datablock_frame_curve)]
    own = [fcurve for track in tracks for fcurve in track.channels.values()]
    fcurves = [*own, *(fcurve for fcurve in timing if fcurve is not None)]
    return _tracks_among(datablock, channels, fcurves, {track.path: track for track in tracks})


class Properties:
    """The float properties of a datablock, as tracks with their F-curves. F-curves are searched only once."""

    def __init__(self, datablock: bpy.types.ID) -> None:
        self.datablock = datablock
        self.name = name_of(datablock)
        try:
            found = find_tracks(datablock, channels_of(datablock))
        except AnimationError:
            found = []
        self._tracks = {track.path: track for track in found}

    def track(self, path: str) -> Track | None:
        """Return the property at the path, or None if it is not a float property."""
        return self._tracks.get(path) or _track(self.datablock, self.name, path)


def tracks_shown(datablock: bpy.types.ID, channels: Channels, bone: str = "") -> list[Track]:
    """Find the tracks to list in the sidebar: the tracks of one bone, given by path, or the tracks outside bones.

    All other F-curves are skipped, because the sidebar calls this on every redraw.
    """
    if bone:
        starts = (bone, FRAME_FUNCTION)
        return _tracks_among(datablock, channels, (each for each in channels if each.data_path.startswith(starts)))
    return _tracks_among(datablock, channels, (each for each in channels if not each.data_path.startswith(BONES)))


def tracks_among(datablock: bpy.types.ID, channels: Channels, fcurves: Iterable[bpy.types.FCurve]) -> list[Track]:
    """Find the tracks of the given F-curves (see `find_tracks`)."""
    return _tracks_among(datablock, channels, fcurves)


def _tracks_among(
    datablock: bpy.types.ID,
    channels: Channels,
    fcurves: Iterable[bpy.types.FCurve],
    before: Mapping[str, Track] | None = None,
) -> list[Track]:
    """Find the tracks of F-curves.

    `before` contains tracks by path. The states of these tracks are reused if the table is unchanged.
    """
    name = name_of(datablock)
    tracks: dict[str, Track | None] = {}
    owners: dict[str, Any] = {}
    own_timing: list[tuple[str, bpy.types.FCurve]] = []
    timing = None
    for fcurve in fcurves:
        path = fcurve.data_path
        known = tracks.get(path)
        if known is not None:
            known.channels[fcurve.array_index] = fcurve
            continue
        timed = track_of(path) if "tcb_tracks" in path else ""
        if timed:
            own_timing.append((timed, fcurve))
            continue
        if is_stray(path) or is_derived(path):
            continue
        if path == FRAME_FUNCTION:
            timing = fcurve
            continue
        if path not in tracks:
            track = tracks[path] = _track(datablock, name, path, owners)
            if track is not None:
                track.channels[fcurve.array_index] = fcurve
    for path, fcurve in own_timing:
        owner = tracks.get(path)
        if owner is not None:
            owner.frame_curve = fcurve
    found = [track for track in tracks.values() if track is not None]
    for track in found:
        track.datablock, track.datablock_frame_curve = datablock, timing
    _give_states(channels, found, before or {})
    _mark_driven(datablock, found)
    baked_paths = {track.path for track in found if track.is_baked}
    groups: dict[str, bool] = {}
    for track in found:
        track.baked_paths, track.groups = baked_paths, groups
    return found


def lost_tracks(datablock: bpy.types.ID, channels: Channels, found: Sequence[Track]) -> list[Track]:
    """Return the slot's baked tracks that have lost their F-curves. The table still contains the keys of these tracks.

    `found` contains all tracks of the datablock with F-curves. One of the found tracks may be a lost track under a new
    path.
    """
    table, name, owners = read_table(channels.action), name_of(datablock), dict[str, Any]()
    known = {track.state.identity for track in found if track.state is not None}
    lost = []
    for slot, path in sorted(table.baked):
        if slot != channels.slot_handle or table.identity_of[slot, path] in known:
            continue
        track = _track(datablock, name, path, owners)
        if track is not None:
            track.datablock, track.table, track.slot = datablock, table, slot
            with suppress(ValueError):
                track.state = table.state(slot, path)
                lost.append(track)
    return lost


def _give_states(channels: Channels, tracks: list[Track], before: Mapping[str, Track]) -> None:
    """Find each track's entry in the action's table, either by slot and path or by the identities of its keys."""
    table = read_table(channels.action)
    for track in tracks:
        track.table, track.slot = table, channels.slot_handle
    if table.error:
        return
    for track in tracks:
        known = before.get(track.path)
        try:
            is_its = known is not None and known.table is table and known.slot == track.slot
            track.state = known.state if known and is_its else table.state(channels.slot_handle, track.path)
        except ValueError as error:
            track.table = replace(table, error=Finding("TABLE_DAMAGED", arguments=(str(error),)))
    if len(session.rows):
        _follow_keys([track for track in tracks if track.state is None and not track.table.error])


def _follow_keys(tracks: Sequence[Track]) -> None:
    """If a track's keys come from a track that has lost its F-curves, copy the state of that original track.

    The original track was renamed or moved with its slot. If several tracks have keys from the original track, the
    track with the most of these keys gets the state.
    """
    claims: dict[tuple[int, int, str], list[tuple[int, Track, TrackState]]] = {}
    for track, owners in _owners_of_keys(tracks):
        found = _origin(track, owners)
        if found is not None:
            count, action, state = found
            claims.setdefault((action, state.slot, state.path), []).append((count, track, state))
    for claimed in claims.values():
        count, track, state = max(claimed, key=lambda claim: claim[0])
        track.state = replace(state, slot=track.slot, path=track.path)


def _owners_of_keys(tracks: Sequence[Track]) -> Iterator[tuple[Track, npt.NDArray[np.uint32]]]:
    """Yield each track with identities in its keys, together with the original tracks of these keys."""
    curves = [(number, fcurve) for number, track in enumerate(tracks) for fcurve in track.channels.values()]
    if not curves:
        return
    block = KeyBlock([curve.keyframe_points for _, curve in curves])
    amplitude = block.read("amplitude")
    if key_identity.are_plain(amplitude):
        return
    at = session.rows.find(key_identity.spelled(amplitude, block.read("period")))
    if (at < 0).all():
        return
    track_of_key = np.repeat([number for number, _ in curves], block.counts)[at >= 0]
    owners = session.rows["track"][at[at >= 0]]
    for number in np.unique(track_of_key).tolist():
        yield tracks[number], owners[track_of_key == number]


def _origin(track: Track, owners: npt.NDArray[np.uint32]) -> tuple[int, int, TrackState] | None:
    """Return the track from which most keys originate: the number of these keys, the track's action and its state.

    Keys from tracks that still have F-curves are ignored, because they were pasted.
    """
    counts = Counter(owners.tolist())
    places = {owner: _place_of(track, owner) for owner in counts}
    gone = {owner: counts[owner] for owner, place in places.items() if place is None or not _is_present(*place)}
    if not gone:
        return None
    owner = max(gone, key=lambda each: gone[each])
    place = places[owner]
    return None if place is None or 2 * gone[owner] <= sum(gone.values()) else (gone[owner], *place)


def _place_of(track: Track, owner: int) -> tuple[int, TrackState] | None:
    """Return the action and the state of the track with the identity `owner`, if it is another track."""
    present: Any = next(iter(track.channels.values())).id_data
    # The session also remembers deleted tracks.
    known = {present.session_uid: track.table}
    known |= {action: table for action, table in remembered_tables().items() if action != present.session_uid}
    for action, table in known.items():
        state = table.find_state(owner)
        if state is not None and (action, state.slot, state.path) != (present.session_uid, track.slot, track.path):
            return action, state
    return None


def _is_present(action: int, state: TrackState) -> bool:
    """Return whether the track still has an F-curve at its own slot and path."""
    owner = next((each for each in bpy.data.actions if each.session_uid == action), None)
    if owner is None:
        return False
    return any(
        fcurve.data_path == state.path for bag in channels_in(owner) if bag.slot_handle == state.slot for fcurve in bag
    )


def _mark_driven(datablock: bpy.types.ID, tracks: Iterable[Track]) -> None:
    animation: Any = animation_data(datablock)
    driven = {(driver.data_path, driver.array_index) for driver in animation.drivers if not driver.mute}
    for track in tracks if driven else ():
        # A rotation is a single value, so a driver on one component changes the meaning of the other components' keys.
        components = range(len(track.rest)) if track.is_rotation else track.channels
        track.driven = any((track.path, index) in driven for index in components)


def _track(datablock: bpy.types.ID, title: str, path: str, owners: dict[str, Any] | None = None) -> Track | None:
    """Create the track of a property, without F-curves. Return None if the path is not a float property.

    `owners` is a cache of owners by path, to which the owner of this path is added.
    """
    owner_path, name = split(path)
    owners = {} if owners is None else owners
    try:
        if owner_path not in owners:
            owners[owner_path] = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
        owner = owners[owner_path]
        rest = _components(owner, name)
    except (ValueError, KeyError, TypeError, AttributeError):
        # The path may not resolve to a property (for example, a path through a missing parent), or only to a number.
        return None
    if rest is None:
        return None
    kind = _ROTATIONS.get(name, "VECTOR") if hasattr(owner, "rotation_mode") else "VECTOR"
    track = Track(title, path, kind, rest=rest)
    if track.is_rotation:
        mode = owner.rotation_mode
        track.order = mode if mode in EULER_ORDERS else "XYZ"
        track.in_use = kind == ("EULER" if mode in EULER_ORDERS else mode)
    return track


def _components(owner: bpy.types.ID, name: str) -> tuple[float, ...] | None:
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


def played_otherwise(tracks: Iterable[Track], users: Sequence[bpy.types.ID]) -> list[Finding]:
    """Return notes on `users` with a rotation mode that differs from the mode used to read the tracks."""
    notes = []
    for track in tracks:
        for user in users if track.is_rotation else ():
            if user == track.datablock:
                continue
            other = _track(user, name_of(user), track.path)
            played = track.in_use or (other is not None and other.in_use)
            if other is not None and played and is_of_another_mode(other, track):
                notes.append(other.finding("SHARED_MODE", track.name))
    return notes


def is_of_another_mode(track: Track, other: Track) -> bool:
    """Return whether the F-curves of a rotation have a different meaning for the other datablock."""
    return (track.in_use, track.order) != (other.in_use, other.order)


def looks_baked(track: Track) -> bool:
    """Return whether a track without a readable table entry has locked curves, as it would after a bake.

    Tracks that do not move, or that Blender plays, have no generated keys and look like TCB tracks locked by the
    animator. If the entire table is lost, such tracks are also treated as baked.
    """
    if (track.slot, track.path) in track.table.baked:
        return True
    locked = [fcurve for fcurve in track.channels.values() if fcurve.lock]
    if not locked:
        return False
    keys = read_joined(locked, ("back", "amplitude", "period", "type")).keys
    is_lost = not track.table.tracks
    return bool(key_identity.carry_identities(keys).any()) and (
        is_lost or bool((keys.type == KEY_TYPE["GENERATED"]).any())
    )
