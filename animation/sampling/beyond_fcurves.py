# SPDX-License-Identifier: GPL-3.0-or-later
"""Detect motion from sources other than F-curves and parents: constraints, drivers, NLA and physics."""

from __future__ import annotations

from typing import Any

import bpy

from ..errors import Finding

_IK = {"IK", "SPLINE_IK"}


class UnknownMotionError(Exception):
    """Raised for objects that are moved by anything other than F-curves and parents. `finding` names the cause."""

    def __init__(self, code: str, *arguments: Any) -> None:
        self.finding = Finding(code, arguments=arguments)
        super().__init__(self.finding)


def check_constraints(owner: bpy.types.Object | bpy.types.PoseBone) -> None:
    """Raise UnknownMotionError if constraints act on the object or bone."""
    if any(not constraint.mute for constraint in owner.constraints):
        raise UnknownMotionError("HAS_CONSTRAINTS", owner.name)


def check_body(item: bpy.types.Object) -> None:
    """Raise UnknownMotionError if physics moves the object."""
    if item.rigid_body is not None:
        raise UnknownMotionError("RIGID_BODY", item.name)


def check_bone_parent(item: Any) -> None:
    """Raise UnknownMotionError if the object has a parent other than an object or a bone without relative parenting."""
    parent, kind = item.parent, item.parent_type
    if kind != "BONE" or parent.type != "ARMATURE":
        raise UnknownMotionError("PARENTED_BY", item.name, kind.lower())
    bone = parent.pose.bones.get(item.parent_bone)
    if bone is not None and bone.bone.use_relative_parent:
        raise UnknownMotionError("PARENTED_RELATIVE", item.name, bone.name)


def check_kinematics(item: Any) -> None:
    """Raise UnknownMotionError if any bone of the armature has inverse kinematics, which also moves other bones."""
    constraints = (constraint for bone in item.pose.bones for constraint in bone.constraints)
    if any(not constraint.mute and constraint.type in _IK for constraint in constraints):
        raise UnknownMotionError("HAS_IK", item.name)


def check_inheritance(bone: bpy.types.PoseBone) -> None:
    """Raise UnknownMotionError if the bone inherits only part of its parent's transform."""
    settings = bone.bone
    if not settings.use_inherit_rotation or settings.inherit_scale != "FULL" or not settings.use_local_location:
        raise UnknownMotionError("INHERITS_PART", bone.name)


def check_animation(item: Any, path: str) -> None:
    """Raise UnknownMotionError if NLA tracks or drivers move the object, or the bone with that path."""
    animation = item.animation_data
    if len(animation.nla_tracks):
        raise UnknownMotionError("HAS_NLA", item.name)
    for driver in animation.drivers:
        if not driver.mute and (driver.data_path.startswith(path) if path else _is_transform(driver.data_path)):
            raise UnknownMotionError("HAS_DRIVERS", item.name)


def _is_transform(path: str) -> bool:
    """Return whether the path belongs to the location, rotation or scale of an object, or to one of their deltas."""
    return path.removeprefix("delta_").startswith(("location", "rotation", "scale"))
