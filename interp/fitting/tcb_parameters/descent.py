# SPDX-License-Identifier: GPL-3.0-or-later
"""Descent by damped Gauss-Newton steps (Levenberg-Marquardt) within the bounds of the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import HIGHEST, LOWEST, Float64Array
from .problem import Equations, Problem, binned
from .solver import multiply, solve

_INSIDE = 0.05
"""Where the descent inside the bounds begins, and how near a bound it must have come to be put on it: 2/5 of that."""
_FINISHED = 0.2
"""Part of the tracks: where as many need no more steps, the others go on without them."""
_SOLVED = 0.05
"""Relative residual of a step's equations, smaller after steps that led far down (Eisenstat and Walker)."""


class Stage(NamedTuple):
    """The parameters that one descent fits, and its limits."""

    columns: tuple[int, ...]
    """The parameters that are fitted."""
    inside: bool
    """Whether the bounds are not to be reached."""
    steps: int
    """The most steps."""
    least_gain: float
    """Of a track's error: a step that gains less is its last. Where the parameters explain all, each gains most."""


class _State:
    """The tracks that still descend, with residuals, costs and equations at their present parameters."""

    def __init__(self, problem: Problem, parameters: Float64Array) -> None:
        self.problem = problem
        self.parameters = parameters
        self.residuals = problem.residuals(parameters)
        self.cost = self.cost_of(self.residuals, parameters)
        self.damping, self.forcing = np.full(len(self.cost), 1e-2), np.full(len(self.cost), _SOLVED)
        self.errors = problem.errors(self.residuals)
        self.done: BoolArray = self.errors <= problem.goals
        self.equations: Equations | None = None
        self.tracks: IndexArray = np.arange(len(self.cost))
        """Which of the first problem's tracks these are."""
        self.keys: IndexArray = np.arange(len(problem.track))
        """Which of the first problem's keys these are."""

    def cost_of(self, residuals: Sequence[Float64Array], parameters: Float64Array) -> Float64Array:
        """Return each track's error with a penalty that draws parameters which change nothing to 0."""
        size = binned(self.problem.track, (parameters * parameters).sum(axis=0), len(self.problem.noise))
        return self.problem.errors(residuals) + self.problem.noise**2 * size

    def drop_done(self) -> None:
        """Go on without the tracks that are done."""
        going = ~self.done
        keys = going[self.problem.track]
        self.residuals = self.problem.residuals_of(self.residuals, keys)
        self.problem, self.tracks, self.keys = self.problem.take(going), self.tracks[going], self.keys[keys]
        self.parameters = self.parameters.compress(keys, axis=1)
        self.cost, self.done = self.cost[going], self.done[going]
        self.damping, self.forcing = self.damping[going], self.forcing[going]
        self.equations = None

    def step(self, stage: Stage) -> None:
        """Try one step, and take it in the tracks whose cost it lowers."""
        columns = list(stage.columns)
        problem, track = self.problem, self.problem.track
        here = self.parameters[columns]
        penalty = (problem.noise**2)[track]
        if self.equations is None:
            equations = problem.normal_equations(self.parameters, self.residuals, columns)
            self.equations = equations._replace(slope=equations.slope + penalty * here)
        damped = np.einsum("iin->in", self.equations.own) * self.damping[track] + penalty
        tried = self.parameters.copy()
        move = _step_inside if stage.inside else _step_onto_bounds
        tried[columns] = move(problem, self.equations, damped, here, LOWEST[columns], self.forcing)
        residuals = problem.residuals(tried)
        new_cost = self.cost_of(residuals, tried)
        better = (new_cost < self.cost) & ~self.done
        near = _SOLVED * np.sqrt(new_cost / np.maximum(self.cost, 1e-300))
        self.forcing = np.where(better, np.minimum(_SOLVED, near), _SOLVED)
        self.done |= better & (self.cost - new_cost <= stage.least_gain * self.cost)
        self.parameters = np.where(better[track], tried, self.parameters)
        self.residuals = problem.chosen(better, residuals, self.residuals)
        self.cost = np.where(better, new_cost, self.cost)
        self.damping = np.where(better, 0.2 * self.damping, 5.0 * self.damping)
        self.errors = problem.errors(self.residuals)
        self.done |= self.errors <= problem.goals
        if better.any():
            self.equations = None


def descend(problem: Problem, start: Float64Array, stage: Stage) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return better parameters, and each track's errors before and with them."""
    parameters = start
    if stage.inside:
        parameters = np.clip(start, LOWEST + _INSIDE, HIGHEST - _INSIDE)
    elif 3 in stage.columns:
        near = 0.4 * _INSIDE
        parameters = np.where(start < LOWEST + near, LOWEST, np.where(start > HIGHEST - near, HIGHEST, start))
    state = _State(problem, parameters)
    before, found, after = state.errors, parameters.copy(), state.errors.copy()
    for _ in range(stage.steps):
        if state.done.mean() > _FINISHED:
            state.drop_done()
        if not len(state.tracks):
            break
        state.step(stage)
        found[:, state.keys], after[state.tracks] = state.parameters, state.errors
    return found, before, after


def _step_inside(
    problem: Problem,
    equations: Equations,
    damped: Float64Array,
    here: Float64Array,
    lowest: Float64Array,
    forcing: Float64Array,
) -> Float64Array:
    """Return parameters after a step that goes at most nine tenths of the way to a bound."""
    slope = equations.slope
    room = np.maximum(np.where(slope > 0.0, here - lowest, HIGHEST - here), 1e-12)
    every = np.ones(here.shape, dtype=np.bool_)
    there = here + solve(problem, equations, damped + np.abs(slope) / room, every, -slope, forcing)
    return np.clip(there, here - 0.9 * (here - lowest), here + 0.9 * (HIGHEST - here))


def _step_onto_bounds(
    problem: Problem,
    equations: Equations,
    damped: Float64Array,
    here: Float64Array,
    lowest: Float64Array,
    forcing: Float64Array,
) -> Float64Array:
    """Return parameters after a step; those that reach a bound stay on it, and the rest is solved for again, twice."""
    own, across, slope = equations
    there = here
    bound = ((here <= lowest) & (slope > 0.0)) | ((here >= HIGHEST) & (slope < 0.0))
    for _ in range(2):
        right = -slope - multiply(problem, own, across, np.where(bound, there - here, 0.0))
        wanted = np.where(bound, there, here + solve(problem, equations, damped, ~bound, right, forcing))
        there = np.clip(wanted, lowest, HIGHEST)
        if (there == wanted).all():
            break
        bound = bound | (there != wanted)
    return there
