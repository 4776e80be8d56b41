# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangents that different programs derive from tension, continuity and bias of any size.

Source: docs/formulas, "TCB tangents" and "Dialects of TCB".
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..keys import Float64Array

Dialect = Literal["3DS", "LIGHTWAVE", "FBX", "KB"]


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
    none = np.zeros((1, values.shape[1]))
    before, after = np.concatenate((none, chord)), np.concatenate((chord, none))
    factors = _factors(dialect, length, parameters)[:, :, np.newaxis]
    arriving = factors[0] * before + factors[1] * after
    leaving = factors[2] * before + factors[3] * after
    start, end = chord[0] / length[0], chord[-1] / length[-1]
    if dialect in ("LIGHTWAVE", "FBX"):
        weights = _weights(parameters)
        leaving[0], arriving[-1] = weights[3, 0] * start, weights[0, -1] * end
    else:
        slack = 1.0 - parameters[0, [0, -1]] if dialect == "3DS" else np.ones(2)
        alone = count == 2
        leaving[0] = slack[0] * (start if alone else 1.5 * start - 0.5 * arriving[1])
        arriving[-1] = slack[1] * (end if alone else 1.5 * end - 0.5 * leaving[-2])
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
        within = bool((np.abs(parameters) <= 1.0).all())
        return parameters if within else None
    if (np.abs(parameters[1, 1:-1]) > 1.0).any():
        return None
    wanted = slopes_of_keys(dialect, frames, values, parameters)
    length, chord = np.diff(frames), np.diff(values, axis=0)
    found = np.clip(parameters, -1.0, 1.0)
    found[:, [0, -1]] = 0.0
    if len(frames) > 2:
        factors = _factors(dialect, length, parameters)[:, 1:-1]
        found[:, 1:-1] = _inner_parameters(factors, length[:-1], length[1:], parameters[1, 1:-1])
    # At the ends, only the tension has an effect.
    for key, slopes, one in ((0, wanted[1], chord[0] / length[0]), (-1, wanted[0], chord[-1] / length[-1])):
        other = wanted[0][1] if key == 0 else wanted[1][-2]
        full = one if len(frames) == 2 else 1.5 * one - 0.5 * other
        square = float(full @ full)
        found[0, key] = 1.0 - float(slopes[key] @ full) / square if square > 0.0 else 0.0
    if not (np.abs(found) <= 1.0 + _ROUNDING).all():
        return None
    found = np.clip(found, -1.0, 1.0)
    own = slopes_of_keys("3DS", frames, values, found)
    steepest = max(np.abs(each).max() for each in (*wanted, chord / length[:, np.newaxis]))
    off = max(np.abs(mine - theirs).max() for mine, theirs in zip(own, wanted, strict=True))
    return found if off <= _SAME_SLOPE * steepest else None


_ROUNDING = 1e-9
_SAME_SLOPE = 1e-6
"""Slopes that differ by less than this fraction of a track's steepest chord or tangent are equal in float32."""


def _weights(parameters: Float64Array) -> Float64Array:
    """Return the weights (4, n) of the chords before and after a key, in its incoming and outgoing tangents."""
    tension, continuity, bias = parameters
    x, y = (1.0 - tension) * (1.0 + bias), (1.0 - tension) * (1.0 - bias)
    less, more = 1.0 - continuity, 1.0 + continuity
    return np.stack((x * less, y * more, x * more, y * less))


def _factors(dialect: Dialect, length: Float64Array, parameters: Float64Array) -> Float64Array:
    """Return the weight of each chord in each slope, shape (4, n), in the order of `_weights`."""
    d1, d2 = np.append(0.0, length), np.append(length, 0.0)
    safe1, safe2, whole = np.where(d1 > 0.0, d1, 1.0), np.where(d2 > 0.0, d2, 1.0), d1 + d2
    weights = _weights(parameters)
    if dialect == "3DS":
        level = (1.0 - np.abs(parameters[1])) * (d1 / whole - 0.5)
        incoming, outgoing = (0.5 + level) / safe1, (0.5 - level) / safe2
        shares = np.stack((incoming, incoming, outgoing, outgoing))
    elif dialect == "LIGHTWAVE":
        shares = np.broadcast_to(1.0 / whole, weights.shape)
    elif dialect == "FBX":
        shares = np.stack((0.5 / safe1, 0.5 / safe2, 0.5 / safe1, 0.5 / safe2))
    else:
        first, second = d2 / (safe1 * whole), d1 / (safe2 * whole)
        shares = np.stack((first, second, first, second))
    factors: Float64Array = weights * shares
    return factors


def _inner_parameters(
    factors: Float64Array, d1: Float64Array, d2: Float64Array, continuity: Float64Array
) -> Float64Array:
    """Return 3D Studio parameters (3, n) for the given factors, if there are any with this continuity."""
    level = (1.0 - np.abs(continuity)) * (d1 / (d1 + d2) - 0.5)
    incoming, outgoing = (0.5 + level) / d1, (0.5 - level) / d2
    less, more = 1.0 - continuity, 1.0 + continuity
    # Each weight appears in two factors. The larger factor is more accurate. One factor may be 0, but not both.
    low = np.abs(less) > np.abs(more)
    x = np.where(low, factors[0], factors[2]) / np.where(low, incoming * less, outgoing * more)
    y = np.where(low, factors[3], factors[1]) / np.where(low, outgoing * less, incoming * more)
    total = x + y
    bias = np.divide(x - y, total, out=np.zeros_like(total), where=np.abs(total) > _ROUNDING)
    return np.stack((1.0 - total / 2.0, continuity, bias))
