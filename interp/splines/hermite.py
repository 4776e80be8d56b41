# SPDX-License-Identifier: GPL-3.0-or-later
"""Hermite's splines: cubics through keys with given velocities.

Source: docs/formulas, "Hermite with given velocities" and "Cubics of rotation vectors".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..base_splines import ComponentSpline
from ..batch import Continuity, Cycle, KeyBatch, Method
from ..cubics import Cubics
from ..keys import Float64Array, Keys, checked_velocities
from ..messages import n_
from ..rotations.orientations import Path
from ..rotations.rotation_vectors import RotationVectors, TurningSpline


class VectorSpline(ComponentSpline):
    """A track of numbers with given velocities at its keys.

    Parameters
    ----------
    keys, cycle
        As for `components.ComponentSpline`; a loop is smooth across the seam if its first and last key have the same
        velocity.
    velocities : array_like, shape (n, d), or (n,) for one component, or None
        A frame. None: at rest at each key.

    Raises
    ------
    KeysError
        For velocities that are not finite or not one row per key.

    Notes
    -----
    The error is below 1e-13 times the track's largest value, or velocity times a segment's length; key values are met
    exactly.
    """

    continuity: Continuity = "C1"
    support = 1
    is_cubic = True
    velocities: Float64Array

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE", velocities: npt.ArrayLike | None = None) -> None:
        super().__init__(keys, cycle)
        self._set(velocities=checked_velocities(keys, velocities, keys.values.shape[1]))

    @classmethod
    def curve(cls, splines: Sequence[VectorSpline], tracks: KeyBatch) -> Cubics:
        """Return the segments of all splines."""
        velocities = np.concatenate([spline.velocities for spline in splines]).T
        return Cubics.through(tracks, np.ascontiguousarray(tracks.values.T), np.ascontiguousarray(velocities))


class RotationSpline(TurningSpline):
    """A track of rotations with given angular velocities at its keys.

    Parameters
    ----------
    keys, cycle, path
        As for `rotation_vectors.TurningSpline`. A loop is smooth across the seam, as in `VectorSpline`.
    velocities : array_like, shape (n, 3), or None
        Angular velocities in the parent's frame, in radians per frame. None: at rest at each key.

    Raises
    ------
    KeysError
        As `rotation_vectors.TurningSpline` does, and for velocities that are not finite or not one row per key.

    Notes
    -----
    At the keys the motion has these angular velocities. Holden takes the velocity at a segment's end for the derivative
    of its rotation vector, which is right about one axis only. Errors are as in `catmull_rom.RotationSpline`.
    """

    continuity: Continuity = "C1"
    support = 1
    velocities: Float64Array

    def __init__(
        self,
        keys: Keys,
        cycle: Cycle = "SINGLE",
        path: Path = "SHORTEST",
        velocities: npt.ArrayLike | None = None,
    ) -> None:
        super().__init__(keys, cycle, path)
        self._set(velocities=checked_velocities(keys, velocities, 3))

    @classmethod
    def curve(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> RotationVectors:
        """Return the segments of all splines."""
        velocities = np.concatenate([spline.velocities for spline in splines]).T
        return RotationVectors.through_keys(cls.turns(splines, tracks), tracks, np.ascontiguousarray(velocities))


METHOD = Method(
    "HERMITE",
    n_("Hermite"),
    n_("Velocity of each key, or rest at keys without one"),
    VectorSpline,
    RotationSpline,
    value_options=("velocities",),
    rotation_options=("path", "velocities"),
)
