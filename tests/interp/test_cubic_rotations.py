# SPDX-License-Identifier: GPL-3.0-or-later
"""C2 splines of rotations, compared with scipy, with C2 splines of one angle, and with their defining properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation
from scipy.spatial.transform import RotationSpline as ScipySpline

from interp import Keys, KeysError, rotations
from interp.splines import cubic
from tests.all_pairs import all_pairs
from tests.interp import exact, exact_turns
from tests.interp.random_keys import random_frames, random_turns
from tests.interp.rotation_tracks import AXIS, angular_acceleration

CLASSES = [cubic.NaturalRotationSpline, cubic.ClampedRotationSpline]
# The bound in NaturalRotationSpline's docstring, for samples, angular velocities and angular accelerations.
BOUND = 1e-13
# The error of scipy's closed forms at small turns.
SCIPYS = 1e-10


class SettledScipySpline(ScipySpline):
    """Return scipy's spline after more iterations, because scipy stops at 1e-9 by default."""

    TOL = 1e-15
    MAX_ITER = 300


@given(st.integers(0, 2**32 - 1), st.integers(3, 30), st.sampled_from([1e-8, 1e-3, 0.3, 1.0, 2.0]))
@settings(max_examples=20, deadline=None)
def test_with_scipys_velocities_at_its_ends_it_is_scipys(seed, keys, largest):
    frames, q, known = random_turns(seed, keys, largest)
    reference = SettledScipySpline(frames, known)
    velocities = np.zeros((keys, 3))
    velocities[0] = (known[1] * known[0].inv()).as_rotvec() / (frames[1] - frames[0])
    velocities[-1] = (known[-1] * known[-2].inv()).as_rotvec() / (frames[-1] - frames[-2])
    spline = cubic.ClampedRotationSpline(Keys(frames, q), velocities=velocities)
    at = np.linspace(frames[0] - 0.5, frames[-1] + 0.5, 97)
    expected = reference(at)
    found = Rotation.from_quat(np.roll(spline(at, 0, True), -1, axis=1))
    np.testing.assert_allclose((found * expected.inv()).magnitude(), 0.0, atol=SCIPYS)
    # scipy's velocities and accelerations are in the body's frame.
    speed = expected.apply(reference(at, 1))
    shortest = np.diff(frames).min()
    velocity_bound = SCIPYS * (np.abs(speed).max() + 1.0 / shortest)
    np.testing.assert_allclose(spline(at, 1, True), speed, rtol=0, atol=velocity_bound)
    change = expected.apply(reference(at, 2))
    np.testing.assert_allclose(spline(at, 2, True), change, rtol=0, atol=SCIPYS / shortest**2)


def exactly(frames, q, velocities):
    """Solve the equations at 50 digits. Without velocities, the ends are natural."""
    return exact_turns.track(exact_turns.SecondOrder, frames, q, np.zeros((5, len(frames))), velocities)


@pytest.mark.slow
@pytest.mark.parametrize(("largest", "keys", "made"), all_pairs([1e-8, 1e-3, 0.3, 2.0], [3, 12], CLASSES))
def test_it_solves_the_equations_as_50_digits_do(made, keys, largest):
    frames, q, _ = random_turns(keys, keys, largest)
    generator = np.random.default_rng(keys)
    velocities = None if made is CLASSES[0] else generator.normal(size=(keys, 3)) * 0.1 * largest
    spline = made(Keys(frames, q), **({} if velocities is None else {"velocities": velocities}))
    track, at = exactly(frames, q, velocities), generator.uniform(frames[0], frames[-1], 4)
    expected = exact.rows([track.rotation(frame) for frame in at])
    assert rotations.angle_between(spline(at), expected).max() < BOUND
    speeds, shortest = exact.rows([track.velocity(key) for key in range(keys)]), np.diff(frames).min()
    within = BOUND * (np.abs(speeds).max() + 1.0 / shortest)
    np.testing.assert_allclose(spline(frames, 1), speeds, rtol=0, atol=within)
    changes = exact.rows([angular_acceleration(track.rotation, frame) for frame in at[:2]])
    np.testing.assert_allclose(spline(at[:2], 2), changes, rtol=0, atol=BOUND / shortest**2)


def test_natural_ends_have_no_angular_acceleration_and_clamped_ones_the_velocities_that_they_are_given():
    frames, q, _ = random_turns(7, 6, 2.0)
    ends = frames[[0, -1]]
    np.testing.assert_allclose(cubic.NaturalRotationSpline(Keys(frames, q))(ends, 2), 0.0, rtol=0, atol=1e-14)
    velocities = np.random.default_rng(7).normal(size=(6, 3))
    spline = cubic.ClampedRotationSpline(Keys(frames, q), velocities=velocities)
    np.testing.assert_allclose(spline(ends, 1), velocities[[0, -1]], rtol=0, atol=1e-14)
    np.testing.assert_allclose(cubic.ClampedRotationSpline(Keys(frames, q))(ends, 1), 0.0, rtol=0, atol=1e-14)


@pytest.mark.parametrize("largest", [1.0, 3.0, 20.0])
@pytest.mark.parametrize(("made", "ends"), [(CLASSES[0], "natural"), (CLASSES[1], "clamped")])
def test_about_one_axis_it_is_the_spline_of_the_angle_whole_turns_included(made, ends, largest):
    generator = np.random.default_rng(11)
    frames, steps = random_frames(generator, 9), generator.uniform(-largest, largest, 9)
    steps[0] = 0.3
    spline = made.from_turns(frames, steps, np.tile(AXIS, (9, 1)))
    angle = CubicSpline(frames, np.cumsum(steps), bc_type=ends)
    at = np.linspace(frames[0], frames[-1], 101)
    expected = rotations.from_axis_angle(np.tile(AXIS, (101, 1)), angle(at))
    np.testing.assert_allclose(rotations.angle_between(spline(at), expected), 0.0, atol=1e-12 * max(1.0, largest))
    for nu in (1, 2):
        np.testing.assert_allclose(spline(at, nu), angle(at, nu)[:, np.newaxis] * AXIS, rtol=0, atol=1e-12 * largest)


@pytest.mark.parametrize("made", CLASSES)
def test_whole_turns_about_changing_axes_leave_no_jump(made):
    generator = np.random.default_rng(12)
    frames = random_frames(generator, 9, 2.0, 20.0)
    spline = made.from_turns(frames, generator.uniform(-14.0, 14.0, 9), generator.normal(size=(9, 3)))
    for nu, bound in ((1, 1e-11), (2, 1e-10)):
        before, after = spline(np.nextafter(frames[1:-1], -np.inf), nu), spline(frames[1:-1], nu)
        np.testing.assert_allclose(before, after, rtol=0, atol=bound)


def test_two_keys_turn_evenly_if_natural():
    spline = cubic.NaturalRotationSpline(Keys([0.0, 10.0], rotations.from_axis_angle(AXIS, np.array([0.2, 2.2]))))
    np.testing.assert_allclose(spline(np.linspace(0.0, 10.0, 7), 1), np.tile(0.2 * AXIS, (7, 1)), rtol=0, atol=1e-15)


def test_turns_for_which_no_such_motion_is_found_are_refused():
    generator = np.random.default_rng(108)
    axes = generator.normal(size=(6, 3))
    orientations = [np.array([1.0, 0.0, 0.0, 0.0])]
    for axis in axes:
        orientations.append(rotations.multiply(rotations.from_axis_angle(axis, 3.1), orientations[-1]))
    keys = Keys(np.cumsum(np.exp(generator.uniform(0.0, 3.0, 7))), orientations)
    with pytest.raises(KeysError, match=r"key 6 at frame 49.0551: differs too much from its neighbors"):
        cubic.NaturalRotationSpline(keys)


def test_constructors_refuse_uneven_keys_without_a_solution():
    axes = np.random.default_rng(32).normal(size=(5, 3))
    q = rotations.turns_to_rotations(np.full(5, np.radians(80.0)), axes)
    with pytest.raises(KeysError, match=r"key 4 at frame 154: differs too much from its neighbors"):
        cubic.NaturalRotationSpline(Keys([88, 95, 110, 111, 154], q))
