# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation, compared with scipy's NNLS and SLSQP and with closed forms, and problems without a solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from interp import relaxation


@pytest.mark.parametrize("seed", range(20))
def test_non_negative_least_squares_match_scipy(seed):
    """The solution has more components than equations, so it is not unique, but its residual is."""
    rng = np.random.default_rng(seed)
    matrix, target = rng.normal(size=(6, 40)), rng.normal(size=6)
    solution = relaxation.non_negative_least_squares(matrix, target)
    _, residual = optimize.nnls(matrix, target)
    assert (solution >= 0).all()
    assert np.linalg.norm(matrix @ solution - target) == pytest.approx(residual, abs=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_the_least_change_matches_slsqp(seed):
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=(30, 5))
    room = slopes @ rng.normal(size=5) + rng.uniform(0, 0.5, size=30)  # This guarantees a solution.
    change = relaxation.least_change(slopes, room)
    assert change is not None
    minimize: Any = optimize.minimize  # scipy's stubs reject its dictionaries of constraints and options.
    expected = minimize(
        lambda z: z @ z,
        np.zeros(5),
        jac=lambda z: 2 * z,
        constraints={"type": "ineq", "fun": lambda z: room - slopes @ z, "jac": lambda _: -slopes},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert expected.success
    assert (slopes @ change <= room + 1e-6).all()
    assert change == pytest.approx(expected.x, abs=1e-5)


def test_contradicting_limits_have_no_solution():
    assert relaxation.least_change([[1.0, 0.0], [-1.0, 0.0]], [-1.0, 0.5]) is None


def test_a_violated_condition_that_no_number_affects_has_no_solution():
    assert relaxation.least_change([[0.0, 0.0]], [-1.0]) is None


def test_satisfied_conditions_change_nothing():
    result = relaxation.relax(lambda x: x - 5.0, [1.0, 2.0], 1e-3)
    assert result.numbers.tolist() == [1.0, 2.0]
    assert (result.reached, result.excess) == (True, -3.0)


def test_a_point_moves_to_the_closest_point_of_a_disk():
    """For a point outside the unit circle, the closest point of the disk is on the ray to the center."""
    result = relaxation.relax(lambda x: np.array([np.hypot(*x) - 1.0]), [3.0, 4.0], 1e-6)
    assert result.reached
    assert result.numbers == pytest.approx((0.6, 0.8), abs=1e-5)


def test_a_number_with_a_larger_weight_changes_less():
    """Minimize the weighted squares with a + b = 1. The changes are proportional to the weights' inverse squares."""
    result = relaxation.relax(lambda x: np.array([1.0 - x.sum()]), [0.0, 0.0], 1e-9, weights=[2.0, 1.0])
    assert result.numbers == pytest.approx((0.2, 0.8), abs=1e-6)


def test_a_number_without_effect_is_unchanged():
    result = relaxation.relax(lambda x: np.array([2.0 - x[0]]), [0.0, 0.1], 1e-6)
    assert result.numbers[0] == pytest.approx(2.0, abs=1e-5)
    assert result.numbers[1] == 0.1


def test_contradicting_conditions_get_the_least_squares_compromise():
    """x >= 1 and x <= -1 contradict each other. Halfway between, both are violated by 1."""
    result = relaxation.relax(lambda x: np.array([1.0 - x[0], x[0] + 1.0]), [0.7], 1e-3)
    assert not result.reached
    assert result.excess == pytest.approx(1.0, abs=1e-6)


def test_a_two_link_arm_reaches_its_target():
    """The links have length 1. The tip moves from near (2, 0) to (0, 1), which its joints affect nonlinearly."""

    def tip(angles):
        upper, lower = angles[0], angles[0] + angles[1]
        return np.array([np.cos(upper) + np.cos(lower), np.sin(upper) + np.sin(lower)])

    def excess(angles):
        # If each component is within tolerance / sqrt(2), the distance is within the tolerance.
        offset = tip(angles) - (0.0, 1.0)
        return np.sqrt(2) * np.concatenate((offset, -offset))

    result = relaxation.relax(excess, [0.1, 0.1], 1e-6, longest=0.5)
    assert result.reached
    assert np.abs(result.numbers).max() < np.pi  # No joint makes an extra turn.
    assert np.linalg.norm(tip(result.numbers) - (0.0, 1.0)) <= 1e-6


def test_results_are_deterministic():
    def excess(x):
        return np.sin(np.arange(1, 30) * x[0]) + 0.3 * x[1] ** 2 - 0.5

    first, second = (relaxation.relax(excess, [0.4, 0.9], 1e-4) for _ in range(2))
    assert first.numbers.tobytes() == second.numbers.tobytes()


@pytest.mark.parametrize(("tolerance", "text"), [(np.inf, "inf"), (np.nan, "nan"), (0.0, "0"), (-0.5, "-0.5")])
def test_a_tolerance_that_is_not_positive_and_finite_raises(tolerance, text):
    with pytest.raises(ValueError, match=rf"^tolerance {text} is not positive and finite$"):
        relaxation.relax(lambda x: x, [1.0], tolerance)


def test_no_numbers_raise():
    with pytest.raises(ValueError, match=r"^there are no numbers to change$"):
        relaxation.relax(lambda x: x, [], 1.0)


def test_errors_that_are_not_finite_raise():
    with pytest.raises(ValueError, match=r"^the errors are not finite$"):
        relaxation.relax(lambda x: x * np.nan, [1.0], 1.0)
