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
    segments = SegmentSamples.of(windows.rows[:, :-1].ravel(), windows.rows[:, 1:].ravel())
    track = np.repeat(windows.track, width - 1)[segments.segment]
    # Taking from a flat array is twice as fast as two indices.
    flat_samples = samples.values.reshape(-1, dimension)
    squares, products = segments.sums(flat_samples.take(track * samples.count + segments.row, axis=0))
    by_segment = count, width - 1, 4
    sums = WindowSums(free, squares.reshape(*by_segment, 4), products.reshape(*by_segment, dimension))
    if not free.any():
        fitted = windows
    elif samples.smooth is None:
        fitted = _with_unit_rotations(_with_velocities(windows, sums), samples.parts)
    else:
        fitted = with_tension_and_bias(samples, windows, sums)
    played = segments.played(segment_ends(fitted).reshape(-1, 4, dimension))
    errors = segments.largest(samples.measure(track, segments.row, played)).reshape(count, width - 1)
    # Segments before the first key of a track or after the last key have length 0.
    return fitted, np.where(np.diff(windows.rows, axis=1) > 0, errors, 0.0).max(axis=1)


def _with_velocities(windows: KeySet, sums: WindowSums) -> KeySet:
    """Return the windows with least-squares values and velocities."""
    count, width, dimension = windows.values.shape
    matrix, slope = normal_equations(sums, windows)
    size = 2 * (width - 2)
    is_fixed = np.repeat(~sums.free[:, 1:-1], 2, axis=1)
    step = solve_symmetric(matrix.reshape(count, size, size), -slope.reshape(count, size, dimension), is_fixed)
    step = step.reshape(count, width - 2, 2, dimension)
    values, velocities = windows.values.copy(), windows.velocities.copy()
    values[:, 1:-1] += step[:, :, 0]
    velocities[:, 1:-1] += step[:, :, 1]
    return KeySet(windows.track, windows.rows, values, velocities)


def _with_unit_rotations(windows: KeySet, parts: list[tuple[slice, bool]]) -> KeySet:
    """Return the windows with quaternions of length 1, as keys are written."""
    for columns in (columns for columns, is_rotation in parts if is_rotation):
        values, velocities = windows.values[..., columns], windows.velocities[..., columns]
        length = np.sqrt(np.einsum("nmd,nmd->nm", values, values))[..., np.newaxis]
        values /= length
        velocities /= length
        # A change in length does not change the rotation.
        velocities -= np.einsum("nmd,nmd->nm", values, velocities)[..., np.newaxis] * values
    return windows
