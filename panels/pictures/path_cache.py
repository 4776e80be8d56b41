# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache of the paths that viewports draw.

A path is computed on redraw if its dependencies have changed. Paths that take too long for a redraw are computed in a
timer, a few milliseconds at a time. After a key is inserted, its path waits for the update by Live. Cached paths refer
to objects by `session_uid` and to bones by name, because an undo invalidates all references.
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
from ...animation.sampling.beyond_fcurves import UnknownMotionError
from ...animation.sampling.camera_matrices import Cameras, IsSteppedError
from ...animation.sampling.depsgraph import DepsgraphSampler, Thing
from ...animation.sampling.fingerprints import Fingerprint, Fingerprints
from ...animation.translation import iface_
from ...ui.live import updates
from ...ui.live.handlers import persistent
from ...ui.redraw import redraw_editors
from .draw_paths import PathBatches
from .paths import Path, Plan, Trace, Views, plan_path, sampled_path

_SECONDS_PER_STEP = 0.012
"""Seconds of work in the timer before each redraw."""
_SECONDS_PER_REDRAW = 0.05
"""Seconds of work during a redraw, for paths that have changed."""
_RETRY = 0.2
"""Seconds until the next check whether Blender can step through frames."""
_MIN_PATHS = 64
"""Minimum number of cached paths, including paths that are not drawn."""

Request = tuple[Thing, Trace]
"""An object or bone, and the point and frames to trace."""


@dataclass
class CachedPath:
    """A path with everything that determines whether it is up to date."""

    path: Path
    dependencies: set[int]
    """The `session_uid` of all dependencies of the path."""
    stepping_reason: str = ""
    """The reason why Blender had to step through the frames, or an empty string."""
    fingerprint: Fingerprint | None = None
    """Fingerprint of the source data, or None if it does not cover them."""
    batches: PathBatches | None = None
    is_stale: bool = False
    """True if a dependency may have changed."""


@dataclass
class _State:
    paths: OrderedDict[Request, CachedPath] = field(default_factory=OrderedDict)
    """Cached paths, in order of their last drawing."""
    requested: dict[Request, None] = field(default_factory=dict)
    """Paths to compute from F-curves, in order."""
    stepped: dict[Request, tuple[Plan, str]] = field(default_factory=dict)
    """Paths for which Blender must step through frames, with the reason."""
    sampler: DepsgraphSampler | None = None
    """Sampler of the stepped paths, while Blender steps through frames."""
    waiting_for_cameras: dict[Request, None] = field(default_factory=dict)
    """Paths that wait for cameras whose frames Blender must step through."""
    cameras: Cameras = field(default_factory=Cameras)
    drawn_count: int = 0
    """Number of paths in the last drawn viewport."""
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    """Fingerprints of the current source data."""
    has_failed: bool = False
    """True if an error was reported. Drawing is then off until the setting changes."""


state = _State()


def update(requests: Collection[Request]) -> dict[Request, CachedPath]:
    """Compute missing and stale paths for a redraw, and return the paths to draw.

    The timer computes paths that take too long. Until then, stale paths are drawn.
    """
    for request in requests:
        if request not in state.paths or state.paths[request].is_stale:
            _request(request)
    if state.requested:
        # A timer would update paths one redraw later than the motion.
        _compute_from_curves(_objects_by_uid(), _SECONDS_PER_REDRAW)
    paths_to_draw = {request: state.paths[request] for request in requests if request in state.paths}
    for request in paths_to_draw:
        # Paths drawn long ago leave the cache first.
        state.paths.move_to_end(request)
    state.drawn_count = len(paths_to_draw)
    return paths_to_draw


def stepping_text(owners: Collection[Thing]) -> str:
    """Return why Blender steps through frames for any path, or has stepped for paths of the owners, or ""."""
    if state.waiting_for_cameras and state.cameras.is_stepping:
        return iface_("{:s}: stepping through frames, {:.0%}", state.cameras.reason, state.cameras.part)
    if state.stepped:
        _, reason = next(iter(state.stepped.values()))
        fraction = state.sampler.part if state.sampler is not None else 0.0
        return iface_("{:s}: stepping through frames, {:.0%}", reason, fraction)
    reasons = {cached.stepping_reason for (owner, _), cached in state.paths.items() if owner in owners}
    first_reason = next(filter(None, sorted(reasons)), "")
    return iface_("{:s}: stepped through frames", first_reason) if first_reason else ""


def fail() -> None:
    """Report the error, and stop drawing to avoid repeated errors."""
    traceback.print_exc()
    clear()
    state.has_failed = True


def clear() -> None:
    """Discard all paths and requests, and allow drawing after an error."""
    global state
    state = _State()


def redraw_viewports() -> None:
    redraw_editors(("VIEW_3D",))


def _request(request: Request) -> None:
    if request not in state.stepped and request not in state.waiting_for_cameras:
        state.requested[request] = None
    if not bpy.app.timers.is_registered(_work):
        bpy.app.timers.register(_work, first_interval=0.0)


def _work() -> float | None:
    """Compute missing paths for a few milliseconds. Blender's timer calls this until it returns None."""
    try:
        if not (_has_requests() or state.cameras.is_stepping):
            return None
        objects = _objects_by_uid()
        if state.requested:
            _compute_from_curves(objects, _SECONDS_PER_STEP)
        elif updates.is_busy():
            return _RETRY
        elif state.cameras.is_stepping:
            scene: Any = bpy.context.scene
            state.cameras.step(objects, scene, _SECONDS_PER_STEP)
        elif state.waiting_for_cameras:
            state.requested.update(state.waiting_for_cameras)
            state.waiting_for_cameras.clear()
        else:
            _compute_by_stepping(objects)
    except Exception:
        fail()
        return None
    while len(state.paths) > max(_MIN_PATHS, 2 * state.drawn_count):
        state.paths.popitem(last=False)
    redraw_viewports()
    return 0.0 if _has_requests() else None


def _has_requests() -> bool:
    return bool(state.requested or state.waiting_for_cameras or state.stepped)


def _objects_by_uid() -> dict[int, Any]:
    return {obj.session_uid: obj for obj in bpy.data.objects}


def _compute_from_curves(objects: dict[int, Any], seconds: float) -> None:
    """Compute missing paths from F-curves in the given time.

    The calculation changes no data, so it is safe while drawing.
    """
    end = time.perf_counter() + seconds
    samplers: dict[tuple[object, ...], ExactSampler] = {}
    postponed = []
    while state.requested and time.perf_counter() < end:
        request = next(iter(state.requested))
        del state.requested[request]
        if not _compute(request, objects, samplers):
            postponed.append(request)
    state.requested |= dict.fromkeys(postponed)
    state.fingerprints.rest()


def _compute(request: Request, objects: dict[int, Any], samplers: dict[tuple[object, ...], ExactSampler]) -> bool:
    """Compute a path. Return False if the path must wait until Live has updated the motion after a key was inserted.

    `samplers`: samplers by the bytes of their frames and the default parameters, for paths with the same frames.
    """
    if not _exists(request, objects):
        return True
    (uid, bone), trace = request
    obj = objects[uid]
    cached = state.paths.get(request)
    if cached is not None and cached.fingerprint == _fingerprint(request, objects):
        cached.is_stale = False
        return True
    planned = plan_path(obj, bone, trace)
    if cached is not None and len(planned.key_frames) > len(cached.path.frames) and updates.is_due():
        return False
    try:
        views = _views(trace, planned, objects)
    except IsSteppedError:
        state.waiting_for_cameras[request] = None
        return True
    new_sampler = ExactSampler(planned.frames, dict(trace.defaults), state.fingerprints)
    sampler = samplers.setdefault((planned.frames.tobytes(), trace.defaults), new_sampler)
    try:
        matrices = sampler.matrices(obj, bone)
    except UnknownMotionError as unknown:
        state.stepped[request] = planned, str(unknown)
        state.sampler = None
        return True
    path = sampled_path(planned, planned.frames, matrices, trace, _tail(obj, bone), views)
    dependencies = sampler.read(obj, bone) | state.cameras.read(trace.cameras)
    state.paths[request] = CachedPath(path, dependencies, fingerprint=_fingerprint(request, objects))
    return True


def _compute_by_stepping(objects: dict[int, Any]) -> None:
    """Let Blender step through some frames of the stepped paths, and cache the paths when all frames are known."""
    for request in list(state.stepped):
        if not _exists(request, objects):
            del state.stepped[request]
            state.sampler = None
    if not state.stepped:
        return
    if state.sampler is None:
        frames = np.unique(np.concatenate([planned.frames for planned, _ in state.stepped.values()]))
        state.sampler = DepsgraphSampler([owner for owner, _ in state.stepped], frames)
    scene: Any = bpy.context.scene
    state.sampler.advance(objects, scene, _SECONDS_PER_STEP)
    if state.sampler.is_done:
        _cache_stepped(state.sampler, objects)
        state.stepped.clear()
        state.sampler = None


def _cache_stepped(sampler: DepsgraphSampler, objects: dict[int, Any]) -> None:
    for request, (planned, reason) in state.stepped.items():
        (uid, bone), trace = request
        try:
            views = _views(trace, planned, objects)
        except IsSteppedError:
            # The camera was moved while Blender stepped through frames.
            state.waiting_for_cameras[request] = None
            continue
        matrices = sampler.matrices((uid, bone))
        path = sampled_path(planned, sampler.frames, matrices, trace, _tail(objects[uid], bone), views)
        state.paths[request] = CachedPath(path, sampler.read | state.cameras.read(trace.cameras), reason)


def _exists(request: Request, objects: dict[int, Any]) -> bool:
    """Return whether the object, its bone and the cameras of the path exist."""
    (uid, bone), trace = request
    if uid not in objects or (bone and bone not in objects[uid].pose.bones):
        return False
    return all(camera in objects for _, camera in trace.cameras)


def _fingerprint(request: Request, objects: dict[int, Any]) -> Fingerprint:
    """Return the fingerprint of the current data that determine the path."""
    (uid, bone), trace = request
    cameras = state.cameras.marks(trace.cameras, objects, state.fingerprints)
    return state.fingerprints.of(objects[uid], bone), cameras


def _views(trace: Trace, planned: Plan, objects: dict[int, Any]) -> Views | None:
    """Return the views of the trace's cameras, or None if no camera moves. Raises IsSteppedError."""
    if not trace.cameras:
        return None
    cameras, prints = state.cameras, state.fingerprints
    return Views.of(planned, lambda frames, seen_at: cameras.into(trace.cameras, frames, seen_at, objects, prints))


def _tail(obj: Any, bone: str) -> float:
    return float(obj.data.bones[bone].length) if bone else 0.0


@persistent
def _on_update(_scene: bpy.types.Scene, depsgraph: Any) -> None:
    state.fingerprints = Fingerprints()
    if not state.paths and state.sampler is None and not state.waiting_for_cameras:
        return
    changed = {
        update.id.original.session_uid
        for update in depsgraph.updates
        if update.is_updated_transform or update.is_updated_geometry or isinstance(update.id, bpy.types.Action)
    }
    if not changed:
        return
    state.cameras.mark_stale(changed)
    _mark_stale(changed, _without_fingerprint(depsgraph))
    if state.sampler is not None and not changed.isdisjoint(state.sampler.read):
        state.sampler = None


def _without_fingerprint(depsgraph: Any) -> set[int]:
    """Return the `session_uid` of updated datablocks that fingerprints do not cover."""
    covered = bpy.types.Object | bpy.types.Armature | bpy.types.Action | bpy.types.Scene
    return {update.id.original.session_uid for update in depsgraph.updates if not isinstance(update.id, covered)}


def _mark_stale(changed: set[int], without_fingerprint: set[int]) -> None:
    """Mark the paths that depend on changed datablocks, and request the drawn ones."""
    for count_after, (request, cached) in enumerate(reversed(state.paths.items())):
        if changed.isdisjoint(cached.dependencies):
            continue
        cached.is_stale = True
        if not without_fingerprint.isdisjoint(cached.dependencies):
            cached.fingerprint = None
        # Paths are in order of their last drawing.
        if count_after < state.drawn_count:
            _request(request)


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


_HANDLERS: tuple[tuple[Any, Any], ...] = (
    (bpy.app.handlers.depsgraph_update_post, _on_update),
    (bpy.app.handlers.undo_post, _on_undo),
    (bpy.app.handlers.redo_post, _on_undo),
    (bpy.app.handlers.load_post, _on_load),
)


def register() -> None:
    for handlers_of_event, handler in _HANDLERS:
        handlers_of_event.append(handler)


def unregister() -> None:
    for handlers_of_event, handler in _HANDLERS:
        # Another add-on or Load Factory Settings may have cleared the handlers.
        if handler in handlers_of_event:
            handlers_of_event.remove(handler)
    if bpy.app.timers.is_registered(_work):
        bpy.app.timers.unregister(_work)
    clear()
    redraw_viewports()
