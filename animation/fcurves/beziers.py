# SPDX-License-Identifier: GPL-3.0-or-later
"""What Bezier segments of F-curves play, as Blender evaluates them, many at once.

Source: Blender's fcurve.cc, `fcurve_eval_keyframes_interpolate`. It computes in float32, here it is float64.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .keyframes import INTERPOLATION, BoolArray, IndexArray, Keyframes

Float64Array = npt.NDArray[np.float64]

_SOLVED = 1e-12
"""Of a segment's length: far below what float32 tells of a frame."""
_UPRIGHT = 1e-6
"""Of the segment's mean pace: a frame that goes more slowly with the parameter is one that stands."""
_STEPS = 60
"""Halving alone comes as near in 40."""


def is_plain(keys: Keyframes) -> BoolArray:
    """Which keys begin a Bezier segment whose handles point into it; the last key begins none.

    What Blender plays of others depends on which root of a cubic it takes first.
    """
    plain = np.zeros(len(keys), dtype=np.bool_)
    frames = keys.frames
    plain[:-1] = (keys.interpolation[:-1] == INTERPOLATION["BEZIER"]) & (frames[:-1] < frames[1:])
    plain[:-1] &= (keys.handle_right[:-1, 0] >= frames[:-1]) & (keys.handle_left[1:, 0] <= frames[1:])
    return plain


def evaluate(keys: Keyframes, begin: IndexArray, frames: npt.ArrayLike, nu: int = 0) -> Float64Array:
    """Return values at frames, or first or second derivatives a frame, each in the plain segment that begins at that
    key."""
    used = np.zeros(len(keys), dtype=np.bool_)
    used[begin] = True
    first, inverse = np.flatnonzero(used), (np.cumsum(used) - 1)[begin]
    start, end = keys.co[first].astype(np.float64), keys.co[first + 1].astype(np.float64)
    chord = end - start
    leaving, arriving = keys.handle_right[first] - start, end - keys.handle_left[first + 1]
    # Blender shortens a handle that is longer than the segment.
    for handle in (leaving, arriving):
        handle *= (chord[:, 0] / np.maximum(chord[:, 0], handle[:, 0]))[:, np.newaxis]
    # Powers of the parameter: in frames, of the segment's length, and in values.
    cubic = np.stack(
        [3.0 * leaving, 3.0 * (chord - arriving - 2.0 * leaving), 3.0 * (leaving + arriving) - 2.0 * chord]
    )
    cubic[..., 0] /= chord[:, 0]
    powers = cubic.reshape(3, -1, 2).transpose(0, 2, 1).reshape(6, -1).take(inverse, axis=1)
    u = (np.asarray(frames, dtype=np.float64) - start[inverse, 0]) / chord[inverse, 0]
    t = _parameter(powers[::2], u)
    linear, square, cube = powers[1::2]
    if nu == 0:
        values: Float64Array = ((cube * t + square) * t + linear) * t + start[inverse, 1]
        return values
    (pace, quickening), (rate, bend) = (
        ((3.0 * cube * t + 2.0 * square) * t + linear, 6.0 * cube * t + 2.0 * square)
        for linear, square, cube in (powers[::2], powers[1::2])
    )
    # Where a handle stands upright the curve does.
    pace = np.maximum(pace, _UPRIGHT)
    slope = rate / pace
    derivative = slope if nu == 1 else (bend - slope * quickening) / pace**2
    per_frame: Float64Array = derivative / chord[inverse, 0] ** nu
    return per_frame


def _parameter(powers: Float64Array, u: Float64Array) -> Float64Array:
    """Return where rising cubics from 0 to 1 are u, by Newton's steps, halving where these lead out of the bracket."""
    result = u.copy()
    low, high = np.zeros_like(u), np.ones_like(u)
    t, going = u, np.arange(len(u))
    for _ in range(_STEPS):
        linear, square, cube = powers
        off = ((cube * t + square) * t + linear) * t - u
        far = np.abs(off) > _SOLVED
        result[going] = t
        if not far.any():
            break
        low, high = np.where(off < 0.0, t, low), np.where(off > 0.0, t, high)
        slope = (3.0 * cube * t + 2.0 * square) * t + linear
        t = t - np.divide(off, slope, out=np.full_like(t, np.inf), where=slope > 0.0)
        t = np.where((t > low) & (t < high), t, 0.5 * (low + high))
        if np.count_nonzero(far) < len(far) // 2:
            going, t, u, low, high = (each[far] for each in (going, t, u, low, high))
            powers = powers.compress(far, axis=1)
    return result
