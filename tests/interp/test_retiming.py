# SPDX-License-Identifier: GPL-3.0-or-later
"""The chain rule, arc lengths and constant speed of frame functions, compared with closed forms and scipy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import fixed_quad
from scipy.interpolate import CubicHermiteSpline

from interp import Keys, rotations
from interp.fitting.curves import handles
from interp.retiming import LENGTH_TOLERANCE, POSITION_TOLERANCE, SPEED_TOLERANCE, ArcLength, ConstantSpeed, retimed
from interp.splines import tcb
from tests.interp.rotation_tracks import AXIS

BETWEEN = ("ENDS", "KEYS")


def parabola():
    """Return (t, t²) from frame 1 to 3. With even spacing, TCB splines are exact quadratics between inner keys."""
    return tcb.VectorSpline(Keys([0, 1, 2, 3, 4], [[t, t * t] for t in range(5)]))


def length_of_parabola(x):
    return (2 * x * np.sqrt(1 + 4 * x * x) + np.arcsinh(2 * x)) / 4


def about_one_axis(frames, angles, **parameters):
    return tcb.RotationSpline.from_turns(
        frames, np.diff(angles, prepend=0.0), np.tile(AXIS, (len(frames), 1)), **parameters
    )


def random_values(seed, n=7, **parameters):
    generator = np.random.default_rng(seed)
    frames = np.cumsum(generator.integers(4, 20, n)).astype(np.float64)
    return tcb.VectorSpline(Keys(frames, generator.normal(size=(n, 3)), **parameters))


def random_turns(seed, n=7, **parameters):
    generator = np.random.default_rng(seed)
    frames = np.cumsum(generator.integers(4, 20, n)).astype(np.float64)
    return tcb.RotationSpline(Keys(frames, rotations.normalise(generator.normal(size=(n, 4))), **parameters))


def random_motions():
    eased = {"ease_to": 0.4, "ease_from": 0.7}
    return [random_values(1), random_values(2, **eased), random_turns(3), random_turns(4, **eased)]


# p(F(t)) and its derivatives


def test_values_are_those_at_the_frames_of_the_function():
    spline = random_values(5)
    back = 60.0 - np.arange(60.0)
    np.testing.assert_array_equal(retimed(spline, back), spline(back))


def test_derivatives_of_a_retimed_parabola_are_those_of_the_composition():
    t = np.linspace(0.1, 0.9, 9)
    function, rate, change = 2 + np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    velocity = np.stack((rate, 2 * function * rate), axis=1)
    acceleration = np.stack((change, 2 * rate**2 + 2 * function * change), axis=1)
    inside = np.abs(function - 2) < 0.99
    at = (function[inside], rate[inside], change[inside])
    np.testing.assert_allclose(retimed(parabola(), at[0], 1, at[1]), velocity[inside], atol=1e-13)
    np.testing.assert_allclose(retimed(parabola(), at[0], 2, at[1], at[2]), acceleration[inside], atol=1e-12)


def test_a_turn_at_one_rate_turns_at_the_rate_of_its_function():
    spline = about_one_axis([0.0, 10.0], [0.0, 2.0])
    t = np.linspace(0.0, 3.0, 13)
    function, rate, change = 5 + 3 * np.sin(t), 3 * np.cos(t), -3 * np.sin(t)
    np.testing.assert_allclose(retimed(spline, function, 1, rate), 0.2 * rate[:, np.newaxis] * AXIS, atol=1e-14)
    np.testing.assert_allclose(
        retimed(spline, function, 2, rate, change), 0.2 * change[:, np.newaxis] * AXIS, atol=1e-13
    )


def test_the_angular_acceleration_is_the_change_of_the_angular_velocity():
    spline = random_turns(6)
    t, step = np.linspace(0.05, 0.95, 17), 1e-5

    def velocity(t):
        return retimed(spline, 20 + 15 * np.sin(3 * t), 1, 45 * np.cos(3 * t))

    expected = (velocity(t + step) - velocity(t - step)) / (2 * step)
    found = retimed(spline, 20 + 15 * np.sin(3 * t), 2, 45 * np.cos(3 * t), -135 * np.sin(3 * t))
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_at_a_corner_a_motion_that_runs_back_leaves_by_the_side_that_it_runs_to():
    corner = tcb.VectorSpline(Keys([0, 10, 20], [0.0, 10.0, 10.0], tension=[0, 0, 0], continuity=[0, -1, 0]))
    forward, back = corner([10.0 + 1e-9], 1)[0], corner([10.0 - 1e-9], 1)[0]
    assert abs(forward - back) > 0.5
    np.testing.assert_allclose(retimed(corner, [10.0, 10.0], 1, [1.0, -1.0])[:, 0], [forward[0], -back[0]], rtol=1e-6)


# Arc lengths


def test_the_length_of_a_parabola_is_the_closed_form():
    found = ArcLength([parabola()]).at([1.0, 1.5, 2.0, 2.75, 3.0])
    expected = length_of_parabola(np.array([1.0, 1.5, 2.0, 2.75, 3.0]))
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-9)


def test_the_length_of_a_turn_is_its_angle_whole_turns_too():
    assert ArcLength([about_one_axis([0.0, 30.0], [0.0, 40.0])]).length == pytest.approx(40.0, rel=1e-12)


def test_the_length_there_and_back_is_twice_the_way():
    there = tcb.VectorSpline(Keys([0, 10, 20], [[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]], tension=1.0))
    assert ArcLength([there]).length == pytest.approx(10.0, rel=1e-9)


def length_by_scipy(spline, low, high):
    """Return the arc length as a sum of parts with smooth speed. Parts begin at keys and at the ends of eases."""
    keys = spline.keys.frames
    edges = [low, high]
    for share in (0.0, 0.7 / 1.1):
        edges += [frame for frame in keys[:-1] + share * np.diff(keys) if low < frame < high]
    parts = np.array([np.linspace(a, b, 40) for a, b in itertools.pairwise(np.unique(edges))])
    starts, lengths = parts[:, :-1].ravel(), np.diff(parts, axis=1).ravel()

    def speeds(shares):
        """Return the speeds in all parts, times their lengths, shape (parts, shares)."""
        frames = starts[:, np.newaxis] + lengths[:, np.newaxis] * shares
        return lengths[:, np.newaxis] * np.linalg.norm(spline(frames.ravel(), 1), axis=1).reshape(frames.shape)

    return fixed_quad(speeds, 0.0, 1.0, n=20)[0].sum()


@pytest.mark.parametrize("motion", range(4))
def test_lengths_agree_with_scipy(motion):
    spline = random_motions()[motion]
    arc = ArcLength([spline])
    assert arc.length == pytest.approx(length_by_scipy(spline, arc.first, arc.last), rel=2 * LENGTH_TOLERANCE)


def test_components_with_keys_of_their_own_make_one_length():
    x, y = tcb.VectorSpline(Keys([0, 10], [0.0, 3.0])), tcb.VectorSpline(Keys([0, 4, 10], [0.0, 1.6, 4.0]))
    assert ArcLength([x, y]).length == pytest.approx(5.0, rel=1e-9)


@pytest.mark.parametrize("motion", range(4))
def test_a_length_leads_back_to_the_frame_at_which_the_motion_has_come_so_far(motion):
    arc = ArcLength([random_motions()[motion]])
    lengths = np.linspace(0.0, arc.length, 301)
    np.testing.assert_allclose(arc.at(arc.frames(lengths)), lengths, atol=1e-13 * arc.length)


def test_nothing_is_added_outside_the_keys():
    arc = ArcLength([parabola()])
    np.testing.assert_array_equal(arc.at([-5.0, 9.0]), [0.0, arc.length])


def test_what_never_moves_has_no_length():
    still = ArcLength([tcb.VectorSpline(Keys([3, 9], [[1.0, 2.0], [1.0, 2.0]]))])
    assert still.length == 0.0
    np.testing.assert_array_equal(still.frames([0.0, 1.0]), [3.0, 3.0])


@pytest.mark.parametrize("signs", [(1.0, 1.0, 1.0), (1.0, -1.0, 1.0)])
def test_a_rotation_that_never_turns_has_no_length(signs):
    q = rotations.normalise([0.3, -0.5, 0.7, 0.2])
    at_rest = ArcLength([tcb.RotationSpline(Keys([3, 9, 20], np.outer(signs, q), tension=0.3, bias=-0.4))])
    assert at_rest.length == 0.0
    np.testing.assert_array_equal(at_rest.frames([0.0, 1.0]), [3.0, 3.0])


def test_the_length_of_a_rotation_by_a_millionth_of_a_degree_is_its_angle():
    angle = np.radians(1e-6)
    turn = tcb.RotationSpline(Keys([0, 10, 30], rotations.from_axis_angle(AXIS, [0.0, angle, 3.0 * angle])))
    assert ArcLength([turn]).length == pytest.approx(3.0 * angle, abs=1e-13)


# Constant speed


@pytest.mark.parametrize("motion", range(4))
def test_equal_times_make_equal_ways(motion):
    spline = random_motions()[motion]
    function = ConstantSpeed([spline])
    frames = np.linspace(function.arc.first, function.arc.last, 41)
    at = function(frames)
    ways = [length_by_scipy(spline, a, b) for a, b in itertools.pairwise(at)]
    np.testing.assert_allclose(ways, function.arc.length / 40, rtol=1e-7)


def test_keys_that_keep_their_frames_are_met_there_and_the_way_between_is_even():
    line = tcb.VectorSpline(Keys([0, 10, 40], [[0, 0], [3, 4], [12, 16]], ease_from=0.6, continuity=-1.0))
    found = retimed(line, ConstantSpeed([line], "KEYS")([0.0, 5.0, 10.0, 25.0, 40.0]))
    np.testing.assert_allclose(found, [[0, 0], [1.5, 2], [3, 4], [7.5, 10], [12, 16]], atol=1e-7)


def test_a_rest_takes_no_time_unless_its_keys_keep_theirs():
    resting = tcb.VectorSpline(Keys([0, 10, 30, 40], [0.0, 1.0, 1.0, 2.0], tension=1.0))
    t = np.array([5.0, 15.0, 20.0, 25.0, 35.0])
    np.testing.assert_allclose(retimed(resting, ConstantSpeed([resting])(t))[:, 0], t / 20.0, atol=1e-8)
    kept = ConstantSpeed([resting], "KEYS")(t)
    np.testing.assert_allclose(retimed(resting, kept)[:, 0], [0.5, 1.0, 1.0, 1.0, 1.5], atol=1e-8)
    np.testing.assert_array_equal(kept[1:4], t[1:4])


def test_outside_the_keys_the_function_changes_nothing():
    np.testing.assert_array_equal(ConstantSpeed([parabola()])([-7.0, 30.0]), [-7.0, 30.0])


@pytest.mark.parametrize("frames", [[4.0], [3.0, 9.0]])
def test_what_never_moves_keeps_its_frames(frames):
    still = ConstantSpeed([tcb.VectorSpline(Keys(frames, [[1.0, 2.0]] * len(frames)))])
    np.testing.assert_array_equal(still([3.0, 4.0, 5.0]), [3.0, 4.0, 5.0])
    keys = still.keys()
    np.testing.assert_array_equal(keys.values, keys.frames)


def test_a_speed_between_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match="between must be one of ENDS, KEYS"):
        ConstantSpeed([parabola()], "FRAMES")


def played(keys, frames):
    """Return the curve of Bezier keys as played by Blender, computed by scipy as cubics with handles at thirds."""
    found = np.empty(len(frames))
    piece = np.clip(np.searchsorted(keys.frames, frames, side="right") - 1, 0, len(keys.frames) - 2)
    for each in np.unique(piece):
        ends = slice(each, each + 2)
        cubic = CubicHermiteSpline(keys.frames[ends], keys.values[ends], [keys.outgoing[each], keys.incoming[each + 1]])
        found[piece == each] = cubic(frames[piece == each])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("motion", range(4))
def test_few_keys_play_the_function_within_the_tolerance(motion, between):
    spline = random_motions()[motion]
    function = ConstantSpeed([spline], between)
    keys = function.keys()
    frames = np.linspace(function.arc.first, function.arc.last, 2001)
    paces = function.pace(frames)
    off = np.abs(function.arc.at(played(keys, frames)) - function.arc.at(function(frames)))
    arrivals = function.arc.at(spline.keys.frames) / function.arc.length * np.ptp(spline.keys.frames)
    at_keys = spline.keys.frames if between == "KEYS" else function.arc.first + arrivals
    near = np.abs(frames[:, np.newaxis] - at_keys).min(axis=1) < 0.25
    assert (off <= np.where(near, 0.1, POSITION_TOLERANCE) * paces).all()
    assert (np.diff(keys.frames) > 0.01).all()
    assert np.isfinite(handles(keys.frames, keys.values, keys.incoming, keys.outgoing)).all()


@pytest.mark.parametrize("motion", [0, 2])
def test_the_speed_with_few_keys_varies_less_than_the_tolerance(motion):
    spline = random_motions()[motion]
    function = ConstantSpeed([spline])
    frames = np.arange(function.arc.first, function.arc.last + 0.5)
    ways = np.diff(function.arc.at(played(function.keys(), frames)))
    np.testing.assert_allclose(ways, function.arc.length / (len(frames) - 1), rtol=SPEED_TOLERANCE)


def test_the_keys_pass_over_a_rest_within_a_moment():
    resting = tcb.VectorSpline(Keys([0, 10, 30, 40], [0.0, 1.0, 1.0, 2.0], continuity=-1.0))
    keys = ConstantSpeed([resting]).keys()
    frames = np.arange(0.0, 41.0)
    np.testing.assert_allclose(retimed(resting, played(keys, frames))[:, 0], frames / 20.0, atol=2e-3)
