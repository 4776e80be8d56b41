# SPDX-License-Identifier: GPL-3.0-or-later
"""The camera of each frame, and the matrices of cameras at many frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.keyframes import SAME_FRAME
from .depsgraph import DepsgraphSampler
from .fingerprints import Fingerprint, Fingerprints
from .transforms import Frames, Matrices, TransformSampler, UnknownMotionError

# Cameras of frames


Cuts = tuple[tuple[int, int], ...]
"""Pairs of start frame and `session_uid` of cameras. The first camera also applies before its start frame."""


def cameras_of(scene: Any) -> Cuts:
    """Return the cameras of the scene's frames: cameras bound to markers, or else the active camera."""
    bound: dict[int, int] = {}
    for marker in scene.timeline_markers:
        # Blender ignores cameras that are hidden in renders. If several cameras are bound at a frame, Blender uses the
        # first.
        if marker.camera is not None and not marker.camera.hide_render:
            bound.setdefault(marker.frame, marker.camera.session_uid)
    if bound:
        cuts = sorted(bound.items())
        return (cuts[0], *(cut for before, cut in pairwise(cuts) if cut[1] != before[1]))
    return ((scene.frame_start, scene.camera.session_uid),) if scene.camera is not None else ()


def _cut_rows(cuts: Cuts, frames: Frames) -> npt.NDArray[np.int64]:
    """Return the row in `cuts` of the camera at each frame."""
    starts = [start for start, _ in cuts]
    rows: npt.NDArray[np.int64] = np.maximum(np.searchsorted(starts, frames + SAME_FRAME, side="right") - 1, 0)
    return rows


# Matrices of cameras


View = npt.NDArray[np.float64]
"""A matrix, shape (4, 4)."""
_FLAT = 1e-9
"""Minimum determinant of the axes. A camera with a scale of zero has no camera space."""


class IsSteppedError(Exception):
    """The exception for a camera whose matrices are unknown until Blender has stepped through frames."""


@dataclass
class Cameras:
    """A cache of camera matrices, which are valid until something that moves the cameras changes."""

    _matrices: dict[int, _CameraMatrices] = field(default_factory=dict)
    """Matrices by the `session_uid` of the camera."""
    _stepping: dict[int, DepsgraphSampler] = field(default_factory=dict)
    """Unfinished samplers by the `session_uid` of the camera."""
    _steps: int = 0
    """The number of samplers that have finished."""
    reason: str = ""
    """The reason why Blender must step through frames."""

    def matrices_at(
        self, cuts: Cuts, frames: Frames, seen_at: Frames, objects: dict[int, Any], inputs: Fingerprints
    ) -> Matrices:
        """Return the matrices from world space to camera space at the frames, shape (frames, 4, 4).

        For each frame, the camera of the corresponding frame in `seen_at` is used. `objects` maps `session_uid` to
        objects. Raises IsSteppedError if `step` must be called first.
        """
        matrices = np.empty((len(frames), 4, 4))
        rows = _cut_rows(cuts, seen_at)
        for number, (_, uid) in enumerate(cuts):
            is_seen = rows == number
            if is_seen.any():
                frames_of_camera = frames[is_seen]
                known = self._matrices_of(objects[uid], np.unique(frames_of_camera), inputs)
                matrices[is_seen] = known.at(frames_of_camera)
        return matrices

    def fingerprints(self, cuts: Cuts, objects: dict[int, Any], inputs: Fingerprints) -> Fingerprint:
        """Return fingerprints of the cameras, which are equal as long as no camera's motion changes."""
        return tuple((start, self._fingerprint(objects[uid], inputs)) for start, uid in cuts)

    def _fingerprint(self, camera: Any, inputs: Fingerprints) -> Fingerprint:
        known = self._matrices.get(camera.session_uid)
        if known is None or known.fingerprint is not None:
            return inputs.of(camera)
        return (object() if known.stale else known.steps,)

    def dependencies(self, cuts: Cuts) -> set[int]:
        """Return the `session_uid` of all datablocks on which the cameras depend."""
        return {uid for _, camera in cuts if camera in self._matrices for uid in self._matrices[camera].dependencies}

    def mark_stale(self, changed: set[int] | None = None) -> None:
        """Mark cameras that depend on `changed` datablocks as stale.

        If `changed` is None, anything may have changed.
        """
        for matrices in self._matrices.values():
            matrices.stale |= changed is None or not changed.isdisjoint(matrices.dependencies)
        for uid, sampler in list(self._stepping.items()):
            if changed is None or not changed.isdisjoint(sampler.dependencies | {uid}):
                del self._stepping[uid]

    @property
    def is_stepping(self) -> bool:
        """Return whether Blender must step through frames."""
        return bool(self._stepping)

    @property
    def part(self) -> float:
        """Return the finished fraction of stepping, 0 to 1."""
        return min((sampler.part for sampler in self._stepping.values()), default=1.0)

    def step(self, objects: dict[int, Any], scene: bpy.types.Scene, seconds: float) -> None:
        """Step through some frames for one camera."""
        uid, sampler = next(iter(self._stepping.items()))
        if uid not in objects:
            del self._stepping[uid]
            return
        sampler.advance(objects, scene, seconds)
        if not sampler.is_done:
            return
        del self._stepping[uid]
        self._steps += 1
        self._store(uid, None, sampler.dependencies, sampler.frames, sampler.matrices((uid, "")))

    def _matrices_of(self, camera: Any, frames: Frames, inputs: Fingerprints) -> _CameraMatrices:
        """Return the camera's matrices, which cover all frames. Raise IsSteppedError if the matrices are not known."""
        uid = camera.session_uid
        known, fingerprint = self._matrices.get(uid), inputs.of(camera)
        if known is not None and not known.is_valid(fingerprint):
            del self._matrices[uid]
            known = None
        if known is not None and known.covers(frames):
            return known
        missing = frames if known is None else np.setdiff1d(frames, known.frames)
        world = TransformSampler(missing)
        try:
            matrices = world.matrices(camera)
        except UnknownMotionError as unknown:
            self.reason = str(unknown)
            self._request_stepping(uid, missing)
            raise IsSteppedError from unknown
        return self._store(uid, fingerprint, world.dependencies(camera), missing, matrices)

    def _request_stepping(self, uid: int, missing: Frames) -> None:
        """Let `step` evaluate the camera at the missing frames, and at the frames that were requested before."""
        sampler = self._stepping.get(uid)
        if sampler is None or not np.isin(missing, sampler.frames).all():
            frames = missing if sampler is None else np.union1d(missing, sampler.frames)
            self._stepping[uid] = DepsgraphSampler([(uid, "")], frames)

    def _store(
        self, uid: int, fingerprint: Fingerprint | None, dependencies: set[int], frames: Frames, matrices: Matrices
    ) -> _CameraMatrices:
        """Add the matrices to the matrices cached for other frames."""
        to_camera: Matrices = np.linalg.inv(unscaled(matrices)).astype(np.float64)
        old = self._matrices.get(uid)
        if old is not None and old.fingerprint == fingerprint and (fingerprint is not None or not old.stale):
            frames, rows = np.unique(np.concatenate((old.frames, frames)), return_index=True)
            to_camera = np.concatenate((old.to_camera, to_camera))[rows]
            dependencies = dependencies | old.dependencies
        self._matrices[uid] = _CameraMatrices(fingerprint, dependencies, frames, to_camera, self._steps)
        return self._matrices[uid]


@dataclass
class _CameraMatrices:
    """Matrices from world space to the space of one camera, at ascending frames."""

    fingerprint: Fingerprint | None
    """The fingerprint of the data from which the matrices were computed, or None if Blender stepped through the
    frames."""
    dependencies: set[int]
    """The `session_uid` of all datablocks that determine the matrices."""
    frames: Frames
    to_camera: Matrices
    steps: int = 0
    """The number of samplers that had finished when the matrices were stored, which identifies the matrices."""
    stale: bool = False
    """True if a dependency has changed since Blender stepped through the frames."""

    def is_valid(self, fingerprint: Fingerprint) -> bool:
        """Return whether the matrices belong to the camera's current motion."""
        return not self.stale if self.fingerprint is None else self.fingerprint == fingerprint

    def covers(self, frames: Frames) -> bool:
        """Return whether the matrices at all of these frames are known."""
        return bool(np.isin(frames, self.frames).all())

    def at(self, frames: Frames) -> Matrices:
        """Return the matrices at these frames."""
        matrices: Matrices = self.to_camera[np.searchsorted(self.frames, frames)]
        return matrices


def unscaled(matrices: Matrices) -> Matrices:
    """Return the matrices, shape (..., 4, 4), without scale, which Blender ignores for cameras."""
    result = matrices.astype(np.float64)
    scale = np.linalg.norm(result[..., :3, :3], axis=-2, keepdims=True)
    axes: Matrices = result[..., :3, :3] / np.where(scale > 0.0, scale, 1.0)
    is_flat = np.abs(np.linalg.det(axes)) < _FLAT
    result[..., :3, :3] = np.where(is_flat[..., np.newaxis, np.newaxis], np.eye(3), axes)
    return result


def view_now(scene: Any) -> View:
    """Return the current matrix from the active camera's space to world space."""
    return unscaled(np.array(scene.camera.matrix_world)) if scene.camera is not None else np.eye(4)
