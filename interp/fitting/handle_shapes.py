# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the handle shapes with which Bezier segments best fit a motion, and round them as Blender stores handles.

A shape consists of the reach of each handle into its segment and the derivative of each channel at both keys. Source:
docs/formulas, "Fitting handles".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import ease
from ..cubics import hermite_weights
from ..key_batch import IndexArray
from ..keys import Float32Array, Float64Array
from ..rotations import sphere
from .bezier_segments import LONGEST_REACH, bezier_powers, frame_powers, rise_at
from .channel_shapes import fitted_channels
from .handle_motion import Course, SamplePoints, Segments
from .quaternion_shapes import fitted_quaternions

_SHORTEST_START = 0.05
"""Minimum reach, relative to a segment, of handles next to an ease, before the first step."""
_MORE_STEPS = 3
"""The number of steps from a known shape."""
_MANY = 400
"""A draft of more columns is limited to one step."""


class Shape(NamedTuple):
    """The fitted handles of a course's columns."""

    reach: Float64Array
    """The reach of the handles at the start and end, relative to the segment, shape (2, c, N)."""
    rates: Float64Array
    """Derivatives of the value with respect to u at the start and end, shape (2, c, N)."""

    def of_segments(self, segments: IndexArray, count: int) -> Shape:
        """Return the shapes of some of `count` segments, whose channels may have separate columns."""
        return Shape(
            *(array.reshape(*array.shape[:2], -1, count)[..., segments].reshape(*array.shape[:2], -1) for array in self)
        )


def fitted_shape(course: Course, points: SamplePoints, known: Shape | None = None, is_draft: bool = False) -> Shape:
    """Return the handles of all columns, close to the least-squares solution at the nodes.

    The fit continues from a known shape with the same nodes. A draft takes few steps.
    """
    if known is not None and course.is_quaternion:
        # More points do not change the nodes. For other channels, they show angles that turned the other way.
        return known
    shape = Shape(np.full(course.rates.shape, 1.0 / 3.0), course.rates.copy())
    course = course._replace(values=course.values[:, points.node_rows])
    columns = np.flatnonzero(course.is_fitted)
    if len(columns):
        steps = None if known is None else _MORE_STEPS
        if is_draft:
            steps = 1 if len(columns) > _MANY else 5
        # NumPy sums a single column in a different order, so it is repeated.
        columns = np.repeat(columns, 2) if len(columns) == 1 else columns
        normalized, size = _normalized(course.take(columns))
        start = _start(normalized.eases, points.nodes) if known is None else known.reach[:, 0, columns]
        fit = fitted_quaternions if course.is_quaternion else fitted_channels
        reach, rates = fit(normalized, points.nodes, start, steps)
        shape.reach[..., columns], shape.rates[..., columns] = reach, rates * size
    return shape


def _normalized(course: Course) -> tuple[Course, Float64Array]:
    """Return the course scaled to values of about 1, and the divisors of its rates, shape (N,)."""
    if course.is_quaternion:
        # The values already have length 1. The keys may have any length.
        size = _nonzero(sphere.length(course.keys[0]))
        return course._replace(keys=course.keys / size, rates=course.rates / size, path=course.path / size), size
    (origin,) = course.keys[0]
    changes = np.concatenate([course.keys[1:] - course.keys[:1], course.path, course.rates])
    size = _nonzero(np.abs(changes).max(axis=(0, 1)))
    keys, values = (course.keys - origin) / size, (course.values - origin) / size
    return course._replace(keys=keys, values=values, rates=course.rates / size, path=course.path / size), size


def _nonzero(size: Float64Array) -> Float64Array:
    """Return sizes as divisors, with 1 instead of 0."""
    return np.where(size > 0.0, size, 1.0)


def _start(eases: Float64Array, nodes: Float64Array) -> Float64Array:
    """Return the reach (2, N) from which the descent starts. Handles are at thirds, or follow the ease."""
    if eases.any():
        return _eased_reach(nodes[:, np.newaxis], *eases)
    return np.full(eases.shape, 1.0 / 3.0)


def _eased_reach(t: Float64Array, ease_from: Float64Array, ease_to: Float64Array) -> Float64Array:
    """Return the reach (2, N) of handles with heights at thirds, for which a line best follows the ease.

    The method is a linear least-squares fit of the frame's cubic at the parameters t (m, 1). With heights at thirds,
    the value of the line is t, so the frame must be the inverse of the ease. Frame errors times the speed of the line
    are value errors.
    """
    # The inverse of the ease, which is parabolic at both ends and linear between them.
    scale = 1.0 / (2.0 - ease_from - ease_to)
    u = (t / scale + ease_from) / 2.0
    u = np.where(t < scale * ease_from, np.sqrt(t * ease_from / scale), u)
    u = np.where(1.0 - t < scale * ease_to, 1.0 - np.sqrt((1.0 - t) * ease_to / scale), u)
    speed = ease.ease(u, np.broadcast_to(ease_from, u.shape), np.broadcast_to(ease_to, u.shape), 1)
    rise, leaving, arriving = (3.0 * speed * weight for weight in hermite_weights(t))
    target = u * speed - rise / 3.0
    # Normal equations [[a, b], [b, d]] @ reach = (p, q), solved by Cramer's rule.
    a, b, d = ((x * y).sum(axis=0) for x, y in ((leaving, leaving), (leaving, arriving), (arriving, arriving)))
    p, q = (leaving * target).sum(axis=0), (arriving * target).sum(axis=0)
    reach: Float64Array = np.stack([d * p - b * q, a * q - b * p]) / (a * d - b * b)
    return np.clip(reach, _SHORTEST_START, LONGEST_REACH)


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
