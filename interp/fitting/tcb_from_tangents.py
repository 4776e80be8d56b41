# SPDX-License-Identifier: GPL-3.0-or-later
"""Find tension, continuity and bias for given tangents at keys, for example after a handle was dragged.

With x = (1-T)(1+B) and y = (1-T)(1-B), both tangents of `tcb_tangents.inner_tangents` are linear in x and y. The point
(x, y) is in the triangle x >= 0, y >= 0, x + y <= 4. For each value of continuity, the fit is a small quadratic
problem. The best continuity is found by a search.

Source: docs/formulas, "TCB tangents".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..keys import Float64Array
from ..tcb_tangents import inner_tangents

_CHANGE_WEIGHT = 1e-3
"""The weight of changing a parameter by 1, relative to a tangent error as large as the chords.

If several parameters have the same tangents, the closest to the current parameters are used.
"""
OTHER_STAYS = 10.0
"""The weight of the tangent opposite the dragged tangent of a key, if it should not change."""
_LARGEST_SUM = 4.0
"""The largest value of x + y, which is 2 (1-T)."""
_COARSE = np.linspace(-1.0, 1.0, 1001)
"""The values of continuity that are tried first."""
_FINER = (0.002, 1e-4)
"""Distances from the best continuity that are searched again."""


def tcb_of_tangents(
    before: Float64Array,
    after: Float64Array,
    share: Float64Array,
    incoming: Float64Array,
    outgoing: Float64Array,
    present: Float64Array,
    weights: Float64Array | None = None,
) -> Float64Array:
    """Return tension, continuity and bias (3, n) of inner keys whose tangents are closest to the given tangents.

    If there are several solutions, the solution closest to the current parameters is used. The tangents are the closest
    possible, to within 2e-3 of the sum of both chords.

    Parameters
    ----------
    before, after : ndarray, shape (n, d)
        Chords from the previous key and to the next key.
    share : ndarray, shape (n,)
        Frames from the previous key to the key, divided by the frames from the previous to the next key.
    incoming, outgoing : ndarray, shape (n, d)
        The tangents, as derivatives with respect to the local parameter of the segment on their side.
    present : ndarray, shape (3, n)
        The current tension, continuity and bias.
    weights : ndarray, shape (n, 2), optional
        Weights of the incoming and outgoing tangents. By default, both are 1.

    Notes
    -----
    Source: docs/formulas, "Fitting parameters to tangents".
    """
    size = np.linalg.norm(before, axis=1) + np.linalg.norm(after, axis=1)
    # On a plateau, parameters have no effect.
    is_flat = size == 0.0
    size[is_flat] = np.inf
    products = _Products.of(*(vectors / size[:, np.newaxis] for vectors in (before, after, incoming, outgoing)))
    squares = np.ones((len(share), 2)) if weights is None else weights**2
    tension, continuity, bias = present
    current = (1.0 - tension) * (1.0 + bias), continuity, (1.0 - tension) * (1.0 - bias)
    coarse = np.broadcast_to(_COARSE, (len(share), len(_COARSE)))
    candidates = np.concatenate((coarse, continuity[:, np.newaxis]), axis=1)
    x, best_continuity, y = _best(candidates, products, share, squares, current)
    for distance in _FINER:
        candidates = np.clip(best_continuity[:, np.newaxis] + np.linspace(-distance, distance, 41), -1.0, 1.0)
        x, best_continuity, y = _best(candidates, products, share, squares, current)
    total = x + y
    # At tension 1, any bias gives the same tangents.
    best_bias = np.divide(x - y, total, out=bias.astype(np.float64), where=total > 1e-9)
    parameters = np.stack((1.0 - total / 2.0, best_continuity, best_bias))
    return np.where(is_flat, present, np.clip(parameters, -1.0, 1.0))


def at_same_direction(end: Float64Array, tangent: Float64Array) -> Float64Array:
    """Return the dragged end (d,) of a tangent, moved to the closest point on the ray in the tangent's direction."""
    length = float(np.linalg.norm(tangent))
    if length == 0.0:
        return end
    along = tangent / length
    return along * max(float(end @ along), 0.0)


def tangents_of(
    parameters: Float64Array, before: Float64Array, after: Float64Array, share: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return incoming and outgoing tangents (n, d) of inner keys with parameters (3, n). See `tcb_of_tangents`."""
    incoming, outgoing = inner_tangents(parameters, before.T, after.T, share)
    return incoming.T, outgoing.T


class _Products(NamedTuple):
    """Dot products (n,) of chords before (a) and after (b), and target tangents, incoming (i) and outgoing (o)."""

    aa: Float64Array
    bb: Float64Array
    ab: Float64Array
    ai: Float64Array
    ao: Float64Array
    bi: Float64Array
    bo: Float64Array

    @classmethod
    def of(cls, a: Float64Array, b: Float64Array, i: Float64Array, o: Float64Array) -> _Products:
        """Return the products of the given vectors (n, d)."""
        return cls(*((u * v).sum(axis=1) for u, v in ((a, a), (b, b), (a, b), (a, i), (a, o), (b, i), (b, o))))


def _best(
    candidates: Float64Array,
    products: _Products,
    share: Float64Array,
    squares: Float64Array,
    current: tuple[Float64Array, Float64Array, Float64Array],
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return the best x, continuity and y of each key among the candidate values of continuity (n, m).

    `squares` contains the squared weights of both tangents, shape (n, 2). `current` contains the current x, continuity
    and y.
    """
    # Numbers of a key have the shape (n, 1), and numbers of a candidate (n, m). `i` and `o` weight the incoming and
    # outgoing tangent, and `s` is the share.
    aa, bb, ab, ai, ao, bi, bo = (product[:, np.newaxis] for product in products)
    s, x0, c0, y0, i, o = (array[:, np.newaxis] for array in (share, *current, *squares.T))
    zeros = np.zeros_like(candidates)
    # The coefficients of x times the chord before and y times the chord after.
    parameters, ones = np.stack([zeros, candidates, zeros]), np.ones_like(candidates)
    in_before, out_before = inner_tangents(parameters, ones, zeros, s)
    in_after, out_after = inner_tangents(parameters, zeros, ones, s)
    xx = (i * in_before**2 + o * out_before**2) * aa + _CHANGE_WEIGHT**2
    yy = (i * in_after**2 + o * out_after**2) * bb + _CHANGE_WEIGHT**2
    xy = (i * in_before * in_after + o * out_before * out_after) * ab
    gx = i * in_before * ai + o * out_before * ao + _CHANGE_WEIGHT**2 * x0
    gy = i * in_after * bi + o * out_after * bo + _CHANGE_WEIGHT**2 * y0
    # The minimum in the triangle is inside, or on one of its three sides.
    inside_x, inside_y = ((gx * yy - gy * xy), (gy * xx - gx * xy)) / (xx * yy - xy**2)
    on_slope = np.clip((gx - gy + _LARGEST_SUM * (yy - xy)) / (xx - 2.0 * xy + yy), 0.0, _LARGEST_SUM)
    minimum_x = np.stack((inside_x, zeros, np.clip(gx / xx, 0.0, _LARGEST_SUM), on_slope))
    minimum_y = np.stack((inside_y, np.clip(gy / yy, 0.0, _LARGEST_SUM), zeros, _LARGEST_SUM - on_slope))
    # The sums of squares, without the terms that all candidates share.
    cost = minimum_x * (xx * minimum_x + 2.0 * (xy * minimum_y - gx)) + minimum_y * (yy * minimum_y - 2.0 * gy)
    cost += _CHANGE_WEIGHT**2 * (candidates - c0) ** 2
    is_outside = (inside_x < 0.0) | (inside_y < 0.0) | (inside_x + inside_y > _LARGEST_SUM)
    cost[0][is_outside] = np.inf
    rows = np.arange(len(candidates))
    best = np.argmin(cost.transpose(1, 0, 2).reshape(len(rows), -1), axis=1)
    place, column = np.divmod(best, candidates.shape[1])
    return minimum_x[place, rows, column], candidates[rows, column], minimum_y[place, rows, column]
