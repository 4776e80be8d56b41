# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrices in Blender, and differences between them."""

from __future__ import annotations

import bpy
import numpy as np


def world(name: str, frame: float | None = None) -> np.ndarray:
    if frame is not None:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    item = bpy.data.objects[name]
    return np.array(item.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)


def apart(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference between two matrices.

    Locations are divided by their distance from the origin if it is more than 1.
    """
    turn = np.abs(found[:3, :3] - expected[:3, :3]).max()
    place = np.abs(found[:3, 3] - expected[:3, 3]).max() / max(1.0, np.linalg.norm(expected[:3, 3]))
    return float(max(turn, place))
