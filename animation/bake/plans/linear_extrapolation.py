# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear extrapolation: straight lines outside the keys, with the slopes that the motion has at the outer keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...fcurves.keyframes import Float32Array, Float64Array
from .protocol import Scope
from .track_splines import TrackSpline

_DIFFERENCE = 1.0 / 256.0
"""Distance in frames of the finite differences that give slopes, far below one frame and far above float64 rounding."""


def extrapolates(scope: Scope, splines: Sequence[TrackSpline]) -> bool:
    """Return whether the bake adds keys outside the splines' keys because a component is extrapolated linearly."""
    sampling = scope.sampling
    ends = [(spline.frames[0], spline.frames[-1]) for spline in splines if len(spline.frames) > 1]
    if scope.cycle != "SINGLE" or all(sampling.low >= first and sampling.high <= last for first, last in ends):
        return False
    return any(scope.track.extrapolation(component) == "LINEAR" for component in scope.own)


def rests_at_ends(spline: TrackSpline) -> tuple[bool, bool]:
    """Return whether an ease brings the spline to rest at the first key and at the last key."""
    ease_to, ease_from = spline.spline.keys.parameters[3:]
    return bool(ease_from[0] > 0.0), bool(ease_to[-1] > 0.0)


def frames_beside_ends(keys: Float32Array) -> Float64Array:
    """Return frames close to the first and last keys, from which to compute the slopes at these keys, shape (4,)."""
    first, last = float(keys[0]), float(keys[-1])
    step = min(_DIFFERENCE, (last - first) / 4.0)
    return np.array([first + step, first + 2.0 * step, last - 2.0 * step, last - step])


def slopes_at_ends(keys: Float32Array, frames: Float64Array, values: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the slopes at the first and last keys, shape (c,) each, from the values (c, m) at the frames (m,).

    `frames` must include the first and last keys and the `frames_beside_ends`.
    """
    beside = frames_beside_ends(keys)
    first, last = np.searchsorted(frames, [float(keys[0]), float(keys[-1])])
    one_after, two_after, two_before, one_before = (values[:, row] for row in np.searchsorted(frames, beside))
    step = beside[0] - float(keys[0])
    # One-sided differences of second order.
    start = (4.0 * one_after - two_after - 3.0 * values[:, first]) / (2.0 * step)
    end = (3.0 * values[:, last] - 4.0 * one_before + two_before) / (2.0 * step)
    return start, end


def extrapolated(
    scope: Scope,
    spline: TrackSpline,
    frames: Float32Array,
    values: Float64Array,
    slopes: tuple[Float64Array, Float64Array],
) -> Float64Array:
    """Return the values (c, m) at the frames, on straight lines outside the keys where extrapolation is linear."""
    first, last = spline.frames[0], spline.frames[-1]
    result = values.copy()
    rests = rests_at_ends(spline)
    for row, component in enumerate(spline.components):
        if component not in scope.own or scope.track.extrapolation(component) != "LINEAR":
            continue
        for is_outside, key, slope, is_at_rest in (
            (frames < first, first, slopes[0][row], rests[0]),
            (frames > last, last, slopes[1][row], rests[1]),
        ):
            if is_outside.any():
                key_value = values[row, np.searchsorted(frames, key)]
                distance = frames[is_outside].astype(np.float64) - float(key)
                result[row, is_outside] = key_value + (0.0 if is_at_rest else slope) * distance
    return result
