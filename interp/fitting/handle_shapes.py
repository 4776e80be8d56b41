# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the handle shapes with which Bezier segments best fit a motion, by damped Gauss-Newton steps.

A shape consists of the reach of each handle into its segment and the derivative of each channel at both keys. Source:
docs/formulas, "Fitting handles".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import ease
from ..cubics import hermite_weights
from ..key_batch import BoolArray
from ..keys import Float64Array
from ..rotations import sphere
from .bezier_segments import LEAST_SLOPE, bezier_powers, frame_powers, rise_at, slope_at
from .handle_motion import RIGID, Course
from .handle_samples import SamplePoints
from .least_squares import DenseEquations, Method, descend


class Shape(NamedTuple):
    """The fitted handles of a course's columns."""

    reach: Float64Array
    """The reach of the handles at the start and end, relative to the segment, shape (2, c, N)."""
    rates: Float64Array
    """Derivatives of the value with respect to u at the start and end, shape (2, c, N)."""


class Round(NamedTuple):
    """Additional steps for segments whose error exceeds a limit at any node."""

    steps: int
    limit: float
    """The limit for the error, as half the angle in radians, or relative to the size of the values."""
    of_chord: float = 0.0
    """The limit is at least this fraction of the chord."""


_CHANNELS = (Round(2, 0.0), Round(2, 5e-5), Round(6, 8e-5))
"""Rounds for single channels. The last limit is slightly below the error allowed in a bake."""
_QUATERNIONS = (Round(2, 0.0), Round(2, 5e-5), Round(10, 8e-5), Round(12, 8e-5, of_chord=0.015))
"""Rounds for quaternions. Some quaternions start with large errors next to eases."""


def fitted_shape(course: Course, points: SamplePoints, rounds: tuple[Round, ...] | None = None) -> Shape:
    """Return the handles of all columns, close to the least-squares solution at the nodes.

    By default, the rounds are those for accurate fits.
    """
    if rounds is None:
        rounds = _QUATERNIONS if course.is_quaternion else _CHANNELS
    shape = Shape(np.full(course.rates.shape, 1.0 / 3.0), course.rates.copy())
    course = course._replace(values=course.values[:, points.node_rows])
    columns = np.flatnonzero(course.is_fitted)
    if len(columns):
        # NumPy sums a single column in a different order, so it is repeated.
        columns = np.repeat(columns, 2) if len(columns) == 1 else columns
        for array, fitted in zip(shape, _fit_columns(course.take(columns), points.nodes, rounds), strict=True):
            array[..., columns] = fitted
    return shape


_LONGEST_REACH = 0.9
"""Maximum reach relative to a segment. With two such handles, the frame still increases in the middle."""
_SHORTEST_START = 0.05
"""Minimum reach, relative to a segment, of handles next to an ease, before the first step."""
_DAMPING = 0.002
"""Initial damping for segments without ease."""
_EASED_DAMPING = 0.01
"""Initial damping for segments with eases."""
_LESS_DAMPING = 0.5
"""Factor applied to the damping after a step that lowered the cost."""
_MORE_DAMPING = 2.0
"""Factor applied to the damping after a step that did not lower the cost."""
_LONGEST_STEP = 0.25
"""Maximum change in a reach in one step, relative to a segment."""
_LEAST_REACH = 1e-3
"""Minimum divisor, relative to a segment, in the ratio of the reaches before and after a step."""
_LARGEST_RATIO = 5.0
"""Maximum ratio of the reaches before and after a step, and inverse of the minimum ratio."""
_FLOOR = 1e-7
"""Relative addition to the diagonal for unknowns that have no effect, as in a channel at rest."""
_LEAST_FLOOR = 1e-14
"""Addition to the diagonal if its mean is 0."""
_LEAST_ALONG = 0.1
"""Minimum length of a quaternion along the motion. Close to a right angle, the residual would grow without bound."""
_NEWTON_STEPS = 2
"""The number of Newton steps after each change to the handles, starting from the previous parameters."""


def _fit_columns(course: Course, nodes: Float64Array, rounds: tuple[Round, ...]) -> Shape:
    """Return the handles of all columns."""
    normalized, size = _normalized(course)
    fit = _ShapeFit.of(normalized, nodes, rounds)
    unbounded = np.full(2 * len(course.values), np.inf)
    low = np.concatenate([np.zeros_like(unbounded), -unbounded])[:, np.newaxis]
    high = np.concatenate([np.full_like(unbounded, _LONGEST_REACH), unbounded])[:, np.newaxis]
    damping = np.where(course.eases.any(axis=0), _EASED_DAMPING, _DAMPING)
    steps = sum(round_.steps for round_ in rounds)
    method = Method(steps, least_gain=0.0, damping=damping, less=_LESS_DAMPING, more=_MORE_DAMPING, rounds=0)
    reach, rates = _reach_and_rates(descend(fit, fit.start(), low, high, method).x)
    return Shape(reach, rates * size)


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


def _reach_and_rates(x: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Split the unknowns (4 c, N) into reach and rates, each of shape (2, c, N)."""
    reach, rates = x.reshape(2, 2, len(x) // 4, -1)
    return reach, rates


class _ShapeState(NamedTuple):
    """Residuals of handles and their derivatives."""

    parameter: Float64Array
    """Parameters of the Bezier segment at the nodes, shape (c, nodes, N)."""
    residuals: Float64Array
    """The channels' errors at the nodes, shape (c, nodes, N).

    For quaternions, only the part perpendicular to the motion.
    """
    jacobian: Float64Array
    """Derivatives of channel values with respect to reach and rate at the start and end, shape (4, c, nodes, N)."""
    rate_errors: Float64Array
    """The rates' errors at the keys, shape (2, c, N). For quaternions, only the part perpendicular to the key."""
    cost: Float64Array
    """Sums of squared errors, shape (N,)."""


@dataclass(frozen=True, eq=False)
class _ShapeFit:
    """Least-squares fit of the columns, scaled to about 1, at the nodes.

    The unknowns (4 c, N) are the reach of the handles at the start and end, and the rates at the start and end.
    """

    course: Course
    nodes: Float64Array
    """The nodes as local parameters, shape (nodes, 1)."""
    rounds: tuple[Round, ...]
    rate_weights: Float64Array
    """Normal matrices of the rate errors at the start and end, shape (2, N, c, c)."""
    directions: Float64Array | None
    """Directions of a quaternion's keys, along which its rates are free, shape (2, c, N). None for other channels."""

    @property
    def owner(self) -> None:
        """Return None, because each column is a separate problem."""
        return None

    @classmethod
    def of(cls, course: Course, nodes: Float64Array, rounds: tuple[Round, ...]) -> _ShapeFit:
        """Return the least-squares problem of a course."""
        c, _, columns = course.values.shape
        identities = np.repeat(np.eye(c)[np.newaxis], columns, axis=0)
        rate_weights = identities * course.stiffness[:, :, np.newaxis, np.newaxis]
        directions = None
        if course.is_quaternion:
            # stiffness * (I - d d^T): playback normalizes quaternions, so a rate along the key d has no effect.
            directions = course.keys / np.stack([sphere.length(key) for key in course.keys])[:, np.newaxis]
            rows = (directions * np.sqrt(course.stiffness)[:, np.newaxis]).transpose(0, 2, 1)
            rate_weights -= rows[..., np.newaxis] * rows[..., np.newaxis, :]
        return cls(course, nodes[:, np.newaxis], rounds, rate_weights, directions)

    def start(self) -> Float64Array:
        """Return the initial unknowns. Handles are at thirds with the course's rates, or follow the ease."""
        course = self.course
        c = len(course.values)
        reach: Float64Array = np.full(course.keys.shape, 1.0 / 3.0)
        rates = course.rates
        is_eased = course.eases > 0.0
        if is_eased.any():
            reach = np.repeat(_eased_reach(self.nodes, *course.eases)[:, np.newaxis], c, axis=1)
            rates = np.where(is_eased[:, np.newaxis], course.path / (3.0 * reach), rates)
        return np.concatenate([reach, rates]).reshape(4 * c, -1)

    def evaluate(self, x: Float64Array, near: _ShapeState | None) -> _ShapeState:
        """Return the state. Newton's method starts from the parameters of `near`."""
        course = self.course
        reach, rates = _reach_and_rates(x)
        frames = frame_powers(reach)
        guess = np.broadcast_to(self.nodes, course.values.shape) if near is None else near.parameter
        t = _solve_parameters(frames, guess, self.nodes)
        values = bezier_powers(course.keys[1] - course.keys[0], *(reach * rates))
        played = rise_at(values, t) + course.keys[0][:, np.newaxis]
        # At a fixed frame, a longer reach changes the value by weight * (rate - slope).
        slope = slope_at(values, t) / np.maximum(slope_at(frames, t), LEAST_SLOPE)
        # The weights of the handles' heights in a Bezier cubic: 3 t (1 - t)^2 and -3 t^2 (1 - t).
        leaving = 3.0 * t * (1.0 - t)
        arriving = -leaving * t
        leaving += arriving
        jacobian = np.empty((4, *t.shape))
        for side, weight in enumerate((leaving, arriving)):
            np.multiply(weight, rates[side][:, np.newaxis] - slope, out=jacobian[side])
            np.multiply(weight, reach[side][:, np.newaxis], out=jacobian[2 + side])
        rate_errors = rates - course.rates
        if self.directions is None:
            residuals = played - course.values
        else:
            along = np.maximum(sphere.dot(course.values, played), _LEAST_ALONG)
            # Played quaternions are normalized, so only the part perpendicular to the motion is an error.
            residuals = played / along - course.values
            jacobian /= along
            rate_errors -= self.directions * (self.directions * rate_errors).sum(axis=1)[:, np.newaxis]
        cost = np.einsum("cmn,cmn->n", residuals, residuals)
        cost += (course.stiffness * (rate_errors * rate_errors).sum(axis=1)).sum(axis=0)
        return _ShapeState(t, residuals, jacobian, rate_errors, cost)

    def equations(self, x: Float64Array, state: _ShapeState) -> DenseEquations:
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
        if self.directions is not None:
            along = np.ascontiguousarray(
                (jacobian * self.course.values).reshape(4 * c, nodes, columns).transpose(2, 0, 1)
            )
            matrix -= along @ along.transpose(0, 2, 1)
        gradient = np.einsum("icmn,cmn->icn", jacobian, state.residuals)
        gradient[2:] += self.course.stiffness[:, np.newaxis] * state.rate_errors
        # The damping excludes the stiffness, which would also damp the free lengths of quaternions.
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

        A handle's height is reach * rate. The steps of soft rates are scaled so that heights change as they would with
        the old reach. This scaling halves the number of steps.
        """
        (old_reach, rates), (reach_step, rate_step) = _reach_and_rates(x), _reach_and_rates(step)
        reach = np.clip(old_reach + np.clip(reach_step, -_LONGEST_STEP, _LONGEST_STEP), 0.0, _LONGEST_REACH)
        ratio = np.clip(old_reach / np.maximum(reach, _LEAST_REACH), 1.0 / _LARGEST_RATIO, _LARGEST_RATIO)
        is_soft = (self.course.stiffness < RIGID**2)[:, np.newaxis]
        return np.concatenate([reach, rates + rate_step * np.where(is_soft, ratio, 1.0)]).reshape(x.shape)

    def is_good(self, state: _ShapeState, steps: int) -> BoolArray:
        """Return a mask of columns within the limit of the next round, if a round ended with this step."""
        ends = np.cumsum([round_.steps for round_ in self.rounds])
        if steps not in ends[:-1]:
            return np.zeros(len(state.cost), dtype=np.bool_)
        next_round = self.rounds[int(np.searchsorted(ends, steps)) + 1]
        limit = np.full(len(state.cost), next_round.limit)
        if next_round.of_chord:
            chord = sphere.length(self.course.keys[1] - self.course.keys[0])
            np.maximum(limit, next_round.of_chord * chord, out=limit)
        good: BoolArray = sphere.length(state.residuals).max(axis=0) <= limit
        return good

    def chosen(self, better: BoolArray, new: _ShapeState, old: _ShapeState) -> _ShapeState:
        """Return the new states of improved columns and the old states of the others."""
        return _ShapeState(*(np.where(better, *arrays) for arrays in zip(new, old, strict=True)))

    def take(self, problems: BoolArray, state: _ShapeState) -> tuple[_ShapeFit, _ShapeState]:
        """Return a subset of the columns with their states."""
        directions = None if self.directions is None else self.directions.compress(problems, axis=-1)
        course, rate_weights = self.course.take(np.flatnonzero(problems)), self.rate_weights[:, problems]
        fit = _ShapeFit(course, self.nodes, self.rounds, rate_weights, directions)
        return fit, _ShapeState(*(array.compress(problems, axis=-1) for array in state))


def _solve_parameters(frames: Float64Array, guess: Float64Array, nodes: Float64Array) -> Float64Array:
    """Return the approximate parameters at which the frames' cubics reach the nodes, by Newton's method."""
    t = guess
    for _ in range(_NEWTON_STEPS):
        slope = np.maximum(slope_at(frames, t), LEAST_SLOPE)
        t = np.clip(t - (rise_at(frames, t) - nodes) / slope, 0.0, 1.0)
    return t


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
