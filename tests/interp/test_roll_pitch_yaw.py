# SPDX-License-Identifier: GPL-3.0-or-later
"""Roll, pitch and yaw, compared with scipy's Euler angles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

from interp import Keys, KeysError, rotations
from interp.splines import catmull_rom, linear, logarithmic, roll_pitch_yaw, shoemake, tcb
from tests.interp.random_keys import random_rotations

ORDERS = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


def small_angles(generator, keys):
    """Return Euler angles without jumps, and with a pitch of at most 80 degrees in every order."""
    return np.cumsum(generator.uniform(-0.3, 0.3, (keys, 3)), axis=0)


@pytest.mark.parametrize("order", ORDERS)
def test_linear_angles_are_scipy_s_euler_angles_in_lines(order):
    generator = np.random.default_rng(1)
    angles = small_angles(generator, 5)
    frames = np.cumsum(generator.uniform(3.0, 9.0, 5))
    q = rotations.from_euler(angles, order) * generator.choice([-1.0, 1.0], (5, 1))
    at = np.linspace(frames[0], frames[-1], 60)
    between = np.stack([np.interp(at, frames, column) for column in angles.T], axis=1)
    expected = Rotation.from_euler(order.lower(), between[:, ["XYZ".index(letter) for letter in order]])
    spline = roll_pitch_yaw.RotationSpline(Keys(frames, q), angles=linear.METHOD, order=order)
    assert rotations.angle_between(spline(at), expected.as_quat(scalar_first=True)).max() < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=5)
@given(st.integers(0, 10**6))
def test_angular_velocities_and_accelerations_are_those_of_the_orientations(order, seed):
    generator = np.random.default_rng(seed)
    q = random_rotations(generator, 5, 1.0)
    spline = roll_pitch_yaw.RotationSpline(Keys(np.arange(5) * 10.0, q), order=order)
    at = generator.uniform(0.5, 39.5, 20)
    at = at[np.abs(at / 10.0 - np.rint(at / 10.0)) > 0.02]
    h = 0.02
    around = [spline(at + step * h) for step in (-2, -1, 0, 1, 2)]
    rate = (around[0] - 8 * around[1] + 8 * around[3] - around[4]) / (12 * h)
    expected = 2.0 * rotations.multiply(rate, rotations.conjugate(around[2]))[:, 1:]
    np.testing.assert_allclose(spline(at, 1), expected, rtol=0, atol=1e-6)
    velocities = [spline(at + step * h, 1) for step in (-2, -1, 1, 2)]
    expected = (velocities[0] - 8 * velocities[1] + 8 * velocities[2] - velocities[3]) / (12 * h)
    np.testing.assert_allclose(spline(at, 2), expected, rtol=0, atol=1e-6)


def test_angles_follow_each_other_without_a_jump():
    angles = np.radians([[0, 0, 170], [10, 20, 190], [20, 100, 200], [30, 120, 370], [40, 100, 530]])
    spline = roll_pitch_yaw.RotationSpline(
        Keys(np.arange(5) * 10.0, rotations.from_euler(angles)), angles=linear.METHOD
    )
    at = np.linspace(0.0, 40.0, 81)
    between = np.stack([np.interp(at, np.arange(5) * 10.0, column) for column in angles.T], axis=1)
    assert rotations.angle_between(spline(at), rotations.from_euler(between)).max() < 1e-13


def test_keys_that_are_angles_keep_whole_turns():
    angles = np.radians([[0, 0, 0], [0, 720, 30], [-450, 90, 30]])
    spline = roll_pitch_yaw.RotationSpline.from_angles(Keys([0, 10, 30], angles), angles=linear.METHOD, order="YZX")
    at = np.array([2.5, 5.0, 10.0, 20.0])
    expected = rotations.from_euler(np.radians([[0, 180, 7.5], [0, 360, 15], [0, 720, 30], [-225, 405, 30]]), "YZX")
    assert rotations.angle_between(spline(at), expected).max() < 1e-14


def test_keys_that_are_angles_are_refused_for_what_they_are_alone():
    """As orientations, these would have angles below 0, which have no logarithm."""
    angles = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [16.0, 8.0, 6.0]])
    spline = roll_pitch_yaw.RotationSpline.from_angles(Keys([0, 10, 20], angles), angles=logarithmic.METHOD)
    assert spline.angles is logarithmic.METHOD
    # The velocities of the logarithms. At the ends, they are slopes of the parabola through the three keys.
    logarithms = CubicHermiteSpline(
        [0, 10, 20], np.log(angles), np.gradient(np.log(angles), 10.0, axis=0, edge_order=2)
    )
    at = np.linspace(0.0, 20.0, 21)
    assert rotations.angle_between(spline(at), rotations.from_euler(np.exp(logarithms(at)))).max() < 1e-13


@pytest.mark.parametrize("angles", [tcb, catmull_rom])
@pytest.mark.parametrize("from_angles", [False, True])
def test_a_loop_of_a_whole_turn_goes_on_across_its_seam(angles, from_angles):
    turns = np.radians([[0, 0, 0], [5, 0, 100], [0, 0, 200], [0, 0, 360]])
    made = roll_pitch_yaw.RotationSpline.from_angles if from_angles else roll_pitch_yaw.RotationSpline
    values = turns if from_angles else rotations.from_euler(turns)
    spline = made(Keys([0, 10, 20, 34], values, tension=[0.2, 0, 0.1, 0.2]), "LOOP", angles=angles.METHOD)
    np.testing.assert_allclose(spline(0.0, 1), spline(34.0, 1), rtol=0, atol=1e-14)
    # the same motion with keys for three periods
    many = np.concatenate([turns[:-1] - [0, 0, 2 * np.pi], turns, turns[1:] + np.array([0, 0, 2 * np.pi])])
    frames = np.array([-34, -24, -14, 0, 10, 20, 34, 44, 54, 68.0])
    tension = [0.2, 0, 0.1, 0.2, 0, 0.1, 0.2, 0, 0.1, 0.2]
    at = np.linspace(0.0, 34.0, 50)
    expected = rotations.from_euler(angles.VectorSpline(Keys(frames, many, tension))(at))
    assert rotations.angle_between(spline(at), expected).max() < 1e-14


def test_what_the_angles_method_refuses_names_the_key():
    q = rotations.from_euler([[0.1, 0.1, 0.1], [0.1, 0.2, 0.1], [0.1, 0.0, 0.1]])
    with pytest.raises(
        KeysError, match="key 2 at frame 20: as Euler angles with Logarithmic: component 1 of the value"
    ):
        roll_pitch_yaw.RotationSpline(Keys([0, 10, 20], q), angles=logarithmic.METHOD)
    with pytest.raises(ValueError, match="angles must be a method that supports values, not Shoemake 1985"):
        roll_pitch_yaw.RotationSpline(Keys([0, 10, 20], q), angles=shoemake.METHOD)
    with pytest.raises(ValueError, match="order must be one of XYZ, "):
        roll_pitch_yaw.RotationSpline(Keys([0, 10, 20], q), order="XYX")
    with pytest.raises(KeysError, match=r"Euler angles must have three components \(x, y, z\), not 4"):
        roll_pitch_yaw.RotationSpline.from_angles(Keys([0, 10, 20], q))


def test_a_loop_names_its_own_key_that_the_angles_method_refuses():
    q = rotations.from_euler([[0.1, 0.1, 0.1], [0.1, 0.2, 0.1], [0.1, 0.0, 0.1], [0.1, 0.1, 0.1]])
    with pytest.raises(KeysError, match="key 2 at frame 20: as Euler angles with Logarithmic"):
        roll_pitch_yaw.RotationSpline(Keys([0, 10, 20, 30], q), "LOOP", angles=logarithmic.METHOD)


@pytest.mark.parametrize("made", [roll_pitch_yaw.RotationSpline, roll_pitch_yaw.RotationSpline.from_angles])
def test_other_things_than_keys_and_methods_are_type_errors(made):
    values = rotations.from_euler(np.zeros((2, 3))) if made is roll_pitch_yaw.RotationSpline else np.zeros((2, 3))
    with pytest.raises(TypeError, match="keys must be Keys, not 'x'"):
        made("x")
    with pytest.raises(TypeError, match="angles must be a Method, not 'LINEAR'"):
        made(Keys([0, 10], values), angles="LINEAR")
