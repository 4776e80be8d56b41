# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounded nonlinear least squares of many independent problems at once: steps of Levenberg and Marquardt.

Each problem has its own damping and stops by itself. Unknowns that reach a bound stay there while the slope holds them.
Problems may have any structure, such as keys that touch their neighbors only: see `Problem`. Source: docs/formulas,
"Bounded least squares".

Unknowns are arrays (p, K): p for each of K blocks, such as keys. A problem may own several blocks.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ..batch import BoolArray, IndexArray
from ..keys import Float64Array

_FLAT = 1e-14
"""The cosine between residuals and their derivatives at which a problem is at a minimum, to rounding."""
_STUCK = 1e12
"""The damping at which no step that is longer than rounding lowers the cost."""
_LEAST_EFFECT = 1e-290
"""On the diagonal: an unknown with less has no effect, and stays."""
_ROOM = 0.9
"""Part of the way to a bound that a step may go where bounds are not to be reached."""
_BEYOND = 1.0 + 1e-9
"""Of the way to a bound, for steps that reach it."""
_TOO_FEW = 0.2
"""Part of the problems: where as many are done, the others continue without them."""


class Equations(Protocol):
    """Normal equations at some unknowns: a symmetric matrix, positive semidefinite, and the gradient."""

    @property
    def gradient(self) -> Float64Array:
        """Return half the derivative of the cost, shape (p, K)."""
        ...

    @property
    def diagonal(self) -> Float64Array:
        """Return the scale of the damping, the diagonal of the matrix or a part of it, shape (p, K)."""
        ...

    def solve(self, added: Float64Array, free: BoolArray, right: Float64Array) -> Float64Array:
        """Return the solution for the free unknowns, 0 for the others, with `added` on the diagonal."""
        ...

    def times(self, step: Float64Array) -> Float64Array:
        """Return the product of the matrix with a step."""
        ...


class Evaluation(Protocol):
    """The results of a problem at some unknowns."""

    @property
    def cost(self) -> Float64Array:
        """Return the sums of squares, shape (problems,)."""
        ...


_State = TypeVar("_State", bound=Evaluation)


class Problem(Protocol[_State]):
    """Independent problems of one structure."""

    @property
    def owner(self) -> IndexArray | None:
        """Return the problem of each block of unknowns; None if problems have one block each."""
        ...

    def evaluate(self, x: Float64Array, near: _State | None) -> _State:
        """Return the state at unknowns, which may start from a state `near` them."""
        ...

    def equations(self, x: Float64Array, state: _State) -> Equations:
        """Return the normal equations."""
        ...

    def moved(self, x: Float64Array, step: Float64Array) -> Float64Array:
        """Return the unknowns after a step."""
        ...

    def is_good(self, state: _State, steps: int) -> BoolArray:
        """Return which problems need no more steps after so many."""
        ...

    def chosen(self, better: BoolArray, new: _State, old: _State) -> _State:
        """Return the new states of some problems, and the old ones of the others."""
        ...

    def take(self, problems: BoolArray, state: _State) -> tuple[Problem[_State], _State]:
        """Return some of the problems with their states."""
        ...


@dataclass(frozen=True)
class Method:
    """How to descend.

    Attributes
    ----------
    steps : int
        The most steps.
    least_gain : float
        A step that gains no more than this part of a problem's cost is its last.
    damping : float or ndarray, shape (problems,)
        The first damping, relative to the diagonal.
    less, more : float
        Factors for the damping: `less` after a step that lowered the cost, `more` after one that did not.
    inside : bool
        Whether bounds are not to be reached (Coleman and Li).
    rounds : int
        How often the other unknowns are solved for again after some reached a bound.
    """

    steps: int = 100
    least_gain: float = 1e-12
    damping: float | Float64Array = 1e-3
    less: float = 0.2
    more: float = 5.0
    inside: bool = False
    rounds: int = 1


class Result(NamedTuple):
    """The end of a descent.

    Attributes
    ----------
    x : ndarray
        The unknowns, finite and within the bounds, in the shape of the start.
    cost : ndarray, shape (problems,)
        The sums of squares, no larger than at the start.
    converged : ndarray of bool, shape (problems,)
        Whether the last step gained next to nothing, or the problem was good enough. Otherwise the steps ran out.
    steps : ndarray of int, shape (problems,)
        How many steps were tried.
    """

    x: Float64Array
    cost: Float64Array
    converged: BoolArray
    steps: IndexArray


def descend(
    problem: Problem[Any], start: Float64Array, lower: npt.ArrayLike, upper: npt.ArrayLike, method: Method
) -> Result:
    """Minimize the costs of problems, from unknowns `start` (p, K) on, within bounds that broadcast to these.

    Raises
    ------
    ValueError
        For a start beyond the bounds, or with a cost that is not finite.
    """
    x = start
    low, high = (np.broadcast_to(np.asarray(each, np.float64), x.shape) for each in (lower, upper))
    if not ((x >= low) & (x <= high)).all():
        raise ValueError("the start must be within the bounds")
    state = problem.evaluate(x, None)
    if not np.isfinite(state.cost).all():
        raise ValueError("residuals at the start must be finite")
    going = np.arange(len(state.cost))
    blocks = np.arange(x.shape[1])
    result = Result(x.copy(), state.cost.copy(), np.zeros(len(going), dtype=np.bool_), np.zeros(len(going), np.intp))
    damping = np.broadcast_to(np.asarray(method.damping), going.shape)
    done = problem.is_good(state, 0)
    result.converged[:] = done
    equations: Equations | None = None
    for number in range(method.steps):
        if done.all():
            break
        if np.count_nonzero(done) > _TOO_FEW * len(done) and len(done) > 2:
            left = ~done
            if np.count_nonzero(left) == 1:
                # NumPy sums one column in another order than several, and digits would depend on the others.
                left[np.flatnonzero(done)[0]] = True
            own = left if problem.owner is None else left[problem.owner]
            problem, state = problem.take(left, state)
            x, low, high = (each.compress(own, axis=1) for each in (x, low, high))
            going, blocks, damping, done, equations = going[left], blocks[own], damping[left], done[left], None
        if equations is None:
            equations = problem.equations(x, state)
        spread = damping if problem.owner is None else damping[problem.owner]
        step = _step(equations, x, spread * equations.diagonal, low, high, method)
        tried = problem.moved(x, step)
        trial = problem.evaluate(tried, state)
        before = state.cost
        better = (trial.cost < before) & ~done
        gain = np.where(better, before - trial.cost, np.inf)
        if better.all():
            x, state = tried, trial
        elif better.any():
            x = np.where(better if problem.owner is None else better[problem.owner], tried, x)
            state = problem.chosen(better, trial, state)
        damping = np.where(better, method.less * damping, method.more * damping)
        result.steps[going[~done]] = number + 1
        done = done | (gain <= method.least_gain * before) | problem.is_good(state, number + 1) | (damping > _STUCK)
        if not better.all():
            done |= ~better & _is_flat(equations, x, low, high, before, problem.owner)
        if better.any():
            equations = None
        result.x[:, blocks], result.cost[going], result.converged[going] = x, state.cost, done
    return result


def _step(
    equations: Equations, x: Float64Array, added: Float64Array, low: Float64Array, high: Float64Array, method: Method
) -> Float64Array:
    """Return a damped step within the bounds."""
    slope = equations.gradient
    if method.inside:
        room = np.maximum(np.where(slope > 0.0, x - low, high - x), 1e-12)
        step = equations.solve(added + np.abs(slope) / room, np.ones(x.shape, dtype=np.bool_), -slope)
        return np.clip(_finite(step), _ROOM * (low - x), _ROOM * (high - x))
    held = _held(x, slope, low, high)
    step = _finite(equations.solve(added, ~held, -slope))
    for _ in range(method.rounds):
        onto = np.clip(step, low - x, high - x)
        reaching = onto != step
        if not reaching.any():
            return step
        held |= reaching
        fixed = np.where(held, onto, 0.0)
        step = fixed + _finite(equations.solve(added, ~held, -slope - equations.times(fixed)))
    # Slightly beyond, so that a clipped unknown is on the bound in all digits.
    down, up = low - x, high - x
    return np.where(step >= up, _BEYOND * up, np.where(step <= down, _BEYOND * down, step))


def _held(x: Float64Array, slope: Float64Array, low: Float64Array, high: Float64Array) -> BoolArray:
    """Return which unknowns are on a bound that descent would leave."""
    held: BoolArray = ((x <= low) & (slope > 0.0)) | ((x >= high) & (slope < 0.0))
    return held


def _is_flat(
    equations: Equations,
    x: Float64Array,
    low: Float64Array,
    high: Float64Array,
    cost: Float64Array,
    owner: IndexArray | None,
) -> BoolArray:
    """Return whether each problem has only slopes within rounding, along unknowns that may move."""
    slope = np.where(_held(x, equations.gradient, low, high), 0.0, equations.gradient)
    size = equations.diagonal * (cost if owner is None else cost[owner])
    steep = slope * slope > _FLAT**2 * size
    if owner is None:
        return ~np.asarray(steep.any(axis=0), dtype=np.bool_)
    counts: IndexArray = np.bincount(owner[steep.any(axis=0)], minlength=len(cost))
    return ~counts.astype(np.bool_)


def _finite(step: Float64Array) -> Float64Array:
    """Return a step, 0 where it is not finite."""
    return np.where(np.isfinite(step), step, 0.0)


@dataclass(frozen=True)
class DenseEquations:
    """Normal equations of problems with one block each: matrices (K, p, p)."""

    matrix: Float64Array
    gradient: Float64Array
    diagonal: Float64Array

    def solve(self, added: Float64Array, free: BoolArray, right: Float64Array) -> Float64Array:
        """Return the solution for the free unknowns, of equations scaled to a diagonal of 1."""
        diagonal = np.einsum("kii->ik", self.matrix)
        has_effect = free & (diagonal > _LEAST_EFFECT)
        scale: Float64Array = np.sqrt(np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=has_effect))
        rows = scale.T[:, :, np.newaxis]
        scaled = self.matrix * rows * scale.T[:, np.newaxis]
        unknown = np.arange(len(diagonal))
        scaled[:, unknown, unknown] = (1.0 + added * scale * scale).T
        return _solved(scaled, rows * right.T[..., np.newaxis])[..., 0].T * scale

    def times(self, step: Float64Array) -> Float64Array:
        """Return the product of the matrices with a step."""
        product: Float64Array = np.einsum("kij,jk->ik", self.matrix, step)
        return product


def _solved(matrices: Float64Array, right: Float64Array) -> Float64Array:
    """Return the solutions of systems; 0 where they are singular, as by values that differ too much in size."""
    solutions = np.zeros_like(right)
    try:
        solutions[:] = np.linalg.solve(matrices, right)
    except np.linalg.LinAlgError:
        for solution, matrix, own in zip(solutions, matrices, right, strict=True):
            with suppress(np.linalg.LinAlgError):
                solution[:] = np.linalg.solve(matrix, own)
    return solutions
