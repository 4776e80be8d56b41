# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the handle shapes with which single channels best fit a motion, by variable projection.

For handles with a given reach, the best derivatives at the keys are the solution of two linear equations. Only the
reach is optimized by damped Gauss-Newton steps, so few steps suffice. Source: docs/formulas, "Fitting handles".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..cubics import hermite_powers
from ..key_batch import BoolArray
from ..keys import Float64Array
from .bezier_segments import LONGEST_REACH, rise_at, slope_at
from .handle_motion import Course
from .least_squares import Method, descend

_SHORTEST_REACH = 0.02
"""Minimum reach relative to a segment. A handle without length has no direction."""
_LONGEST_STEP = 0.25
"""Maximum change in a reach in one step, relative to a segment."""
_LEAST_FLOOR = 1e-14
"""Addition to the diagonal for a reach that has no effect, as in a channel at rest."""
_NEWTON_STEPS = 2
"""The number of Newton steps after each change to the reach, starting from the previous parameters."""
_LAST_NEWTON_STEPS = 5
"""The number of Newton steps from the nodes to accurate parameters."""
_GOOD = 2e-5
"""Columns with smaller errors, relative to the size of their values, are finished."""
_METHOD = Method(steps=8, least_gain=0.02, damping=1e-2, less=0.2, more=5.0, rounds=0)


def fitted_channels(
    course: Course, nodes: Float64Array, start: Float64Array, steps: int | None
) -> tuple[Float64Array, Float64Array]:
    """Return the reach and the rates (2, 1, N) of channels with values of about 1.

    The descent starts at the reach `start` (2, N). `steps` limits the number of steps further.
    """
    begin = course.keys[0, 0]
    chord, values = course.keys[1, 0] - begin, course.values[0] - begin
    fit = _ChannelFit(nodes[:, np.newaxis], chord, values, course.rates[:, 0], course.stiffness)
    method = _METHOD if steps is None else replace(_METHOD, steps=steps)
    reach = descend(fit, start, _SHORTEST_REACH, LONGEST_REACH, method).x
    rates = fit.at(reach, fit.nodes, _LAST_NEWTON_STEPS).rates
    return reach[:, np.newaxis], rates[:, np.newaxis]


class _ChannelState(NamedTuple):
    """Residuals of handles, with the rates that minimize them."""

    parameter: Float64Array
    """Parameters of the Bezier segment at the nodes, shape (nodes, N)."""
    residuals: Float64Array
    """The errors at the nodes, shape (nodes, N)."""
    rates: Float64Array
    """The rates at the start and end, shape (2, N)."""
    rate_matrix: Float64Array
    """The normal matrix of the rates, shape (2, 2, N)."""
    cost: Float64Array
    """Sums of squared errors, shape (N,)."""


@dataclass(frozen=True, eq=False)
class _ChannelFit:
    """Least-squares fit of columns with one channel. The unknowns (2, N) are the reach at the start and end."""

    nodes: Float64Array
    """The nodes as local parameters, shape (nodes, 1)."""
    chord: Float64Array
    """The change in value from key to key, shape (N,)."""
    values: Float64Array
    """Values at the nodes, relative to the first key, shape (nodes, N)."""
    wanted: Float64Array
    """The rates of the motion at the start and end, shape (2, N)."""
    stiffness: Float64Array
    """Weights of the squared errors of the rates, shape (2, N)."""

    @property
    def owner(self) -> None:
        """Return None, because each column is a separate problem."""
        return None

    def _frames(self, x: Float64Array) -> Float64Array:
        """Return the coefficients (3, N) of the frame as a fraction of the segment."""
        return hermite_powers(np.ones_like(self.chord), 3.0 * x[0], 3.0 * x[1])

    def evaluate(self, x: Float64Array, near: _ChannelState | None) -> _ChannelState:
        """Return the state. Newton's method starts from the parameters of `near`."""
        return self.at(x, self.nodes if near is None else near.parameter, _NEWTON_STEPS)

    def at(self, x: Float64Array, t: Float64Array, newton_steps: int) -> _ChannelState:
        """Return the state. Newton's method starts from the parameters `t`."""
        frames = self._frames(x)
        for _ in range(newton_steps):
            t = np.clip(t - (rise_at(frames, t) - self.nodes) / slope_at(frames, t), 0.0, 1.0)
        jacobian = _handle_weights(t)
        residuals = (t * t * t - jacobian[1]) * self.chord - self.values
        jacobian *= x[:, np.newaxis]
        matrix = np.einsum("imn,jmn->ijn", jacobian, jacobian)
        matrix[0, 0] += self.stiffness[0]
        matrix[1, 1] += self.stiffness[1]
        rates = _solved(matrix, self.stiffness * self.wanted - np.einsum("imn,mn->in", jacobian, residuals))
        jacobian *= rates[:, np.newaxis]
        residuals += jacobian[0]
        residuals += jacobian[1]
        cost = np.einsum("mn,mn->n", residuals, residuals) + (self.stiffness * (rates - self.wanted) ** 2).sum(axis=0)
        return _ChannelState(t, residuals, rates, matrix, cost)

    def equations(self, x: Float64Array, state: _ChannelState) -> _ReachEquations:
        """Return the normal equations of the reach, with the rates eliminated."""
        t, rates = state.parameter, state.rates
        values = hermite_powers(self.chord, 3.0 * x[0] * rates[0], 3.0 * x[1] * rates[1])
        slope = slope_at(values, t) / slope_at(self._frames(x), t)
        weights = _handle_weights(t)
        # At a fixed frame, a longer reach changes the value by weight * (rate - slope).
        jacobian = weights * (rates[:, np.newaxis] - slope)
        matrix = np.einsum("imn,jmn->ijn", jacobian, jacobian)
        diagonal = np.stack([matrix[0, 0], matrix[1, 1]])
        mixed = np.einsum("imn,jmn->ijn", jacobian, weights) * x
        eliminated = [_solved(state.rate_matrix, row) for row in mixed]
        matrix -= np.einsum("ikn,jkn->ijn", mixed, eliminated)
        return _ReachEquations(matrix, np.einsum("imn,mn->in", jacobian, state.residuals), diagonal)

    def moved(self, x: Float64Array, step: Float64Array) -> Float64Array:
        """Return the unknowns after a step."""
        reach: Float64Array = np.clip(x + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP), _SHORTEST_REACH, LONGEST_REACH)
        return reach

    def is_good(self, state: _ChannelState, steps: int) -> BoolArray:
        """Return a mask of the columns whose error is not visible."""
        good: BoolArray = np.abs(state.residuals).max(axis=0) <= _GOOD
        return good

    def chosen(self, better: BoolArray, new: _ChannelState, old: _ChannelState) -> _ChannelState:
        """Return the new states of improved columns and the old states of the others."""
        return _ChannelState(*(np.where(better, *arrays) for arrays in zip(new, old, strict=True)))

    def take(self, problems: BoolArray, state: _ChannelState) -> tuple[_ChannelFit, _ChannelState]:
        """Return a subset of the columns with their states."""
        arrays = (array.compress(problems, axis=-1) for array in (self.chord, self.values, self.wanted, self.stiffness))
        fit = _ChannelFit(self.nodes, *arrays)
        return fit, _ChannelState(*(array.compress(problems, axis=-1) for array in state))


@dataclass(frozen=True)
class _ReachEquations:
    """Normal equations of two unknowns for each column."""

    matrix: Float64Array
    gradient: Float64Array
    diagonal: Float64Array

    def solve(self, added: Float64Array, free: BoolArray, right: Float64Array) -> Float64Array:
        """Return the solution for the free unknowns."""
        matrix = self.matrix * (free & free[:, np.newaxis])
        for unknown in range(2):
            matrix[unknown, unknown] += np.where(free[unknown], added[unknown] + _LEAST_FLOOR, 1.0)
        return _solved(matrix, np.where(free, right, 0.0))

    def times(self, step: Float64Array) -> Float64Array:
        """Return the matrices times a step."""
        product: Float64Array = np.einsum("ijn,jn->in", self.matrix, step)
        return product


def _handle_weights(t: Float64Array) -> Float64Array:
    """Return the weights of the handles' heights in a Bezier cubic: 3 t (1 - t)^2 and -3 t^2 (1 - t)."""
    weights = np.empty((2, *t.shape))
    np.multiply(3.0 * t, 1.0 - t, out=weights[0])
    np.multiply(weights[0], -t, out=weights[1])
    weights[0] += weights[1]
    return weights


def _solved(matrix: Float64Array, right: Float64Array) -> Float64Array:
    """Return the solutions (2, N) of equations with symmetric matrices (2, 2, N)."""
    (a, b), (_, d) = matrix
    p, q = right
    solution: Float64Array = np.stack([d * p - b * q, a * q - b * p]) / (a * d - b * b)
    return solution
