# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest changes, compared with scipy's quadratic solvers and closed forms, and problems without a solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from interp import relaxation


@pytest.mark.parametrize("seed", range(20))
def test_non_negative_least_squares_are_scipys(seed):
    random = np.random.default_rng(seed)
    matrix, wanted = random.normal(size=(6, 40)), random.normal(size=6)
    ours = relaxation.non_negative_least_squares(matrix, wanted)
    _, norm = optimize.nnls(matrix, wanted)
    assert (ours >= 0).all()
    assert np.linalg.norm(matrix @ ours - wanted) == pytest.approx(norm, abs=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_the_least_change_within_limits_is_the_one_that_scipy_finds(seed):
    random = np.random.default_rng(seed)
    slopes = random.normal(size=(30, 5))
    room = slopes @ random.normal(size=5) + random.uniform(0, 0.5, size=30)  # This guarantees a solution.
    ours = relaxation.least_change(slopes, room)
    assert ours is not None
    limits: Any = {"type": "ineq", "fun": lambda z: room - slopes @ z, "jac": lambda _: -slopes}
    options: Any = {"ftol": 1e-14, "maxiter": 500}
    minimize: Any = optimize.minimize
    theirs = minimize(
        lambda z: z @ z, np.zeros(5), jac=lambda z: 2 * z, constraints=limits, method="SLSQP", options=options
    )
    assert theirs.success
    assert (slopes @ ours <= room + 1e-6).all()
    assert ours == pytest.approx(theirs.x, abs=1e-5)


def test_limits_that_contradict_each_other_have_no_change():
    assert relaxation.least_change([[1.0, 0.0], [-1.0, 0.0]], [-1.0, 0.5]) is None
    assert relaxation.least_change([[0.0, 0.0]], [-1.0]) is None


def test_no_change_is_made_where_everything_holds():
    result = relaxation.relax(lambda x: x - 5.0, [1.0, 2.0], 1e-3)
    assert result.numbers.tolist() == [1.0, 2.0]
    assert (result.reached, result.excess) == (True, -3.0)


def test_a_point_is_brought_onto_a_circle_by_the_shortest_way():
    """For a point outside the unit circle, the closest point of the disk is on the ray to the center."""
    result = relaxation.relax(lambda x: np.array([np.hypot(*x) - 1.0]), [3.0, 4.0], 1e-6)
    assert result.reached
    assert result.numbers == pytest.approx((0.6, 0.8), abs=1e-5)


def test_a_dearer_number_changes_less():
    """Minimize the weighted squares with a + b = 1. The changes are proportional to the weights' inverse squares."""
    result = relaxation.relax(lambda x: np.array([1.0 - x.sum()]), [0.0, 0.0], 1e-9, weights=[2.0, 1.0])
    assert result.numbers == pytest.approx((0.2, 0.8), abs=1e-6)


def test_a_number_that_no_error_depends_on_stays_to_the_bit():
    result = relaxation.relax(lambda x: np.array([2.0 - x[0]]), [0.0, 0.1], 1e-6)
    assert result.numbers[0] == pytest.approx(2.0, abs=1e-5)
    assert result.numbers[1] == 0.1


def test_what_cannot_be_is_said_and_the_errors_are_as_small_as_they_get():
    """x >= 1 and x <= -1 contradict each other. Halfway between, both are violated by 1."""
    result = relaxation.relax(lambda x: np.array([1.0 - x[0], x[0] + 1.0]), [0.7], 1e-3)
    assert not result.reached
    assert result.excess == pytest.approx(1.0, abs=1e-6)


def test_a_turned_arm_comes_to_its_target_on_a_curved_way():
    """With two joints of length 1, the tip moves from (2, 0) to (0, 1), within the tolerance in both components."""

    def tip(x):
        return np.array([np.cos(x[0]) + np.cos(x[0] + x[1]), np.sin(x[0]) + np.sin(x[0] + x[1])])

    def excess(x):
        miss = tip(x) - (0.0, 1.0)
        return np.sqrt(2) * np.concatenate((miss, -miss))

    result = relaxation.relax(excess, [0.1, 0.1], 1e-6, longest=0.5)
    assert result.reached
    assert np.abs(result.numbers).max() < np.pi
    assert np.linalg.norm(tip(result.numbers) - (0.0, 1.0)) <= 1e-6


def test_the_same_is_found_every_time():
    def excess(x):
        return np.sin(np.arange(1, 30) * x[0]) + 0.3 * x[1] ** 2 - 0.5

    first, second = (relaxation.relax(excess, [0.4, 0.9], 1e-4) for _ in range(2))
    assert first.numbers.tobytes() == second.numbers.tobytes()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="tolerance inf is not positive and finite"):
        relaxation.relax(lambda x: x, [1.0], np.inf)
    with pytest.raises(ValueError, match="tolerance 0 is not positive"):
        relaxation.relax(lambda x: x, [1.0], 0.0)
    with pytest.raises(ValueError, match="no numbers"):
        relaxation.relax(lambda x: x, [], 1.0)
    with pytest.raises(ValueError, match="not finite"):
        relaxation.relax(lambda x: x * np.nan, [1.0], 1.0)
