# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear extrapolation: the motion that a bake adds before the first key and after the last key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...fcurves.keyframes import Float32Array, Float64Array
from .protocol import Scope
from .splines import TrackSpline

_DIFFERENCE = 1.0 / 256.0
"""Slopes at the ends of a motion are finite differences over this distance in frames."""


def goes_on(scope: Scope, splines: Sequence[TrackSpline]) -> bool:
    """Return whether the bake adds keys outside the splines' keys because a component is extrapolated linearly."""
    sampling = scope.sampling
    ends = [(spline.frames[0], spline.frames[-1]) for spline in splines if len(spline.frames) > 1]
    if scope.cycle != "SINGLE" or all(sampling.low >= first and sampling.high <= last for first, last in ends):
        return False
    return any(scope.track.extrapolation(component) == "LINEAR" for component in scope.own)


def frames_aside(keys: Float32Array) -> Float64Array:
    """Return frames close to the first and last keys, from which to compute the slopes at these keys, shape (4,)."""
    first, last = float(keys[0]), float(keys[-1])
    step = min(_DIFFERENCE, (last - first) / 4.0)
    return np.array([first + step, first + 2.0 * step, last - 2.0 * step, last - step])


def slopes_at_ends(at: Float64Array, values: Float64Array, keys: Float32Array) -> tuple[Float64Array, Float64Array]:
    """Return the slopes at the first and last keys, shape (c,) each, from values (c, m) at the frames `at` (m,).

    `at` must include the frames returned by `frames_aside`.
    """
    frames = frames_aside(keys)
    first, last = np.searchsorted(at, [float(keys[0]), float(keys[-1])])
    one_after, two_after, two_before, one_before = (values[:, row] for row in np.searchsorted(at, frames))
    step = frames[0] - float(keys[0])
    # One-sided differences of second order.
    start = (4.0 * one_after - two_after - 3.0 * values[:, first]) / (2.0 * step)
    end = (3.0 * values[:, last] - 4.0 * one_before + two_before) / (2.0 * step)
    return start, end


def rests_at_ends(spline: TrackSpline) -> tuple[bool, bool]:
    """Return whether an ease brings the spline to rest at the first key and at the last key."""
    eases = spline.spline.keys.parameters[3:]
    return bool(eases[1, 0] > 0.0), bool(eases[0, -1] > 0.0)


def extrapolated(
    scope: Scope,
    spline: TrackSpline,
    values: Float64Array,
    frames: Float32Array,
    slopes: tuple[Float64Array, Float64Array],
) -> Float64Array:
    """Return the values (c, m), extrapolated outside the keys in components with linear extrapolation."""
    first, last = spline.frames[0], spline.frames[-1]
    result = values.copy()
    rests = rests_at_ends(spline)
    for row, component in enumerate(spline.components):
        if component not in scope.own or scope.track.extrapolation(component) != "LINEAR":
            continue
        for is_outside, key, slope, rest in (
            (frames < first, first, slopes[0][row], rests[0]),
            (frames > last, last, slopes[1][row], rests[1]),
        ):
            if is_outside.any():
                key_value = values[row, np.searchsorted(frames, key)]
                distance = frames[is_outside].astype(np.float64) - float(key)
                result[row, is_outside] = key_value + (0.0 if rest else slope) * distance
    return result
