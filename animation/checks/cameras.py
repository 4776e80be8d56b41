# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions of views: camera properties that Blender can play, and tracked targets that are never along the up axis.

A camera needs lens, sensor and clip values that Blender can play, a clip start less than its clip end, and a focus
distance beyond the clip start. Any object that tracks a target with a constraint must never look along its up axis.
Source: docs/formulas, "Conditions of cameras".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..report import Finding
from ..sampling.depsgraph import world_matrices
from ..sampling.properties import PropertySampler, Values
from ..sampling.transforms import Matrices, TransformSampler, UnknownMotionError
from ..text import n_, number_text, rpt_, size_text
from .violation import Violation, violations

_VIEW_SIZE = {
    "PERSP": ("lens", "sensor_width", "sensor_height"),
    "ORTHO": ("ortho_scale",),
    "PANO": ("sensor_width",),
}
"""For each camera type, the properties that size the view."""
_CLIPS = ("clip_start", "clip_end")
_FOCUS = ("dof.use_dof", "dof.focus_distance")
_NAMES = {
    "lens": n_("lens"),
    "sensor_width": n_("sensor width"),
    "sensor_height": n_("sensor height"),
    "ortho_scale": n_("ortho scale"),
    "clip_start": n_("clip start"),
    "clip_end": n_("clip end"),
}
_LEAST_ANGLE = math.radians(1.0)
"""Angle between the view direction and the axis, in radians. At smaller angles, the object can flip."""
_TRACKING = ("TRACK_TO", "LOCKED_TRACK", "DAMPED_TRACK")


def camera_violations(sampler: PropertySampler) -> Iterator[Violation]:
    """Yield violations by the camera data of the sampler's object, if it is a camera."""
    if not isinstance(sampler.item.data, bpy.types.Camera):
        return
    camera: Any = sampler.item.data
    limited = (*_VIEW_SIZE.get(camera.type, ()), *_CLIPS)
    sampled = sampler.values(camera, (*limited, *_FOCUS))
    values = {path: numbers[:, 0] for path, numbers in sampled.items()}
    minimum = {path: camera.bl_rna.properties[path].hard_min for path in limited}
    for path in limited:
        yield from _too_small(sampler, path, values[path], minimum[path])
    start, end = (np.maximum(values[path], minimum[path]) for path in _CLIPS)
    yield from violations(
        sampler,
        "clip_end",
        "CLIP",
        start >= end,
        start - end,
        lambda row: rpt_("clip start {:s} is not below clip end {:s}", number_text(start[row]), number_text(end[row])),
    )
    if camera.dof.focus_object is None:
        use_dof, distance = (values[path] for path in _FOCUS)
        yield from violations(
            sampler,
            "dof.focus_distance",
            "FOCUS",
            (use_dof >= 0.5) & (distance <= start),
            start - distance,
            lambda row: rpt_(
                "focus distance {:s} is not beyond clip start {:s}", number_text(distance[row]), number_text(start[row])
            ),
        )


def _too_small(sampler: PropertySampler, path: str, values: Values, minimum: float) -> Iterator[Violation]:
    """Yield violations by values below Blender's minimum, which it plays instead, or by 0 if that is the minimum."""

    def message(row: int) -> str:
        name, value, limit = rpt_(_NAMES[path]), number_text(values[row], 7), number_text(minimum, 7)
        if minimum > 0.0:
            text = n_("{name:s} {value:s} is below Blender's minimum of {limit:s}")
            return rpt_(text, name=name, value=value, limit=limit)
        return rpt_("{:s} {:s} is not above 0", name, value)

    is_too_small = values < minimum if minimum > 0.0 else values <= 0.0
    yield from violations(sampler, path, "CLIP" if path in _CLIPS else "LENS", is_too_small, minimum - values, message)


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
                view = _checked_view(sampler, constraint, is_alone=len(active) == 1)
            except UnknownMotionError as unknown:
                yield unknown.finding.on(item.name, path)
                continue
            angle = _angles_beside_frames(view)
            influence_path = f"{path}.influence"
            influence = sampler.values(item, [influence_path])[influence_path][:, 0]
            is_violated = (angle <= _LEAST_ANGLE) & (influence > 0.0)
            yield from violations(sampler, path, "VIEW", is_violated, -angle, partial(_flip_text, view, angle))


class _View(NamedTuple):
    """The directions in which a tracking constraint looks, and the axis at which it flips the object."""

    directions: Values
    """Directions to the target, shape (frames, 3), in a space in which the axis is constant."""
    axis: Values
    """A unit vector."""
    axis_name: str
    flips_at_opposite: bool = True
    """True if the object also flips at the opposite of the axis."""


def _flip_text(view: _View, angle: Values, row: int) -> str:
    size = size_text(float(angle[row]), is_angle=True)
    return rpt_("the view comes within {:s} of {:s}, where it flips", size, view.axis_name)


def _angles_beside_frames(view: _View) -> Values:
    """Return the least angle from the axis at each direction and on the lines to its neighbors, shape (frames,)."""
    directions, axis = view.directions, view.axis
    along = directions @ axis
    across = directions - along[:, np.newaxis] * axis
    step, rise = np.diff(across, axis=0), np.diff(along)
    dot = np.einsum("ni,ni->n", across[:-1], step)
    # The derivative of the squared tangent of the angle is 0 at one point of a line.
    numerator = rise * np.einsum("ni,ni->n", across[:-1], across[:-1]) - along[:-1] * dot
    denominator = along[:-1] * np.einsum("ni,ni->n", step, step) - rise * dot
    fraction = np.clip(numerator / np.where(denominator != 0.0, denominator, 1.0), 0.0, 1.0)
    between = _angles(view, across[:-1] + fraction[:, np.newaxis] * step, along[:-1] + fraction * rise)
    # Without such a point on the line, one end has the least angle.
    beside = np.minimum(np.append(between, np.inf), np.insert(between, 0, np.inf))
    angles: Values = np.minimum(_angles(view, across, along), beside)
    return angles


def _angles(view: _View, across: Values, along: Values) -> Values:
    """Return angles from the axis, shape (n,), from the components across it, (n, 3), and along it, (n,)."""
    angles: Values = np.arctan2(np.linalg.norm(across, axis=1), np.abs(along) if view.flips_at_opposite else along)
    return angles


def _checked_view(sampler: PropertySampler, constraint: Any, is_alone: bool) -> _View:
    """Return the view of a constraint, the object's only active one if `is_alone`. Raises UnknownMotionError."""
    if constraint.owner_space != "WORLD" or constraint.target_space != "WORLD":
        raise UnknownMotionError("NOT_WORLD_SPACE")
    if constraint.type == "DAMPED_TRACK" and not is_alone:
        raise UnknownMotionError("OTHER_CONSTRAINTS")
    own_matrices = _own_matrices(sampler, constraint, is_alone)
    target_matrices, point = _target(sampler, constraint)
    directions = point - own_matrices[:, :3, 3]
    if not np.isfinite(directions).all():
        raise UnknownMotionError("POSITION_NOT_FINITE")
    axis = np.zeros(3)
    if constraint.type == "TRACK_TO":
        axis[2] = 1.0
        if not constraint.use_target_z:
            return _View(directions, axis, rpt_("the world's Z axis, its up axis"))
        return _View(_in_axes(target_matrices, directions), axis, rpt_("the target's Z axis, its up axis"))
    if constraint.type == "LOCKED_TRACK":
        # The constraint rotates the object only about this axis, so it does not change the axis.
        axis["XYZ".index(constraint.lock_axis[-1])] = 1.0
        return _View(_in_axes(own_matrices, directions), axis, rpt_("the locked axis"))
    axis["XYZ".index(constraint.track_axis[-1])] = 1.0 if "NEGATIVE" in constraint.track_axis else -1.0
    behind = rpt_("the direction straight behind it")
    return _View(_in_axes(own_matrices, directions), axis, behind, flips_at_opposite=False)


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
