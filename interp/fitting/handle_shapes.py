# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the handle shapes with which Bezier segments best fit a motion, and round them as Blender stores handles.

A shape consists of the reach of each handle into its segment and the derivative of each channel at both keys. Damped
Gauss-Newton steps optimize both. Playback normalizes quaternions, so their four channels are fitted together.

The frame and the value of a segment are cubics in a common parameter t. Arrays have the shape (c, m, N) for c channels,
m points and N columns. Source: docs/formulas, "Fitting handles" and "Bezier form of a cubic".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .. import ease
from ..cubics import hermite_powers, hermite_weights
from ..keys import BoolArray, Float32Array, Float64Array, IndexArray
from ..rotations import sphere
from .handle_motion import Course, SamplePoints, Segments
from .least_squares import DenseEquations, Method, descend

_Limits = tuple[tuple[int, float], ...]

_NEWTON_STEPS, _SOLVED = 10, 1e-10
"""The Newton steps to the accuracy of float64, and an accuracy far below the float32 resolution of frames."""
_FEW_NEWTON_STEPS = 2
"""The number of Newton steps after each change to the handles, starting from the previous parameters."""
_LONGEST_REACH = 0.88
"""Maximum reach relative to a segment. With two such handles, the frame still increases in the middle."""
_SHORTEST_REACH = 0.02
"""Minimum reach relative to a segment. A handle without length has no direction."""
_SHORTEST_START = 0.05
"""Minimum reach, relative to a segment, of handles next to an ease, before the first step."""
_QUATERNION_LIMITS: _Limits = ((0, 5e-6), (2, 5e-5), (4, 7e-5), (14, 3e-3))
"""Quaternions are finished after so many steps if half the angle of their error, in radians, is within the limit.

Handles at thirds within the first limit stay. The second limit is slightly below the error allowed in a bake.
"""
_CHANNEL_LIMITS: _Limits = ((0, 2e-5),)
"""The same for other channels, whose error is relative to the size of the values."""
_DRAFT_LIMITS: _Limits = ((1, 3e-3),)
"""The limits for drafts of quaternions, which only need to look right temporarily."""
_QUATERNION_METHOD = Method(steps=26, least_gain=0.0, damping=0.002, less=0.5, more=2.0, rounds=0)
_EASED_QUATERNION_METHOD = replace(_QUATERNION_METHOD, damping=0.01)
"""Some quaternions start with large errors next to eases."""
_CHANNEL_METHOD = Method(steps=14, least_gain=0.01, damping=0.1, less=0.3, more=3.0, rounds=0)
_LONGEST_STEP = 0.25
"""Maximum change in a reach in one step, relative to a segment."""
_LARGEST_RATIO = 5.0
"""Maximum ratio of the reaches before and after a step, and inverse of the minimum ratio."""
_FLOOR, _LEAST_FLOOR = 1e-7, 1e-14
"""Relative and absolute additions to the diagonal for unknowns that have no effect, as in a channel at rest."""
_LEAST_ALONG = 0.1
"""Minimum length of a quaternion along the motion. Close to a right angle, the residual would grow without bound."""
_MANY = 400
"""A draft of more columns is limited to one step."""


class Shape(NamedTuple):
    """The fitted handles of a course's columns."""

    reach: Float64Array
    """The reach of the handles at the start and end, relative to the segment, shape (2, c, N)."""
    rates: Float64Array
    """Derivatives of the value with respect to u at the start and end, shape (2, c, N)."""


def fitted_shape(course: Course, points: SamplePoints, is_draft: bool = False) -> Shape:
    """Return the handles of all columns, close to the least-squares solution at the nodes. A draft takes few steps."""
    shape = Shape(np.full(course.rates.shape, 1.0 / 3.0), course.rates.copy())
    course = course._replace(values=course.values[:, points.node_rows])
    columns = np.flatnonzero(course.is_fitted)
    if len(columns):
        # NumPy sums a single column in a different order, so it is repeated.
        columns = np.repeat(columns, 2) if len(columns) == 1 else columns
        normalized, size = _normalized(course.take(columns))
        method, limits = _CHANNEL_METHOD, _CHANNEL_LIMITS
        if course.is_quaternion:
            method = _EASED_QUATERNION_METHOD if course.eases.any() else _QUATERNION_METHOD
            limits = _DRAFT_LIMITS if is_draft else _QUATERNION_LIMITS
        if is_draft:
            method = replace(method, steps=1 if len(columns) > _MANY else 5)
        fit = _HandleFit.of(normalized, points.nodes, limits)
        reach, rates = _reach_and_rates(descend(fit, fit.start(), *fit.bounds, method).x)
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
    return np.clip(reach, _SHORTEST_START, _LONGEST_REACH)


def _reach_and_rates(x: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Split the unknowns (4 c, N) into reach and rates, each of shape (2, c, N)."""
    reach, rates = x.reshape(2, 2, len(x) // 4, -1)
    return reach, rates


class _State(NamedTuple):
    """Residuals of handles and their derivatives."""

    parameter: Float64Array
    """Parameters t at the nodes, shape (c, nodes, N)."""
    residuals: Float64Array
    """The errors at the nodes, for quaternions perpendicular to the motion, shape (c, nodes, N)."""
    jacobian: Float64Array
    """Derivatives of channel values with respect to reach and rate at the start and end, shape (4, c, nodes, N)."""
    rate_errors: Float64Array
    """The errors of the rates, for quaternions perpendicular to the keys, shape (2, c, N)."""
    cost: Float64Array
    """Sums of squared errors, shape (N,)."""


@dataclass(frozen=True, eq=False)
class _HandleFit:
    """Least-squares fit of columns at the nodes.

    The unknowns (4 c, N) are the reach of the handles at the start and end, and the rates at the start and end.
    """

    course: Course
    nodes: Float64Array
    """The nodes as local parameters, shape (nodes, 1)."""
    limits: _Limits
    rate_weights: Float64Array
    """Normal matrices of the rate errors at the start and end, shape (2, N, c, c)."""
    directions: Float64Array
    """Directions of quaternion keys, along which the rates are free, or 0 for other channels, shape (2, c, N)."""

    @property
    def owner(self) -> None:
        """Return None, because each column is a separate problem."""
        return None

    @classmethod
    def of(cls, course: Course, nodes: Float64Array, limits: _Limits) -> _HandleFit:
        """Return the least-squares problem of a course."""
        directions = np.zeros_like(course.keys)
        if course.is_quaternion:
            directions = course.keys / np.stack([sphere.length(key) for key in course.keys])[:, np.newaxis]
        # stiffness * (I - d d^T): playback normalizes quaternions, so a rate along the key d has no effect.
        rows = directions.transpose(0, 2, 1)
        projections = np.eye(len(course.values)) - rows[..., np.newaxis] * rows[..., np.newaxis, :]
        rate_weights = course.stiffness[..., np.newaxis, np.newaxis] * projections
        return cls(course, nodes[:, np.newaxis], limits, rate_weights, directions)

    @property
    def bounds(self) -> tuple[Float64Array, Float64Array]:
        """Return the smallest and largest unknowns, shape (4 c, 1)."""
        count = 2 * len(self.course.values)
        low, high = (
            np.repeat([reach, rate], count)[:, np.newaxis]
            for reach, rate in ((_SHORTEST_REACH, -np.inf), (_LONGEST_REACH, np.inf))
        )
        return low, high

    def start(self) -> Float64Array:
        """Return the initial unknowns: handles at thirds or, next to an ease, as long as the ease requires."""
        course = self.course
        reach = np.full(course.rates.shape, 1.0 / 3.0)
        if course.eases.any():
            reach[:] = _eased_reach(self.nodes, *course.eases)[:, np.newaxis]
        rates = np.where((course.eases > 0.0)[:, np.newaxis], course.path / (3.0 * reach), course.rates)
        return np.concatenate([reach, rates]).reshape(-1, course.rates.shape[2])

    def evaluate(self, x: Float64Array, near: _State | None) -> _State:
        """Return the state. Newton's method starts from the parameters of `near`."""
        course = self.course
        reach, rates = _reach_and_rates(x)
        frames = frame_powers(reach)
        start = None if near is None else near.parameter
        # With an accuracy above 0, the result of a column would depend on the other columns.
        t = parameters_at(self.nodes, frames, start, _FEW_NEWTON_STEPS, accuracy=0.0)
        values = bezier_powers(course.keys[1] - course.keys[0], *(reach * rates))
        played = rise_at(values, t) + course.keys[0][:, np.newaxis]
        # At a fixed frame, a longer reach changes the value by weight * (rate - slope).
        slope = slope_at(values, t) / slope_at(frames, t)
        # The weights of the handles' heights in a Bezier cubic: 3 t (1 - t)^2 and -3 t^2 (1 - t).
        leaving = 3.0 * t * (1.0 - t)
        arriving = -leaving * t
        leaving += arriving
        jacobian = np.empty((4, *t.shape))
        for side, weight in enumerate((leaving, arriving)):
            np.multiply(weight, rates[side][:, np.newaxis] - slope, out=jacobian[side])
            np.multiply(weight, reach[side][:, np.newaxis], out=jacobian[2 + side])
        rate_errors = rates - course.rates
        if course.is_quaternion:
            # Played quaternions are normalized, so only the part perpendicular to the motion is an error.
            along = np.maximum(sphere.dot(course.values, played), _LEAST_ALONG)
            played /= along
            jacobian /= along
            rate_errors -= self.directions * (self.directions * rate_errors).sum(axis=1)[:, np.newaxis]
        residuals = played - course.values
        cost = np.einsum("cmn,cmn->n", residuals, residuals)
        cost += (course.stiffness * (rate_errors * rate_errors).sum(axis=1)).sum(axis=0)
        return _State(t, residuals, jacobian, rate_errors, cost)

    def equations(self, x: Float64Array, state: _State) -> DenseEquations:
        """Return the normal equations of the columns.

        The unknowns of a channel change only that channel. For quaternions, the part along the motion is projected out.
        """
        jacobian = state.jacobian
        _, c, nodes, columns = jacobian.shape
        matrix_blocks = np.zeros((columns, 4, c, 4, c))
        channel = np.arange(c)
        products = np.einsum("icmn,jcmn->ijcn", jacobian, jacobian)
        matrix_blocks[:, :, channel, :, channel] = products.transpose(2, 3, 0, 1)
        matrix = matrix_blocks.reshape(columns, 4 * c, 4 * c)
        if self.course.is_quaternion:
            along = (jacobian * self.course.values).reshape(4 * c, nodes, columns)
            along = np.ascontiguousarray(along.transpose(2, 0, 1))
            matrix -= along @ along.transpose(0, 2, 1)
        gradient = np.einsum("icmn,cmn->icn", jacobian, state.residuals)
        gradient[2:] += self.course.stiffness[:, np.newaxis] * state.rate_errors
        # The damping excludes the stiffness, which would also damp the free lengths.
        diagonal = np.einsum("nii->in", matrix).copy()
        mean = diagonal.reshape(2, 2 * c, columns).mean(axis=1)
        for side in range(2):
            rates_of_side = slice((2 + side) * c, (3 + side) * c)
            matrix[:, rates_of_side, rates_of_side] += self.rate_weights[side]
        unknown = np.arange(4 * c)
        matrix[:, unknown, unknown] += np.repeat(_FLOOR * mean + _LEAST_FLOOR, 2 * c, axis=0).T
        return DenseEquations(matrix, gradient.reshape(4 * c, columns), diagonal)

    def moved(self, x: Float64Array, step: Float64Array) -> Float64Array:
        """Return the unknowns after a step.

        A handle's height is reach * rate. The steps of rates are scaled so that heights change as they would with the
        old reach. This scaling halves the number of steps.
        """
        (old_reach, rates), (reach_step, rate_step) = _reach_and_rates(x), _reach_and_rates(step)
        reach = np.clip(old_reach + np.clip(reach_step, -_LONGEST_STEP, _LONGEST_STEP), _SHORTEST_REACH, _LONGEST_REACH)
        ratio = np.clip(old_reach / reach, 1.0 / _LARGEST_RATIO, _LARGEST_RATIO)
        return np.concatenate([reach, rates + rate_step * ratio]).reshape(x.shape)

    def is_good(self, state: _State, steps: int) -> BoolArray:
        """Return a mask of the columns within the limit after this number of steps."""
        limit = max((limit for first, limit in self.limits if steps >= first), default=0.0)
        good: BoolArray = sphere.length(state.residuals).max(axis=0) <= limit
        return good

    def chosen(self, better: BoolArray, new: _State, old: _State) -> _State:
        """Return the new states of improved columns and the old states of the others."""
        return _State(*(np.where(better, *arrays) for arrays in zip(new, old, strict=True)))

    def take(self, problems: BoolArray, state: _State) -> tuple[_HandleFit, _State]:
        """Return a subset of the columns with their states."""
        course, directions = self.course.take(np.flatnonzero(problems)), self.directions.compress(problems, axis=-1)
        fit = _HandleFit(course, self.nodes, self.limits, self.rate_weights[:, problems], directions)
        return fit, _State(*(array.compress(problems, axis=-1) for array in state))


def frame_powers(reach: Float64Array) -> Float64Array:
    """Return the coefficients of the frame as a fraction of the segment, from the reach (2, c, N) of both handles."""
    return bezier_powers(np.ones_like(reach[0]), *reach)


def bezier_powers(chord: Float64Array, leaving: Float64Array, arriving: Float64Array) -> Float64Array:
    """Return the coefficients (3, c, 1, N) of t, t² and t³ of cubics (c, N) that rise by a chord.

    `leaving` is the second Bezier point minus the first, and `arriving` the last minus the third.
    """
    return hermite_powers(chord, 3.0 * leaving, 3.0 * arriving)[:, :, np.newaxis]


def rise_at(powers: Float64Array, t: Float64Array) -> Float64Array:
    """Return the rise of each cubic from 0 to t."""
    linear, square, cube = powers
    rise: Float64Array = ((cube * t + square) * t + linear) * t
    return rise


def slope_at(powers: Float64Array, t: Float64Array) -> Float64Array:
    """Return the derivative of each cubic at t."""
    linear, square, cube = powers
    slope: Float64Array = (3.0 * cube * t + 2.0 * square) * t + linear
    return slope


def parameters_at(
    fractions: Float64Array,
    frames: Float64Array,
    start: Float64Array | None = None,
    steps: int = _NEWTON_STEPS,
    accuracy: float = _SOLVED,
) -> Float64Array:
    """Return the parameters (c, m, N) at which `frame_powers` reach fractions (m, 1) of the segment.

    Newton's method starts at the fractions, or at the given parameters.
    """
    t = np.broadcast_to(fractions, (frames.shape[1], len(fractions), frames.shape[3])) if start is None else start
    for _ in range(steps):
        error = rise_at(frames, t) - fractions
        if (np.abs(error) <= accuracy).all():
            break
        t = np.clip(t - error / slope_at(frames, t), 0.0, 1.0)
    return t


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

    def of_segments(self, segments: IndexArray, count: int) -> StoredHandles:
        """Return the handles of some of `count` segments, whose channels may have separate columns."""
        columns = np.arange(self.begin.shape[-1]).reshape(-1, count)[:, segments].ravel()
        arrays: tuple[Any, ...] = self
        return StoredHandles(*(array[..., columns] for array in arrays))

    def played(self, fractions: Float64Array) -> Float64Array:
        """Return the values (c, m, N) at fractions (m,) of the segment."""
        return rise_at(self.powers, parameters_at(fractions[:, np.newaxis], self.rise)) + self.begin[:, np.newaxis]


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
