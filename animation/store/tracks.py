# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tracks a datablock has: the F-curves of one animated float property each, with their companions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, get_args

import bpy

from ...interp import rotations
from ...interp.orientations import Path
from ...interp.segments import Cycle
from ...words import n_, rpt_
from ..datablocks import name_of
from ..faults import Refusal
from ..fcurves.channels import Channels, channels_of
from .companions import (
    FRAME,
    SAVED,
    SETTINGS,
    VELOCITY,
    companion_path,
    field_of,
    is_stray,
    saved_rest,
    split,
    track_and_field,
    velocity_of,
)
from .renames import renamed
from .settings import Settings, read_settings

EULER_ORDERS: tuple[rotations.Order, ...] = get_args(rotations.Order)

_ROTATIONS = {
    "rotation_quaternion": "QUATERNION",
    "delta_rotation_quaternion": "QUATERNION",
    "rotation_axis_angle": "AXIS_ANGLE",
    "rotation_euler": "EULER",
    "delta_rotation_euler": "EULER",
}


@dataclass
class Track:
    """The F-curves of one animated property, interpolated as one."""

    name: str
    """The datablock's."""
    path: str
    kind: str
    """VECTOR (each component by itself), QUATERNION, AXIS_ANGLE or EULER."""
    order: rotations.Order = "XYZ"
    """The Euler order."""
    in_use: bool = True
    """False for the curves of another rotation mode than the one that the object or bone has now."""
    rest: tuple[float, ...] = ()
    """The property's present components: those that no F-curve moves."""
    channels: dict[int, bpy.types.FCurve] = field(default_factory=dict)
    parameters: dict[str, bpy.types.FCurve] = field(default_factory=dict)
    saved: dict[int, bpy.types.FCurve] = field(default_factory=dict)
    settings_curve: bpy.types.FCurve | None = None
    datablock: bpy.types.ID | None = None
    frame_curve: bpy.types.FCurve | None = None
    """Its own frame function (see frame_functions.py)."""
    datablock_frame_curve: bpy.types.FCurve | None = None
    """That of the datablock."""
    moved: dict[float, float | None] = field(default_factory=dict)
    """Frames of parameters that their keys have left, with where those are now; None: gone."""
    driven: bool = False
    """Some component's driver decides its value, not the keys."""

    @property
    def is_rotation(self) -> bool:
        return self.kind != "VECTOR"

    @property
    def enabled(self) -> bool:
        return self.settings_curve is not None

    @property
    def baked(self) -> bool:
        return bool(self.saved)

    @property
    def locked(self) -> bool:
        return any(fcurve.lock or (fcurve.group is not None and fcurve.group.lock) for fcurve in self.channels.values())

    @property
    def group(self) -> bpy.types.ActionGroup | None:
        """The channel group that its companions join."""
        groups = (fcurve.group for fcurve in self.channels.values())
        return next((group for group in groups if group is not None), None)

    @property
    def group_name(self) -> str:
        return self.group.name if self.group is not None else ""

    @property
    def settings(self) -> Settings:
        """The saved choices; for a track that was never enabled, those that Enable would make."""
        if self.settings_curve is None:
            return default_settings(self)
        return read_settings(self.settings_curve, self.name, self.path)

    @property
    def made(self) -> dict[int, float]:
        """The components whose F-curve the bake made, with the value that the property had before."""
        return {index: rest for index, fcurve in self.saved.items() if (rest := saved_rest(fcurve)) is not None}

    def component(self, index: int) -> float:
        """The value of a component that none of the animator's F-curves moves."""
        rest = self.made.get(index)
        return self.rest[index] if rest is None else rest

    def follow_rename(self) -> None:
        """Give companions that were found under another name the paths that belong to this track's."""
        kept = [(SETTINGS, self.settings_curve)] if self.settings_curve is not None else []
        kept += [*self.parameters.items(), *((SAVED, fcurve) for fcurve in self.saved.values())]
        kept += [(FRAME, self.frame_curve)] if self.frame_curve is not None else []
        for name, fcurve in kept:
            path = companion_path(self.path, field_of(name)[0])
            if fcurve.data_path != path:
                fcurve.data_path = path

    @property
    def companions(self) -> Iterator[bpy.types.FCurve]:
        yield from self.parameters.values()
        yield from self.saved.values()
        if self.settings_curve is not None:
            yield self.settings_curve

    def refusal(self, reason: str, frame: float | None = None) -> Refusal:
        return Refusal(self.name, reason, self.path, frame)


def default_settings(track: Track) -> Settings:
    """Turns of more than half a turn are kept where the keys say them: Euler angles and axis-angles can, quaternions
    of either sign can't. A Cycles modifier on every channel means a cycle."""
    path: Path = "AS_KEYED" if track.kind in ("EULER", "AXIS_ANGLE") else "SHORTEST"
    cycle: Cycle = "SINGLE"
    if track.channels and all(repeats(fcurve) for fcurve in track.channels.values()):
        closed = all(_closes(fcurve) for fcurve in track.channels.values())
        cycle = "LOOP" if closed else "REPEAT"
    return Settings(cycle=cycle, path=path)


def repeats(fcurve: bpy.types.FCurve) -> bool:
    """Whether a Cycles modifier repeats the curve by itself."""
    return any(modifier.type == "CYCLES" and not modifier.mute for modifier in fcurve.modifiers)


def _closes(fcurve: bpy.types.FCurve) -> bool:
    points = fcurve.keyframe_points
    return len(points) > 1 and points[0].co.y == points[-1].co.y


def find_tracks(
    datablock: bpy.types.ID, channels: Iterable[bpy.types.FCurve], prefixes: Iterable[str] | None = None
) -> list[Track]:
    """All float tracks of the datablock that have F-curves among `channels`, in the order of the first of these.

    `prefixes`: only those whose path starts with one of them (a bone's, say).
    """
    tracks = _tracks_among(datablock, channels)
    if prefixes is None:
        return tracks
    starts = tuple(prefixes)
    return [track for track in tracks if track.path.startswith(starts)]


def refreshed(datablock: bpy.types.ID, track: Track) -> Track | None:
    """The track as it is now: the rotation mode and what else the property's owner decides may have changed."""
    timing = (fcurve for fcurve in (track.frame_curve, track.datablock_frame_curve) if fcurve is not None)
    return next(iter(_tracks_among(datablock, (*track.channels.values(), *track.companions, *timing))), None)


def track_at(datablock: bpy.types.ID, path: str) -> Track | None:
    """The property at the path as a track, with the F-curves that there are; None where it leads to no float
    property."""
    try:
        own = [fcurve for fcurve in channels_of(datablock) if _is_about(fcurve.data_path, path)]
    except Refusal:
        own = []
    found = next(iter(_tracks_among(datablock, own)), None) if own else None
    return found or _track(datablock, name_of(datablock), path)


def _is_about(data_path: str, path: str) -> bool:
    """Whether it is the path, or that of a companion of its track."""
    return data_path == path or (track_and_field(data_path) or ("", ""))[0] == path


DERIVED = ("velocity", "acceleration", "angular_velocity", "angular_acceleration", "speed")
"""Kinds of custom properties that tell how a track moves."""
_DERIVED = re.compile(rf'\["tcb_(?:[^"\\]|\\.)*_(?:{"|".join(DERIVED)})"\]$')


def is_derived(path: str) -> bool:
    """Whether it is a custom property that tells how a track moves: computed from keys, so no track to be baked. Its
    name alone says so: "tcb_location_velocity"."""
    return _DERIVED.search(path) is not None


BONES = 'pose.bones["'
FRAME_FUNCTION = "tcb_frame"
"""The path of a datablock's frame function, which is no track."""


def tracks_shown(datablock: bpy.types.ID, channels: Channels, bone: str = "") -> list[Track]:
    """As `find_tracks`, of one bone (its path), or of the datablock without its bones: what a sidebar lists.

    The other curves are not looked at, because a sidebar asks on every redraw. So the companions of a bone that was
    renamed while the extension was off are found by `find_tracks` alone.
    """
    if bone:
        starts = (bone, FRAME_FUNCTION)
        return _tracks_among(datablock, (fcurve for fcurve in channels if fcurve.data_path.startswith(starts)))
    return _tracks_among(datablock, (fcurve for fcurve in channels if not fcurve.data_path.startswith(BONES)))


def _tracks_among(datablock: bpy.types.ID, fcurves: Iterable[bpy.types.FCurve]) -> list[Track]:
    name = name_of(datablock)
    tracks: dict[str, Track | None] = {}
    companions: list[tuple[str, str, bpy.types.FCurve]] = []
    timing = None
    for fcurve in fcurves:
        path = fcurve.data_path
        companion = track_and_field(path)
        if companion is not None:
            companions.append((*companion, fcurve))
            continue
        if is_stray(path) or is_derived(path):
            continue
        if path == FRAME_FUNCTION:
            timing = fcurve
            continue
        if path not in tracks:
            tracks[path] = _track(datablock, name, path)
        track = tracks[path]
        if track is not None:
            track.channels[fcurve.array_index] = fcurve
    lost: dict[str, list[bpy.types.FCurve]] = {}
    for path, kept, fcurve in companions:
        track = tracks.get(path)
        if track is not None:
            _attach(track, kept, fcurve)
        elif path not in tracks:
            lost.setdefault(path, []).append(fcurve)
    found = [track for track in tracks.values() if track is not None]
    for track in found:
        track.datablock, track.datablock_frame_curve = datablock, timing
    if lost:
        bare = {track.path: track.channels.values() for track in found if not any(track.companions)}
        moved = renamed(lost, bare)
        for path, kept, fcurve in companions:
            if path in moved:
                _attach(tracks[moved[path]], kept, fcurve)
    _mark_driven(datablock, found)
    return found


def _mark_driven(datablock: bpy.types.ID, tracks: Iterable[Track]) -> None:
    animation: Any = getattr(datablock, "animation_data")  # noqa: B009  not every ID has it
    driven = {(driver.data_path, driver.array_index) for driver in animation.drivers if not driver.mute}
    for track in tracks:
        # A rotation is one value: what one component's driver decides, changes what the keys of the others mean.
        components = range(len(track.rest)) if track.is_rotation else track.channels
        track.driven = any((track.path, index) in driven for index in components)


def _attach(track: Track | None, kept: str, fcurve: bpy.types.FCurve) -> None:
    if track is None:
        return
    if kept == SETTINGS:
        track.settings_curve = fcurve
    elif kept == SAVED:
        track.saved[fcurve.array_index] = fcurve
    elif kept == FRAME:
        track.frame_curve = fcurve
    else:
        track.parameters[velocity_of(fcurve.array_index) if kept == VELOCITY else kept] = fcurve


def _track(datablock: bpy.types.ID, title: str, path: str) -> Track | None:
    """None where the path leads to no float property."""
    owner_path, name = split(path)
    try:
        owner: Any = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
        rest = _components(owner, name)
    except (ValueError, KeyError, TypeError):
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


def _components(owner: Any, name: str) -> tuple[float, ...] | None:
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


NOT_IN_USE = n_("not in use: the rotation mode is another")


def why_not(track: Track, *, without_keys: bool = False) -> str:
    """Why the track can't be baked as it is now; empty where it can, or could but for F-curves `without_keys`."""
    if not track.in_use:
        return rpt_(NOT_IN_USE)
    if track.locked:
        return rpt_("locked; unlock its channels first")
    if track.driven:
        return rpt_("driven: the driver decides its value, not the keys")
    for index, fcurve in track.channels.items():
        group = fcurve.group
        if fcurve.mute or (group is not None and group.mute):
            return rpt_("muted; unmute its channels first")
        if len(fcurve.sampled_points):
            return rpt_("a sampled curve has no keys; convert it to keyframes first (Graph Editor, Channel menu)")
        if not (without_keys or len(fcurve.keyframe_points)):
            return rpt_("its component {:d} has an F-curve without keys; key it or delete it", index)
    return ""
