# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of an object or bone, and the errors, as functions of the key values that may change."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from ...interp import evaluate_many, rotations
from ..bake.plans.track_splines import TrackSpline, track_splines
from ..edit.track_keys import TrackKeys
from ..errors import AnimationError, Finding
from ..fcurves.frames import is_among
from ..fcurves.linked_data import check_editable
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.depsgraph import DepsgraphSampler
from ..sampling.properties import Values
from ..sampling.transforms import Frames, Matrices, TransformSampler
from ..store.frame_functions import function_of
from ..store.own_keys import OwnKeys, read_own_keys
from ..store.paths import bone_path
from ..store.track_refusals import blocking_reason
from ..store.tracks import EULER_ORDERS
from .conditions import TOLERANCE, Condition, StaysAt, TurnsWithin

_LONGEST_TURN = 0.3
"""Angle in radians. Rotations up to this angle move points along nearly straight paths."""
_CUBE = math.sqrt(3.0)
"""Points that differ by at most the reciprocal of this in each of three directions are at most 1 apart."""


class Mover:
    """A track that is evaluated through its spline. Any number of its keys may change."""

    def __init__(self, keys: TrackKeys, defaults: Mapping[str, float]) -> None:
        check_editable(keys.datablock)
        self.keys = keys
        self.datablock: bpy.types.ID = keys.datablock
        self.track = track = keys.track
        reason = blocking_reason(track)
        if reason:
            raise AnimationError(reason)
        if not track.enabled:
            raise track.error("NOT_TCB")
        owner, _, name = track.path.rpartition(".")
        if name != "location" and not (track.is_rotation and name.startswith("rotation")):
            raise track.error("RELAX_ONLY_TRANSFORMS")
        prefix = f"{owner}." if owner else ""
        self.sampler_key = keys.datablock.session_uid, prefix + ("rotation" if track.is_rotation else name)
        """The dictionary key for the track's motion in `TransformSampler`."""
        self.bone = _bone_of(keys.datablock, prefix)
        self.settings = track.settings
        self.function = function_of(track)
        self.defaults = self.settings.options.defaults if track.is_played and self.settings.options else defaults
        # In float64, so that the difference quotients of the errors keep their digits.
        self.originals = {
            index: own_keys.with_(keys=own_keys.keys.with_(co=own_keys.keys.co.astype(np.float64)))
            for index, own_keys in read_own_keys(track).items()
        }
        if (
            track.is_rotation
            and len(keys)
            and len({own_keys.keys.frames.tobytes() for own_keys in self.originals.values()}) > 1
        ):
            raise track.error("KEYED_APART")
        self.slots = [
            (index, row)
            for index, own_keys in sorted(self.originals.items())
            for row in np.flatnonzero(is_among(own_keys.keys.frames, keys.frames)).tolist()
        ]
        """The component and row of each key value that may change."""
        self.start = np.array([self.originals[index].keys.values[row] for index, row in self.slots])

    def splines(self, numbers: Values) -> list[TrackSpline]:
        """Return the track's splines with these values in the variable keys."""
        changed_keys: dict[int, OwnKeys] = {}
        for index, own_keys in self.originals.items():
            offset = np.zeros_like(own_keys.keys.co)
            for number, (component, row) in zip(numbers, self.slots, strict=True):
                if component == index:
                    offset[row, 1] = number - own_keys.keys.values[row]
            # The handles move with their keys.
            points = {name: getattr(own_keys.keys, name) + offset for name in ("co", "handle_left", "handle_right")}
            changed_keys[index] = own_keys.with_(keys=own_keys.keys.with_(**points))
        return track_splines(self.track, self.settings, changed_keys, self.defaults)

    def motion(self, splines: Sequence[TrackSpline], values: Sequence[Values], count: int) -> Values:
        """Return the locations or quaternions for spline values at `count` frames."""
        if self.track.is_rotation:
            return values[0]
        without_keys = [self.track.component(index) for index in range(len(self.track.rest))]
        locations = np.tile(np.array(without_keys, dtype=np.float64), (count, 1))
        for spline, spline_values in zip(splines, values, strict=True):
            locations[:, spline.components] = spline_values
        return locations

    def key_rotations(self, numbers: Values) -> Values:
        """Return the variable keys of a rotation as channel values, shape (keys, components)."""
        (spline,) = self.splines(numbers)
        return spline.values[is_among(spline.frames, self.keys.frames)]


def _bone_of(datablock: Any, prefix: str) -> str:
    """Return the name of the bone whose paths have this prefix, or an empty string."""
    if not prefix:
        return ""
    bones = datablock.pose.bones if datablock.pose else ()
    return next((bone.name for bone in bones if f"{bone_path(bone)}." == prefix), "")


def split(movers: Sequence[Mover], numbers: Values) -> list[Values]:
    """Return the key values of each mover."""
    return np.split(numbers, np.cumsum([len(mover.slots) for mover in movers])[:-1])


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

    def sampler(self, numbers: Values) -> TransformSampler:
        """Return the sampler of transforms with these values in the keys."""
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

    def costs(self) -> tuple[Values, Values]:
        """Return the cost of changing each key value, and the maximum change per round.

        The cost is the distance that the point moves if the key value changes by 1.
        """
        world = self.sampler(np.concatenate([mover.start for mover in self.movers]))
        positions = self._positions(world, self.item, self.bone, self.point)
        weights, longest = [], []
        for mover in self.movers:
            origin = world.matrices(mover.datablock, mover.bone)[:, :3, 3]
            lever = float(np.linalg.norm(positions - origin, axis=1).max())
            if isinstance(self.condition, TurnsWithin) or lever < TOLERANCE:
                lever = 1.0
            # Changing a unit quaternion by an angle rotates by twice that angle.
            turn_per_unit = {"VECTOR": 1.0 / lever, "QUATERNION": 2.0}.get(mover.track.kind, 1.0)
            weights += [lever * turn_per_unit] * len(mover.slots)
            longest += [_LONGEST_TURN / turn_per_unit if mover.track.is_rotation else np.inf] * len(mover.slots)
        return np.array(weights), np.array(longest)

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
        world = self.sampler(numbers)
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
                if any(mover.datablock.session_uid in sampler.read for mover in self.movers):
                    raise
                self._evaluated[thing] = sampler.matrices(thing)
            return self._evaluated[thing]
