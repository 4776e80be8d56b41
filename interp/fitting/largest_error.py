# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the largest error of a fit from its samples."""

from __future__ import annotations

import numpy as np

from ..key_batch import IndexArray
from ..keys import Float64Array
from ..rotations import sphere
from ..rotations.representations import RotationRepresentation


def angles_apart(representation: RotationRepresentation, channels: Float64Array, exact: Float64Array) -> Float64Array:
    """Return the angles between the orientations of channel values (c, …) and unit quaternions (4, …)."""
    q = representation.orientation(channels)
    q = q / sphere.length(q)
    apart, along = sphere.length(q - exact), sphere.length(q + exact)
    angles: Float64Array = 4.0 * np.arctan2(np.minimum(apart, along), np.maximum(apart, along))
    return angles


def parabola(
    places: Float64Array, middle: IndexArray, before: Float64Array, largest: Float64Array, after: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the slope and curvature of parabolas through the largest sample and its neighbors.

    Parameters
    ----------
    places : ndarray, shape (m,)
        Parameters of the samples, in ascending order.
    middle : ndarray of int, shape (n,)
        The index of the largest sample.
    before, largest, after : ndarray, shape (n,)
        The values at that sample and its neighbors.

    Notes
    -----
    The maximum of a parabola is slope / (2 curvature) after the middle, and slope² / (4 curvature) above the middle
    value.
    """
    rise, fall = places[middle] - places[middle - 1], places[middle + 1] - places[middle]
    up, down = (largest - before) / rise, (after - largest) / fall
    return (up * fall + down * rise) / (rise + fall), (up - down) / (rise + fall)
