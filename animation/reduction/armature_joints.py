# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of an armature, as used by Reduce, and the positions of bone heads and tails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...interp.fitting.reduction import Joint
from ..datablocks import bone_path
from ..fcurves.keyframes import Float64Array
from ..sampling.transforms import TransformSampler
from ..translation import rpt_
from .reduce_request import Together
from .sampled_track import SampledTrack

_REST = {"location": (0.0, 0.0, 0.0), "rotation": (1.0, 0.0, 0.0, 0.0), "scale": (1.0, 1.0, 1.0)}
"""The channels of a joint, and their values without motion."""


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
        for each in tracks:
            if each.part in _REST:
                by_owner.setdefault(each.owner, []).append(each)
        above = np.eye(4)
        if obj.parent is not None:
            above = np.array(obj.parent.matrix_world) @ np.array(obj.matrix_parent_inverse)
        top = self._add(obj, -1, above, by_owner.get("", []), np.zeros((0, 3)))
        bones = sorted(obj.pose.bones, key=lambda bone: len(bone.parent_recursive))
        numbers: dict[str, int] = {}
        for bone in bones:
            numbers[bone.name] = self._add_bone(bone, numbers, top, by_owner.get(f"{bone_path(bone)}.", []))
        self._bones = [obj.pose.bones.find(bone.name) for bone in bones]
        self.groups = self._grouped(together, bones, numbers)

    def of_points(self, fractions: Float64Array | None) -> Float64Array | None:
        """Convert values for the armature's bones, shape (bones, frames), to values for the points of the joints."""
        return None if fractions is None else fractions[np.repeat(self._bones, 2)]

    def _grouped(self, together: Together, bones: Sequence[Any], numbers: dict[str, int]) -> list[list[int]]:
        if together == "POSE":
            return [list(range(len(self.joints)))]
        if together != "COLLECTION":
            return []
        collections: dict[str, list[int]] = {}
        for bone in bones:
            for collection in bone.bone.collections:
                collections.setdefault(collection.name, []).append(numbers[bone.name])
        return list(collections.values())

    def _add_bone(self, bone: Any, numbers: dict[str, int], top: int, tracks: Sequence[SampledTrack]) -> int:
        """Add the joint of a bone after the joint of its parent, and return the new joint's number."""
        rest = np.array(bone.bone.matrix_local)
        points = np.array([[0.0, 0.0, 0.0], [0.0, bone.bone.length, 0.0]])
        if bone.parent is None:
            return self._add(bone, top, rest, tracks, points)
        if bone.bone.use_connect:
            tracks = [each for each in tracks if each.part != "location"]
        offset = np.linalg.inv(np.array(bone.parent.bone.matrix_local)) @ rest
        return self._add(bone, numbers[bone.parent.name], offset, tracks, points)

    def _add(
        self, owner: Any, parent: int, offset: Float64Array, tracks: Sequence[SampledTrack], points: Float64Array
    ) -> int:
        """Add the joint of a bone or the object, or a joint for each channel. Return the number of the last joint."""
        channels = {name: np.tile(value, (self._count, 1)) for name, value in _still(owner).items()}
        channels |= {each.part: each.values for each in tracks}
        moving = {each.part: each for each in tracks if not (each.is_still or each.stays)}
        still = {name: np.tile(value, (self._count, 1)) for name, value in _REST.items()}
        last = [*_REST][-1]
        for names in [[name] for name in _REST] if self._is_split else [[*_REST]]:
            values = {name: channels[name] if name in names else still[name] for name in _REST}
            animated = [name for name in names if name in moving]
            if animated:
                self.animated[len(self.joints)] = [moving[name] for name in animated]
            ends = {name: required for name in animated if (required := moving[name].ends) is not None}
            of_joint = points if last in names else points[:0]
            self.joints.append(Joint(parent, offset, **values, animated=animated, points=of_joint, ends=ends))
            parent, offset = len(self.joints) - 1, np.eye(4)
        return parent


def _still(owner: Any) -> dict[str, Float64Array]:
    """Return the current channel values of a bone or object, used for channels without keys."""
    location = np.array(owner.location, dtype=np.float64)
    if isinstance(owner, bpy.types.PoseBone) and owner.bone.use_connect and owner.parent is not None:
        location[:] = 0.0
    rotation = np.array(owner.matrix_basis.to_quaternion(), dtype=np.float64)
    return {"location": location, "rotation": rotation, "scale": np.array(owner.scale, dtype=np.float64)}


def places_of(obj: Any, frames: Float64Array, played: Sequence[SampledTrack] = ()) -> Float64Array:
    """Return the world positions of all bone heads and tails, shape (points, frames, 3).

    `played` contains tracks whose values are used instead of their F-curves. Raises UnknownMotionError if anything
    other than F-curves and parents moves a bone.
    """
    moved = {
        (
            obj.session_uid,
            sampled.owner + sampled.part if sampled.track.is_rotation else sampled.track.path,
        ): sampled.values
        for sampled in played
    }
    sampler = TransformSampler(frames, moved)
    places = []
    for bone in obj.pose.bones:
        places.append(points_of(bone, sampler.matrices(obj, bone.name)))
    return np.concatenate(places)


def points_of(bone: bpy.types.PoseBone, matrices: Float64Array) -> Float64Array:
    """Return the positions of a bone's head and tail from its world matrices, shape (2, frames, 3)."""
    heads: Float64Array = matrices[:, :3, 3]
    return np.stack([heads, heads + bone.bone.length * matrices[:, :3, 1]])


def names_of_points(obj: Any) -> list[str]:
    """Return the names of all bone heads and tails, in order."""
    return [
        text for bone in obj.pose.bones for text in (rpt_("head of {:s}", bone.name), rpt_("tail of {:s}", bone.name))
    ]
