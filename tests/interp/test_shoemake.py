# SPDX-License-Identifier: GPL-3.0-or-later
"""Shoemake's curves, compared with Szirmay-Kalos, section 13.5, at 50 digits."""

from __future__ import annotations

import numpy as np
import pytest

from interp import Keys
from interp.splines import shoemake
from tests.all_pairs import all_pairs
from tests.interp import exact
from tests.interp.exact_shoemake import exact_track
from tests.interp.random_keys import random_rotations
from tests.interp.rotation_tracks import CYCLES, angular_acceleration, off

KINDS = {"DE_CASTELJAU": shoemake.RotationSpline, "BLEND": shoemake.BlendSpline}


@pytest.mark.parametrize(
    ("construction", "cycle", "keys", "spacing"), all_pairs(KINDS, CYCLES, [1, 2, 3, 6], ["even", "uneven"])
)
def test_samples_agree_with_the_formulas_at_50_digits(construction, cycle, keys, spacing):
    generator = np.random.default_rng(keys)
    frames = np.arange(keys) * 7.0 if spacing == "even" else np.cumsum(generator.uniform(2.0, 9.0, keys))
    q, parameters = random_rotations(generator, keys, 1.2), np.zeros((5, keys))
    parameters[3:] = generator.uniform(0.0, 1.0, (2, keys))
    track = exact_track(frames, q, parameters, construction, cycle)
    at = np.concatenate([generator.uniform(frames[0] - 9.0, frames[-1] + 9.0, 10), frames])
    expected = exact.rows([track.rotation(frame) for frame in at])
    found = KINDS[construction](Keys(frames, q, *parameters), cycle)(at)
    assert off(found, expected).max() < 1e-12 / track.flattest


@pytest.mark.parametrize("step", [0.0, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize("construction", KINDS)
def test_the_bound_holds_near_zero_angles(construction, step):
    generator = np.random.default_rng(3)
    frames, q = np.array([0.0, 3.0, 5.0, 14.0]), random_rotations(generator, 4, step)
    track = exact_track(frames, q, np.zeros((5, 4)), construction)
    at = np.linspace(0.0, 14.0, 15)
    found = KINDS[construction](Keys(frames, q))(at)
    assert off(found, exact.rows([track.rotation(frame) for frame in at])).max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("construction", KINDS)
@pytest.mark.parametrize("step", [0.0, 1e-8, 0.1, 1.0, 2.0])
def test_angular_velocities_and_accelerations_agree_with_differences_at_50_digits(construction, step):
    generator = np.random.default_rng(21)
    frames, q = np.array([0.0, 4.0, 6.0, 12.0]), random_rotations(generator, 4, step)
    track = exact_track(frames, q, np.zeros((5, 4)), construction)
    spline = KINDS[construction](Keys(frames, q))
    for frame in generator.uniform(0.0, 12.0, 6):
        velocity = [float(x) for x in track.angular_velocity(frame)]
        acceleration = [float(x) for x in angular_acceleration(track.rotation, frame)]
        np.testing.assert_allclose(spline(frame, 1), velocity, rtol=0, atol=1e-11 / track.flattest**2)
        np.testing.assert_allclose(spline(frame, 2), acceleration, rtol=0, atol=1e-11 / track.flattest**3)


@pytest.mark.parametrize("construction", KINDS)
def test_a_turn_there_and_back_by_half_a_turn_stays_finite(construction):
    q = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]]
    spline = KINDS[construction](Keys([0, 10, 20, 30], q))
    for nu in range(3):
        assert np.isfinite(spline(np.linspace(0.0, 30.0, 61), nu)).all()
