# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of selected objects and bones in the 3D Viewport: selection, cache and updates.

A path is computed on redraw if its dependencies have changed. Paths that take too long for a redraw are computed in a
timer, a few milliseconds at a time. After a key is inserted, its path waits for the update by Live. Cached paths refer
to objects by `session_uid` and to bones by name, because an undo invalidates all references.
"""

from __future__ import annotations

import time
import traceback
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...animation.bake.exact_motion import ExactSampler
from ...animation.fcurves.frames import SAME_FRAME
from ...animation.on_path.points import Followed
from ...animation.sampling.beyond_fcurves import UnknownMotionError
from ...animation.sampling.cameras import Cameras, IsSteppedError, cameras_of, view_now
from ...animation.sampling.depsgraph import DepsgraphSampler, Thing
from ...animation.sampling.fingerprints import Fingerprint, Fingerprints
from ...animation.translation import iface_
from ...ui import preferences
from ...ui.live import handlers
from ...ui.selection import defaults_of
from .draw_paths import PATH, Color, PathBatches, PathStyle, draw, draw_numbers
from .path_pick import Picked, Shown, end_of, on_screen
from .paths import Path, Plan, Trace, Views, path, plan

_MOST_FRAMES = 20_000
_PIECE = 0.012
"""Seconds of work before each redraw."""
_AT_ONCE = 0.05
"""Seconds per redraw for paths that have changed."""
_WAIT = 0.2
"""Seconds until the next check whether Blender can step through frames."""
_FEWEST_KEPT = 64
"""Minimum number of cached paths, including paths that are not drawn."""

TOOL = "tcb.path_tool"
"""Identifier of the tool that edits paths. Paths are visible while the tool is active."""

_FAINT = 0.45
"""Opacity factor of paths other than the active path."""

_APART = 12.0
"""Minimum distance between frame numbers, in pixels."""

Wanted = tuple[Thing, Trace]


@dataclass
class _Kept:
    path: Path
    read: set[int]
    """The `session_uid` of all dependencies of the path."""
    note: str
    """The reason why Blender had to step through the frames, or an empty string."""
    inputs: Fingerprint | None = None
    """Fingerprint of the source data, or None."""
    batches: PathBatches | None = None
    stale: bool = False


@dataclass
class _State:
    kept: OrderedDict[Wanted, _Kept] = field(default_factory=OrderedDict)
    """Cached paths, in order of their last drawing."""
    wanted: dict[Wanted, None] = field(default_factory=dict)
    stepped: dict[Wanted, tuple[Plan, str]] = field(default_factory=dict)
    """Paths for which Blender must step through frames, with the reason."""
    sampler: DepsgraphSampler | None = None
    unseen: dict[Wanted, None] = field(default_factory=dict)
    """Paths that wait for cameras whose frames Blender must step through."""
    cameras: Cameras = field(default_factory=Cameras)
    drawn: int = 0
    """Number of paths in the last drawn viewport."""
    inputs: Fingerprints = field(default_factory=Fingerprints)
    """Fingerprints of the current source data."""
    hovered: Picked | None = None
    """The element that is under the mouse or is being dragged."""
    failed: bool = False
    """True if an error was reported. Drawing is then off until the setting changes."""


_state = _State()


def status(context: bpy.types.Context) -> str:
    """Return the note on the paths, or an empty string."""
    if _state.failed:
        return iface_("Paths cannot be drawn. See the system console")
    if _state.unseen and _state.cameras.is_stepping:
        return iface_("{:s}: stepping through frames, {:.0%}", _state.cameras.reason, _state.cameras.part)
    if _state.stepped:
        reason = next(iter(_state.stepped.values()))[1]
        part = _state.sampler.part if _state.sampler is not None else 0.0
        return iface_("{:s}: stepping through frames, {:.0%}", reason, part)
    shown = {(obj.session_uid, bone) for obj, bone in _shown_objects(context)}
    notes = sorted({kept.note for (owner, _), kept in _state.kept.items() if kept.note and owner in shown})
    if notes:
        return iface_("{:s}: stepped through frames", notes[0])
    if _ends(context.scene)[1] > _trace(context.scene).end:
        return iface_("Paths end after {:d} frames", _MOST_FRAMES)
    return ""


def _shown_objects(context: bpy.types.Context) -> Iterator[tuple[Any, str]]:
    """Yield the objects or bones whose paths this viewport draws: selected bones, or visible selected objects."""
    if context.mode == "POSE":
        bones = {(bone.id_data, bone.name): None for bone in context.selected_pose_bones or ()}
        active = context.active_pose_bone
        yield from bones | ({(active.id_data, active.name): None} if active is not None else {})
        return
    items: dict[Any, None] = dict.fromkeys(context.selected_objects)
    active_object: Any = context.view_layer and context.view_layer.objects.active
    if active_object is not None and active_object.visible_get(viewport=context.space_data):
        items[active_object] = None
    for obj in items:
        yield obj, ""


def followed(scene: Any) -> Followed:
    """Return the followed point of the scene's paths."""
    settings = scene.tcb_paths
    return Followed(settings.point, settings.axis, settings.length)


def _trace(scene: Any) -> Trace:
    settings = scene.tcb_paths
    start, end = _ends(scene)
    end = min(end, start + _MOST_FRAMES - 1)
    cameras = cameras_of(scene) if settings.space == "CAMERA" else ()
    defaults = tuple(defaults_of(scene).items())
    return Trace(settings.point, settings.axis, settings.length, start, end, cameras, defaults)


def _ends(scene: Any) -> tuple[int, int]:
    """Return the first and last frames of playback."""
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def _window(scene: Any) -> tuple[int, int] | None:
    """Return the first and last frames to draw, or None for all."""
    settings = scene.tcb_paths
    if not settings.around:
        return None
    return scene.frame_current - settings.before, scene.frame_current + settings.after


def draw_viewport() -> None:
    """Draw the paths of a viewport. Blender calls this for each viewport."""
    if _state.failed:
        return
    try:
        _draw_paths(bpy.context)
    except Exception:
        _fail()


def _draw_paths(context: bpy.types.Context) -> None:
    scene: Any = context.scene
    space: Any = context.space_data
    settings = scene.tcb_paths
    _state.drawn = 0
    if not is_on(context) or not space.overlay.show_overlays:
        return
    trace = _trace(scene)
    in_world: list[PathBatches] = []
    in_camera: list[PathBatches] = []
    highlight = None
    is_highlight_in_camera = False
    shown = list(_shown_objects(context))
    for obj, bone in shown:
        wanted = (obj.session_uid, bone), trace
        if wanted not in _state.kept or _state.kept[wanted].stale:
            _want(wanted)
    if _state.wanted:
        # Compute paths here, because a timer would update them one redraw later than the motion.
        _by_curves({obj.session_uid: obj for obj in bpy.data.objects}, _AT_ONCE)
    for obj, bone in shown:
        wanted = (obj.session_uid, bone), trace
        kept = _state.kept.get(wanted)
        if kept is not None:
            _state.kept.move_to_end(wanted)
            color = path_color(context, obj, bone, is_faint=len(shown) > 1 and not _is_active(context, obj, bone))
            style = PathStyle(settings.by_speed, color, _window(scene))
            if kept.batches is None or kept.batches.style != style:
                kept.batches = PathBatches(kept.path, style)
            kept.batches.mark(scene.frame_current if settings.playhead else None)
            is_in_camera = kept.path.views is not None
            (in_camera if is_in_camera else in_world).append(kept.batches)
            if _state.hovered is not None and _state.hovered.thing == wanted[0] and is_tool_active(context):
                highlight, is_highlight_in_camera = _highlight(kept.path, _state.hovered), is_in_camera
    _state.drawn = len(in_world) + len(in_camera)
    for paths, view in ((in_world, None), (in_camera, view_now(scene))):
        draw(
            paths,
            frames=settings.frames,
            tangents=settings.tangents,
            highlight=highlight if is_highlight_in_camera == (view is not None) else None,
            width=preferences.path_width(context),
            view=view,
        )


def _is_active(context: bpy.types.Context, obj: bpy.types.Object, bone: str) -> bool:
    if context.mode != "POSE":
        return bool(obj == (context.view_layer and context.view_layer.objects.active))
    active_bone = context.active_pose_bone
    return active_bone is not None and (active_bone.id_data, active_bone.name) == (obj, bone)


def path_color(context: bpy.types.Context, obj: Any, bone: str, is_faint: bool) -> Color:
    """Return the color of a path, or the bone's color if that is set. `is_faint` reduces the opacity."""
    red, green, blue, alpha = PATH
    for owner in (obj.pose.bones[bone], obj.data.bones[bone]) if bone else ():
        if owner.color.palette == "CUSTOM":
            red, green, blue = owner.color.custom.normal
            break
        if owner.color.palette != "DEFAULT":
            themes: Any = context.preferences and context.preferences.themes
            red, green, blue = themes[0].bone_color_sets[int(owner.color.palette[-2:]) - 1].normal
            break
    return red, green, blue, alpha * (_FAINT if is_faint else 1.0)


def _highlight(path: Path, hovered: Picked) -> Any:
    """Return the position of the key or tangent end under the mouse, or None if it no longer exists."""
    rows = np.flatnonzero(np.abs(path.frames - hovered.frame) < SAME_FRAME)
    if hovered.row < 0 or not len(rows):
        return None
    return end_of(path, hovered._replace(row=int(rows[0])))


def is_on(context: bpy.types.Context) -> bool:
    """Return whether paths are visible, that is, whether they are on or the tool that edits paths is active."""
    return is_shown(context) or is_tool_active(context)


def is_shown(context: bpy.types.Context) -> bool:
    """Return whether paths are turned on in the tab."""
    manager: Any = context.window_manager
    return bool(manager.tcb_show_paths)


def is_tool_active(context: bpy.types.Context) -> bool:
    """Return whether the tool that edits paths is active."""
    workspace = context.workspace
    tool = workspace.tools.from_space_view3d_mode(context.mode, create=False) if workspace is not None else None
    return tool is not None and tool.idname == TOOL


def shown_paths(context: bpy.types.Context) -> list[Shown]:
    """Return the last computed paths in the context's viewport."""
    space: Any = context.space_data
    if _state.failed or not is_on(context) or not space.overlay.show_overlays:
        return []
    trace, window, view = _trace(context.scene), _window(context.scene), view_now(context.scene)
    found = []
    for obj, bone in _shown_objects(context):
        kept = _state.kept.get(((obj.session_uid, bone), trace))
        if kept is not None:
            path = kept.path if window is None else kept.path.within(*window)
            found.append(Shown(obj, bone, trace, path, None if path.views is None else view))
    return found


def hover(picked: Picked | None) -> bool:
    """Highlight the element under the mouse, and return whether this element has changed."""
    before, _state.hovered = _state.hovered, picked
    return before != picked


def rows_apart(places: npt.NDArray[np.float64], distance: float) -> list[int]:
    """Return the rows of positions (n, 2) that are at least `distance` from the last returned row. NaN is skipped.

    Otherwise, numbers on slow parts of a path would overlap.
    """
    rows: list[int] = []
    for row, place in enumerate(places):
        if not np.isnan(place).any() and (not rows or np.hypot(*(place - places[rows[-1]])) > distance):
            rows.append(row)
    return rows


def draw_labels() -> None:
    """Draw frame numbers next to keys. Blender calls this for each viewport. Coordinates are in pixels."""
    context = bpy.context
    scene: Any = context.scene
    region: Any = context.region
    view: Any = context.region_data
    if _state.failed or not scene.tcb_paths.numbers:
        return
    try:
        size = region.width, region.height
        for shown in shown_paths(context):
            path, matrix = shown.path, shown.to_screen(view.perspective_matrix)
            draw_numbers(on_screen(path.keys, matrix, size), path.frames)
            between = path.frames_every(scene.tcb_paths.every)
            places = on_screen(path.points[between - path.start], matrix, size)
            apart = rows_apart(places, _APART)
            draw_numbers(places[apart], between[apart], is_key=False)
    except Exception:
        _fail()


def _want(wanted: Wanted) -> None:
    if wanted not in _state.stepped and wanted not in _state.unseen:
        _state.wanted[wanted] = None
    if not bpy.app.timers.is_registered(_work):
        bpy.app.timers.register(_work, first_interval=0.0)


def _work() -> float | None:
    """Compute missing paths for a few milliseconds. Blender's timer calls this until it returns None."""
    try:
        if not (_state.wanted or _state.unseen or _state.stepped or _state.cameras.is_stepping):
            return None
        objects = {obj.session_uid: obj for obj in bpy.data.objects}
        if _state.wanted:
            _by_curves(objects)
        elif handlers.is_busy():
            return _WAIT
        elif _state.cameras.is_stepping:
            scene: Any = bpy.context.scene
            _state.cameras.step(objects, scene, _PIECE)
        elif _state.unseen:
            _state.wanted.update(_state.unseen)
            _state.unseen.clear()
        else:
            _by_stepping(objects)
    except Exception:
        _fail()
        return None
    while len(_state.kept) > max(_FEWEST_KEPT, 2 * _state.drawn):
        _state.kept.popitem(last=False)
    _redraw()
    return 0.0 if _state.wanted or _state.unseen or _state.stepped else None


def _by_curves(objects: dict[int, Any], seconds: float = _PIECE) -> None:
    """Compute missing paths from F-curves in the given time.

    The calculation changes no data, so it is safe while drawing.
    """
    end = time.perf_counter() + seconds
    worlds: dict[tuple[object, ...], ExactSampler] = {}
    waiting = []
    while _state.wanted and time.perf_counter() < end:
        wanted = next(iter(_state.wanted))
        del _state.wanted[wanted]
        if not _compute(wanted, objects, worlds):
            waiting.append(wanted)
    _state.wanted |= dict.fromkeys(waiting)
    _state.inputs.rest()


def _compute(wanted: Wanted, objects: dict[int, Any], worlds: dict[tuple[object, ...], ExactSampler]) -> bool:
    """Compute a path. Return False if the path must wait until Live has updated the motion after a key was inserted."""
    inputs = _state.inputs
    (uid, bone), trace = wanted
    obj = objects.get(uid)
    if obj is None or (bone and bone not in obj.pose.bones) or not _has_cameras(trace, objects):
        return True
    kept, mark = _state.kept.get(wanted), inputs.of(obj, bone)
    if kept is not None and kept.inputs == (mark, _state.cameras.marks(trace.cameras, objects, inputs)):
        kept.stale = False
        return True
    planned = plan(obj, bone, trace)
    if kept is not None and len(planned.keys) > len(kept.path.frames) and handlers.is_due():
        return False
    try:
        views = _views(trace, planned, objects)
    except IsSteppedError:
        _state.unseen[wanted] = None
        return True
    sampler = ExactSampler(planned.frames, dict(trace.defaults), inputs)
    world = worlds.setdefault((planned.frames.tobytes(), trace.defaults), sampler)
    try:
        matrices = world.matrices(obj, bone)
    except UnknownMotionError as unknown:
        _state.stepped[wanted] = planned, str(unknown)
        _state.sampler = None
        return True
    made = path(planned, planned.frames, matrices, trace, _tail(obj, bone), views)
    read = world.read(obj, bone) | _state.cameras.read(trace.cameras)
    marks = mark, _state.cameras.marks(trace.cameras, objects, inputs)
    _state.kept[wanted] = _Kept(made, read, "", marks)
    return True


def _has_cameras(trace: Trace, objects: dict[int, Any]) -> bool:
    return all(camera in objects for _, camera in trace.cameras)


def _views(trace: Trace, planned: Plan, objects: dict[int, Any]) -> Views | None:
    """Return the views of the trace's cameras, or None if no camera moves. Raises IsSteppedError."""
    if not trace.cameras:
        return None
    cameras, inputs = _state.cameras, _state.inputs
    return Views.of(planned, lambda frames, seen_at: cameras.into(trace.cameras, frames, seen_at, objects, inputs))


def _by_stepping(objects: dict[int, Any]) -> None:
    for wanted in list(_state.stepped):
        (uid, bone), trace = wanted
        is_gone = uid not in objects or (bone and bone not in objects[uid].pose.bones)
        if is_gone or not _has_cameras(trace, objects):
            del _state.stepped[wanted]
            _state.sampler = None
    if not _state.stepped:
        return
    if _state.sampler is None:
        frames = np.unique(np.concatenate([planned.frames for planned, _ in _state.stepped.values()]))
        _state.sampler = DepsgraphSampler([owner for owner, _ in _state.stepped], frames)
    sampler = _state.sampler
    scene: Any = bpy.context.scene
    sampler.advance(objects, scene, _PIECE)
    if not sampler.is_done:
        return
    for wanted, (planned, reason) in _state.stepped.items():
        (uid, bone), trace = wanted
        try:
            views = _views(trace, planned, objects)
        except IsSteppedError:
            # The object was moved while Blender stepped through frames.
            _state.unseen[wanted] = None
            continue
        made = path(planned, sampler.frames, sampler.matrices(wanted[0]), trace, _tail(objects[uid], bone), views)
        _state.kept[wanted] = _Kept(made, sampler.read | _state.cameras.read(trace.cameras), reason)
    _state.stepped.clear()
    _state.sampler = None


def _tail(obj: Any, bone: str) -> float:
    return float(obj.data.bones[bone].length) if bone else 0.0


def _fail() -> None:
    """Report the error, and stop drawing to avoid repeated errors."""
    traceback.print_exc()
    _forget()
    _state.failed = True


def _forget() -> None:
    global _state
    _state = _State()


def _redraw() -> None:
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


@handlers.persistent
def _on_update(_scene: bpy.types.Scene, depsgraph: Any) -> None:
    """Mark the paths whose dependencies have changed."""
    _state.inputs = Fingerprints()
    if not _state.kept and _state.sampler is None and not _state.unseen:
        return
    changed = {
        update.id.original.session_uid
        for update in depsgraph.updates
        if update.is_updated_transform or update.is_updated_geometry or isinstance(update.id, bpy.types.Action)
    }
    if not changed:
        return
    _state.cameras.mark_stale(changed)
    # Fingerprints do not cover other kinds of data.
    others = {
        update.id.original.session_uid
        for update in depsgraph.updates
        if not isinstance(update.id, bpy.types.Object | bpy.types.Armature | bpy.types.Action | bpy.types.Scene)
    }
    for number, (wanted, kept) in enumerate(reversed(_state.kept.items())):
        if not changed.isdisjoint(kept.read):
            kept.stale = True
            if not others.isdisjoint(kept.read):
                kept.inputs = None
            if number < _state.drawn:
                _want(wanted)
    if _state.sampler is not None and not changed.isdisjoint(_state.sampler.read):
        _state.sampler = None


@handlers.persistent
def _on_undo(_scene: bpy.types.Scene, _depsgraph: object = None) -> None:
    """Mark all paths as changed, because any data may have changed."""
    for kept in _state.kept.values():
        kept.stale = True
    _state.inputs = Fingerprints()
    _state.cameras.mark_stale()
    _state.sampler = None
    _redraw()


@handlers.persistent
def _on_load(_path: str, _depsgraph: object = None) -> None:
    _forget()


_HANDLERS: tuple[tuple[Any, Any], ...] = (
    (bpy.app.handlers.depsgraph_update_post, _on_update),
    (bpy.app.handlers.undo_post, _on_undo),
    (bpy.app.handlers.redo_post, _on_undo),
    (bpy.app.handlers.load_post, _on_load),
)


def switched(is_on: bool) -> None:
    """Redraw after a change to a setting. Clear the paths if they are off."""
    _state.failed = False
    if not is_on:
        _forget()
    _redraw()


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
    _forget()
    _redraw()
