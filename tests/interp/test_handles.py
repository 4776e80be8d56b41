# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that handles of the animator's keys play splines within the reported errors.

Handles are evaluated by bisection, and scipy computes angles.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from interp import Keys, rotations
from interp.fitting import Request
from interp.fitting.handles import fit_handles
from interp.rotations.representations import rotation_representation
from interp.splines import METHODS, tcb

PLACES = np.linspace(0.0, 1.0, 150)[1:-1]
FLOAT32 = 2.0**-24


def played(begin, right, left, end, share):
    """Return the values of a Bezier segment at fractions of its frames, with one column per channel if several.

    Points are (frame, value), or arrays (2, channels).
    """
    points = [np.array(point, dtype=float) for point in (begin, right, left, end)]
    share = share[(..., *[np.newaxis] * (points[1].ndim - 1))]
    target = points[0][0] + share * (points[3][0] - points[0][0])
    low, high = np.zeros_like(target), np.ones_like(target)

    def polynomial(row):
        a, b, c, d = (point[row] for point in points)
        return d - 3 * c + 3 * b - a, 3 * (c - 2 * b + a), 3 * (b - a), a

    def at(t, coefficients):
        cubic, square, linear, constant = coefficients
        return ((cubic * t + square) * t + linear) * t + constant

    frames = polynomial(0)
    for _ in range(50):
        middle = 0.5 * (low + high)
        short = at(middle, frames) < target
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return at(0.5 * (low + high), polynomial(1))


def segment_played(frames, numbers, fit, key, share=PLACES):
    """Return the values of all channels in a segment, shape (m, channels)."""
    ends = [numbers[row] * fit.signs[row] for row in (key, key + 1)]
    return played(
        (np.full_like(ends[0], frames[key]), ends[0]),
        fit.right[key].T,
        fit.left[key + 1].T,
        (np.full_like(ends[1], frames[key + 1]), ends[1]),
        share,
    )


def angles_off(spline, fit, key, numbers=None, share=PLACES):
    """Return the angles between the played quaternion channels and the spline in a segment."""
    frames = spline.keys.frames
    q = segment_played(frames, spline.keys.values if numbers is None else numbers, fit, key, share)
    exact = Rotation.from_quat(spline(frames[key] + share * (frames[key + 1] - frames[key])), scalar_first=True)
    return (Rotation.from_quat(q, scalar_first=True) * exact.inv()).magnitude()


def turning(generator, degrees, eased=0.0, largest=0.5, keys=6):
    """Return a track with turns of a given angle about random axes, and keys 8 to 25 frames apart."""
    q = rotations.turns_to_rotations(np.full(keys, np.radians(degrees)), generator.normal(size=(keys, 3)))
    parameters = generator.uniform(-largest, largest, (3, keys))
    eases = generator.uniform(0.0, eased, (2, keys))
    return tcb.RotationSpline(Keys(np.cumsum(generator.integers(8, 26, keys)), q, *parameters, *eases))


def requests_of(splines):
    return [Request(spline, "QUATERNION") for spline in splines]


# Median, 90th percentile and maximum in degrees, from a rough search with one grid of frames for all four channels.
ROUGH = [
    (30, 0.5, 0.38, 0.68, 1.1),
    (60, 0.5, 0.80, 1.5, 1.8),
    (90, 0.5, 1.3, 2.1, 2.9),
]


@pytest.mark.slow
@pytest.mark.parametrize(("degrees", "eased", "median", "most", "largest"), ROUGH)
def test_quaternions_are_nearer_than_a_rough_search_brings_them(degrees, eased, median, most, largest):
    generator = np.random.default_rng(1)
    splines = [turning(generator, degrees, eased) for _ in range(16)]
    worst = np.degrees(
        [
            angles_off(spline, fit, key).max()
            for spline, fit in zip(splines, fit_handles(requests_of(splines)), strict=True)
            for key in range(len(spline.keys) - 1)
        ]
    )
    assert np.median(worst) <= 0.6 * median
    assert np.percentile(worst, 90) <= 0.6 * most
    assert worst.max() <= largest


@pytest.mark.slow
@pytest.mark.parametrize(("degrees", "eased"), [(20, 0.0), (90, 0.0), (170, 0.0), (30, 1.0), (90, 1.0)])
def test_errors_are_the_largest_and_where_they_are_said_to_be(degrees, eased):
    generator = np.random.default_rng(2)
    splines = [turning(generator, degrees, eased, largest=1.0) for _ in range(8)]
    for spline, fit in zip(splines, fit_handles(requests_of(splines)), strict=True):
        frames = spline.keys.frames
        for key in range(len(frames) - 1):
            largest = angles_off(spline, fit, key, share=np.linspace(0.0, 1.0, 500)[1:-1]).max()
            # Errors up to 0.002 radians are interpolated, to about 0.003 degrees. Messages show hundredths of a degree.
            assert 0.93 * largest - 5e-5 <= fit.errors[key, 0] <= 1.03 * largest + 5e-5
            share = (fit.frames[key, :1] - frames[key]) / (frames[key + 1] - frames[key])
            assert angles_off(spline, fit, key, share=share)[0] >= 0.95 * largest - 5e-5


@pytest.mark.parametrize("seed", [23, 110, 116, 10])
def test_errors_of_eased_values_are_tight(seed):
    """For these seeds, errors have narrow peaks."""
    generator = np.random.default_rng(seed)
    frames = np.cumsum(generator.integers(3, 25, 6)).astype(float)
    values = generator.uniform(-10.0, 10.0, (6, 1))
    values[1] = values[0]
    parameters = [*generator.uniform(-1.0, 1.0, (3, 6)), *generator.uniform(0.0, 1.0, (2, 6))]
    spline = tcb.VectorSpline(Keys(frames, values, *parameters))
    (fit,) = fit_handles([Request(spline)])
    share = np.linspace(0.0, 1.0, 1201)[1:-1]
    for key in range(5):
        exact = spline(frames[key] + share * (frames[key + 1] - frames[key])).ravel()
        off = np.abs(segment_played(frames, values, fit, key, share).ravel() - exact).max()
        assert off <= 1.07 * fit.errors[key, 0] + 1e-4


def test_without_ease_quaternions_leave_and_reach_keys_almost_as_the_spline_does():
    generator = np.random.default_rng(3)
    for degrees in (10, 60, 120):
        spline = turning(generator, degrees)
        (fit,) = fit_handles(requests_of([spline]))
        frames, q = spline.keys.frames, spline.keys.values * fit.signs[:, np.newaxis]
        for key, handle, before in [
            *((key, fit.right[key], 0.0) for key in range(len(q) - 1)),
            *((key, fit.left[key], 1e-9) for key in range(1, len(q))),
        ]:
            slope = (handle[:, 1] - q[key]) / (handle[:, 0] - frames[key])
            velocity = 2.0 * rotations.multiply(slope, rotations.conjugate(q[key]))[1:]
            expected = spline(frames[key] - before, 1)
            assert np.linalg.norm(velocity - expected) <= 0.01 * np.linalg.norm(expected)


def test_beside_eases_little_speed_is_left():
    generator = np.random.default_rng(4)
    splines = [turning(generator, 60, 0.5) for _ in range(16)]
    left = []
    for spline, fit in zip(splines, fit_handles(requests_of(splines)), strict=True):
        frames, q = spline.keys.frames, spline.keys.values * fit.signs[:, np.newaxis]
        for key in range(len(q) - 1):
            step = fit.right[key].astype(float) - np.stack([np.full(4, frames[key]), q[key]], axis=1)
            if (step[:, 0] > 1e-3).all():
                velocity = 2.0 * rotations.multiply(step[:, 1] / step[:, 0], rotations.conjugate(q[key]))[1:]
                left.append(np.linalg.norm(velocity) * (frames[key + 1] - frames[key]) / np.radians(60))
    assert np.median(left) < 0.2
    assert np.percentile(left, 90) < 0.5


def shape_of(fit, key, frames, q):
    """Return lengths and slopes (16,) of handles, the end quaternion with the sign of the start, and this sign."""
    length = frames[key + 1] - frames[key]
    right, left = fit.right[key].astype(float), fit.left[key + 1].astype(float)
    out, into = (right[:, 0] - frames[key]) / length, (frames[key + 1] - left[:, 0]) / length
    return np.concatenate(
        [
            out,
            into,
            (right[:, 1] - q[key]) / np.maximum(out, 1e-6),
            (q[key + 1] - left[:, 1]) / np.maximum(into, 1e-6),
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("degrees", "eased"), [(90, 0.0), (60, 0.5), (45, 1.0)])
def test_scipy_finds_hardly_better_handles(degrees, eased):
    generator = np.random.default_rng(77)
    splines = [turning(generator, degrees, eased) for _ in range(4)]
    share, key, ratios = np.linspace(0.0, 1.0, 34)[1:-1], 2, []
    for spline, fit in zip(splines, fit_handles(requests_of(splines)), strict=True):
        frames, q = spline.keys.frames, spline.keys.values * fit.signs[:, np.newaxis]
        length = frames[key + 1] - frames[key]
        mine = shape_of(fit, key, frames, q)

        def turns(x, share, exact, q=q):
            right, left, begins, ends = np.split(x, 4)
            numbers = played(
                (np.zeros(4), q[key]),
                (right, q[key] + right * begins),
                (1.0 - left, q[key + 1] - left * ends),
                (np.ones(4), q[key + 1]),
                share,
            )
            return (Rotation.from_quat(numbers, scalar_first=True) * exact).as_rotvec()

        def exact(share, frames=frames, spline=spline, length=length):
            return Rotation.from_quat(spline(frames[key] + share * length), scalar_first=True).inv()

        def whole(x, mine=mine, q=q):
            # Without ease, the spline determines the slopes, and only the lengths are free.
            if eased:
                return x
            return np.concatenate([x[:8], mine[8:12] + x[8] * q[key], mine[12:] + x[9] * q[key + 1]])

        start = mine if eased else np.append(mine[:8], [0.0, 0.0])
        bounds = [np.full(len(start), side * np.inf) for side in (-1.0, 1.0)]
        bounds[0][:8], bounds[1][:8] = 0.0, 0.9
        at = exact(share)
        best = least_squares(
            lambda x, turns=turns, whole=whole, at=at: turns(whole(x), share, at).ravel(),
            np.clip(start, bounds[0] + 1e-6, bounds[1] - 1e-6),
            bounds=bounds,
            max_nfev=30,
        )
        least = np.linalg.norm(turns(whole(best.x), PLACES, exact(PLACES)), axis=1).max()
        if fit.errors[key, 0] > np.radians(0.01):
            ratios.append(fit.errors[key, 0] / least)
    assert np.median(ratios) <= 2.0
    assert max(ratios) <= 3.0


@pytest.mark.parametrize(("first", "relative"), [(0, 6e-7), (1000, 4e-6), (100_000, 2.4e-4)])
def test_values_without_ease_have_the_handles_of_hermite(first, relative):
    generator = np.random.default_rng(5)
    frames = first + np.cumsum(generator.integers(5, 25, 10)).astype(float)
    values = generator.normal(size=(10, 2)).astype(np.float32).astype(float)
    spline = tcb.VectorSpline(Keys(frames, values, *generator.uniform(-1.0, 1.0, (3, 10))))
    (fit,) = fit_handles([Request(spline)])
    third = np.diff(frames) / 3.0
    slopes = spline(frames[:-1], 1)
    assert fit.right[:-1, :, 0] == pytest.approx(np.stack([frames[:-1] + third] * 2, axis=1), rel=FLOAT32)
    rounded = fit.right[:-1, :, 0] - frames[:-1, np.newaxis]
    assert fit.right[:-1, :, 1] == pytest.approx(values[:-1] + slopes * rounded, abs=1e-6)
    for key in range(9):
        exact = spline(frames[key] + PLACES * 3.0 * third[key])
        off = np.abs(segment_played(frames, values, fit, key) - exact).max(axis=0)
        assert (off <= relative * np.ptp(values, axis=0)).all()
        assert fit.errors[key] == pytest.approx(off, rel=0.1, abs=1e-7)


@pytest.mark.slow
def test_eased_values_are_as_near_as_scipy_brings_them():
    generator = np.random.default_rng(6)
    parameters = np.vstack([generator.uniform(-0.7, 0.7, (3, 8)), np.full((1, 8), 0.6), np.full((1, 8), 0.3)])
    keys = Keys(np.arange(8) * 10.0, generator.normal(size=8), *parameters)
    spline = tcb.VectorSpline(keys)
    (fit,) = fit_handles([Request(spline)])
    for key in range(7):
        begin, end = (0.0, keys.values[key, 0]), (1.0, keys.values[key + 1, 0])
        exact = spline(10.0 * (key + PLACES))[:, 0]

        def off(x, begin=begin, end=end, exact=exact):
            return played(begin, x[:2], x[2:], end, PLACES) - exact

        starts = [(0.33, begin[1], 0.67, end[1]), (0.6, begin[1], 0.4, end[1]), (0.5, end[1], 0.5, begin[1])]
        bounds = ([0.0, -np.inf, 0.1, -np.inf], [0.9, np.inf, 1.0, np.inf])
        least = min(np.abs(off(least_squares(off, start, bounds=bounds).x)).max() for start in starts)
        assert fit.errors[key, 0] <= 1.5 * least


@pytest.mark.slow
def test_only_the_segments_asked_for_are_fitted_and_with_the_same_bits():
    generator = np.random.default_rng(8)
    splines = [turning(generator, 60, eased) for eased in (0.0, 0.5) for _ in range(4)]
    every = fit_handles(requests_of(splines))
    for spline, whole in zip(splines, every, strict=True):
        for key in range(5):
            chosen = np.arange(6) == key
            # The keys already have these signs, so no sign changes again.
            numbers = spline.keys.values * whole.signs[:, np.newaxis]
            (alone,) = fit_handles([Request(spline, "QUATERNION", numbers, chosen)])
            assert (alone.right[key] == whole.right[key]).all()
            assert (alone.left[key + 1] == whole.left[key + 1]).all()
            assert alone.errors[key] == pytest.approx(whole.errors[key], rel=1e-6)
            assert np.isnan(alone.right[~chosen]).all()
            assert np.isnan(alone.left[np.arange(6) != key + 1]).all()
            assert (alone.signs == 1.0).all()
            assert (alone.errors[~chosen] == 0.0).all()


@pytest.mark.slow
def test_more_segments_than_are_sampled_at_a_time_are_fitted_alike():
    splines = [turning(np.random.default_rng(seed), 40, 0.0) for seed in range(430)]
    every = fit_handles(requests_of(splines))
    for index in (0, 409, 410, 429):
        (alone,) = fit_handles(requests_of(splines[index : index + 1]))
        assert np.array_equal(alone.right, every[index].right, equal_nan=True)
        assert np.array_equal(alone.left, every[index].left, equal_nan=True)
        assert (alone.signs == every[index].signs).all()


def test_keys_of_the_other_sign_change_it_and_nothing_else_changes():
    spline = turning(np.random.default_rng(9), 60)
    (plain,) = fit_handles([Request(spline, "QUATERNION", rotations.unroll_signs(spline.keys.values))])
    assert (plain.signs == 1.0).all()
    signs = np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0])
    numbers = rotations.unroll_signs(spline.keys.values) * signs[:, np.newaxis]
    (fit,) = fit_handles([Request(spline, "QUATERNION", numbers)])
    assert (fit.signs == signs).all()
    assert fit.right[:-1] == pytest.approx(plain.right[:-1])
    assert fit.left[1:] == pytest.approx(plain.left[1:])


def test_neighbours_across_a_segment_that_is_not_fitted_change_sign_together():
    spline = turning(np.random.default_rng(9), 60)
    numbers = rotations.unroll_signs(spline.keys.values) * np.array([1, -1, -1, -1, 1, 1])[:, np.newaxis]
    (fit,) = fit_handles([Request(spline, "QUATERNION", numbers, np.array([1, 0, 1, 1, 0, 0], dtype=bool))])
    assert fit.signs.tolist() == [1, -1, -1, -1, 1, 1]


def test_own_keys_of_other_lengths_stay_and_are_made_up_for():
    spline = turning(np.random.default_rng(10), 60)
    numbers = rotations.unroll_signs(spline.keys.values) * np.array([1.0, 1.2, 0.9, 1.0, 2.0, 1.0])[:, np.newaxis]
    (fit,) = fit_handles([Request(spline, "QUATERNION", numbers)])
    for key in range(5):
        off = angles_off(spline, fit, key, numbers).max()
        assert off <= np.radians(0.25)
        assert fit.errors[key, 0] == pytest.approx(off, rel=0.05)


@pytest.mark.parametrize("eased", [0.0, 1.0])
@pytest.mark.parametrize("held", ["XYZ", "ZYX", "AXIS_ANGLE"])
def test_angles_are_as_near_as_is_said(held, eased):
    generator = np.random.default_rng(11)
    spline = turning(generator, 30, eased)
    frames = spline.keys.frames
    dense = np.sort(np.concatenate([np.linspace(frames[0], frames[-1], 2000), frames]))
    if held == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(spline(dense), *rotations.to_axis_angle(spline(dense[0])))
        numbers = np.column_stack([angles, axes])
    else:
        numbers = rotations.follow_euler(spline(dense), held)
    numbers = numbers[np.searchsorted(dense, frames)]
    (fit,) = fit_handles([Request(spline, held, numbers)])
    for key in range(5):
        q = rotation_representation(held).orientation(segment_played(frames, numbers, fit, key).T).T
        exact = spline(frames[key] + PLACES * (frames[key + 1] - frames[key]))
        off = rotations.angle_between(rotations.normalise(q), exact).max()
        assert fit.errors[key, 0] == pytest.approx(off, rel=0.05, abs=1e-6)
        assert off < np.radians(2.0)
    assert (fit.signs == 1.0).all()


@pytest.mark.parametrize("name", ["LAGRANGE", "LOGARITHMIC"])
@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_errors_of_values_that_are_not_cubic_are_measured_between_the_fitted_points(name, size):
    generator = np.random.default_rng(1)
    share = np.linspace(0.0, 1.0, 501)[1:-1]
    for _ in range(4):
        frames = np.cumsum(generator.integers(3, 25, 6)).astype(float)
        values = (size * generator.uniform(0.5, 2.0, (6, 1))).astype(np.float32).astype(float)
        spline = METHODS[name].values(Keys(frames, values))
        (fit,) = fit_handles([Request(spline)])
        for key in range(5):
            exact = spline(frames[key] + share * (frames[key + 1] - frames[key]))
            off = np.abs(segment_played(frames, values, fit, key, share) - exact)
            assert fit.errors[key, 0] == pytest.approx(off.max(), rel=0.05, abs=1e-6 * size)
            place = (fit.frames[key, 0] - frames[key]) / (frames[key + 1] - frames[key])
            assert off[np.abs(share - place).argmin()] >= 0.95 * off.max() - 1e-6 * size


@pytest.mark.slow
def test_large_errors_of_angles_are_measured_between_the_fitted_points():
    generator = np.random.default_rng(14)
    checked = 0
    for _ in range(12):
        spline = turning(generator, 90)
        frames = spline.keys.frames
        dense = np.sort(np.concatenate([np.linspace(frames[0], frames[-1], 4000), frames]))
        numbers = rotations.follow_euler(spline(dense), "XYZ")[np.searchsorted(dense, frames)]
        (fit,) = fit_handles([Request(spline, "XYZ", numbers)])
        for key in np.flatnonzero((fit.errors[:, 0] > np.radians(0.2)) & (fit.errors[:, 0] < np.radians(1.0))):
            q = rotation_representation("XYZ").orientation(segment_played(frames, numbers, fit, key).T).T
            exact = spline(frames[key] + PLACES * (frames[key + 1] - frames[key]))
            largest = rotations.angle_between(rotations.normalise(q), exact).max()
            assert fit.errors[key, 0] == pytest.approx(largest, rel=0.05)
            checked += 1
    assert checked > 15


def test_angles_that_arrive_a_turn_away_from_their_key_are_told():
    spline = tcb.RotationSpline(Keys([0, 10, 20], rotations.from_euler([[0, 0, 0], [0, 0, 1.0], [0, 0, 1.5]])))
    numbers = np.array([[0, 0, 0], [0, 0, 1.0 + 2.0 * np.pi], [0, 0, 1.5 + 2.0 * np.pi]])
    (fit,) = fit_handles([Request(spline, "XYZ", numbers)])
    assert fit.errors[0, 0] > 2.0
    assert fit.errors[1, 0] < 1e-5
    assert fit.jumps.tolist() == [False, True, False]


def test_whole_turns_go_on_in_angles():
    angles = np.cumsum([0.0, 2.5 * np.pi, 5.5 * np.pi, 0.5])
    spline = tcb.RotationSpline.from_turns([0, 10, 20, 30], np.diff(angles, prepend=0.0), [[0.0, 0.0, 1.0]] * 4)
    numbers = np.stack([0.0 * angles, 0.0 * angles, angles], axis=1)
    (fit,) = fit_handles([Request(spline, "XYZ", numbers)])
    assert fit.errors.max() < 1e-4


@pytest.mark.parametrize("name", sorted(METHODS))
def test_handles_of_every_method_are_finite_and_within_their_segments(name):
    generator = np.random.default_rng(12)
    frames = np.cumsum(generator.uniform(2.0, 20.0, 7))
    values, q = generator.uniform(0.5, 1.5, (7, 2)), rotations.normalise(generator.normal(size=(7, 4)))
    method = METHODS[name]
    requests = [] if method.values is None else [Request(method.values(Keys(frames, values, ease_to=0.3)))]
    if method.rotations is not None:
        spline = method.rotations(Keys(frames, q, ease_from=0.4))
        requests += [Request(spline, "QUATERNION"), Request(spline, "XYZ", rotations.follow_euler(q))]
    for fit in fit_handles(requests):
        assert np.isfinite(fit.errors).all()
        for handle, start, end in ((fit.right[:-1], frames[:-1], frames[1:]), (fit.left[1:], frames[:-1], frames[1:])):
            assert np.isfinite(handle).all()
            assert (handle[..., 0] >= start[:, np.newaxis].astype(np.float32)).all()
            assert (handle[..., 0] <= end[:, np.newaxis].astype(np.float32)).all()


def test_a_track_at_rest_and_tracks_without_segments_need_no_care():
    rest = tcb.RotationSpline(Keys([0, 5, 9], [[0.5, 0.5, 0.5, 0.5]] * 3, ease_to=0.4))
    single = tcb.RotationSpline(Keys([3.0], [[1.0, 0.0, 0.0, 0.0]]))
    still = tcb.VectorSpline(Keys([0, 5, 9], [2.0, 2.0, 2.0], ease_to=0.4))
    for fit, value in zip(fit_handles([Request(rest, "QUATERNION"), Request(still)]), (0.5, 2.0), strict=True):
        assert fit.right[:-1, :, 1] == pytest.approx(value)
        assert fit.errors.max() < 1e-6
    (fit,) = fit_handles([Request(single, "QUATERNION")])
    assert np.isnan(fit.left).all()
    assert fit_handles([]) == []


def test_numbers_of_another_shape_and_unknown_channels_are_errors():
    spline = turning(np.random.default_rng(13), 30)
    with pytest.raises(ValueError, match="must have the shape"):
        fit_handles([Request(spline, "XYZ", np.zeros((2, 3)))])
    for name in ("XYZ", "AXIS_ANGLE"):
        with pytest.raises(ValueError, match=f"{name} needs channel values at the keys"):
            fit_handles([Request(spline, name)])
    with pytest.raises(ValueError, match="not 'MATRIX'"):
        fit_handles([Request(spline, "MATRIX")])


def test_numbers_that_have_no_handles_are_errors_that_name_the_first():
    spline = turning(np.random.default_rng(13), 30)
    q = spline.keys.values.copy()
    q[2] = 0.0
    other = tcb.RotationSpline(Keys([0, 5], [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]))
    with pytest.raises(ValueError, match="quaternions of length 0, as at index 2"):
        fit_handles([Request(other, "QUATERNION"), Request(spline, "QUATERNION", q)])
    far = tcb.VectorSpline(Keys([0, 5, 9], [[0.0, 1.0], [2.0, -4e37], [0.0, 0.0]]))
    with pytest.raises(ValueError, match=r"at most 1e\+37 in magnitude, but the number at index \(1, 1\) is -4e\+37"):
        fit_handles([Request(far)])


def test_lengths_that_differ_by_much_leave_other_tracks_their_handles():
    generator = np.random.default_rng(5)
    (wanted,) = fit_handles([Request(turning(generator, 30), "QUATERNION")])
    spline = turning(np.random.default_rng(5), 30)
    requests = []
    for seed in range(60):
        other = turning(np.random.default_rng(seed), 90)
        lengths = np.random.default_rng(seed).choice([1.0, -1.0, -3.0, 1e-3, 1e-5], len(other.keys))
        requests.append(Request(other, "QUATERNION", other.keys.values * lengths[:, np.newaxis]))
    fits = fit_handles([*requests, Request(spline, "QUATERNION")])
    assert np.array_equal(fits[-1].left, wanted.left, equal_nan=True)
    assert all(np.isfinite(fit.right[:-1]).all() for fit in fits)
