# SPDX-License-Identifier: GPL-3.0-or-later
"""The mouse in a 3D Viewport with paths: the element under it, and its position during a drag."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector as BlenderVector

from ...animation.on_path.path_keys import Vector
from ...animation.sampling.cameras import View, view_now
from . import paths_in_viewport
from .path_geometry import transformed
from .path_pick import DrawnPath, Picked, pick


class InViewport:
    """Base class for operators on paths in a 3D Viewport."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.area is not None and context.area.type == "VIEW_3D" and context.mode in {"OBJECT", "POSE"}


_last_move: tuple[int, tuple[int, int]] | None = None
"""Last position of the mouse: pointer to the region, and pixels in the region."""


def record_mouse(context: bpy.types.Context, event: bpy.types.Event) -> None:
    """Record the position of the mouse."""
    global _last_move
    region = context.region
    position = event.mouse_region_x, event.mouse_region_y
    _last_move = (region.as_pointer(), position) if region is not None else None


def pressed_at(context: bpy.types.Context, event: bpy.types.Event) -> tuple[int, int]:
    """Return the position of a mouse press, in pixels of the region.

    If the mouse is faster than the redraw, Blender's event contains a later position. The last mouse move was at the
    position of the press.
    """
    has_moved_on = (event.mouse_prev_x, event.mouse_prev_y) != (event.mouse_x, event.mouse_y)
    region = context.region.as_pointer() if context.region is not None else None
    if has_moved_on and _last_move is not None and _last_move[0] == region:
        return _last_move[1]
    return event.mouse_region_x, event.mouse_region_y


def under_mouse(context: bpy.types.Context, mouse: tuple[int, int]) -> tuple[Picked, DrawnPath] | None:
    """Return the path element at the mouse position, in pixels of the region, and its path."""
    region, view = context.region, context.region_data
    preferences: Any = context.preferences
    if region is None or view is None or region.type != "WINDOW":
        return None
    size = region.width, region.height
    return pick(
        paths_in_viewport.drawn_paths(context),
        np.array(view.perspective_matrix),
        size,
        mouse,
        preferences.system.ui_scale,
    )


_STILL = 3.0
"""Maximum mouse movement of a click, in pixels at a display scale of 1. A longer movement is a drag."""
_MIN_SQUARED_SINE = 1e-6
"""Minimum squared sine of the angle between an axis and the view ray. The mouse cannot move points on other axes."""
AXES = "XYZ"
MODIFIERS = frozenset(("LEFT_CTRL", "RIGHT_CTRL", "LEFT_SHIFT", "RIGHT_SHIFT"))
"""Event types of the keys that change a drag."""


class Pointer:
    """The mouse during the drag of a key or tangent, with typed numbers and modifier keys.

    Positions and directions are in world space at the key's frame. Paths in camera space are drawn elsewhere.
    """

    def __init__(self, context: Any, start: tuple[int, int], drawn: DrawnPath, row: int) -> None:
        """Start at a position in pixels of the region. `row`: row of the key on the path."""
        self._scene = context.scene
        self._is_in_camera_space = drawn.path_to_world is not None
        self.path_to_world: View = drawn.world_at(row)
        """Matrix from the path's space to world space at the key's frame, shape (4, 4)."""
        self.region: Any = context.region
        self.view: Any = context.region_data
        self._still = _STILL * context.preferences.system.ui_scale
        self._start = start
        self.position = start
        self.axis = ""
        """World axis of the drag: "X", "Y", "Z", or "" for none."""
        self.typed = ""
        self.is_shift_held = self.is_ctrl_held = False
        self._key_released_at: tuple[int, int] | None = None

    def read_modifiers(self, event: bpy.types.Event) -> None:
        """Read Shift and Ctrl from the event.

        The mouse button is often released just after the key. A release therefore takes effect when the mouse moves on.
        """
        if event.type in MODIFIERS:
            self._key_released_at = self.position if event.value == "RELEASE" else None
        if self._key_released_at is None or self._is_beyond(self._key_released_at):
            self._key_released_at = None
            self.is_shift_held, self.is_ctrl_held = event.shift, event.ctrl

    def move(self, event: bpy.types.Event) -> None:
        # If the mouse has left the region, the event belongs to another region.
        self.position = (event.mouse_x - self.region.x, event.mouse_y - self.region.y)

    @property
    def is_still(self) -> bool:
        """Return whether the mouse has moved so little that a release would be a click."""
        return not self._is_beyond(self._start)

    def _is_beyond(self, position: tuple[int, int]) -> bool:
        """Return whether the mouse is farther from the position than a click may move."""
        return bool(np.abs(np.subtract(self.position, position)).max() >= self._still)

    @property
    def number(self) -> float | None:
        """Return the typed number."""
        try:
            return float(self.typed)
        except ValueError:
            return None

    @property
    def world_to_drawn(self) -> View:
        """Return the matrix from world space at the key's frame to the drawn position, shape (4, 4)."""
        if not self._is_in_camera_space:
            return np.eye(4)
        drawn: View = view_now(self._scene) @ np.linalg.inv(self.path_to_world)
        return drawn

    def ray(self) -> tuple[Vector, Vector]:
        """Return the origin and the direction of the ray under the mouse."""
        origin = np.array(view3d_utils.region_2d_to_origin_3d(self.region, self.view, self.position))
        direction = np.array(view3d_utils.region_2d_to_vector_3d(self.region, self.view, self.position))
        drawn_to_world = np.linalg.inv(self.world_to_drawn).astype(np.float64)
        return transformed(drawn_to_world, origin), drawn_to_world[:3, :3] @ direction

    def point_near(self, position: Vector) -> Vector:
        """Return the point under the mouse, at the depth of the position or on the chosen axis through it."""
        return self._point_on_axis(position) if self.axis else self._point_at_depth(position)

    def _point_at_depth(self, position: Vector) -> Vector:
        world_to_drawn = self.world_to_drawn
        depth = BlenderVector(transformed(world_to_drawn, position).tolist())
        point = np.array(view3d_utils.region_2d_to_location_3d(self.region, self.view, self.position, depth))
        return transformed(np.linalg.inv(world_to_drawn).astype(np.float64), point)

    def _point_on_axis(self, position: Vector) -> Vector:
        """Return the point at the typed distance, or else the point of the axis closest to the ray."""
        along = np.eye(3)[AXES.index(self.axis)]
        distance = self.number
        if distance is None:
            origin, direction = self.ray()
            across = along - direction * float(along @ direction) / float(direction @ direction)
            square = float(across @ across)
            distance = float((origin - position) @ across) / square if square > _MIN_SQUARED_SINE else 0.0
        point: Vector = position + distance * along
        return point
