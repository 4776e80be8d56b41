# SPDX-License-Identifier: GPL-3.0-or-later
"""Least-squares fits of tension and bias in windows of a few consecutive keys.

Without continuity, a key has one velocity, the sum of both chords with weights x = (1-T)(1+B) and y = (1-T)(1-B). For
given values, the fit is a linear problem in the triangle x >= 0, y >= 0, x + y <= 4. For given weights, the problem is
also linear in a value. Source: docs/formulas, "Fewest keys with tension and bias".
"""

from __future__ import annotations

import numpy as np

from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array
from .key_sets import KeySet, Samples
from .window_equations import (
    WindowSums,
    normal_equations,
    solve_symmetric,
)

_ROUNDS = 4
"""The number of times that weights are clipped to their bounds and the remaining weights are solved for again."""
_KEYS_AROUND_VALUE = 5
"""Only in windows with this number of keys, the value of the middle key is fitted."""
_LARGEST_SUM = 4.0
"""The largest sum of the weights of both chords, 2 (1-T)."""


def with_tension_and_bias(samples: Samples, windows: KeySet, sums: WindowSums) -> KeySet:
    """Return the windows with the least-squares tension and bias of each part, and the value of the middle key.

    In windows of five keys, weights and value are fitted alternately. The middle value does not affect the chords of
    the outer keys.
    """
    weights, fitted = _with_weights(samples, windows, sums)
    if windows.rows.shape[1] != _KEYS_AROUND_VALUE:
        return fitted
    values = _with_middle_value(samples, fitted, weights, sums)
    moved = KeySet(windows.track, windows.rows, values, windows.velocities)
    return _with_weights(samples, moved, sums)[1]


def _with_weights(samples: Samples, windows: KeySet, sums: WindowSums) -> tuple[Float64Array, KeySet]:
    """Return the least-squares weights of both chords (n, c, parts, 2), and the windows with these weights."""
    columns = slice(1, -1)
    count, width = len(windows.rows), windows.rows.shape[1] - 2
    velocities = windows.velocities.copy()
    chords = chord_rates(windows.rows, windows.values, windows.velocities, samples.parts)[:, columns]
    is_free = sums.free[:, columns]
    velocities[:, columns] = np.where(is_free[..., np.newaxis], 0.0, velocities[:, columns])
    without_weights = KeySet(windows.track, windows.rows, windows.values, velocities)
    matrix, slope = normal_equations(sums, without_weights)
    velocity_matrix, velocity_slope = matrix[:, :, 1, :, 1], slope[:, :, 1]
    is_fixed = np.repeat(~is_free, 2, axis=1)
    weights = np.zeros((count, width, len(samples.parts), 2))
    for number, (part, _) in enumerate(samples.parts):
        part_chords = np.ascontiguousarray(chords[..., part]).reshape(count, 2 * width, -1)
        system = np.repeat(np.repeat(velocity_matrix, 2, axis=1), 2, axis=2) * (
            part_chords @ part_chords.transpose(0, 2, 1)
        )
        right = -(part_chords * np.repeat(velocity_slope[..., part], 2, axis=1)).sum(axis=2)
        weights[:, :, number] = solve_in_triangle(system, right, is_fixed).reshape(count, width, 2)
        velocities[:, columns, part] += (weights[:, :, number, :, np.newaxis] * chords[..., part]).sum(axis=2)
    return weights, KeySet(windows.track, windows.rows, windows.values, velocities)


def _with_middle_value(samples: Samples, windows: KeySet, weights: Float64Array, sums: WindowSums) -> Float64Array:
    """Return the values of windows of five keys, with least-squares values of the free middle keys."""
    residual_products = sums.residual_products(windows)
    lengths = np.diff(windows.rows, axis=1).astype(np.float64)
    is_inner = (lengths[:, :-1] > 0.0) & (lengths[:, 1:] > 0.0)
    changes = _changes_by_middle_value(weights, lengths, is_inner)
    size = np.einsum("nsip,nsij,nsjp->np", changes, sums.squares, changes)
    values = windows.values.copy()
    can_move = sums.free[:, 2] & is_inner[:, 0] & is_inner[:, 2]
    for number, (part, _) in enumerate(samples.parts):
        slope = np.einsum("nsi,nsid->nd", changes[..., number], residual_products[..., part])
        step = np.divide(can_move, size[:, number], out=np.zeros(len(size)), where=size[:, number] > 0.0)
        values[:, 2, part] -= step[:, np.newaxis] * slope
    return values


def _changes_by_middle_value(weights: Float64Array, lengths: Float64Array, is_inner: BoolArray) -> Float64Array:
    """Return the changes in the segments' unknowns per change in the middle value, shape (n, 4, 4, parts).

    The middle value ends a chord of the previous key and begins a chord of the next key, so velocities change too.
    `is_inner` is a mask of the three inner keys that have chords on both sides.
    """
    count, parts = len(lengths), weights.shape[2]
    around = np.maximum(lengths[:, :-1] + lengths[:, 1:], 1.0)
    velocities = np.zeros((count, _KEYS_AROUND_VALUE, parts))
    velocities[:, 1] = weights[:, 0, :, 1] * (is_inner[:, 0] / around[:, 0])[:, np.newaxis]
    velocities[:, 2] = (weights[:, 1, :, 0] - weights[:, 1, :, 1]) / around[:, 1, np.newaxis]
    velocities[:, 3] = -weights[:, 2, :, 0] * (is_inner[:, 2] / around[:, 2])[:, np.newaxis]
    changes = np.zeros((count, _KEYS_AROUND_VALUE - 1, 4, parts))
    changes[:, :, 1], changes[:, :, 3] = velocities[:, :-1], velocities[:, 1:]
    changes[:, 1, 2] = changes[:, 2, 0] = 1.0
    return changes


def solve_in_triangle(system: Float64Array, right: Float64Array, is_fixed: BoolArray) -> Float64Array:
    """Return the solutions (n, 2c) for pairs of nonnegative weights with a sum of at most 4. Fixed weights are 0.

    Weights below 0 are omitted, sums above 4 become 4, and the remaining weights are solved for again. `system` is
    changed in place.
    """
    count, size = right.shape
    is_fixed = is_fixed.copy()
    is_at_sum = np.zeros((count, size // 2), dtype=np.bool_)
    diagonal = np.arange(size)
    system[:, diagonal, diagonal] += np.finfo(np.float64).tiny ** 0.5
    penalty = 1e6 * system[:, diagonal, diagonal].max(axis=1, initial=0.0)
    first, second = diagonal[::2], diagonal[1::2]
    for _ in range(_ROUNDS):
        # A penalty on the deviation of the sum from 4.
        matrix, penalized_right = system.copy(), right.copy()
        penalties: Float64Array = penalty[:, np.newaxis] * is_at_sum
        for a, b in ((first, first), (first, second), (second, first), (second, second)):
            matrix[:, a, b] += penalties
        penalized_right += np.repeat(_LARGEST_SUM * penalties, 2, axis=1)
        weights = solve_symmetric(matrix, penalized_right[..., np.newaxis], is_fixed)[..., 0]
        is_below = weights < 0.0
        is_above = weights[:, ::2] + weights[:, 1::2] > _LARGEST_SUM * (1.0 + 1e-5)
        if not (is_below.any() or is_above.any()):
            break
        is_fixed |= is_below
        is_at_sum |= is_above
    result: Float64Array = _clip_to_triangle(weights.reshape(count, -1, 2)).reshape(count, size)
    return result


def _clip_to_triangle(weights: Float64Array) -> Float64Array:
    """Return nonnegative weights of two chords (..., 2) with a sum of at most 4."""
    weights = np.maximum(weights, 0.0)
    total = weights.sum(axis=-1, keepdims=True)
    clipped: Float64Array = weights * np.where(
        total > _LARGEST_SUM, _LARGEST_SUM / np.maximum(total, _LARGEST_SUM), 1.0
    )
    return clipped


def end_velocities(windows: KeySet, parts: list[tuple[slice, bool]]) -> Float64Array:
    """Return the closest possible velocities (n, d) of the middle keys of windows, which are ends of tracks."""
    middle = windows.rows.shape[1] // 2
    velocities = windows.velocities[:, middle].copy()
    # Only one of both chords is not 0.
    chords = chord_rates(windows.rows, windows.values, windows.velocities, parts)[:, middle].sum(axis=1)
    for part, _ in parts:
        chord = chords[:, part]
        square = np.einsum("nd,nd->n", chord, chord)
        along = np.einsum("nd,nd->n", chord, velocities[:, part])
        weight = np.divide(along, square, out=np.zeros_like(square), where=square > 0.0)
        velocities[:, part] = np.clip(weight, 0.0, _LARGEST_SUM)[:, np.newaxis] * chord
    return velocities


def chord_rates(
    rows: IndexArray, values: Float64Array, velocities: Float64Array, parts: list[tuple[slice, bool]]
) -> Float64Array:
    """Return the chords before and after keys, per frame of their combined length, shape (n, m, 2, d).

    The first key of a track has only the chord after it, which determines its tangent as in TCB. For rotations, the
    tangent is along the chord. Otherwise, the tangent is along the rest of the parabola. The same applies to the last
    key.
    """
    length = np.diff(rows, axis=1).astype(np.float64)
    chord = np.diff(values, axis=1)
    before, after = np.zeros((2, *values.shape))
    before[:, 1:], after[:, :-1] = chord, chord
    length_before, length_after = np.pad(length, ((0, 0), (1, 0))), np.pad(length, ((0, 0), (0, 1)))
    is_inner = (length_before > 0.0) & (length_after > 0.0)
    around = np.where(is_inner, length_before + length_after, 2.0 * np.maximum(length_before, length_after))
    is_first = (length_before == 0.0) & (length_after > 0.0)
    is_last = (length_after == 0.0) & (length_before > 0.0)
    for part, is_rotation in parts:
        if is_rotation:
            continue
        for is_end, is_other_end, chords, step in ((is_first, is_last, after, 1), (is_last, is_first, before, -1)):
            window, key = np.nonzero(is_end)
            neighbor = np.clip(key + step, 0, rows.shape[1] - 1)
            span = (rows[window, neighbor] - rows[window, key])[:, np.newaxis]
            has_two_keys = is_other_end[window, neighbor][:, np.newaxis]
            bent = 1.5 * chords[window, key, part] - 0.5 * step * span * velocities[window, neighbor, part]
            chords[window, key, part] = np.where(has_two_keys, chords[window, key, part], bent)
    return np.stack([before, after], axis=2) / np.maximum(around, 1.0)[..., np.newaxis, np.newaxis]
