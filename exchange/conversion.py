# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert units, axes and frames between a 3D Studio file and the scene.

Source: docs/formulas, "Numbers of 3D Studio files" and "Nodes of 3D Studio files".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np
import numpy.typing as npt
from bpy_extras.io_utils import axis_conversion

from ..animation import scene_time
from ..animation.arguments import Positive, checked
from ..animation.fcurves.frames import LAST_FRAME
from ..animation.fcurves.keyframes import Float64Array
from ..animation.translation import rpt_

_FLOAT32 = 1e-6
"""Relative tolerance, because Blender's properties round values to float32."""


@dataclass(frozen=True)
class Conversion:
    """The conversion of lengths, axes and frames from a file to the scene.

    Attributes
    ----------
    axes : ndarray, shape (3, 3)
        The rotation by quarter turns from the file's axes to Blender's. Usually the identity, because Z is up in both.
    scale : float
        Blender units per file unit.
    start : float
        The scene frame of the file's frame 0.
    stretch : float
        Scene frames per file frame.
    """

    axes: Float64Array = field(default_factory=lambda: np.eye(3))
    scale: float = 1.0
    start: float = 0.0
    stretch: float = 1.0

    def frames(self, frames: npt.ArrayLike) -> Float64Array:
        """Convert file frames to scene frames."""
        return self.start + np.asarray(frames, dtype=np.float64) * self.stretch

    def frames_in_file(self, frames: npt.ArrayLike) -> Float64Array:
        """Convert scene frames to file frames."""
        return (np.asarray(frames, dtype=np.float64) - self.start) / self.stretch

    def is_like(self, other: Conversion) -> bool:
        """Check whether another conversion is equal."""
        numbers, other_numbers = (
            (conversion.scale, conversion.start, conversion.stretch) for conversion in (self, other)
        )
        return bool((self.axes == other.axes).all()) and np.allclose(numbers, other_numbers, rtol=_FLOAT32)

    def positions_in_file(self, positions: npt.ArrayLike) -> Float64Array:
        """Convert positions (…, 3) in the scene to positions in the file."""
        return np.asarray(positions, dtype=np.float64) @ self.axes / self.scale

    @property
    def keeps_axes(self) -> bool:
        return bool((self.axes == np.eye(3)).all())

    @property
    def keeps_up(self) -> bool:
        """Return whether Z, the up axis of 3D Studio's cameras, is preserved."""
        return bool(self.axes[2, 2] == 1.0)


def axes_of(forward: str, up: str) -> Float64Array:
    """Return the rotation from the file's forward and up axes, X to -Z, to Blender's Y and Z.

    Raises ValueError if they are parallel.
    """
    if forward[-1] == up[-1]:
        raise ValueError(rpt_("forward {:s} and up {:s} are parallel", forward, up))
    return np.array(axis_conversion(from_forward=forward, from_up=up), dtype=np.float64).round()


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

    `frame_rate` is the file's frame rate if keys keep their times, or None if keys keep their frames. Raises
    ValueError, naming the option.
    """
    if abs(frame_start) > LAST_FRAME:
        raise ValueError(rpt_("frame_start {:g} is after Blender's last frame, {:,}", frame_start, LAST_FRAME))
    stretch = 1.0 if frame_rate is None else scene_time.frame_rate(scene) / frame_rate
    return Conversion(axes_of(axis_forward, axis_up), global_scale, frame_start, stretch)
