# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurement of joints: the distance between a child's point and the parent's point to which it belongs.

Source: docs/formulas, "Hierarchies".
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..arguments import FrameRange, Point, Positive, checked
from ..errors import AnimationError, Finding, as_dict
from ..records import record
from ..sampling.depsgraph import placed
from ..sampling.properties import STEP, Values, all_keys, between, keys_around, sampled_frames
from ..sampling.transforms import Frames, Matrices


@record()
class Gap:
    """The largest distance between the two points of a joint over a range of frames."""

    name: str
    """The name of the child: the object, or its bone."""
    parent: str
    distance: float
    """In world units."""
    frame: float
    """The frame at which the distance is largest."""
    mean: float
    samples: int
    keys: tuple[float | None, float | None] = (None, None)
    """Frames of the animator's keys at or before that frame, and at or after it."""

    @property
    def finding(self) -> Finding:
        """Return the gap as a finding."""
        if self.distance == 0.0:
            return Finding("JOINT_HOLDS", self.name, arguments=(self.parent, self.samples))
        return Finding("JOINT_APART", self.name, "", self.frame, (self.parent, self.distance, between(self.keys)))

    def to_dict(self) -> dict[str, Any]:
        """Return the gap as JSON has it."""
        return as_dict(self)

    def __str__(self) -> str:
        return str(self.finding)


@checked
def joint_gap(
    item: bpy.types.Object,
    bone: str = "",
    *,
    point: Point = (0.0, 0.0, 0.0),
    parent_point: Point | None = None,
    frame_range: FrameRange | None = None,
    step: Positive = STEP,
    scene: bpy.types.Scene | None = None,
) -> Gap:
    """Measure the distance between the two points of a joint in what Blender plays.

    Parameters
    ----------
    item : bpy.types.Object
        The child, or the armature of the child bone.
    bone : str
        The child bone.
    point : sequence of 3 floats
        The child's point, in its own axes, from its origin, or the bone's head.
    parent_point : sequence of 3 floats, optional
        The parent's point, in the parent's axes; those of a bone begin at its head, with y along it. Default: where the
        child's point is in its parent with the bones at rest, mostly the parent's tail; for objects, at the first
        frame.
    frame_range, step, scene
        As for `check`.

    Returns
    -------
    Gap
        The largest distance, its frame, and the mean.

    Raises
    ------
    AnimationError
        There is no such bone, or no parent, or a location is not finite.
    ValueError
        A point or the range is not finite, the range is empty, or the step is not a positive number.

    Examples
    --------
    >>> gap = animation.joint_gap(rig, "forearm.L", frame_range=(1, 60))
    >>> gap.parent, gap.distance
    ('upperarm.L', 0.0)
    """
    seen = scene or bpy.context.scene
    assert seen is not None
    child: Any = item
    bones: Any = child.pose.bones if child.pose else {}
    if bone and bone not in bones:
        raise AnimationError(Finding("NO_BONE", item.name, arguments=(bone,)))
    parent = bones[bone].parent if bone else child.parent
    if parent is None:
        fault = Finding("BONE_WITHOUT_PARENT", arguments=(bone,)) if bone else Finding("NO_PARENT")
        raise AnimationError(fault.on(item.name))
    frames = sampled_frames(seen, [item] if bone else _with_parents(item), frame_range, step)
    own = placed(seen, item, bone, frames)
    owner, held_by = (item, parent.name) if bone else (parent, _parent_bone(child))
    theirs = placed(seen, owner, held_by, frames)
    at = _at(own, np.array(point, dtype=np.float64))
    if parent_point is not None:
        joint = np.array(parent_point, dtype=np.float64)
    elif bone:
        rest = np.linalg.inv(np.array(parent.bone.matrix_local)) @ np.array(bones[bone].bone.matrix_local)
        joint = rest[:3, :3] @ np.array(point, dtype=np.float64) + rest[:3, 3]
    else:
        if abs(np.linalg.det(theirs[0, :3, :3])) < np.finfo(np.float32).tiny:
            raise AnimationError(Finding("JOINT_PARENT_FLAT", item.name, arguments=(float(frames[0]),)))
        joint = np.linalg.solve(theirs[0, :3, :3], at[0] - theirs[0, :3, 3])
    distance = np.linalg.norm(at - _at(theirs, joint), axis=1)
    finite = np.isfinite(distance)
    if not finite.all():
        raise AnimationError(Finding("JOINT_NOT_FINITE", bone or item.name, frame=float(frames[np.argmin(finite)])))
    distance[distance < _rounding(at)] = 0.0
    worst = int(np.argmax(distance))
    keys = [all_keys(each) for each in ([item] if bone else _with_parents(item))]
    return Gap(
        name=bone or item.name,
        parent=parent.name,
        distance=float(distance[worst]),
        frame=float(frames[worst]),
        mean=float(distance.mean()),
        samples=len(frames),
        keys=keys_around(np.unique(np.concatenate(keys)), float(frames[worst])),
    )


def _parent_bone(child: Any) -> str:
    """Return the bone that is the object's parent; "" where it is gone, so that the armature is."""
    pose = child.parent.pose
    return child.parent_bone if child.parent_type == "BONE" and pose and child.parent_bone in pose.bones else ""


def _with_parents(item: bpy.types.Object) -> list[bpy.types.ID]:
    parent = item.parent
    return [item] if parent is None else [item, *_with_parents(parent)]


def _at(matrices: Matrices, point: Values) -> Values:
    """Return the point, given in the axes of the matrices, in the world, shape (frames, 3)."""
    placed_point: Values = matrices[:, :3, :3] @ point + matrices[:, :3, 3]
    return placed_point


def _rounding(at: Frames) -> float:
    """Return the distance that rounding of float32 matrices of this size may cause."""
    return 8.0 * float(np.spacing(np.float32(np.abs(at).max(initial=1.0))))
