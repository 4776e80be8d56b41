# SPDX-License-Identifier: GPL-3.0-or-later
"""Points, speeds, tangents and camera cuts of paths as arrays, in world space or in camera space.

A path is planned first: the frames at which the object or bone must be evaluated. It is then made of the matrices at
these frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import bpy
import numpy as np
import numpy.typing as npt

from ...animation import AnimationError
from ...animation.fcurves.keyframes import union
from ...animation.on_path.path_keys import Followed, moving_tracks
from ...animation.records import record
from ...animation.sampling.cameras import Cuts
from ...animation.sampling.transforms import Frames, Matrices
from ...animation.scene_time import scene_frame
from ...animation.store.read_own_keys import key_frames

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
    keys = _frames_of_keys(obj, bone, trace)
    reach = np.zeros((2, len(keys)))
    reach[0, 1:] = reach[1, :-1] = np.diff(keys)
    before, after = _tangent_steps(reach)
    around_keys = keys, keys - before, keys - 2 * before, keys + after, keys + 2 * after
    return Plan(keys, reach, np.concatenate((np.arange(trace.start, trace.end + 1), *around_keys)))


def _frames_of_keys(obj: bpy.types.Object, bone: str, trace: Trace) -> Frames:
    """Return the scene frames of keys on the object's or bone's own channels that move the point."""
    try:
        frames_by_track = [key_frames(track) for track in moving_tracks(obj, bone, trace)]
    except AnimationError:
        return np.empty(0)
    scene_frames = [scene_frame(obj, frame) for frame in union(frames_by_track).tolist()]
    frames = np.sort(np.array(scene_frames, dtype=np.float64))
    return frames[(frames >= trace.start) & (frames <= trace.end)]


@record()
class Plan:
    """Frames at which the object or bone must be evaluated for its path, with `n` frames and `k` keys."""

    key_frames: Frames
    """Frames of the keys, shape (k,)."""
    reach: Frames
    """Distances in frames to the previous and the next key, shape (2, k). A distance is 0 if there is no such key or no
    room."""
    evaluated: Frames
    """Frames of the path, then of the keys, one and two steps before them, and one and two steps after them. The shape
    is (n + 5k,)."""

    @cached_property
    def frames(self) -> Frames:
        """Return all frames, ascending."""
        return np.unique(self.evaluated)

    @property
    def count(self) -> int:
        """Return the number of frames of the path."""
        return len(self.evaluated) - 5 * len(self.key_frames)

    @property
    def camera_frames(self) -> Frames:
        """Return the frame that determines the camera for each evaluated frame, shape (n + 5k,).

        A tangent is seen by the camera of its key, even across a cut.
        """
        return np.concatenate((self.evaluated[: self.count], np.tile(self.key_frames, 5)))


def sampled_path(
    planned: Plan, frames: Frames, matrices: Matrices, trace: Trace, tail: float, views: Matrices | None = None
) -> Path:
    """Return the path for matrices at `frames`, which include the frames of the plan.

    `tail`: length of the bone, or 0 for an object. `views`: matrices from world space to camera space at
    `planned.evaluated`, for a path in camera space.
    """
    positions = trace.at(matrices, tail)[np.searchsorted(frames, planned.evaluated)]
    if views is not None:
        positions = transformed(views, positions)
    count, key_count = planned.count, len(planned.key_frames)
    points, around_keys = positions[:count], positions[count:].reshape(5, key_count, 3)
    cuts = () if views is None else tuple(first for first, _ in trace.cameras[1:])
    return Path(
        start=trace.start,
        points=points.astype(np.float32),
        speeds=_speeds(points, _stretches(cuts, trace.start, count)),
        frames=planned.key_frames,
        reach=planned.reach,
        keys=around_keys[0].astype(np.float32),
        tangents=_tangents(around_keys, planned.reach),
        views=None if views is None else np.linalg.inv(views[count : count + key_count]).astype(np.float64),
        cuts=cuts,
    )


def transformed(matrices: Matrices, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return points, shape (..., 3), transformed by matrices, shape (..., 4, 4)."""
    moved: npt.NDArray[np.float64] = (matrices[..., :3, :3] @ points[..., np.newaxis])[..., 0] + matrices[..., :3, 3]
    return moved


def _tangents(around_keys: npt.NDArray[np.float64], reach: Frames) -> Points:
    """Return the vectors from the keys to the ends of their tangents, shape (2, k, 3), for points around the keys."""
    key, before, before_2, after, after_2 = around_keys
    steps = _tangent_steps(reach)[..., np.newaxis]
    # The slope of the parabola through the key and the points one and two steps beyond it.
    rise = np.stack((4 * before - before_2, 4 * after - after_2)) - 3 * key
    slopes = rise / (2 * np.where(steps > 0.0, steps, 1.0))
    tangents: Points = (slopes * reach[..., np.newaxis] / 3).astype(np.float32)
    return tangents


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
    tangents: Points
    """Vectors from the keys to the ends of their incoming and outgoing tangents, shape (2, k, 3). Like Bezier handles,
    these vectors span a third of the segment."""
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
            tangents=self.tangents[:, keys],
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
