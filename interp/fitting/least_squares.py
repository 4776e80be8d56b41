# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve many independent bounded nonlinear least-squares problems at once, by Levenberg-Marquardt steps.

Each problem has its own damping and stops independently. Unknowns that reach a bound stay there while the gradient
points beyond it. Problems may have any structure, such as keys that affect only their neighbors. See `Problem`. Source:
docs/formulas, "Bounded least squares".

Unknowns are arrays (p, K), with p unknowns for each of K blocks, such as keys. A problem may own several blocks.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ..keys import BoolArray, Float64Array, IndexArray

_STUCK = 1e12
"""The damping above which only steps smaller than rounding could lower the cost."""
_LEAST_EFFECT = 1e-290
"""Unknowns whose diagonal element is smaller than this have no effect and are not changed."""
_ROOM = 0.9
"""Fraction of the distance to a bound that a step may take if it must not reach the bound."""
_LEAST_ROOM = 1e-12
"""Minimum distance to a bound, as a divisor."""
_BEYOND = 1.0 + 1e-9
"""Fraction of the distance to a bound that a step may take if it may reach the bound.

Clipped unknowns are then exactly on the bound.
"""
_FINISHED_FRACTION = 0.2
"""If more than this fraction of the problems is finished, the others continue without them."""


class Equations(Protocol):
    """Normal equations: a symmetric positive semidefinite matrix and the gradient."""

    @property
    def gradient(self) -> Float64Array:
        """Return half the derivative of the cost, shape (p, K)."""
        ...

    @property
    def diagonal(self) -> Float64Array:
        """Return the scale of the damping, which is the diagonal of the matrix or a part of it, shape (p, K)."""
        ...

    def solve(self, added: Float64Array, free: BoolArray, right: Float64Array) -> Float64Array:
        """Return the solution for the free unknowns with `added` added to the diagonal, and 0 for the others."""
        ...

    def times(self, step: Float64Array) -> Float64Array:
        """Return the matrix times a step."""
        ...


class Evaluation(Protocol):
    """The results of a problem at given unknowns."""

    @property
    def cost(self) -> Float64Array:
        """Return the sums of squares, shape (problems,)."""
        ...


_State = TypeVar("_State", bound=Evaluation)
_Array = TypeVar("_Array", Float64Array, BoolArray)


class Problem(Protocol[_State]):
    """Independent problems with the same structure."""

    @property
    def owner(self) -> IndexArray | None:
        """Return the problem of each block of unknowns, shape (K,). None if each problem has one block."""
        ...

    def evaluate(self, x: Float64Array, near: _State | None) -> _State:
        """Return the state at these unknowns. The calculation may start from `near`, a state at similar unknowns."""
        ...

    def equations(self, x: Float64Array, state: _State) -> Equations:
        """Return the normal equations."""
        ...

    def moved(self, x: Float64Array, step: Float64Array) -> Float64Array:
        """Return the unknowns after a step."""
        ...

    def is_good(self, state: _State, steps: int) -> BoolArray:
        """Return a mask of problems that are finished after this number of steps."""
        ...

    def chosen(self, better: BoolArray, new: _State, old: _State) -> _State:
        """Return the new states of improved problems and the old states of the others."""
        ...

    def take(self, problems: BoolArray, state: _State) -> tuple[Problem[_State], _State]:
        """Return a subset of the problems with their states."""
        ...


@dataclass(frozen=True)
class Method:
    """The options of a descent.

    Attributes
    ----------
    steps : int
        Maximum number of steps.
    least_gain : float
        A problem is finished after a step that lowers its cost by at most this fraction.
    damping : float or ndarray, shape (problems,)
        The initial damping, relative to the diagonal.
    less, more : float
        Factors applied to the damping after a step that lowered the cost, and after a step that did not.
    inside : bool
        True if steps must stay inside the bounds (Coleman and Li).
    rounds : int
        Maximum number of repeated solutions for the remaining unknowns after some reach a bound.
    """

    steps: int = 100
    least_gain: float = 1e-12
    damping: float | Float64Array = 1e-3
    less: float = 0.2
    more: float = 5.0
    inside: bool = False
    rounds: int = 1


class Result(NamedTuple):
    """The result of a descent.

    Attributes
    ----------
    x : ndarray
        Unknowns with the shape of the start, finite and within the bounds.
    cost : ndarray, shape (problems,)
        Sums of squares, which are no larger than at the start.
    """

    x: Float64Array
    cost: Float64Array


def descend(
    problem: Problem[Any], start: Float64Array, lower: npt.ArrayLike, upper: npt.ArrayLike, method: Method
) -> Result:
    """Minimize the cost of each problem, starting at the unknowns `start` (p, K), within bounds of a compatible shape.

    Raises
    ------
    ValueError
        If the start is outside the bounds, or its cost is not finite.
    """
    x = start
    low, high = (np.broadcast_to(np.asarray(bound, np.float64), x.shape) for bound in (lower, upper))
    if not ((x >= low) & (x <= high)).all():
        raise ValueError("the start must be within the bounds")
    state = problem.evaluate(x, None)
    if not np.isfinite(state.cost).all():
        raise ValueError("residuals at the start must be finite")
    # The problems that continue, and their blocks, as indices into the result.
    running, blocks = np.arange(len(state.cost)), np.arange(x.shape[1])
    done = problem.is_good(state, 0)
    result = Result(x.copy(), state.cost.copy())
    damping = np.broadcast_to(np.asarray(method.damping), running.shape)
    equations: Equations | None = None
    for steps_before in range(method.steps):
        if done.all():
            break
        if np.count_nonzero(done) > _FINISHED_FRACTION * len(done) and len(done) > 2:
            continuing = ~done
            if np.count_nonzero(continuing) == 1:
                # NumPy sums a single column in a different order than several columns, so digits would depend on the
                # other problems.
                continuing[np.flatnonzero(done)[0]] = True
            columns = _per_block(continuing, problem.owner)
            problem, state = problem.take(continuing, state)
            x, low, high = (array.compress(columns, axis=1) for array in (x, low, high))
            running, blocks, equations = running[continuing], blocks[columns], None
            damping, done = damping[continuing], done[continuing]
        if equations is None:
            equations = problem.equations(x, state)
        step = _step(equations, x, _per_block(damping, problem.owner) * equations.diagonal, low, high, method)
        x_tried = problem.moved(x, step)
        state_tried = problem.evaluate(x_tried, state)
        old_cost = state.cost
        better = (state_tried.cost < old_cost) & ~done
        gain = np.where(better, old_cost - state_tried.cost, np.inf)
        if better.all():
            x, state = x_tried, state_tried
        elif better.any():
            x = np.where(_per_block(better, problem.owner), x_tried, x)
            state = problem.chosen(better, state_tried, state)
        damping = np.where(better, method.less * damping, method.more * damping)
        done = (
            done
            | (gain <= method.least_gain * old_cost)
            | problem.is_good(state, steps_before + 1)
            | (damping > _STUCK)
        )
        if better.any():
            equations = None
        result.x[:, blocks], result.cost[running] = x, state.cost
    return result


def _per_block(array: _Array, owner: IndexArray | None) -> _Array:
    """Return an array (problems,) with one element per block, shape (K,)."""
    return array if owner is None else array[owner]


def _step(
    equations: Equations, x: Float64Array, added: Float64Array, low: Float64Array, high: Float64Array, method: Method
) -> Float64Array:
    """Return a damped step within the bounds."""
    gradient, down, up = equations.gradient, low - x, high - x
    if method.inside:
        room = np.maximum(np.where(gradient > 0.0, x - low, up), _LEAST_ROOM)
        step = equations.solve(added + np.abs(gradient) / room, np.ones(x.shape, dtype=np.bool_), -gradient)
        return np.clip(_finite(step), _ROOM * down, _ROOM * up)
    # Unknowns at a bound that the descent would cross.
    is_held = ((x <= low) & (gradient > 0.0)) | ((x >= high) & (gradient < 0.0))
    step = _finite(equations.solve(added, ~is_held, -gradient))
    for _ in range(method.rounds):
        clipped = np.clip(step, down, up)
        reaches_bound = clipped != step
        if not reaches_bound.any():
            return step
        is_held |= reaches_bound
        fixed = np.where(is_held, clipped, 0.0)
        step = fixed + _finite(equations.solve(added, ~is_held, -gradient - equations.times(fixed)))
    return np.where(step >= up, _BEYOND * up, np.where(step <= down, _BEYOND * down, step))


def _finite(step: Float64Array) -> Float64Array:
    """Return a step, with 0 for elements that are not finite."""
    return np.where(np.isfinite(step), step, 0.0)


@dataclass(frozen=True)
class DenseEquations:
    """Normal equations of problems with one block each, as matrices (K, p, p)."""

    matrix: Float64Array
    gradient: Float64Array
    diagonal: Float64Array

    def solve(self, added: Float64Array, free: BoolArray, right: Float64Array) -> Float64Array:
        """Return the solution for the free unknowns, with equations scaled to a diagonal of 1."""
        diagonal = np.einsum("kii->ik", self.matrix)
        has_effect = free & (diagonal > _LEAST_EFFECT)
        scale: Float64Array = np.sqrt(np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=has_effect))
        rows = scale.T[:, :, np.newaxis]
        scaled = self.matrix * rows * scale.T[:, np.newaxis]
        unknown = np.arange(len(diagonal))
        scaled[:, unknown, unknown] = (1.0 + added * scale * scale).T
        return _solved(scaled, rows * right.T[..., np.newaxis])[..., 0].T * scale

    def times(self, step: Float64Array) -> Float64Array:
        """Return the matrices times a step."""
        product: Float64Array = np.einsum("kij,jk->ik", self.matrix, step)
        return product


def _solved(matrices: Float64Array, right: Float64Array) -> Float64Array:
    """Return the solution of each system, or 0 if it is singular, for example if its numbers differ greatly in size."""
    solutions = np.zeros_like(right)
    try:
        solutions[:] = np.linalg.solve(matrices, right)
    except np.linalg.LinAlgError:
        for solution, matrix, right_side in zip(solutions, matrices, right, strict=True):
            with suppress(np.linalg.LinAlgError):
                solution[:] = np.linalg.solve(matrix, right_side)
    return solutions
