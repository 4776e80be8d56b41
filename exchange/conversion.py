# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert units, axes, frames, and the angles of cameras and lights between a 3D Studio file and the scene.

Source: docs/formulas, "Numbers of 3D Studio files" and "Nodes of 3D Studio files".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import bpy
import numpy as np
import numpy.typing as npt
from bpy_extras.io_utils import axis_conversion

from ..animation import scene_time
from ..animation.arguments import Positive, checked
from ..animation.fcurves.keyframes import LAST_FRAME, Float64Array
from ..animation.text import rpt_
from ..interp import rotations

# Lengths, axes and frames


WATTS = 1000.0
"""The power of a light with multiplier 1. Blender's own importer sets this power, because 3D Studio lights do not fade
with distance."""
_FLOAT32 = 1e-6
"""Relative tolerance, because Blender's properties round values to float32."""


@dataclass(frozen=True)
class Conversion:
    """The conversion of lengths, axes and frames from a file to the scene."""

    axes: Float64Array = field(default_factory=lambda: np.eye(3))
    """The rotation by quarter turns from the file's axes to Blender's, shape (3, 3). Usually the identity, because Z is
    up in both."""
    scale: float = 1.0
    """Blender units per file unit."""
    start: float = 0.0
    """The scene frame of the file's frame 0."""
    stretch: float = 1.0
    """Scene frames per file frame."""

    def frames(self, frames: npt.ArrayLike) -> Float64Array:
        """Convert file frames to scene frames."""
        return self.start + np.asarray(frames, dtype=np.float64) * self.stretch

    def frames_in_file(self, frames: npt.ArrayLike) -> Float64Array:
        """Convert scene frames to file frames."""
        return (np.asarray(frames, dtype=np.float64) - self.start) / self.stretch

    def is_like(self, other: Conversion) -> bool:
        """Check whether another conversion is equal."""
        mine, others = ((conversion.scale, conversion.start, conversion.stretch) for conversion in (self, other))
        return bool((self.axes == other.axes).all()) and np.allclose(mine, others, rtol=_FLOAT32)

    @property
    def keeps_axes(self) -> bool:
        return bool((self.axes == np.eye(3)).all())

    @property
    def keeps_up(self) -> bool:
        """Return whether Z, the up axis of 3D Studio's cameras, is preserved."""
        return bool(self.axes[2, 2] == 1.0)


@checked
def conversion_of(
    scene: bpy.types.Scene,
    axis_forward: str,
    axis_up: str,
    global_scale: Positive,
    frame_start: float,
    frame_rate: Positive | None,
) -> Conversion:
    """Return the conversion for the options of an import or export.

    The file's forward and up axes, X to -Z, become Blender's Y and Z. `frame_rate` is the file's frame rate if keys
    keep their times, or None if keys keep their frames. Raises ValueError, naming the option.
    """
    if axis_forward[-1] == axis_up[-1]:
        raise ValueError(rpt_("forward {:s} and up {:s} are parallel", axis_forward, axis_up))
    if abs(frame_start) > LAST_FRAME:
        raise ValueError(rpt_("frame_start {:g} is after Blender's last frame, {:,}", frame_start, LAST_FRAME))
    stretch = 1.0 if frame_rate is None else scene_time.frame_rate(scene) / frame_rate
    axes = np.array(axis_conversion(from_forward=axis_forward, from_up=axis_up), dtype=np.float64).round()
    return Conversion(axes, global_scale, frame_start, stretch)


@dataclass(frozen=True)
class NodeSpace:
    """The converted space of a node in the converted space of its parent.

    A node's matrix B in its parent's space becomes outer B inner^-1. `outer` and `inner` are the axes of the
    conversion. Both are the identity for nodes aimed at a target, because cameras and spotlights look along -Z both in
    Blender and in the file.
    """

    conversion: Conversion
    parent_is_aimed: bool = False
    is_aimed: bool = False

    @property
    def outer(self) -> Float64Array:
        return np.eye(3) if self.parent_is_aimed else self.conversion.axes

    @property
    def inner(self) -> Float64Array:
        return np.eye(3) if self.is_aimed else self.conversion.axes

    def positions(self, positions: npt.ArrayLike) -> Float64Array:
        """Convert positions (n, 3) in the parent's space."""
        return self.conversion.scale * np.asarray(positions, dtype=np.float64) @ self.outer.T

    def scales(self, scales: npt.ArrayLike) -> Float64Array:
        """Convert scale factors (n, 3) along the node's own axes."""
        return np.asarray(scales, dtype=np.float64) @ np.abs(self.inner).T

    def axes(self, axes: npt.ArrayLike) -> Float64Array:
        """Convert rotation axes (n, 3) in the parent's space."""
        return np.asarray(axes, dtype=np.float64) @ self.outer.T

    def rest_quaternion(self) -> Float64Array:
        """Return the quaternion of a node without rotation."""
        return rotations.from_matrix(self.outer @ self.inner.T)

    def points(self, points: npt.ArrayLike) -> Float64Array:
        """Convert points (n, 3) in the node's own space."""
        return self.conversion.scale * np.asarray(points, dtype=np.float64) @ self.inner.T

    def positions_in_file(self, positions: npt.ArrayLike) -> Float64Array:
        """Invert `positions`. The methods below invert `scales`, `axes` and `points`."""
        return np.asarray(positions, dtype=np.float64) @ self.outer / self.conversion.scale

    def scales_in_file(self, scales: npt.ArrayLike) -> Float64Array:
        return np.asarray(scales, dtype=np.float64) @ np.abs(self.inner)

    def axes_in_file(self, axes: npt.ArrayLike) -> Float64Array:
        return np.asarray(axes, dtype=np.float64) @ self.outer

    def points_in_file(self, points: npt.ArrayLike) -> Float64Array:
        return np.asarray(points, dtype=np.float64) @ self.inner / self.conversion.scale

    def rotations_in_file(self, quaternions: npt.ArrayLike) -> Float64Array:
        """Convert rotations (n, 4) of the node in its parent's space to the file."""
        outer, inner = rotations.from_matrix(self.outer), rotations.from_matrix(self.inner)
        in_outer = rotations.multiply(rotations.conjugate(outer), np.asarray(quaternions, dtype=np.float64))
        return rotations.multiply(in_outer, inner)


# Angles of cameras and lights


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
