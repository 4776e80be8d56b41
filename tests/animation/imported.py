# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes imported from glTF by Blender, and the motion of their F-curves."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from tests.animation.curves import fcurves

PLACES = np.arange(1.0, 100.0, 0.125)
"""The frames at which motion is compared."""
Values = dict[str, np.ndarray]


def imported(path: Path) -> dict[str, bpy.types.Object]:
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(path))
    return {each.name: each for each in bpy.data.objects}


def played(owner: bpy.types.Object) -> Values:
    """Return the values of an object's F-curves, with unit quaternions whose first component is positive."""
    data = owner.animation_data
    if data.action is None:
        strip = next(strip for track in data.nla_tracks for strip in track.strips)
        data.action = strip.action
        if hasattr(data, "action_slot"):
            data.action_slot = strip.action_slot
    values: dict[str, dict[int, list[float]]] = {}
    for curve in fcurves(owner):
        values.setdefault(curve.data_path, {})[curve.array_index] = [curve.evaluate(frame) for frame in PLACES]
    result = {}
    for path, columns in values.items():
        numbers = np.array([columns[index] for index in sorted(columns)])
        if path.endswith("quaternion"):
            numbers *= np.sign(numbers[0]) / np.linalg.norm(numbers, axis=0)
        result[path] = numbers
    return result
