# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of an armature, as used by Reduce, and the positions of bone heads and tails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...interp.fitting.reduction import Joint
from ..fcurves.keyframes import Float64Array
from ..sampling.transforms import TransformSampler
from ..store.paths import bone_path
from ..text import rpt_
from .report import Together
from .sampled_track import SampledTrack

_REST = {"location": (0.0, 0.0, 0.0), "rotation": (1.0, 0.0, 0.0, 0.0), "scale": (1.0, 1.0, 1.0)}
"""The channels of a joint, and their values in the rest pose."""


class ArmatureJoints:
    """The joints of an armature, as moved by F-curves and parents. The first joint is the object itself.

    Attributes
    ----------
    joints : list of Joint
        Parents come before their children.
    animated : dict of int to list of SampledTrack
        The tracks that are reduced, by joint number.
    groups : list of list of int
        Groups of joints that share their keys.
    """

    def __init__(self, obj: Any, tracks: Sequence[SampledTrack], frames: Float64Array, together: Together) -> None:
        self.joints: list[Joint] = []
        self.animated: dict[int, list[SampledTrack]] = {}
        self._count = len(frames)
        self._is_split = together == "TRACK"
        by_owner: dict[str, list[SampledTrack]] = {}
        for sampled in tracks:
            if sampled.is_transform:
                by_owner.setdefault(sampled.owner, []).append(sampled)
        parent_to_world = np.eye(4)
        if obj.parent is not None:
            parent_to_world = np.array(obj.parent.matrix_world) @ np.array(obj.matrix_parent_inverse)
        object_joint = self._add(obj, -1, parent_to_world, by_owner.get("", []), np.zeros((0, 3)))
        bones = sorted(obj.pose.bones, key=lambda bone: len(bone.parent_recursive))
        joint_of_bone: dict[str, int] = {}
        for bone in bones:
            bone_tracks = by_owner.get(f"{bone_path(bone)}.", [])
            joint_of_bone[bone.name] = self._add_bone(bone, joint_of_bone, object_joint, bone_tracks)
        self._bone_indices = [obj.pose.bones.find(bone.name) for bone in bones]
        self.groups = self._grouped(together, bones, joint_of_bone)

    def of_points(self, fractions: Float64Array | None) -> Float64Array | None:
        """Convert values for the armature's bones, shape (bones, frames), to values for the points of the joints."""
        return None if fractions is None else fractions[np.repeat(self._bone_indices, 2)]

    def _grouped(self, together: Together, bones: Sequence[Any], joint_of_bone: dict[str, int]) -> list[list[int]]:
        """Return the groups of joints that share their keys. All other joints have separate keys."""
        if together == "POSE":
            return [list(range(len(self.joints)))]
        if together != "COLLECTION":
            return []
        collections: dict[str, list[int]] = {}
        for bone in bones:
            for collection in bone.bone.collections:
                collections.setdefault(collection.name, []).append(joint_of_bone[bone.name])
        return list(collections.values())

    def _add_bone(
        self, bone: Any, joint_of_bone: dict[str, int], object_joint: int, tracks: Sequence[SampledTrack]
    ) -> int:
        """Add the joint of a bone after the joint of its parent, and return the new joint's number."""
        rest = np.array(bone.bone.matrix_local)
        points = np.array([[0.0, 0.0, 0.0], [0.0, bone.bone.length, 0.0]])
        if bone.parent is None:
            return self._add(bone, object_joint, rest, tracks, points)
        if bone.bone.use_connect:
            # Blender ignores the location of connected bones.
            tracks = [sampled for sampled in tracks if sampled.property_name != "location"]
        offset = np.linalg.inv(np.array(bone.parent.bone.matrix_local)) @ rest
        return self._add(bone, joint_of_bone[bone.parent.name], offset, tracks, points)

    def _add(
        self, owner: Any, parent: int, offset: Float64Array, tracks: Sequence[SampledTrack], points: Float64Array
    ) -> int:
        """Add the joint of a bone or the object, or a joint for each channel. Return the number of the last joint."""
        channels = {name: np.tile(value, (self._count, 1)) for name, value in _current_values(owner).items()}
        channels |= {sampled.property_name: sampled.values for sampled in tracks}
        moving = {sampled.property_name: sampled for sampled in tracks if not (sampled.is_still or sampled.stays)}
        at_rest = {name: np.tile(value, (self._count, 1)) for name, value in _REST.items()}
        # Tracks with separate keys need separate joints, which are parents of each other.
        for names in [[name] for name in _REST] if self._is_split else [[*_REST]]:
            values = {name: channels[name] if name in names else at_rest[name] for name in _REST}
            animated = [name for name in names if name in moving]
            if animated:
                self.animated[len(self.joints)] = [moving[name] for name in animated]
            ends = {name: slopes for name in animated if (slopes := moving[name].ends) is not None}
            # The last of these joints moves the points.
            own_points = points if "scale" in names else points[:0]
            self.joints.append(Joint(parent, offset, **values, animated=animated, points=own_points, ends=ends))
            parent, offset = len(self.joints) - 1, np.eye(4)
        return parent


def _current_values(owner: Any) -> dict[str, Float64Array]:
    """Return the current channel values of a bone or object, used for channels without keys."""
    location = np.array(owner.location, dtype=np.float64)
    if isinstance(owner, bpy.types.PoseBone) and owner.bone.use_connect and owner.parent is not None:
        location[:] = 0.0
    rotation = np.array(owner.matrix_basis.to_quaternion(), dtype=np.float64)
    return {"location": location, "rotation": rotation, "scale": np.array(owner.scale, dtype=np.float64)}


def point_positions(obj: Any, frames: Float64Array, tracks: Sequence[SampledTrack] = ()) -> Float64Array:
    """Return the world positions of all bone heads and tails, shape (points, frames, 3).

    `tracks` contains tracks whose values are used instead of their F-curves. Raises UnknownMotionError if anything
    other than F-curves and parents moves a bone.
    """
    values = {
        (obj.session_uid, sampled.owner + sampled.property_name if sampled.track.is_rotation else sampled.track.path): (
            sampled.values
        )
        for sampled in tracks
    }
    sampler = TransformSampler(frames, values)
    return np.concatenate([head_and_tail(bone, sampler.matrices(obj, bone.name)) for bone in obj.pose.bones])


def head_and_tail(bone: bpy.types.PoseBone, matrices: Float64Array) -> Float64Array:
    """Return the positions of a bone's head and tail from its world matrices, shape (2, frames, 3)."""
    heads: Float64Array = matrices[:, :3, 3]
    return np.stack([heads, heads + bone.bone.length * matrices[:, :3, 1]])


def names_of_points(obj: Any) -> list[str]:
    """Return the names of all bone heads and tails, in order."""
    names = []
    for bone in obj.pose.bones:
        names += [rpt_("head of {:s}", bone.name), rpt_("tail of {:s}", bone.name)]
    return names
