# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of an object or bone, and the errors, as functions of the key values that may change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...interp import evaluate_many, rotations
from ..errors import AnimationError, Finding
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.depsgraph import DepsgraphSampler
from ..sampling.properties import Values
from ..sampling.transforms import Frames, Matrices, TransformSampler
from ..store.tracks import EULER_ORDERS
from .conditions import TOLERANCE, Condition, StaysAt, TurnsWithin
from .movers import Mover, split

_LONGEST_TURN = 0.3
"""Angle in radians. Rotations up to this angle move points along nearly straight paths."""
_CUBE = math.sqrt(3.0)
"""Points that differ by at most the reciprocal of this in each of three directions are at most 1 apart."""


class Motion:
    """The errors at `frames`, as functions of the key values of all movers.

    The condition must hold for `point`, in the local space of an object or bone.
    """

    def __init__(
        self,
        item: Any,
        bone: str,
        point: Values,
        condition: Condition,
        movers: Sequence[Mover],
        scene: bpy.types.Scene,
        frames: Frames,
    ) -> None:
        self.name: str = bone or item.name
        self.item = item
        self.bone = bone
        self.point = point
        self.condition = condition
        self.movers = movers
        self.scene = scene
        self.frames = frames
        self._base_sampler = TransformSampler(frames)
        self._evaluated: dict[tuple[int, str], Matrices] = {}
        self._spline_frames = {
            mover.sampler_key: frames if mover.function is None else mover.function(frames) for mover in movers
        }
        self._last: dict[tuple[int, str], tuple[bytes, Values]] = {}

    def errors(self, numbers: Values) -> Values:
        """Return the error at each frame, at least 0."""
        excess = self.excess(numbers).reshape(-1, len(self.frames))
        if isinstance(self.condition, StaysAt):
            distances: Values = np.linalg.norm(excess[:3], axis=0) / _CUBE
            return distances
        largest: Values = np.maximum(excess.max(axis=0), 0.0)
        return largest

    def excess(self, numbers: Values) -> Values:
        """Return numbers for each frame that are all below the tolerance only if the condition holds."""
        world = self._sampler(numbers)
        condition = self.condition
        if isinstance(condition, TurnsWithin):
            return self._beyond(condition, world)
        positions = self._positions(world, self.item, self.bone, self.point)
        if isinstance(condition, StaysAt):
            target = np.array(condition.point, dtype=np.float64)
            offsets = _CUBE * (positions - self._positions(world, condition.target, condition.bone, target)).T
            return np.concatenate((offsets, -offsets)).ravel()
        if condition.plane is None:
            return condition.height - positions[:, 2]
        return condition.height - self._heights(world, positions, condition.plane)

    def costs(self) -> tuple[Values, Values]:
        """Return the cost of changing each key value, and the maximum change per round.

        The cost is the distance that the point moves if the key value changes by 1, or the angle if it does not move.
        """
        world = self._sampler(np.concatenate([mover.start for mover in self.movers]))
        positions = self._positions(world, self.item, self.bone, self.point)
        weights, longest = [], []
        for mover in self.movers:
            origin = world.matrices(mover.datablock, mover.bone)[:, :3, 3]
            lever = float(np.linalg.norm(positions - origin, axis=1).max())
            if isinstance(self.condition, TurnsWithin) or lever < TOLERANCE:
                # The distance that the point moves does not measure the turn, so the angle does.
                lever = 1.0
            # Changing a unit quaternion by an angle rotates by twice that angle.
            turn_per_unit = {"VECTOR": 1.0 / lever, "QUATERNION": 2.0}.get(mover.track.kind, 1.0)
            weights += [lever * turn_per_unit] * len(mover.variables)
            longest += [_LONGEST_TURN / turn_per_unit if mover.track.is_rotation else np.inf] * len(mover.variables)
        return np.array(weights), np.array(longest)

    def _sampler(self, numbers: Values) -> TransformSampler:
        """Return the sampler of transforms with these key values."""
        pairs = zip(self.movers, split(self.movers, numbers), strict=True)
        return self._base_sampler.with_moved({mover.sampler_key: self._moved(mover, values) for mover, values in pairs})

    def _moved(self, mover: Mover, numbers: Values) -> Values:
        """Return the motion of the mover with these key values.

        The last result is cached, because usually only one mover's values change at a time.
        """
        last = self._last.get(mover.sampler_key)
        if last is not None and last[0] == numbers.tobytes():
            return last[1]
        splines = mover.splines(numbers)
        values = evaluate_many([spline.spline for spline in splines], self._spline_frames[mover.sampler_key])
        motion = mover.motion(splines, values, len(self.frames))
        self._last[mover.sampler_key] = numbers.tobytes(), motion
        return motion

    def _beyond(self, limits: TurnsWithin, world: TransformSampler) -> Values:
        """Return the differences between the Euler angles and their limits."""
        owner = self.item.pose.bones[self.bone] if self.bone else self.item
        order: rotations.Order = owner.rotation_mode if owner.rotation_mode in EULER_ORDERS else "XYZ"
        angles = rotations.to_euler(world.rotation(self.item, self.bone), order)
        beyond = [angles[:, axis] - high for axis, high in enumerate(limits.high) if high is not None]
        beyond += [low - angles[:, axis] for axis, low in enumerate(limits.low) if low is not None]
        return np.concatenate(beyond) if beyond else np.full(len(self.frames), -np.inf)

    def _positions(self, world: TransformSampler, item: bpy.types.Object, bone: str, point: Values) -> Values:
        """Return the world positions (frames, 3) of a point in the local space of the object or bone."""
        matrices = self._matrices(world, item, bone)
        positions: Values = matrices[:, :3, :3] @ point + matrices[:, :3, 3]
        return positions

    def _heights(self, world: TransformSampler, positions: Values, plane: bpy.types.Object) -> Values:
        """Return the heights (frames,) of positions above the XY plane of an object."""
        matrices = self._matrices(world, plane, "")
        # The cross product, because a sheared Z axis is not perpendicular to the plane.
        normals = np.cross(matrices[:, :3, 0], matrices[:, :3, 1])
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        if not lengths.all():
            frame = float(self.frames[np.argmin(lengths)])
            raise AnimationError(Finding("RELAX_NO_PLANE", plane.name, frame=frame))
        heights: Values = np.einsum("ni,ni->n", positions - matrices[:, :3, 3], normals / lengths)
        return heights

    def _matrices(self, world: TransformSampler, item: bpy.types.Object, bone: str) -> Matrices:
        """Return the matrices of the object or bone.

        Blender evaluates objects moved by anything other than F-curves and parents, unless the variable keys affect
        these objects.
        """
        try:
            return world.matrices(item, bone)
        except UnknownMotionError:
            if item == self.item:
                raise
            thing = item.session_uid, bone
            if thing not in self._evaluated:
                sampler = DepsgraphSampler([thing], self.frames)
                sampler.advance({item.session_uid: item}, self.scene, math.inf)
                if any(mover.datablock.session_uid in sampler.dependencies for mover in self.movers):
                    raise
                self._evaluated[thing] = sampler.matrices(thing)
            return self._evaluated[thing]
