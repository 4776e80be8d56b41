# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of an armature and the positions of bone heads and tails, from F-curves or as Blender evaluates them.

If anything other than F-curves and parents moves bones, Blender evaluates the keys that a search has found. If bones
exceed their tolerances, the search is repeated with smaller tolerances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import Any

import bpy
import numpy as np

from ...interp.fitting.reduction import Joint
from ..datablocks import name_of
from ..fcurves.channels import Channels
from ..fcurves.keyframes import BoolArray, Float64Array
from ..fcurves.read_and_write import key_curve
from ..report import AnimationError, Finding
from ..sampling.depsgraph import DepsgraphSampler
from ..sampling.transforms import TransformSampler
from ..store.paths import bone_path
from ..text import rpt_
from .new_keys import NewKeys
from .report import Together
from .sampled_track import SampledTrack, keys_of_values

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


_SMALLEST_FRACTION = 1e-4
"""The smallest fraction of the tolerance."""
_DISTANCES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 512)
"""The number of frames around an error within which each round tightens tolerances."""
_TIGHTER = 0.8
"""Additional factor for tightening, because a search with other tolerances changes all keys."""


def check_evaluated(obj: Any) -> None:
    """Raise AnimationError if an active rigid body moves the object or a parent.

    The simulation depends on previous frames. Passive rigid bodies follow only their animation.
    """
    ancestor = obj
    while ancestor is not None:
        if ancestor.rigid_body is not None and ancestor.rigid_body.type == "ACTIVE":
            raise AnimationError(Finding("REDUCE_PHYSICS", name_of(obj), arguments=(ancestor.name,)))
        ancestor = ancestor.parent


def evaluated_positions(obj: Any, frames: Float64Array) -> Float64Array:
    """Return the world positions of all bone heads and tails in the context's scene, shape (points, frames, 3)."""
    bones = {(obj.session_uid, bone.name): bone for bone in obj.pose.bones}
    sampler = DepsgraphSampler([*bones], frames)
    scene: Any = bpy.context.scene
    sampler.advance({obj.session_uid: obj}, scene, math.inf)
    return np.concatenate([head_and_tail(bone, sampler.matrices(thing)) for thing, bone in bones.items()])


def play_densely(copy: Channels, tracks: Sequence[SampledTrack], frames: Float64Array) -> None:
    """Key the values of the tracks on the F-curves of a copied action, with one key per frame."""
    fcurves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in copy}
    for sampled in tracks:
        values = keys_of_values(sampled, sampled.values, np.arange(len(frames)))
        for index in sampled.track.channels:
            key_curve(fcurves[sampled.track.path, index], frames, values[:, index], "LINEAR")


def tightened_search(
    obj: Any,
    keys: list[NewKeys],
    search: Callable[[Float64Array], Generator[float, None, list[NewKeys]]],
    excess_of: Callable[[Sequence[NewKeys]], Float64Array],
) -> Generator[float, None, list[NewKeys]]:
    """Repeat the search with smaller tolerances while evaluated bones exceed the original tolerances.

    Yields the progress of each search, and returns the most accurate keys. `keys` contains the initial keys. `search`
    finds keys within fractions of the bones' tolerances, shape (bones, frames). `excess_of` returns the errors of the
    bones relative to the tolerances, with the same shape.
    """
    excess = excess_of(keys)
    smallest_excess = excess.max()
    if smallest_excess <= 1.0:
        return keys
    movers, fractions = _bones_that_move_each(obj), np.ones_like(excess)
    for distance in _DISTANCES:
        needed = np.where(excess > 1.0, _TIGHTER / np.maximum(excess, 1.0), 1.0)
        fractions = _tightened(fractions, needed, distance, movers)
        tighter_keys = yield from search(fractions)
        excess = excess_of(tighter_keys)
        if excess.max() < smallest_excess:
            keys, smallest_excess = tighter_keys, excess.max()
            if smallest_excess <= 1.0:
                break
    return keys


def _tightened(fractions: Float64Array, needed: Float64Array, distance: int, movers: BoolArray) -> Float64Array:
    """Tighten the bones' tolerance fractions, shape (bones, frames), by the `needed` factors.

    The tolerances of all bones that move a bone are tightened too, within `distance` frames.
    """
    padded = np.pad(needed, ((0, 0), (distance, distance)), constant_values=1.0)
    spread = np.lib.stride_tricks.sliding_window_view(padded, 2 * distance + 1, axis=1).min(axis=2)
    factors = np.ones_like(fractions)
    for bone in np.flatnonzero(spread.min(axis=1) < 1.0).tolist():
        factors[movers[bone]] = np.minimum(factors[movers[bone]], spread[bone])
    return np.maximum(fractions * factors, _SMALLEST_FRACTION)


def _bones_that_move_each(obj: Any) -> BoolArray:
    """Return a mask, shape (bones, bones), of the parents, targets and kinematic chains that move each bone."""
    bones = obj.pose.bones
    moves = np.eye(len(bones), dtype=np.bool_)
    for number, bone in enumerate(bones):
        if bone.parent is not None:
            moves[number, bones.find(bone.parent.name)] = True
        for constraint in bone.constraints:
            if not constraint.mute:
                chain = [bones.find(moved.name) for moved in _chain(bone, constraint)]
                moves[np.ix_(chain, [*chain, *_targets(obj, constraint)])] = True
    drivers = [driver for owner in (obj, obj.data) if owner.animation_data for driver in owner.animation_data.drivers]
    for driver in drivers:
        driven = [number for number, bone in enumerate(bones) if driver.data_path.startswith(f"{bone_path(bone)}.")]
        # The inputs of a driver are unknown. Drivers outside bones may affect all bones.
        moves[driven or slice(None)] = True
    while True:
        indirect: BoolArray = moves @ moves
        if (indirect == moves).all():
            return moves
        moves = indirect


def _chain(bone: Any, constraint: Any) -> list[Any]:
    """Return the bones that a constraint moves: the constrained bone and, for inverse kinematics, its parents."""
    if constraint.type not in ("IK", "SPLINE_IK"):
        return [bone]
    bone_and_ancestors = [bone, *bone.parent_recursive]
    return bone_and_ancestors[: constraint.chain_count or None]


def _targets(obj: Any, constraint: Any) -> list[int]:
    """Return the indices of the bones on which a constraint depends.

    If the dependencies are unknown, return all bones.
    """
    targets = [(entry.target, entry.subtarget) for entry in getattr(constraint, "targets", ())]
    # Only some types of constraints have these properties.
    for prefix in ("", "pole_"):
        target = getattr(constraint, f"{prefix}target", None)
        targets.append((target, getattr(constraint, f"{prefix}subtarget", "")))
    bones = obj.pose.bones
    indices: list[int] = []
    for target, name in targets:
        may_depend_on_bones = target is not None and (target.parent is not None or len(target.constraints))
        if target == obj and name in bones:
            indices.append(bones.find(name))
        elif target == obj or may_depend_on_bones:
            return list(range(len(bones)))
    return indices
