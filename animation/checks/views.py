# SPDX-License-Identifier: GPL-3.0-or-later
"""The condition that an object that tracks a target with a constraint never looks along its up axis.

Source: docs/formulas, "Conditions of cameras".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..errors import Finding
from ..fcurves.keyframes import BoolArray
from ..number_text import size_text
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.depsgraph import world_matrices
from ..sampling.properties import PropertySampler, Values
from ..sampling.transforms import Matrices, TransformSampler
from ..translation import rpt_
from .violation import Violation, runs

_PARALLEL = math.radians(1.0)
"""Angle in radians. A view direction closer to the up axis makes the object roll over within one or two frames."""
_TRACKING = ("TRACK_TO", "LOCKED_TRACK", "DAMPED_TRACK")


def view_violations(sampler: PropertySampler) -> Iterator[Violation | Finding]:
    """Yield violations by the tracking constraints of the sampler's object.

    For a constraint whose motion is unknown, yield the reason as a finding.
    """
    item: Any = sampler.item
    active = [constraint for constraint in item.constraints if not constraint.mute]
    for constraint in active:
        if constraint.type in _TRACKING and constraint.target is not None:
            path = f'constraints["{bpy.utils.escape_identifier(constraint.name)}"]'
            try:
                view = _view(sampler, constraint, is_alone=len(active) == 1)
            except UnknownMotionError as unknown:
                yield unknown.finding.on(item.name, path)
                continue
            yield from _flips(sampler, path, view)


class _View(NamedTuple):
    """The view direction of an object, in a space in which the forbidden directions are constant."""

    directions: Values
    """The directions to the target, shape (frames, 3)."""
    forbidden: list[Values]
    """Unit vectors. If the object looks in one of these directions, it flips."""
    axis_name: str
    """The name of the forbidden directions."""


def _flips(sampler: PropertySampler, path: str, view: _View) -> Iterator[Violation]:
    """Yield a violation for each frame range in which the view is too close to a forbidden direction."""
    influence_path = f"{path}.influence"
    influence = sampler.values(sampler.item, [influence_path])[influence_path][:, 0]
    angle, fraction = _smallest_angles(view)
    is_flip: BoolArray = (angle <= _PARALLEL) & (np.maximum(influence[:-1], influence[1:]) > 0.0)
    for first, last in runs(is_flip):
        worst = first + int(np.argmin(angle[first : last + 1]))
        before, after = sampler.frames[worst : worst + 2].tolist()
        worst_frame = before + fraction[worst] * (after - before)
        size = size_text(float(angle[worst]), is_angle=True)
        message = rpt_("the view comes within {:s} of {:s}, where it flips", size, view.axis_name)
        start, end = sampler.frames[[first, last + 1]].tolist()
        yield Violation(sampler.item.name, path, "VIEW", start, end, worst_frame, message)


def _smallest_angles(view: _View) -> tuple[Values, Values]:
    """Return the smallest angle to any forbidden direction between neighboring samples, and its position.

    The position is a fraction from 0 to 1 between the two samples.
    """
    directions = view.directions
    smallest = np.full(len(directions) - 1, np.inf)
    position = np.zeros(len(directions) - 1)
    for pole in view.forbidden:
        along = directions @ pole
        across = directions - along[:, np.newaxis] * pole
        step = across[1:] - across[:-1]
        squared_length = np.einsum("ni,ni->n", step, step)
        # Find the foot of the perpendicular from the pole's line to the line between the samples.
        dot = np.einsum("ni,ni->n", across[:-1], step)
        foot = -dot / np.where(squared_length > 0.0, squared_length, 1.0)
        for fraction in (np.clip(foot, 0.0, 1.0), np.zeros_like(foot), np.ones_like(foot)):
            distance = np.linalg.norm(across[:-1] + fraction[:, np.newaxis] * step, axis=1)
            angle = np.arctan2(distance, along[:-1] + fraction * (along[1:] - along[:-1]))
            is_smaller = angle < smallest
            smallest[is_smaller], position[is_smaller] = angle[is_smaller], fraction[is_smaller]
    return smallest, position


def _view(sampler: PropertySampler, constraint: Any, is_alone: bool) -> _View:
    """Return the view of a tracking constraint. `is_alone` is true if the object has no other active constraint.

    Raises UnknownMotionError.
    """
    if constraint.owner_space != "WORLD" or constraint.target_space != "WORLD":
        raise UnknownMotionError("NOT_WORLD_SPACE")
    if constraint.type == "DAMPED_TRACK" and not is_alone:
        raise UnknownMotionError("OTHER_CONSTRAINTS")
    own_matrices = _own_matrices(sampler, constraint, is_alone)
    target_matrices, point = _target(sampler, constraint)
    directions = point - own_matrices[:, :3, 3]
    if not np.isfinite(directions).all():
        raise UnknownMotionError("PLACE_NOT_FINITE")
    if constraint.type == "TRACK_TO":
        up = np.array([0.0, 0.0, 1.0])
        if not constraint.use_target_z:
            return _View(directions, [up, -up], rpt_("the world's Z axis, its up axis"))
        return _View(_in_axes(target_matrices, directions), [up, -up], rpt_("the target's Z axis, its up axis"))
    axis = np.zeros(3)
    if constraint.type == "LOCKED_TRACK":
        # The constraint rotates the object only about this axis, so it does not change the axis.
        axis["XYZ".index(constraint.lock_axis[-1])] = 1.0
        return _View(_in_axes(own_matrices, directions), [axis, -axis], rpt_("the locked axis"))
    axis["XYZ".index(constraint.track_axis[-1])] = 1.0 if "NEGATIVE" in constraint.track_axis else -1.0
    return _View(_in_axes(own_matrices, directions), [axis], rpt_("the direction straight behind it"))


def _target(sampler: PropertySampler, constraint: Any) -> tuple[Matrices, Values]:
    """Return the target's matrices and the tracked point."""
    target, bone = constraint.target, constraint.subtarget
    if bone and (target.type != "ARMATURE" or bone not in target.pose.bones):
        raise UnknownMotionError("TARGET_NO_BONE", bone)
    matrices = world_matrices(sampler.scene, target, bone, sampler.frames)
    along = constraint.head_tail * target.pose.bones[bone].bone.length if bone else 0.0
    return matrices, matrices[:, :3, 3] + along * matrices[:, :3, 1]


def _own_matrices(sampler: PropertySampler, constraint: bpy.types.Constraint, is_alone: bool) -> Matrices:
    """Return the object's matrices without the constraint, or with the constraint if it makes no difference."""
    if is_alone:
        try:
            return TransformSampler(sampler.frames).before_constraints(sampler.item)
        except UnknownMotionError:
            if constraint.type == "DAMPED_TRACK":
                raise
    return world_matrices(sampler.scene, sampler.item, "", sampler.frames)


def _in_axes(matrices: Matrices, directions: Values) -> Values:
    """Convert world directions to the local axes of the matrices, ignoring scale."""
    axes = matrices[:, :3, :3]
    length = np.linalg.norm(axes, axis=1, keepdims=True)
    local: Values = np.einsum("nij,ni->nj", axes / np.where(length > 0.0, length, 1.0), directions)
    return local
