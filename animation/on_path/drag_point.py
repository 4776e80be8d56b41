# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag a point of a path by changing a key of the location or rotation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...interp import rotations
from ...interp.rotations.representations import rotation_representation
from ..bake.exact_motion import ExactSampler
from ..bake.plans.rotations import unwrapped
from ..edit.keys import record_tracks, revert_tracks
from ..fcurves.channels import channels_of
from ..report import AnimationError, Finding, Report
from ..sampling.depsgraph import world_matrices
from ..sampling.transforms import Matrices, TransformSampler, UnknownMotionError, plays
from .path_keys import LOCATIONS, KeyedTrack, Spot, Values, Vector, moving_tracks

_LOCATION_STEP = 1e-2
"""Location change with which to measure the effect of constraints, small but larger than rounding errors."""
_NO_EFFECT = 1e-9
"""Singular values of the effect below this, relative to the largest, count as 0, because a component has no effect."""
_ANGLE_STEP = 1e-5
"""Step, in radians, of the finite differences for single angles."""
_MOST_SOLVER_STEPS = 30
_SOLVED = 1e-9
"""The solver ends when no free component changes by more than this, in radians, far below the rounding of float32."""
_FLAT = 1e-12
"""Determinant below which a transform to world space, which may be scaled, cannot be inverted reliably."""
_OPPOSITE = 1e-12
"""If the cosine between two directions is within this of -1, rounding hides the axis of the shortest arc."""
_MOST_CORRECTIONS = 6
"""Number of attempts to reach the target if constraints or drivers move the point away from its computed position."""
_ROUNDING = 1e-6
"""Misses smaller than this fraction of the distance from the old position are rounding errors."""


def movable_point(spot: Spot) -> DraggedLocation | DraggedTip:
    """Return the point as an object that can be moved. Raise AnimationError if the point's key can't be changed.

    A location with a key at the frame takes precedence over a rotation.
    """
    errors = []
    for track in moving_tracks(spot.item, spot.bone, spot.followed):
        if track.path.removeprefix(spot.prefix) in LOCATIONS and _is_connected(spot):
            continue
        try:
            keyed = KeyedTrack(spot.item, track, spot.frame)
            return DraggedTip(spot, keyed) if track.is_rotation else DraggedLocation(spot, keyed)
        except AnimationError as error:
            errors.append(error)
    if errors:
        # A locked channel is a more helpful reason than another track's missing key.
        raise errors[0]
    raise AnimationError(Finding("POINT_WITHOUT_KEY", spot.name, frame=spot.frame))


def _is_connected(spot: Spot) -> bool:
    """Return whether the point belongs to a connected bone, whose location Blender ignores."""
    return bool(spot.bone and spot.owner.bone.use_connect and spot.owner.parent is not None)


class PointInWorld:
    """A point, whose position depends on the values of one track's key.

    If only F-curves and parents move the object or bone, the position for other values is computed. Otherwise, only
    Blender can evaluate it, after the values have been written into the key.
    """

    def __init__(self, spot: Spot, track: KeyedTrack) -> None:
        self._spot, self._track = spot, track
        self._frames = np.array([spot.frame])
        try:
            self._initial_sampler: TransformSampler | None = self._new_sampler()
            self.initial_matrices: Matrices = self._initial_sampler.matrices(spot.item, spot.bone)
            """World matrices of the object or bone from before any change, shape (1, 4, 4)."""
        except UnknownMotionError:
            self._initial_sampler, self.initial_matrices = None, self._evaluated_by_blender()

    @property
    def is_computable(self) -> bool:
        """Return whether only F-curves and parents move the object or bone."""
        return self._initial_sampler is not None

    def now(self) -> Vector:
        """Return the current position of the point."""
        if not self.is_computable:
            return self._point(self._evaluated_by_blender())
        return self._point(self._new_sampler().matrices(self._spot.item, self._spot.bone))

    def with_values(self, values: Values) -> Vector:
        """Return the position of the point for these values of the key.

        If the position is not computable, the values are written into the key.
        """
        if self._initial_sampler is None:
            self._track.write(values)
            if self._track.track.is_baked:
                self._track.play()
            return self._point(self._evaluated_by_blender())
        item, path = self._spot.item, self._track.track.path
        moved = {(item.session_uid, path): self._track.played(values)[np.newaxis]}
        return self._point(self._initial_sampler.with_moved(moved).matrices(item, self._spot.bone))

    def write_nearest(self, target: Vector, displacement: Vector, values_for: Callable[[Vector], Values]) -> Values:
        """Write and return the values that bring the point closest to the target.

        `values_for` returns the values for a correction, which is the sum of all previous misses. `displacement` is the
        vector from the old position to the target.
        """
        correction = np.zeros(3)
        values = best = values_for(correction)
        smallest_miss = np.inf
        for _ in range(_MOST_CORRECTIONS):
            miss = target - self.with_values(values)
            size = float(np.linalg.norm(miss))
            if size >= smallest_miss:
                break
            best, smallest_miss = values, size
            if size <= _ROUNDING * (1.0 + float(np.linalg.norm(displacement))):
                break
            correction = correction + miss
            values = values_for(correction)
        self._track.write(best)
        return best

    def _new_sampler(self) -> TransformSampler:
        return ExactSampler(self._frames, dict(self._spot.defaults))

    def _evaluated_by_blender(self) -> Matrices:
        return world_matrices(self._spot.scene, self._spot.item, self._spot.bone, self._frames)

    def _point(self, matrices: Matrices) -> Vector:
        """Return the position of the point for these matrices of its owner, shape (1, 4, 4)."""
        position: Vector = self._spot.followed.at(matrices, self._spot.tail)[0]
        return position


class DraggedLocation:
    """A point that is moved by changing a location key."""

    def __init__(self, spot: Spot, track: KeyedTrack) -> None:
        self.track = track
        locks = spot.owner.lock_location if track.track.path.removeprefix(spot.prefix) == "location" else [False] * 3
        self._free = [index for index in track.components if not locks[index]]
        if not self._free:
            raise track.track.error("POINT_LOCKED", frame=spot.frame)
        self._world = PointInWorld(spot, track)
        self._values = track.values()
        self._position = spot.followed.at(self._world.initial_matrices, spot.tail)[0]
        self.effect = self._measured_effect()
        """The derivative of the point's position with respect to each component of the location, shape (3, 3)."""
        self._inverse = np.linalg.pinv(self.effect, rcond=_NO_EFFECT)

    def move_to(self, target: Vector) -> Report:
        """Move the key so that the point reaches the target, or comes as close as possible. Update a live track."""
        displacement = target - self._position
        values = self._values + self._inverse @ displacement
        self.track.write(values)
        if self._world.is_computable:
            return self.track.play()
        computed = values
        values = self._world.write_nearest(target, displacement, lambda miss: computed + self._inverse @ miss)
        report = self.track.play()
        self._values, self._position = values, self._world.now()
        return report

    def _measured_effect(self) -> npt.NDArray[np.float64]:
        """Return the derivative of the point's position, measured with a change of each free component."""
        effect = np.zeros((3, 3))
        is_computable = self._world.is_computable
        step = 1.0 if is_computable else _LOCATION_STEP
        start = self._world.with_values(self._values) if is_computable else self._position
        # Otherwise, measuring writes into the key.
        recorded = [] if is_computable else record_tracks([(self.track.datablock, self.track.track)])
        for index in self._free:
            changed = self._values.copy()
            changed[index] += step
            effect[:, index] = (self._world.with_values(changed) - start) / step
        if recorded:
            revert_tracks(recorded)
            self.track.refresh()
        return effect


class DraggedTip:
    """A point that is moved by changing a key of the rotation R.

    The vector from the origin to the point, or its direction, is `A R arm`.
    """

    def __init__(self, spot: Spot, track: KeyedTrack) -> None:
        self.track = track
        self._is_axis = spot.followed.point == "AXIS"
        self._length = spot.followed.length
        kind = track.track.kind
        self._representation = rotation_representation(track.track.order if kind == "EULER" else kind)
        locks = _rotation_locks(spot, kind)
        self._free = [index for index in track.components if not locks[index]]
        if not self._free:
            raise track.track.error("POINT_LOCKED", frame=spot.frame)
        self._world = PointInWorld(spot, track)
        self._initial_values = self._values = track.values()
        self._initial_rotation = self._orientation(self._initial_values)
        matrices = self._world.initial_matrices
        self._initial_position = spot.followed.at(matrices, spot.tail)[0]
        scale = _scale(spot)
        self._arm = scale * spot.followed.arm(spot.tail)
        self._arm_length = float(np.linalg.norm(self._arm))
        scaled = rotations.to_matrix(self._initial_rotation) * np.where(scale == 0.0, 1.0, scale)
        self._to_world = matrices[0, :3, :3] @ np.linalg.inv(scaled)
        """The transform A from the rotation's space to world space, shape (3, 3)."""
        if self._arm_length == 0.0 or abs(np.linalg.det(self._to_world)) < _FLAT:
            raise track.track.error("NO_TIP", frame=spot.frame)
        self._to_rotation_space = np.linalg.inv(self._to_world)
        self._origin: Vector = matrices[0, :3, 3]
        self.effect = self._effect()
        """The derivative of the point's position with respect to small rotations about the axes of the rotation's
        space, shape (3, 3)."""

    def target(self, origin: Vector, direction: Vector) -> Vector:
        """Return the ray's intersection with the tip's sphere, or else the point on the sphere closest to the ray."""
        # The tip's sphere is round in world space for an axis, and in the rotation's space for an arm.
        to_space = np.eye(3) if self._is_axis else self._to_rotation_space
        radius = self._length if self._is_axis else self._arm_length
        start, unit = to_space @ (origin - self._origin), to_space @ direction
        unit = unit / np.linalg.norm(unit)
        foot = start - unit * float(start @ unit)
        distance = float(np.linalg.norm(foot))
        if distance >= radius:
            candidates = [foot * (radius / distance)]
        else:
            half_chord = np.sqrt(radius**2 - distance**2)
            candidates = [foot - half_chord * unit, foot + half_chord * unit]
        tip = to_space @ (self._computed_position(self._values) - self._origin)
        nearest = min(candidates, key=lambda point: float(np.linalg.norm(point - tip)))
        in_world: Vector = self._origin + np.linalg.inv(to_space) @ nearest
        return in_world

    def move_to(self, target: Vector) -> Report:
        """Rotate the key by the shortest arc from the old direction to the target, and update a live track."""
        self._values = self._solved(target)
        self.track.write(self._values)
        if not self._world.is_computable or self.track.leaves_keys:
            # Correct the target by the distance by which the previous attempt missed.
            self._values = self._world.write_nearest(
                target, target - self._initial_position, lambda miss: self._solved(target + miss)
            )
        return self.track.play()

    def _effect(self) -> npt.NDArray[np.float64]:
        """Return the derivative of the tip's position with respect to small rotations (see `effect`)."""
        arm = rotations.to_matrix(self._initial_rotation) @ self._arm
        effect: npt.NDArray[np.float64] = self._to_world @ np.cross(np.eye(3), arm).T
        if self._is_axis:
            # The displayed axis has a fixed length, so only the part across the axis moves its tip.
            axis = self._to_world @ arm
            length = float(np.linalg.norm(axis))
            effect = (self._length / length) * (effect - np.outer(axis, axis @ effect) / length**2)
        return effect

    def _orientation(self, values: Values) -> Values:
        """Return the unit quaternion for these channel values."""
        q = self._representation.orientation(values[:, np.newaxis])[:, 0]
        size = float(np.linalg.norm(q))
        return q / size if size > 0.0 else np.array([1.0, 0.0, 0.0, 0.0])

    def _computed_position(self, values: Values) -> Vector:
        """Return the tip's position for these values, computed from F-curves and parents."""
        arm = self._to_world @ (rotations.to_matrix(self._orientation(values)) @ self._arm)
        if self._is_axis:
            arm = arm * (self._length / np.linalg.norm(arm))
        tip: Vector = self._origin + arm
        return tip

    def _solved(self, target: Vector) -> Values:
        """Return the values that bring the tip to the target, or turn it toward the target."""
        goal = self._to_rotation_space @ (target - self._origin)
        size = float(np.linalg.norm(goal))
        if size == 0.0:
            return self._values
        if len(self._free) < len(self._values):
            return self._solved_by_components(target)
        arm = rotations.to_matrix(self._initial_rotation) @ (self._arm / self._arm_length)
        turned = rotations.multiply(_shortest_arc(arm, goal / size), self._initial_rotation)
        # Continue from the values of the last move, so that values do not jump by full turns.
        solved: Values = unwrapped(self.track.track, turned[np.newaxis], self._values)[0]
        if self._representation.homogeneous:
            solved = solved * float(np.linalg.norm(self._initial_values))
        return solved

    def _solved_by_components(self, target: Vector) -> Values:
        """Return values that minimize the miss by changing only free components (Levenberg-Marquardt)."""
        values, damping = self._values.copy(), 1e-3
        free = self._free
        size = float(np.linalg.norm(self._initial_position - self._origin)) or 1.0
        goal = target
        if self._is_axis:
            goal = self._origin + (target - self._origin) * (self._length / np.linalg.norm(target - self._origin))
        miss = (goal - self._computed_position(values)) / size
        for _ in range(_MOST_SOLVER_STEPS):
            jacobian = self._jacobian(values, size)
            step = np.linalg.solve(jacobian.T @ jacobian + damping * np.eye(len(free)), jacobian.T @ miss)
            new_values = values.copy()
            new_values[free] += step
            new_miss = (goal - self._computed_position(new_values)) / size
            if new_miss @ new_miss < miss @ miss:
                values, miss, damping = new_values, new_miss, damping * 0.1
            else:
                damping *= 10.0
            if float(np.abs(step).max()) < _SOLVED:
                break
        return values

    def _jacobian(self, values: Values, size: float) -> npt.NDArray[np.float64]:
        """Return the derivative of the tip's position, in units of `size`, by the free components, shape (3, free)."""
        jacobian = np.empty((3, len(self._free)))
        for column, index in enumerate(self._free):
            ahead, behind = values.copy(), values.copy()
            ahead[index] += _ANGLE_STEP
            behind[index] -= _ANGLE_STEP
            difference = self._computed_position(ahead) - self._computed_position(behind)
            jacobian[:, column] = difference / (2.0 * _ANGLE_STEP * size)
        return jacobian


def _rotation_locks(spot: Spot, kind: str) -> list[bool]:
    """Return whether the user locked each component of the rotation."""
    owner = spot.owner
    if kind == "EULER":
        return list(owner.lock_rotation)
    if not owner.lock_rotations_4d:
        return [False] * 4
    return [owner.lock_rotation_w, *owner.lock_rotation]


def _scale(spot: Spot) -> Vector:
    """Return the object's or bone's own scale at the frame."""
    scale = np.ones(3)
    fcurves = {(curve.data_path, curve.array_index): curve for curve in channels_of(spot.item) if plays(curve)}
    for name in ("scale", "delta_scale"):
        current = getattr(spot.owner, name, (1.0, 1.0, 1.0))
        for index, value in enumerate(current):
            fcurve = fcurves.get((spot.prefix + name, index))
            scale[index] *= value if fcurve is None else fcurve.evaluate(spot.frame)
    return scale


def _shortest_arc(start: Vector, end: Vector) -> Values:
    """Return the shortest rotation from one direction to another as a quaternion."""
    cosine = float(start @ end)
    if cosine > -1.0 + _OPPOSITE:
        q = np.concatenate(([1.0 + cosine], np.cross(start, end)))
    else:
        across = np.cross(start, np.eye(3)[np.argmin(np.abs(start))])
        q = np.concatenate(([0.0], across))
    unit: Values = q / np.linalg.norm(q)
    return unit
