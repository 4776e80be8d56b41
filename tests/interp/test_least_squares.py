# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare bounded least squares with scipy on curve fits and classic test functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import optimize

from interp.fitting.least_squares import DenseEquations, Method, descend


class Residuals(NamedTuple):
    residuals: np.ndarray
    """The residuals, shape (n, m)."""
    changes: np.ndarray
    """The derivatives of the residuals, shape (n, m, p)."""
    cost: np.ndarray


class Dense(NamedTuple):
    """Dense problems, defined by a function of the unknowns (n, p) and the problem numbers (n,)."""

    function: Callable[..., Any]
    problems: np.ndarray
    low: np.ndarray
    high: np.ndarray
    owner: None = None

    def evaluate(self, x, near):
        residuals, changes = self.function(x.T, self.problems)
        return Residuals(residuals, changes, np.einsum("nm,nm->n", residuals, residuals))

    def equations(self, x, state):
        matrix = state.changes.transpose(0, 2, 1) @ state.changes
        gradient = np.einsum("nmp,nm->pn", state.changes, state.residuals)
        return DenseEquations(matrix, gradient, np.einsum("kii->ik", matrix))

    def moved(self, x, step):
        return np.clip(x + step, self.low, self.high)

    def is_good(self, state, steps):
        return state.cost == 0.0

    def chosen(self, better, new, old):
        rows = better[:, np.newaxis]
        return Residuals(
            np.where(rows, new.residuals, old.residuals),
            np.where(rows[..., np.newaxis], new.changes, old.changes),
            np.where(better, new.cost, old.cost),
        )

    def take(self, problems, state):
        taken = Dense(self.function, self.problems[problems], self.low[:, problems], self.high[:, problems])
        return taken, Residuals(*(each[problems] for each in state))


def least_squares(function, start, lower=-np.inf, upper=np.inf, method=None):
    """Return the minima of n dense problems, starting from unknowns (n, p)."""
    low, high = (np.broadcast_to(np.asarray(each, np.float64), start.shape).T for each in (lower, upper))
    dense = Dense(function, np.arange(len(start)), low, high)
    result = descend(dense, np.ascontiguousarray(start.T), low, high, method or Method())
    return result._replace(x=result.x.T.copy())


def decays(times, wanted):
    """Return residuals of a exp(-b t) + c, for many tracks of data."""

    def function(x, problems):
        a, b, c = x.T[..., None]
        falling = np.exp(-b * times)
        changes = np.stack([falling, -a * times * falling, np.ones_like(falling)], axis=-1)
        return a * falling + c - wanted[problems], changes

    return function


def rosenbrock(x, problems):
    a, b = x.T
    residuals = np.stack([10.0 * (b - a * a), 1.0 - a], axis=1)
    changes = np.zeros((len(x), 2, 2))
    changes[:, 0, 0], changes[:, 0, 1], changes[:, 1, 0] = -20.0 * a, 10.0, -1.0
    return residuals, changes


def scipys(function, start, lower, upper):
    found = [
        optimize.least_squares(
            lambda x, i=i: function(x[None], np.array([i]))[0][0],
            np.clip(row, lower + 1e-9, upper - 1e-9),
            lambda x, i=i: function(x[None], np.array([i]))[1][0],
            bounds=(lower, upper),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=2000,
        )
        for i, row in enumerate(start)
    ]
    return np.array([each.x for each in found]), np.array([2.0 * each.cost for each in found])


def data(generator, count):
    times = np.linspace(0.0, 3.0, 30)
    a, b, c = generator.uniform([[0.5], [0.2], [-1.0]], [[3.0], [3.0], [1.0]], size=(3, count))[..., None]
    return times, a * np.exp(-b * times) + c + 0.05 * generator.normal(size=(count, 30))


@pytest.mark.parametrize(("lower", "upper"), [(-np.inf, np.inf), ([0.0, 0.5, -0.2], [1.5, 2.0, 0.2])])
def test_many_curve_fits_reach_scipys_minima(lower, upper):
    function = decays(*data(np.random.default_rng(0), 40))
    start = np.tile([1.0, 1.0, 0.0], (40, 1))
    low, high = np.broadcast_to(lower, 3), np.broadcast_to(upper, 3)
    result = least_squares(function, start, low, high)
    _, cost = scipys(function, start, low, high)
    assert ((result.x >= low) & (result.x <= high)).all()
    np.testing.assert_allclose(result.cost, cost, rtol=1e-8)


def test_inside_the_bounds_none_is_reached():
    low, high = np.array([-2.0, -2.0]), np.array([0.5, 2.0])
    result = least_squares(rosenbrock, np.array([[-1.2, 1.0]]), low, high, Method(inside=True, steps=200))
    assert ((result.x > low) & (result.x < high)).all()
    assert result.x[0, 0] > 0.49


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e12, 1e30])
def test_the_size_of_the_data_does_not_matter(size):
    times, wanted = data(np.random.default_rng(2), 5)
    start = np.tile([1.0, 1.0, 0.0], (5, 1))

    def sized(x, problems):
        residuals, changes = decays(times, wanted)(x / [size, 1.0, size], problems)
        return residuals * size, changes * size / [size, 1.0, size]

    result = least_squares(sized, start * [size, 1.0, size])
    plain = least_squares(decays(times, wanted), start)
    np.testing.assert_allclose(result.x / [size, 1.0, size], plain.x, rtol=1e-7)


def test_unknowns_without_effect_stay_and_nothing_is_nan():
    def function(x, problems):
        residuals = x[:, :1] - 3.0
        return residuals, np.array([1.0, 0.0])[None, None] * np.ones((len(x), 1, 1))

    result = least_squares(function, np.array([[0.0, 0.25], [5.0, -1.0]]))
    np.testing.assert_allclose(result.x, [[3.0, 0.25], [3.0, -1.0]])


def test_steps_onto_residuals_that_are_not_finite_are_not_taken():
    def function(x, problems):
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.log(x) - 2.0, (1.0 / x)[..., None]

    result = least_squares(function, np.array([[1e-8], [100.0]]))
    np.testing.assert_allclose(result.x[:, 0], np.exp(2.0))


def test_a_start_beyond_the_bounds_or_without_finite_residuals_is_refused():
    with pytest.raises(ValueError, match="within the bounds"):
        least_squares(rosenbrock, np.array([[3.0, 0.0]]), -1.0, 1.0)
    with pytest.raises(ValueError, match="must be finite"):
        least_squares(rosenbrock, np.array([[np.inf, 0.0]]))
