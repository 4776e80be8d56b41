# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps at joints: the distance between a bone or object and its place on the parent.

Source: docs/formulas, "Hierarchies".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np

from ..arguments import FrameRange, checked
from ..errors import AnimationError, Finding, JsonResult
from ..records import record
from ..sampling.depsgraph import world_matrices
from ..sampling.properties import STEP, Values, sampled_frames
from ..sampling.transforms import Frames, Matrices

_ROUNDING_STEPS = 8.0
"""Distances below this number of float32 steps are rounding of the positions, and count as 0."""


@record()
class Gap(JsonResult):
    """The maximum distance between a bone or object and its place on the parent, over a range of frames."""

    name: str
    """The name of the child object or bone."""
    parent: str
    distance: float
    """The maximum distance, in world units."""
    frame: float
    """The frame of the maximum distance."""
    samples: int
    """The number of frames at which the distance was measured."""

    @property
    def finding(self) -> Finding:
        """Return the gap as a finding."""
        if self.distance == 0.0:
            return Finding("JOINT_HOLDS", self.name, arguments=(self.parent, self.samples))
        return Finding("JOINT_APART", self.name, "", self.frame, (self.parent, self.distance))

    def __str__(self) -> str:
        return str(self.finding)


@checked
def joint_gap(
    item: bpy.types.Object,
    bone: str = "",
    *,
    frame_range: FrameRange | None = None,
    scene: bpy.types.Scene | None = None,
) -> Gap:
    """Measure the distance between a bone's head or an object's origin and its place on the parent.

    The motion is evaluated as Blender plays it. A bone's place is its rest position, usually at the parent's tail. An
    object's place is its position relative to the parent at the first frame.

    Parameters
    ----------
    item : bpy.types.Object
        The child object, or the armature of the child bone.
    bone : str
        The child bone.
    frame_range, scene
        See `check`.

    Returns
    -------
    Gap
        The maximum distance and its frame.

    Raises
    ------
    AnimationError
        The bone or its parent does not exist, a location is not finite, or an object's parent is flat at the first
        frame.
    ValueError
        The frame range is empty or not finite.

    Examples
    --------
    >>> gap = animation.joint_gap(rig, "forearm.L", frame_range=(1, 60))
    >>> gap.parent, gap.distance
    ('upperarm.L', 0.0)
    """
    scene = scene or bpy.context.scene
    assert scene is not None
    frames = sampled_frames(scene, [item] if bone else _with_parents(item), frame_range, STEP)
    joint = _bone_joint(scene, item, bone, frames) if bone else _object_joint(scene, item, frames)
    axes, origins = joint.parents[:, :3, :3], joint.parents[:, :3, 3]
    distance = np.linalg.norm(joint.positions - axes @ joint.place_on_parent - origins, axis=1)
    is_finite = np.isfinite(distance)
    if not is_finite.all():
        raise AnimationError(Finding("JOINT_NOT_FINITE", bone or item.name, frame=float(frames[np.argmin(is_finite)])))
    rounding = _ROUNDING_STEPS * np.spacing(np.float32(np.abs(joint.positions).max(initial=1.0)))
    distance[distance < rounding] = 0.0
    worst = int(np.argmax(distance))
    return Gap(bone or item.name, joint.parent, float(distance[worst]), float(frames[worst]), len(frames))


class _Joint(NamedTuple):
    parent: str
    positions: Values
    """World positions of the child, shape (frames, 3)."""
    parents: Matrices
    place_on_parent: Values
    """The child's place, shape (3,), in the local space of the parent."""


def _with_parents(item: bpy.types.Object) -> list[bpy.types.Object]:
    return [item] if item.parent is None else [item, *_with_parents(item.parent)]


def _bone_joint(scene: bpy.types.Scene, item: bpy.types.Object, name: str, frames: Frames) -> _Joint:
    bones: Any = item.pose.bones if item.pose else {}
    if name not in bones:
        raise AnimationError(Finding("NO_BONE", item.name, arguments=(name,)))
    bone, parent = bones[name].bone, bones[name].parent
    if parent is None:
        raise AnimationError(Finding("BONE_WITHOUT_PARENT", item.name, arguments=(name,)))
    positions = world_matrices(scene, item, name, frames)[:, :3, 3]
    parents = world_matrices(scene, item, parent.name, frames)
    rest = np.linalg.inv(np.array(parent.bone.matrix_local)) @ np.array(bone.matrix_local)
    return _Joint(parent.name, positions, parents, rest[:3, 3])


def _object_joint(scene: bpy.types.Scene, item: Any, frames: Frames) -> _Joint:
    parent = item.parent
    if parent is None:
        raise AnimationError(Finding("NO_PARENT", item.name))
    positions = world_matrices(scene, item, "", frames)[:, :3, 3]
    # Without its parent bone, the armature itself is the parent.
    is_on_bone = item.parent_type == "BONE" and parent.pose and item.parent_bone in parent.pose.bones
    parents = world_matrices(scene, parent, item.parent_bone if is_on_bone else "", frames)
    axes = parents[0, :3, :3]
    if np.isfinite(axes).all():
        sizes = np.linalg.svd(axes, compute_uv=False)
        if sizes[-1] <= np.finfo(np.float32).eps * sizes[0]:
            raise AnimationError(Finding("JOINT_PARENT_FLAT", item.name, arguments=(float(frames[0]),)))
    return _Joint(parent.name, positions, parents, np.linalg.solve(axes, positions[0] - parents[0, :3, 3]))
