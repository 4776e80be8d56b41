# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the angles of cameras and lights between a 3D Studio file and Blender.

Source: docs/formulas, "Numbers of 3D Studio files".
"""

from __future__ import annotations

import math

import bpy
import numpy as np
import numpy.typing as npt

from ..animation.fcurves.keyframes import Float64Array
from ..interp import rotations

DEGREES_MM = 2400.0
"""The product of a camera's field of view in degrees and its lens in mm in 3D Studio."""
_FOV_LIMITS = (0.01, 179.9)
"""Degrees. Lenses for other fields of view are beyond Blender's limits."""


def width_seen(camera: bpy.types.Camera, scene: bpy.types.Scene) -> float:
    """Return the visible sensor width in mm, which is smaller if the sensor is fitted to the image height."""
    render = scene.render
    width, height = render.resolution_x * render.pixel_aspect_x, render.resolution_y * render.pixel_aspect_y
    if camera.sensor_fit == "HORIZONTAL" or (camera.sensor_fit == "AUTO" and width >= height):
        return float(camera.sensor_width)
    fitted = camera.sensor_height if camera.sensor_fit == "VERTICAL" else camera.sensor_width
    return float(fitted * width / height)


def fov_of(lens: npt.ArrayLike, width: float) -> Float64Array:
    """Return the horizontal fields of view, in degrees, of focal lengths."""
    return np.degrees(2.0 * np.arctan(width / 2.0 / np.asarray(lens, dtype=np.float64)))


def lens_of(fov: float, width: float) -> float:
    """Return the focal length for a horizontal field of view in degrees, within Blender's limits."""
    lowest, highest = _FOV_LIMITS
    return width / 2.0 / math.tan(math.radians(min(max(fov, lowest), highest)) / 2.0)


def hotspot_of(blend: npt.ArrayLike, size: npt.ArrayLike) -> Float64Array:
    """Return the cone angles at which spotlights begin to fade, from blends and cone angles (sizes), in radians."""
    edge = np.cos(np.asarray(size, dtype=np.float64) / 2.0)
    return np.asarray(2.0 * np.arccos(np.clip(edge + np.asarray(blend) * (1.0 - edge), -1.0, 1.0)))


def blend_of(hotspot: float, size: float) -> float:
    """Return the blend for a cone of this size, in radians, with which the light begins to fade at the hotspot."""
    height = 1.0 - math.cos(size / 2.0)
    return (math.cos(hotspot / 2.0) - math.cos(size / 2.0)) / height if height else 0.0


def rolls_of(worlds: Float64Array) -> Float64Array:
    """Return the continuous roll angles, in radians, of axes (n, 3, 3) that look along their -Z."""
    right, back = (rotations.unit_vectors(worlds[:, :, column])[0] for column in (0, 2))
    level = np.cross([0.0, 0.0, 1.0], back)
    upright = np.cross(back, level)
    return np.unwrap(np.arctan2(np.einsum("ij,ij->i", right, upright), np.einsum("ij,ij->i", right, level)))
