# SPDX-License-Identifier: GPL-3.0-or-later
"""The conversion between the space of a node in a 3D Studio file and the space of its object in Blender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..animation.fcurves.keyframes import Float64Array
from ..interp import rotations
from .conversion import Conversion


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
