# SPDX-License-Identifier: GPL-3.0-or-later
"""The space of the camera: which camera sees each frame, and its matrices, sampled once until it moves otherwise."""

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
"""The `session_uid` of each camera, after the frame from which on it is the one; the first is it before as well."""
View = npt.NDArray[np.float64]
"""Shape (4, 4)."""
_FLAT = 1e-9
"""Of a determinant: a camera whose scale is zero has no space to see anything in."""


def cameras_of(scene: Any) -> Cuts:
    """Return the cameras that see the scene's frames: those that markers bind, else the active one."""
    bound: dict[int, int] = {}
    for marker in scene.timeline_markers:
        # Blender leaves out those that are not rendered, and of several at a frame takes the first.
        if marker.camera is not None and not marker.camera.hide_render:
            bound.setdefault(marker.frame, marker.camera.session_uid)
    if bound:
        return tuple(sorted(bound.items()))
    return ((scene.frame_start, scene.camera.session_uid),) if scene.camera is not None else ()


def view_now(scene: Any) -> View:
    """Return the matrix from the space of the scene's active camera to the world, as it stands now."""
    return unscaled(np.array(scene.camera.matrix_world)) if scene.camera is not None else np.eye(4)


def unscaled(matrices: Matrices) -> Matrices:
    """Return the matrices, shape (..., 4, 4), without scale, by which Blender places no camera's picture."""
    plain = matrices.astype(np.float64)
    size = np.linalg.norm(plain[..., :3, :3], axis=-2, keepdims=True)
    turn: Matrices = plain[..., :3, :3] / np.where(size > 0.0, size, 1.0)
    is_flat = np.abs(np.linalg.det(turn)) < _FLAT
    plain[..., :3, :3] = np.where(is_flat[..., np.newaxis, np.newaxis], np.eye(3), turn)
    return plain


@dataclass
class _Sampled:
    """Matrices from the world into the space of one camera at frames, ascending."""

    mark: Fingerprint | None
    """The mark of what they were computed from; None where Blender stepped through the frames."""
    read: set[int]
    frames: Frames
    into: Matrices
    steps: int = 0
    """How often Blender has stepped through frames, for any camera."""
    stale: bool = False
    """Something changed that they depend on, if Blender stepped through the frames."""

    def holds(self, mark: Fingerprint) -> bool:
        return not self.stale if self.mark is None else self.mark == mark

    def has(self, frames: Frames) -> bool:
        return bool(np.isin(frames, self.frames).all())

    def at(self, frames: Frames) -> Matrices:
        found: Matrices = self.into[np.searchsorted(self.frames, frames)]
        return found


class IsSteppedError(Exception):
    """Blender has to step through frames first to place a camera."""


@dataclass
class Cameras:
    """Matrices of cameras, kept until something that moves them changes."""

    _sampled: dict[int, _Sampled] = field(default_factory=dict)
    _stepping: dict[int, DepsgraphSampler] = field(default_factory=dict)
    _steps: int = 0
    reason: str = ""
    """Why Blender has to step through frames."""

    def into(
        self, cuts: Cuts, frames: Frames, seen_at: Frames, objects: dict[int, Any], inputs: Fingerprints
    ) -> Matrices:
        """Return the matrices from the world into the cameras' spaces at the frames, shape (frames, 4, 4).

        At each frame of the camera that sees the frame of `seen_at` in its place. `objects`: by their `session_uid`.
        Raises IsSteppedError where `step` has to be called first, until nothing is left.
        """
        matrices = np.empty((len(frames), 4, 4))
        cameras = _which(cuts, seen_at)
        for number, (_, uid) in enumerate(cuts):
            rows = cameras == number
            if rows.any():
                matrices[rows] = self._of(objects[uid], np.unique(frames[rows]), inputs).at(frames[rows])
        return matrices

    def marks(self, cuts: Cuts, objects: dict[int, Any], inputs: Fingerprints) -> Fingerprint:
        """Return marks of the cameras: alike while all of them move as they did."""
        return tuple((first, self._mark(objects[uid], inputs)) for first, uid in cuts)

    def _mark(self, camera: Any, inputs: Fingerprints) -> Fingerprint:
        kept = self._sampled.get(camera.session_uid)
        if kept is None or kept.mark is not None:
            return inputs.of(camera)
        return (object() if kept.stale else kept.steps,)

    def read(self, cuts: Cuts) -> set[int]:
        """Return the `session_uid` of all that the cameras depend on."""
        return {uid for _, camera in cuts if camera in self._sampled for uid in self._sampled[camera].read}

    def mark_stale(self, changed: set[int] | None = None) -> None:
        """Mark those that depend on what changed; None: anything may have changed."""
        for sampled in self._sampled.values():
            sampled.stale |= changed is None or not changed.isdisjoint(sampled.read)
        for uid, sampler in list(self._stepping.items()):
            if changed is None or not changed.isdisjoint(sampler.read | {uid}):
                del self._stepping[uid]

    @property
    def is_stepping(self) -> bool:
        """Return whether Blender has to step through frames."""
        return bool(self._stepping)

    @property
    def part(self) -> float:
        """Return how much of that is done, 0 to 1."""
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
        """Return what is known of the camera, with all of the frames; raise IsSteppedError."""
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
        """Keep them beside those at other frames."""
        into: Matrices = np.linalg.inv(unscaled(matrices)).astype(np.float64)
        old = self._sampled.get(uid)
        if old is not None and old.mark == mark and (mark is not None or not old.stale):
            at = np.concatenate((old.frames, frames))
            frames, rows = np.unique(at, return_index=True)
            into, read = np.concatenate((old.into, into))[rows], read | old.read
        self._sampled[uid] = _Sampled(mark, read, frames, into, self._steps)
        return self._sampled[uid]


def _which(cuts: Cuts, frames: Frames) -> npt.NDArray[np.int64]:
    """Return the rows of the cameras that see the frames."""
    firsts = [first for first, _ in cuts]
    rows: npt.NDArray[np.int64] = np.maximum(np.searchsorted(firsts, frames + SAME_FRAME, side="right") - 1, 0)
    return rows
