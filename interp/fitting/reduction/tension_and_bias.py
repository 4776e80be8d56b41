# SPDX-License-Identifier: GPL-3.0-or-later
"""Least-squares fits of tension and bias in windows of a few consecutive keys.

Without continuity, a key has one velocity, the sum of both chords with weights x = (1-T)(1+B) and y = (1-T)(1-B). For
given values, the fit is a linear problem in the triangle x >= 0, y >= 0, x + y <= 4. For given weights, the problem is
also linear in a value. Source: docs/formulas, "Fewest keys with tension and bias".
"""

from __future__ import annotations

import numpy as np

from ...keys import Float64Array, IndexArray
from .windows import WindowSums

_ROUNDS = 2
"""The number of rounds. Each round fits the weights of every second key, then the weights of the keys between them."""
_RIDGE = 1e-9
"""The weight of a change, relative to the effect of each chord."""
_TINY = float(np.finfo(np.float64).tiny)
_LARGEST_SUM = 4.0
"""The largest sum of the weights of both chords, 2 (1-T)."""

Parts = list[tuple[slice, bool]]
"""The columns of each property, and whether the property is a rotation."""


def with_tension_and_bias(
    sums: WindowSums, values: Float64Array, velocities: Float64Array, parts: Parts
) -> tuple[Float64Array, Float64Array]:
    """Return the values and velocities (m, d, n) with least-squares tension and bias, and values of inner keys.

    Values are fitted only for keys whose value does not affect the chords of the outer keys.
    """
    weights, fitted = _with_weights(sums, values, velocities, parts)
    keys = range(2, len(values) - 2)
    for key in keys:
        values, fitted = _with_value(sums, key, values, fitted, weights, parts)
    return values, _with_weights(sums, values, fitted, parts)[1] if keys else fitted


def _with_weights(
    sums: WindowSums, values: Float64Array, velocities: Float64Array, parts: Parts
) -> tuple[Float64Array, Float64Array]:
    """Return the least-squares weights of both chords (2, m - 2, parts, n), and the velocities with these weights.

    Every second key is fitted for the current velocities of its neighbors, then the keys between them. Because the
    velocities of neighbors have little effect on each other, a few rounds suffice.
    """
    is_free, squares = sums.free[1:-1], sums.squares
    chords = chord_rates(sums.rows, values, velocities, parts)[:, 1:-1]
    size = squares[3, 3, :-1] + squares[1, 1, 1:]
    size = np.where(size > 0.0, size, 1.0)
    # The best velocity of each key, without the effect of the neighbors' velocities.
    best = sums.products[3, :-1] + sums.products[1, 1:]
    for number, unknown in ((0, values[:-1]), (2, values[1:])):
        best -= squares[3, number, :-1, np.newaxis] * unknown[:-1]
        best -= squares[1, number, 1:, np.newaxis] * unknown[1:]
    best /= size[:, np.newaxis]
    by_previous, by_next = (squares[3, 1, :-1] / size)[:, np.newaxis], (squares[1, 3, 1:] / size)[:, np.newaxis]
    weights = np.zeros((2, len(size), len(parts), size.shape[1]))
    velocities = velocities.copy()
    turns = [keys for keys in (slice(0, None, 2), slice(1, None, 2)) if len(size[keys])]
    for number, (part, _) in enumerate(parts):
        before, after = chords[:, :, part]
        squared_chords = [_dot(*pair) for pair in ((before, before), (before, after), (after, after))]
        part_velocities = velocities[:, part]
        for keys in turns * _ROUNDS:
            wanted = best[keys, part] - by_previous[keys] * part_velocities[:-2][keys]
            wanted -= by_next[keys] * part_velocities[2:][keys]
            aa, ab, bb = (square[keys] for square in squared_chords)
            x, y = weights_in_triangle(aa, ab, bb, _dot(before[keys], wanted), _dot(after[keys], wanted))
            weights[:, keys, number] = x, y
            fitted = x[:, np.newaxis] * before[keys] + y[:, np.newaxis] * after[keys]
            np.copyto(part_velocities[1:-1][keys], fitted, where=is_free[keys][:, np.newaxis])
    weights *= is_free[:, np.newaxis]
    return weights, velocities


def _with_value(
    sums: WindowSums, key: int, values: Float64Array, velocities: Float64Array, weights: Float64Array, parts: Parts
) -> tuple[Float64Array, Float64Array]:
    """Return the values and velocities of windows with least-squares values of one key.

    The value ends a chord of the previous key and begins a chord of the next key, so velocities change too.
    """
    near = slice(key - 2, key + 3)
    lengths = np.diff(sums.rows[near], axis=0).astype(np.float64)
    is_inner = (lengths[:-1] > 0.0) & (lengths[1:] > 0.0)
    per_frame = is_inner / np.maximum(lengths[:-1] + lengths[1:], 1.0)
    # The velocities of keys that are not fitted must not change.
    can_move = sums.free[key - 1 : key + 2].all(axis=0) & is_inner[0] & is_inner[2]
    sums = WindowSums(
        sums.rows[near], sums.free[near], sums.squares[:, :, key - 2 : key + 2], sums.products[:, key - 2 : key + 2]
    )
    slopes = sums.slopes(values[near], velocities[near])
    values, velocities = values.copy(), velocities.copy()
    for number, (part, _) in enumerate(parts):
        # The changes in the velocities of the three inner keys.
        previous = weights[1, key - 2, number] * per_frame[0]
        middle = (weights[0, key - 1, number] - weights[1, key - 1, number]) * per_frame[1]
        following = -weights[0, key, number] * per_frame[2]
        # The changes in the unknowns of the four segments.
        changes: list[dict[int, Float64Array | float]] = [
            {3: previous},
            {1: previous, 2: 1.0, 3: middle},
            {0: 1.0, 1: middle, 3: following},
            {1: following},
        ]
        size, slope = np.zeros(sums.rows.shape[1]), np.zeros_like(values[2, part])
        for segment, of_segment in enumerate(changes):
            for unknown, change in of_segment.items():
                slope += change * slopes[unknown, segment, part]
                for other, other_change in of_segment.items():
                    size += change * other_change * sums.squares[unknown, other, segment]
        step = np.divide(can_move, size, out=np.zeros_like(size), where=size > 0.0) * slope
        values[key, part] -= step
        velocities[key - 1, part] -= previous * step
        velocities[key, part] -= middle * step
        velocities[key + 1, part] -= following * step
    return values, velocities


def _dot(first: Float64Array, second: Float64Array) -> Float64Array:
    """Return the dot products (m, n) of vectors (m, d, n)."""
    products: Float64Array = np.einsum("mdn,mdn->mn", first, second)
    return products


def chord_products(chords: Float64Array, velocities: Float64Array) -> tuple[Float64Array, ...]:
    """Return the products of both chords (2, m, d, n) with each other and with velocities, for `weights_in_triangle`.

    Each product has the shape (m, n).
    """
    before, after = chords
    pairs = (before, before), (before, after), (after, after), (before, velocities), (after, velocities)
    return tuple(_dot(*pair) for pair in pairs)


def weights_in_triangle(
    aa: Float64Array, ab: Float64Array, bb: Float64Array, a: Float64Array, b: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the weights x, y >= 0, x + y <= 4 of two chords for which the chords' sum is closest to a vector.

    The arguments are the products of the chords with each other, and of both chords with the vector.
    """
    # Without a ridge, parallel or absent chords have no unique weights.
    ridge = _RIDGE * (aa + bb) + _TINY
    aa, bb = aa + ridge, bb + ridge
    determinant = np.maximum(aa * bb - ab * ab, _TINY)
    x, y = (a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant
    # If a weight would be negative, one of the weights is 0.
    is_outside = (x < 0.0) | (y < 0.0)
    if is_outside.any():
        a_only, b_only = np.maximum(a, 0.0), np.maximum(b, 0.0)
        is_x_better = a_only * a_only * bb >= b_only * b_only * aa
        x = np.where(is_outside, is_x_better * a_only / aa, x)
        y = np.where(is_outside, ~is_x_better * b_only / bb, y)
    is_large = x + y > _LARGEST_SUM
    if is_large.any():
        along = (_LARGEST_SUM * (bb - ab) + a - b) / np.maximum(aa - 2.0 * ab + bb, _TINY)
        x = np.where(is_large, np.clip(along, 0.0, _LARGEST_SUM), x)
        y = np.where(is_large, _LARGEST_SUM - x, y)
    return x, y


def chord_rates(rows: IndexArray, values: Float64Array, velocities: Float64Array, parts: Parts) -> Float64Array:
    """Return the chords before and after keys, per frame of their combined length, shape (2, m, d, n).

    Rows have the shape (m, n), values and velocities (m, d, n). The first key of a track has only the chord after it,
    which determines its tangent as in TCB. For rotations, the tangent is along the chord. Otherwise, the tangent is
    along the rest of the parabola. The same applies to the last key.
    """
    lengths = np.zeros((len(rows) + 1, rows.shape[1]))
    lengths[1:-1] = np.diff(rows, axis=0)
    length_before, length_after = lengths[:-1], lengths[1:]
    chords = np.zeros((2, *values.shape))
    chords[0, 1:] = chords[1, :-1] = np.diff(values, axis=0)
    is_first, is_last = (length_before == 0.0) & (length_after > 0.0), (length_after == 0.0) & (length_before > 0.0)
    around = np.maximum(length_before + length_after, 1.0)
    around[is_first | is_last] *= 2.0
    for part, is_rotation in parts:
        if is_rotation:
            continue
        for is_end, is_other_end, side, step in ((is_first, is_last, 1, 1), (is_last, is_first, 0, -1)):
            key, window = np.nonzero(is_end)
            neighbor = np.clip(key + step, 0, len(rows) - 1)
            span = (rows[neighbor, window] - rows[key, window])[:, np.newaxis]
            has_two_keys = is_other_end[neighbor, window][:, np.newaxis]
            chord = chords[side, key, part, window]
            bent = 1.5 * chord - 0.5 * step * span * velocities[neighbor, part, window]
            chords[side, key, part, window] = np.where(has_two_keys, chord, bent)
    chords /= around[:, np.newaxis]
    return chords
