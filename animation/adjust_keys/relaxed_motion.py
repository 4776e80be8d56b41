# SPDX-License-Identifier: GPL-3.0-or-later
"""The conditions of Adjust Keys to Condition, and their errors as a bounded least-squares problem of key values.

Source: docs/formulas, "Relaxation".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import bpy
import numpy as np

from ...interp import evaluate_many, rotations
from ...interp.fitting.least_squares import DenseEquations
from ...interp.keys import BoolArray
from ..arguments import Point, check_fields
from ..bake.plans.rotations import quaternions_of
from ..bake.plans.track_splines import TrackSpline, track_splines
from ..bake.world_space_samples import bone_of
from ..edit.track_keys import check_writable, find_track
from ..fcurves.channels import channels_of
from ..fcurves.keyframes import PAIRS, is_among, union
from ..report import AnimationError, Finding
from ..sampling.depsgraph import DepsgraphSampler
from ..sampling.properties import Values
from ..sampling.transforms import Frames, Matrices, Moved, TransformSampler, UnknownMotionError
from ..store.frame_functions import function_of
from ..store.read_own_keys import read_own_keys
from ..store.tracks import EULER_ORDERS
from ..text import rpt_


@dataclass(frozen=True)
class StaysAt:
    """The condition that the point stays at a point of another object or of one of its bones.

    Examples
    --------
    >>> condition = animation.StaysAt(ball, point=(0.0, 0.0, 1.0))
    """

    target: bpy.types.Object
    bone: str = ""
    point: Point = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class StaysAbove:
    """The condition that the point stays at least `height` units above the XY plane of an object or the world.

    Examples
    --------
    >>> condition = animation.StaysAbove(height=0.5)
    """

    plane: bpy.types.Object | None = None
    height: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class TurnsWithin:
    """The condition that the rotation of the object or bone stays within limits.

    The limits apply to Euler angles in the rotation order of the object or bone, or in XYZ order if the rotation mode
    is not Euler. The limits are in radians, from -pi to pi. If None, there is no limit.

    Examples
    --------
    >>> condition = animation.TurnsWithin(low=(-1.5, None, None), high=(1.5, None, None))
    """

    low: tuple[float | None, float | None, float | None] = (None, None, None)
    high: tuple[float | None, float | None, float | None] = (None, None, None)

    def __post_init__(self) -> None:
        check_fields(self)
        for axis, low, high in zip("XYZ", self.low, self.high, strict=True):
            if low is not None and high is not None and low > high:
                raise ValueError(rpt_("low {0:s} {1:g} is above high {0:s} {2:g}", axis, low, high))


Condition = StaysAt | StaysAbove | TurnsWithin


def target_of(condition: Condition) -> tuple[bpy.types.Object, str] | None:
    """Return the object on which the condition depends, with the name of a bone or "". Return None for the world."""
    if isinstance(condition, StaysAt):
        return condition.target, condition.bone
    if isinstance(condition, StaysAbove) and condition.plane is not None:
        return condition.plane, ""
    return None


# The least-squares problem


_DIFFERENCE = 1e-6
"""The step of numeric derivatives, relative to numbers above 1. It uses half of float64's digits."""
_SHORTEST_LEVER = 1e-3
"""Rotations about a point closer than this hardly move it, so their angle measures the change."""
_CUBE = math.sqrt(3.0)
"""Points that differ by at most the reciprocal of this in each of three directions are at most 1 apart."""


class Mover:
    """A location or rotation track with keys that may change."""

    def __init__(
        self, datablock: bpy.types.ID, path: str, key_frames: Sequence[float], defaults: Mapping[str, float]
    ) -> None:
        self.datablock, self.track = datablock, find_track(datablock, path)
        check_writable(datablock, self.track)
        if not self.track.enabled:
            raise self.track.error("NOT_TCB")
        prefix, dot, name = self.track.path.rpartition(".")
        if name != "location" and not (self.track.is_rotation and name.startswith("rotation")):
            raise self.track.error("RELAX_ONLY_TRANSFORMS")
        self.sampler_key = datablock.session_uid, prefix + dot + ("rotation" if self.track.is_rotation else name)
        """The path of the motion in `TransformSampler`."""
        self.bone = bone_of(datablock, self.track)
        self._settings, self._function = self.track.settings, function_of(self.track)
        options = self._settings.options
        self._defaults = options.defaults if self.track.is_played and options else defaults
        self._own = dict(sorted(read_own_keys(self.track).items()))
        if self.track.is_rotation and len({own.frame_bytes for own in self._own.values()}) > 1:
            raise self.track.error("KEYED_APART")
        chosen_frames = np.unique(np.array(key_frames, dtype=np.float32))
        is_missing = ~is_among(chosen_frames, union([own.frames for own in self._own.values()]))
        if is_missing.any():
            raise self.track.error("NO_KEY_AT_FRAME", frame=float(chosen_frames[is_missing][0]))
        self.rows = {index: np.flatnonzero(is_among(own.frames, chosen_frames)) for index, own in self._own.items()}
        """The rows of the keys that may change, by component."""
        self.start = np.concatenate([self._own[index].values[rows] for index, rows in self.rows.items()], dtype=float)
        """The values of these keys before the relaxation, one component after the other."""
        self._start_frames = np.concatenate([self._own[index].frames[rows] for index, rows in self.rows.items()])

    def by_component(self, key_values: Values) -> dict[int, Values]:
        """Return the values of the keys that may change, by component."""
        ends = np.cumsum([len(rows) for rows in self.rows.values()])
        return dict(zip(self.rows, np.split(key_values, ends[:-1]), strict=True))

    def splines(self, key_values: Values) -> list[TrackSpline]:
        """Return the track's splines with these values in the keys that may change."""
        changed_keys = {}
        for index, values in self.by_component(key_values).items():
            keys = self._own[index].keys
            # In float64, so that the difference quotients keep their digits. The handles move with their keys.
            offset = np.zeros(keys.co.shape)
            offset[self.rows[index], 1] = values - keys.values[self.rows[index]]
            points = {name: getattr(keys, name) + offset for name in PAIRS}
            changed_keys[index] = self._own[index].with_(keys=keys.with_(**points))
        return track_splines(self.track, self._settings, changed_keys, self._defaults)

    def motion(self, key_values: Values, frames: Frames) -> Values:
        """Return the locations or quaternions at the frames."""
        splines = self.splines(key_values)
        spline_frames = frames if self._function is None else self._function(frames)
        sampled = evaluate_many([spline.spline for spline in splines], spline_frames)
        if self.track.is_rotation:
            return sampled[0]
        locations = np.empty((len(frames), 3))
        locations[:] = [self.track.component(index) for index in range(3)]
        for spline, values in zip(splines, sampled, strict=True):
            locations[:, spline.components] = values
        return locations

    def changed_key_count(self, key_values: Values) -> int:
        """Return the number of keys with changed values."""
        return len(np.unique(self._start_frames[key_values != self.start]))

    def largest_change(self, key_values: Values) -> float:
        """Return the maximum distance, or the maximum angle for a rotation, by which a key changed."""
        if self.track.is_rotation:
            before, after = (
                rotations.normalise(quaternions_of(self.track, self.splines(values)[0].values))
                for values in (self.start, key_values)
            )
            return float(rotations.angle_between(before, after).max())
        _, keys = np.unique(self._start_frames, return_inverse=True)
        return math.sqrt(float(np.bincount(keys, (key_values - self.start) ** 2).max()))


class _Cost(NamedTuple):
    cost: Values


class Motion:
    """The least-squares problem of one round: the changes of keys, and errors above `aim` times a weight.

    The condition must hold for `point`, in the local space of an object or bone, at `frames`. The unknowns are changes
    of key values, multiplied by the distances that they move the point, shape (n, 1).
    """

    owner = None

    def __init__(
        self,
        item: Any,
        bone: str,
        point: Sequence[float],
        condition: Condition,
        movers: Sequence[Mover],
        scene: bpy.types.Scene,
        frames: Frames,
    ) -> None:
        self.item, self.bone, self.point, self.condition = item, bone, point, condition
        self.movers, self.frames = movers, frames
        self._sampler = TransformSampler(frames)
        self._target = self._checked_target(scene)
        self._weights = self._changes_per_unit()
        self.aim = 0.0
        """The error that is allowed without a cost."""
        self.penalty = 1.0
        """The weight of squared errors above the aim, relative to the squared changes of keys."""
        self.on_step: Callable[[], None] | None = None
        """Called before the first and after each step of a descent."""

    def at(self, is_chosen: BoolArray) -> Self:
        """Return the same problem at some of the frames, with the same unknowns."""
        part = copy(self)
        part.frames = self.frames[is_chosen]
        part._sampler = TransformSampler(part.frames)
        if not isinstance(self._target, tuple):
            part._target = self._target[is_chosen]
        return part

    def key_values(self, x: Values) -> list[Values]:
        """Return the key values of each mover."""
        start = [mover.start for mover in self.movers]
        ends = np.cumsum(list(map(len, start)))
        return np.split(np.concatenate(start) + x[:, 0] / self._weights, ends[:-1])

    def errors(self, key_values: Sequence[Values]) -> Values:
        """Return the error at each frame, at least 0."""
        excess = self._excess(self._motions(key_values))
        if isinstance(self.condition, StaysAt):
            distances: Values = np.linalg.norm(excess[:3], axis=0) / _CUBE
            return distances
        largest: Values = np.maximum(excess.max(axis=0), 0.0)
        return largest

    def evaluate(self, x: Values, _near: _Cost | None = None) -> _Cost:
        """Return the cost of changes of the keys and of the remaining errors."""
        over = np.maximum(self._excess(self._motions(self.key_values(x))) - self.aim, 0.0)
        return _Cost(np.array([(x**2).sum() + self.penalty * (over**2).sum()]))

    def equations(self, x: Values, _state: _Cost) -> DenseEquations:
        """Return the normal equations, with numeric derivatives at the frames that have errors above the aim."""
        part = self.at(self._excess(self._motions(self.key_values(x))).max(axis=0) > self.aim)
        motions = part._motions(self.key_values(x))
        excess = part._excess(motions)
        is_over = excess > self.aim
        columns = []
        for mover, values in zip(self.movers, self.key_values(x), strict=True):
            for row, step in enumerate(_DIFFERENCE * np.maximum(1.0, np.abs(values))):
                changed = values.copy()
                changed[row] += step
                changed_excess = part._excess(motions | {mover.sampler_key: mover.motion(changed, part.frames)})
                columns.append((changed_excess[is_over] - excess[is_over]) / step)
        slopes = np.stack(columns, axis=1) / self._weights
        matrix = np.eye(len(x)) + self.penalty * slopes.T @ slopes
        gradient = x + self.penalty * (slopes.T @ (excess[is_over] - self.aim))[:, np.newaxis]
        return DenseEquations(matrix[np.newaxis], gradient, matrix.diagonal()[:, np.newaxis])

    def moved(self, x: Values, step: Values) -> Values:
        """Return the unknowns after a step."""
        return x + step

    def is_good(self, _state: _Cost, _steps: int) -> BoolArray:
        """Call `on_step`. Return False, because only a small gain ends the descent."""
        if self.on_step:
            self.on_step()
        return np.zeros(1, dtype=np.bool_)

    def chosen(self, _better: BoolArray, new: _Cost, _old: _Cost) -> _Cost:
        """Return the new state, because there is only one problem."""
        return new

    def take(self, _problems: BoolArray, state: _Cost) -> tuple[Motion, _Cost]:
        """Return the only problem."""
        return self, state

    def _motions(self, key_values: Sequence[Values]) -> dict[tuple[int, str], Values]:
        """Return the motion of each mover for these key values."""
        pairs = zip(self.movers, key_values, strict=True)
        return {mover.sampler_key: mover.motion(values, self.frames) for mover, values in pairs}

    def _checked_target(self, scene: bpy.types.Scene) -> Matrices | tuple[bpy.types.Object, str]:
        """Return the target, or its matrices if the keys that may change do not affect them."""
        target = target_of(self.condition)
        if target is None:
            return np.tile(np.eye(4), (len(self.frames), 1, 1))
        item, bone = target
        try:
            self._sampler.matrices(item, bone)
        except UnknownMotionError:
            sampler = DepsgraphSampler([(item.session_uid, bone)], self.frames)
            sampler.advance({item.session_uid: item}, scene, math.inf)
            # For an object on which a constraint depends, Blender lists the action, but not the object.
            changed_actions = [channels_of(mover.datablock).action for mover in self.movers]
            if not sampler.dependencies.isdisjoint(action.session_uid for action in changed_actions):
                raise
            return sampler.matrices((item.session_uid, bone))
        return target

    def _changes_per_unit(self) -> Values:
        """Return the distance that the point moves if a key value changes by 1, or the angle if it does not move."""
        positions = _points(self._sampler.matrices(self.item, self.bone), self.point)
        weights = []
        for mover in self.movers:
            origin = self._sampler.matrices(mover.datablock, mover.bone)[:, :3, 3]
            lever = float(np.linalg.norm(positions - origin, axis=1).max())
            if not mover.track.is_rotation or isinstance(self.condition, TurnsWithin) or not lever > _SHORTEST_LEVER:
                lever = 1.0
            # Changing a unit quaternion by an angle rotates by twice that angle.
            weights += [2.0 * lever if mover.track.kind == "QUATERNION" else lever] * len(mover.start)
        return np.array(weights)

    def _excess(self, motions: Moved) -> Values:
        """Return numbers that are all below the tolerance only if the condition holds, shape (conditions, frames)."""
        world = self._sampler.with_moved(motions)
        if isinstance(self.condition, TurnsWithin):
            return self._beyond_limits(self.condition, world)
        positions = _points(world.matrices(self.item, self.bone), self.point)
        matrices = world.matrices(*self._target) if isinstance(self._target, tuple) else self._target
        if isinstance(self.condition, StaysAt):
            offsets = _CUBE * (positions - _points(matrices, self.condition.point)).T
            return np.concatenate((offsets, -offsets))
        # The cross product, because a sheared Z axis is not perpendicular to the plane.
        normals = np.cross(matrices[:, :3, 0], matrices[:, :3, 1])
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        if self.condition.plane is not None and not lengths.all():
            frame = float(self.frames[np.argmin(lengths)])
            raise AnimationError(Finding("RELAX_NO_PLANE", self.condition.plane.name, frame=frame))
        heights: Values = np.einsum("ni,ni->n", positions - matrices[:, :3, 3], normals / lengths)
        return self.condition.height - heights[np.newaxis]

    def _beyond_limits(self, limits: TurnsWithin, world: TransformSampler) -> Values:
        """Return the differences between the Euler angles and their limits."""
        owner = self.item.pose.bones[self.bone] if self.bone else self.item
        order: rotations.Order = owner.rotation_mode if owner.rotation_mode in EULER_ORDERS else "XYZ"
        angles = rotations.to_euler(world.rotation(self.item, self.bone), order)
        beyond = [angles[:, axis] - high for axis, high in enumerate(limits.high) if high is not None]
        beyond += [low - angles[:, axis] for axis, low in enumerate(limits.low) if low is not None]
        return np.array(beyond) if beyond else np.full((1, len(self.frames)), -np.inf)


def _points(matrices: Matrices, point: Sequence[float]) -> Values:
    """Return the world positions (frames, 3) of a point in the local space of the matrices."""
    positions: Values = matrices[:, :3, :3] @ np.array(point, dtype=np.float64) + matrices[:, :3, 3]
    return positions
