# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversions of rotations, compared with scipy, and sequences that are continuous."""

from __future__ import annotations

import math
from itertools import permutations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from interp import rotations
from tests.interp import exact

ORDERS = ["".join(letters) for letters in permutations("XYZ")]


@pytest.fixture
def some():
    """Return random unit quaternions."""
    return rotations.normalise(np.random.default_rng(0).normal(size=(200, 4)))


def scipys(q):
    return Rotation.from_quat(np.asarray(q)[..., [1, 2, 3, 0]])


def test_products_and_conjugates_compose_as_scipys(some):
    p, q = some[:100], some[100:]
    composed = scipys(rotations.multiply(p, rotations.conjugate(q)))
    assert (composed * (scipys(p) * scipys(q).inv()).inv()).magnitude().max() < 1e-14


def test_products_broadcast(some):
    assert rotations.multiply(some[0], some[:10].reshape(2, 5, 4)).shape == (2, 5, 4)


@pytest.mark.parametrize("number", [0.0, math.inf, math.nan])
def test_a_quaternion_that_is_zero_or_not_finite_has_no_direction(number):
    with pytest.raises(ValueError, match="zero or not finite"):
        rotations.normalise([[1.0, 0, 0, 0], [0, 0, number, 0]])


@pytest.mark.parametrize("t", [-1.3, 0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("angle", [1e-200, 1e-12, 1e-7, 1e-3, 1.0, 1.6, 3.0, math.pi - 1e-4])
def test_slerp_is_literal_at_any_t_and_any_angle(t, angle):
    p = rotations.normalise([1.0, 2.0, -3.0, 0.5])
    q = rotations.multiply(p, [math.cos(angle), 0.0, math.sin(angle), 0.0])
    track = exact.Track([0.0], np.array([p]), np.zeros((5, 1)))
    a, b = ([mp.mpf(float(x)) for x in each] for each in (p, q))
    a, b = ([x / exact.length(each) for x in each] for each in (a, b))
    expected = [float(x) for x in track.slerp(a, b, mp.mpf(t))]
    np.testing.assert_allclose(rotations.slerp(p, q, t), expected, rtol=0, atol=4e-15 / (math.pi - angle))


def test_slerp_of_antipodal_ends_is_some_arc():
    q = rotations.slerp([1.0, 0, 0, 0], [-1.0, 0, 0, 0], np.linspace(0, 1, 9))
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(q[:, 0], np.cos(np.linspace(0, np.pi, 9)), atol=1e-15)


def test_angles_between_orientations_ignore_signs_and_keep_small_ones():
    turned = rotations.from_axis_angle([0.0, 0.0, 1.0], [1e-12, 1.0, 6.0])
    found = rotations.angle_between([-1.0, 0, 0, 0], turned)
    np.testing.assert_allclose(found, [1e-12, 1.0, 2 * np.pi - 6.0], rtol=1e-14)


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e-9, 1e-3, 1.0, 3.0])
def test_rotation_vectors_there_and_back(scale):
    v = np.random.default_rng(1).uniform(-1, 1, (50, 3)) * scale
    np.testing.assert_allclose(rotations.to_rotation_vector(rotations.from_rotation_vector(v)), v, rtol=1e-14)
    turned = scipys(rotations.from_rotation_vector(v)) * Rotation.from_rotvec(v).inv()
    assert turned.magnitude().max() < 1e-14


def test_axis_angles_there_and_back_up_to_a_whole_turn():
    generator = np.random.default_rng(2)
    axes, angles = generator.normal(size=(50, 3)), generator.uniform(0.01, 6.2, 50)
    found_axes, found_angles = rotations.to_axis_angle(rotations.from_axis_angle(axes * 7.0, angles))
    np.testing.assert_allclose(found_angles, angles, rtol=1e-13)
    np.testing.assert_allclose(found_axes, axes / np.linalg.norm(axes, axis=1, keepdims=True), atol=1e-13)


def test_no_turn_has_the_axis_that_it_is_told():
    axis, angle = rotations.to_axis_angle([[1.0, 0, 0, 0]], (0.0, 1.0, 0.0))
    assert (axis.tolist(), angle.tolist()) == ([[0.0, 1.0, 0.0]], [0.0])
    assert rotations.from_axis_angle([0.0, 0.0, 0.0], 2.0).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_matrices_are_scipys_and_turn_column_vectors(some):
    matrices = rotations.to_matrix(some)
    np.testing.assert_allclose(matrices, scipys(some).as_matrix(), rtol=0, atol=1e-15)
    quarter = rotations.to_matrix(rotations.from_axis_angle([0.0, 0.0, 1.0], np.pi / 2))
    np.testing.assert_allclose(quarter @ [1.0, 0, 0], [0, 1, 0], atol=1e-15)


def test_matrices_there_and_back_near_every_half_turn(some):
    near = rotations.normalise(np.concatenate([np.eye(4), np.eye(4) + 1e-9, np.eye(4) - 1e-5]))
    for q in (some, near, some.reshape(2, 10, 10, 4)):
        back = rotations.from_matrix(rotations.to_matrix(q))
        assert rotations.angle_between(back, q).max() < 1e-14
        assert (back[..., 0] >= 0.0).all()


def test_unrolled_signs_keep_orientations_and_leave_no_jump():
    q = rotations.from_axis_angle(np.tile([0.0, 0, 1], (40, 1)), np.linspace(0, 20, 40))
    signs = np.random.default_rng(3).choice([-1.0, 1.0], (2, 40, 1))
    unrolled = rotations.unroll_signs(q * signs)
    np.testing.assert_allclose(unrolled, q * signs[:, :1], atol=1e-15)


# Euler angles


@pytest.mark.parametrize("order", ORDERS)
def test_euler_orders_turn_about_the_parents_axes_in_the_sequence_of_their_letters(order, some):
    angles = np.random.default_rng(4).uniform(-7, 7, (50, 3))
    sequence = ["XYZ".index(letter) for letter in order]
    expected = Rotation.from_euler(order.lower(), angles[:, sequence])
    assert (scipys(rotations.from_euler(angles, order)) * expected.inv()).magnitude().max() < 1e-14
    found = rotations.to_euler(some, order)
    np.testing.assert_allclose(found[:, sequence], scipys(some).as_euler(order.lower()), rtol=0, atol=1e-11)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_gimbal_lock_still_gives_the_orientation(order, side):
    angles = np.random.default_rng(6).uniform(-3, 3, (20, 3))
    angles[:, "XYZ".index(order[1])] = side * np.pi / 2
    q = rotations.from_euler(angles, order)
    found = rotations.to_euler(q, order)
    assert np.isfinite(found).all()
    assert rotations.angle_between(rotations.from_euler(found, order), q).max() < 1e-6


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="order must be one of XYZ"):
        rotations.from_euler([0.0, 0.0, 0.0], "XYX")


@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), size=st.floats(0.1, 30))
def test_followed_eulers_give_back_a_smooth_sequence_whatever_its_whole_turns(order, seed, size):
    generator = np.random.default_rng(seed)
    start = generator.uniform(-size, size, 3)
    # The sum of steps is below half a turn. The middle angle avoids gimbal lock, where outer angles may validly jump.
    steps = generator.uniform(-0.3, 0.3, (60, 3))
    angles = start + np.cumsum(steps, axis=0)
    middle = "XYZ".index(order[1])
    lane = np.pi * np.rint(start[middle] / np.pi)
    angles[:, middle] = lane + 1.2 * np.sin(angles[:, middle])
    start[middle] = lane + 1.2 * np.sin(start[middle])
    found = rotations.follow_euler(rotations.from_euler(angles, order), order, start)
    np.testing.assert_allclose(found, angles, rtol=0, atol=1e-11)


def test_followed_eulers_pass_straight_through_gimbal_lock():
    # The pitch passes 90 degrees. The middle angle continues beyond it, and the outer angles do not change.
    angles = np.zeros((181, 3))
    angles[:, 1] = np.radians(np.arange(0.0, 362.0, 2.0))
    angles[:, 0], angles[:, 2] = 0.3, -0.2
    found = rotations.follow_euler(rotations.from_euler(angles, "XYZ"), "XYZ", angles[0])
    np.testing.assert_allclose(found, angles, rtol=0, atol=1e-6)


def test_in_lasting_gimbal_lock_the_unknown_angle_stays_and_the_known_one_moves_on():
    angles = np.zeros((50, 3))
    angles[:, 1] = np.pi / 2
    angles[:, 2] = np.linspace(0.0, 3.0, 50)
    q = rotations.from_euler(angles, "XYZ")
    found = rotations.follow_euler(q, "XYZ", angles[0])
    assert rotations.angle_between(rotations.from_euler(found, "XYZ"), q).max() < 1e-6
    assert np.abs(np.diff(found, axis=0)).max() < 0.1


@pytest.mark.parametrize("order", ORDERS)
def test_followed_eulers_of_any_sequence_give_its_orientations(order, some):
    found = rotations.follow_euler(some.reshape(4, 50, 4), order, (9.0, -4.0, 30.0))
    assert found.shape == (4, 50, 3)
    assert rotations.angle_between(rotations.from_euler(found, order), some.reshape(4, 50, 4)).max() < 1e-6


def test_the_first_euler_follows_the_start():
    q = rotations.from_euler([[0.1, 0.2, 0.3]])
    assert rotations.follow_euler(q)[0] == pytest.approx([0.1, 0.2, 0.3])
    turned = [0.1 + 4 * np.pi, 0.2, 0.3 - 2 * np.pi]
    assert rotations.follow_euler(q, "XYZ", turned)[0] == pytest.approx(turned)
    other = [0.1 + np.pi, np.pi - 0.2, 0.3 - np.pi]
    assert rotations.follow_euler(q, "XYZ", np.add(other, 0.1))[0] == pytest.approx(other)


# Axis and angle


def test_followed_axes_do_not_flip_where_the_angle_passes_zero_or_a_whole_turn():
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    angles = np.linspace(-15.0, 15.0, 301)
    axes, found = rotations.follow_axis_angle(rotations.from_axis_angle(np.tile(axis, (301, 1)), angles), axis, -15.0)
    np.testing.assert_allclose(found, angles, rtol=0, atol=1e-12)
    np.testing.assert_allclose(axes, np.tile(axis, (301, 1)), rtol=0, atol=1e-6)


def test_followed_axis_angles_of_any_sequences_give_their_orientations(some):
    q = some.reshape(4, 50, 4)
    axes, angles = rotations.follow_axis_angle(q, [0.0, 0.0, 3.0], 100.0)
    assert rotations.angle_between(rotations.from_axis_angle(axes, angles), q).max() < 1e-12
    assert (np.einsum("tmi,tmi->tm", axes[:, 1:], axes[:, :-1]) >= 0.0).all()
    assert np.abs(np.diff(angles, axis=1)).max() <= np.pi + 1e-12


def test_where_nothing_turns_the_axis_stays():
    axes, angles = rotations.follow_axis_angle(np.tile([1.0, 0, 0, 0], (3, 1)), [0.0, 0.0, 2.0], 0.1)
    assert axes.tolist() == [[0.0, 0.0, 1.0]] * 3
    assert angles.tolist() == [0.0] * 3


def test_a_start_without_an_axis_is_blenders_default():
    axes, _ = rotations.follow_axis_angle(np.tile([1.0, 0, 0, 0], (2, 1)), [0.0, 0.0, 0.0])
    assert axes.tolist() == [[0.0, 1.0, 0.0]] * 2
