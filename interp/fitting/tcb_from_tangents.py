# SPDX-License-Identifier: GPL-3.0-or-later
"""Find tension, continuity and bias for given tangents at keys, for example after a handle was dragged.

With x = (1-T)(1+B) and y = (1-T)(1-B), both tangents of `tcb_tangents.tangents` are linear in x and y. The point (x, y)
is in the triangle x >= 0, y >= 0, x + y <= 4. For each value of continuity, the fit is a small quadratic problem. The
best continuity is found by a search.

Source: docs/formulas, "TCB tangents" and "Dialects of TCB".
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ..keys import Float64Array

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
        The tangents, as derivatives with respect to the local parameter of the segment on their side, as in
        `tcb_tangents.tangents`.
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
    """Return incoming and outgoing tangents (n, d) of inner keys with parameters (3, n). See `tcb_tangents`."""
    incoming, outgoing = (
        by_before[:, np.newaxis] * before + by_after[:, np.newaxis] * after
        for by_before, by_after in chord_factors(parameters, share)
    )
    return incoming, outgoing


def chord_factors(parameters: Float64Array, share: Float64Array) -> Float64Array:
    """Return the factors of both chords in the tangents of inner keys (docs/formulas, "TCB tangents").

    Parameters
    ----------
    parameters : ndarray, shape (3, …)
        Tension, continuity and bias.
    share : ndarray, shape (…)
        Frames from the previous key to the key, divided by the frames from the previous to the next key.

    Returns
    -------
    ndarray, shape (2, 2, …)
        Factors of the chords before and after the key, for the incoming and then the outgoing tangent.
    """
    tension, continuity, bias = parameters
    slack, shift = 1.0 - tension, (1.0 - np.abs(continuity)) * (share - 0.5)
    incoming, outgoing = slack * (0.5 + shift), slack * (0.5 - shift)
    less, more = 1.0 - continuity, 1.0 + continuity
    before, after = 1.0 + bias, 1.0 - bias
    factors = [incoming * less * before, incoming * more * after], [outgoing * more * before, outgoing * less * after]
    return np.stack([np.stack(pair) for pair in factors])


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
    aa, bb, ab, ai, ao, bi, bo = (product[:, np.newaxis] for product in products)
    s, x0, c0, y0, i, o = (array[:, np.newaxis] for array in (share, *current, *squares.T))
    zeros = np.zeros_like(candidates)
    # The coefficients of x times the chord before and y times the chord after.
    (in_before, in_after), (out_before, out_after) = chord_factors(np.stack([zeros, candidates, zeros]), s)
    xx = (i * in_before**2 + o * out_before**2) * aa + _CHANGE_WEIGHT**2
    yy = (i * in_after**2 + o * out_after**2) * bb + _CHANGE_WEIGHT**2
    xy = (i * in_before * in_after + o * out_before * out_after) * ab
    gx = i * in_before * ai + o * out_before * ao + _CHANGE_WEIGHT**2 * x0
    gy = i * in_after * bi + o * out_after * bo + _CHANGE_WEIGHT**2 * y0
    # The minimum in the triangle is inside, or on one of its three sides.
    inside_x, inside_y = ((gx * yy - gy * xy), (gy * xx - gx * xy)) / (xx * yy - xy**2)
    on_slope = np.clip((gx - gy + _LARGEST_SUM * (yy - xy)) / (xx - 2.0 * xy + yy), 0.0, _LARGEST_SUM)
    tries_x = np.stack((inside_x, zeros, np.clip(gx / xx, 0.0, _LARGEST_SUM), on_slope))
    tries_y = np.stack((inside_y, np.clip(gy / yy, 0.0, _LARGEST_SUM), zeros, _LARGEST_SUM - on_slope))
    # The sums of squares, without the terms that all candidates share.
    cost = tries_x * (xx * tries_x + 2.0 * (xy * tries_y - gx)) + tries_y * (yy * tries_y - 2.0 * gy)
    cost += _CHANGE_WEIGHT**2 * (candidates - c0) ** 2
    is_outside = (inside_x < 0.0) | (inside_y < 0.0) | (inside_x + inside_y > _LARGEST_SUM)
    cost[0][is_outside] = np.inf
    rows = np.arange(len(candidates))
    best = np.argmin(cost.transpose(1, 0, 2).reshape(len(rows), -1), axis=1)
    side, column = np.divmod(best, candidates.shape[1])
    return tries_x[side, rows, column], candidates[rows, column], tries_y[side, rows, column]


Dialect = Literal["3DS", "LIGHTWAVE", "FBX", "KB"]

_ROUNDING = 1e-9
"""Allowance for rounding in parameters."""
_SAME_SLOPE = 1e-6
"""Slopes that differ by less than this fraction of a track's steepest chord or tangent are equal in float32."""


def slopes_of_keys(
    dialect: Dialect, frames: Float64Array, values: Float64Array, parameters: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return the slopes per frame before and after each key, each of shape (n, d). Slopes beyond the ends are 0.

    Parameters
    ----------
    dialect : {"3DS", "LIGHTWAVE", "FBX", "KB"}
        The dialects of 3D Studio and 3ds Max, LightWave 6 and later, FBX, and Kochanek and Bartels as in PyPI's
        `splines`. The dialects agree at inner keys with evenly spaced frames, but differ at the ends and in their
        treatment of uneven spacing.
    frames : ndarray, shape (n,)
        Frames in ascending order.
    values : ndarray, shape (n, d)
    parameters : ndarray, shape (3, n)
        Tension, continuity and bias, of any size.
    """
    count = len(frames)
    if count == 1:
        return np.zeros_like(values), np.zeros_like(values)
    length, chord = np.diff(frames), np.diff(values, axis=0)
    no_chord = np.zeros((1, values.shape[1]))
    before, after = np.concatenate((no_chord, chord)), np.concatenate((chord, no_chord))
    factors = _factors(dialect, length, parameters)[:, :, np.newaxis]
    arriving = factors[0] * before + factors[1] * after
    leaving = factors[2] * before + factors[3] * after
    start, end = chord[0] / length[0], chord[-1] / length[-1]
    if dialect in ("LIGHTWAVE", "FBX"):
        weights = _weights(parameters)
        leaving[0], arriving[-1] = weights[3, 0] * start, weights[0, -1] * end
    else:
        slack = 1.0 - parameters[0, [0, -1]] if dialect == "3DS" else np.ones(2)
        leaving[0] = slack[0] * _end_slope(start, arriving[1], count)
        arriving[-1] = slack[1] * _end_slope(end, leaving[-2], count)
    arriving[0] = leaving[-1] = 0.0
    return arriving, leaving


def as_3ds(
    dialect: Dialect, frames: Float64Array, values: Float64Array, parameters: Float64Array
) -> Float64Array | None:
    """Return 3D Studio parameters (3, n) that give keys the same tangents, or None if no parameters in range do.

    For inner keys with continuity 0, such parameters exist if the given parameters are moderate. Other values of
    continuity have a different effect where frames are unevenly spaced.
    """
    if len(frames) == 1 or dialect == "3DS":
        return parameters if (np.abs(parameters) <= 1.0).all() else None
    if (np.abs(parameters[1, 1:-1]) > 1.0).any():
        return None
    slopes = slopes_of_keys(dialect, frames, values, parameters)
    length, chord = np.diff(frames), np.diff(values, axis=0)
    chord_slopes = chord / length[:, np.newaxis]
    result = np.clip(parameters, -1.0, 1.0)
    result[:, [0, -1]] = 0.0
    if len(frames) > 2:
        factors = _factors(dialect, length, parameters)[:, 1:-1]
        result[:, 1:-1] = _inner_parameters(factors, length[:-1], length[1:], parameters[1, 1:-1])
    # At the ends, only the tension has an effect.
    arriving, leaving = slopes
    result[0, 0] = _end_tension(leaving[0], _end_slope(chord_slopes[0], arriving[1], len(frames)))
    result[0, -1] = _end_tension(arriving[-1], _end_slope(chord_slopes[-1], leaving[-2], len(frames)))
    if not (np.abs(result) <= 1.0 + _ROUNDING).all():
        return None
    result = np.clip(result, -1.0, 1.0)
    slopes_of_result = slopes_of_keys("3DS", frames, values, result)
    steepest = max(np.abs(array).max() for array in (*slopes, chord_slopes))
    error = max(np.abs(of_result - given).max() for of_result, given in zip(slopes_of_result, slopes, strict=True))
    return result if error <= _SAME_SLOPE * steepest else None


def _end_slope(chord_slope: Float64Array, inner_slope: Float64Array, count: int) -> Float64Array:
    """Return the slope (d,) of an end key without tension, from the slope at the other end of its segment.

    With more than two keys, the end is parabolic. See docs/formulas, "TCB tangents".
    """
    return chord_slope if count == 2 else 1.5 * chord_slope - 0.5 * inner_slope


def _end_tension(slope: Float64Array, slope_without_tension: Float64Array) -> float:
    """Return the tension of an end key with this slope, or 0 if tension has no effect."""
    square = float(slope_without_tension @ slope_without_tension)
    return 1.0 - float(slope @ slope_without_tension) / square if square > 0.0 else 0.0


def _inner_parameters(
    factors: Float64Array, d1: Float64Array, d2: Float64Array, continuity: Float64Array
) -> Float64Array:
    """Return 3D Studio parameters (3, n) for the given factors, if there are any with this continuity.

    `d1` and `d2` contain the frames to the previous and to the next key.
    """
    level = (1.0 - np.abs(continuity)) * (d1 / (d1 + d2) - 0.5)
    incoming, outgoing = (0.5 + level) / d1, (0.5 - level) / d2
    less, more = 1.0 - continuity, 1.0 + continuity
    # Each weight appears in two factors. The larger factor is more accurate. One factor may be 0, but not both.
    less_is_larger = np.abs(less) > np.abs(more)
    x = np.where(less_is_larger, factors[0], factors[2])
    x = x / np.where(less_is_larger, incoming * less, outgoing * more)
    y = np.where(less_is_larger, factors[3], factors[1])
    y = y / np.where(less_is_larger, outgoing * less, incoming * more)
    total = x + y
    bias = np.divide(x - y, total, out=np.zeros_like(total), where=np.abs(total) > _ROUNDING)
    return np.stack((1.0 - total / 2.0, continuity, bias))


def _factors(dialect: Dialect, length: Float64Array, parameters: Float64Array) -> Float64Array:
    """Return the weight of each chord in each slope, shape (4, n), in the order of `_weights`.

    `length` contains the frames between keys, shape (n - 1,).
    """
    d1, d2 = np.append(0.0, length), np.append(length, 0.0)
    whole = d1 + d2
    # At the ends, one chord is 0, and its divisor has no effect.
    divisor1, divisor2 = np.where(d1 > 0.0, d1, 1.0), np.where(d2 > 0.0, d2, 1.0)
    weights = _weights(parameters)
    if dialect == "3DS":
        level = (1.0 - np.abs(parameters[1])) * (d1 / whole - 0.5)
        incoming, outgoing = (0.5 + level) / divisor1, (0.5 - level) / divisor2
        shares = np.stack((incoming, incoming, outgoing, outgoing))
    elif dialect == "LIGHTWAVE":
        shares = np.broadcast_to(1.0 / whole, weights.shape)
    elif dialect == "FBX":
        shares = np.stack((0.5 / divisor1, 0.5 / divisor2, 0.5 / divisor1, 0.5 / divisor2))
    else:
        first, second = d2 / (divisor1 * whole), d1 / (divisor2 * whole)
        shares = np.stack((first, second, first, second))
    factors: Float64Array = weights * shares
    return factors


def _weights(parameters: Float64Array) -> Float64Array:
    """Return the weights (4, n) of the chords before and after a key, in its incoming and outgoing tangents."""
    tension, continuity, bias = parameters
    x, y = (1.0 - tension) * (1.0 + bias), (1.0 - tension) * (1.0 - bias)
    less, more = 1.0 - continuity, 1.0 + continuity
    return np.stack((x * less, y * more, x * more, y * less))
