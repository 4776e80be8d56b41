# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that cubic pieces follow splines within the tolerance, and that their number is close to the minimum.

Here scipy's CubicHermiteSpline evaluates the pieces. In tests/animation/test_fitting_in_blender.py, Blender does.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from interp import Keys, rotations
from interp.fitting import Request
from interp.fitting.curves import ROTATION_TOLERANCE, fit_many, handles
from interp.splines import hermite, tcb
from tests.interp.fitted_pieces import largest_difference, numbers_of, segments

HELD = ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


def random_rotation(generator, step, keys=8, eased=False, largest=0.6, **options):
    frames = np.cumsum(generator.integers(10, 40, keys)).astype(float)
    values = [rotations.from_rotation_vector([2.0, 1.0, -0.5])]
    for turn in generator.normal(size=(keys - 1, 3)) * step:
        values.append(rotations.multiply(rotations.from_rotation_vector(turn), values[-1]))
    parameters = generator.uniform(-largest, largest, (3, keys))
    eases = generator.uniform(0.0, 1.0, (2, keys)) * eased
    return tcb.RotationSpline(Keys(frames, values, *parameters, *eases), **options)


def fewest(frames, values, derivatives, exact, tolerance, rotation):
    """Return the minimum number of pieces with ends among `frames` by dynamic programming, or None."""
    start, end = np.triu_indices(len(frames), 1)
    t = np.linspace(0.0, 1.0, 17)[1:-1, np.newaxis]
    s, length = 1.0 - t, frames[end] - frames[start]
    weights = [s * s * (1 + 2 * t), t * t * (3 - 2 * t), t * s * s * length, -t * t * s * length]
    points = [values[start], values[end], derivatives[start], derivatives[end]]
    played = sum(weight[..., np.newaxis] * point for weight, point in zip(weights, points, strict=True))
    there = exact((frames[start] + t * length).ravel()).reshape(played.shape)
    if rotation:
        off = rotations.angle_between(rotations.normalise(played), there)
    else:
        off = np.abs(played - there).max(axis=-1)
    joined = np.zeros((len(frames), len(frames)), dtype=bool)
    joined[start, end] = off.max(axis=0) <= tolerance
    reached, count = np.arange(len(frames)) == 0, 0
    while not reached[-1]:
        reached, count = joined[reached].any(axis=0), count + 1
        if count > len(frames):
            return None
    return count


def piece_counts(spline, fit, tolerance, rotation):
    """Return the number of pieces of the segments, and the smallest possible number."""
    ours = best = 0
    frames, eases = spline.keys.frames, spline.keys.parameters[3:]
    for index, (start, end) in enumerate(pairwise(frames)):
        length = end - start
        ease_from, ease_to = np.array([eases[1, index], eases[0, index + 1]]) / max(
            1.0, eases[1, index] + eases[0, index + 1]
        )
        places = [np.linspace(start, end, 49), [start + ease_from * length, end - ease_to * length]]
        candidates = np.unique(np.concatenate(places))
        values = spline(candidates)
        # At the last key, take the derivative just before it, because the next segment has another derivative.
        derivatives = spline(np.append(candidates[:-1], end - 1e-8 * length), 1)
        if rotation:
            derivatives = rotations.multiply(np.pad(derivatives, ((0, 0), (1, 0))), values) / 2.0
        count = fewest(candidates, values, derivatives, spline, tolerance, rotation)
        if count is not None:
            own = (fit.knots[0].frames > start) & (fit.knots[0].frames < end)
            ours += 1 + own.sum()
            best += count
    return ours, best


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-5])
def test_eased_vectors_are_within_the_tolerance_each_channel_by_itself(tolerance):
    generator = np.random.default_rng(2)
    eases = generator.uniform(0.0, 1.0, (2, 12)) * (generator.random((2, 12)) < 0.7)
    values = generator.normal(size=(12, 3)) * (1.0, 0.01, 0.0)
    spline = tcb.VectorSpline(Keys(np.arange(12) * 13.0, values, ease_to=eases[0], ease_from=eases[1]))
    (fit,) = fit_many([Request(spline, tolerance=tolerance)])
    found = largest_difference(spline, values, fit)
    assert fit.reached
    assert (found <= fit.errors[:-1] + 1e-12).all()
    assert len(fit.knots[0].frames) > len(fit.knots[1].frames) > len(fit.knots[2].frames) - 1 == -1


@pytest.mark.slow
@pytest.mark.parametrize("construction", ["DE_CASTELJAU", "SQUAD"])
@pytest.mark.parametrize("eased", [False, True])
def test_rotations_have_hardly_more_pieces_than_the_fewest(construction, eased):
    generator = np.random.default_rng(4)
    splines = [
        random_rotation(generator, step, 5, eased, 1.0 - 0.5 * eased, construction=construction)
        for step in (0.1, 0.3, 0.6, 1.0)
    ]
    fits = fit_many([Request(spline, "QUATERNION", tolerance=ROTATION_TOLERANCE) for spline in splines])
    counts = [piece_counts(spline, fit, ROTATION_TOLERANCE, True) for spline, fit in zip(splines, fits, strict=True)]
    ours, best = np.sum(counts, axis=0)
    assert ours <= 1.1 * best


@pytest.mark.slow
@pytest.mark.parametrize("share", [1e-2, 1e-3, 1e-4])
def test_eased_vectors_have_hardly_more_pieces_than_the_fewest(share):
    generator = np.random.default_rng(5)
    counts = []
    for _ in range(12):
        frames = np.cumsum(generator.integers(5, 40, 5)).astype(float)
        parameters = generator.uniform(-0.7, 0.7, (3, 5))
        eases = generator.uniform(0.0, 1.0, (2, 5)) * (generator.random((2, 5)) < 0.7)
        spline = tcb.VectorSpline(Keys(frames, generator.normal(size=5), *parameters, *eases))
        tolerance = share * np.ptp(spline.keys.values)
        counts.append(piece_counts(spline, fit_many([Request(spline, tolerance=tolerance)])[0], tolerance, False))
    ours, best = np.sum(counts, axis=0)
    assert ours <= 1.1 * best


@pytest.mark.parametrize("turns", [0.9, 1.5, 3.0, 10.0])
def test_a_spin_has_hardly_more_pieces_than_the_fewest(turns):
    angle = 2.0 * np.pi * turns
    spline = tcb.RotationSpline.from_turns([0, 30, 60, 90], [0, angle, angle, angle], [[0, 0, 1]] * 4)
    (fit,) = fit_many([Request(spline, "QUATERNION", tolerance=ROTATION_TOLERANCE)])
    inside = (fit.knots[0].frames > 30.0) & (fit.knots[0].frames < 60.0)
    # With constant speed, pieces of equal length are optimal.
    count = 1
    while True:
        q = rotations.from_rotation_vector(np.linspace(0.0, angle, count + 1)[:, np.newaxis] * (0.0, 0.0, 1.0))
        rates = rotations.multiply([0.0, 0.0, 0.0, angle / 30.0], q) / 2.0
        frames = np.linspace(30.0, 60.0, 60 * count)
        played = rotations.normalise(CubicHermiteSpline(np.linspace(30.0, 60.0, count + 1), q, rates)(frames))
        exact = rotations.from_rotation_vector(((frames - 30.0) / 30.0 * angle)[:, np.newaxis] * (0.0, 0.0, 1.0))
        if rotations.angle_between(played, exact).max() <= ROTATION_TOLERANCE:
            break
        count += 1
    assert inside.sum() + 1 <= 1.2 * count


@pytest.mark.slow
@pytest.mark.parametrize("held", HELD)
def test_derivatives_are_those_of_the_motion(held):
    generator = np.random.default_rng(6)
    spline = random_rotation(generator, 0.4)
    numbers = numbers_of(spline, held)
    (fit,) = fit_many([Request(spline, held, numbers, tolerance=1e-6)])
    h = 1e-3
    own = np.stack([each.values for each in fit.knots], axis=1)
    rates = np.stack([each.derivatives for each in fit.knots], axis=1)
    if held == "QUATERNION":
        length = np.linalg.norm(own, axis=1, keepdims=True)
        own = own / length
        rates = rates / length - own * (own * rates / length).sum(axis=1, keepdims=True)
    for channel, knots in enumerate(fit.knots):
        around = spline(np.add.outer(knots.frames, [-2 * h, -h, 0.0, h, 2 * h]).ravel())
        for row, q in enumerate(around.reshape(-1, 5, 4)):
            if held == "QUATERNION":
                near = q * np.sign(q[2] @ own[row])
            elif held == "AXIS_ANGLE":
                axes, angles = rotations.follow_axis_angle(q, own[row, 1:], own[row, 0])
                near = np.column_stack([angles, axes])
            else:
                near = rotations.follow_euler(q, held, own[row])
            difference = (near[0] - 8 * near[1] + 8 * near[3] - near[4]) / (12 * h)
            assert near[2, channel] == pytest.approx(own[row, channel], abs=1e-9)
            assert difference[channel] == pytest.approx(rates[row, channel], abs=1e-7)


@pytest.mark.parametrize("held", ["AXIS_ANGLE", "XYZ", "ZYX"])
def test_numbers_go_on_from_each_key_s_own_as_dense_samples_do(held):
    spline = random_rotation(np.random.default_rng(8), 1.0)
    numbers = numbers_of(spline, held)
    (fit,) = fit_many([Request(spline, held, numbers, tolerance=ROTATION_TOLERANCE)])
    frames = spline.keys.frames
    for index, channels in enumerate(segments(spline, numbers, fit)):
        dense = np.unique(np.concatenate([channels[0][0], np.linspace(frames[index], frames[index + 1], 4000)]))
        if held == "AXIS_ANGLE":
            axes, angles = rotations.follow_axis_angle(spline(dense), numbers[index, 1:], numbers[index, 0])
            followed = np.column_stack([angles, axes])
        else:
            followed = rotations.follow_euler(spline(dense), held, numbers[index])
        own = np.stack([each[1] for each in channels], axis=1)
        assert own == pytest.approx(followed[np.searchsorted(dense, channels[0][0])], abs=1e-6)


def test_a_key_that_says_the_arriving_numbers_otherwise_is_a_jump():
    spline = tcb.RotationSpline(Keys([0, 10, 20], rotations.from_euler([[0, 0, 0], [0.5, 0, 0], [1, 0, 0]])))
    numbers = np.array([[0, 0, 0], [0.5 + 2 * np.pi, 0, 0], [1 + 2 * np.pi, 0, 0]])
    (fit,) = fit_many([Request(spline, "XYZ", numbers, tolerance=ROTATION_TOLERANCE)])
    assert fit.jumps.tolist() == [False, True, False]
    assert fit.arriving == pytest.approx(np.array([[0, 0, 0], [0.5, 0, 0], [1 + 2 * np.pi, 0, 0]]))


def test_signs_of_quaternions_go_on_from_each_key_s_own():
    q = rotations.from_euler([[0, 0, 0], [0.5, 0, 0], [1, 0, 0]]) * [[1], [-1], [-1]]
    (fit,) = fit_many([Request(tcb.RotationSpline(Keys([0, 10, 20], q)), "QUATERNION", q, tolerance=1e-4)])
    assert fit.jumps.tolist() == [False, True, False]
    assert fit.arriving[1] == pytest.approx(-q[1])
    assert fit.arriving[2] == pytest.approx(q[2])


@pytest.mark.parametrize("order", ["XYZ", "ZXY"])
def test_whole_turns_about_an_euler_axis_need_no_knot(order):
    angles = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 20.0], [0.0, 0.0, -25.0], [0.0, 0.0, 275.0]])
    spline = tcb.RotationSpline.from_turns([0, 20, 50, 80], *rotations.turns_of_euler(angles, order))
    (fit,) = fit_many([Request(spline, order, angles, tolerance=ROTATION_TOLERANCE)])
    assert len(fit.knots[0].frames) == 0
    assert not fit.jumps.any()
    assert largest_difference(spline, angles, fit, order).max() < 1e-9


def test_a_turn_through_gimbal_lock_needs_no_knot():
    angles = np.array([[0.0, 0.0, 0.0], [0.0, 1.2, 0.0], [0.0, 2.0, 0.0], [0.0, 4.0, 0.0]])
    spline = tcb.RotationSpline.from_turns([0, 20, 50, 80], *rotations.turns_of_euler(angles))
    (fit,) = fit_many([Request(spline, "XYZ", angles, tolerance=ROTATION_TOLERANCE)])
    assert len(fit.knots[0].frames) == 0
    assert fit.reached


def test_lengths_of_quaternions_run_from_key_to_key():
    numbers = np.array([[1.0, 0, 0, 0], [5.0, 3.0, 0, 0], [0.1, 0.2, 0.1, 0]])
    spline = tcb.RotationSpline(Keys([0, 20, 50], numbers))
    (fit,) = fit_many([Request(spline, "QUATERNION", numbers, tolerance=ROTATION_TOLERANCE)])
    assert fit.reached
    assert largest_difference(spline, numbers, fit, "QUATERNION").max() <= ROTATION_TOLERANCE
    size = np.linalg.norm(numbers, axis=1)
    lengths = np.linalg.norm([knots.values for knots in fit.knots], axis=0)
    assert lengths == pytest.approx(np.interp(fit.knots[0].frames, spline.keys.frames, size), abs=1e-12)
    change = np.diff(size) / np.diff(spline.keys.frames)
    assert (fit.outgoing * numbers).sum(axis=1)[:-1] == pytest.approx(change * size[:-1], abs=1e-12)
    assert (fit.incoming * fit.arriving).sum(axis=1)[1:] == pytest.approx(change * size[1:], abs=1e-12)


BAD = {
    "antipodal neighbours": (Keys([0, 20, 40], [[1, 0, 0, 0], [-1, 1e-6, 0, 0], [0, 1, 1, 0]]), "AS_KEYED"),
    "ease 1 and 1": (Keys([0, 20, 40], [[1, 0, 0, 0], [0, 1, 2, 0], [0, 1, 1, 1]], ease_to=1, ease_from=1), "SHORTEST"),
    "frames of a million": (Keys([1e6, 1e6 + 20, 1e6 + 40], [[9, 0, 0, 0], [9, 1, 0, 0], [9, 0, 1, 0]]), "SHORTEST"),
} | {
    f"tension {t}, continuity {c}, bias {b}": (
        Keys([0, 20, 40, 41, 70], np.random.default_rng(9).normal(size=(5, 4)), t, c, b),
        "SHORTEST",
    )
    for t in (-1, 1)
    for c in (-1, 1)
    for b in (-1, 1)
}


@pytest.mark.slow
@pytest.mark.parametrize(("keys", "path"), BAD.values(), ids=BAD.keys())
def test_bad_cases_converge(keys, path):
    spline = tcb.RotationSpline(keys, path=path)
    (fit,) = fit_many([Request(spline, "QUATERNION", tolerance=ROTATION_TOLERANCE)])
    assert fit.reached
    assert largest_difference(spline, spline.keys.values, fit, "QUATERNION").max() <= ROTATION_TOLERANCE
    assert len(fit.knots[0].frames) < 20 * len(keys)


def test_what_can_t_be_reached_is_said_with_its_error():
    # Half a turn within 1/20 frame leaves no room for knots.
    spline = tcb.RotationSpline(Keys([0, 0.05, 0.1], [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], ease_to=1))
    (fit,) = fit_many([Request(spline, "QUATERNION", tolerance=ROTATION_TOLERANCE)])
    found = largest_difference(spline, spline.keys.values, fit, "QUATERNION").max()
    assert not fit.reached
    assert found <= fit.error <= 1.5 * found


def test_no_turn_with_another_axis_than_the_motion_s_is_told_with_its_error():
    angles = np.array([0.0, 1.0])
    axes = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    spline = tcb.RotationSpline(Keys([0, 20], rotations.from_axis_angle(axes, angles)))
    (fit,) = fit_many([Request(spline, "AXIS_ANGLE", np.column_stack([angles, axes]), tolerance=1e-5)])
    found = largest_difference(spline, np.column_stack([angles, axes]), fit, "AXIS_ANGLE").max()
    assert found <= fit.error
    assert fit.error < 1e-3
    assert len(fit.knots[0].frames) < 12


def test_a_fast_turn_in_less_than_a_frame_is_divided_as_far_as_frames_allow():
    angles = np.array([[0.0, 0.0, 0.0], [3.0, 9.0, -7.0]])
    keys = Keys([0.0, 0.75], rotations.from_euler(angles, "XYZ"))
    spline = hermite.RotationSpline.from_walk(keys, rotations.walk_euler(angles, "XYZ"))
    (fitted,) = fit_many([Request(spline, "QUATERNION", keys.values, tolerance=np.radians(1e-5))])
    frames = np.concatenate([[0.0], fitted.knots[0].frames, [0.75]])
    assert np.diff(frames).min() >= 0.0125
    assert len(frames) > 40
    assert fitted.error < np.radians(0.001)


def test_a_key_on_every_frame_needs_no_knot():
    turns = np.cumsum(np.random.default_rng(10).normal(size=(400, 3)) * 0.02, axis=0)
    spline = tcb.RotationSpline(Keys(np.arange(400.0), rotations.from_rotation_vector(turns)))
    (fit,) = fit_many([Request(spline, "QUATERNION", tolerance=ROTATION_TOLERANCE)])
    assert len(fit.knots[0].frames) == 0
    assert fit.reached


@pytest.mark.slow
def test_many_at_once_equal_one_by_one_to_the_bit():
    generator = np.random.default_rng(11)
    requests = []
    for index in range(24):
        spline = random_rotation(generator, 0.5, 4 + index % 3, eased=index % 2 == 0)
        held = HELD[index % len(HELD)]
        requests.append(Request(spline, held, numbers_of(spline, held), tolerance=ROTATION_TOLERANCE))
        keys = Keys(np.arange(5) * 9.0, generator.normal(size=(5, 1 + index % 2)), ease_to=0.3, ease_from=0.8)
        requests.append(Request(tcb.VectorSpline(keys), tolerance=1e-4))
    for request, found in zip(requests, fit_many(requests), strict=True):
        (expected,) = fit_many([request])
        assert (found.outgoing == expected.outgoing).all()
        assert (found.incoming == expected.incoming).all()
        assert (found.errors == expected.errors).all()
        for one, other in zip(found.knots, expected.knots, strict=True):
            assert (one.frames == other.frames).all()
            assert (one.values == other.values).all()
            assert (one.derivatives == other.derivatives).all()


def test_only_the_segments_asked_for_are_fitted():
    spline = random_rotation(np.random.default_rng(12), 0.9, 6)
    chosen = np.array([True, False, True, False, False, True])
    (every,) = fit_many([Request(spline, "QUATERNION", tolerance=ROTATION_TOLERANCE)])
    (some,) = fit_many([Request(spline, "QUATERNION", tolerance=ROTATION_TOLERANCE, segments=chosen)])
    frames = spline.keys.frames
    own = chosen[np.searchsorted(frames, every.knots[0].frames) - 1]
    assert (some.knots[0].frames == every.knots[0].frames[own]).all()
    assert some.outgoing.any(axis=1).tolist() == [True, False, True, False, False, False]
    assert some.incoming.any(axis=1).tolist() == [False, True, False, True, False, False]


def test_one_key_alone_needs_nothing():
    (fit,) = fit_many([Request(tcb.VectorSpline(Keys([3], [[1.0, 2.0]])), tolerance=1e-4)])
    assert fit.error == 0.0
    assert not fit.outgoing.any()


def test_knots_stand_at_frames_that_float32_has():
    spline = random_rotation(np.random.default_rng(13), 0.9)
    (fit,) = fit_many([Request(spline, "QUATERNION", tolerance=ROTATION_TOLERANCE)])
    frames = fit.knots[0].frames
    assert (frames.astype(np.float32) == frames).all()


def test_handles_belong_to_their_rounded_frames():
    left, right = handles([100000.0, 100010.0], [0.0, 1.0], [0.3, 0.3], [0.3, 0.3])
    assert float(right[0, 0]) != 100000.0 + 10.0 / 3.0
    assert right[0, 1] == np.float32(0.3 * (float(right[0, 0]) - 100000.0))
    assert left[1, 1] == np.float32(1.0 - 0.3 * (100010.0 - float(left[1, 0])))
