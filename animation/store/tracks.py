# SPDX-License-Identifier: GPL-3.0-or-later
"""A track: the F-curves of an animated float property, interpolated together, and its TCB state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import bpy

from ...interp import rotations
from ...interp.base_spline import Cycle
from ...interp.splines import METHODS
from ..fcurves.cycles_modifier import repeats
from ..fcurves.keyframes import KEY_TYPE
from ..fcurves.read_and_write import read_joined
from ..report import AnimationError, Finding
from .table import key_identity
from .table.custom_property import NO_TABLE, Table
from .table.track_records import Bake, Channel, Settings, TrackState, TurnPath

EULER_ORDERS: tuple[rotations.Order, ...] = get_args(rotations.Order)

KIND_BY_PROPERTY = {
    "rotation_quaternion": "QUATERNION",
    "delta_rotation_quaternion": "QUATERNION",
    "rotation_axis_angle": "AXIS_ANGLE",
    "rotation_euler": "EULER",
    "delta_rotation_euler": "EULER",
}
"""Kinds of rotation tracks."""
_PROPERTY_BY_MODE = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def rotation_property(mode: str) -> str:
    """Return the rotation property of objects and bones with this rotation mode."""
    return _PROPERTY_BY_MODE.get(mode, "rotation_euler")


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
    group_locked_by_bake: dict[str, bool] = field(default_factory=dict)
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
        records = self.state.channels if self.state is not None else {}
        return [records[index] for index in self.channels] if records.keys() >= self.channels.keys() else []

    @property
    def is_at_home(self) -> bool:
        """Return whether the table lists the track with its current slot and path.

        Such a track was neither renamed nor moved with its slot.
        """
        return (self.slot, self.path) in self.table.identity_of

    @property
    def locked(self) -> bool:
        """Return whether the animator has locked a channel or its group. Locks set by a bake are ignored."""
        baked_channels = self.bake.channels if self.bake is not None else {}
        for index, fcurve in self.channels.items():
            if fcurve.lock and index not in baked_channels:
                return True
            group = fcurve.group
            if group is not None and group.lock and not self._is_locked_by_bake(group):
                return True
        return False

    def _is_locked_by_bake(self, group: bpy.types.ActionGroup) -> bool:
        if group.name not in self.group_locked_by_bake:
            fcurves = list(group.channels)
            not_baked = [fcurve for fcurve in fcurves if not self._is_baked(fcurve.data_path)]
            self.group_locked_by_bake[group.name] = is_locked_by_bake(fcurves, not_baked)
        return self.group_locked_by_bake[group.name]

    def _is_baked(self, path: str) -> bool:
        return path in self.baked_paths or (self.slot, path) in self.table.baked

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
        return default_settings(self) if self.state is None else self.state.settings

    @property
    def created_by_bake(self) -> dict[int, float]:
        """Return the components whose F-curves the bake created, with the previous values of the property."""
        bake = self.bake
        if bake is None:
            return {}
        return {index: channel.rest for index, channel in bake.channels.items() if channel.rest is not None}

    def component(self, index: int) -> float:
        """Return the value of a component that the animator has not animated."""
        rest = self.created_by_bake.get(index)
        return self.rest[index] if rest is None else rest

    def extrapolation(self, index: int) -> Literal["CONSTANT", "LINEAR"]:
        """Return the animator's extrapolation of a channel, which is saved for a baked track."""
        bake = self.bake
        if bake is not None and index in bake.channels:
            return bake.channels[index].extrapolation
        return self.channels[index].extrapolation if index in self.channels else "CONSTANT"

    def finding(self, code: str, *arguments: Any, frame: float | None = None) -> Finding:
        """Return a finding that names the track."""
        return Finding(code, self.name, self.path, frame, arguments)

    def error(self, code: str, *arguments: Any, frame: float | None = None) -> AnimationError:
        """Return an error that names the track."""
        return AnimationError(self.finding(code, *arguments, frame=frame))


def is_locked_by_bake(fcurves: Sequence[bpy.types.FCurve], not_baked: Sequence[bpy.types.FCurve]) -> bool:
    """Return whether a locked group with these F-curves was locked by a bake and not by the animator.

    A bake locks groups whose channels are all baked. Channels that were added later are not locked, unless the animator
    has clicked the padlock of the group.
    """
    has_padlock = bool(not_baked) and all(fcurve.lock for fcurve in not_baked)
    return len(not_baked) < len(fcurves) and not has_padlock


def default_settings(track: Track) -> Settings:
    """Return the settings that Enable would choose for the track.

    Turns of more than 180 degrees between keys are preserved for Euler angles and axis-angles, whose keys can represent
    such turns. Quaternion keys can't represent such turns with either sign. If every channel has a Cycles modifier, the
    modifiers determine the cycle.
    """
    path: TurnPath = "AS_KEYED" if track.kind in ("EULER", "AXIS_ANGLE") else "SHORTEST"
    cycle: Cycle = "SINGLE"
    if track.channels and all(map(repeats, track.channels.values())):
        cycle = "LOOP" if all(map(_closes, track.channels.values())) else "REPEAT"
    return Settings(cycle=cycle, path=path)


def _closes(fcurve: bpy.types.FCurve) -> bool:
    """Return whether the first and last keys have the same value."""
    points = fcurve.keyframe_points
    return len(points) > 1 and points[0].co.y == points[-1].co.y


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
    is_table_lost = not track.table.tracks
    has_generated_keys = bool((keys.type == KEY_TYPE["GENERATED"]).any())
    return bool(key_identity.have_identities(keys).any()) and (is_table_lost or has_generated_keys)


# The interpolation method


def spline_class_of(track: Track, settings: Settings) -> type[Any]:
    """Return the class of the track's splines. Raise AnimationError if the method does not support the track."""
    method = METHODS[settings.method]
    spline_class = method.rotations if track.is_rotation else method.values
    if spline_class is None:
        raise track.error("METHOD_FOR_VALUES" if track.is_rotation else "METHOD_FOR_ROTATIONS", method.label)
    return spline_class


def setting_names(track: Track, settings: Settings) -> tuple[str, ...]:
    """Return the names of the settings that the method's splines use, as in `Method`."""
    method = METHODS[settings.method]
    return method.rotation_options if track.is_rotation else method.value_options


def bends_by_parameters(track: Track, settings: Settings) -> bool:
    """Return whether tension, continuity and bias have an effect on the track. Ease always has an effect."""
    by_angles = "angles" in setting_names(track, settings)
    return (settings.angles if by_angles else settings.method) == Settings.method
