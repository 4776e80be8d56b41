# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing of paths in the 3D Viewport, with the highlighted element and frame numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...animation.fcurves.frames import SAME_FRAME
from ...animation.sampling.camera_matrices import view_now
from . import path_cache, shown_paths
from .draw_paths import PATH_COLOR, Color, PathBatches, PathStyle, draw, draw_numbers
from .path_computation import CachedPath, Request
from .path_pick import DrawnPath, Picked, on_screen, picked_position
from .paths import Path

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
    path_cache.state.drawn_count = 0
    if not shown_paths.draws_paths(context):
        return
    shown = shown_paths.shown_objects(context)
    paths = path_cache.update(shown)
    for request, cached in paths.items():
        obj, bone = shown[request]
        is_faint = len(shown) > 1 and not _is_active(context, obj, bone)
        style = _style(context.scene, path_color(context, obj, bone, is_faint))
        if cached.batches is None or cached.batches.style != style:
            cached.batches = PathBatches(cached.path, style)
    _draw_space(context, paths, None)
    _draw_space(context, paths, view_now(context.scene))


def _style(scene: Any, color: Color) -> PathStyle:
    settings = scene.tcb_paths
    playhead = scene.frame_current if settings.playhead else None
    return PathStyle(settings.by_speed, color, shown_paths.drawn_range(scene), playhead)


def _draw_space(
    context: bpy.types.Context,
    paths: Mapping[Request, CachedPath],
    camera_to_world: npt.NDArray[np.float64] | None,
) -> None:
    """Draw the paths in camera space, whose matrix is given, or the paths in world space if there is no matrix."""
    scene: Any = context.scene
    highlight = None
    batches = []
    for (owner, _), cached in paths.items():
        if (cached.path.views is None) != (camera_to_world is None):
            continue
        assert cached.batches is not None
        batches.append(cached.batches)
        if _hovered is not None and _hovered.owner == owner and shown_paths.is_tool_active(context):
            highlight = _highlighted_position(cached.path, _hovered)
    draw(
        batches,
        frames=scene.tcb_paths.frames,
        tangents=scene.tcb_paths.tangents,
        highlight=highlight,
        camera_to_world=camera_to_world,
    )


def _highlighted_position(path: Path, hovered: Picked) -> npt.NDArray[np.float64] | None:
    """Return the position of the key or tangent end under the mouse, or None if it no longer exists."""
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
        for drawn in shown_paths.drawn_paths(context):
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


def _draw_numbers(context: bpy.types.Context, drawn: DrawnPath, step: int, numbers: NumbersOnScreen) -> None:
    """Draw the frame numbers of keys, and of multiples of the step between them, if there is room."""
    region: Any = context.region
    view: Any = context.region_data
    size = region.width, region.height
    path, path_to_screen = drawn.path, drawn.screen_matrix(view.perspective_matrix)
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
    if not shown_paths.are_turned_on(context):
        hover(None)
        path_cache.clear()
    path_cache.redraw_viewports()
