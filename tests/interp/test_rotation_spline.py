# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation tracks, compared with the formulas at 50 digits and scipy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, RotationSpline, Slerp

from interp import Keys, rotations
from interp.splines import tcb
from tests.all_pairs import all_pairs
from tests.interp import exact
from tests.interp.random_keys import random_parameters, random_rotations
from tests.interp.rotation_tracks import CONSTRUCTIONS, CYCLES, ENDS, PATHS, exact_rotation_track, off, one_axis

# The bound in RotationSpline's docstring. It is multiplied by 1 / (pi - angle) for the flattest arc.
BOUND = 1e-12


@pytest.mark.parametrize(
    ("construction", "cycle", "keys", "seed"), all_pairs(CONSTRUCTIONS, CYCLES, [1, 2, 3, 6], range(4))
)
def test_samples_agree_with_the_formulas_at_50_digits(construction, cycle, keys, seed):
    generator = np.random.default_rng([seed, keys])
    # The published squad chooses the shortest path to each neighbor separately. As Keyed is only for de Casteljau.
    path = "AS_KEYED" if seed % 2 and construction == "DE_CASTELJAU" else "SHORTEST"
    ends = "TANGENT" if seed > 1 and construction == "DE_CASTELJAU" else "3DS"
    options = {"cycle": cycle, "construction": construction, "path": path, "ends": ends}
    frames = np.cumsum(generator.uniform(0.5, 40.0, keys))
    q = random_rotations(generator, keys, [0.3, 1.0, 2.0, 3.0][seed])
    parameters = random_parameters(generator, keys)
    beyond = 0.1 if cycle == "SINGLE" else 1.5
    span = frames[-1] - frames[0] + 1.0
    at = np.concatenate([generator.uniform(frames[0] - beyond * span, frames[-1] + beyond * span, 8), frames])
    track = exact_rotation_track(frames, q, parameters, **options)
    expected = exact.rows([track.rotation(frame) for frame in at])
    found = tcb.RotationSpline(Keys(frames, q, *parameters), **options)(at)
    assert off(found, expected).max() < BOUND / track.flattest


@pytest.mark.slow
@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("step", [0.0, 1e-300, 1e-16, 1e-12, 1e-9, 1e-8, 1e-7, 1e-5, 1e-3])
def test_the_bound_holds_near_zero_angles(construction, step):
    generator = np.random.default_rng(7)
    frames = np.array([0.0, 1.0, 5.0, 6.0, 20.0])
    q = random_rotations(generator, 5, step)
    parameters = random_parameters(generator, 5)
    track = exact_rotation_track(frames, q, parameters, construction=construction)
    at = np.linspace(0.0, 20.0, 23)
    found = tcb.RotationSpline(Keys(frames, q, *parameters), construction=construction)(at)
    assert off(found, exact.rows([track.rotation(frame) for frame in at])).max() < BOUND


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-8])
def test_nearly_antipodal_keys_lose_no_more_than_the_condition_of_their_arc(gap):
    axis = np.array([0.6, 0.0, 0.8])
    q = rotations.multiply(one_axis([0.0, 2.0 * np.pi - 2.0 * gap, 2.0 * np.pi], axis), [0.5, 0.5, 0.5, 0.5])
    frames, parameters = np.array([0.0, 10.0, 15.0]), np.full((5, 3), 0.2)
    track = exact_rotation_track(frames, q, parameters, path="AS_KEYED")
    at = np.linspace(0.0, 15.0, 31)
    found = tcb.RotationSpline(Keys(frames, q, *parameters), path="AS_KEYED")(at)
    expected = exact.rows([track.rotation(frame) for frame in at])
    assert track.flattest == pytest.approx(gap, rel=1e-6)
    assert off(found, expected).max() < BOUND / gap


@pytest.mark.parametrize("frames", [np.arange(4) * 1e-3, np.arange(4) * 1e6, np.array([0.0, 1e-3, 1e6, 1e6 + 1e-3])])
def test_the_bound_holds_for_segments_from_a_thousandth_of_a_frame_to_a_million(frames):
    generator = np.random.default_rng(5)
    q, parameters = random_rotations(generator, 4, 1.0), random_parameters(generator, 4)
    track = exact_rotation_track(frames, q, parameters)
    at = np.concatenate([np.linspace(a, b, 7) for a, b in itertools.pairwise(frames)])
    found = tcb.RotationSpline(Keys(frames, q, *parameters))(at)
    assert off(found, exact.rows([track.rotation(frame) for frame in at])).max() < BOUND / track.flattest


@pytest.mark.slow
@pytest.mark.parametrize(("construction", "cycle", "step"), all_pairs(CONSTRUCTIONS, CYCLES, [0.0, 1e-6, 0.5, 1.5]))
def test_angular_velocities_agree_with_differences_at_50_digits(construction, cycle, step):
    generator = np.random.default_rng(11)
    frames = np.array([0.0, 4.0, 5.0, 12.0])
    q, parameters = random_rotations(generator, 4, step), random_parameters(generator, 4)
    parameters[3:] = np.maximum(parameters[3:], 0.05)
    at = generator.uniform(-3.0, 20.0, 12)
    track = exact_rotation_track(frames, q, parameters, construction=construction, cycle=cycle)
    expected = exact.rows([track.angular_velocity(frame) for frame in at])
    found = tcb.RotationSpline(Keys(frames, q, *parameters), cycle, construction=construction)(at, 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 / track.flattest**2)


def test_scipys_rotation_spline_has_the_same_velocity_in_the_bodys_frame():
    # About one axis with evenly rotated keys, both motions are uniform. The parent's rotation distinguishes the frames.
    q = rotations.multiply([0.5, 0.5, 0.5, 0.5], one_axis([0.0, 0.5, 1.0, 1.5], [0.0, 0.0, 1.0]))
    frames = np.array([0.0, 10.0, 20.0, 30.0])
    ours = tcb.RotationSpline(Keys(frames, q))(15.0, 1)
    scipys = RotationSpline(frames, Rotation.from_quat(q[:, [1, 2, 3, 0]]))
    np.testing.assert_allclose(scipys(15.0).apply(scipys(15.0, 1)), ours, rtol=0, atol=1e-14)
    np.testing.assert_allclose(ours, [0.05, 0.0, 0.0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("ends", ENDS)
def test_two_plain_keys_are_scipys_slerp(construction, ends):
    q = random_rotations(np.random.default_rng(4), 2, 2.0)
    spline = tcb.RotationSpline(Keys([0.0, 10.0], q), ends=ends, construction=construction)
    at = np.linspace(0.0, 10.0, 21)
    expected = Slerp([0.0, 10.0], Rotation.from_quat(q[:, [1, 2, 3, 0]]))(at)
    turned = Rotation.from_quat(spline(at)[:, [1, 2, 3, 0]]) * expected.inv()
    assert turned.magnitude().max() < 1e-14


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("path", PATHS)
def test_a_loop_whose_signs_do_not_close_is_smooth_across_its_seam(construction, path):
    # docs/formulas, "Signs in a loop": a loop from 0 to 360 degrees ends at -q0.
    q = one_axis(np.radians([0, 90, 180, 270, 360]), [0, 0, 1])
    spline = tcb.RotationSpline(Keys([0, 10, 20, 30, 40], q), "LOOP", construction=construction, path=path)
    at = np.linspace(0.0, 40.0, 81)
    np.testing.assert_allclose(spline(at, 1)[:, 2], np.pi / 20.0, rtol=0, atol=1e-14)
    assert rotations.angle_between(spline(at), one_axis(at * np.pi / 20.0, [0, 0, 1])).max() < 1e-14
    assert spline.loop_gap < 1e-15


def test_a_loop_that_does_not_close_says_by_what_angle():
    q = one_axis(np.radians([0, 90, 200]), [0, 0, 1])
    assert tcb.RotationSpline(Keys([0, 1, 2], q), "LOOP").loop_gap == pytest.approx(np.radians(160))
