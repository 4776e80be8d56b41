# SPDX-License-Identifier: GPL-3.0-or-later
"""Imported objects and bones by their place in the hierarchy and their poses, and the frames of a file's times."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...formats.motion import Curve, NodeMotion, Track
from ...interp.keys import Float64Array
from ...interp.rotations.representations import rotation_representation
from ..store.paths import bone_path
from ..store.tracks import rotation_property

# The conversion of a file's times to frames


Evaluate = Callable[[Float64Array], Float64Array]
"""A function from frames (m,) to values (m, d) or quaternions (m, 4)."""
_WHOLE_FRAME = 1e-4
"""Distance in frames. Keys within this distance of a whole frame snap to the whole frame."""
_SAME_RATE = 1e-4
"""Relative difference from the scene's frame rate that is only rounding."""
_SAME_START = 2e-3
"""Tolerance, in frames, for a start at a whole frame."""


@dataclass(frozen=True)
class Clock:
    """The conversion of times to frames: `rate` frames per second, and the frame of second 0."""

    rate: float
    start: float

    @classmethod
    def find(cls, pairs: Sequence[tuple[NodeMotion, Float64Array]], scene_rate: float) -> Clock | None:
        """Return the conversion of the first and last times of motions to the first and last frames of F-curve keys.

        `pairs` contains motions with the frames of their keys. Return None if there are none.
        """
        spans = []
        for motion, frames in pairs:
            times = np.concatenate([track.times for track in motion.tracks.values()])
            spans.append((times.min(), times.max(), frames.min(), frames.max()))
        if not spans:
            return None
        begin, end, first, last = np.array(spans).T
        has_length = end > begin
        rates = (last - first)[has_length] / (end - begin)[has_length]
        rate = float(np.median(rates)) if has_length.any() else scene_rate
        if not rate > 0.0 or abs(rate / scene_rate - 1.0) < _SAME_RATE:
            rate = scene_rate
        start = float(np.median(first - rate * begin))
        whole = round(start)
        return cls(rate, float(whole) if abs(start - whole) < _SAME_START else start)

    def frames(self, times: Float64Array) -> Float64Array:
        """Return frames as Blender stores them, snapped to whole frames because files store times as float32."""
        frames = times * self.rate + self.start
        whole = np.round(frames)
        snapped = np.where(np.abs(frames - whole) < _WHOLE_FRAME, whole, frames)
        return np.asarray(snapped, np.float32).astype(np.float64)

    def evaluated(self, track: Track) -> Evaluate:
        """Return the track as a function of frames that is exact at keys."""
        keys = self.frames(track.times)

        def evaluate(frames: Float64Array) -> Float64Array:
            # Key frames are rounded. Using only the rate could delay a step slightly.
            return track.evaluate(np.interp(frames, keys, track.times))

        return evaluate

    def curve(self, curve: Curve) -> Curve:
        """Convert a curve over seconds to a curve over frames."""
        slopes = {name: getattr(curve, name) / self.rate for name in ("arriving", "leaving")}
        return replace(curve, times=self.frames(curve.times), **slopes)


# Describe imported objects and bones by their place in the hierarchy and their poses over time


FCurves = Mapping[tuple[str, int], bpy.types.FCurve]


@dataclass(frozen=True, eq=False)
class Item:
    """An object or a bone."""

    owner: bpy.types.Object
    """The object with the animation."""
    posed: Any
    """The object or pose bone itself."""
    prefix: str
    """The prefix of the item's property paths."""
    parent: Item | None
    space: Float64Array
    """The rotation from the parent to the space of the item's own location and rotation, shape (4,)."""

    @property
    def name(self) -> str:
        return str(self.posed.name)

    @property
    def mode(self) -> str:
        return str(self.posed.rotation_mode)

    def path(self, name: str) -> str:
        """Return the path of the "location", "rotation" or "scale" property."""
        return self.prefix + (rotation_property(self.mode) if name == "rotation" else name)

    def rest(self, name: str) -> Float64Array:
        """Return the property's current value."""
        return np.array(getattr(self.posed, self.path(name).removeprefix(self.prefix)), dtype=np.float64)

    @property
    def rotation(self) -> Float64Array:
        """Return the current rotation as a unit quaternion."""
        (q,) = orientations(self.mode, self.rest("rotation")[np.newaxis])
        return np.asarray(q)

    def played(self, name: str, fcurves: FCurves, frames: Float64Array) -> Float64Array:
        """Return the values of "location", "rotation" (quaternions) or "scale" at the frames.

        Properties without F-curves keep their current values.
        """
        path, columns = self.path(name), []
        for index, rest in enumerate(self.rest(name).tolist()):
            fcurve = fcurves.get((path, index))
            if fcurve is None:
                columns.append(np.full(len(frames), rest))
            else:
                columns.append(np.array([fcurve.evaluate(frame) for frame in frames.tolist()]))
        values = np.stack(columns, axis=-1)
        return orientations(self.mode, values) if name == "rotation" else values


def orientations(mode: str, numbers: Float64Array) -> Float64Array:
    """Convert channel values (n, c) in a rotation mode to unit quaternions (n, 4)."""
    q = rotation_representation(mode).orientation(numbers.T).T
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(length > 0.0, q / np.where(length > 0.0, length, 1.0), [1.0, 0.0, 0.0, 0.0])


def items_of(objects: Iterable[bpy.types.Object]) -> Iterator[Item]:
    """Yield the objects and their bones, each after its parent. Parents that are not in `objects` are included."""
    known: dict[object, Item] = {}
    for owner in _parents_first(objects):
        parent = None if owner.parent is None else known[owner.parent]
        if owner.parent_type == "BONE":
            parent = known.get((owner.parent, owner.parent_bone), parent)
        known[owner] = Item(owner, owner, "", parent, _rotation_of(owner.matrix_parent_inverse))
        yield known[owner]
        bones = () if owner.pose is None else owner.pose.bones
        for bone in sorted(bones, key=lambda bone: len(bone.parent_recursive)):
            rest, parent = bone.bone.matrix_local, known[owner]
            if bone.parent is not None:
                rest = bone.parent.bone.matrix_local.inverted_safe() @ rest
                parent = known[owner, bone.parent.name]
            known[owner, bone.name] = Item(owner, bone, f"{bone_path(bone)}.", parent, _rotation_of(rest))
            yield known[owner, bone.name]


def _parents_first(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the objects and their ancestors, each after its parent."""
    chains = []
    for owner in objects:
        chain = [owner]
        while (parent := chain[-1].parent) is not None:
            chain.append(parent)
        chains.append(chain[::-1])
    return list(dict.fromkeys(itertools.chain.from_iterable(chains)))


def _rotation_of(matrix: Any) -> Float64Array:
    """Return the rotation of a Blender matrix as a unit quaternion."""
    q: Float64Array = np.array(matrix.to_quaternion(), dtype=np.float64)
    return q / np.linalg.norm(q)
