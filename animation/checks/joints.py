# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps at joints: the distance between a bone or object and its place on the parent.

Source: docs/formulas, "Hierarchies".
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..arguments import FrameRange, checked
from ..errors import AnimationError, Finding, JsonResult
from ..records import record
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
        The bone or its parent does not exist, or a location is not finite.
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
    child: Any = item
    bones: Any = child.pose.bones if child.pose else {}
    if bone and bone not in bones:
        raise AnimationError(Finding("NO_BONE", item.name, arguments=(bone,)))
    parent = bones[bone].parent if bone else child.parent
    if parent is None:
        fault = Finding("BONE_WITHOUT_PARENT", arguments=(bone,)) if bone else Finding("NO_PARENT")
        raise AnimationError(fault.on(item.name))
    owners = [item]
    while not bone and owners[-1].parent is not None:
        owners.append(owners[-1].parent)
    frames = sampled_frames(scene, owners, frame_range, STEP)
    positions = world_matrices(scene, item, bone, frames)[:, :3, 3]
    if bone:
        parents = world_matrices(scene, item, parent.name, frames)
        rest = np.linalg.inv(np.array(parent.bone.matrix_local)) @ np.array(bones[bone].bone.matrix_local)
        place_on_parent = rest[:3, 3]
    else:
        # Without its parent bone, the armature itself is the parent.
        is_on_bone = child.parent_type == "BONE" and parent.pose and child.parent_bone in parent.pose.bones
        parents = world_matrices(scene, parent, child.parent_bone if is_on_bone else "", frames)
        if abs(np.linalg.det(parents[0, :3, :3])) < np.finfo(np.float32).tiny:
            raise AnimationError(Finding("JOINT_PARENT_FLAT", item.name, arguments=(float(frames[0]),)))
        place_on_parent = np.linalg.solve(parents[0, :3, :3], positions[0] - parents[0, :3, 3])
    distance = np.linalg.norm(positions - parents[:, :3, :3] @ place_on_parent - parents[:, :3, 3], axis=1)
    is_finite = np.isfinite(distance)
    if not is_finite.all():
        raise AnimationError(Finding("JOINT_NOT_FINITE", bone or item.name, frame=float(frames[np.argmin(is_finite)])))
    distance[distance < _ROUNDING_STEPS * np.spacing(np.float32(np.abs(positions).max(initial=1.0)))] = 0.0
    worst = int(np.argmax(distance))
    return Gap(bone or item.name, parent.name, float(distance[worst]), float(frames[worst]), len(frames))
