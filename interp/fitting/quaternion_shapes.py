# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the handle shapes with which quaternions best fit a motion, by damped Gauss-Newton steps.

Playback normalizes quaternions, so the four channels are fitted together. Source: docs/formulas, "Fitting handles".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..key_batch import BoolArray
from ..keys import Float64Array
from ..rotations import sphere
from .bezier_segments import LEAST_SLOPE, LONGEST_REACH, bezier_powers, frame_powers, rise_at, slope_at
from .handle_motion import Course
from .least_squares import DenseEquations, Method, descend

_STEPS = 26
"""Maximum number of steps for accurate fits. Some quaternions start with large errors next to eases."""
_LIMITS = ((2, 5e-5), (4, 7e-5), (14, 3e-3))
"""Columns are finished after so many steps if half the angle of their error, in radians, is within the limit.

The first limit is slightly below the error allowed in a bake.
"""
_DRAFT_LIMITS = ((1, 3e-3),)
"""The limits for drafts, which only need to look right temporarily."""
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


def fitted_quaternions(
    course: Course, nodes: Float64Array, start: Float64Array, draft_steps: int | None
) -> tuple[Float64Array, Float64Array]:
    """Return the reach and the rates (2, 4, N) of quaternions of about length 1.

    The descent starts at the reach `start` (2, N), and takes fewer steps for a draft.
    """
    limits = _LIMITS if draft_steps is None else _DRAFT_LIMITS
    fit = _QuaternionFit.of(course, nodes, limits)
    unbounded = np.full(2 * len(course.values), np.inf)
    low = np.concatenate([np.zeros_like(unbounded), -unbounded])[:, np.newaxis]
    high = np.concatenate([np.full_like(unbounded, LONGEST_REACH), unbounded])[:, np.newaxis]
    damping = np.where(course.eases.any(axis=0), _EASED_DAMPING, _DAMPING)
    steps = _STEPS if draft_steps is None else draft_steps
    method = Method(steps, least_gain=0.0, damping=damping, less=_LESS_DAMPING, more=_MORE_DAMPING, rounds=0)
    return _reach_and_rates(descend(fit, fit.start(start), low, high, method).x)


def _reach_and_rates(x: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Split the unknowns (4 c, N) into reach and rates, each of shape (2, c, N)."""
    reach, rates = x.reshape(2, 2, len(x) // 4, -1)
    return reach, rates


class _QuaternionState(NamedTuple):
    """Residuals of handles and their derivatives."""

    parameter: Float64Array
    """Parameters of the Bezier segment at the nodes, shape (c, nodes, N)."""
    residuals: Float64Array
    """The part of the errors perpendicular to the motion at the nodes, shape (c, nodes, N)."""
    jacobian: Float64Array
    """Derivatives of channel values with respect to reach and rate at the start and end, shape (4, c, nodes, N)."""
    rate_errors: Float64Array
    """The part of the rates' errors perpendicular to the keys, shape (2, c, N)."""
    cost: Float64Array
    """Sums of squared errors, shape (N,)."""


@dataclass(frozen=True, eq=False)
class _QuaternionFit:
    """Least-squares fit of quaternions at the nodes.

    The unknowns (4 c, N) are the reach of the handles at the start and end, and the rates at the start and end.
    """

    course: Course
    nodes: Float64Array
    """The nodes as local parameters, shape (nodes, 1)."""
    limits: tuple[tuple[int, float], ...]
    rate_weights: Float64Array
    """Normal matrices of the rate errors at the start and end, shape (2, N, c, c)."""
    directions: Float64Array
    """Directions of the keys, along which the rates are free, shape (2, c, N)."""

    @property
    def owner(self) -> None:
        """Return None, because each column is a separate problem."""
        return None

    @classmethod
    def of(cls, course: Course, nodes: Float64Array, limits: tuple[tuple[int, float], ...]) -> _QuaternionFit:
        """Return the least-squares problem of a course."""
        c, _, columns = course.values.shape
        # stiffness * (I - d d^T): playback normalizes quaternions, so a rate along the key d has no effect.
        directions = course.keys / np.stack([sphere.length(key) for key in course.keys])[:, np.newaxis]
        rows = (directions * np.sqrt(course.stiffness)[:, np.newaxis]).transpose(0, 2, 1)
        identities = np.repeat(np.eye(c)[np.newaxis], columns, axis=0)
        rate_weights = identities * course.stiffness[:, :, np.newaxis, np.newaxis]
        rate_weights -= rows[..., np.newaxis] * rows[..., np.newaxis, :]
        return cls(course, nodes[:, np.newaxis], limits, rate_weights, directions)

    def start(self, reach: Float64Array) -> Float64Array:
        """Return the initial unknowns: the reach (2, N), and rates that follow the path next to an ease."""
        course = self.course
        reaches = np.broadcast_to(reach[:, np.newaxis], course.rates.shape)
        rates = np.where((course.eases > 0.0)[:, np.newaxis], course.path / (3.0 * reaches), course.rates)
        return np.concatenate([reaches, rates]).reshape(-1, reach.shape[1])

    def evaluate(self, x: Float64Array, near: _QuaternionState | None) -> _QuaternionState:
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
        along = np.maximum(sphere.dot(course.values, played), _LEAST_ALONG)
        # Played quaternions are normalized, so only the part perpendicular to the motion is an error.
        residuals = played / along - course.values
        jacobian /= along
        rate_errors -= self.directions * (self.directions * rate_errors).sum(axis=1)[:, np.newaxis]
        cost = np.einsum("cmn,cmn->n", residuals, residuals)
        cost += (course.stiffness * (rate_errors * rate_errors).sum(axis=1)).sum(axis=0)
        return _QuaternionState(t, residuals, jacobian, rate_errors, cost)

    def equations(self, x: Float64Array, state: _QuaternionState) -> DenseEquations:
        """Return the normal equations of the columns.

        The unknowns of a channel change only that channel. The part along the motion is projected out.
        """
        jacobian = state.jacobian
        _, c, nodes, columns = jacobian.shape
        matrix_blocks = np.zeros((columns, 4, c, 4, c))
        channel = np.arange(c)
        products = np.einsum("icmn,jcmn->ijcn", jacobian, jacobian)
        matrix_blocks[:, :, channel, :, channel] = products.transpose(2, 3, 0, 1)
        matrix = matrix_blocks.reshape(columns, 4 * c, 4 * c)
        along = np.ascontiguousarray((jacobian * self.course.values).reshape(4 * c, nodes, columns).transpose(2, 0, 1))
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
        reach = np.clip(old_reach + np.clip(reach_step, -_LONGEST_STEP, _LONGEST_STEP), 0.0, LONGEST_REACH)
        ratio = np.clip(old_reach / np.maximum(reach, _LEAST_REACH), 1.0 / _LARGEST_RATIO, _LARGEST_RATIO)
        return np.concatenate([reach, rates + rate_step * ratio]).reshape(x.shape)

    def is_good(self, state: _QuaternionState, steps: int) -> BoolArray:
        """Return a mask of the columns within the limit after this number of steps."""
        limit = max((limit for first, limit in self.limits if steps >= first), default=0.0)
        good: BoolArray = sphere.length(state.residuals).max(axis=0) <= limit
        return good

    def chosen(self, better: BoolArray, new: _QuaternionState, old: _QuaternionState) -> _QuaternionState:
        """Return the new states of improved columns and the old states of the others."""
        return _QuaternionState(*(np.where(better, *arrays) for arrays in zip(new, old, strict=True)))

    def take(self, problems: BoolArray, state: _QuaternionState) -> tuple[_QuaternionFit, _QuaternionState]:
        """Return a subset of the columns with their states."""
        course, directions = self.course.take(np.flatnonzero(problems)), self.directions.compress(problems, axis=-1)
        fit = _QuaternionFit(course, self.nodes, self.limits, self.rate_weights[:, problems], directions)
        return fit, _QuaternionState(*(array.compress(problems, axis=-1) for array in state))


def _solve_parameters(frames: Float64Array, guess: Float64Array, nodes: Float64Array) -> Float64Array:
    """Return the approximate parameters at which the frames' cubics reach the nodes, by Newton's method."""
    t = guess
    for _ in range(_NEWTON_STEPS):
        slope = np.maximum(slope_at(frames, t), LEAST_SLOPE)
        t = np.clip(t - (rise_at(frames, t) - nodes) / slope, 0.0, 1.0)
    return t
