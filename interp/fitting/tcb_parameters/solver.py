# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients for the normal equations of a problem, each track for itself.

The blocks of the keys alone precondition them.
"""

from __future__ import annotations

import numpy as np

from ...batch import BoolArray
from ...keys import Float64Array
from .problem import Equations, Problem

_MOST_STEPS = 30
"""Neighbouring keys are coupled loosely: most solutions need 6."""


def solve(
    problem: Problem,
    equations: Equations,
    damped: Float64Array,
    free: BoolArray,
    right: Float64Array,
    forcing: Float64Array,
) -> Float64Array:
    """Return the solution of the damped equations for the free parameters; 0 for the others.

    Parameters
    ----------
    problem : Problem
        Whose the equations are.
    equations : Equations
        The matrix.
    damped : ndarray, shape (columns, keys)
        The damping, added to its diagonal.
    free : ndarray of bool, shape (columns, keys)
        The parameters that are solved for.
    right : ndarray, shape (columns, keys)
        The right side.
    forcing : ndarray, shape (tracks,)
        The residual at which each track's solution is near enough, relative to that of 0.
    """
    own = equations.own * (free[:, np.newaxis] & free)
    own[np.diag_indices(len(free))] += np.where(free, damped, 1.0)
    factors = _factorise(own)
    solution = np.zeros_like(right)
    rest = np.where(free, right, 0.0)
    direction = preconditioned = _solve_blocks(factors, rest)
    size = problem.sum_of_tracks(rest * preconditioned)
    enough = forcing**2 * size
    for _ in range(_MOST_STEPS):
        image = multiply(problem, own, equations.across, direction) * free
        length = _ratio(problem, size, problem.sum_of_tracks(direction * image))
        solution += length * direction
        rest = rest - length * image
        preconditioned = _solve_blocks(factors, rest)
        before, size = size, problem.sum_of_tracks(rest * preconditioned)
        if (size <= enough).all():
            break
        direction = preconditioned + _ratio(problem, size, before) * direction
    return solution


def multiply(problem: Problem, own: Float64Array, across: Float64Array, parameters: Float64Array) -> Float64Array:
    """Return the product of the matrix of blocks `own` and `across` with parameters (columns, keys)."""
    of_left = np.einsum("ijn,jn->in", across, parameters.take(problem.right, axis=1))
    of_right = np.einsum("jin,jn->in", across, parameters.take(problem.left, axis=1))
    coupled = problem.sum_at_keys(np.stack([of_left, of_right]))
    product: Float64Array = np.einsum("ijn,jn->in", own, parameters) + coupled
    return product


def _ratio(problem: Problem, dividend: Float64Array, divisor: Float64Array) -> Float64Array:
    """Return for each key the ratio of its track, 0 where the divisor is 0."""
    ratio = np.divide(dividend, divisor, out=np.zeros_like(dividend), where=divisor > 0.0)
    return ratio[problem.track]


def _factorise(matrices: Float64Array) -> Float64Array:
    """Return the factors L and D of symmetric matrices L D L', shape (columns, columns, keys).

    L is below the diagonal, 1 / D on it.
    """
    factors = matrices.copy()
    for column in range(len(factors)):
        factors[column, column] = 1.0 / factors[column, column]
        row = factors[column, column + 1 :].copy()
        factors[column + 1 :, column] *= factors[column, column]
        factors[column + 1 :, column + 1 :] -= factors[column + 1 :, column, np.newaxis] * row
    return factors


def _solve_blocks(factors: Float64Array, right: Float64Array) -> Float64Array:
    """Return the solutions (columns, keys) of equations with these factors."""
    solution = right.copy()
    for column in range(len(right) - 1):
        solution[column + 1 :] -= factors[column + 1 :, column] * solution[column]
    solution *= np.einsum("iin->in", factors)
    for column in range(len(right) - 1, 0, -1):
        solution[:column] -= factors[column, :column] * solution[column]
    return solution
