# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit the keys inside windows of a few consecutive keys again, with velocities or with tension and bias.

The outer keys of a window do not change, so nothing changes outside the window. Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

import numpy as np

from ...keys import BoolArray, Float64Array
from .tension_and_bias import with_tension_and_bias
from .windows import KeySet, Samples, SegmentSamples, WindowSums

_RIDGE = 1e-9
"""The weight of a change, relative to the samples. This weight matters only where no sample has an effect."""


def with_free_velocities(
    sums: WindowSums, values: Float64Array, velocities: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the least-squares values and velocities of the keys, shape (m, d, n).

    The normal equations have a block of two unknowns, value and velocity, for each key, and a block that couples each
    pair of neighboring keys. The unknowns of one key after another are eliminated.
    """
    slopes, squares, is_free = sums.slopes(values, velocities), sums.squares, sums.free[1:-1]
    couplings = np.where(is_free[:-1] & is_free[1:], squares[:2, 2:, 1:-1], 0.0)
    steps = -(slopes[2:, :-1] + slopes[:2, 1:])
    # The upper triangles of the blocks, then of their inverses.
    blocks = np.stack([squares[2 + i, 2 + j, :-1] + squares[i, j, 1:] for i, j in ((0, 0), (0, 1), (1, 1))])
    blocks[::2] *= 1.0 + _RIDGE
    for key in range(len(is_free)):
        value, mixed, velocity = blocks[:, key]
        if key:
            (a, b), (c, d) = couplings[:, :, key - 1]
            p, q, r = blocks[:, key - 1]
            pa, pb, qa, qb = p * a + q * c, p * b + q * d, q * a + r * c, q * b + r * d
            value, mixed, velocity = value - a * pa - c * qa, mixed - a * pb - c * qb, velocity - b * pb - d * qb
            steps[0, key] -= pa * steps[0, key - 1] + qa * steps[1, key - 1]
            steps[1, key] -= pb * steps[0, key - 1] + qb * steps[1, key - 1]
        determinant = value * velocity - mixed * mixed
        factor = np.divide(is_free[key], determinant, out=np.zeros_like(determinant), where=determinant > 0.0)
        blocks[:, key] = velocity * factor, -mixed * factor, value * factor
    for key in range(len(is_free) - 1, -1, -1):
        if key + 1 < len(is_free):
            (a, b), (c, d) = couplings[:, :, key]
            steps[0, key] -= a * steps[0, key + 1] + b * steps[1, key + 1]
            steps[1, key] -= c * steps[0, key + 1] + d * steps[1, key + 1]
        p, q, r = blocks[:, key]
        steps[:, key] = p * steps[0, key] + q * steps[1, key], q * steps[0, key] + r * steps[1, key]
    values, velocities = values.copy(), velocities.copy()
    values[1:-1] += steps[0]
    velocities[1:-1] += steps[1]
    return values, velocities


def refit(samples: Samples, windows: KeySet, free: BoolArray) -> tuple[KeySet, Float64Array]:
    """Return windows with fitted free keys (n, m), and their largest errors (n,)."""
    segments = _segments(windows)
    fitted = _fitted(samples, windows, free, segments)
    return fitted, _largest_errors(samples, fitted, segments)


def fitted_windows(samples: Samples, windows: KeySet, free: BoolArray) -> KeySet:
    """Return windows with fitted free keys (n, m)."""
    return _fitted(samples, windows, free, _segments(windows))


def largest_errors(samples: Samples, windows: KeySet) -> Float64Array:
    """Return the largest errors of windows, shape (n,)."""
    return _largest_errors(samples, windows, _segments(windows))


def _segments(windows: KeySet) -> SegmentSamples:
    """Return the samples of the segments of n windows, first all first segments."""
    return SegmentSamples.of(windows.rows[:, :-1].T.ravel(), windows.rows[:, 1:].T.ravel())


def _fitted(samples: Samples, windows: KeySet, free: BoolArray, segments: SegmentSamples) -> KeySet:
    """Return windows with fitted free keys (n, m)."""
    count, width, dimension = windows.values.shape
    # Taking from a flat array is twice as fast as two indices.
    sample = np.tile(windows.track * samples.count, width - 1)[segments.segment] + segments.row
    squares, products = segments.sums(samples.values.reshape(-1, dimension).take(sample, axis=0))
    sums = WindowSums(
        windows.rows.T,
        free.T,
        np.ascontiguousarray(squares.reshape(width - 1, count, 4, 4).transpose(2, 3, 0, 1)),
        np.ascontiguousarray(products.reshape(width - 1, count, 4, dimension).transpose(2, 0, 3, 1)),
    )
    # Shape (m, d, n), see WindowSums.
    values, velocities = (
        np.ascontiguousarray(np.moveaxis(array, 0, -1)) for array in (windows.values, windows.velocities)
    )
    if samples.method == "HERMITE":
        values, velocities = with_free_velocities(sums, values, velocities)
        _make_rotations_unit(values, velocities, samples.parts)
    else:
        values, velocities = with_tension_and_bias(sums, values, velocities, samples.parts)
    arrays = (np.ascontiguousarray(np.moveaxis(array, -1, 0)) for array in (values, velocities))
    return KeySet(windows.track, windows.rows, *arrays)


def _largest_errors(samples: Samples, windows: KeySet, segments: SegmentSamples) -> Float64Array:
    """Return the largest errors of windows, shape (n,)."""
    count, width, dimension = windows.values.shape
    values, velocities = windows.values, windows.velocities
    ends = np.stack([values[:, :-1], velocities[:, :-1], values[:, 1:], velocities[:, 1:]], axis=2)
    played = segments.played(ends.swapaxes(0, 1).reshape(-1, 4, dimension))
    track = np.tile(windows.track, width - 1)[segments.segment]
    errors = segments.largest(samples.measure(track, segments.row, played)).reshape(width - 1, count)
    # Segments before the first key of a track or after the last key have length 0.
    largest: Float64Array = np.where(np.diff(windows.rows, axis=1).T > 0, errors, 0.0).max(axis=0)
    return largest


def _make_rotations_unit(values: Float64Array, velocities: Float64Array, parts: list[tuple[slice, bool]]) -> None:
    """Change quaternions (m, d, n) to length 1, as keys are written."""
    for columns in (columns for columns, is_rotation in parts if is_rotation):
        quaternions, rates = values[:, columns], velocities[:, columns]
        length = np.sqrt((quaternions * quaternions).sum(axis=1, keepdims=True))
        quaternions /= length
        rates /= length
        # A change in length does not change the rotation.
        rates -= (quaternions * rates).sum(axis=1, keepdims=True) * quaternions
