# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of objects and bones through the world, or as the camera sees them, as arrays."""

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
    """The point that is followed, and the frames."""

    start: int
    end: int
    cameras: Cuts = ()
    """The cameras in whose space the path is; none: it is in the world."""


@record()
class Path:
    """A path with `n` frames and `k` keys, in the world or, where it has `views`, in the camera's space."""

    start: int
    """The frame of the first point; each other is a frame later."""
    points: Points
    """Shape (n, 3)."""
    speeds: Points
    """Shape (n,), units a frame."""
    frames: Frames
    """The frames of the keys, shape (k,)."""
    reach: Frames
    """Shape (2, k): as `Plan.reach`."""
    keys: Points
    """Shape (k, 3)."""
    incoming: Points
    """Shape (k, 3): from the key to the handle of its incoming tangent, a third of the segment's length as Bezier
    handles."""
    outgoing: Points
    views: Matrices | None = None
    """Shape (k, 4, 4): at each key's frame from the camera's space to the world."""
    cuts: tuple[int, ...] = ()
    """The frames from which on another camera sees it."""

    def stretches(self) -> list[slice]:
        """Return the rows of points that one camera sees without a cut."""
        return _stretches(self.cuts, self.start, len(self.points))

    def within(self, first: int, last: int) -> Path:
        """Return the part from frame to frame, with the keys that lie there."""
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
        """Return the frames of points, without keys, that are multiples of the step; none where it is 0."""
        if step < 1:
            return np.empty(0, dtype=np.int64)
        frames = np.arange(self.start, self.start + len(self.points))
        found: npt.NDArray[np.int64] = frames[(frames % step == 0) & ~np.isin(frames, np.round(self.frames))]
        return found


@record()
class Plan:
    """The frames at which the object or bone has to be evaluated for its path."""

    whole: Frames
    """The frames of the path, shape (n,)."""
    keys: Frames
    """Shape (k,)."""
    reach: Frames
    """Shape (2, k): frames between neighbouring keys, before each and after it; 0 where there is no other or no
    room."""

    @cached_property
    def frames(self) -> Frames:
        """Return all frames, ascending."""
        return np.unique(np.concatenate((self.whole, self.near.ravel())))

    @cached_property
    def near(self) -> Frames:
        """Return frames, shape (5, k): each key, one and two steps before it, one and two after it."""
        before, after = _step(self.reach[0]), _step(self.reach[1])
        return np.stack(
            [self.keys, self.keys - before, self.keys - 2 * before, self.keys + after, self.keys + 2 * after]
        )


class Views(NamedTuple):
    """Matrices from the world into the space of the camera that sees a frame, for a plan."""

    whole: Matrices
    """Shape (n, 4, 4)."""
    near: Matrices
    """Shape (5, k, 4, 4): at the frames around a key of the camera that sees the key."""

    @classmethod
    def of(cls, planned: Plan, into: Callable[[Frames, Frames], Matrices]) -> Views | None:
        """Return the views; None where all cameras stand still at one place.

        `into`: returns the matrices at frames of the cameras that see other frames.
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
    """Return the path for matrices at `frames`, which include those of the plan.

    `tail`: the length of the bone; 0 for an object. `views`: of the cameras in whose space the path is to be.
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
    """Return points, shape (..., 3), moved by matrices, shape (..., 4, 4)."""
    moved: npt.NDArray[np.float64] = (matrices[..., :3, :3] @ points[..., np.newaxis])[..., 0] + matrices[..., :3, 3]
    return moved


def _stretches(cuts: Sequence[int], start: int, count: int) -> list[slice]:
    """Return the rows, of `count` with one a frame from `start`, between cuts."""
    rows = [cut - start for cut in cuts if 0 < cut - start < count]
    return [slice(first, last) for first, last in pairwise((0, *rows, count))]


def _keys(obj: bpy.types.Object, bone: str, trace: Trace) -> Frames:
    """Return the frames of own keys that move the point by the object's or bone's own channels."""
    try:
        found = [key_frames(track) for track in moving_tracks(obj, bone, trace)]
    except AnimationError:
        return np.empty(0)
    frames = union(found).astype(np.float64)
    return frames[(frames >= trace.start) & (frames <= trace.end)]


def _step(reach: Frames) -> Frames:
    """Return the distance from a key at which its tangent is measured: a frame, as samples are linear between."""
    return np.minimum(1.0, reach / 2)


def _slope(
    key: npt.NDArray[np.float64], one: npt.NDArray[np.float64], two: npt.NDArray[np.float64], step: Frames
) -> npt.NDArray[np.float64]:
    """Return the slope at a key, away from it, of the parabola through it and points one and two steps away, (k, 3)."""
    slope: npt.NDArray[np.float64] = (4 * one - two - 3 * key) / (2 * np.where(step > 0.0, step, 1.0))[:, np.newaxis]
    return slope
