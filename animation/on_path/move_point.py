# SPDX-License-Identifier: GPL-3.0-or-later
"""Move a path's point at a key by changing the key's location or rotation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...interp import rotations
from ...interp.rotations.representations import rotation_representation
from ..bake.exact_motion import ExactSampler
from ..edit.canceled_changes import record_tracks, revert_tracks
from ..errors import AnimationError, Finding
from ..fcurves.channels import channels_of
from ..report import Report
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.depsgraph import placed
from ..sampling.transforms import Matrices, TransformSampler, plays
from .keyed_track import KeyedTrack, Values
from .points import LOCATIONS, Spot, Vector, moving_tracks

_STEP = 1e-2
"""Location change with which to measure the effect of constraints, small but larger than rounding errors."""
_TURN = 1e-5
"""Step, in radians, of the finite differences for single angles."""
_ROUNDS = 6
"""Number of attempts to reach the target if constraints or drivers move the point away from its computed position."""
_STEPS = 30
_NEAR = 1e-6
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
    # A locked channel is a more helpful reason than another track's missing key.
    raise next(iter(reasons), None) or AnimationError(Finding("POINT_WITHOUT_KEY", spot.name, frame=spot.frame))


def _is_connected(spot: Spot) -> bool:
    """Return whether the spot is a connected bone, whose location Blender ignores."""
    return bool(spot.bone and spot.owner.bone.use_connect and spot.owner.parent is not None)


class _World:
    """The transform of the object or bone at the key's frame, for given values of the track."""

    def __init__(self, spot: Spot, track: KeyedTrack) -> None:
        self.spot, self.track = spot, track
        self.frames = np.array([spot.frame])
        try:
            self._at_once: TransformSampler | None = self._sampler()
            self._at_once.matrices(spot.item, spot.bone)
        except UnknownMotionError:
            self._at_once = None

    @property
    def is_plain(self) -> bool:
        """Return whether only F-curves and parents move the object or bone."""
        return self._at_once is not None

    def initial(self) -> Matrices:
        """Return the matrices from before any change, shape (1, 4, 4)."""
        return self.matrices() if self._at_once is None else self._at_once.matrices(self.spot.item, self.spot.bone)

    def matrices(self, values: Values | None = None) -> Matrices:
        """Return the matrices, shape (1, 4, 4).

        `values` replace the keys' values, and are written into the keys if anything other than F-curves and parents
        moves the object.
        """
        if self._at_once is None:
            if values is not None:
                self.track.write(values)
                if self.track.track.is_baked:
                    self.track.play()
            return placed(self.spot.scene, self.spot.item, self.spot.bone, self.frames)
        if values is None:
            return self._sampler().matrices(self.spot.item, self.spot.bone)
        path = self.track.track.path
        moved = {(self.spot.item.session_uid, path): self.track.played(values)[np.newaxis]}
        return self._at_once.with_moved(moved).matrices(self.spot.item, self.spot.bone)

    def _sampler(self) -> TransformSampler:
        return ExactSampler(self.frames, dict(self.spot.defaults))

    def point(self, values: Values | None = None) -> Vector:
        """Return the position of the point. See `matrices` for `values`."""
        at: Vector = self.spot.followed.at(self.matrices(values), self.spot.tail)[0]
        return at

    def nearest(self, target: Vector, away: Vector, values_for: Callable[[Vector], Values]) -> Values:
        """Write and return the values with which Blender's evaluation brings the point closest to the target.

        `values_for` returns the values for a correction, which is the sum of all previous misses. `away` is the vector
        from the old position to the target.
        """
        missed = np.zeros(3)
        values = best = values_for(missed)
        least = np.inf
        for _ in range(_ROUNDS):
            miss = target - self.point(values)
            off = float(np.linalg.norm(miss))
            if off >= least:
                break
            best, least = values, off
            if off <= _NEAR * (1.0 + float(np.linalg.norm(away))):
                break
            missed = missed + miss
            values = values_for(missed)
        self.track.write(best)
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
        self.effect = self._measured()
        """The derivative of the point's position with respect to each component of the location, shape (3, 3)."""
        self._inverse = np.linalg.pinv(self.effect, rcond=1e-9)

    def place(self) -> Vector:
        """Return the world position of the point at the key's frame."""
        return self._world.point()

    def target(self, origin: Vector, direction: Vector) -> Vector:
        """Return the point on the ray that is closest to the key's current position."""
        away = direction / np.linalg.norm(direction)
        at: Vector = origin + away * float((self._place - origin) @ away)
        return at

    def move_to(self, target: Vector) -> Report:
        """Move the key so that the point reaches the target, or comes as close as possible. Update a live track."""
        away = target - self._place
        values = self._values + self._inverse @ away
        self.track.write(values)
        if not self._world.is_plain:
            start = values
            values = self._world.nearest(target, away, lambda miss: start + self._inverse @ miss)
        report = self.track.play()
        if not self._world.is_plain:
            self._values, self._place = values, self._world.point()
        return report

    def _measured(self) -> npt.NDArray[np.float64]:
        lever = np.zeros((3, 3))
        step = 1.0 if self._world.is_plain else _STEP
        start = self._world.point(self._values) if self._world.is_plain else self._place
        recorded = [] if self._world.is_plain else record_tracks([(self.track.datablock, self.track.track)])
        for index in self._free:
            other = self._values.copy()
            other[index] += step
            lever[:, index] = (self._world.point(other) - start) / step
        if recorded:
            revert_tracks(recorded)
            self.track.refresh()
        return lever


class TurningTip:
    """A point that is moved by changing a key of the rotation R.

    The vector from the origin to the point, or its direction, is `A R arm`.
    """

    def __init__(self, spot: Spot, track: KeyedTrack) -> None:
        self.track = track
        self._axis = spot.followed.point == "AXIS"
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
        self._reach = float(np.linalg.norm(self._arm))
        scaled = rotations.to_matrix(self._start) * np.where(scale == 0.0, 1.0, scale)
        self._frame = matrix[0, :3, :3] @ np.linalg.inv(scaled)
        """The transform from the rotation's space to world space, shape (3, 3)."""
        if self._reach == 0.0 or abs(np.linalg.det(self._frame)) < 1e-12:
            raise track.track.error("NO_TIP", frame=spot.frame)
        self._into = np.linalg.inv(self._frame)
        self._origin: Vector = matrix[0, :3, 3]
        self._now = self._values
        self.effect = self._measured()
        """The derivative of the point's position with respect to small rotations about the axes of the rotation's
        space, shape (3, 3)."""

    def place(self) -> Vector:
        """Return the world position of the point at the key's frame."""
        return self._world.point()

    def target(self, origin: Vector, direction: Vector) -> Vector:
        """Return the ray's intersection with the tip's sphere, or else the point on the sphere closest to the ray."""
        into = np.eye(3) if self._axis else self._into
        radius = self._length if self._axis else self._reach
        start, along = into @ (origin - self._origin), into @ direction
        along = along / np.linalg.norm(along)
        foot = start - along * float(start @ along)
        off = float(np.linalg.norm(foot))
        if off >= radius:
            hits = [foot * (radius / off)]
        else:
            half = np.sqrt(radius**2 - off**2)
            hits = [foot - half * along, foot + half * along]
        tip = into @ (self._predicted(self._now) - self._origin)
        nearest = min(hits, key=lambda hit: float(np.linalg.norm(hit - tip)))
        at: Vector = self._origin + np.linalg.inv(into) @ nearest
        return at

    def move_to(self, target: Vector) -> Report:
        """Rotate the key by the shortest arc from the old direction to the target, and update a live track."""
        self._now = self._solved(target)
        self.track.write(self._now)
        if not self._world.is_plain or self.track.leaves_keys:
            # Correct the target by the distance by which the previous attempt missed.
            self._now = self._world.nearest(target, target - self._place, lambda miss: self._solved(target + miss))
        return self.track.play()

    def _measured(self) -> npt.NDArray[np.float64]:
        arm = rotations.to_matrix(self._start) @ self._arm
        effect: npt.NDArray[np.float64] = self._frame @ np.cross(np.eye(3), arm).T
        if self._axis:
            away = self._frame @ arm
            size = float(np.linalg.norm(away))
            effect = (self._length / size) * (effect - np.outer(away, away @ effect) / size**2)
        return effect

    def _orientation(self, values: Values) -> Values:
        q = self._representation.orientation(values[:, np.newaxis])[:, 0]
        size = float(np.linalg.norm(q))
        return q / size if size > 0.0 else np.array([1.0, 0.0, 0.0, 0.0])

    def _predicted(self, values: Values) -> Vector:
        """Return the tip's position for these values, computed from F-curves and parents."""
        away = self._frame @ (rotations.to_matrix(self._orientation(values)) @ self._arm)
        if self._axis:
            away = away * (self._length / np.linalg.norm(away))
        at: Vector = self._origin + away
        return at

    def _solved(self, target: Vector) -> Values:
        """Return the values that bring the tip to the target, or turn it toward the target."""
        goal = self._into @ (target - self._origin)
        size = float(np.linalg.norm(goal))
        if size == 0.0:
            return self._now
        if len(self._free) < len(self._now):
            return self._solved_by_components(target)
        arm = rotations.to_matrix(self._start) @ (self._arm / self._reach)
        turned = rotations.multiply(_shortest_arc(arm, goal / size), self._start)
        # Continue from the values of the last move, so that values do not jump by full turns.
        before = self._now[:, np.newaxis]
        start = self._orientation(self._now)[:, np.newaxis]
        found: Values = self._representation.following(before, start, turned[:, np.newaxis, np.newaxis])[:, 0, 0]
        if self._representation.homogeneous:
            found = found * float(np.linalg.norm(self._values))
        return found

    def _solved_by_components(self, target: Vector) -> Values:
        """Return values that bring the tip as close to the target as possible by changing only free components."""
        values, damping = self._now.copy(), 1e-3
        free = self._free
        size = float(np.linalg.norm(self._place - self._origin)) or 1.0
        goal = target
        if self._axis:
            goal = self._origin + (target - self._origin) * (self._length / np.linalg.norm(target - self._origin))
        miss = (goal - self._predicted(values)) / size
        for _ in range(_STEPS):
            slopes = np.empty((3, len(free)))
            for column, index in enumerate(free):
                ahead, behind = values.copy(), values.copy()
                ahead[index] += _TURN
                behind[index] -= _TURN
                slopes[:, column] = (self._predicted(ahead) - self._predicted(behind)) / (2.0 * _TURN * size)
            step = np.linalg.solve(slopes.T @ slopes + damping * np.eye(len(free)), slopes.T @ miss)
            tried = values.copy()
            tried[free] += step
            left = (goal - self._predicted(tried)) / size
            if left @ left < miss @ miss:
                values, miss, damping = tried, left, damping * 0.1
            else:
                damping *= 10.0
            if float(np.abs(step).max()) < 1e-9:
                break
        return values


def _rotation_locks(spot: Spot, kind: str) -> list[bool]:
    owner = spot.owner
    if kind == "EULER":
        return list(owner.lock_rotation)
    if not owner.lock_rotations_4d:
        return [False] * 4
    return [owner.lock_rotation_w, *owner.lock_rotation]


def _scale(spot: Spot) -> Vector:
    """Return the object's or bone's own scale at the frame."""
    size = np.ones(3)
    curves = {(each.data_path, each.array_index): each for each in channels_of(spot.item) if plays(each)}
    for name in ("scale", "delta_scale"):
        still = getattr(spot.owner, name, (1.0, 1.0, 1.0))
        for index, value in enumerate(still):
            fcurve = curves.get((spot.prefix + name, index))
            size[index] *= value if fcurve is None else fcurve.evaluate(spot.frame)
    return size


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
