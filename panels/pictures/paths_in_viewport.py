# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths in the 3D Viewport: which paths it shows, and their drawing with the highlighted element and frame numbers.

A viewport shows paths of the selected objects or bones if paths are turned on or the tool that edits them is active.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...animation.fcurves.keyframes import SAME_FRAME
from ...animation.sampling.cameras import cameras_of, view_now
from ...animation.text import iface_
from ...ui.scene import defaults_of
from . import path_cache
from .draw_paths import PATH_COLOR, Color, PathBatches, PathStyle, draw, draw_numbers
from .path_cache import CachedPath, Request
from .path_geometry import Path, Trace
from .path_pick import DrawnPath, Picked, on_screen, picked_position

TOOL = "tcb.path_tool"
"""Identifier of the tool that edits paths. Paths are visible while the tool is active."""
_MAX_FRAMES = 20_000
"""Maximum number of frames of a path."""


def drawn_paths(context: bpy.types.Context) -> list[DrawnPath]:
    """Return the last computed paths in the context's viewport."""
    if path_cache.state.has_failed or not draws_paths(context):
        return []
    frame_range, camera_to_world = drawn_range(context.scene), view_now(context.scene)
    drawn = []
    for request, (obj, bone) in shown_objects(context).items():
        cached = path_cache.state.paths.get(request)
        if cached is not None:
            _, trace = request
            path = cached.path if frame_range is None else cached.path.within(*frame_range)
            drawn.append(DrawnPath(obj, bone, trace, path, None if path.views is None else camera_to_world))
    return drawn


def shown_objects(context: bpy.types.Context) -> dict[Request, tuple[Any, str]]:
    """Return the selected bones, or the visible selected objects, whose paths this viewport draws."""
    if context.mode == "POSE":
        bones = (*(context.selected_pose_bones or ()), context.active_pose_bone)
        items = [(bone.id_data, bone.name) for bone in bones if bone is not None]
    else:
        items = [(obj, "") for obj in context.selected_objects]
        active_object: Any = context.view_layer and context.view_layer.objects.active
        if active_object is not None and active_object.visible_get(viewport=context.space_data):
            items.append((active_object, ""))
    trace = trace_of(context.scene)
    return {((obj.session_uid, bone), trace): (obj, bone) for obj, bone in items}


def draws_paths(context: Any) -> bool:
    """Return whether the viewport draws overlays, and paths are turned on or the tool that edits paths is active."""
    return bool(context.space_data.overlay.show_overlays) and are_turned_on(context)


def are_turned_on(context: Any) -> bool:
    """Return whether paths are turned on in the tab, or the tool that edits paths is active."""
    return bool(context.window_manager.tcb_show_paths) or is_tool_active(context)


def is_tool_active(context: bpy.types.Context) -> bool:
    """Return whether the tool that edits paths is active."""
    workspace = context.workspace
    tool = workspace.tools.from_space_view3d_mode(context.mode, create=False) if workspace is not None else None
    return tool is not None and tool.idname == TOOL


def trace_of(scene: Any) -> Trace:
    """Return the followed point and the frames of the scene's paths."""
    settings = scene.tcb_paths
    start, end = _playback_range(scene)
    end = min(end, start + _MAX_FRAMES - 1)
    cameras = cameras_of(scene) if settings.space == "CAMERA" else ()
    defaults = tuple(defaults_of(scene).items())
    return Trace(settings.point, settings.axis, settings.length, start, end, cameras, defaults)


def _playback_range(scene: Any) -> tuple[int, int]:
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def drawn_range(scene: Any) -> tuple[int, int] | None:
    """Return the first and last frames to draw, or None for all."""
    settings = scene.tcb_paths
    if not settings.around:
        return None
    return scene.frame_current - settings.before, scene.frame_current + settings.after


def status(context: bpy.types.Context) -> str:
    """Return the note on the paths, or an empty string."""
    if path_cache.state.has_failed:
        return iface_("Paths cannot be drawn. See the system console")
    text = path_cache.state.stepping_text({owner for owner, _ in shown_objects(context)})
    if text:
        return text
    if _playback_range(context.scene)[1] > trace_of(context.scene).end:
        return iface_("Paths end after {:d} frames", _MAX_FRAMES)
    return ""


_hovered: Picked | None = None
"""The element that is under the mouse or is being dragged."""
_FAINT = 0.45
"""Opacity factor of paths other than the active path."""
_NUMBER_SIZE = (26.0, 12.0)
"""Width and height of a frame number with its margin, in pixels at a display scale of 1."""


def draw_viewport() -> None:
    """Draw the paths of a viewport. Blender calls this for each viewport."""
    if path_cache.state.has_failed:
        return
    try:
        _draw_paths(bpy.context)
    except Exception:
        path_cache.fail()


def _draw_paths(context: bpy.types.Context) -> None:
    if not draws_paths(context):
        return
    scene: Any = context.scene
    settings = scene.tcb_paths
    playhead = scene.frame_current if settings.playhead else None
    shown = shown_objects(context)
    paths = path_cache.update(shown)
    for request, cached in paths.items():
        obj, bone = shown[request]
        is_faint = len(shown) > 1 and not _is_active(context, obj, bone)
        color = path_color(context, obj, bone, is_faint)
        style = PathStyle(settings.by_speed, color, drawn_range(scene), playhead)
        if cached.batches is None or cached.batches.style != style:
            cached.batches = PathBatches(cached.path, style)
    _draw_space(context, paths, None)
    _draw_space(context, paths, view_now(scene))


def _draw_space(
    context: Any,
    paths: Mapping[Request, CachedPath],
    camera_to_world: npt.NDArray[np.float64] | None,
) -> None:
    """Draw the paths in camera space, whose matrix is given, or the paths in world space if there is no matrix."""
    highlight = None
    batches = []
    for (owner, _), cached in paths.items():
        if (cached.path.views is None) != (camera_to_world is None):
            continue
        assert cached.batches is not None
        batches.append(cached.batches)
        if _hovered is not None and _hovered.owner == owner and is_tool_active(context):
            highlight = _highlighted_position(cached.path, _hovered)
    draw(
        batches,
        frames=context.scene.tcb_paths.frames,
        tangents=context.scene.tcb_paths.tangents,
        highlight=highlight,
        camera_to_world=camera_to_world,
    )


def _highlighted_position(path: Path, hovered: Picked) -> npt.NDArray[np.float64] | None:
    rows = np.flatnonzero(np.abs(path.frames - hovered.frame) < SAME_FRAME)
    if hovered.row is None or not len(rows):
        return None
    return picked_position(path, hovered._replace(row=int(rows[0])))


def hover(picked: Picked | None) -> bool:
    """Highlight the element under the mouse, and return whether this element has changed."""
    global _hovered
    before, _hovered = _hovered, picked
    return before != picked


def _is_active(context: bpy.types.Context, obj: bpy.types.Object, bone: str) -> bool:
    if context.mode != "POSE":
        return bool(obj == (context.view_layer and context.view_layer.objects.active))
    active_bone = context.active_pose_bone
    return active_bone is not None and (active_bone.id_data, active_bone.name) == (obj, bone)


def path_color(context: bpy.types.Context, obj: Any, bone: str, is_faint: bool) -> Color:
    """Return the color of a path, or the bone's color if that is set. `is_faint` reduces the opacity."""
    red, green, blue, alpha = PATH_COLOR
    for owner in (obj.pose.bones[bone], obj.data.bones[bone]) if bone else ():
        if owner.color.palette == "CUSTOM":
            red, green, blue = owner.color.custom.normal
            break
        if owner.color.palette != "DEFAULT":
            themes: Any = context.preferences and context.preferences.themes
            # Palettes are named THEME01, THEME02 and so on.
            red, green, blue = themes[0].bone_color_sets[int(owner.color.palette[-2:]) - 1].normal
            break
    return red, green, blue, alpha * (_FAINT if is_faint else 1.0)


def draw_labels() -> None:
    """Draw frame numbers next to keys. Blender calls this for each viewport. Coordinates are in pixels."""
    context = bpy.context
    scene: Any = context.scene
    if path_cache.state.has_failed or not scene.tcb_paths.numbers:
        return
    try:
        preferences: Any = context.preferences
        numbers = NumbersOnScreen(preferences.system.ui_scale)
        for drawn in drawn_paths(context):
            _draw_numbers(context, drawn, scene.tcb_paths.every, numbers)
    except Exception:
        path_cache.fail()


class NumbersOnScreen:
    """The positions of frame numbers that do not overlap."""

    def __init__(self, display_scale: float) -> None:
        self._size = np.multiply(_NUMBER_SIZE, display_scale)
        self._positions: dict[tuple[int, int], tuple[float, float]] = {}
        """Positions by cell of a grid. Cells are as large as a number, so a cell has at most one position."""

    def add(self, positions: npt.NDArray[np.float64]) -> list[int]:
        """Add positions, shape (n, 2), at which a number has room, and return their rows. NaN is skipped."""
        rows = np.flatnonzero(~np.isnan(positions).any(axis=1))
        in_units = positions[rows] / self._size
        return [row for row, (x, y) in zip(rows.tolist(), in_units.tolist(), strict=True) if self._add(x, y)]

    def _add(self, x: float, y: float) -> bool:
        """Add a position, in sizes of a number, and return whether there was room for a number."""
        column, line = math.floor(x), math.floor(y)
        for cell in product(range(column - 1, column + 2), range(line - 1, line + 2)):
            if cell in self._positions:
                other_x, other_y = self._positions[cell]
                if abs(x - other_x) < 1.0 and abs(y - other_y) < 1.0:
                    return False
        self._positions[column, line] = x, y
        return True


def _draw_numbers(context: Any, drawn: DrawnPath, step: int, numbers: NumbersOnScreen) -> None:
    size = context.region.width, context.region.height
    path, path_to_screen = drawn.path, drawn.screen_matrix(context.region_data.perspective_matrix)
    frames_between = path.frames_every(step)
    for points, frames, is_key in (
        (path.keys, path.frames, True),
        (path.points[frames_between - path.start], frames_between, False),
    ):
        positions = on_screen(points, path_to_screen, size)
        rows = numbers.add(positions)
        draw_numbers(positions[rows], frames[rows], is_key)


def on_change(_settings: Any, context: bpy.types.Context) -> None:
    """Redraw after a change to a setting. Clear the paths if they are off."""
    path_cache.state.has_failed = False
    if not are_turned_on(context):
        hover(None)
        path_cache.clear()
    path_cache.redraw_viewports()
