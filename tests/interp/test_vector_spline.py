# SPDX-License-Identifier: GPL-3.0-or-later
"""Vector tracks, compared with the formulas at 50 digits, scipy and closed forms."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BPoly, CubicHermiteSpline

from interp import Keys
from interp.splines import tcb
from tests.all_pairs import all_pairs
from tests.interp import exact
from tests.interp.random_keys import random_frames, random_parameters

CYCLES = ["SINGLE", "REPEAT", "LOOP"]
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


def test_a_segment_is_the_bezier_with_handles_a_third_of_the_slopes_away():
    frames = np.array([0.0, 7.0, 9.0, 20.0])
    values = np.array([1.0, -2.0, 5.0, 3.0])
    spline = tcb.VectorSpline(Keys(frames, values, 0.3, -0.4, 0.6))
    just_before = np.nextafter(frames[2], 0.0)
    rise = spline([frames[1]], 1)[0, 0] * 2.0 / 3.0
    fall = spline([just_before], 1)[0, 0] * 2.0 / 3.0
    bezier = BPoly(np.array([[values[1]], [values[1] + rise], [values[2] - fall], [values[2]]]), frames[1:3])
    at = np.linspace(7.0, 9.0, 50, endpoint=False)
    np.testing.assert_allclose(spline(at)[:, 0], bezier(at), rtol=0, atol=1e-13)


def test_full_tension_stops_at_the_key():
    spline = tcb.VectorSpline(Keys([0, 10, 20], [0.0, 5.0, 7.0], tension=[0, 1, 0]))
    assert spline([10], 1)[0, 0] == 0.0


def test_full_ease_on_both_sides_runs_as_the_square_then_back():
    # Two keys with eases of 1, each scaled to a half: s = 2 u², then 1 - 2 (1-u)². Full tension gives 3 s² - 2 s³.
    spline = tcb.VectorSpline(Keys([0, 10], [0.0, 1.0], tension=1.0, ease_to=1.0, ease_from=1.0))
    u = np.linspace(0.0, 1.0, 21)
    s = np.where(u < 0.5, 2 * u**2, 1 - 2 * (1 - u) ** 2)
    np.testing.assert_allclose(spline(10 * u)[:, 0], 3 * s**2 - 2 * s**3, rtol=0, atol=1e-15)


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-99, 1e-17])
def test_the_tiniest_ease_changes_nothing_between_keys(tiny):
    at = np.linspace(0, 10, 33)[1:-1]
    plain = tcb.VectorSpline(Keys([0, 10], [0.0, 1.0], tension=0.3))
    eased = tcb.VectorSpline(Keys([0, 10], [0.0, 1.0], tension=0.3, ease_to=tiny, ease_from=tiny))
    np.testing.assert_allclose(eased(at), plain(at), rtol=0, atol=1e-15)
    np.testing.assert_allclose(eased(at, 1), plain(at, 1), rtol=0, atol=1e-14)
    assert np.isfinite(eased([0.0, 10.0], 2)).all()


def test_key_values_are_met_exactly():
    generator = np.random.default_rng(3)
    frames, values = random_frames(generator, 20), generator.normal(size=(20, 3))
    spline = tcb.VectorSpline(Keys(frames, values, *random_parameters(generator, 20)))
    assert (spline(frames) == values).all()


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


def test_a_repeat_has_the_tangents_of_a_single_track():
    keys = Keys([0, 6, 12], [1.0, 5.0, 1.0], 0.2, 0.3, 0.4)
    at = np.linspace(0, 12, 50)
    assert (tcb.VectorSpline(keys, "REPEAT")(at) == tcb.VectorSpline(keys)(at)).all()


def test_a_loop_is_smooth_across_its_seam():
    spline = tcb.VectorSpline(Keys([0, 3, 10, 12], [[1.0], [5], [-2], [1]], 0.1, 0.0, 0.4), "LOOP")
    assert spline([12.0], 1) == pytest.approx(spline([0.0], 1), rel=1e-13)
    assert spline.loop_gap == 0.0


def test_a_loop_that_does_not_close_says_by_how_much():
    assert tcb.VectorSpline(Keys([0, 3, 10], [[0.0, 0], [1, 1], [3, 4]]), "LOOP").loop_gap == 5.0


def test_a_loop_of_two_keys_is_a_two_key_track():
    keys = Keys([0, 5], [1.0, 4.0], [0.2, 0.7])
    at = np.linspace(0, 5, 20)
    assert (tcb.VectorSpline(keys, "LOOP")(at) == tcb.VectorSpline(keys)(at)).all()


def test_a_number_gives_one_sample_and_no_frames_none():
    spline = tcb.VectorSpline(Keys([0, 5], [[1.0, 2.0], [4.0, 5.0]]))
    assert spline(0.0).tolist() == [1.0, 2.0]
    assert spline([]).shape == (0, 2)


@st.composite
def tracks(draw, smallest=2, components=1):
    """A strategy for a track's frames, values and parameters, which hypothesis can simplify."""
    keys = draw(st.integers(smallest, 6))
    lengths = draw(st.lists(st.floats(0.01, 100), min_size=keys, max_size=keys))
    number = st.floats(-100, 100)
    values = draw(st.lists(st.lists(number, min_size=components, max_size=components), min_size=keys, max_size=keys))
    signed = st.lists(st.floats(-1, 1), min_size=keys, max_size=keys)
    unsigned = st.lists(st.floats(0, 1), min_size=keys, max_size=keys)
    parameters = [draw(signed), draw(signed), draw(signed), draw(unsigned), draw(unsigned)]
    return np.cumsum(lengths), np.array(values), np.array(parameters)


@settings(max_examples=20)
@given(tracks(components=3), st.sampled_from(CYCLES))
def test_components_are_splines_of_their_own(track, cycle):
    frames, values, parameters = track
    at = np.linspace(frames[0] - 5, frames[-1] + 5, 40)
    together = tcb.VectorSpline(Keys(frames, values, *parameters), cycle)(at)
    alone = [tcb.VectorSpline(Keys(frames, values[:, i], *parameters), cycle)(at)[:, 0] for i in range(3)]
    assert (together == np.stack(alone, axis=1)).all()


@settings(max_examples=20)
@given(tracks(smallest=3))
def test_without_continuity_the_speed_does_not_jump_at_inner_keys(track):
    frames, values, parameters = track
    parameters[[1, 3, 4]] = 0.0
    spline = tcb.VectorSpline(Keys(frames, values, *parameters))
    before = np.nextafter(frames[1:-1], -np.inf)
    scale = np.abs(values).max() / np.diff(frames).min() + 1e-300
    np.testing.assert_allclose(spline(before, 1) / scale, spline(frames[1:-1], 1) / scale, rtol=0, atol=1e-9)


@settings(max_examples=20)
@given(tracks(), st.floats(-3, 3), st.floats(-50, 50))
def test_values_may_be_scaled_and_moved_before_or_after(track, scale, shift):
    frames, values, parameters = track
    at = np.linspace(frames[0], frames[-1], 30)
    before = tcb.VectorSpline(Keys(frames, values * scale + shift, *parameters))(at)
    after = tcb.VectorSpline(Keys(frames, values, *parameters))(at) * scale + shift
    np.testing.assert_allclose(before, after, rtol=0, atol=1e-11)


@settings(max_examples=20)
@given(tracks())
def test_a_track_played_backwards_swaps_bias_and_eases(track):
    frames, values, parameters = track
    at = np.linspace(frames[0], frames[-1], 30)
    mirrored = parameters[:, ::-1].copy()
    mirrored[2] *= -1.0
    mirrored[[3, 4]] = mirrored[[4, 3]]
    forward = tcb.VectorSpline(Keys(frames, values, *parameters))(at)
    backward = tcb.VectorSpline(Keys(-frames[::-1], values[::-1], *mirrored))(-at)
    np.testing.assert_allclose(backward, forward, rtol=0, atol=1e-10)


def test_the_printed_misprint_of_ease_is_not_repeated():
    # docs/formulas, "Ease": with the printed formula, ease(1; 0, 0.5) = 0.667.
    spline = tcb.VectorSpline(Keys([0, 1], [0.0, 1.0], ease_to=[0, 0.5]))
    assert spline(np.nextafter(1.0, 0.0))[0] == pytest.approx(1.0, abs=1e-12)
    assert float(exact.ease(mp.mpf(1), mp.mpf(0), mp.mpf("0.5"))) == 1.0
