# SPDX-License-Identifier: GPL-3.0-or-later
"""Vector tracks, compared with the formulas at 50 digits, scipy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from interp import Keys
from interp.splines import tcb
from tests.all_pairs import all_pairs
from tests.interp import exact
from tests.interp.random_keys import random_frames, random_parameters
from tests.interp.rotation_tracks import CYCLES

# The bound in VectorSpline's docstring.
BOUND = 1e-13


def samples_of(generator, frames, beyond):
    """Return frames between, at and next to the keys."""
    span = frames[-1] - frames[0]
    return np.concatenate(
        [
            generator.uniform(frames[0] - beyond * span, frames[-1] + beyond * span, 12),
            frames,
            np.nextafter(frames[1:], -np.inf),
        ]
    )


@pytest.mark.parametrize(("cycle", "keys", "seed"), all_pairs(CYCLES, [1, 2, 3, 4, 7], range(6)))
def test_values_agree_with_the_formulas_at_50_digits(cycle, keys, seed):
    generator = np.random.default_rng([seed, keys])
    frames = random_frames(generator, keys)
    values = generator.normal(size=(keys, 2)) * 10.0
    parameters = random_parameters(generator, keys)
    at = samples_of(generator, frames, 0.2 if cycle == "SINGLE" else 1.7)
    track = exact.Track(frames, values, parameters, cycle)
    found = tcb.VectorSpline(Keys(frames, values, *parameters), cycle)(at)
    # Frames of a cycle are rounded when they are wrapped. The error is half a unit in the last place, times the speed.
    slack = 1.0 if cycle == "SINGLE" else 100.0
    expected = exact.rows([track.vector(frame) for frame in at])
    np.testing.assert_allclose(found, expected, rtol=0, atol=BOUND * 40 * slack)


@pytest.mark.parametrize("longest", [1e-3, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_for_segments_from_a_thousandth_of_a_frame_to_a_million(longest, seed):
    generator = np.random.default_rng(seed)
    frames = random_frames(generator, 5, 1e-3, longest) if longest > 1 else np.cumsum(np.full(5, 1e-3))
    values = generator.normal(size=(5, 1))
    parameters = random_parameters(generator, 5)
    at = samples_of(generator, frames, 0.0)
    expected = exact.rows([exact.Track(frames, values, parameters).vector(frame) for frame in at])
    found = tcb.VectorSpline(Keys(frames, values, *parameters))(at)
    np.testing.assert_allclose(found, expected, rtol=0, atol=BOUND * 8)


@pytest.mark.slow
@pytest.mark.parametrize("cycle", CYCLES)
@pytest.mark.parametrize("nu", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_derivatives_by_frame_agree_with_differences_at_50_digits(cycle, nu, seed):
    generator = np.random.default_rng([seed, nu])
    frames = random_frames(generator, 5)
    values = generator.normal(size=(5, 2))
    parameters = random_parameters(generator, 5)
    parameters[3:] = np.maximum(parameters[3:], 0.05)
    at = generator.uniform(frames[0] - 10.0, frames[-1] + 10.0, 15)
    track = exact.Track(frames, values, parameters, cycle)
    expected = exact.rows([exact.derivative(track.vector, frame, nu) for frame in at])
    found = tcb.VectorSpline(Keys(frames, values, *parameters), cycle)(at, nu)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))


def test_plain_keys_evenly_spaced_give_the_cardinal_tangents_of_scipys_hermite_spline():
    frames = np.arange(6.0) * 4.0
    values = np.array([0.0, 3, -1, 4, 4, 2])
    slopes = np.gradient(values, frames)
    slopes[0] = 1.5 * (values[1] - values[0]) / 4.0 - 0.5 * slopes[1]
    slopes[-1] = 1.5 * (values[-1] - values[-2]) / 4.0 - 0.5 * slopes[-2]
    expected = CubicHermiteSpline(frames, values, slopes)
    spline = tcb.VectorSpline(Keys(frames, values))
    at = np.linspace(0.0, 19.99, 333)
    for nu in (0, 1, 2):
        np.testing.assert_allclose(spline(at, nu)[:, 0], expected(at, nu), rtol=0, atol=1e-13)


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-99, 1e-17])
def test_the_tiniest_ease_changes_nothing_between_keys(tiny):
    at = np.linspace(0, 10, 33)[1:-1]
    plain = tcb.VectorSpline(Keys([0, 10], [0.0, 1.0], tension=0.3))
    eased = tcb.VectorSpline(Keys([0, 10], [0.0, 1.0], tension=0.3, ease_to=tiny, ease_from=tiny))
    np.testing.assert_allclose(eased(at), plain(at), rtol=0, atol=1e-15)
    np.testing.assert_allclose(eased(at, 1), plain(at, 1), rtol=0, atol=1e-14)
    assert np.isfinite(eased([0.0, 10.0], 2)).all()


def test_at_a_key_the_derivative_is_that_of_the_segment_that_starts_there_and_at_the_last_the_incoming():
    spline = tcb.VectorSpline(Keys([0, 10, 30], [0.0, 1.0, -3.0], continuity=-0.7))
    assert spline([10], 1) == pytest.approx(spline([10 + 1e-9], 1), abs=1e-8)
    assert abs(spline([10], 1) - spline([10 - 1e-9], 1)) > 0.01
    assert spline([30], 1) == pytest.approx(spline([30 - 1e-9], 1), abs=1e-8)
    assert spline([0], 1) == pytest.approx(spline([1e-9], 1), abs=1e-8)


@pytest.mark.parametrize("cycle", ["REPEAT", "LOOP"])
def test_a_whole_period_on_a_cycle_has_its_last_key_and_just_after_its_first(cycle):
    spline = tcb.VectorSpline(Keys([4, 6, 12], [1.0, 5.0, 2.0]), cycle)
    assert spline([12, 20, 28, -4, -12])[:, 0].tolist() == [2.0] * 5
    assert spline([4])[0, 0] == 1.0
    after = np.nextafter([12.0, 20.0, -12.0], np.inf)
    np.testing.assert_allclose(spline(after)[:, 0], 1.0, atol=1e-12)
    np.testing.assert_allclose(spline([5 + 8, 5 + 80, 5 - 16]), spline([5, 5, 5]), rtol=1e-13)
    np.testing.assert_allclose(spline([13.0, 5 - 16], 1), spline([5.0, 5.0], 1), rtol=1e-12)


def test_a_loop_that_does_not_close_says_by_how_much():
    assert tcb.VectorSpline(Keys([0, 3, 10], [[0.0, 0], [1, 1], [3, 4]]), "LOOP").loop_gap == 5.0


def test_a_number_gives_one_sample_and_no_frames_none():
    spline = tcb.VectorSpline(Keys([0, 5], [[1.0, 2.0], [4.0, 5.0]]))
    assert spline(0.0).tolist() == [1.0, 2.0]
    assert spline([]).shape == (0, 2)
