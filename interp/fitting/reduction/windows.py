# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit the keys inside windows of a few consecutive keys again, with velocities or with tension and bias.

The outer keys of a window do not change, so nothing changes outside the window.
"""

from __future__ import annotations

import numpy as np

from ...key_batch import BoolArray
from ...keys import Float64Array
from .key_sets import KeySet, Samples
from .tension_and_bias import with_tension_and_bias
from .window_equations import (
    SegmentSamples,
    WindowSums,
    normal_equations,
    segment_ends,
    solve_symmetric,
)


def refit(samples: Samples, windows: KeySet, free: BoolArray) -> tuple[KeySet, Float64Array]:
    """Return windows with fitted free keys (n, m), and their largest errors (n,)."""
    count, width = windows.rows.shape
    dimension = windows.values.shape[2]
    # Segments before the first key of a track or after the last key have length 0.
    real = np.flatnonzero(np.diff(windows.rows, axis=1).ravel() > 0)
    segments = SegmentSamples.of(windows.rows[:, :-1].ravel()[real], windows.rows[:, 1:].ravel()[real])
    track = np.repeat(windows.track, width - 1)[real][segments.segment]
    squares = np.zeros((count * (width - 1), 4, 4))
    products = np.zeros((count * (width - 1), 4, dimension))
    squares[real], products[real] = segments.sums(samples.values[track, segments.row])
    sums = WindowSums(
        free,
        np.flatnonzero(free.any(axis=0)),
        squares.reshape(count, width - 1, 4, 4),
        products.reshape(count, width - 1, 4, dimension),
    )
    if not len(sums.columns):
        fitted = windows
    elif samples.smooth is None:
        fitted = _with_velocities(windows, sums)
    else:
        fitted = with_tension_and_bias(samples, windows, sums)
    played = segments.played(segment_ends(fitted).reshape(-1, 4, dimension)[real])
    errors = np.zeros(count * (width - 1))
    errors[real] = segments.largest(samples.measure(track, segments.row, played))
    return fitted, errors.reshape(count, width - 1).max(axis=1)


def _with_velocities(windows: KeySet, sums: WindowSums) -> KeySet:
    """Return the windows with least-squares values and velocities."""
    count, _, dimension = windows.values.shape
    columns = sums.columns
    matrix, slope = normal_equations(sums, windows)
    size = 2 * len(columns)
    is_fixed = np.repeat(~sums.free[:, columns], 2, axis=1)
    step = solve_symmetric(matrix.reshape(count, size, size), -slope.reshape(count, size, dimension), is_fixed)
    step = step.reshape(count, len(columns), 2, dimension)
    values, velocities = windows.values.copy(), windows.velocities.copy()
    values[:, columns] += step[:, :, 0]
    velocities[:, columns] += step[:, :, 1]
    return KeySet(windows.track, windows.rows, values, velocities)
