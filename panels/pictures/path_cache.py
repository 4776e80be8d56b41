# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache of the paths that viewports draw.

A path is computed on redraw if its dependencies have changed. Paths that take too long for a redraw are computed in a
timer. After a key is inserted, its path waits for the update by Live.
"""

from __future__ import annotations

import traceback
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import bpy

from ...animation.sampling.fingerprints import Fingerprints
from ...ui.live.handlers import persistent
from ...ui.redraw import redraw_editors
from .path_computation import CachedPath, PathComputation, Request

_SECONDS_PER_STEP = 0.012
"""Seconds of work in the timer before each redraw."""
_SECONDS_PER_REDRAW = 0.05
"""Seconds of work during a redraw, for paths that have changed."""
_RETRY = 0.2
"""Seconds until the next check whether Blender can step through frames."""
_MIN_PATHS = 64
"""Minimum number of cached paths, including paths that are not drawn."""


@dataclass
class _State(PathComputation):
    drawn_count: int = 0
    """Number of paths in the last drawn viewport."""
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
        state.compute_from_curves(_SECONDS_PER_REDRAW)
    paths_to_draw = {request: state.paths[request] for request in requests if request in state.paths}
    for request in paths_to_draw:
        # Paths drawn long ago leave the cache first.
        state.paths.move_to_end(request)
    state.drawn_count = len(paths_to_draw)
    return paths_to_draw


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
    state.request(request)
    if not bpy.app.timers.is_registered(_work):
        bpy.app.timers.register(_work, first_interval=0.0)


def _work() -> float | None:
    """Compute missing paths for a few milliseconds. Blender's timer calls this until it returns None."""
    try:
        if not (state.has_requests or state.cameras.is_stepping):
            return None
        if not state.advance(_SECONDS_PER_STEP):
            return _RETRY
    except Exception:
        fail()
        return None
    while len(state.paths) > max(_MIN_PATHS, 2 * state.drawn_count):
        state.paths.popitem(last=False)
    redraw_viewports()
    return 0.0 if state.has_requests else None


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
    if state.sampler is not None and not changed.isdisjoint(state.sampler.dependencies):
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
