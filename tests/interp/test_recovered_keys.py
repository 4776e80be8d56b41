# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that the original keys are recovered from samples of lines, steps and cubics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from interp.fitting.reduction import recover_keys
from tests.interp.dense_motion import smooth_paths


def rounded(values: np.ndarray) -> np.ndarray:
    """Return the values rounded to float32."""
    return values.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("seed", range(5))
def test_cubics_give_back_their_rows_and_velocities(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.cumsum([0, *random.integers(6, 20, 10)])
    values, velocities = random.normal(size=(len(rows), 2)), 0.2 * random.normal(size=(len(rows), 2))
    samples = CubicHermiteSpline(rows, values, velocities)(np.arange(rows[-1] + 1))
    found = recover_keys(rounded(samples))
    assert found is not None
    assert found.rows.tolist() == rows.tolist()
    assert found.incoming[1:] == pytest.approx(velocities[1:], abs=1e-5)
    assert found.outgoing[:-1] == pytest.approx(velocities[:-1], abs=1e-5)
    assert not found.is_line.any()


def test_corners_have_two_velocities() -> None:
    frames = np.arange(61.0)
    samples = np.where(frames < 30.0, 0.001 * frames**3, 27.0 - 0.02 * (frames - 30.0) ** 2)[:, np.newaxis]
    found = recover_keys(rounded(samples))
    assert found is not None
    assert found.rows.tolist() == [0, 30, 60]
    assert found.incoming[1, 0] == pytest.approx(2.7, abs=1e-4)
    assert found.outgoing[1, 0] == pytest.approx(0.0, abs=1e-4)


def test_lines_and_steps_are_told_apart() -> None:
    samples = np.concatenate((np.linspace(0.0, 3.0, 13), np.full(7, 5.0), np.full(9, -1.0)))[:, np.newaxis]
    found = recover_keys(samples)
    assert found is not None
    assert found.is_straight
    assert found.rows.tolist() == [0, 12, 13, 20, 28]
    assert found.is_hold.tolist() == [False, False, True, False]


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_the_size_of_values_does_not_matter(size: float) -> None:
    samples = size * np.interp(np.arange(50.0), [0.0, 20.0, 49.0], [0.0, 1.0, -2.0])[:, np.newaxis]
    found = recover_keys(rounded(samples))
    assert found is not None
    assert found.rows.tolist() == [0, 20, 49]


def test_noise_was_not_made_from_few_keys() -> None:
    assert recover_keys(smooth_paths(200, 1, 3, 1, 1e-4)[0]) is None


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_few_samples_have_no_fewer_keys(count: int) -> None:
    assert recover_keys(np.arange(float(count))[:, np.newaxis] ** 2) is None
