# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag points and tangents of a path: change the key's location, rotation or parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...interp import rotations
from ...interp.fitting.tcb_from_tangents import OTHER_STAYS, at_same_direction
from ...interp.rotations.representations import rotation_representation
from ..bake.exact_motion import ExactSampler
from ..bake.plans.own_motion import OwnChannels, is_keyed_whole
from ..bake.plans.track_methods import bends_by_parameters
from ..edit.recorded_tracks import record_tracks, revert_tracks
from ..edit.set_parameters import set_parameters_of_each
from ..edit.track_keys import TrackKeys
from ..errors import AnimationError, Finding
from ..fcurves.channels import channels_of
from ..live.key_tangents import KeyTangents
from ..report import Report
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.depsgraph import placed
from ..sampling.transforms import Matrices, TransformSampler, plays
from ..store.own_keys import read_own_keys
from ..store.tracks import Track
from .keys import KeyedTrack, Values
from .points import LOCATIONS, Spot, Vector, moving_tracks

_LOCATION_STEP = 1e-2
"""Location change with which to measure the effect of constraints, small but larger than rounding errors."""
_ANGLE_STEP = 1e-5
"""Step, in radians, of the finite differences for single angles."""
_CORRECTIONS = 6
"""Number of attempts to reach the target if constraints or drivers move the point away from its computed position."""
_SOLVER_STEPS = 30
_ROUNDING = 1e-6
"""Misses smaller than this fraction of the distance from the old position are rounding errors."""


def movable_point(spot: Spot) -> MovingPlace | TurningTip:
    """Return the point as an object that can be moved. Raise AnimationError if the point's key can't be changed.

    A location with a key at the frame takes precedence over a rotation.
    """
    reasons = []
    for track in moving_tracks(spot.item, spot.bone, spot.followed):
        if track.path.removeprefix(spot.prefix) in LOCATIONS and _is_connected(spot):
            continue
        try:
            keyed = KeyedTrack(spot.item, track, spot.frame)
            return TurningTip(spot, keyed) if track.is_rotation else MovingPlace(spot, keyed)
        except AnimationError as reason:
            reasons.append(reason)
    if reasons:
        # A locked channel is a more helpful reason than another track's missing key.
        raise reasons[0]
    raise AnimationError(Finding("POINT_WITHOUT_KEY", spot.name, frame=spot.frame))


def _is_connected(spot: Spot) -> bool:
    """Return whether the spot is a connected bone, whose location Blender ignores."""
    return bool(spot.bone and spot.owner.bone.use_connect and spot.owner.parent is not None)


class _World:
    """The transform of the object or bone at the key's frame, for given values of the track."""

    def __init__(self, spot: Spot, track: KeyedTrack) -> None:
        self._spot, self._track = spot, track
        self._frames = np.array([spot.frame])
        try:
            self._initial: TransformSampler | None = self._sampler()
            self._initial.matrices(spot.item, spot.bone)
        except UnknownMotionError:
            self._initial = None

    @property
    def is_plain(self) -> bool:
        """Return whether only F-curves and parents move the object or bone."""
        return self._initial is not None

    def initial(self) -> Matrices:
        """Return the matrices from before any change, shape (1, 4, 4)."""
        return self.matrices() if self._initial is None else self._initial.matrices(self._spot.item, self._spot.bone)

    def matrices(self, values: Values | None = None) -> Matrices:
        """Return the matrices, shape (1, 4, 4).

        `values` replace the keys' values, and are written into the keys if anything other than F-curves and parents
        moves the object.
        """
        item, bone = self._spot.item, self._spot.bone
        if self._initial is None:
            if values is not None:
                self._track.write(values)
                if self._track.track.is_baked:
                    self._track.play()
            return placed(self._spot.scene, item, bone, self._frames)
        if values is None:
            return self._sampler().matrices(item, bone)
        moved = {(item.session_uid, self._track.track.path): self._track.played(values)[np.newaxis]}
        return self._initial.with_moved(moved).matrices(item, bone)

    def _sampler(self) -> TransformSampler:
        return ExactSampler(self._frames, dict(self._spot.defaults))

    def point(self, values: Values | None = None) -> Vector:
        """Return the position of the point. See `matrices` for `values`."""
        position: Vector = self._spot.followed.at(self.matrices(values), self._spot.tail)[0]
        return position

    def nearest(self, target: Vector, displacement: Vector, values_for: Callable[[Vector], Values]) -> Values:
        """Write and return the values with which Blender's evaluation brings the point closest to the target.

        `values_for` returns the values for a correction, which is the sum of all previous misses. `displacement` is the
        vector from the old position to the target.
        """
        correction = np.zeros(3)
        values = best = values_for(correction)
        smallest_miss = np.inf
        for _ in range(_CORRECTIONS):
            miss = target - self.point(values)
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


class MovingPlace:
    """A point that is moved by changing a location key."""

    def __init__(self, spot: Spot, track: KeyedTrack) -> None:
        self.track = track
        locks = spot.owner.lock_location if track.track.path.removeprefix(spot.prefix) == "location" else [False] * 3
        self._free = [index for index in track.keyed if not locks[index]]
        if not self._free:
            raise track.track.error("POINT_LOCKED", frame=spot.frame)
        self._world = _World(spot, track)
        self._values = track.values()
        self._place = spot.followed.at(self._world.initial(), spot.tail)[0]
        self.effect = self._measured_effect()
        """The derivative of the point's position with respect to each component of the location, shape (3, 3)."""
        self._inverse = np.linalg.pinv(self.effect, rcond=1e-9)

    def place(self) -> Vector:
        """Return the world position of the point at the key's frame."""
        return self._world.point()

    def target(self, origin: Vector, direction: Vector) -> Vector:
        """Return the point on the ray that is closest to the key's current position."""
        unit = direction / np.linalg.norm(direction)
        closest: Vector = origin + unit * float((self._place - origin) @ unit)
        return closest

    def move_to(self, target: Vector) -> Report:
        """Move the key so that the point reaches the target, or comes as close as possible. Update a live track."""
        displacement = target - self._place
        values = self._values + self._inverse @ displacement
        self.track.write(values)
        if not self._world.is_plain:
            computed = values
            values = self._world.nearest(target, displacement, lambda miss: computed + self._inverse @ miss)
        report = self.track.play()
        if not self._world.is_plain:
            self._values, self._place = values, self._world.point()
        return report

    def _measured_effect(self) -> npt.NDArray[np.float64]:
        effect = np.zeros((3, 3))
        step = 1.0 if self._world.is_plain else _LOCATION_STEP
        start = self._world.point(self._values) if self._world.is_plain else self._place
        recorded = [] if self._world.is_plain else record_tracks([(self.track.datablock, self.track.track)])
        for index in self._free:
            changed = self._values.copy()
            changed[index] += step
            effect[:, index] = (self._world.point(changed) - start) / step
        if recorded:
            revert_tracks(recorded)
            self.track.refresh()
        return effect


class TurningTip:
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
        self._free = [index for index in track.keyed if not locks[index]]
        if not self._free:
            raise track.track.error("POINT_LOCKED", frame=spot.frame)
        self._world = _World(spot, track)
        self._values = track.values()
        self._start = self._orientation(self._values)
        matrix = self._world.initial()
        self._place = spot.followed.at(matrix, spot.tail)[0]
        scale = _scale(spot)
        self._arm = scale * spot.followed.arm(spot.tail)
        self._arm_length = float(np.linalg.norm(self._arm))
        scaled = rotations.to_matrix(self._start) * np.where(scale == 0.0, 1.0, scale)
        self._to_world = matrix[0, :3, :3] @ np.linalg.inv(scaled)
        """The transform from the rotation's space to world space, shape (3, 3)."""
        if self._arm_length == 0.0 or abs(np.linalg.det(self._to_world)) < 1e-12:
            raise track.track.error("NO_TIP", frame=spot.frame)
        self._to_rotation_space = np.linalg.inv(self._to_world)
        self._origin: Vector = matrix[0, :3, 3]
        self._current_values = self._values
        self.effect = self._effect()
        """The derivative of the point's position with respect to small rotations about the axes of the rotation's
        space, shape (3, 3)."""

    def place(self) -> Vector:
        """Return the world position of the point at the key's frame."""
        return self._world.point()

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
        tip = to_space @ (self._predicted(self._current_values) - self._origin)
        nearest = min(candidates, key=lambda point: float(np.linalg.norm(point - tip)))
        in_world: Vector = self._origin + np.linalg.inv(to_space) @ nearest
        return in_world

    def move_to(self, target: Vector) -> Report:
        """Rotate the key by the shortest arc from the old direction to the target, and update a live track."""
        self._current_values = self._solved(target)
        self.track.write(self._current_values)
        if not self._world.is_plain or self.track.leaves_keys:
            # Correct the target by the distance by which the previous attempt missed.
            self._current_values = self._world.nearest(
                target, target - self._place, lambda miss: self._solved(target + miss)
            )
        return self.track.play()

    def _effect(self) -> npt.NDArray[np.float64]:
        arm = rotations.to_matrix(self._start) @ self._arm
        effect: npt.NDArray[np.float64] = self._to_world @ np.cross(np.eye(3), arm).T
        if self._is_axis:
            # The displayed axis has a fixed length, so only the part across the axis moves its tip.
            axis = self._to_world @ arm
            length = float(np.linalg.norm(axis))
            effect = (self._length / length) * (effect - np.outer(axis, axis @ effect) / length**2)
        return effect

    def _orientation(self, values: Values) -> Values:
        q = self._representation.orientation(values[:, np.newaxis])[:, 0]
        size = float(np.linalg.norm(q))
        return q / size if size > 0.0 else np.array([1.0, 0.0, 0.0, 0.0])

    def _predicted(self, values: Values) -> Vector:
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
            return self._current_values
        if len(self._free) < len(self._current_values):
            return self._solved_by_components(target)
        arm = rotations.to_matrix(self._start) @ (self._arm / self._arm_length)
        turned = rotations.multiply(_shortest_arc(arm, goal / size), self._start)
        # Continue from the values of the last move, so that values do not jump by full turns.
        values = self._current_values[:, np.newaxis]
        orientation = self._orientation(self._current_values)[:, np.newaxis]
        following = self._representation.following(values, orientation, turned[:, np.newaxis, np.newaxis])
        solved: Values = following[:, 0, 0]
        if self._representation.homogeneous:
            solved = solved * float(np.linalg.norm(self._values))
        return solved

    def _solved_by_components(self, target: Vector) -> Values:
        """Return values that bring the tip as close to the target as possible by changing only free components.

        The Levenberg-Marquardt method minimizes the miss, relative to the distance of the point from the origin.
        """
        values, damping = self._current_values.copy(), 1e-3
        free = self._free
        size = float(np.linalg.norm(self._place - self._origin)) or 1.0
        goal = target
        if self._is_axis:
            goal = self._origin + (target - self._origin) * (self._length / np.linalg.norm(target - self._origin))
        miss = (goal - self._predicted(values)) / size
        for _ in range(_SOLVER_STEPS):
            jacobian = self._jacobian(values, size)
            step = np.linalg.solve(jacobian.T @ jacobian + damping * np.eye(len(free)), jacobian.T @ miss)
            new_values = values.copy()
            new_values[free] += step
            new_miss = (goal - self._predicted(new_values)) / size
            if new_miss @ new_miss < miss @ miss:
                values, miss, damping = new_values, new_miss, damping * 0.1
            else:
                damping *= 10.0
            if float(np.abs(step).max()) < 1e-9:
                break
        return values

    def _jacobian(self, values: Values, size: float) -> npt.NDArray[np.float64]:
        """Return the derivative of the tip's position with respect to the free components, shape (3, components).

        Positions are in units of `size`.
        """
        jacobian = np.empty((3, len(self._free)))
        for column, index in enumerate(self._free):
            ahead, behind = values.copy(), values.copy()
            ahead[index] += _ANGLE_STEP
            behind[index] -= _ANGLE_STEP
            jacobian[:, column] = (self._predicted(ahead) - self._predicted(behind)) / (2.0 * _ANGLE_STEP * size)
        return jacobian


def _rotation_locks(spot: Spot, kind: str) -> list[bool]:
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
    if cosine > -1.0 + 1e-12:
        q = np.concatenate(([1.0 + cosine], np.cross(start, end)))
    else:
        across = np.cross(start, np.eye(3)[np.argmin(np.abs(start))])
        q = np.concatenate(([0.0], across))
    unit: Values = q / np.linalg.norm(q)
    return unit


Side = Literal["handle_left", "handle_right"]
_SHOWN_FRACTION = 1.0 / 3.0
"""The fraction of a segment's duration that a shown tangent spans, like a Bezier handle."""
_OTHER_IS_FREE = 0.0
_NAMES = ("tension", "continuity", "bias")


class DraggedTangent:
    """The dragged end of a path tangent on one side of a key.

    Raises AnimationError if parameters do not determine the tangent: if the track is not TCB, if its method has no
    parameters, or if that side of the key has an ease or no segment.
    """

    def __init__(
        self,
        spot: Spot,
        side: Side,
        shown: Vector,
        shown_frames: float,
        defaults: Mapping[str, float],
        depth: Vector | None = None,
    ) -> None:
        """Start the drag.

        `shown` is the vector from the key to the end of the tangent. `shown_frames` is the number of frames to the next
        key of the path on that side, which may be a key of another track. `depth` is the view direction. The position
        of the end along this direction has no effect.
        """
        point = movable_point(spot)
        self._keyed, self._side, self._frame = point.track, side, spot.frame
        self._shown, self._shown_frames = shown, shown_frames
        track = self._keyed.track
        own = read_own_keys(track)
        _check(track, own, spot.frame)
        options = track.settings.options
        self._defaults = defaults if options is None else options.defaults
        self._projection = np.eye(3)
        if depth is not None:
            self._projection -= np.outer(depth, depth) / float(depth @ depth)
        indices = sorted(self._keyed.keyed)
        effect = self._projection @ (point.effect if track.is_rotation else point.effect[:, indices])
        rows = {index: int(np.argmax(self._keyed.is_at(own[index].keys))) for index in indices}
        self._key = KeyTangents(track, {index: own[index] for index in indices}, rows, self._defaults, effect)
        if side not in self._key.now:
            raise track.error("NO_KEY_BESIDE", frame=spot.frame)
        if self._key.is_eased(side):
            raise track.error("EASE_DECIDES", frame=spot.frame)
        self.parameters = dict(zip(_NAMES, self._key.present.tolist(), strict=True))
        """The current tension, continuity and bias of the key."""

    def drag_to(self, end: Vector, *, alone: bool = False, length_only: bool = False) -> None:
        """Set the parameters that bring the end of the tangent closest to `end`, a world vector from the key.

        If `alone` is true, the tangent on the other side changes as little as possible. Otherwise, the other tangent
        follows. If `length_only` is true, the tangent keeps its direction. At the ends of a loop, nothing changes.
        """
        if length_only:
            end = at_same_direction(end, self._shown)
        sign = 1.0 if self._side == "handle_right" else -1.0
        velocity_change = self._projection @ (sign * (end - self._shown)) / (_SHOWN_FRACTION * self._shown_frames)
        # Tangents of splines are per segment of the track. The shown tangent is per segment of the path.
        goal = self._key.now[self._side] + self._key.width(self._side) * velocity_change
        best = self._key.best_parameters({self._side: goal}, OTHER_STAYS if alone else _OTHER_IS_FREE)
        if best is not None:
            self.parameters = dict(zip(_NAMES, best.parameters.tolist(), strict=True))
            self._set_parameters()

    def _set_parameters(self) -> None:
        self._keyed.refresh()
        frames = np.array([self._frame], dtype=np.float32)
        none_selected = np.zeros(1, dtype=np.bool_)
        keys = TrackKeys(self._keyed.datablock, self._keyed.track, frames, none_selected, self._key.own)
        for error in set_parameters_of_each([(keys, self.parameters)], self._defaults, is_drag_step=True):
            raise error


def _check(track: Track, own: OwnChannels, frame: float) -> None:
    """Raise AnimationError if parameters do not determine any tangent of the track."""
    if not track.enabled:
        raise track.error("NOT_TCB", frame=frame)
    if not bends_by_parameters(track, track.settings):
        raise track.error("NO_PARAMETERS", frame=frame)
    if track.is_rotation and not is_keyed_whole(track, own):
        raise track.error("KEYED_APART", frame=frame)
