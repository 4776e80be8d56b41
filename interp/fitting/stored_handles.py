# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles as Blender stores them, in float32, and the motion that they play."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..keys import Float32Array, Float64Array
from .bezier_segments import bezier_powers, frame_powers, rise_at
from .handle_motion import Course, Segments
from .handle_shapes import Shape


class StoredHandles(NamedTuple):
    """The float32 handles of N columns, and their cubics."""

    frames: Float32Array
    """The handles after the start and before the end, shape (2, c, N)."""
    values: Float32Array
    rise: Float64Array
    """The coefficients of the frame relative to the segment, as returned by `frame_powers`."""
    powers: Float64Array
    """The coefficients of the value."""
    begin: Float64Array
    """The value at the start, shape (c, N)."""

    @classmethod
    def of(cls, segments: Segments, course: Course, shape: Shape) -> StoredHandles:
        """Return the handles of each column."""
        frames, values = float32_handles(segments, course, shape)
        keys = course.keys.astype(np.float32).astype(np.float64)
        powers = bezier_powers(keys[1] - keys[0], values[0] - keys[0], keys[1] - values[1])
        return cls(frames, values, frame_powers(_reach(segments, frames)), powers, keys[0])

    def played(self, parameter: Float64Array) -> Float64Array:
        """Return the values at parameters (c, m, N)."""
        return rise_at(self.powers, parameter) + self.begin[:, np.newaxis]


def float32_handles(segments: Segments, course: Course, shape: Shape) -> tuple[Float32Array, Float32Array]:
    """Return the float32 frames and values (2, c, N) of the handles."""
    start, end = np.tile(segments.frames, course.keys.shape[2] // len(segments.begin))
    length = end - start
    frames = np.stack([start + shape.reach[0] * length, end - shape.reach[1] * length]).astype(np.float32)
    leaving, arriving = _reach(segments, frames) * shape.rates
    return frames, np.stack([course.keys[0] + leaving, course.keys[1] - arriving]).astype(np.float32)


def _reach(segments: Segments, frames: Float32Array) -> Float64Array:
    """Return the reach of handles at these frames relative to the segment, shape (2, c, N)."""
    start, end = np.tile(segments.frames, frames.shape[2] // len(segments.begin))
    length = end - start
    return np.stack([(frames[0] - start) / length, (end - frames[1]) / length])
