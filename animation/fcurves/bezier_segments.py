# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluate Bezier segments of F-curves at many frames, including derivatives.

Segments are evaluated in float64 from arrays of keys, without F-curves. Blender (fcurve.cc,
`fcurve_eval_keyframes_interpolate`) computes in float32.

Source: docs/formulas, "Bezier segments of F-curves".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...interp.cubics import solve_cubics
from .keyframes import INTERPOLATION, BoolArray, Float64Array, IndexArray, Keyframes

_MIN_FRAME_DERIVATIVE = 1e-6
"""If the derivative of frames, relative to the segment length, is lower than this, the tangent counts as vertical."""


def is_plain(keys: Keyframes) -> BoolArray:
    """Return a mask of the keys that begin a Bezier segment whose handles both point into the segment.

    In other segments, the cubic may have several roots, and the value depends on the root that Blender finds first.
    """
    mask = np.zeros(len(keys), dtype=np.bool_)
    starts, ends = keys.frames[:-1], keys.frames[1:]
    mask[:-1] = (keys.interpolation[:-1] == INTERPOLATION["BEZIER"]) & (starts < ends)
    mask[:-1] &= (keys.handle_right[:-1, 0] >= starts) & (keys.handle_left[1:, 0] <= ends)
    return mask


def evaluate_beziers(keys: Keyframes, begin: IndexArray, frames: npt.ArrayLike, nu: int = 0) -> Float64Array:
    """Evaluate segments at the frames. `begin` contains the key at the start of each frame's segment, shape (m,).

    Return values, or derivatives per frame, shape (m,). The segments must be plain. `nu` is the order of the
    derivative: 0 (values), 1 or 2.
    """
    is_used = np.zeros(len(keys), dtype=np.bool_)
    is_used[begin] = True
    segments, segment = _BezierSegments.of(keys, np.flatnonzero(is_used)), (np.cumsum(is_used) - 1)[begin]
    t, frame_cubics, value_cubics = segments.parameters(segment, frames)
    if nu == 0:
        linear, square, cube = value_cubics
        values: Float64Array = ((cube * t + square) * t + linear) * t + segments.start[segment, 1]
        return values
    frame_derivative, frame_second = _derivatives(frame_cubics, t)
    value_derivative, value_second = _derivatives(value_cubics, t)
    # If a handle is vertical, the tangent is vertical and the derivative is infinite.
    frame_derivative = np.maximum(frame_derivative, _MIN_FRAME_DERIVATIVE)
    slope = value_derivative / frame_derivative
    derivative = slope if nu == 1 else (value_second - slope * frame_second) / frame_derivative**2
    per_frame: Float64Array = derivative / segments.chord[segment, 0] ** nu
    return per_frame


class _BezierSegments(NamedTuple):
    """Bezier segments, with handles shortened as in Blender. Each field contains (frame, value) pairs, shape (n, 2)."""

    start: Float64Array
    chord: Float64Array
    leaving: Float64Array
    """Vectors from the start to the first handle."""
    arriving: Float64Array
    """Vectors from the second handle to the end."""

    @classmethod
    def of(cls, keys: Keyframes, first: IndexArray) -> _BezierSegments:
        """Create the segments that begin at the given keys."""
        start, end = keys.co[first].astype(np.float64), keys.co[first + 1].astype(np.float64)
        chord = end - start
        leaving, arriving = keys.handle_right[first] - start, end - keys.handle_left[first + 1]
        # Blender shortens handles that are longer than the segment.
        for handle in (leaving, arriving):
            handle *= (chord[:, 0] / np.maximum(chord[:, 0], handle[:, 0]))[:, np.newaxis]
        return cls(start, chord, leaving, arriving)

    def parameters(self, segment: IndexArray, frames: npt.ArrayLike) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the parameter t at each frame, and the power coefficients of the cubics for frames and for values.

        `segment` is the segment index of each frame. t has the shape (m,). Both sets of coefficients have the shape
        (3, m), from t to t cubed. Frames are normalized: 0 at the start of the segment, 1 at the end.
        """
        _, chord, leaving, arriving = self
        cubics = np.stack(
            [3.0 * leaving, 3.0 * (chord - arriving - 2.0 * leaving), 3.0 * (leaving + arriving) - 2.0 * chord]
        )
        cubics[..., 0] /= chord[:, 0]
        coefficients = cubics.reshape(3, -1, 2).transpose(0, 2, 1).reshape(6, -1).take(segment, axis=1)
        frame_cubics, value_cubics = coefficients[::2], coefficients[1::2]
        u = (np.asarray(frames, dtype=np.float64) - self.start[segment, 0]) / chord[segment, 0]
        return solve_cubics(frame_cubics, u), frame_cubics, value_cubics


def _derivatives(cubics: Float64Array, t: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the first and second derivatives of cubics with respect to the parameter t."""
    linear, square, cube = cubics
    return (3.0 * cube * t + 2.0 * square) * t + linear, 6.0 * cube * t + 2.0 * square
