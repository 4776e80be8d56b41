# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluating many tracks together gives the same results as evaluating each separately."""

from __future__ import annotations

import numpy as np
import pytest

from interp import Keys, evaluate_many, rotations
from interp.splines import tcb


def mixture(count=24):
    """Return splines of both classes, with all options and one to ten keys."""
    generator = np.random.default_rng(6)
    splines = []
    for index in range(count):
        keys = int(generator.integers(1, 11))
        frames = np.cumsum(generator.uniform(0.5, 30.0, keys)) - 40.0
        parameters = generator.uniform(-0.6, 1.0, (5, keys))
        parameters[3:] = np.abs(parameters[3:]) * (index % 3 != 0)
        cycle = ["SINGLE", "REPEAT", "LOOP"][index % 3]
        if index % 4 == 3:
            values = generator.normal(size=(keys, 1 + index % 5))
            splines.append(tcb.VectorSpline(Keys(frames, values, *parameters), cycle))
        elif index % 4 == 2:
            turns = generator.uniform(-8.0, 8.0, keys), generator.normal(size=(keys, 3))
            splines.append(tcb.RotationSpline.from_turns(frames, *turns, *parameters, cycle=cycle))
        else:
            splines.append(
                tcb.RotationSpline(
                    Keys(frames, generator.normal(size=(keys, 4)), *parameters),
                    cycle,
                    ["3DS", "TANGENT"][index // 2 % 2],
                    ["DE_CASTELJAU", "SQUAD"][index // 3 % 2],
                    ["SHORTEST", "AS_KEYED"][index // 4 % 2],
                )
            )
    return splines


FRAMES = {
    "rising": np.linspace(-100.0, 200.0, 401),
    "with repeats": np.sort(np.repeat(np.linspace(-50.0, 100.0, 100), 3)),
    "falling": np.linspace(200.0, -100.0, 401),
    "shuffled": np.random.default_rng(0).permutation(np.linspace(-100.0, 200.0, 401)),
    "one": np.array([3.25]),
    "none": np.array([]),
    "more than a block": np.linspace(-100.0, 200.0, 9001),
}


@pytest.mark.slow
@pytest.mark.parametrize("nu", [0, 1, 2])
@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES.keys())
def test_a_mixture_at_once_equals_one_by_one_to_the_bit(frames, nu):
    splines = mixture()
    for spline, found in zip(splines, evaluate_many(splines, frames, nu), strict=True):
        expected = spline(frames, nu)
        assert found.shape == expected.shape
        assert (found == expected).all()


def test_the_order_of_frames_does_not_matter():
    splines = mixture()
    order = np.random.default_rng(1).permutation(401)
    rising = evaluate_many(splines, FRAMES["rising"])
    for found, expected in zip(evaluate_many(splines, FRAMES["rising"][order]), rising, strict=True):
        assert (found == expected[order]).all()


def test_every_spline_may_have_its_own_frames():
    splines = mixture()
    generator = np.random.default_rng(2)
    frames = [generator.uniform(-100.0, 200.0, generator.integers(0, 50)) for _ in splines]
    for spline, own, found in zip(splines, frames, evaluate_many(splines, frames), strict=True):
        assert (found == spline(own)).all()


def test_rows_of_a_matrix_are_frames_of_their_own():
    splines = [tcb.VectorSpline(Keys([0, 1], [0.0, 1.0])), tcb.VectorSpline(Keys([0, 1], [5.0, 6.0]))]
    found = evaluate_many(splines, np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert [each[:, 0].tolist() for each in found] == [[0.0, 1.0], [6.0, 5.0]]


def test_nothing_gives_nothing():
    assert evaluate_many([], [0.0, 1.0]) == []


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        ([0.0, np.nan], "must be finite"),
        ([[0.0], [np.inf]], r"frames\[1\] must be finite"),
        ([[0.0]], "frames must have one array per spline: got 1 arrays for 2 splines"),
        ([[0.0], [[1.0]]], r"frames\[1\] must have one dimension"),
        (3.0, "one dimension"),
    ],
)
def test_bad_frames_are_refused(frames, words):
    splines = [tcb.VectorSpline(Keys([0, 1], [0.0, 1.0]))] * 2
    with pytest.raises(ValueError, match=words):
        evaluate_many(splines, frames)


def test_a_derivative_that_there_is_not_is_refused():
    rotation = tcb.RotationSpline(Keys([0], rotations.normalise([[1.0, 2, 3, 4]])))
    with pytest.raises(ValueError, match="RotationSpline supports derivatives of order 0 to 2"):
        evaluate_many([rotation, tcb.VectorSpline(Keys([0], [1.0]))], [0.0], 3)
