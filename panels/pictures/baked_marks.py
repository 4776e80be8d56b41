# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks of baked tracks: diamonds around the animator's own keys, and text in the editors.

The Graph Editor draws all keys alike. Blender shows no lock in the viewport, and does not explain in the editors that
locked keys cannot move. The text is visible while a baked object or bone is selected. After an attempt to edit, it
temporarily shows the message about this attempt.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import blf
import bpy
import gpu
import numpy as np
import numpy.typing as npt
from gpu_extras.batch import batch_for_shader

from ...animation.edit.track_keys import users_of_fcurves
from ...animation.fcurves.keyframes import KEY_TYPE
from ...animation.fcurves.read_and_write import read_coordinates, read_types
from ...animation.scene_time import scene_frame
from ...animation.store.table.custom_property import has_baked_tracks
from ...animation.text import rpt_
from ...ui import selection
from ...ui.live import attempts_to_edit_baked
from .diagram import KEY_COLOR

_RADIUS = 5.0
"""Size of a diamond, in pixels at a display scale of 1."""


def draw_own_keys() -> None:
    """Draw a diamond around each of the animator's keys. Blender calls this for each Graph Editor."""
    context: Any = bpy.context
    space = context.space_data
    # Normalized values differ from the stored values.
    if space.mode != "FCURVES" or space.use_normalization:
        return
    positions = own_positions(context.visible_fcurves or (), context)
    if not len(positions):
        return
    to_region = context.region.view2d.view_to_region
    centers = np.array([to_region(*position, clip=False) for position in positions.tolist()], dtype=np.float32)
    radius = _RADIUS * context.preferences.system.ui_scale
    corners = np.array(((-1, 0), (0, 1), (1, 0), (0, -1)), dtype=np.float32) * radius
    edges = corners[[[0, 1], [1, 2], [2, 3], [3, 0]]]
    # Shape (keys, 4 edges, 2 ends, 2 coordinates).
    line_ends = centers[:, np.newaxis, np.newaxis] + edges
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    shader.bind()
    shader.uniform_float("color", KEY_COLOR)
    batch_for_shader(shader, "LINES", {"pos": line_ends.reshape(-1, 2)}).draw(shader)


def own_positions(fcurves: Iterable[Any], context: Any) -> npt.NDArray[np.float64]:
    """Return the displayed frames and values of the animator's keys on baked curves, shape (n, 2).

    Frames are in scene time, and values are in units of the Graph Editor, such as degrees.
    """
    positions_by_curve = [np.empty((0, 2))]
    for datablock, channels, pointers in users_of_fcurves(fcurve for fcurve in fcurves if fcurve.lock):
        if not has_baked_tracks(channels.action):
            continue
        for fcurve in channels:
            if fcurve.as_pointer() not in pointers:
                continue
            is_own = read_types(fcurve) != KEY_TYPE["GENERATED"]
            positions = read_coordinates(fcurve).reshape(-1, 2).astype(np.float64)[is_own]
            positions[:, 0] = [scene_frame(datablock, frame) for frame in positions[:, 0].tolist()]
            is_angle = fcurve.data_path.endswith(("rotation_euler", "delta_rotation_euler"))
            if is_angle and context.scene.unit_settings.system_rotation == "DEGREES":
                positions[:, 1] *= 180.0 / math.pi
            positions_by_curve.append(positions)
    return np.concatenate(positions_by_curve)


_FONT_SIZE = 11.0
"""Font size in points, equal to Blender's own viewport text."""
_MARGIN = 20.0
"""Offset from the bottom left corner, in pixels at a display scale of 1."""


def draw_text() -> None:
    """Draw the text if the editor shows text. Blender calls this for each editor."""
    context = bpy.context
    if not _shows_text(context.space_data):
        return
    text = attempts_to_edit_baked.text()
    if not text and selection.any_baked(context):
        text = rpt_("Baked: edit in the TCB tab, or Free Bake")
    if not text:
        return
    preferences: Any = context.preferences
    theme = preferences.themes[0].view_3d.space.text_hi
    scale = preferences.system.ui_scale
    x, y = _corner(context.area, context.region)
    blf.size(0, _FONT_SIZE * scale)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 5, 0.0, 0.0, 0.0, 0.8)
    blf.color(0, theme[0], theme[1], theme[2], 1.0)
    blf.position(0, x + _MARGIN * scale, y + _MARGIN * scale, 0.0)
    blf.draw(0, text)
    blf.disable(0, blf.SHADOW)


def _shows_text(space: Any) -> bool:
    if space.type == "VIEW_3D":
        return bool(space.overlay.show_overlays and space.overlay.show_text)
    # A timeline has no room for text.
    return getattr(space, "mode", "") != "TIMELINE"


def _corner(area: Any, region: Any) -> tuple[int, int]:
    """Return the bottom left corner of the visible part of a region, in pixels of the region."""
    x = y = 0
    # Regions with one pixel are hidden.
    for covering in area.regions:
        if covering.type == "TOOLS" and covering.x == region.x and covering.width > 1:
            x = max(x, covering.width)
        if covering.type in ("ASSET_SHELF", "ASSET_SHELF_HEADER", "HUD") and covering.height > 1:
            y = max(y, covering.y + covering.height - region.y)
    return x, y
