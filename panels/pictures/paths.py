# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of objects and bones as arrays, in world space or in camera space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ...animation import AnimationError
from ...animation.fcurves.frames import union
from ...animation.on_path.points import Followed, moving_tracks
from ...animation.records import record
from ...animation.sampling.cameras import Cuts
from ...animation.sampling.transforms import Frames, Matrices
from ...animation.store.own_keys import key_frames

Points = npt.NDArray[np.float32]


@record()
class Trace(Followed):
    """A followed point and a range of frames."""

    start: int
    end: int
    cameras: Cuts = ()
    """Cameras that define the space of the path. Without cameras, the path is in world space."""
    defaults: tuple[tuple[str, float], ...] = ()
    """Names and values of the parameters of keys that have none of their own, on tracks that are off."""


@record()
class Path:
    """A path with `n` frames and `k` keys. The path is in camera space if it has `views`, otherwise in world space."""

    start: int
    """Frame of the first point. Points are one frame apart."""
    points: Points
    """Positions, shape (n, 3)."""
    speeds: Points
    """Speeds, shape (n,), in units per frame."""
    frames: Frames
    """Frames of the keys, shape (k,)."""
    reach: Frames
    """Distances to the neighboring keys, shape (2, k), as in `Plan.reach`."""
    keys: Points
    """Positions of the keys, shape (k, 3)."""
    incoming: Points
    """Vectors from the keys to the ends of their incoming tangents, shape (k, 3). Like Bezier handles, these vectors
    span a third of the segment."""
    outgoing: Points
    views: Matrices | None = None
    """Matrices from camera space to world space at each key's frame, shape (k, 4, 4)."""
    cuts: tuple[int, ...] = ()
    """Frames at which the camera changes."""

    def stretches(self) -> list[slice]:
        """Return the slices of points between camera cuts."""
        return _stretches(self.cuts, self.start, len(self.points))

    def within(self, first: int, last: int) -> Path:
        """Return the part of the path between two frames, with its keys."""
        rows = slice(max(first - self.start, 0), max(last + 1 - self.start, 0))
        inside = (self.frames >= first) & (self.frames <= last)
        return replace(
            self,
            start=max(first, self.start),
            points=self.points[rows],
            speeds=self.speeds[rows],
            frames=self.frames[inside],
            reach=self.reach[:, inside],
            keys=self.keys[inside],
            incoming=self.incoming[inside],
            outgoing=self.outgoing[inside],
            views=None if self.views is None else self.views[inside],
        )

    def frames_every(self, step: int) -> npt.NDArray[np.int64]:
        """Return the frames that are multiples of the step, except key frames. A step of 0 returns no frames."""
        if step < 1:
            return np.empty(0, dtype=np.int64)
        frames = np.arange(self.start, self.start + len(self.points))
        found: npt.NDArray[np.int64] = frames[(frames % step == 0) & ~np.isin(frames, np.round(self.frames))]
        return found


@record()
class Plan:
    """Frames at which the object or bone must be evaluated for its path."""

    whole: Frames
    """Frames of the path, shape (n,)."""
    keys: Frames
    """Frames of the keys, shape (k,)."""
    reach: Frames
    """Distances in frames to the previous and the next key, shape (2, k). A distance is 0 if there is no such key or no
    room."""

    @cached_property
    def frames(self) -> Frames:
        """Return all frames, ascending."""
        return np.unique(np.concatenate((self.whole, self.near.ravel())))

    @cached_property
    def near(self) -> Frames:
        """Return frames, shape (5, k): each key, one and two steps before it, and one and two steps after it."""
        before, after = _step(self.reach[0]), _step(self.reach[1])
        return np.stack(
            [self.keys, self.keys - before, self.keys - 2 * before, self.keys + after, self.keys + 2 * after]
        )


class Views(NamedTuple):
    """Matrices from world space to the camera space of each frame of a plan."""

    whole: Matrices
    """Matrices at the frames of the path, shape (n, 4, 4)."""
    near: Matrices
    """Matrices of the camera of each key, at the frames around the key, shape (5, k, 4, 4)."""

    @classmethod
    def of(cls, planned: Plan, into: Callable[[Frames, Frames], Matrices]) -> Views | None:
        """Return the views, or None if all cameras are static at the same position.

        `into`: function of two arrays of frames that returns matrices at the first frames, for the cameras that are
        active at the second frames.
        """
        near = planned.near
        frames = np.concatenate((planned.whole, near.ravel()))
        seen_at = np.concatenate((planned.whole, np.broadcast_to(planned.keys, near.shape).ravel()))
        matrices = into(frames, seen_at)
        if (matrices == matrices[:1]).all():
            return None
        whole, around = np.split(matrices, [len(planned.whole)])
        return cls(whole, around.reshape(*near.shape, 4, 4))


def plan(obj: bpy.types.Object, bone: str, trace: Trace) -> Plan:
    keys = _keys(obj, bone, trace)
    gaps = np.diff(keys)
    reach = np.stack([np.concatenate(([0.0], gaps)), np.concatenate((gaps, [0.0]))]) if len(keys) else np.empty((2, 0))
    whole = np.arange(trace.start, trace.end + 1, dtype=np.float64)
    return Plan(whole, keys, reach)


def path(
    planned: Plan, frames: Frames, matrices: Matrices, trace: Trace, tail: float, views: Views | None = None
) -> Path:
    """Return the path for matrices at `frames`, which include the frames of the plan.

    `tail`: length of the bone, or 0 for an object. `views`: views of the cameras, for a path in camera space.
    """
    at = trace.at(matrices, tail)
    points = at[np.searchsorted(frames, planned.whole)]
    around = at[np.searchsorted(frames, planned.near)]
    if views is not None:
        points, around = transformed(views.whole, points), transformed(views.near, around)
    key, *near = around
    incoming = _slope(key, near[0], near[1], _step(planned.reach[0])) * planned.reach[0][:, np.newaxis] / 3
    outgoing = _slope(key, near[2], near[3], _step(planned.reach[1])) * planned.reach[1][:, np.newaxis] / 3
    cuts = () if views is None else tuple(first for first, _ in trace.cameras[1:])
    speeds = np.zeros(len(points))
    for rows in _stretches(cuts, trace.start, len(points)):
        if len(points[rows]) > 1:
            speeds[rows] = np.linalg.norm(np.gradient(points[rows], axis=0), axis=1)
    shown, pace, at_keys, to_left, to_right = (
        array.astype(np.float32) for array in (points, speeds, key, incoming, outgoing)
    )
    back = None if views is None else np.linalg.inv(views.near[0])
    return Path(trace.start, shown, pace, planned.keys, planned.reach, at_keys, to_left, to_right, back, cuts)


def transformed(matrices: Matrices, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return points, shape (..., 3), transformed by matrices, shape (..., 4, 4)."""
    moved: npt.NDArray[np.float64] = (matrices[..., :3, :3] @ points[..., np.newaxis])[..., 0] + matrices[..., :3, 3]
    return moved


def _stretches(cuts: Sequence[int], start: int, count: int) -> list[slice]:
    """Return the slices between cuts, for `count` rows, one per frame from `start`."""
    rows = [cut - start for cut in cuts if 0 < cut - start < count]
    return [slice(first, last) for first, last in pairwise((0, *rows, count))]


def _keys(obj: bpy.types.Object, bone: str, trace: Trace) -> Frames:
    """Return the frames of keys on the object's or bone's own channels that move the point."""
    try:
        found = [key_frames(track) for track in moving_tracks(obj, bone, trace)]
    except AnimationError:
        return np.empty(0)
    frames = union(found).astype(np.float64)
    return frames[(frames >= trace.start) & (frames <= trace.end)]


def _step(reach: Frames) -> Frames:
    """Return the distance at which a key's tangent is measured: one frame, because samples are linear in between."""
    return np.minimum(1.0, reach / 2)


def _slope(
    key: npt.NDArray[np.float64], one: npt.NDArray[np.float64], two: npt.NDArray[np.float64], step: Frames
) -> npt.NDArray[np.float64]:
    """Return the outward slope at each key of the parabola through the key and two points beyond it, (k, 3)."""
    slope: npt.NDArray[np.float64] = (4 * one - two - 3 * key) / (2 * np.where(step > 0.0, step, 1.0))[:, np.newaxis]
    return slope
