# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks around the animator's own keys on baked curves, because the Graph Editor draws all keys alike."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import bpy
import gpu
import numpy as np
import numpy.typing as npt
from gpu_extras.batch import batch_for_shader

from ...animation.fcurves.keyframes import KEY_TYPE
from ...animation.fcurves.read_keys import read_coordinates, read_types
from ...animation.store.table.custom_property import has_baked_tracks
from .diagram import KEY_COLOR

_RADIUS = 5.0
"""Size of a diamond, in pixels at a display scale of 1."""


def draw_own_keys() -> None:
    """Draw a diamond around each of the animator's keys. Blender calls this for each Graph Editor."""
    context: Any = bpy.context
    space = context.space_data
    obj = context.object
    in_strip = obj is not None and obj.animation_data is not None and obj.animation_data.use_tweak_mode
    # In these modes, the displayed values or frames differ from the stored values or frames.
    if space.mode != "FCURVES" or space.use_normalization or in_strip:
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
    """Return the displayed frames and values of the animator's keys on baked curves, shape (n, 2)."""
    positions_by_curve = [np.empty((0, 2))]
    for fcurve in fcurves:
        action = fcurve.id_data
        # F-curves of NLA strips belong to no action.
        if not isinstance(action, bpy.types.Action) or not (fcurve.lock and has_baked_tracks(action)):
            continue
        is_own = read_types(fcurve) != KEY_TYPE["GENERATED"]
        positions = read_coordinates(fcurve).reshape(-1, 2).astype(np.float64)[is_own]
        positions[:, 1] *= _unit_factor(fcurve, context)
        positions_by_curve.append(positions)
    return np.concatenate(positions_by_curve)


def _unit_factor(fcurve: Any, context: Any) -> float:
    """Return the factor that converts a value to its Graph Editor unit, such as degrees."""
    is_angle = fcurve.data_path.endswith(("rotation_euler", "delta_rotation_euler"))
    return 180.0 / math.pi if is_angle and context.scene.unit_settings.system_rotation == "DEGREES" else 1.0
