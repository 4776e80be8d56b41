# SPDX-License-Identifier: GPL-3.0-or-later
"""The normal equations of least-squares fits in windows of a few consecutive keys.

The last axis of values has d components. A window of m keys has m - 1 segments. The segments have four unknowns: value
and velocity at the start, and value and velocity at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array
from .key_sets import KeySet

_RIDGE = 1e-9
"""The weight of a change, relative to the samples. This weight matters only where no sample has an effect."""


class WindowSums(NamedTuple):
    """Least-squares sums of n windows, and the keys to fit."""

    free: BoolArray
    """Mask of the keys to fit, shape (n, m)."""
    columns: IndexArray
    """The c keys of a window that are free in any window, shape (c,)."""
    squares: Float64Array
    """Sums of products of the weights of the four unknowns, shape (n, m - 1, 4, 4)."""
    products: Float64Array
    """Sums of products of weights and samples, shape (n, m - 1, 4, d)."""

    def residual_products(self, windows: KeySet) -> Float64Array:
        """Return the sums of products of weights and deviations from the samples, shape (n, m - 1, 4, d)."""
        deviations: Float64Array = self.squares @ segment_ends(windows) - self.products
        return deviations


def segment_ends(windows: KeySet) -> Float64Array:
    """Return the values and velocities at both ends of each segment, shape (n, m - 1, 4, d)."""
    values, velocities = windows.values, windows.velocities
    return np.stack([values[:, :-1], velocities[:, :-1], values[:, 1:], velocities[:, 1:]], axis=2)


def normal_equations(sums: WindowSums, windows: KeySet) -> tuple[Float64Array, Float64Array]:
    """Return the normal matrix (n, c, 2, c, 2) of keys' values and velocities, and the slope (n, c, 2, d)."""
    columns, squares, residual_products = sums.columns, sums.squares, sums.residual_products(windows)
    count, segments = squares.shape[:2]
    matrix = np.zeros((count, len(columns), 2, len(columns), 2))
    slope = np.zeros((count, len(columns), 2, residual_products.shape[3]))
    for column, key in enumerate(columns.tolist()):
        if key > 0:
            matrix[:, column, :, column] += squares[:, key - 1, 2:, 2:]
            slope[:, column] += residual_products[:, key - 1, 2:]
        if key < segments:
            matrix[:, column, :, column] += squares[:, key, :2, :2]
            slope[:, column] += residual_products[:, key, :2]
            if column + 1 < len(columns):
                matrix[:, column, :, column + 1] = squares[:, key, :2, 2:]
                matrix[:, column + 1, :, column] = squares[:, key, 2:, :2]
    return matrix, slope


def solve_symmetric(matrix: Float64Array, right: Float64Array, is_fixed: BoolArray | None = None) -> Float64Array:
    """Return the solutions of symmetric systems (n, s, s), which are changed in place.

    The solution is 0 where the mask `is_fixed` (n, s) is true.
    """
    diagonal = np.arange(matrix.shape[1])
    size = matrix[:, diagonal, diagonal] * (1.0 + _RIDGE)
    matrix[:, diagonal, diagonal] = np.where(size > 0.0, size, 1.0)
    if is_fixed is not None and is_fixed.any():
        matrix[is_fixed] = 0.0
        matrix.transpose(0, 2, 1)[is_fixed] = 0.0
        matrix[:, diagonal, diagonal] += is_fixed
        right = right.copy()
        right[is_fixed] = 0.0
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
