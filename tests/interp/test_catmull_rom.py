# SPDX-License-Identifier: GPL-3.0-or-later
"""Catmull-Rom loops, compared with scipy on NumPy's gradients, and rotations with the formulas at 50 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from interp import Keys, rotations
from interp.splines import catmull_rom
from tests.all_pairs import all_pairs
from tests.interp import exact, exact_turns
from tests.interp.random_keys import random_rotations
from tests.interp.rotation_tracks import AXIS, CYCLES, angular_acceleration, off


def spaced(generator, keys):
    """Return frames with distances that differ by a factor of up to a hundred."""
    return np.cumsum(10.0 ** generator.uniform(-0.5, 1.5, keys))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(3, 8))
def test_a_loop_s_values_are_those_of_the_keys_repeated(seed, keys):
    generator = np.random.default_rng(seed)
    frames, values = spaced(generator, keys), generator.normal(size=(keys, 2))
    values[-1] = values[0]
    period = frames[-1] - frames[0]
    many = np.concatenate([frames[:-1] + turn * period for turn in (-1, 0, 1, 2)])
    repeated = np.tile(values[:-1], (4, 1))
    reference = CubicHermiteSpline(many, repeated, np.gradient(repeated, many, axis=0))
    spline = catmull_rom.VectorSpline(Keys(frames, values), "LOOP")
    at = np.linspace(frames[0], frames[-1], 100)[1:-1]
    for turn in (0, 1):
        np.testing.assert_allclose(spline(at + turn * period), reference(at), rtol=0, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(("cycle", "keys", "step"), all_pairs(CYCLES, [1, 2, 3, 5], [0.0, 1e-8, 0.5, 2.0, 3.1]))
def test_rotations_of_any_spacing_agree_with_50_digits(cycle, keys, step):
    generator = np.random.default_rng(keys)
    frames, q = np.cumsum(generator.uniform(2.0, 12.0, keys)), random_rotations(generator, keys, step)
    if cycle == "LOOP":
        q[-1] = -q[0]
    parameters = np.zeros((5, keys))
    parameters[3:] = generator.uniform(0.2, 1.0, (2, keys))
    track = exact_turns.track(exact_turns.CatmullRom, frames, q, parameters, cycle=cycle)
    spline = catmull_rom.RotationSpline(Keys(frames, q, *parameters), cycle)
    at = generator.uniform(frames[0] - 3.0, frames[-1] + 9.0, 5)
    assert off(spline(at), exact.rows([track.rotation(mp.mpf(frame)) for frame in at])).max() < 1e-12
    for frame in at[:2]:
        velocity = [float(x) for x in track.angular_velocity(frame)]
        np.testing.assert_allclose(spline(frame, 1), velocity, rtol=0, atol=1e-11)
        acceleration = [float(x) for x in angular_acceleration(track.rotation, frame)]
        np.testing.assert_allclose(spline(frame, 2), acceleration, rtol=0, atol=1e-11)


@settings(max_examples=20)
@given(
    turns=st.lists(st.floats(-25.0, 25.0), min_size=1, max_size=7),
    lengths=st.lists(st.floats(0.5, 30.0), min_size=7, max_size=7),
    cycle=st.sampled_from(["SINGLE", "REPEAT"]),
)
def test_about_one_axis_rotations_are_the_vector_spline_of_the_angle_whole_turns_included(turns, lengths, cycle):
    frames = np.cumsum(lengths[: len(turns)])
    spline = catmull_rom.RotationSpline.from_turns(frames, turns, [AXIS] * len(turns), cycle=cycle)
    angle = catmull_rom.VectorSpline(Keys(frames, np.cumsum(turns)), cycle)
    at = np.linspace(frames[0] - 5.0, frames[-1] + 5.0, 80)
    expected = rotations.from_rotation_vector(angle(at) * AXIS)
    scale = 1.0 + np.abs(angle(at, 1)).max() * max(lengths)
    assert off(spline(at), expected).max() < 1e-13 * scale
    for nu in (1, 2):
        # Only the worst spacing, half a frame next to thirty frames, has errors close to this bound.
        np.testing.assert_allclose(
            spline(at, nu), angle(at, nu) * AXIS, rtol=0, atol=4e-13 * scale / min(lengths) ** nu
        )
