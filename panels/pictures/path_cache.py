# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache of the paths that viewports draw.

A path is computed on redraw if its dependencies have changed. Paths for which a redraw has no time are computed in a
timer, which pauses between paths and between stepped frames. After a key is inserted, its path waits for Live's update.

Paths are computed from F-curves if possible. Otherwise, for example with constraints, Blender steps through the frames.
Paths refer to objects by `session_uid` and to bones by name, because an undo invalidates all references.
"""

from __future__ import annotations

import time
import traceback
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...animation.bake.exact_motion import ExactSampler
from ...animation.sampling.cameras import Cameras, IsSteppedError
from ...animation.sampling.depsgraph import DepsgraphSampler, Owner
from ...animation.sampling.fingerprints import Fingerprint, Fingerprints
from ...animation.sampling.transforms import Matrices, UnknownMotionError
from ...animation.text import iface_
from ...ui.live import handlers, updates
from ...ui.live.handlers import persistent
from ...ui.redraw import redraw_editors
from .draw_paths import PathBatches
from .path_geometry import Path, Plan, Trace, plan_path, sampled_path

_SECONDS_PER_STEP = 0.012
"""Seconds of work in the timer before each redraw. A path from F-curves that takes longer is completed."""
_SECONDS_PER_REDRAW = 0.05
"""Seconds of work during a redraw, for paths that have changed."""
_RETRY = 0.2
"""Seconds until the next check whether Blender can step through frames."""
_MAX_OTHERS = 64
"""Maximum number of cached paths that the last drawn viewport does not draw, without paths drawn recently."""
_KEPT = 10.0
"""Seconds for which drawn paths stay in the cache, so that viewports with different paths do not compute them again."""

Request = tuple[Owner, Trace]
"""An object or bone, and the point and frames to trace."""
_Objects = dict[int, Any]
"""All objects, by their `session_uid`."""
_Samplers = dict[tuple[object, ...], ExactSampler]
"""Samplers by the bytes of their frames and the default parameters, for paths with the same frames."""


@dataclass
class CachedPath:
    """A path with everything that determines whether it is up to date."""

    path: Path
    dependencies: set[int]
    """The `session_uid` of all dependencies of the path."""
    stepping_reason: str = ""
    """The reason why Blender had to step through the frames, or an empty string."""
    fingerprint: Fingerprint | None = None
    """Fingerprint of the source data, or None if a fingerprint does not cover all dependencies."""
    batches: PathBatches | None = None
    is_stale: bool = False
    """True if a dependency may have changed."""
    drawn_at: float = field(default_factory=time.perf_counter)
    """Time of the last drawing, or of the computation."""


@dataclass
class _Cache:
    """Requested paths and computed paths."""

    paths: OrderedDict[Request, CachedPath] = field(default_factory=OrderedDict)
    """Computed paths, in order of their last drawing."""
    requested: dict[Request, None] = field(default_factory=dict)
    """Paths to compute from F-curves, in order."""
    cameras: Cameras = field(default_factory=Cameras)
    stepped: dict[Request, tuple[Plan, str]] = field(default_factory=dict)
    """Paths for which Blender must step through frames, with the reason."""
    sampler: DepsgraphSampler | None = None
    """Sampler of the stepped paths, while Blender steps through frames."""
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    """Fingerprints of the current source data."""
    has_failed: bool = False
    """True if an error was reported. Drawing is then off until the setting changes."""

    @property
    def has_requests(self) -> bool:
        """Return whether paths are missing."""
        return bool(self.requested or self.stepped)

    def advance(self, seconds: float) -> bool:
        """Work for the given time. Return False if Blender is busy and cannot step through frames."""
        if self._ready_requests():
            self.compute_from_curves(seconds)
            return True
        if updates.is_busy():
            return False
        if self.cameras.is_stepping:
            scene: Any = bpy.context.scene
            self.cameras.step(_objects_by_uid(), scene, seconds)
        else:
            self._compute_by_stepping(seconds)
        return True

    def _ready_requests(self) -> list[Request]:
        """Return the requested paths, without paths in the space of a camera through whose frames Blender steps."""
        is_stepping = self.cameras.is_stepping
        return [request for request in self.requested if not (is_stepping and request[1].cameras)]

    def compute_from_curves(self, seconds: float) -> None:
        """Compute requested paths from F-curves until the given time has passed. The last path is completed.

        The calculation changes no data, so it is safe while drawing.
        """
        end = time.perf_counter() + seconds
        objects = _objects_by_uid()
        samplers: _Samplers = {}
        for request in self._ready_requests():
            if time.perf_counter() >= end:
                break
            del self.requested[request]
            if not _exists(request, objects):
                continue
            cached = self.paths.get(request)
            if cached is not None and cached.fingerprint == self._fingerprint(request, objects):
                cached.is_stale = False
                continue
            (uid, bone), trace = request
            planned = plan_path(objects[uid], bone, trace)
            if cached is not None and len(planned.key_frames) > len(cached.path.frames) and updates.is_due():
                # Live will place handles next to the inserted key.
                self.requested[request] = None
                continue
            self._compute(request, planned, objects, samplers)
        self.fingerprints.release()

    def _compute(self, request: Request, planned: Plan, objects: _Objects, samplers: _Samplers) -> None:
        """Compute a path from F-curves, or let it wait for the frames through which Blender must step."""
        (uid, bone), trace = request
        obj = objects[uid]
        try:
            views = self._views(trace, planned, objects)
        except IsSteppedError:
            self.requested[request] = None
            return
        key = planned.frames.tobytes(), trace.defaults
        if key not in samplers:
            samplers[key] = ExactSampler(planned.frames, dict(trace.defaults), self.fingerprints)
        sampler = samplers[key]
        try:
            matrices = sampler.matrices(obj, bone)
        except UnknownMotionError as unknown:
            self.stepped[request] = planned, str(unknown)
            self.sampler = None
            return
        path = sampled_path(planned, planned.frames, matrices, trace, _tail(obj, bone), views)
        dependencies = sampler.dependencies(obj, bone) | self.cameras.dependencies(trace.cameras)
        self.paths[request] = CachedPath(path, dependencies, fingerprint=self._fingerprint(request, objects))

    def _compute_by_stepping(self, seconds: float) -> None:
        """Let Blender step through some frames of the stepped paths. Compute the paths when all frames are known."""
        objects = _objects_by_uid()
        for request in list(self.stepped):
            if not _exists(request, objects):
                del self.stepped[request]
                self.sampler = None
        if not self.stepped:
            return
        if self.sampler is None:
            frames = np.unique(np.concatenate([planned.frames for planned, _ in self.stepped.values()]))
            self.sampler = DepsgraphSampler([owner for owner, _ in self.stepped], frames)
        scene: Any = bpy.context.scene
        self.sampler.advance(objects, scene, seconds)
        if self.sampler.is_done:
            self._finish_stepping(self.sampler, objects)

    def _finish_stepping(self, sampler: DepsgraphSampler, objects: _Objects) -> None:
        for request, (planned, reason) in self.stepped.items():
            (uid, bone), trace = request
            try:
                views = self._views(trace, planned, objects)
            except IsSteppedError:
                # The camera was moved while Blender stepped through frames.
                self.requested[request] = None
                continue
            matrices = sampler.matrices((uid, bone))
            path = sampled_path(planned, sampler.frames, matrices, trace, _tail(objects[uid], bone), views)
            self.paths[request] = CachedPath(
                path, sampler.dependencies | self.cameras.dependencies(trace.cameras), reason
            )
        self.stepped.clear()
        self.sampler = None

    def _fingerprint(self, request: Request, objects: _Objects) -> Fingerprint:
        (uid, bone), trace = request
        cameras = self.cameras.fingerprints(trace.cameras, objects, self.fingerprints)
        return self.fingerprints.of(objects[uid], bone), cameras

    def _views(self, trace: Trace, planned: Plan, objects: _Objects) -> Matrices | None:
        """Return the matrices to the trace's cameras, or None if no camera moves. Raises IsSteppedError."""
        if not trace.cameras:
            return None
        views = self.cameras.matrices_at(
            trace.cameras, planned.evaluated, planned.camera_frames, objects, self.fingerprints
        )
        return None if (views == views[:1]).all() else views

    def stepping_text(self, owners: Collection[Owner]) -> str:
        """Return why Blender steps through frames for any path, or has stepped for paths of the owners, or ""."""
        if self.cameras.is_stepping:
            return iface_("{:s}: stepping through frames, {:.0%}", self.cameras.reason, self.cameras.part)
        if self.stepped:
            _, reason = next(iter(self.stepped.values()))
            fraction = self.sampler.part if self.sampler is not None else 0.0
            return iface_("{:s}: stepping through frames, {:.0%}", reason, fraction)
        reasons = {cached.stepping_reason for (owner, _), cached in self.paths.items() if owner in owners}
        first_reason = next(filter(None, sorted(reasons)), "")
        return iface_("{:s}: stepped through frames", first_reason) if first_reason else ""


def _objects_by_uid() -> _Objects:
    return {obj.session_uid: obj for obj in bpy.data.objects}


def _exists(request: Request, objects: _Objects) -> bool:
    (uid, bone), trace = request
    if uid not in objects or (bone and bone not in objects[uid].pose.bones):
        return False
    return all(camera in objects for _, camera in trace.cameras)


def _tail(obj: Any, bone: str) -> float:
    return float(obj.data.bones[bone].length) if bone else 0.0


state = _Cache()


def update(requests: Collection[Request]) -> dict[Request, CachedPath]:
    """Compute missing and stale paths for a redraw, and return the paths to draw.

    The timer computes paths that take too long. Until then, stale paths are drawn.
    """
    for request in requests:
        if request not in state.paths or state.paths[request].is_stale:
            _request(request)
    if state.requested:
        # A timer would update paths one redraw later than the motion.
        state.compute_from_curves(_SECONDS_PER_REDRAW)
    paths_to_draw = {request: state.paths[request] for request in requests if request in state.paths}
    now = time.perf_counter()
    for request, cached in paths_to_draw.items():
        cached.drawn_at = now
        state.paths.move_to_end(request)
    # Paths drawn long ago leave the cache first.
    while len(state.paths) > len(paths_to_draw) + _MAX_OTHERS:
        if next(iter(state.paths.values())).drawn_at > now - _KEPT:
            break
        state.paths.popitem(last=False)
    return paths_to_draw


def fail() -> None:
    """Report the error, and stop drawing to avoid repeated errors."""
    traceback.print_exc()
    clear()
    state.has_failed = True


def clear() -> None:
    """Discard all paths and requests, and allow drawing after an error."""
    global state
    state = _Cache()


def redraw_viewports() -> None:
    redraw_editors(("VIEW_3D",))


def _request(request: Request) -> None:
    """Add a path to compute, unless Blender steps through its frames."""
    if request not in state.stepped:
        state.requested[request] = None
    if not bpy.app.timers.is_registered(_work):
        bpy.app.timers.register(_work, first_interval=0.0)


def _work() -> float | None:
    """Compute missing paths for about `_SECONDS_PER_STEP`. Blender's timer calls this until it returns None."""
    try:
        if not state.has_requests:
            return None
        if not state.advance(_SECONDS_PER_STEP):
            return _RETRY
    except Exception:
        fail()
        return None
    redraw_viewports()
    return 0.0 if state.has_requests else None


@persistent
def _on_update(_scene: bpy.types.Scene, depsgraph: Any) -> None:
    state.fingerprints = Fingerprints()
    if not state.paths and not state.has_requests:
        return
    changed = {
        change.id.original.session_uid
        for change in depsgraph.updates
        if change.is_updated_transform or change.is_updated_geometry or isinstance(change.id, bpy.types.Action)
    }
    if not changed:
        return
    state.cameras.mark_stale(changed)
    covered = bpy.types.Object | bpy.types.Armature | bpy.types.Action | bpy.types.Scene
    without_fingerprint = {
        change.id.original.session_uid for change in depsgraph.updates if not isinstance(change.id, covered)
    }
    changed_paths = [cached for cached in state.paths.values() if not changed.isdisjoint(cached.dependencies)]
    for cached in changed_paths:
        cached.is_stale = True
        if not without_fingerprint.isdisjoint(cached.dependencies):
            cached.fingerprint = None
    if changed_paths:
        # The redraw requests the paths that the viewports draw.
        redraw_viewports()
    if state.sampler is not None and not changed.isdisjoint(state.sampler.dependencies):
        state.sampler = None


@persistent
def _on_undo(_scene: bpy.types.Scene, _depsgraph: object = None) -> None:
    """Mark all paths as changed, because any data may have changed."""
    for cached in state.paths.values():
        cached.is_stale = True
    state.fingerprints = Fingerprints()
    state.cameras.mark_stale()
    state.sampler = None
    redraw_viewports()


@persistent
def _on_load(_path: str, _depsgraph: object = None) -> None:
    clear()


_HANDLERS = (
    ("depsgraph_update_post", _on_update),
    ("undo_post", _on_undo),
    ("redo_post", _on_undo),
    ("load_post", _on_load),
)


def register() -> None:
    handlers.append(_HANDLERS)


def unregister() -> None:
    handlers.remove(_HANDLERS)
    if bpy.app.timers.is_registered(_work):
        bpy.app.timers.unregister(_work)
    clear()
    redraw_viewports()
