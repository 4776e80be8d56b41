# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the reduction of dense samples to few keys within a tolerance."""

from __future__ import annotations

from collections import deque
from itertools import combinations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.signal import butter, sosfiltfilt
from scipy.spatial.transform import Rotation, RotationSpline

from interp import Keys, rotations
from interp.fitting.reduction import (
    Joint,
    Method,
    Reduced,
    SampledTracks,
    Skeleton,
    divided,
    low_pass,
    reduce_skeleton,
    reduce_tracks,
    stand_still,
)
from interp.fitting.reduction.fewest_keys import within
from interp.fitting.reduction.tension_and_bias import chord_products, weights_in_triangle
from interp.fitting.reduction.window_fits import refit
from interp.fitting.reduction.windows import KeySet, Samples
from interp.splines import hermite
from tests.interp.dense_motion import smooth_paths


def played(keys: Reduced, part: int, count: int) -> np.ndarray:
    """Return the values of scipy's cubics at each frame."""
    return CubicHermiteSpline(keys.rows, keys.values[part], keys.velocities(part))(np.arange(count))


def noise(count: int, tracks: int, components: int, seed: int) -> np.ndarray:
    """Return smooth paths with the noise of motion capture markers."""
    return smooth_paths(count, tracks, components, seed, 2e-3)


@pytest.mark.slow
def test_no_frame_is_farther_from_its_sample_than_allowed() -> None:
    samples = noise(400, 6, 3, 1)
    tolerance = np.array([0.01, 0.01, 0.02, 0.02, 0.05, 0.05])
    found = reduce_tracks([SampledTracks(samples, tolerance)])
    for keys, wanted, most in zip(found, samples, tolerance, strict=True):
        off = np.linalg.norm(played(keys, 0, 400) - wanted, axis=1).max()
        assert off <= most * (1.0 + 1e-9)
        assert off == pytest.approx(keys.error * most, rel=1e-9)
        assert len(keys.rows) < 200


def test_samples_without_any_tolerance_to_speak_of_keep_a_key_each() -> None:
    samples = np.random.default_rng(3).normal(size=(2, 60, 1))
    for keys, wanted in zip(reduce_tracks([SampledTracks(samples, np.full(2, 1e-9))]), samples, strict=True):
        assert keys.error <= 1.0
        assert np.abs(played(keys, 0, 60) - wanted).max() <= 1e-9
        assert len(keys.rows) >= 30


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_short_tracks_have_keys_at_both_ends(count: int) -> None:
    samples = np.linspace(2.0, 3.0, count)[np.newaxis, :, np.newaxis]
    (keys,) = reduce_tracks([SampledTracks(samples, np.array([1e-6]))])
    assert keys.rows.tolist() == ([0] if count == 1 else [0, count - 1])
    assert keys.values[0][:, 0] == pytest.approx([2.0, 3.0][-len(keys.rows) :] if count > 1 else [2.0])


def test_a_rotation_of_one_frame_keeps_its_key_below_any_rounding() -> None:
    (keys,) = reduce_tracks([SampledTracks.of_rotations(np.array([[[0.1, 0.2, 0.3, 0.4]]]), np.array([1e-16]))])
    assert keys.rows.tolist() == [0]


def test_a_line_and_a_cubic_need_two_keys() -> None:
    frames = np.arange(120.0)
    samples = np.stack([3.0 - 0.25 * frames, 1e-4 * (frames - 30.0) ** 3 - frames])[:, :, np.newaxis]
    for keys, velocity in zip(
        reduce_tracks([SampledTracks(samples, np.full(2, 1e-3))]),
        ([-0.25] * 2, [3e-4 * 900 - 1, 3e-4 * 89**2 - 1]),
        strict=True,
    ):
        assert keys.rows.tolist() == [0, 119]
        assert keys.velocities(0)[:, 0] == pytest.approx(velocity, abs=1e-3)


def least(samples: np.ndarray, tolerance: float) -> int:
    """Return the minimum number of keys with which a least-squares fit is within the tolerance."""
    count = len(samples)
    # A sample shared by two segments has half its weight in each. A sample at an end has half its weight.
    weights = np.ones(count)
    weights[[0, -1]] = np.sqrt(0.5)
    for inner in range(count - 1):
        for chosen in combinations(range(1, count - 1), inner):
            rows = np.array([0, *chosen, count - 1])
            basis = CubicHermiteSpline(
                rows,
                np.hstack([np.eye(len(rows)), np.zeros((len(rows), len(rows)))]),
                np.hstack([np.zeros((len(rows), len(rows))), np.eye(len(rows))]),
            )(np.arange(count))
            unknown = np.linalg.lstsq(basis * weights[:, np.newaxis], samples * weights, rcond=None)[0]
            if np.abs(basis @ unknown - samples).max() <= tolerance:
                return len(rows)
    raise AssertionError("all samples were keyed")


def test_few_more_keys_than_the_fewest_of_all_choices() -> None:
    samples = noise(18, 24, 1, 5)
    wanted = [least(own[:, 0], 0.004) for own in samples]
    found = [len(keys.rows) for keys in reduce_tracks([SampledTracks(samples, np.full(24, 0.004))])]
    assert sum(found) <= 1.1 * sum(wanted)
    assert max(np.subtract(found, wanted)) <= 1


def turning(count: int, tracks: int, seed: int) -> np.ndarray:
    """Return quaternions (w, x, y, z) of smooth rotations with random signs, shape (tracks, frames, 4)."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(tracks):
        at = np.arange(0, count + 20, 20)
        spline = RotationSpline(at, Rotation.from_rotvec(np.cumsum(0.4 * random.normal(size=(len(at), 3)), axis=0)))
        found.append(spline(np.arange(count)).as_quat()[:, [3, 0, 1, 2]] * random.choice([-1.0, 1.0], (count, 1)))
    return np.stack(found)


@pytest.mark.slow
def test_rotations_are_within_their_angle_when_they_are_played_as_four_curves() -> None:
    samples = turning(300, 5, 6)
    most = np.radians(0.5)
    for keys, wanted in zip(
        reduce_tracks([SampledTracks.of_rotations(samples, np.full(5, most))]), samples, strict=True
    ):
        rates = 0.5 * rotations.multiply(np.pad(keys.velocities(0), ((0, 0), (1, 0))), keys.values[0])
        curve = CubicHermiteSpline(keys.rows, keys.values[0], rates)(np.arange(300))
        off = Rotation.from_quat(curve[:, [1, 2, 3, 0]]).inv() * Rotation.from_quat(wanted[:, [1, 2, 3, 0]])
        assert off.magnitude().max() <= 1.1 * most
        assert len(keys.rows) < 50


def test_rotations_are_about_as_near_when_hermites_spline_plays_them() -> None:
    samples = turning(300, 5, 7)
    most = np.radians(0.5)
    for keys, wanted in zip(
        reduce_tracks([SampledTracks.of_rotations(samples, np.full(5, most))]), samples, strict=True
    ):
        spline = hermite.RotationSpline(
            Keys(keys.rows.astype(np.float64), keys.values[0]), velocities=keys.velocities(0)
        )
        curve = spline(np.arange(300.0))
        off = Rotation.from_quat(curve[:, [1, 2, 3, 0]]).inv() * Rotation.from_quat(wanted[:, [1, 2, 3, 0]])
        assert off.magnitude().max() <= 1.1 * most


@pytest.mark.slow
def test_parts_have_their_keys_in_common_and_each_its_tolerance() -> None:
    places, turns = noise(300, 2, 3, 8), turning(300, 2, 9)
    parts = [SampledTracks(places, np.full(2, 0.02)), SampledTracks.of_rotations(turns, np.full(2, np.radians(1.0)))]
    together = reduce_tracks(parts)
    for track, keys in enumerate(together):
        assert [len(each) for each in keys.values] == [len(keys.rows)] * 2
        assert keys.values[1].shape[1] == 4
        assert keys.velocities(1).shape[1] == 3
        assert np.linalg.norm(played(keys, 0, 300) - places[track], axis=1).max() <= 0.02
    alone = [reduce_tracks([part]) for part in parts]
    for track in range(2):
        assert len(together[track].rows) >= max(len(found[track].rows) for found in alone)


def test_a_tolerance_of_its_own_for_each_frame() -> None:
    samples = noise(300, 1, 1, 10)
    tolerance = np.full((1, 300), 0.05)
    tolerance[:, 100:200] = 0.005
    (keys,) = reduce_tracks([SampledTracks(samples, tolerance)])
    off = np.abs(played(keys, 0, 300) - samples[0])[:, 0]
    assert (off <= tolerance[0]).all()
    inside = ((keys.rows >= 100) & (keys.rows < 200)).sum()
    assert inside > 1.2 * len(keys.rows) / 3


def test_given_ends_have_their_values_and_velocities() -> None:
    samples = noise(300, 1, 2, 10)
    ends = np.array([[[0.3, -0.2], [np.nan, np.nan]]])
    (keys,) = reduce_tracks([SampledTracks(samples, np.array([0.02]), False, ends)])
    assert (keys.values[0][0] == samples[0, 0]).all()
    assert keys.velocities(0)[0].tolist() == [0.3, -0.2]
    assert (keys.values[0][-1] != samples[0, -1]).any()
    assert np.linalg.norm(played(keys, 0, 300) - samples[0], axis=1).max() <= 0.02
    (free,) = reduce_tracks([SampledTracks(samples, np.array([0.02]))])
    assert len(free.rows) <= len(keys.rows) <= len(free.rows) + 2


@pytest.mark.parametrize("still_frames", [0, 20])
@pytest.mark.parametrize("method", ["HERMITE", "TCB"])
def test_no_point_of_a_chain_of_bones_is_farther_off_than_allowed(method: Method, still_frames: int) -> None:
    count, error = 200, 0.01
    turns, places = turning(count, 3, 11), noise(count, 1, 3, 12)[0]
    turns[1:, :still_frames], turns[1:, count - still_frames :] = turns[1:, :1], turns[1:, -1:]
    places[:still_frames] = places[0]
    shift = np.eye(4)
    shift[1, 3] = 0.5
    still, ones = np.zeros((count, 3)), np.ones((count, 3))
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0]])
    joints = [
        Joint(-1, np.eye(4), places, turns[0], ones, ["location", "rotation"], points),
        Joint(0, shift, still, turns[1], 1.5 * ones, ["rotation"], points),
        Joint(1, shift, still, turns[2], ones, ["rotation"], points),
    ]
    steps = reduce_skeleton(Skeleton(joints, error, method=method))
    try:
        while True:
            next(steps)
    except StopIteration as stop:
        found = stop.value
    frames = np.arange(count)
    at = np.zeros((2, count, 3))
    turned = [Rotation.identity(count)] * 2
    for own, curves in enumerate(("before", "after")):
        for number, joint in enumerate(joints):
            keys = found[number]
            if curves == "before":
                place, q = (places if number == 0 else still), turns[number]
            else:
                rates = 0.5 * rotations.multiply(np.pad(keys.velocities(-1), ((0, 0), (1, 0))), keys.values[-1])
                q = CubicHermiteSpline(keys.rows, keys.values[-1], rates)(frames)
                place = (
                    CubicHermiteSpline(keys.rows, keys.values[0], keys.velocities(0))(frames) if number == 0 else still
                )
            scale = 1.5 if number > 1 else 1.0
            at[own] += turned[own].apply(scale * (joint.offset[:3, 3] + place))
            turned[own] *= Rotation.from_quat(q[:, [1, 2, 3, 0]])
        at[own] += turned[own].apply([0.0, 0.75, 0.0])
    assert np.linalg.norm(at[1] - at[0], axis=1).max() <= 1.05 * error
    assert sum(len(keys.rows) for keys in found.values()) < 0.3 * 3 * count


@pytest.mark.slow
def test_holds_stay_as_they_are() -> None:
    samples = noise(300, 2, 3, 13)
    samples[0, 100:150] = samples[0, 100]
    samples[1, :60], samples[1, 280:] = samples[1, 0], samples[1, 280]
    found = reduce_tracks([SampledTracks(samples, np.full(2, 0.05))])
    for keys, wanted, holds in zip(found, samples, ([(100, 149)], [(0, 59), (280, 299)]), strict=True):
        curve = played(keys, 0, 300)
        assert np.linalg.norm(curve - wanted, axis=1).max() <= 0.05
        for first, last in holds:
            assert np.array_equal(curve[first : last + 1], wanted[first : last + 1])


def test_motionless_rotations_rounded_to_four_decimals_of_a_degree_need_no_keys_between_the_ends() -> None:
    random = np.random.default_rng(22)
    angles = [20.0, -5.0, 3.0] + 1e-4 * (random.random((240, 3)) < 0.02)
    turns = Rotation.from_euler("xyz", angles, degrees=True).as_quat()[:, [3, 0, 1, 2]]
    (keys,) = reduce_tracks([SampledTracks.of_rotations(turns[np.newaxis], np.radians([1.0]))])
    assert keys.rows.tolist() == [0, 239]


def test_points_stand_still_where_they_keep_within_a_ball() -> None:
    frames = np.arange(60.0)
    moving = np.stack([np.clip(frames - 30.0, 0.0, None), 0.0 * frames, 0.0 * frames], axis=1)
    circling = 0.9e-3 * np.stack([np.cos(frames), np.sin(frames), 0.0 * frames], axis=1)
    found = stand_still(np.stack([moving, circling, 2.0 * circling, moving[:, [1, 0, 2]]]), 1e-3)
    assert found[0, :31].all()
    assert not found[0, 31:].any()
    assert found[1].all()
    assert not found[2].any()
    assert np.array_equal(found[3], found[0])
    assert not stand_still(moving[np.newaxis, :7], 1.0).any()


@pytest.mark.parametrize("period", [3.0, 8.0, 20.0])
def test_noise_is_taken_away_as_by_butterworths_filter(period: float) -> None:
    samples = np.cumsum(np.random.default_rng(14).normal(size=(600, 2)), axis=0)
    wanted = sosfiltfilt(butter(4, 2.0 / period, output="sos"), samples, axis=0)
    found = low_pass(samples, period)
    # The two filters extend the samples differently beyond the ends.
    inner = slice(150, -150)
    assert np.abs(found - wanted)[inner].max() <= 1e-9 * np.ptp(samples)
    assert np.array_equal(found[[0, -1]], samples[[0, -1]])


def test_a_line_has_no_noise_and_short_tracks_stay() -> None:
    line = np.outer(np.arange(50.0), [1.0, -2.0]) + 3.0
    assert low_pass(line, 10.0) == pytest.approx(line, abs=1e-12)
    assert np.array_equal(low_pass(line[:2], 10.0), line[:2])
    with pytest.raises(ValueError, match="more than 2"):
        low_pass(line, 2.0)


def test_what_no_keys_can_mend_ends_with_a_key_on_every_frame() -> None:
    values = noise(20, 1, 2, 15)
    samples = Samples(values, lambda _track, row, _values: np.full(len(row), 2.0), [(slice(0, 2), False)])
    ends = KeySet(np.zeros(2, dtype=np.intp), np.array([0, 19]), values[0, [0, 19]], np.zeros((2, 2)))
    keys = within(samples, ends)
    assert keys.rows.tolist() == list(range(20))
    assert np.array_equal(keys.values, values[0])


def test_keys_that_are_divided_come_nearer_to_samples() -> None:
    places, turns = noise(200, 1, 3, 16), turning(200, 1, 17)
    parts = [SampledTracks(places, np.full(1, 0.05)), SampledTracks.of_rotations(turns, np.full(1, np.radians(2.0)))]
    (keys,) = reduce_tracks(parts)
    lengths = np.diff(keys.rows)
    cut = keys.rows[:-1][lengths > 1][:2] + lengths[lengths > 1][:2] // 2
    more = divided(keys, cut, parts)
    assert more.rows.tolist() == sorted([*keys.rows.tolist(), *cut.tolist()])
    span = slice(int(keys.rows[0]), int(keys.rows[6]))
    off = [np.square(played(each, 0, 200) - places[0])[span].sum() for each in (keys, more)]
    assert off[1] < off[0]
    turned = []
    for each in (keys, more):
        curve = hermite.RotationSpline(
            Keys(each.rows.astype(np.float64), each.values[1]), velocities=each.velocities(1)
        )
        apart = Rotation.from_quat(curve(np.arange(200.0))[:, [1, 2, 3, 0]]).inv() * Rotation.from_quat(
            turns[0][:, [1, 2, 3, 0]]
        )
        turned.append(np.square(apart.magnitude())[span].sum())
    assert turned[1] < turned[0]
    # Keys next to refitted keys are unchanged.
    far = keys.rows > cut.max() + 60
    assert np.array_equal(more.values[0][np.isin(more.rows, keys.rows[far])], keys.values[0][far])


def test_keys_of_smooth_tracks_are_no_more_than_at_equal_distances() -> None:
    frames = np.arange(200.0)
    path = np.stack([2.0 * np.sin(frames / 17.0 + i) + 0.5 * np.sin(frames / 5.3 + 2.0 * i) for i in range(3)], axis=1)
    for error, equal in ((0.01, 18), (0.02, 15), (0.04, 13)):
        (keys,) = reduce_tracks([SampledTracks(path[np.newaxis], np.full(1, error))])
        assert np.linalg.norm(played(keys, 0, 200) - path, axis=1).max() <= error * (1.0 + 1e-9)
        assert len(keys.rows) <= equal


@pytest.mark.parametrize("method", ["HERMITE", "TCB"])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_samples_of_any_size_are_within_the_tolerance(method: Method, size: float) -> None:
    samples = size * noise(200, 2, 3, 18)
    for keys, wanted in zip(
        reduce_tracks([SampledTracks(samples, np.full(2, 0.02 * size))], method), samples, strict=True
    ):
        off = np.linalg.norm(keys.spline(0)(np.arange(200.0)) - wanted, axis=1).max()
        assert off <= 0.021 * size
        assert len(keys.rows) < 100


@pytest.mark.parametrize("method", ["HERMITE", "TCB"])
def test_idle_components_with_noise_of_a_float_step_do_not_matter(method: Method) -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        idle = random.choice([0.0, 2.98e-8, 5.96e-8, -5.96e-8, 1.19e-7], 15)
        angle = np.maximum(0.0, random.uniform(0.05, 0.1) - random.uniform(0.004, 0.012) * np.arange(15))
        turns = np.stack([np.cos(angle / 2), np.zeros(15), np.sin(angle / 2), idle], 1).astype(np.float32)
        (keys,) = reduce_tracks([SampledTracks.of_rotations(turns[np.newaxis], np.radians([0.5]))], method)
        played = keys.spline(0)(np.arange(15.0))
        assert np.isfinite(played).all()
        wanted = Rotation.from_quat(turns[:, [1, 2, 3, 0]])
        off = Rotation.from_quat(played[:, [1, 2, 3, 0]]).inv() * wanted
        assert off.magnitude().max() <= np.radians(0.51)


def test_tension_and_bias_play_what_was_fitted() -> None:
    samples = noise(300, 3, 3, 19)
    for keys, wanted in zip(reduce_tracks([SampledTracks(samples, np.full(3, 0.02))], "TCB"), samples, strict=True):
        tension, continuity, bias, *eases = keys.parameters(0)
        assert np.abs([tension, bias]).max() <= 1.0
        assert not np.any([continuity, *eases])
        off = np.linalg.norm(keys.spline(0)(np.arange(300.0)) - wanted, axis=1).max()
        assert off == pytest.approx(0.02 * keys.error, rel=1e-3)
        assert off <= 0.02 * (1.0 + 1e-6)


def test_keys_added_to_rotations_with_tension_have_the_values_of_samples() -> None:
    angle = np.sin(np.arange(101) / 20.0)
    turns = Rotation.from_rotvec(angle[:, np.newaxis] * [0.0, 0.6, 0.8])
    part = SampledTracks.of_rotations(turns.as_quat()[np.newaxis][..., [3, 0, 1, 2]], np.radians([0.5]))
    (keys,) = reduce_tracks([part], "TCB")
    off = Rotation.from_quat(keys.spline(0)(np.arange(101.0))[:, [1, 2, 3, 0]]).inv() * turns
    assert np.degrees(off.magnitude()).max() <= 0.55
    assert np.degrees(off.magnitude()).max() == pytest.approx(0.5 * keys.error, rel=1e-6)
    assert len(keys.rows) < 10


def test_the_outer_segments_of_tcb_splines_are_within_the_error_too() -> None:
    for seed in range(12):
        random = np.random.default_rng(seed)
        frames = np.arange(float(random.integers(40, 200)))
        samples = np.sin(frames[:, np.newaxis] / random.uniform(5.0, 15.0, 3) + random.uniform(0.0, 6.0, 3))
        (keys,) = reduce_tracks([SampledTracks(samples[np.newaxis], np.array([0.01]))], "TCB")
        assert np.linalg.norm(keys.spline(0)(frames) - samples, axis=1).max() <= 0.01 * (1.0 + 1e-6)


WAVES = np.random.default_rng(8).uniform((15.0, 0.0, 15.0, 0.0), (60.0, 6.0, 60.0, 6.0), (40, 4))


def test_tension_and_bias_reach_the_velocities_of_smooth_curves() -> None:
    """At the ends, the velocity may be out of reach, so the tolerance may be exceeded by a quarter."""
    frames = np.arange(400.0)
    samples = np.stack([np.sin(frames / a + b) + np.sin(frames / c + d) for a, b, c, d in WAVES])[..., np.newaxis]
    reduced = reduce_tracks([SampledTracks(samples, np.full(len(samples), 0.1))], "TCB")
    for keys, wanted in zip(reduced, samples, strict=True):
        assert np.abs(keys.spline(0)(frames) - wanted).max() <= 0.125


def test_bones_that_need_as_many_keys_as_they_have_keep_what_they_play() -> None:
    turns = turning(200, 2, 20)
    still, ones, points = np.zeros((200, 3)), np.ones((200, 3)), np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0]])
    joints = [
        Joint(-1, np.eye(4), still, turns[0], ones, ["rotation"], points),
        Joint(0, np.eye(4), still, turns[1], ones, ["rotation"], points),
    ]
    skeleton = Skeleton(joints, 0.005)
    steps = reduce_skeleton(skeleton, {0: 200, 1: 5})
    try:
        while True:
            next(steps)
    except StopIteration as stop:
        found = stop.value
    assert [*found] == [0]
    assert np.array_equal(joints[1].channels["rotation"], joints[1].rotation)
    assert skeleton.errors().max() <= 1.0


def test_a_head_at_the_tail_of_its_parent_keeps_to_its_own_limit() -> None:
    count = 120
    turns, still, ones = turning(count, 2, 22), np.zeros((count, 3)), np.ones((count, 3))
    shift = np.eye(4)
    shift[1, 3] = 0.5
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0]])
    joints = [
        Joint(-1, np.eye(4), still, turns[0], ones, ["rotation"], points),
        Joint(0, shift, still, turns[1], ones, ["rotation"], points),
    ]
    shares = np.repeat([[1.0], [1.0], [0.25], [1.0]], count, axis=1)
    skeleton = Skeleton(joints, 0.01, shares=shares)
    deque(reduce_skeleton(skeleton), maxlen=0)
    assert skeleton.errors().max() <= 1.0


def test_joints_that_share_keys_are_each_measured_with_their_own_samples() -> None:
    count = 60
    turns, still, ones = turning(count, 3, 21), np.zeros((count, 3)), np.ones((count, 3))
    shift = np.eye(4)
    shift[1, 3] = 0.5
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0]])
    joints = [
        Joint(number - 1, shift if number else np.eye(4), still, turns[number], ones, ["rotation"], points)
        for number in range(3)
    ]
    samples = Skeleton(joints, 0.005, together=[range(3)]).samples([0])
    (values,), track, rows = samples.values, np.zeros(count, dtype=np.intp), np.arange(count)
    assert samples.measure(track, rows, values).max() <= 1e-3
    swapped = values[:, [4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11]]
    assert samples.measure(track, rows, swapped).max() > 1.0


@pytest.mark.parametrize("case", ["random", "parallel", "one chord", "no chord"])
def test_weights_of_chords_are_the_closest_in_the_triangle(case: str) -> None:
    chords = np.random.default_rng(5).normal(size=(2, 1, 3, 20))
    wanted = 3.0 * np.random.default_rng(6).normal(size=(1, 3, 20))
    if case == "parallel":
        chords[1] = 0.5 * chords[0]
    elif case == "one chord":
        chords[0] = 0.0
    elif case == "no chord":
        chords[:] = 0.0
    x, y = (weights[0] for weights in weights_in_triangle(*chord_products(chords, wanted)))
    assert (x >= 0.0).all()
    assert (y >= 0.0).all()
    assert (x + y <= 4.0 + 1e-9).all()
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 4.0, 201)] * 2)).reshape(2, -1, 1)
    grid = grid[:, grid.sum(axis=0)[:, 0] <= 4.0]

    def cost(weights: np.ndarray) -> np.ndarray:
        deviations = weights[0, :, np.newaxis] * chords[0] + weights[1, :, np.newaxis] * chords[1] - wanted
        costs: np.ndarray = (deviations**2).sum(axis=1)
        return costs

    assert (cost(np.stack([x, y])[:, np.newaxis])[0] <= cost(grid).min(axis=0) + 1e-9).all()


def test_windows_have_least_squares_values_and_velocities() -> None:
    path = noise(41, 1, 3, 8)
    rows = np.array([[0, 7, 18, 30, 40]])
    start = KeySet(np.zeros(1, dtype=np.intp), rows, path[0, rows], np.zeros((1, 5, 3)))
    samples = Samples(path, lambda track, row, values: np.linalg.norm(values - path[track, row], axis=1), [])
    free = np.array([[False, True, True, True, False]])
    fitted, errors = refit(samples, start, free)

    def basis(row: int, order: int) -> np.ndarray:
        values, slopes = np.zeros((2, 5))
        (values if order == 0 else slopes)[row] = 1.0
        return CubicHermiteSpline(rows[0], values, slopes)(np.arange(41))

    columns = np.stack([basis(row, order) for row in (1, 2, 3) for order in (0, 1)], axis=1)
    fixed = np.stack([basis(0, 0), basis(4, 0)], axis=1) @ path[0, [0, 40]]
    unknowns = np.linalg.lstsq(columns, path[0] - fixed, rcond=None)[0]
    np.testing.assert_allclose(fitted.values[0, 1:-1], unknowns[::2], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(fitted.velocities[0, 1:-1], unknowns[1::2], rtol=1e-5, atol=1e-7)
    deviations = np.linalg.norm(columns @ unknowns + fixed - path[0], axis=1)
    assert errors[0] == pytest.approx(deviations.max(), rel=1e-5)
