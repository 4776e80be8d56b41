# SPDX-License-Identifier: GPL-3.0-or-later
"""The camera of each frame, and a cache of camera matrices that is valid until a camera's motion changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.frames import SAME_FRAME
from .beyond_fcurves import UnknownMotionError
from .depsgraph import DepsgraphSampler
from .fingerprints import Fingerprint, Fingerprints
from .transforms import Frames, Matrices, TransformSampler

Cuts = tuple[tuple[int, int], ...]
"""Pairs of start frame and `session_uid` of cameras. The first camera also applies before its start frame."""
View = npt.NDArray[np.float64]
"""A matrix, shape (4, 4)."""
_FLAT = 1e-9
"""Minimum determinant. A camera with a scale of zero has no camera space."""


def cameras_of(scene: Any) -> Cuts:
    """Return the cameras of the scene's frames: cameras bound to markers, or else the active camera."""
    bound: dict[int, int] = {}
    for marker in scene.timeline_markers:
        # Blender ignores cameras that are hidden in renders. If several cameras are bound at a frame, Blender uses the
        # first.
        if marker.camera is not None and not marker.camera.hide_render:
            bound.setdefault(marker.frame, marker.camera.session_uid)
    if bound:
        return tuple(sorted(bound.items()))
    return ((scene.frame_start, scene.camera.session_uid),) if scene.camera is not None else ()


def view_now(scene: Any) -> View:
    """Return the current matrix from the active camera's space to world space."""
    return unscaled(np.array(scene.camera.matrix_world)) if scene.camera is not None else np.eye(4)


def unscaled(matrices: Matrices) -> Matrices:
    """Return the matrices, shape (..., 4, 4), without scale, which Blender ignores for cameras."""
    plain = matrices.astype(np.float64)
    size = np.linalg.norm(plain[..., :3, :3], axis=-2, keepdims=True)
    turn: Matrices = plain[..., :3, :3] / np.where(size > 0.0, size, 1.0)
    is_flat = np.abs(np.linalg.det(turn)) < _FLAT
    plain[..., :3, :3] = np.where(is_flat[..., np.newaxis, np.newaxis], np.eye(3), turn)
    return plain


@dataclass
class _Sampled:
    """Matrices from world space to the space of one camera, at ascending frames."""

    mark: Fingerprint | None
    """The fingerprint of the data from which the matrices were computed, or None if Blender stepped through the
    frames."""
    read: set[int]
    frames: Frames
    into: Matrices
    steps: int = 0
    """The number of times that Blender has stepped through frames, for any camera."""
    stale: bool = False
    """True if a dependency has changed since Blender stepped through the frames."""

    def holds(self, mark: Fingerprint) -> bool:
        return not self.stale if self.mark is None else self.mark == mark

    def has(self, frames: Frames) -> bool:
        return bool(np.isin(frames, self.frames).all())

    def at(self, frames: Frames) -> Matrices:
        found: Matrices = self.into[np.searchsorted(self.frames, frames)]
        return found


class IsSteppedError(Exception):
    """The exception for a camera whose matrices are unknown until Blender has stepped through frames."""


@dataclass
class Cameras:
    """A cache of camera matrices, which are valid until something that moves the cameras changes."""

    _sampled: dict[int, _Sampled] = field(default_factory=dict)
    _stepping: dict[int, DepsgraphSampler] = field(default_factory=dict)
    _steps: int = 0
    reason: str = ""
    """The reason why Blender must step through frames."""

    def into(
        self, cuts: Cuts, frames: Frames, seen_at: Frames, objects: dict[int, Any], inputs: Fingerprints
    ) -> Matrices:
        """Return the matrices from world space to camera space at the frames, shape (frames, 4, 4).

        For each frame, the camera of the corresponding frame in `seen_at` is used. `objects` maps `session_uid` to
        objects. Raises IsSteppedError if `step` must be called first.
        """
        matrices = np.empty((len(frames), 4, 4))
        cameras = _which(cuts, seen_at)
        for number, (_, uid) in enumerate(cuts):
            rows = cameras == number
            if rows.any():
                matrices[rows] = self._of(objects[uid], np.unique(frames[rows]), inputs).at(frames[rows])
        return matrices

    def marks(self, cuts: Cuts, objects: dict[int, Any], inputs: Fingerprints) -> Fingerprint:
        """Return fingerprints of the cameras, which are equal as long as no camera's motion changes."""
        return tuple((first, self._mark(objects[uid], inputs)) for first, uid in cuts)

    def _mark(self, camera: Any, inputs: Fingerprints) -> Fingerprint:
        kept = self._sampled.get(camera.session_uid)
        if kept is None or kept.mark is not None:
            return inputs.of(camera)
        return (object() if kept.stale else kept.steps,)

    def read(self, cuts: Cuts) -> set[int]:
        """Return the `session_uid` of all datablocks on which the cameras depend."""
        return {uid for _, camera in cuts if camera in self._sampled for uid in self._sampled[camera].read}

    def mark_stale(self, changed: set[int] | None = None) -> None:
        """Mark cameras that depend on `changed` datablocks as stale.

        If `changed` is None, anything may have changed.
        """
        for sampled in self._sampled.values():
            sampled.stale |= changed is None or not changed.isdisjoint(sampled.read)
        for uid, sampler in list(self._stepping.items()):
            if changed is None or not changed.isdisjoint(sampler.read | {uid}):
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
        self._keep(uid, None, sampler.read, sampler.frames, sampler.matrices((uid, "")))

    def _of(self, camera: Any, frames: Frames, inputs: Fingerprints) -> _Sampled:
        """Return the camera's matrices, which cover all frames. Raise IsSteppedError if the matrices are not known."""
        uid = camera.session_uid
        kept, mark = self._sampled.get(uid), inputs.of(camera)
        if kept is not None and not kept.holds(mark):
            del self._sampled[uid]
            kept = None
        if kept is not None and kept.has(frames):
            return kept
        missing = frames if kept is None else np.setdiff1d(frames, kept.frames)
        world = TransformSampler(missing)
        try:
            matrices = world.matrices(camera)
        except UnknownMotionError as unknown:
            self.reason = str(unknown)
            before = self._stepping.get(uid)
            if before is None or not np.isin(missing, before.frames).all():
                wanted = missing if before is None else np.union1d(missing, before.frames)
                self._stepping[uid] = DepsgraphSampler([(uid, "")], wanted)
            raise IsSteppedError from unknown
        return self._keep(uid, mark, world.read(camera), missing, matrices)

    def _keep(self, uid: int, mark: Fingerprint | None, read: set[int], frames: Frames, matrices: Matrices) -> _Sampled:
        """Add the matrices to the matrices cached for other frames."""
        into: Matrices = np.linalg.inv(unscaled(matrices)).astype(np.float64)
        old = self._sampled.get(uid)
        if old is not None and old.mark == mark and (mark is not None or not old.stale):
            at = np.concatenate((old.frames, frames))
            frames, rows = np.unique(at, return_index=True)
            into, read = np.concatenate((old.into, into))[rows], read | old.read
        self._sampled[uid] = _Sampled(mark, read, frames, into, self._steps)
        return self._sampled[uid]


def _which(cuts: Cuts, frames: Frames) -> npt.NDArray[np.int64]:
    """Return the row in `cuts` of the camera at each frame."""
    firsts = [first for first, _ in cuts]
    rows: npt.NDArray[np.int64] = np.maximum(np.searchsorted(firsts, frames + SAME_FRAME, side="right") - 1, 0)
    return rows
