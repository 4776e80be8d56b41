# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the units, axes and frames of a 3D Studio file to those of the scene, and back.

Source: docs/formulas, "Numbers of 3D Studio files".
"""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np
import numpy.typing as npt
from bpy_extras.io_utils import axis_conversion

from ..animation.arguments import Positive, checked
from ..animation.fcurves.frames import LAST_FRAME
from ..animation.fcurves.keyframes import Float64Array
from ..animation.translation import rpt_
from ..interp import rotations

_FLOAT32 = 1e-6
"""Blender's properties round what a person enters by less."""


@dataclass(frozen=True)
class Conversion:
    """Conversion of lengths, axes and frames of a file to those of the scene.

    Attributes
    ----------
    axes : ndarray, shape (3, 3)
        The rotation by quarter turns that takes the file's axes to Blender's; both have Z up, so the identity is usual.
    scale : float
        Blender units a unit of the file.
    start : float
        The frame that the file's frame 0 comes to.
    stretch : float
        Frames of the scene a frame of the file.
    """

    axes: Float64Array = field(default_factory=lambda: np.eye(3))
    scale: float = 1.0
    start: float = 0.0
    stretch: float = 1.0

    def frames(self, frames: npt.ArrayLike) -> Float64Array:
        return self.start + np.asarray(frames, dtype=np.float64) * self.stretch

    def in_file(self, frames: npt.ArrayLike) -> Float64Array:
        """Convert frames of the scene to the file's."""
        return (np.asarray(frames, dtype=np.float64) - self.start) / self.stretch

    def is_like(self, other: Conversion) -> bool:
        """Check whether the other converts in the same way."""
        mine, others = ((conversion.scale, conversion.start, conversion.stretch) for conversion in (self, other))
        return bool((self.axes == other.axes).all()) and np.allclose(mine, others, rtol=_FLOAT32)

    def places_in_file(self, places: npt.ArrayLike) -> Float64Array:
        """Convert positions (…, 3) in the scene to the file's."""
        return np.asarray(places, dtype=np.float64) @ self.axes / self.scale

    @property
    def keeps_axes(self) -> bool:
        return bool((self.axes == np.eye(3)).all())

    @property
    def keeps_up(self) -> bool:
        """True if Z, along which 3D Studio's cameras stand upright, stays Z."""
        return bool(self.axes[2, 2] == 1.0)


def axes_of(forward: str, up: str) -> Float64Array:
    """Return the rotation that takes these axes of a file, X to -Z, to Blender's Y and Z.

    Raises ValueError where both lie along one line.
    """
    if forward[-1] == up[-1]:
        raise ValueError(rpt_("forward {:s} and up {:s} lie along one line", forward, up))
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
    """Return the conversion that the options of an import or export ask for.

    `frame_rate` is that of the file where keys keep their time; None: they keep their frames. Raises ValueError, which
    names the option.
    """
    if abs(frame_start) > LAST_FRAME:
        raise ValueError(rpt_("frame_start {:g} is beyond Blender's last frame, {:,}", frame_start, LAST_FRAME))
    rate: float = scene.render.fps / scene.render.fps_base
    stretch = 1.0 if frame_rate is None else rate / frame_rate
    return Conversion(axes_of(axis_forward, axis_up), global_scale, frame_start, stretch)


@dataclass(frozen=True)
class Frame:
    """The converted space of a node, in the converted space of its parent.

    A node's matrix B in its parent's space becomes outer B inner^-1, where both are the conversion's axes or, for what
    is aimed at a target, none: Blender's cameras and spotlights look along their own -Z as those of the file do.
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
        """Return positions (n, 3) in the parent's space."""
        return self.conversion.scale * np.asarray(positions, dtype=np.float64) @ self.outer.T

    def scales(self, scales: npt.ArrayLike) -> Float64Array:
        """Return factors (n, 3) along the node's own axes."""
        return np.asarray(scales, dtype=np.float64) @ np.abs(self.inner).T

    def axes(self, axes: npt.ArrayLike) -> Float64Array:
        """Return axes of turns (n, 3) in the parent's space."""
        return np.asarray(axes, dtype=np.float64) @ self.outer.T

    def unturned(self) -> Float64Array:
        """Return the quaternion of a node without rotation."""
        return rotations.from_matrix(self.outer @ self.inner.T)

    def points(self, points: npt.ArrayLike) -> Float64Array:
        """Return points (n, 3) in the node's own space."""
        return self.conversion.scale * np.asarray(points, dtype=np.float64) @ self.inner.T

    def positions_in_file(self, positions: npt.ArrayLike) -> Float64Array:
        """Invert `positions`; the other methods `…_in_file` invert `scales`, `axes` and `points`."""
        return np.asarray(positions, dtype=np.float64) @ self.outer / self.conversion.scale

    def scales_in_file(self, scales: npt.ArrayLike) -> Float64Array:
        return np.asarray(scales, dtype=np.float64) @ np.abs(self.inner)

    def axes_in_file(self, axes: npt.ArrayLike) -> Float64Array:
        return np.asarray(axes, dtype=np.float64) @ self.outer

    def points_in_file(self, points: npt.ArrayLike) -> Float64Array:
        return np.asarray(points, dtype=np.float64) @ self.inner / self.conversion.scale

    def rotations_in_file(self, quaternions: npt.ArrayLike) -> Float64Array:
        """Return rotations (n, 4) of the node in its parent's space, as the file has them."""
        outer, inner = rotations.from_matrix(self.outer), rotations.from_matrix(self.inner)
        turned = rotations.multiply(rotations.conjugate(outer), np.asarray(quaternions, dtype=np.float64))
        return rotations.multiply(turned, inner)
