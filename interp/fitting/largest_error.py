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
    # Chords keep the digits of small angles, which a dot product loses.
    difference, total = sphere.length(q - exact), sphere.length(q + exact)
    angles: Float64Array = 4.0 * np.arctan2(np.minimum(difference, total), np.maximum(difference, total))
    return angles


def highest_peaks(errors: Float64Array, count: int) -> IndexArray:
    """Return the indices (c, count, N) of the highest peaks of errors (c, m, N), repeating the first if needed."""
    before, after = (np.zeros_like(errors) for _ in range(2))
    before[:, 1:], after[:, :-1] = errors[:, :-1], errors[:, 1:]
    peaks = np.where((errors >= before) & (errors > after), errors, -1.0)
    rows = [errors.argmax(axis=1)[:, np.newaxis]]
    for _ in range(count - 1):
        np.put_along_axis(peaks, rows[-1], -1.0, axis=1)
        next_row = peaks.argmax(axis=1)[:, np.newaxis]
        rows.append(np.where(np.take_along_axis(peaks, next_row, axis=1) > 0.0, next_row, rows[0]))
    return np.concatenate(rows, axis=1)


def maxima(errors: Float64Array, parameters: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the maxima (c, N) of parabolas through errors (c, m, N) at parameters (m,), and the parameters there."""
    row = np.argmax(errors, axis=1)[:, np.newaxis]
    inner = np.clip(row, 1, len(parameters) - 2)
    before, largest, after = (np.take_along_axis(errors, inner + step, axis=1)[:, 0] for step in (-1, 0, 1))
    at_row = np.take_along_axis(errors, row, axis=1)[:, 0]
    row, inner = row[:, 0], inner[:, 0]
    # At the first and last sample, the sample itself is the maximum.
    is_inner = row == inner
    slope, curvature = parabola(parameters, inner, before, largest, after)
    ahead = np.divide(slope, 2.0 * curvature, out=np.zeros_like(slope), where=(curvature > 0.0) & is_inner)
    return np.where(is_inner, largest + 0.5 * slope * ahead, at_row), parameters[row] + ahead


def parabola(
    parameters: Float64Array, middle: IndexArray, before: Float64Array, largest: Float64Array, after: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the slope and curvature of parabolas through the largest sample and its neighbors.

    Parameters
    ----------
    parameters : ndarray, shape (m,)
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
    rise, fall = parameters[middle] - parameters[middle - 1], parameters[middle + 1] - parameters[middle]
    up, down = (largest - before) / rise, (after - largest) / fall
    return (up * fall + down * rise) / (rise + fall), (up - down) / (rise + fall)
