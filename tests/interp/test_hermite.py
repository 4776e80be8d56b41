# SPDX-License-Identifier: GPL-3.0-or-later
"""Hermite tracks, compared with scipy's CubicHermiteSpline about one axis, and the formulas at 50 digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from interp import Keys, KeysError, rotations
from interp.splines import hermite
from tests.interp import exact, exact_turns
from tests.interp.random_keys import random_rotations
from tests.interp.rotation_tracks import AXIS, CYCLES, off


def test_without_velocities_it_comes_to_rest_at_each_key():
    at = np.linspace(0.0, 1.0, 11)
    values = hermite.VectorSpline(Keys([0, 10, 30], [0.0, 1.0, 0.0]))
    np.testing.assert_allclose(values(10.0 * at)[:, 0], 3 * at**2 - 2 * at**3, rtol=0, atol=1e-15)
    assert (values([0.0, 10.0, 30.0], 1) == 0.0).all()
    turns = hermite.RotationSpline(Keys([0, 10, 30], rotations.from_rotation_vector(np.outer([0, 1, 3], AXIS))))
    expected = rotations.from_rotation_vector(np.outer(3 * at**2 - 2 * at**3, AXIS))
    assert off(turns(10.0 * at), expected).max() < 1e-15
    assert np.abs(turns([0.0, 10.0, 30.0], 1)).max() < 1e-16


@pytest.mark.slow
@pytest.mark.parametrize("step", [1e-6, 0.01, 0.5, 1.5, 3.0])
def test_rotations_agree_with_the_formulas_at_50_digits(step):
    generator = np.random.default_rng(7)
    q, velocities = random_rotations(generator, 4, step), generator.normal(size=(4, 3))
    spline = hermite.RotationSpline(Keys(np.arange(4.0), q), velocities=velocities)
    track = exact_turns.track(exact_turns.Hermite, np.arange(4.0), q, np.zeros((5, 4)), velocities)
    at = [n + x for n in range(3) for x in (0.0, 0.31, 0.77)]
    assert rotations.angle_between(spline(at), exact.rows(map(track.rotation, at))).max() < 1e-13
    inside = [frame for frame in at if frame % 1.0]
    expected = exact.rows(map(track.angular_velocity, inside))
    np.testing.assert_allclose(spline(inside, 1), expected, rtol=0, atol=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(CYCLES), st.sampled_from(["SHORTEST", "AS_KEYED"]))
def test_rotations_have_the_given_velocities_on_both_sides_of_each_key(seed, cycle, path):
    generator = np.random.default_rng(seed)
    frames = np.cumsum(generator.uniform(0.5, 30.0, 6))
    turns, axes = generator.uniform(-15.0, 15.0, 6), generator.normal(size=(6, 3))
    velocities = generator.normal(size=(6, 3))
    spline = hermite.RotationSpline.from_turns(frames, turns, axes, cycle=cycle, path=path, velocities=velocities)
    np.testing.assert_allclose(spline(frames, 1), velocities, rtol=0, atol=1e-11)
    before = np.nextafter(frames[1:], -np.inf)
    np.testing.assert_allclose(spline(before, 1), velocities[1:], rtol=0, atol=1e-10)


@settings(max_examples=20)
@given(
    turns=st.lists(st.floats(-25.0, 25.0), min_size=2, max_size=6),
    rates=st.lists(st.floats(-2.0, 2.0), min_size=6, max_size=6),
    lengths=st.lists(st.floats(1.0, 30.0), min_size=6, max_size=6),
)
def test_about_one_axis_rotations_are_the_hermite_spline_of_the_angle(turns, rates, lengths):
    keys = len(turns)
    frames, rates = np.cumsum(lengths[:keys]), np.array(rates[:keys])
    spline = hermite.RotationSpline.from_turns(frames, turns, [AXIS] * keys, velocities=np.outer(rates, AXIS))
    angle = CubicHermiteSpline(frames, np.cumsum(turns), rates)
    at = np.linspace(frames[0], frames[-1], 80)[:-1]
    assert off(spline(at), rotations.from_rotation_vector(np.outer(angle(at), AXIS))).max() < 1e-12
    for nu in (1, 2):
        np.testing.assert_allclose(spline(at, nu), np.outer(angle(at, nu), AXIS), rtol=0, atol=1e-11)


def test_velocities_that_are_none_are_refused():
    values, turns = Keys([0, 5], [[1.0, 2.0], [3.0, 4.0]]), Keys([0, 5], [[1, 0, 0, 0], [0, 1, 0, 0]])
    with pytest.raises(KeysError, match=r"velocities must have the shape \(2, 2\), one row per key, not \(2, 3\)"):
        hermite.VectorSpline(values, velocities=np.zeros((2, 3)))
    with pytest.raises(KeysError, match=r"velocities must have the shape \(2, 3\), one row per key, not \(2, 4\)"):
        hermite.RotationSpline(turns, velocities=np.zeros((2, 4)))
    with pytest.raises(KeysError, match="velocities are not an array of numbers"):
        hermite.VectorSpline(values, velocities=["a", "b"])
    with pytest.raises(KeysError, match="key 1 at frame 5: component 2 of the velocity is nan"):
        hermite.RotationSpline(turns, velocities=[[0, 0, 0], [0, 0, np.nan]])
