# SPDX-License-Identifier: GPL-3.0-or-later
"""B-splines of values, and cumulative B-splines of rotations, compared with scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BSpline, CubicSpline, make_interp_spline
from scipy.spatial.transform import Rotation

from interp import Keys, KeysError, rotations
from interp.splines import b_spline
from tests.interp.random_keys import random_frames, random_turns
from tests.interp.rotation_tracks import AXIS
from tests.interp.scipy_b_splines import cumulative, scipys

# The bounds in the docstrings of VectorSpline and RotationSpline.
BOUND, DERIVATIVE_BOUND = 1e-15, 1e-14
ROTATION_BOUND = 1e-13
ROTATION_CLASSES = [b_spline.RotationSpline, b_spline.ThroughRotationSpline]


def as_scipy(q):
    return Rotation.from_quat(np.roll(q, -1, axis=-1))


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_values_are_scipys_with_knots_at_the_keys_and_natural_ends(lengths, seed):
    frames = np.cumsum([-7.0, *lengths])
    values = np.random.default_rng(seed).normal(size=(len(frames), 2)) * 10.0
    spline, reference = b_spline.VectorSpline(Keys(frames, values)), scipys(frames, values)
    at = np.append(np.linspace(frames[0], frames[-1], 67), frames)
    largest, shortest = np.abs(values).max(), np.diff(frames).min()
    # With large differences between frames, scipy's own rounding errors are as large.
    rounding = np.spacing(np.abs(frames).max()) / shortest
    np.testing.assert_allclose(spline(at), reference(at), rtol=0, atol=(BOUND + rounding) * largest * 4.0)
    for nu in (1, 2):
        bound = (DERIVATIVE_BOUND + rounding) * largest / shortest**nu * 10.0
        np.testing.assert_allclose(spline(at, nu), reference(at, nu), rtol=0, atol=bound)


def test_a_loop_is_scipys_periodic_spline():
    frames = random_frames(np.random.default_rng(2), 8)
    values = np.random.default_rng(2).normal(size=(8, 3))
    values[-1] = values[0]
    period = frames[-1] - frames[0]
    knots = np.concatenate([frames[-4:-1] - period, frames, frames[1:4] + period])
    controls = np.vstack([values[-2], values, values[1]])
    spline = b_spline.VectorSpline(Keys(frames, values), "LOOP")
    at = np.linspace(frames[0], frames[-1], 120)
    for nu in (0, 1, 2):
        np.testing.assert_allclose(spline(at, nu), BSpline(knots, controls, 3)(at, nu), rtol=0, atol=1e-13)


def test_through_its_keys_a_loop_is_scipys_make_interp_spline():
    frames = random_frames(np.random.default_rng(4), 20)
    values = np.random.default_rng(4).normal(size=(20, 3))
    values[-1] = values[0]
    reference = make_interp_spline(frames, values, bc_type="periodic")
    spline = b_spline.ThroughVectorSpline(Keys(frames, values), "LOOP")
    at = np.linspace(frames[0], frames[-1], 200)
    for nu in (0, 1, 2):
        np.testing.assert_allclose(spline(at, nu), reference(at, nu), rtol=0, atol=1e-12)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(3, 12), st.sampled_from([1e-8, 1e-3, 0.3, 1.0, 3.0]))
@settings(max_examples=20, deadline=None)
def test_rotations_are_the_cumulative_spline_of_scipys_basis(seed, keys, largest):
    frames, q, known = random_turns(seed, keys, largest)
    spline, reference = b_spline.RotationSpline(Keys(frames, q)), cumulative(frames, known)
    at = np.linspace(frames[0], frames[-1], 41)
    found = as_scipy(spline(at))
    apart = [(found[index].inv() * reference(frame)).magnitude() for index, frame in enumerate(at)]
    np.testing.assert_allclose(apart, 0.0, atol=ROTATION_BOUND)


@pytest.mark.slow
@pytest.mark.parametrize("largest", [0.5, 8.0])
def test_about_one_axis_they_are_the_splines_of_the_angle_whole_turns_included(largest):
    generator = np.random.default_rng(11)
    frames, steps = random_frames(generator, 9), generator.uniform(-largest, largest, 9)
    at, angles = np.linspace(frames[0], frames[-1], 101), np.cumsum(steps)
    natural = CubicSpline(frames, angles, bc_type="natural")
    for made, angle in zip(ROTATION_CLASSES, (scipys(frames, angles[:, np.newaxis]), natural), strict=True):
        spline = made.from_turns(frames, steps, np.tile(AXIS, (9, 1)))
        expected = rotations.from_axis_angle(np.tile(AXIS, (101, 1)), angle(at).reshape(-1))
        np.testing.assert_allclose(rotations.angle_between(spline(at), expected), 0.0, atol=1e-12 * max(1.0, largest))
        for nu in (1, 2):
            rates = angle(at, nu).reshape(-1, 1) * AXIS
            np.testing.assert_allclose(spline(at, nu), rates, rtol=0, atol=1e-11 * largest)


def test_keys_for_which_no_controls_are_found_are_refused():
    # The keys alternate by 3.1 radians about one axis. The controls would be up to three times as far apart.
    angles = np.tile([0.0, 3.1], 6)
    tilted = np.random.default_rng(0).normal(size=(12, 3)) * 0.3 + AXIS
    keys = Keys(np.arange(12) * 5.0, rotations.from_axis_angle(tilted, angles))
    with pytest.raises(
        KeysError, match=r"key \d+ at frame \d+: the rotation between neighboring keys changes too much"
    ):
        b_spline.ThroughRotationSpline(keys)


def test_constructors_refuse_uneven_keys_without_controls():
    # The steps are half a radian, but the third segment is nearly 300 times as long as the last.
    q = rotations.turns_to_rotations(np.full(5, 0.5), np.random.default_rng(0).normal(size=(5, 3)))
    with pytest.raises(KeysError, match=r"key 2 at frame 296: the rotation between neighboring keys changes too much"):
        b_spline.ThroughRotationSpline(Keys([8, 23, 296, 590, 591], q))
