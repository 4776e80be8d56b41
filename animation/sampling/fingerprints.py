# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of the data that determine the transforms of objects and bones."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from zlib import crc32

import bpy
import numpy as np

from ..datablocks import bone_path
from ..errors import AnimationError
from ..fcurves.channels import channels_of
from ..fcurves.keyframes import read_joined
from .transforms import plays

Fingerprint = tuple[Hashable, ...]
_STILL = (
    *("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"),
    *("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale"),
)

_READ = ("co", "handle_left", "handle_right", "interpolation", "easing", "type", "back", "amplitude", "period")
"""Key attributes that affect playback or identify the animator's keys."""


class Fingerprints:
    """A cache of fingerprints of objects and bones, including their parents, which is valid while nothing changes.

    Two fingerprints are equal only if all inputs of `TransformSampler` are equal. The inputs include F-curves with the
    identities of their keys, unanimated values, rest bones and parents.
    """

    def __init__(self) -> None:
        self._marks: dict[tuple[int, str], Fingerprint] = {}
        self._curves: dict[int, dict[str, list[bpy.types.FCurve]]] = {}

    def of(self, item: Any, bone: str = "") -> Fingerprint:
        """Return the fingerprint of the object or one of its bones."""
        parts = []
        owner = item.pose.bones[bone] if bone else None
        while owner is not None:
            parts.append(self._own(item, owner))
            owner = owner.parent
        above = item
        while above is not None:
            parts.append(self._own(above, None))
            parent = above.parent
            is_posed = parent is not None and above.parent_type == "BONE" and parent.pose is not None
            if is_posed and above.parent_bone in parent.pose.bones:
                parts.append(self.of(parent, above.parent_bone))
                break
            above = parent
        return tuple(parts)

    def rest(self) -> None:
        """Release F-curves, which can become invalid when Blender continues. The fingerprints remain."""
        self._curves.clear()

    def _own(self, item: Any, bone: Any) -> Fingerprint:
        name = item.session_uid, "" if bone is None else bone.name
        if name not in self._marks:
            self._marks[name] = (*name, *(self._object(item) if bone is None else self._bone(item, bone)))
        return self._marks[name]

    def _object(self, item: Any) -> Fingerprint:
        animation = item.animation_data
        played: Fingerprint = ()
        if animation is not None:
            played = (
                animation.action and animation.action.session_uid,
                getattr(animation, "action_slot_handle", 0),
                animation.action_blend_type,
                animation.action_influence,
                len(animation.nla_tracks),
                *((driver.data_path, driver.mute) for driver in animation.drivers),
            )
        inverse = np.array(item.matrix_parent_inverse).tobytes()
        parent = item.parent
        on_a_path = parent is not None and parent.type == "CURVE" and parent.data.use_path
        placed = parent and parent.session_uid, item.parent_type, item.parent_bone, inverse, on_a_path
        led = item.rigid_body is not None, _constraints(item)
        # Inverse kinematics on a bone also moves other bones.
        posed = (item.data.pose_position, *map(_constraints, item.pose.bones)) if item.pose is not None else ()
        return (*played, *placed, *led, *posed, *self._values(item, item, ""))

    def _bone(self, item: bpy.types.Object, bone: bpy.types.PoseBone) -> Fingerprint:
        rest = bone.bone
        inherits = rest.use_inherit_rotation, rest.inherit_scale, rest.use_local_location, rest.use_relative_parent
        at_rest = np.array(rest.matrix_local).tobytes(), rest.length, rest.use_connect, *inherits
        return *at_rest, _constraints(bone), *self._values(item, bone, bone_path(bone))

    def _values(self, item: bpy.types.Object, owner: Any, path: str) -> Fingerprint:
        curves = self._curves_of(item).get(path, [])
        moved = {(fcurve.data_path.rpartition(".")[2], fcurve.array_index) for fcurve in curves if plays(fcurve)}
        still = tuple(
            value
            for name in _STILL
            for index, value in enumerate(getattr(owner, name, ()))
            if (name, index) not in moved
        )
        return owner.rotation_mode, still, *_played(curves)

    def _curves_of(self, item: bpy.types.Object) -> dict[str, list[bpy.types.FCurve]]:
        """Return the object's F-curves, grouped by the paths of their owners."""
        if item.session_uid not in self._curves:
            found: dict[str, list[bpy.types.FCurve]] = {}
            try:
                for fcurve in channels_of(item):
                    found.setdefault(fcurve.data_path.rpartition(".")[0], []).append(fcurve)
            except AnimationError:
                found = {}
            self._curves[item.session_uid] = found
        return self._curves[item.session_uid]


def _constraints(owner: Any) -> Fingerprint:
    return tuple((constraint.type, constraint.mute) for constraint in owner.constraints)


def _played(fcurves: list[Any]) -> Fingerprint:
    if not fcurves:
        return ()
    heads = tuple(
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
    checked = 0
    for name in _READ:
        checked = crc32(getattr(keys, name).tobytes(), checked)
    return *heads, checked
