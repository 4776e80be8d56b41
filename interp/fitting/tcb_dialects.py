# SPDX-License-Identifier: GPL-3.0-or-later
"""The slopes that other programs give to keys with tension, continuity and bias, and their 3D Studio parameters.

A slope is a weighted sum of the chords before and after the key. Dialects of TCB weight the tension, continuity and
bias equally, but divide the chords by different durations. Source: docs/formulas, "Dialects of TCB".
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..keys import Float64Array

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
    incoming = factors[0] * before + factors[1] * after
    outgoing = factors[2] * before + factors[3] * after
    start, end = chord[0] / length[0], chord[-1] / length[-1]
    if dialect in ("LIGHTWAVE", "FBX"):
        weights = _weights(parameters)
        outgoing[0], incoming[-1] = weights[3, 0] * start, weights[0, -1] * end
    else:
        slack = 1.0 - parameters[0, [0, -1]] if dialect == "3DS" else np.ones(2)
        outgoing[0] = slack[0] * _end_slope(start, incoming[1], count)
        incoming[-1] = slack[1] * _end_slope(end, outgoing[-2], count)
    incoming[0] = outgoing[-1] = 0.0
    return incoming, outgoing


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
    incoming, outgoing = slopes = slopes_of_keys(dialect, frames, values, parameters)
    length, chord = np.diff(frames), np.diff(values, axis=0)
    chord_slopes = chord / length[:, np.newaxis]
    result = np.clip(parameters, -1.0, 1.0)
    result[:, [0, -1]] = 0.0
    if len(frames) > 2:
        factors = _factors(dialect, length, parameters)[:, 1:-1]
        result[:, 1:-1] = _inner_parameters(factors, length[:-1], length[1:], parameters[1, 1:-1])
    # At the ends, only the tension has an effect.
    result[0, 0] = _end_tension(outgoing[0], _end_slope(chord_slopes[0], incoming[1], len(frames)))
    result[0, -1] = _end_tension(incoming[-1], _end_slope(chord_slopes[-1], outgoing[-2], len(frames)))
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
    """Return 3D Studio parameters (3, n) for the given `_factors`, if there are any with this continuity.

    `d1` and `d2` contain the frames to the previous and to the next key.
    """
    incoming, outgoing = _shares_of_3ds(d1, d2, continuity)
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
    """Return the factor of each chord in each slope of inner keys, shape (4, n), in the order of `_weights`.

    `length` contains the frames between keys, shape (n - 1,).
    """
    # The slopes of end keys do not use these factors, so their missing chords may have any length.
    d1, d2 = np.append(1.0, length), np.append(length, 1.0)
    weights = _weights(parameters)
    if dialect == "3DS":
        incoming, outgoing = _shares_of_3ds(d1, d2, parameters[1])
        shares = np.stack((incoming, incoming, outgoing, outgoing))
    elif dialect == "LIGHTWAVE":
        shares = np.broadcast_to(1.0 / (d1 + d2), weights.shape)
    elif dialect == "FBX":
        shares = np.stack((0.5 / d1, 0.5 / d2, 0.5 / d1, 0.5 / d2))
    else:
        before, after = d2 / (d1 * (d1 + d2)), d1 / (d2 * (d1 + d2))
        shares = np.stack((before, after, before, after))
    factors: Float64Array = weights * shares
    return factors


def _shares_of_3ds(d1: Float64Array, d2: Float64Array, continuity: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the factors of both chords in the incoming and in the outgoing slope, without their weights."""
    shift = (1.0 - np.abs(continuity)) * (d1 / (d1 + d2) - 0.5)
    return (0.5 + shift) / d1, (0.5 - shift) / d2


def _weights(parameters: Float64Array) -> Float64Array:
    """Return the weights (4, n) of the chords before and after a key, in its incoming and then its outgoing slope."""
    tension, continuity, bias = parameters
    x, y = (1.0 - tension) * (1.0 + bias), (1.0 - tension) * (1.0 - bias)
    less, more = 1.0 - continuity, 1.0 + continuity
    return np.stack((x * less, y * more, x * more, y * less))
