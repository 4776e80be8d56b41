# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the transforms of objects and bones at many frames from F-curves, in the same way as Blender.

For objects animated by constraints, drivers, NLA strips or physics, see `depsgraph.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Self, cast

import bpy
import numpy as np
import numpy.typing as npt

from ...interp import rotations
from ..fcurves.channels import channels_of
from ..report import AnimationError, Finding
from ..store.paths import bone_path
from ..store.tracks import rotation_property

# Motion from other sources than F-curves and parents


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


def _check_body(item: bpy.types.Object) -> None:
    """Raise UnknownMotionError if physics moves the object."""
    if item.rigid_body is not None:
        raise UnknownMotionError("RIGID_BODY", item.name)


def _check_bone_parent(item: Any) -> None:
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


def _check_inheritance(bone: bpy.types.PoseBone) -> None:
    """Raise UnknownMotionError if the bone inherits only part of its parent's transform."""
    settings = bone.bone
    if not settings.use_inherit_rotation or settings.inherit_scale != "FULL" or not settings.use_local_location:
        raise UnknownMotionError("INHERITS_PART", bone.name)


def _check_animation(item: Any, path: str) -> None:
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


# Transforms


Frames = npt.NDArray[np.float64]
Matrices = npt.NDArray[np.float64]
"""Matrices for column vectors, shape (frames, 4, 4)."""

Moved = Mapping[tuple[int, str], npt.NDArray[np.float64]]
"""Values by the object's `session_uid` and the property's path."""
FCurves = Mapping[str, Mapping[int, bpy.types.FCurve]]
"""F-curves by path and component."""
_Name = tuple[int, str | None] | tuple[int, str, str]
"""The dictionary key of a cached transform of an object, a bone in world space, or a bone in armature space."""


class TransformSampler:
    """A sampler and cache for transforms of objects and bones at ascending `frames`, valid while nothing changes.

    `moved` contains values that are used instead of F-curves, by the object's `session_uid` and the property's path.
    Locations have the shape (frames, 3). Rotations are unit quaternions, and their paths end in `rotation` for every
    rotation mode.
    """

    def __init__(self, frames: Frames, moved: Moved | None = None) -> None:
        self.frames = frames
        self._moved = moved or {}
        self._curves: dict[int, FCurves] = {}
        """The F-curves that have an effect, by the object's `session_uid`."""
        self._curve_values: dict[tuple[int, str], npt.NDArray[np.float64]] = {}
        """The values of properties and the matrices of rotations, by the object's `session_uid` and the path."""
        self._cache: dict[_Name, tuple[Matrices, set[int]]] = {}
        """Matrices, and the `session_uid` of the datablocks that determine them."""
        self._dependencies: set[int] = set()
        """The `session_uid` of the datablocks read so far for the matrices that are being computed."""

    def with_moved(self, moved: Moved) -> Self:
        """Return a sampler that uses other values instead of F-curves, and that shares the values already read."""
        other = copy(self)
        other._moved, other._cache = moved, {}
        return other

    def matrices(self, item: Any, bone: str = "") -> Matrices:
        """Return the matrices of the object or one of its bones. Raises UnknownMotionError."""
        if not bone:
            return self._cached((item.session_uid, None), lambda: self._object(item))
        return self._cached((item.session_uid, bone), lambda: self._bone(item, item.pose.bones[bone]))

    def rotation(self, item: Any, bone: str = "") -> npt.NDArray[np.float64]:
        """Return the local rotation of the object or bone as quaternions, shape (frames, 4)."""
        owner = item.pose.bones[bone] if bone else item
        path = f"{bone_path(owner)}." if bone else ""
        return rotations.from_matrix(self._rotation(owner, self._curves_of(item, path), "", path))

    def before_constraints(self, item: bpy.types.Object) -> Matrices:
        """Return the matrices of the object without its constraints. Raises UnknownMotionError."""
        return self._cached((item.session_uid, "", "before"), lambda: self._unconstrained(item))

    def dependencies(self, item: bpy.types.Object, bone: str = "") -> set[int]:
        """Return the `session_uid` of all datablocks that determine the matrices.

        The matrices are valid until one of these datablocks changes.
        """
        return self._cache[(item.session_uid, bone or None)][1]

    def _cached(self, name: _Name, compute: Callable[[], Matrices]) -> Matrices:
        """Return the matrices from the cache, or compute them and collect their dependencies."""
        if name not in self._cache:
            outer_dependencies, self._dependencies = self._dependencies, set()
            try:
                self._cache[name] = compute(), self._dependencies
            finally:
                self._dependencies = outer_dependencies
        matrices, dependencies = self._cache[name]
        self._dependencies |= dependencies
        return matrices

    def _object(self, item: bpy.types.Object) -> Matrices:
        """Return the world matrices of an object that has no constraints."""
        check_constraints(item)
        return self.before_constraints(item)

    def _unconstrained(self, item: bpy.types.Object) -> Matrices:
        """Return the world matrices of an object, ignoring its constraints."""
        self._dependencies.add(item.session_uid)
        _check_body(item)
        curves = self._curves_of(item, "")
        rotation = self._rotation(item, curves, "")
        # Blender has no delta for this mode.
        if item.rotation_mode != "AXIS_ANGLE":
            rotation = self._rotation(item, curves, "delta_") @ rotation
        local = _composed(
            self._values(item, curves, "location") + self._values(item, curves, "delta_location"),
            rotation,
            self._values(item, curves, "scale") * self._values(item, curves, "delta_scale"),
        )
        if item.parent is None:
            return local
        world: Matrices = self._parent(item) @ np.array(item.matrix_parent_inverse) @ local
        return world

    def _parent(self, item: Any) -> Matrices:
        """Return the matrices of the object or bone to which the object is parented."""
        parent = item.parent
        if item.parent_type == "OBJECT" and not (parent.type == "CURVE" and parent.data.use_path):
            return self.matrices(parent)
        _check_bone_parent(item)
        bone = parent.pose.bones.get(item.parent_bone)
        if bone is None:
            return self.matrices(parent)
        # Children of bones are relative to the tail.
        to_tail = np.eye(4)
        to_tail[1, 3] = bone.bone.length
        tail: Matrices = self.matrices(parent, bone.name) @ to_tail
        return tail

    def _bone(self, item: Any, bone: bpy.types.PoseBone) -> Matrices:
        self._dependencies.add(item.data.session_uid)
        # From the root down, because a long chain of bones would exceed Python's limit of recursion.
        for ancestor in reversed(bone.parent_recursive):
            self._in_armature(item, ancestor)
        world: Matrices = self.matrices(item) @ self._in_armature(item, bone)
        return world

    def _in_armature(self, item: bpy.types.Object, bone: bpy.types.PoseBone) -> Matrices:
        """Return the matrices of the bone in armature space."""
        return self._cached((item.session_uid, bone.name, "posed"), lambda: self._posed(item, bone))

    def _posed(self, item: Any, bone: bpy.types.PoseBone) -> Matrices:
        rest = np.array(bone.bone.matrix_local)
        if item.data.pose_position == "REST":
            return np.broadcast_to(rest, (len(self.frames), 4, 4))
        check_constraints(bone)
        check_kinematics(item)
        path = f"{bone_path(bone)}."
        curves = self._curves_of(item, path)
        location = self._values(bone, curves, "location", path)
        if bone.bone.use_connect and bone.parent is not None:
            # Blender ignores the location of connected bones.
            location = np.zeros_like(location)
        scale = self._values(bone, curves, "scale", path)
        local = _composed(location, self._rotation(bone, curves, "", path), scale)
        if bone.parent is None:
            root: Matrices = rest @ local
            return root
        _check_inheritance(bone)
        offset = np.linalg.inv(np.array(bone.parent.bone.matrix_local)) @ rest
        child: Matrices = self._in_armature(item, bone.parent) @ offset @ local
        return child

    def _curves_of(self, item: bpy.types.Object, path: str) -> FCurves:
        """Return the F-curves that animate the object, or the bone with that path."""
        animation = item.animation_data
        if animation is None:
            return {}
        _check_animation(item, path)
        if animation.action is not None:
            # An action without F-curves for the object may get some.
            self._dependencies.add(animation.action.session_uid)
        try:
            channels = channels_of(item)
        except AnimationError as refusal:
            if refusal.has("LAYERED"):
                raise UnknownMotionError("QUOTED", *refusal.findings) from refusal
            return {}
        self._dependencies.add(channels.action.session_uid)
        if item.session_uid not in self._curves:
            self._curves[item.session_uid] = by_path(filter(plays, channels))
        return self._curves[item.session_uid]

    def _values(self, owner: Any, curves: FCurves, name: str, path: str = "") -> npt.NDArray[np.float64]:
        """Return the values of the property at all frames, shape (frames, components)."""
        key = owner.id_data.session_uid, path + name
        if key in self._moved:
            return self._moved[key]
        if key not in self._curve_values:
            self._curve_values[key] = self._played(owner, curves, name, path)
        return self._curve_values[key]

    def _played(self, owner: Any, curves: FCurves, name: str, path: str) -> npt.NDArray[np.float64]:
        return played_values(getattr(owner, name), curves.get(path + name, {}), self.frames)

    def _rotation(self, owner: Any, curves: FCurves, delta: str, path: str = "") -> Matrices:
        """Return rotation matrices, shape (frames, 3, 3)."""
        key = owner.id_data.session_uid, f"{path}{delta}rotation"
        if key in self._moved:
            return rotations.to_matrix(self._moved[key])
        mode = owner.rotation_mode
        name = delta + rotation_property(mode)
        is_played = (key[0], path + name) not in self._moved
        if is_played and key in self._curve_values:
            return self._curve_values[key]
        matrices = rotations.to_matrix(orientations(mode, self._values(owner, curves, name, path)))
        if is_played:
            self._curve_values[key] = matrices
        return matrices


def _composed(location: npt.NDArray[np.float64], rotation: Matrices, scale: npt.NDArray[np.float64]) -> Matrices:
    """Return matrices (frames, 4, 4) that scale, then rotate, then move."""
    matrices = np.zeros((len(location), 4, 4))
    matrices[:, :3, :3] = rotation * scale[:, np.newaxis, :]
    matrices[:, :3, 3] = location
    matrices[:, 3, 3] = 1.0
    return matrices


def orientations(mode: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Convert channel values (n, components) in a rotation mode to unit quaternions (n, 4)."""
    if mode == "AXIS_ANGLE":
        return rotations.from_axis_angle(values[:, 1:], values[:, 0])
    if mode != "QUATERNION":
        return rotations.from_euler(values, cast(rotations.Order, mode))
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return np.where(length > 0.0, values / np.where(length > 0.0, length, 1.0), (1.0, 0.0, 0.0, 0.0))


def by_path(fcurves: Iterable[bpy.types.FCurve]) -> dict[str, dict[int, bpy.types.FCurve]]:
    """Return the F-curves by path and component."""
    curves: dict[str, dict[int, bpy.types.FCurve]] = {}
    for fcurve in fcurves:
        curves.setdefault(fcurve.data_path, {})[fcurve.array_index] = fcurve
    return curves


def played_values(
    current: Sequence[float], fcurves: Mapping[int, bpy.types.FCurve], frames: Frames
) -> npt.NDArray[np.float64]:
    """Return the values of a property at frames, shape (frames, components).

    Components without an F-curve keep their current values.
    """
    values = np.empty((len(frames), len(current)))
    frame_list = frames.tolist()
    for index, value in enumerate(current):
        fcurve = fcurves.get(index)
        values[:, index] = value if fcurve is None else [fcurve.evaluate(frame) for frame in frame_list]
    return values


def plays(fcurve: bpy.types.FCurve) -> bool:
    """Return whether the F-curve has an effect, that is, whether it is neither muted nor empty."""
    is_muted = fcurve.mute or (fcurve.group is not None and fcurve.group.mute)
    return not is_muted and not fcurve.is_empty
