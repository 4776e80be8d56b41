# SPDX-License-Identifier: GPL-3.0-or-later
"""The slopes that other programs give to keys with tension, continuity and bias, and their 3D Studio parameters.

A slope is a weighted sum of the chords before and after the key. Dialects of TCB weight the tension, continuity and
bias equally, but divide the chords by different durations. Source: docs/formulas, "Dialects of TCB".
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..keys import Float64Array
from ..tcb_tangents import inner_tangents, weighted_sums

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
    # The slopes of end keys are replaced below, so their missing chords may have any length.
    lengths = np.append(1.0, length), np.append(length, 1.0)
    incoming, outgoing = (slopes.T for slopes in _inner_slopes(dialect, lengths, parameters, before.T, after.T))
    start, end = chord[0] / length[0], chord[-1] / length[-1]
    if dialect in ("LIGHTWAVE", "FBX"):
        no_slope = np.zeros_like(start)
        outgoing[0] = weighted_sums(parameters[:, 0], no_slope, start)[1]
        incoming[-1] = weighted_sums(parameters[:, -1], end, no_slope)[0]
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
        result[:, 1:-1] = _inner_parameters(dialect, (length[:-1], length[1:]), parameters[:, 1:-1])
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
    dialect: Dialect, lengths: tuple[Float64Array, Float64Array], parameters: Float64Array
) -> Float64Array:
    """Return 3D Studio parameters (3, n) with the same slopes at inner keys, if there are any with this continuity."""
    continuity = parameters[1]
    zeros, ones = np.zeros_like(continuity), np.ones_like(continuity)
    weights = []
    # Both slopes contain a chord with the same weight, (1-T)(1+B) before the key and (1-T)(1-B) after it.
    for chords in ((ones, zeros), (zeros, ones)):
        given = np.stack(_inner_slopes(dialect, lengths, parameters, *chords))
        unweighted = np.stack(_inner_slopes("3DS", lengths, np.stack((zeros, continuity, zeros)), *chords))
        # The slope with the larger factor is more accurate. One factor may be 0, but not both.
        larger = np.argmax(np.abs(unweighted), axis=0)[np.newaxis]
        weights.append((np.take_along_axis(given, larger, 0) / np.take_along_axis(unweighted, larger, 0))[0])
    x, y = weights
    total = x + y
    bias = np.divide(x - y, total, out=np.zeros_like(total), where=np.abs(total) > _ROUNDING)
    return np.stack((1.0 - total / 2.0, continuity, bias))


def _inner_slopes(
    dialect: Dialect,
    lengths: tuple[Float64Array, Float64Array],
    parameters: Float64Array,
    before: Float64Array,
    after: Float64Array,
) -> tuple[Float64Array, Float64Array]:
    """Return the slopes before and after inner keys, with the shape of the chords.

    `lengths` are the frames from the previous key and to the next key, each of shape (n,). `before` and `after` are
    the chords, of shape (n,) or (d, n).
    """
    d1, d2 = lengths
    share = d1 / (d1 + d2)
    if dialect == "3DS":
        incoming, outgoing = inner_tangents(parameters, before, after, share)
        return incoming / d1, outgoing / d2
    if dialect == "LIGHTWAVE":
        return weighted_sums(parameters, before / (d1 + d2), after / (d1 + d2))
    weights = (0.5, 0.5) if dialect == "FBX" else (1.0 - share, share)
    return weighted_sums(parameters, weights[0] / d1 * before, weights[1] / d2 * after)
