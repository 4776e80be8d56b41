# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys given as turns: full turns, the conventions of files, and the meaning of Euler and axis-angle keys."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from interp import Keys, KeysError, rotations
from interp.splines import tcb
from tests.interp.rotation_tracks import AXIS, CONSTRUCTIONS, ENDS


def turned_about(spline, frames, axis=AXIS):
    """Return the angle of a spline about a known axis, continuous over dense frames."""
    q = spline(frames)
    assert np.abs(np.cross(q[:, 1:], axis)).max() < 1e-11
    return np.unwrap(2.0 * np.arctan2(q[:, 1:] @ axis, q[:, 0]), period=4.0 * np.pi)


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@settings(max_examples=20)
@given(
    turns=st.lists(st.floats(-20, 20), min_size=2, max_size=6),
    lengths=st.lists(st.floats(0.1, 50), min_size=6, max_size=6),
    parameters=st.lists(st.floats(-1, 1), min_size=30, max_size=30),
)
def test_turns_of_any_size_about_one_axis_are_the_vector_spline_of_the_angle(construction, turns, lengths, parameters):
    keys = len(turns)
    all_parameters = np.array(parameters).reshape(5, 6)[:, :keys]
    all_parameters[3:] = np.abs(all_parameters[3:])
    frames = np.cumsum(lengths[:keys])
    at = np.linspace(frames[0], frames[-1], 60)
    angle = tcb.VectorSpline(Keys(frames, np.cumsum(turns), *all_parameters))
    spline = tcb.RotationSpline.from_turns(
        frames, turns, np.tile(AXIS, (keys, 1)), *all_parameters, ends="TANGENT", construction=construction
    )
    assert rotations.angle_between(spline(at), rotations.from_rotation_vector(angle(at) * AXIS)).max() < 1e-10
    velocity = angle(at, 1) * AXIS
    np.testing.assert_allclose(spline(at, 1), velocity, rtol=0, atol=1e-9 * max(1.0, np.abs(velocity).max()))


def test_a_rest_among_turns_about_one_axis_stays_on_it():
    angles, axes = np.radians([0, 450, 450, 1170]), np.tile(AXIS, (4, 1))
    keys = Keys([0, 10, 20, 30], rotations.from_axis_angle(axes, angles))
    spline = tcb.RotationSpline.from_walk(keys, rotations.walk_axis_angle(angles, axes), ends="TANGENT")
    at = np.linspace(0, 30, 61)
    angle = tcb.VectorSpline(Keys([0, 10, 20, 30], angles))(at)
    assert rotations.angle_between(spline(at), rotations.from_rotation_vector(angle * AXIS)).max() < 1e-12


def test_a_walk_is_one_row_from_each_key_to_the_next():
    keys = Keys([0, 1, 2], [[1.0, 0, 0, 0]] * 3)
    message = r"^walk must have the columns x, y, z and one row per segment, but its shape is \(3, 3\)"
    with pytest.raises(KeysError, match=message):
        tcb.RotationSpline.from_walk(keys, np.zeros((3, 3)))


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("cycle", ["SINGLE", "LOOP"])
@pytest.mark.parametrize("seed", range(4))
def test_whole_turns_about_several_axes_meet_the_keys_and_do_not_jump(construction, ends, cycle, seed):
    generator = np.random.default_rng(seed)
    frames = np.cumsum(generator.uniform(2.0, 20.0, 7))
    angles = generator.uniform(-12.0, 12.0, 7)
    axes = generator.normal(size=(7, 3))
    spline = tcb.RotationSpline.from_turns(
        frames, angles, axes, *generator.uniform(-0.5, 0.5, (2, 7)) * [[1], [0]], bias=0.3, cycle=cycle, ends=ends,
        construction=construction,
    )  # fmt: skip
    expected = Rotation.from_rotvec(axes[0] / np.linalg.norm(axes[0]) * angles[0])
    for key in range(7):
        if key:
            expected = Rotation.from_rotvec(axes[key] / np.linalg.norm(axes[key]) * angles[key]) * expected
        found = Rotation.from_quat(spline(frames[key])[[1, 2, 3, 0]])
        assert (found * expected.inv()).magnitude() < 1e-13
    before = np.nextafter(frames[1:-1], -np.inf)
    np.testing.assert_allclose(spline(before), spline(frames[1:-1]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(spline(before, 1), spline(frames[1:-1], 1), rtol=0, atol=1e-10)


def test_angular_velocity_with_whole_turns_agrees_with_differences():
    generator = np.random.default_rng(5)
    frames = np.array([0.0, 9.0, 15.0, 30.0])
    spline = tcb.RotationSpline.from_turns(
        frames, [1.0, 14.0, -9.0, 20.0], generator.normal(size=(4, 3)), 0.1, 0.2, 0.3, 0.4, 0.5
    )
    at, step = np.linspace(0.1, 29.9, 40), 1e-5
    now, soon = (Rotation.from_quat(spline(at + shift)[:, [1, 2, 3, 0]]) for shift in (-step / 2, step / 2))
    np.testing.assert_allclose(spline(at, 1), (soon * now.inv()).as_rotvec() / step, rtol=0, atol=1e-7)


@pytest.mark.parametrize("angle", [359.0, 359.88, 359.9, 360.0 - 1e-9, 360.0, 360.0 + 1e-9, 361.0, 719.95, -360.0])
def test_turns_at_and_around_whole_ones_are_exact_because_their_axis_is_named(angle):
    spline = tcb.RotationSpline.from_turns([0, 10], np.radians([0, angle]), [AXIS, AXIS])
    frames = np.linspace(0, 10, 101)
    np.testing.assert_allclose(turned_about(spline, frames), np.radians(angle) * frames / 10.0, rtol=0, atol=1e-10)


def test_a_loop_of_whole_turns_is_smooth_across_its_seam():
    spline = tcb.RotationSpline.from_turns([0, 10, 20], np.radians([0, 540, 540]), [AXIS] * 3, cycle="LOOP")
    assert spline.loop_gap < 1e-14
    np.testing.assert_allclose(spline(np.linspace(-20, 40, 50), 1), np.tile(AXIS * np.radians(54), (50, 1)), atol=1e-12)


def test_signs_are_continuous_through_whole_turns():
    axes = [AXIS, [0, 0, 1], AXIS, AXIS]
    spline = tcb.RotationSpline.from_turns([0, 10, 20, 30], np.radians([0, 450, -800, 90]), axes)
    q = spline(np.linspace(0, 30, 3000))
    assert (np.einsum("ij,ij->i", q[1:], q[:-1]) > 0.99).all()


def test_the_shorter_way_can_be_asked_for():
    # Exporters wrote turns of -3 degrees as 357.
    spline = tcb.RotationSpline.from_turns([0, 10], np.radians([0, 357]), [AXIS, AXIS], path="SHORTEST")
    assert np.degrees(turned_about(spline, np.linspace(0, 10, 11)))[-1] == pytest.approx(-3.0)


@pytest.mark.parametrize("convention", ["BLENDER", "3DS"])
def test_turns_become_rotations_and_back(convention):
    generator = np.random.default_rng(1)
    angles, axes = generator.uniform(0.1, 3.0, 9), generator.normal(size=(9, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    sign = 1.0 if convention == "BLENDER" else -1.0
    q = rotations.turns_to_rotations(angles * sign, axes, convention)
    found_angles, found_axes = rotations.rotations_to_turns(q, convention)
    np.testing.assert_allclose(found_angles, angles * sign, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found_axes, axes, rtol=0, atol=1e-13)
    by_scipy = Rotation.from_rotvec(axes[0] * angles[0])
    for angle, axis in zip(angles[1:], axes[1:], strict=True):
        by_scipy = Rotation.from_rotvec(axis * angle) * by_scipy
    assert (Rotation.from_quat(q[-1, [1, 2, 3, 0]]) * by_scipy.inv()).magnitude() < 1e-14


def test_turns_as_keyed_keep_the_long_way():
    q = rotations.turns_to_rotations(np.radians([10, 300]), [AXIS, AXIS])
    angles, axes = rotations.rotations_to_turns(q, path="AS_KEYED")
    assert np.degrees(angles) == pytest.approx([10, 300])
    assert np.degrees(rotations.rotations_to_turns(q)[0]) == pytest.approx([10, 60])
    assert axes[1] == pytest.approx(AXIS)


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
@pytest.mark.parametrize("channel", [0, 1, 2])
@pytest.mark.parametrize("change", [450.0, -180.0, 180.0, 360.0, -720.0, 1000.5, 0.0, 1e-7])
def test_one_euler_channel_that_changes_is_a_turn_of_that_size(order, channel, change):
    start = np.radians([20.0, -35.0, 50.0])
    end = start.copy()
    end[channel] += np.radians(change)
    angles, axes = rotations.turns_of_euler([start, end], order)
    assert abs(angles[1]) == pytest.approx(np.radians(abs(change)), abs=1e-13)
    # A small part of the rotation, from scipy, shows the axis with its sign. Blender's orders are scipy's fixed axes.
    if change:
        piece = start.copy()
        piece[channel] += np.copysign(0.1, change)
        by_scipy = [
            Rotation.from_euler(order.lower(), each[["XYZ".index(letter) for letter in order]])
            for each in (start, piece)
        ]
        axis = (by_scipy[1] * by_scipy[0].inv()).as_rotvec() / 0.1
        np.testing.assert_allclose(axes[1] * np.sign(angles[1]), axis, rtol=0, atol=1e-6 if change < 1 else 1e-12)


@settings(max_examples=20)
@given(
    st.lists(st.lists(st.floats(-20, 20), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from(["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]),
)
def test_turns_of_euler_keys_reach_their_orientations(triples, order):
    angles, axes = rotations.turns_of_euler(triples, order)
    reached = rotations.turns_to_rotations(angles, axes)
    assert rotations.angle_between(reached, rotations.from_euler(triples, order)).max() < 1e-9


def test_turns_of_axis_angle_keys_are_counted_too():
    angles, axes = rotations.turns_of_axis_angle(
        np.radians([10, 460, 100, 820]), [[0, 0, 1], [0, 0, 2], [0, 0, 1], [0, 0, 0.5]]
    )
    np.testing.assert_allclose(np.degrees(angles * axes[:, 2]), [10, 450, -360, 720], rtol=0, atol=1e-10)


def test_turns_of_axis_angle_keys_reach_their_orientations():
    generator = np.random.default_rng(2)
    key_angles, key_axes = generator.uniform(-20, 20, 30), generator.normal(size=(30, 3))
    reached = rotations.turns_to_rotations(*rotations.turns_of_axis_angle(key_angles, key_axes))
    assert rotations.angle_between(reached, rotations.from_axis_angle(key_axes, key_angles)).max() < 1e-12


def test_one_key_has_its_orientation_for_a_turn():
    angles, axes = rotations.turns_of_euler([[0.0, 0.0, 0.5]])
    assert (angles * axes[:, 2]).tolist() == pytest.approx([0.5])
    assert tcb.RotationSpline.from_turns([3], angles, axes)(0.0) == pytest.approx(
        [float(mp.cos(0.25)), 0, 0, float(mp.sin(0.25))]
    )


def test_keys_that_are_no_numbers_or_turn_beyond_counting_are_refused_by_name():
    with pytest.raises(KeysError, match="key 1: the value is not finite"):
        rotations.turns_of_euler([[0.0, 0, 0], [0, np.nan, 0]])
    with pytest.raises(KeysError, match="key 2: is too many turns from the previous key"):
        rotations.turns_of_euler([[0.0, 0, 0], [0, 1, 0], [1e9, 0, 0]])
    with pytest.raises(KeysError, match="key 1: the value is not finite"):
        rotations.turns_of_axis_angle([0.0, np.inf], [[0, 0, 1], [0, 0, 1]])
    with pytest.raises(KeysError, match="key 0: the value is not finite"):
        rotations.turns_of_axis_angle([0.0, 1.0], [[0, 0, np.nan], [0, 0, 1]])
