# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps at joints: the distance between a bone or object and its place on the parent.

Source: docs/formulas, "Hierarchies".
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..arguments import FrameRange, checked
from ..records import record
from ..report import AnimationError, Finding, JsonResult
from ..sampling.depsgraph import world_matrices
from ..sampling.properties import STEP, sampled_frames

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
    parent, parent_bone = (item, _parent_of_bone(item, bone)) if bone else _parent_of_object(item)
    owners = [item]
    while not bone and owners[-1].parent is not None:
        owners.append(owners[-1].parent)
    frames = sampled_frames(scene, owners, frame_range, STEP)
    positions = world_matrices(scene, item, bone, frames)[:, :3, 3]
    parents = world_matrices(scene, parent, parent_bone, frames)
    axes, origins = parents[:, :3, :3], parents[:, :3, 3]
    if bone:
        armature: Any = item.data
        rest, parent_rest = (np.array(armature.bones[name].matrix_local) for name in (bone, parent_bone))
        place_on_parent = np.linalg.solve(parent_rest, rest)[:3, 3]
    else:
        if np.isfinite(axes[0]).all() and np.linalg.cond(axes[0]) * np.finfo(np.float32).eps >= 1.0:
            raise AnimationError(Finding("JOINT_PARENT_FLAT", item.name, arguments=(float(frames[0]),)))
        place_on_parent = np.linalg.solve(axes[0], positions[0] - origins[0])
    distance = np.linalg.norm(positions - axes @ place_on_parent - origins, axis=1)
    name = bone or item.name
    is_finite = np.isfinite(distance)
    if not is_finite.all():
        raise AnimationError(Finding("POSITION_NOT_FINITE", name, frame=float(frames[np.argmin(is_finite)])))
    rounding = _ROUNDING_STEPS * np.spacing(np.float32(np.abs(positions).max(initial=1.0)))
    distance[distance < rounding] = 0.0
    worst = int(np.argmax(distance))
    parent_name = parent_bone if bone else parent.name
    return Gap(name, parent_name, float(distance[worst]), float(frames[worst]), len(frames))


def _parent_of_bone(item: Any, name: str) -> str:
    """Return the name of the parent bone."""
    bones = item.pose.bones if item.pose else {}
    if name not in bones:
        raise AnimationError(Finding("NO_BONE", item.name, arguments=(name,)))
    if bones[name].parent is None:
        raise AnimationError(Finding("BONE_WITHOUT_PARENT", item.name, arguments=(name,)))
    return str(bones[name].parent.name)


def _parent_of_object(item: Any) -> tuple[bpy.types.Object, str]:
    """Return the parent, and the name of the parent bone. If the parent bone is missing, the armature is the parent."""
    parent = item.parent
    if parent is None:
        raise AnimationError(Finding("NO_PARENT", item.name))
    is_on_bone = item.parent_type == "BONE" and parent.pose and item.parent_bone in parent.pose.bones
    return parent, item.parent_bone if is_on_bone else ""
