# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of objects and bones as arrays, in world space or in camera space.

A path is planned first: the frames at which the object or bone must be evaluated. It is then made of the matrices at
these frames.
"""

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
from ...animation.sampling.camera_cuts import Cuts
from ...animation.sampling.transforms import Frames, Matrices
from ...animation.store.own_keys import key_frames

Points = npt.NDArray[np.float32]


@record()
class Trace(Followed):
    """A followed point and a range of frames."""

    start: int
    """First frame."""
    end: int
    """Last frame."""
    cameras: Cuts = ()
    """Cameras that define the space of the path. Without cameras, the path is in world space."""
    defaults: tuple[tuple[str, float], ...] = ()
    """Names and values of the parameters of keys that have none of their own, on tracks that are off."""


def plan_path(obj: bpy.types.Object, bone: str, trace: Trace) -> Plan:
    """Return the frames at which the object or bone must be evaluated for its path."""
    frames_of_keys = _frames_of_keys(obj, bone, trace)
    reach = np.zeros((2, len(frames_of_keys)))
    reach[0, 1:] = reach[1, :-1] = np.diff(frames_of_keys)
    path_frames = np.arange(trace.start, trace.end + 1, dtype=np.float64)
    return Plan(path_frames, frames_of_keys, reach)


def _frames_of_keys(obj: bpy.types.Object, bone: str, trace: Trace) -> Frames:
    """Return the frames of keys on the object's or bone's own channels that move the point."""
    try:
        frames_by_track = [key_frames(track) for track in moving_tracks(obj, bone, trace)]
    except AnimationError:
        return np.empty(0)
    frames = union(frames_by_track).astype(np.float64)
    return frames[(frames >= trace.start) & (frames <= trace.end)]


@record()
class Plan:
    """Frames at which the object or bone must be evaluated for its path, with `n` frames and `k` keys."""

    path_frames: Frames
    """Frames of the path, shape (n,)."""
    key_frames: Frames
    """Frames of the keys, shape (k,)."""
    reach: Frames
    """Distances in frames to the previous and the next key, shape (2, k). A distance is 0 if there is no such key or no
    room."""

    @cached_property
    def frames(self) -> Frames:
        """Return all frames, ascending."""
        return np.unique(np.concatenate((self.path_frames, self.around_keys.ravel())))

    @cached_property
    def around_keys(self) -> Frames:
        """Return frames, shape (5, k): each key, one and two steps before it, and one and two steps after it."""
        keys, (before, after) = self.key_frames, _tangent_steps(self.reach)
        return np.stack([keys, keys - before, keys - 2 * before, keys + after, keys + 2 * after])


def sampled_path(
    planned: Plan, frames: Frames, matrices: Matrices, trace: Trace, tail: float, views: Views | None = None
) -> Path:
    """Return the path for matrices at `frames`, which include the frames of the plan.

    `tail`: length of the bone, or 0 for an object. `views`: views of the cameras, for a path in camera space.
    """
    positions = trace.at(matrices, tail)
    points = positions[np.searchsorted(frames, planned.path_frames)]
    around_keys = positions[np.searchsorted(frames, planned.around_keys)]
    if views is not None:
        points = transformed(views.path, points)
        around_keys = transformed(views.around_keys, around_keys)
    incoming, outgoing = _tangents(around_keys, planned.reach)
    cuts = () if views is None else tuple(first for first, _ in trace.cameras[1:])
    return Path(
        start=trace.start,
        points=points.astype(np.float32),
        speeds=_speeds(points, _stretches(cuts, trace.start, len(points))),
        frames=planned.key_frames,
        reach=planned.reach,
        keys=around_keys[0].astype(np.float32),
        incoming=incoming.astype(np.float32),
        outgoing=outgoing.astype(np.float32),
        views=None if views is None else np.linalg.inv(views.around_keys[0]),
        cuts=cuts,
    )


def transformed(matrices: Matrices, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return points, shape (..., 3), transformed by matrices, shape (..., 4, 4)."""
    moved: npt.NDArray[np.float64] = (matrices[..., :3, :3] @ points[..., np.newaxis])[..., 0] + matrices[..., :3, 3]
    return moved


def _tangents(
    around_keys: npt.NDArray[np.float64], reach: Frames
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the vectors from the keys to the ends of their tangents, shape (k, 3), for points as in `around_keys`."""
    key, before, before_2, after, after_2 = around_keys
    steps = _tangent_steps(reach)
    incoming = _outward_slopes(key, before, before_2, steps[0]) * reach[0][:, np.newaxis] / 3
    outgoing = _outward_slopes(key, after, after_2, steps[1]) * reach[1][:, np.newaxis] / 3
    return incoming, outgoing


def _outward_slopes(
    key: npt.NDArray[np.float64], first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], step: Frames
) -> npt.NDArray[np.float64]:
    """Return the slope at each key of the parabola through the key and points one and two steps beyond it, (k, 3)."""
    frames = np.where(step > 0.0, step, 1.0)[:, np.newaxis]
    slopes: npt.NDArray[np.float64] = (4 * first - second - 3 * key) / (2 * frames)
    return slopes


def _tangent_steps(reach: Frames) -> Frames:
    """Return the distances at which tangents are measured: one frame, because samples are linear in between."""
    return np.minimum(1.0, reach / 2)


def _speeds(points: npt.NDArray[np.float64], stretches: Sequence[slice]) -> Points:
    """Return the speeds at the points, shape (n,), without the jumps between stretches."""
    speeds = np.zeros(len(points))
    for rows in stretches:
        if len(points[rows]) > 1:
            speeds[rows] = np.linalg.norm(np.gradient(points[rows], axis=0), axis=1)
    return speeds.astype(np.float32)


class Views(NamedTuple):
    """Matrices from world space to the camera space of each frame of a plan."""

    path: Matrices
    """Matrices at the frames of the path, shape (n, 4, 4)."""
    around_keys: Matrices
    """Matrices of the camera of each key, at the frames around the key, shape (5, k, 4, 4)."""

    @classmethod
    def of(cls, planned: Plan, world_to_camera: Callable[[Frames, Frames], Matrices]) -> Views | None:
        """Return the views, or None if all cameras are static at the same position.

        `world_to_camera`: function of two arrays of frames that returns matrices at the first frames, for the cameras
            that are active at the second frames.
        """
        around_keys = planned.around_keys
        frames = np.concatenate((planned.path_frames, around_keys.ravel()))
        # A tangent is seen by the camera of its key, even across a cut.
        camera_frames = np.broadcast_to(planned.key_frames, around_keys.shape).ravel()
        matrices = world_to_camera(frames, np.concatenate((planned.path_frames, camera_frames)))
        if (matrices == matrices[:1]).all():
            return None
        along_path, near_keys = np.split(matrices, [len(planned.path_frames)])
        return cls(along_path, near_keys.reshape(*around_keys.shape, 4, 4))


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
        keys = (self.frames >= first) & (self.frames <= last)
        return replace(
            self,
            start=max(first, self.start),
            points=self.points[rows],
            speeds=self.speeds[rows],
            frames=self.frames[keys],
            reach=self.reach[:, keys],
            keys=self.keys[keys],
            incoming=self.incoming[keys],
            outgoing=self.outgoing[keys],
            views=None if self.views is None else self.views[keys],
        )

    def frames_every(self, step: int) -> npt.NDArray[np.int64]:
        """Return the frames that are multiples of the step, except key frames. A step of 0 returns no frames."""
        if step < 1:
            return np.empty(0, dtype=np.int64)
        frames = np.arange(self.start, self.start + len(self.points))
        is_key = np.isin(frames, np.round(self.frames))
        multiples: npt.NDArray[np.int64] = frames[(frames % step == 0) & ~is_key]
        return multiples


def _stretches(cuts: Sequence[int], start: int, count: int) -> list[slice]:
    """Return the slices between cuts, for `count` rows, one per frame from `start`."""
    rows = [cut - start for cut in cuts if 0 < cut - start < count]
    return [slice(first, last) for first, last in pairwise((0, *rows, count))]
