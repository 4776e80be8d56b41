# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectorized evaluation of Bezier segments of F-curves, following Blender's algorithm.

Source: docs/formulas, "Bezier segments of F-curves". Blender (fcurve.cc, `fcurve_eval_keyframes_interpolate`) computes
in float32, whereas this module computes in float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .keyframes import INTERPOLATION, BoolArray, Float64Array, IndexArray, Keyframes

_SOLVED = 1e-12
"""Tolerance relative to the segment length, far below the precision of a float32 frame."""
_UPRIGHT = 1e-6
"""If the rate of frames, relative to the segment's mean rate, is lower than this, the tangent counts as vertical."""
_STEPS = 60
"""Iteration limit. Bisection converges in 40 steps."""


def is_plain(keys: Keyframes) -> BoolArray:
    """Return a mask of the keys that begin a Bezier segment whose handles both point into the segment.

    In other segments, the cubic may have several roots, and the value depends on the root that Blender finds first.
    """
    plain = np.zeros(len(keys), dtype=np.bool_)
    frames = keys.frames
    plain[:-1] = (keys.interpolation[:-1] == INTERPOLATION["BEZIER"]) & (frames[:-1] < frames[1:])
    plain[:-1] &= (keys.handle_right[:-1, 0] >= frames[:-1]) & (keys.handle_left[1:, 0] <= frames[1:])
    return plain


def evaluate(keys: Keyframes, begin: IndexArray, frames: npt.ArrayLike, nu: int = 0) -> Float64Array:
    """Return values, or derivatives per frame, at the frames. `begin` is the key at the start of each frame's segment.

    The segments must be plain. `nu` is the order of the derivative: 0 (values), 1 or 2.
    """
    used = np.zeros(len(keys), dtype=np.bool_)
    used[begin] = True
    first, inverse = np.flatnonzero(used), (np.cumsum(used) - 1)[begin]
    segments = _Segments.of(keys, first)
    t, paces, values = segments.parameters(inverse, frames)
    linear, square, cube = values
    if nu == 0:
        evaluated: Float64Array = ((cube * t + square) * t + linear) * t + segments.start[inverse, 1]
        return evaluated
    (pace, quickening), (rate, bend) = (
        ((3.0 * cube * t + 2.0 * square) * t + linear, 6.0 * cube * t + 2.0 * square)
        for linear, square, cube in (paces, values)
    )
    # If a handle is vertical, the tangent is vertical and the derivative is infinite.
    pace = np.maximum(pace, _UPRIGHT)
    slope = rate / pace
    derivative = slope if nu == 1 else (bend - slope * quickening) / pace**2
    per_frame: Float64Array = derivative / segments.chord[inverse, 0] ** nu
    return per_frame


class _Segments(NamedTuple):
    """Bezier segments, with handles shortened as in Blender. Each field contains (frame, value) pairs, shape (n, 2)."""

    start: Float64Array
    chord: Float64Array
    leaving: Float64Array
    """Vectors from the start to the first handle."""
    arriving: Float64Array
    """Vectors from the second handle to the end."""

    @classmethod
    def of(cls, keys: Keyframes, first: IndexArray) -> _Segments:
        """Create the segments that begin at the given keys."""
        start, end = keys.co[first].astype(np.float64), keys.co[first + 1].astype(np.float64)
        chord = end - start
        leaving, arriving = keys.handle_right[first] - start, end - keys.handle_left[first + 1]
        # Blender shortens handles that are longer than the segment.
        for handle in (leaving, arriving):
            handle *= (chord[:, 0] / np.maximum(chord[:, 0], handle[:, 0]))[:, np.newaxis]
        return cls(start, chord, leaving, arriving)

    def parameters(self, inverse: IndexArray, frames: npt.ArrayLike) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the parameters at the frames, and the coefficients of the cubics for frames and for values.

        `inverse` is the segment index of each frame. Frames are normalized: 0 at the start of the segment, 1 at the
        end.
        """
        _, chord, leaving, arriving = self
        # Compute the power coefficients for frames, relative to the segment length, and for values.
        cubic = np.stack(
            [3.0 * leaving, 3.0 * (chord - arriving - 2.0 * leaving), 3.0 * (leaving + arriving) - 2.0 * chord]
        )
        cubic[..., 0] /= chord[:, 0]
        powers = cubic.reshape(3, -1, 2).transpose(0, 2, 1).reshape(6, -1).take(inverse, axis=1)
        u = (np.asarray(frames, dtype=np.float64) - self.start[inverse, 0]) / chord[inverse, 0]
        return _parameter(powers[::2], u), powers[::2], powers[1::2]


def _parameter(powers: Float64Array, u: Float64Array) -> Float64Array:
    """Return the parameters at which cubics that rise from 0 to 1 equal u (Newton's method with bisection)."""
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
