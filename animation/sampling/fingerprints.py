# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of the data that determine the transforms of objects and bones.

Handles only approximate some tracks, and nothing plays the motion of a track that is off until it is baked. Restored
tracks are not included, because they play the animator's curves.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any
from zlib import crc32

import bpy
import numpy as np

from ..fcurves.channels import channels_of
from ..fcurves.cycles_modifier import can_repeat
from ..fcurves.read_and_write import read_joined
from ..report import AnimationError
from ..store.find_tracks import find_tracks, tracks_among
from ..store.frame_functions import function_of
from ..store.paths import bone_path
from ..store.table.custom_property import read_table
from ..store.tracks import Track
from ..store.up_to_date import RESTORED
from .transforms import plays

# Tracks whose F-curves do not play the exact motion


def _inexact_tracks(
    datablock: bpy.types.ID, owner: str, curves: Mapping[str, Sequence[bpy.types.FCurve]]
) -> list[Track]:
    """Return the inexact tracks of the object, or of the bone whose path is `owner`.

    `curves` contains the F-curves of the datablock by their paths up to the last dot.
    """
    if not curves.get(owner):
        return []
    channels = channels_of(datablock)
    if not read_table(channels.action).inexact:
        return []
    paths = [path for path in curves if path in ("", owner) or "tcb_tracks" in path]
    tracks = tracks_among(datablock, channels, [fcurve for path in paths for fcurve in curves[path]])
    if any(track.enabled and not track.is_at_home for track in tracks):
        # A track of another owner may have more of the keys, and would then get the state.
        tracks = find_tracks(datablock, channels)
    return [track for track in tracks if track.path.rpartition(".")[0] == owner and is_inexact(track)]


def is_inexact(track: Track) -> bool:
    """Return whether the F-curves of the track do not play its exact motion."""
    state = track.state
    if state is None or track.is_baked or state.settings.digest == RESTORED or not track.in_use or track.driven:
        return False
    if track.is_played and (state.error is None or not state.error.is_approximate):
        return False
    # Only Blender can evaluate the animator's modifiers.
    return all(
        plays(fcurve) and len(fcurve.keyframe_points) and can_repeat(fcurve) for fcurve in track.channels.values()
    )


# Fingerprints


Fingerprint = tuple[Hashable, ...]
_TRANSFORM_PROPERTIES = (
    *("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"),
    *("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale"),
)
_READ = ("co", "handle_left", "handle_right", "interpolation", "easing", "type", "back", "amplitude", "period")
"""Key attributes that affect playback or identify the animator's keys."""


class Fingerprints:
    """A cache of fingerprints of objects and bones, including their parents, which is valid while nothing changes.

    Two fingerprints are equal only if all inputs of `ExactSampler` are equal, except default parameters. The inputs
    include F-curves with the identities of their keys, unanimated values, rest bones, parents, and the settings and
    frame functions of tracks whose F-curves do not play the exact motion.
    """

    def __init__(self) -> None:
        self._fingerprints: dict[tuple[int, str], Fingerprint] = {}
        """Fingerprints without parents, by the object's `session_uid` and the name of a bone, or ""."""
        self._curves: dict[int, dict[str, list[bpy.types.FCurve]]] = {}
        """F-curves by the object's `session_uid` and the path of their owner."""
        self._inexact: dict[tuple[int, str], list[Track]] = {}
        """Tracks by the object's `session_uid` and the path of their owner."""

    def of(self, item: Any, bone: str = "") -> Fingerprint:
        """Return the fingerprint of the object or one of its bones."""
        fingerprints = []
        pose_bone = item.pose.bones[bone] if bone else None
        while pose_bone is not None:
            fingerprints.append(self.without_parents(item, pose_bone))
            pose_bone = pose_bone.parent
        obj = item
        while obj is not None:
            fingerprints.append(self.without_parents(obj, None))
            parent = obj.parent
            has_bone_parent = parent is not None and obj.parent_type == "BONE" and parent.pose is not None
            if has_bone_parent and obj.parent_bone in parent.pose.bones:
                fingerprints.append(self.of(parent, obj.parent_bone))
                break
            obj = parent
        return tuple(fingerprints)

    def inexact(self, item: bpy.types.Object, path: str) -> list[Track]:
        """Return the tracks of the object, or of its bone with this path, that F-curves do not play exactly."""
        if (item.session_uid, path) not in self._inexact:
            self._inexact[item.session_uid, path] = _inexact_tracks(item, path, self._curves_of(item))
        return self._inexact[item.session_uid, path]

    def release(self) -> None:
        """Release F-curves and tracks, which can become invalid when Blender continues. The fingerprints remain."""
        self._curves.clear()
        self._inexact.clear()

    def without_parents(self, item: Any, bone: Any) -> Fingerprint:
        """Return the fingerprint of the object, or of the bone if it is not None, from the cache if possible."""
        name = item.session_uid, "" if bone is None else bone.name
        if name not in self._fingerprints:
            self._fingerprints[name] = (*name, *(self._of_object(item) if bone is None else self._of_bone(item, bone)))
        return self._fingerprints[name]

    def _of_object(self, item: Any) -> Fingerprint:
        animation = item.animation_data
        sources: Fingerprint = ()
        if animation is not None:
            sources = (
                animation.action and animation.action.session_uid,
                getattr(animation, "action_slot_handle", 0),
                animation.action_blend_type,
                animation.action_influence,
                len(animation.nla_tracks),
                *((driver.data_path, driver.mute) for driver in animation.drivers),
            )
        inverse = np.array(item.matrix_parent_inverse).tobytes()
        parent = item.parent
        follows_path = parent is not None and parent.type == "CURVE" and parent.data.use_path
        parenting = parent and parent.session_uid, item.parent_type, item.parent_bone, inverse, follows_path
        effects = item.rigid_body is not None, _constraints(item)
        # Inverse kinematics on a bone also moves other bones.
        pose = (item.data.pose_position, *map(_constraints, item.pose.bones)) if item.pose is not None else ()
        return (*sources, *parenting, *effects, *pose, *self._values(item, item, ""))

    def _of_bone(self, item: bpy.types.Object, bone: bpy.types.PoseBone) -> Fingerprint:
        rest = bone.bone
        relations = rest.use_inherit_rotation, rest.inherit_scale, rest.use_local_location, rest.use_relative_parent
        rest_pose = np.array(rest.matrix_local).tobytes(), rest.length, rest.use_connect
        return *rest_pose, *relations, _constraints(bone), *self._values(item, bone, bone_path(bone))

    def _values(self, item: bpy.types.Object, owner: Any, path: str) -> Fingerprint:
        """Return the fingerprint of the F-curves and unanimated values of the object or bone with that path."""
        curves = self._curves_of(item).get(path, [])
        animated = {(fcurve.data_path.rpartition(".")[2], fcurve.array_index) for fcurve in curves if plays(fcurve)}
        unanimated_values = tuple(
            value
            for name in _TRANSFORM_PROPERTIES
            for index, value in enumerate(getattr(owner, name, ()))
            if (name, index) not in animated
        )
        inexact = self.inexact(item, path)
        return owner.rotation_mode, unanimated_values, *_of_curves(curves), *map(_settings_and_timing, inexact)

    def _curves_of(self, item: bpy.types.Object) -> dict[str, list[bpy.types.FCurve]]:
        """Return the object's F-curves, grouped by the paths of their owners."""
        if item.session_uid not in self._curves:
            curves_by_owner: dict[str, list[bpy.types.FCurve]] = {}
            try:
                for fcurve in channels_of(item):
                    curves_by_owner.setdefault(fcurve.data_path.rpartition(".")[0], []).append(fcurve)
            except AnimationError:
                curves_by_owner = {}
            self._curves[item.session_uid] = curves_by_owner
        return self._curves[item.session_uid]


def _constraints(owner: Any) -> Fingerprint:
    """Return the properties of constraints that `check_constraints` and `check_kinematics` read."""
    return tuple((constraint.type, constraint.mute) for constraint in owner.constraints)


def _settings_and_timing(track: Track) -> Fingerprint:
    """Return a track's settings and frame function. The identities of keys determine their parameters."""
    function = function_of(track)
    return track.path, track.settings, 0 if function is None else function.checksum


def _of_curves(fcurves: list[Any]) -> Fingerprint:
    """Return the fingerprint of F-curves: their settings, and a checksum of their keys."""
    if not fcurves:
        return ()
    settings = tuple(
        (
            fcurve.data_path,
            fcurve.array_index,
            fcurve.mute or (fcurve.group is not None and fcurve.group.mute),
            fcurve.extrapolation,
            len(fcurve.keyframe_points),
            # Modifiers have many settings, so an F-curve with modifiers always counts as changed.
            object() if len(fcurve.modifiers) else None,
        )
        for fcurve in fcurves
    )
    keys = read_joined(fcurves, _READ).keys
    checksum = 0
    for name in _READ:
        checksum = crc32(getattr(keys, name).tobytes(), checksum)
    return *settings, checksum
