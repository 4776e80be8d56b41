# SPDX-License-Identifier: GPL-3.0-or-later
"""The largest errors of fits, found from errors at samples.

Arrays of errors (c, m, N) contain the errors of c channels, or of one rotation, at m samples of N segments.
"""

from __future__ import annotations

import numpy as np

from ..keys import Float64Array
from ..rotations import sphere
from ..rotations.representations import RotationRepresentation


def angles_apart(representation: RotationRepresentation, channels: Float64Array, exact: Float64Array) -> Float64Array:
    """Return the angles between the orientations of channel values (c, …) and unit quaternions (4, …)."""
    q = representation.orientation(channels)
    q = q / sphere.length(q)
    # Chords keep the digits of small angles, which a dot product loses.
    difference, total = sphere.length(q - exact), sphere.length(q + exact)
    angles: Float64Array = 4.0 * np.arctan2(np.minimum(difference, total), np.maximum(difference, total))
    return angles


def maxima(errors: Float64Array, parameters: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the maxima (c, N) of parabolas through errors (c, m, N) at parameters (m,), and the parameters there."""
    row = np.argmax(errors, axis=1)[:, np.newaxis]
    inner = np.clip(row, 1, len(parameters) - 2)
    before, largest, after = (np.take_along_axis(errors, inner + step, axis=1)[:, 0] for step in (-1, 0, 1))
    at_row = np.take_along_axis(errors, row, axis=1)[:, 0]
    row, inner = row[:, 0], inner[:, 0]
    # At the first and last sample, the sample itself is the maximum.
    is_inner = row == inner
    rise, fall = parameters[inner] - parameters[inner - 1], parameters[inner + 1] - parameters[inner]
    up, down = (largest - before) / rise, (after - largest) / fall
    slope, curvature = (up * fall + down * rise) / (rise + fall), (up - down) / (rise + fall)
    # The maximum of the parabola is slope / (2 curvature) after the largest error, and slope² / (4 curvature) above it.
    ahead = np.divide(slope, 2.0 * curvature, out=np.zeros_like(slope), where=(curvature > 0.0) & is_inner)
    return np.where(is_inner, largest + 0.5 * slope * ahead, at_row), parameters[row] + ahead
