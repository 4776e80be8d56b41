# SPDX-License-Identifier: GPL-3.0-or-later
"""Catmull-Rom tracks, compared with scipy on NumPy's gradients, Barry and Goldman's pyramid, and Holden's article."""

from __future__ import annotations

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline
from splines import CatmullRom

from interp import Keys, rotations
from interp.splines import catmull_rom
from tests.all_pairs import all_pairs
from tests.interp import exact, exact_turns
from tests.interp.holden_article import Article, catmull_rom_values, left_jacobian
from tests.interp.random_keys import random_rotations
from tests.interp.rotation_tracks import CYCLES, angular_acceleration, off

AXIS = np.array([2.0, -3.0, 6.0]) / 7.0


def spaced(generator, keys):
    """Return frames with distances that differ by a factor of up to a hundred."""
    return np.cumsum(10.0 ** generator.uniform(-0.5, 1.5, keys))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(3, 8))
def test_values_are_the_hermite_spline_of_numpy_s_gradients_whatever_the_spacing(seed, keys):
    generator = np.random.default_rng(seed)
    frames, values = spaced(generator, keys), generator.normal(size=(keys, 2))
    reference = CubicHermiteSpline(frames, values, np.gradient(values, frames, axis=0, edge_order=2))
    spline = catmull_rom.VectorSpline(Keys(frames, values))
    at = np.linspace(frames[0], frames[-1], 200)
    for nu in range(3):
        expected = reference(at[:-1], nu)
        np.testing.assert_allclose(spline(at[:-1], nu), expected, rtol=0, atol=1e-12 * (1.0 + np.abs(expected).max()))


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


@pytest.mark.parametrize("seed", range(5))
def test_inner_segments_are_barry_and_goldman_s(seed):
    generator = np.random.default_rng(seed)
    frames, values = spaced(generator, 7), generator.normal(size=(7, 3))
    reference = CatmullRom(values, frames)
    at = np.linspace(frames[1], frames[-2], 60)
    found = catmull_rom.VectorSpline(Keys(frames, values))(at)
    np.testing.assert_allclose(found, reference.evaluate(at), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_evenly_spaced_values_are_the_article_s(seed):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(6, 3))
    spline = catmull_rom.VectorSpline(Keys(3.0 + np.arange(6.0), values))
    for n in range(1, 4):
        for x in np.linspace(0.0, 1.0, 7)[:-1]:
            position, velocity = catmull_rom_values(x, *values[n - 1 : n + 3])
            np.testing.assert_allclose(spline(3.0 + n + x), position, rtol=0, atol=1e-14)
            np.testing.assert_allclose(spline(3.0 + n + x, 1), velocity, rtol=0, atol=1e-13)


@settings(max_examples=20)
@given(st.lists(st.floats(0.1, 30.0), min_size=3, max_size=7), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_parabolas_are_met_at_the_ends_too(lengths, slope, bend):
    frames = np.cumsum(lengths)
    spline = catmull_rom.VectorSpline(Keys(frames, slope * frames + bend * frames**2))
    at = np.linspace(frames[0], frames[-1], 50)
    scale = 1.0 + frames[-1] ** 2
    np.testing.assert_allclose(spline(at)[:, 0], slope * at + bend * at**2, rtol=0, atol=1e-13 * scale)


@pytest.mark.slow
@pytest.mark.parametrize("nu", [0, 1])
@pytest.mark.parametrize("step", [1e-6, 0.1, 0.5, 1.5, 2.9])
def test_evenly_spaced_rotations_are_the_article_s_with_the_end_velocity_it_asks_for(step, nu):
    generator = np.random.default_rng(3)
    q = random_rotations(generator, 6, step)
    spline = catmull_rom.RotationSpline(Keys(np.arange(6.0), q))
    article = Article(q, true_velocities=True)
    for n in range(1, 4):
        for x in (0.0, 0.31, 0.77):
            found = spline(n + x, nu)
            if nu:
                expected = article.velocity(n, x)
                np.testing.assert_allclose(found, [float(v) for v in expected], rtol=0, atol=1e-12)
            else:
                expected = np.array([float(v) for v in article.rotation(n, mp.mpf(x))])
                assert rotations.angle_between(found, expected) < 1e-13


def test_the_article_as_printed_is_the_same_about_one_axis_and_jumps_in_velocity_about_several():
    generator = np.random.default_rng(5)
    about_one = rotations.from_rotation_vector(np.cumsum(generator.uniform(-1.5, 1.5, 6))[:, np.newaxis] * AXIS)
    spline, article = catmull_rom.RotationSpline(Keys(np.arange(6.0), about_one)), Article(about_one)
    printed = exact.rows([article.rotation(n, mp.mpf(x)) for n in range(1, 4) for x in (0.0, 0.4, 0.9)])
    found = spline([n + x for n in range(1, 4) for x in (0.0, 0.4, 0.9)])
    assert rotations.angle_between(found, printed).max() < 1e-14
    article = Article(random_rotations(generator, 6, 1.0))
    jumps = [article.velocity(n, 1.0)[i] - article.velocity(n + 1, 0.0)[i] for n in range(1, 3) for i in range(3)]
    assert max(abs(float(x)) for x in jumps) > 0.01


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


@pytest.mark.parametrize("size", [0.0, 1e-3, 2.0])
def test_the_article_s_jacobian_that_tests_go_by_is_that_of_the_exponential(size):
    generator = np.random.default_rng(1)
    turn, rate = ([mp.mpf(float(x)) for x in row] for row in generator.normal(size=(2, 3)) * [[size], [1.0]])

    def rotation(h):
        return exact.exp([mp.mpf(0), *((t + h * r) / 2 for t, r in zip(turn, rate, strict=True))])

    change = exact.derivative(rotation, 0.0, 1)
    expected = [2 * x for x in exact.multiply(change, exact.conjugate(rotation(mp.mpf(0))))[1:]]
    found = left_jacobian(turn) * mp.matrix(rate)
    assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) < 1e-20


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


@pytest.mark.parametrize("cycle", CYCLES)
@pytest.mark.parametrize("path", ["SHORTEST", "AS_KEYED"])
def test_rotations_of_any_spacing_have_the_parabola_s_velocity_on_both_sides_of_each_key(cycle, path):
    generator = np.random.default_rng(8)
    frames, q = spaced(generator, 6), random_rotations(generator, 6, 1.0)
    q[-1] = q[0]
    spline = catmull_rom.RotationSpline(Keys(frames, q), cycle, path)
    signed = rotations.unroll_signs(q) if path == "SHORTEST" else q
    chords = np.array(
        [rotations.to_rotation_vector(rotations.multiply(b, rotations.conjugate(a))) for a, b in pairwise(signed)]
    )
    slopes = chords / np.diff(frames)[:, np.newaxis]
    for key in range(1, 5):
        d1, d2 = np.diff(frames)[key - 1 : key + 1]
        expected = (d2 * slopes[key - 1] + d1 * slopes[key]) / (d1 + d2)
        before = np.nextafter(frames[key], -np.inf)
        np.testing.assert_allclose(spline(frames[key], 1), expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(spline(before, 1), expected, rtol=0, atol=1e-11)
    if cycle == "LOOP":
        np.testing.assert_allclose(spline(frames[0], 1), spline(frames[-1], 1), rtol=0, atol=1e-12)
