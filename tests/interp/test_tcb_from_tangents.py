# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters for given tangents, compared with scipy's bounded least squares and `interp.splines.tcb`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

from interp import Keys
from interp.fitting.tcb_from_tangents import tangents_of, tcb_of_tangents
from interp.splines import tcb

NEAR = 1e-3
COUNT = 25


def random_keys(seed: int, components: int) -> tuple[np.ndarray, ...]:
    dice = np.random.default_rng(seed)
    before, after = dice.normal(size=(2, COUNT, components))
    return before, after, dice.uniform(0.15, 0.85, COUNT), dice.uniform(-1, 1, (3, COUNT))


def test_the_tangents_are_those_of_the_spline():
    dice = np.random.default_rng(1)
    for _ in range(20):
        frames = np.cumsum(dice.integers(1, 20, 3)).astype(float)
        values = dice.normal(size=3)
        parameters = dice.uniform(-1, 1, 3)
        keys = Keys(frames, values[:, np.newaxis], *([0, each, 0] for each in parameters))
        spline = tcb.VectorSpline(keys)
        tiny = 1e-7
        share = (frames[1] - frames[0]) / (frames[2] - frames[0])
        incoming, outgoing = tangents_of(
            parameters[:, np.newaxis], *np.diff(values).reshape(2, 1, 1), share=np.array([share])
        )
        slopes = spline(frames[1] + np.array([-tiny, tiny]), nu=1)[:, 0]
        assert incoming[0, 0] == pytest.approx(slopes[0] * (frames[1] - frames[0]), abs=1e-4)
        assert outgoing[0, 0] == pytest.approx(slopes[1] * (frames[2] - frames[1]), abs=1e-4)


@pytest.mark.parametrize("components", [1, 3])
def test_tangents_of_parameters_lead_back_to_these(components: int):
    before, after, share, parameters = random_keys(2, components)
    tangents = tangents_of(parameters, before, after, share)
    found = tcb_of_tangents(before, after, share, *tangents, parameters)
    assert np.abs(found - parameters).max() < 2e-3
    assert np.abs(np.subtract(tangents_of(found, before, after, share), tangents)).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "components"), [(0, 1), (3, 3)])
def test_no_solver_finds_better_ones(seed: int, components: int):
    before, after, share, present = random_keys(10 + seed, components)
    dice = np.random.default_rng(seed)
    incoming, outgoing = tangents_of(present, before, after, share)
    incoming = incoming + dice.normal(scale=0.5, size=(COUNT, components))
    found = tcb_of_tangents(before, after, share, incoming, outgoing, present)
    for row in range(0, COUNT, 2):
        size = np.linalg.norm(before[row]) + np.linalg.norm(after[row])
        one = slice(row, row + 1)

        def residuals(p: np.ndarray, one=one, size=size) -> np.ndarray:
            made = tangents_of(p[:, np.newaxis], before[one], after[one], share[one])
            off = (np.concatenate(made) - np.concatenate((incoming[one], outgoing[one]))).ravel() / size
            x, y = (1 - p[0]) * (1 + p[2]), (1 - p[0]) * (1 - p[2])
            t, c, b = present[:, one][:, 0]
            near = [x - (1 - t) * (1 + b), y - (1 - t) * (1 - b), p[1] - c]
            return np.concatenate((off, NEAR * np.array(near)))

        starts = [present[:, row], *dice.uniform(-0.99, 0.99, (4, 3))]
        best = min(
            float((least_squares(residuals, np.clip(start, -0.999, 0.999), bounds=(-1, 1)).fun ** 2).sum())
            for start in starts
        )
        mine = float((residuals(found[:, row]) ** 2).sum())
        assert mine <= (np.sqrt(best) + 2e-3) ** 2


def test_a_plateau_keeps_its_parameters():
    present = np.array([[0.25], [-0.5], [0.125]])
    nothing, half = np.zeros((1, 1)), np.full(1, 0.5)
    assert tcb_of_tangents(nothing, nothing, half, np.ones((1, 1)), nothing, present) == pytest.approx(present)
