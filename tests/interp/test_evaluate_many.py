# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluating many tracks together gives the same results as evaluating each separately."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from interp import Keys, evaluate_many, rotations
from interp.prepared import BLOCK
from interp.splines import tcb
from tests.interp.rotation_tracks import CONSTRUCTIONS, CYCLES, ENDS, PATHS

FIRST, LAST = -100.0, 200.0
"""The range of frames to evaluate. All tracks begin within it, so it includes frames before them."""
FRAMES = {
    "rising": np.linspace(FIRST, LAST, 401),
    "with repeats": np.sort(np.repeat(np.linspace(-50.0, 100.0, 100), 3)),
    "falling": np.linspace(LAST, FIRST, 401),
    "shuffled": np.random.default_rng(0).permutation(np.linspace(FIRST, LAST, 401)),
    "one": np.array([3.25]),
    "none": np.array([]),
    "more than a block": np.linspace(FIRST, LAST, BLOCK + 1),
}


def mixed_splines():
    """Return vector splines, rotation splines and rotation splines of turns: all options, with and without ease."""
    rng = np.random.default_rng(6)
    splines = []
    for cycle, has_ease in product(CYCLES, (False, True)):
        splines += [vector_spline(rng, cycle, has_ease, components) for components in (1, 2, 3)]
        for ends, construction in product(ENDS, CONSTRUCTIONS):
            splines.append(turn_spline(rng, cycle, has_ease, ends, construction))
            splines += [rotation_spline(rng, cycle, has_ease, ends, construction, path) for path in PATHS]
    # Otherwise, splines that are computed together would be neighbors, so an error in their order could go unnoticed.
    return [splines[index] for index in rng.permutation(len(splines))]


def vector_spline(rng, cycle, has_ease, components):
    frames, parameters = frames_and_parameters(rng, has_ease)
    return tcb.VectorSpline(Keys(frames, rng.normal(size=(len(frames), components)), *parameters), cycle)


def rotation_spline(rng, cycle, has_ease, ends, construction, path):
    frames, parameters = frames_and_parameters(rng, has_ease)
    keys = Keys(frames, rng.normal(size=(len(frames), 4)), *parameters)
    return tcb.RotationSpline(keys, cycle, ends, construction, path)


def turn_spline(rng, cycle, has_ease, ends, construction):
    """Return a spline of turns, some of which exceed 360 degrees."""
    frames, parameters = frames_and_parameters(rng, has_ease)
    angles, axes = rng.uniform(-8.0, 8.0, len(frames)), rng.normal(size=(len(frames), 3))
    return tcb.RotationSpline.from_turns(
        frames, angles, axes, *parameters, cycle=cycle, ends=ends, construction=construction
    )


def frames_and_parameters(rng, has_ease):
    """Return the frames of one to ten keys, and their parameters, shape (5, n)."""
    count = int(rng.integers(1, 11))
    parameters = rng.uniform(-0.6, 1.0, (5, count))
    parameters[3:] = np.abs(parameters[3:]) * has_ease
    return np.cumsum(rng.uniform(0.5, 30.0, count)) - 40.0, parameters


def assert_identical(values, expected):
    """Compare bit for bit. `assert_array_equal` shows the difference, but accepts zeros of opposite signs."""
    np.testing.assert_array_equal(values, expected, strict=True)
    np.testing.assert_array_equal(np.signbit(values), np.signbit(expected))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "nu"), [("rising", 1), ("rising", 2), *((name, 0) for name in FRAMES)])
def test_splines_evaluated_together_equal_each_spline_bit_for_bit(name, nu):
    splines, frames = mixed_splines(), FRAMES[name]
    for spline, values in zip(splines, evaluate_many(splines, frames, nu), strict=True):
        assert_identical(values, spline(frames, nu))


def test_the_order_of_frames_does_not_matter():
    splines = mixed_splines()
    rising = FRAMES["rising"]
    order = np.random.default_rng(1).permutation(len(rising))
    shuffled_values = evaluate_many(splines, rising[order])
    for values, expected in zip(shuffled_values, evaluate_many(splines, rising), strict=True):
        assert_identical(values, expected[order])


def test_each_spline_can_have_its_own_frames():
    splines = mixed_splines()
    rng = np.random.default_rng(2)
    frames_per_spline = [rng.uniform(FIRST, LAST, rng.integers(0, 50)) for _ in splines]
    together = evaluate_many(splines, frames_per_spline)
    for spline, frames, values in zip(splines, frames_per_spline, together, strict=True):
        assert_identical(values, spline(frames))


def test_each_row_of_a_matrix_is_for_one_spline():
    splines = [tcb.VectorSpline(Keys([0, 1], [0.0, 1.0])), tcb.VectorSpline(Keys([0, 1], [5.0, 6.0]))]
    together = evaluate_many(splines, np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert [values[:, 0].tolist() for values in together] == [[0.0, 1.0], [6.0, 5.0]]


def test_no_splines_give_no_values():
    assert evaluate_many([], [0.0, 1.0]) == []


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ([0.0, np.nan], r"frames must be finite, not nan at index 1"),
        ([[0.0], [np.inf]], r"frames\[1\] must be finite, not inf at index 0"),
        ([[0.0]], r"frames must have one array per spline: expected 2, got 1"),
        ([[0.0], [[1.0]]], r"frames\[1\] must have one dimension, not 2"),
        (3.0, r"frames must have one dimension, not 0"),
    ],
)
def test_invalid_frames_raise(frames, message):
    splines = [tcb.VectorSpline(Keys([0, 1], [0.0, 1.0]))] * 2
    with pytest.raises(ValueError, match=f"^{message}$"):
        evaluate_many(splines, frames)


def test_an_unavailable_derivative_raises():
    rotation = tcb.RotationSpline(Keys([0], rotations.normalise([[1.0, 2, 3, 4]])))
    with pytest.raises(ValueError, match=r"^RotationSpline supports derivatives of order 0 to 2, not nu=3$"):
        evaluate_many([rotation, tcb.VectorSpline(Keys([0], [1.0]))], [0.0], 3)
