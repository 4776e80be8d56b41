# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves as played by Blender, compared with an independent evaluation at ten samples per frame."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from tests.all_pairs import all_pairs, each_once
from tests.animation import reference
from tests.animation.curves import (
    MODES,
    PARAMETERS,
    co,
    curve,
    differences,
    fcurves,
    key,
    new_object,
    rotation_path,
    snapshot,
)
from tests.animation.locations import VALUES, expected_at
from tests.animation.locations import keyed as keyed_location
from tests.animation.random_tracks import mixed, parametrised
from tests.animation.rotations import (
    ALL_PARAMETERS,
    keyed,
    quaternion_at,
    rotations_near_each_other,
    values_of,
)

DEGREE = math.radians(1.0)
TOLERANCE = 0.01 * DEGREE
GUARD = 1 / 32


def places(first: float, last: float) -> list[float]:
    """Return ten samples per frame that float32 represents exactly."""
    return sorted({float(np.float32(place)) for place in np.arange(first, last + 0.05, 0.1)})


def widest_angle(thing, keys, frames, cycle: str = "SINGLE") -> float:
    return max(reference.apart(quaternion_at(thing, frame), reference.rotation(keys, frame, cycle)) for frame in frames)


@pytest.mark.parametrize("parameters", [{}, ALL_PARAMETERS], ids=["defaults", "parameters"])
@pytest.mark.parametrize("tolerance", [None, 0.05, 1e-5])
def test_blender_plays_values_within_the_tolerance(animation, parameters: dict, tolerance: float | None) -> None:
    thing = new_object()
    rows = keyed_location(thing, animation, **parameters)
    report = animation.bake(thing, output="CURVES", value_tolerance=tolerance)
    # The default is 1e-4 of the range of the keys, which is largest for y.
    most = 8.75e-4 if tolerance is None else tolerance
    for component in range(3):
        fcurve = curve(thing, "location", component)
        found = max(abs(fcurve.evaluate(frame) - expected_at(rows, component, frame)) for frame in places(0, 41))
        assert found <= most + 1e-6
        assert found <= report.value_error + 1e-6


def test_a_character_s_curves_have_a_tenth_of_the_keys_of_samples(animation) -> None:
    dice = random.Random(8)
    counts = []
    for output in ("SAMPLES", "CURVES"):
        thing = new_object(output, "QUATERNION")
        dice.seed(8)
        frames = np.cumsum([dice.randint(15, 30) for _ in range(30)]).astype(float).tolist()
        rows = values_of("QUATERNION", rotations_near_each_other(dice, 30, 0.6))
        key(thing, "rotation_quaternion", list(zip(frames, rows, strict=True)))
        key(thing, "location", [(frame, [dice.gauss(0, 1) for _ in range(3)]) for frame in frames])
        report = animation.bake(thing, output=output, keep_look=False)
        counts.append(report.samples + report.curve_keys)
    assert 10 * counts[1] <= counts[0]


def test_keys_of_quaternions_are_unit_quaternions(animation) -> None:
    """Programs that interpolate rotations, such as glTF players, normalize each key."""
    thing = new_object("Thing", "QUATERNION")
    rows = values_of("QUATERNION", rotations_near_each_other(random.Random(22), 6, 2.0))
    key(thing, "rotation_quaternion", [(20 * index, row) for index, row in enumerate(rows)])
    assert animation.bake(thing, output="CURVES", keep_look=False).curve_keys > 0
    numbers = np.array([co(curve(thing, "rotation_quaternion", index))[:, 1] for index in range(4)])
    assert np.abs(np.linalg.norm(numbers, axis=0) - 1.0).max() < 1e-6


def test_a_key_on_every_frame_gets_no_generated_key(animation) -> None:
    thing = new_object("Thing", "QUATERNION")
    rows = values_of("QUATERNION", rotations_near_each_other(random.Random(4), 100, 0.06))
    key(thing, "rotation_quaternion", [(frame, row) for frame, row in enumerate(rows)])
    assert animation.bake(thing, output="CURVES", keep_look=False).curve_keys == 0


@pytest.mark.parametrize("mode", MODES)
def test_further_bakes_and_blenders_own_update_give_the_same_bits(animation, mode: str) -> None:
    thing = mixed(mode)
    parametrised(animation, thing)
    animation.bake(thing)
    samples = snapshot(thing)
    animation.bake(thing, output="CURVES")
    curves = snapshot(thing)
    animation.bake(thing, output="CURVES")
    assert differences(curves, snapshot(thing)) == []
    animation.bake(thing)
    assert differences(samples, snapshot(thing)) == []
    animation.bake(thing, output="CURVES")
    assert differences(curves, snapshot(thing)) == []
    for fcurve in fcurves(thing):
        fcurve.update()
    assert differences(curves, snapshot(thing)) == []


@pytest.mark.parametrize(("mode", "cycle"), each_once(MODES, ["REPEAT", "LOOP"]))
def test_rotations_go_on_in_cycles_beyond_the_keys(animation, mode: str, cycle: str) -> None:
    turns = rotations_near_each_other(random.Random(7), 4, 0.6)
    rows = values_of(mode, [*turns, turns[0]] if cycle == "LOOP" else turns)
    frames = [0.0, 8.0, 15.0, 24.0, 30.0][: len(rows)]
    thing = new_object("Thing", mode)
    keys = keyed(animation, thing, mode, frames, rows)
    animation.choose(thing, rotation_path(mode), cycle=cycle)
    animation.bake(thing, output="CURVES", extend=(-40, 70))
    period = frames[-1]
    inside = [frame for frame in places(-40, 70) if cycle == "LOOP" or GUARD < frame % period < period - GUARD]
    assert widest_angle(thing, keys, inside, cycle) <= TOLERANCE + 2e-6


@pytest.mark.parametrize("cycle", ["REPEAT", "LOOP"])
def test_values_go_on_in_cycles_beyond_the_keys(animation, cycle: str) -> None:
    values = [*VALUES[:4], VALUES[0]] if cycle == "LOOP" else VALUES
    thing = new_object()
    rows = keyed_location(thing, animation, values=values, **{name: ALL_PARAMETERS[name] for name in PARAMETERS[:3]})
    animation.choose(thing, "location", cycle=cycle)
    animation.bake(thing, output="CURVES", extend=(-70, 100))
    inside = [f for f in places(-70, 100) if cycle == "LOOP" or GUARD < (f - 1.0) % 39.0 < 39.0 - GUARD]
    for component in range(3):
        fcurve = curve(thing, "location", component)
        for frame in inside:
            wanted = expected_at(rows, component, frame, values, cycle)
            assert fcurve.evaluate(frame) == pytest.approx(wanted, abs=2e-4), (component, frame)


def test_the_report_says_what_could_not_be_reached(animation) -> None:
    thing = new_object("Thing", "AXIS_ANGLE")
    key(thing, "rotation_axis_angle", [(0, (0.0, 0, 1, 0)), (2, (2.5, 1, 0, 0)), (4, (1.0, 1, 1, 0))])
    report = animation.bake(thing, output="CURVES", rotation_tolerance=1e-5, keep_look=False)
    assert report.rotation_error > 1e-5
    assert any("maximum error" in str(note) for note in report.notes)


@pytest.mark.parametrize(("size", "tolerance"), each_once([1e-6, 1.0, 1e6, 1e30], [None, 1e-9, 1e-9]))
def test_what_float32_can_not_hold_is_no_miss(animation, size: float, tolerance: float | None) -> None:
    thing = new_object()
    dice = np.random.default_rng(5)
    rows = size * (1.0 + np.array([1e-7, 1e-3, 1.0]) * dice.normal(size=(6, 3)))
    key(thing, "location", [(12 * frame, row) for frame, row in enumerate(rows)])
    animation.enable(thing, keep_look=False)
    animation.key_set(thing, "location", 24, ease_to=0.7, ease_from=0.4)
    assert animation.bake(thing, output="CURVES", value_tolerance=tolerance).notes == []


@pytest.mark.parametrize(("mode", "size", "degrees"), all_pairs(MODES[:2], [1e-10, 1.0, 1e10, 1e18], [1e-7, 0.01]))
def test_lengths_of_quaternions_and_axes_make_no_misses(animation, mode: str, size: float, degrees: float) -> None:
    thing = new_object("Thing", mode)
    rows = values_of(mode, rotations_near_each_other(random.Random(12), 5, 0.8))
    rows = [(row[0] * (size if mode == "QUATERNION" else 1.0), *(size * number for number in row[1:])) for row in rows]
    key(thing, rotation_path(mode), [(15 * frame, row) for frame, row in enumerate(rows)])
    report = animation.bake(thing, output="CURVES", rotation_tolerance=degrees * DEGREE, keep_look=False)
    assert report.notes == []
    assert report.rotation_error < 0.011 * DEGREE


def test_a_cycle_without_end_is_refused(animation) -> None:
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (10, (1, 2, 3))])
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "location", cycle="REPEAT")
    with pytest.raises(animation.AnimationError, match="more than the limit of"):
        animation.bake(thing, output="CURVES", extend=(0, 1e9))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_cycle_at_frames_as_coarse_as_a_guard_plays_its_numbers_again(animation, sign):
    start = sign * 600_000
    thing = new_object()
    key(thing, "location", [(start, (0, 0, 0)), (start + 10, (1, 2, 3)), (start + 20, (5, 5, 1))])
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "location", cycle="REPEAT")
    animation.bake(thing, output="CURVES", extend=(start - 30, start + 70))
    for index in range(3):
        own = curve(thing, "location", index)
        assert all(math.isfinite(x) for point in own.keyframe_points for x in (*point.handle_left, *point.handle_right))
        played = [[own.evaluate(start + turn * 20 + at) for at in range(1, 20)] for turn in (-1, 0, 1, 2)]
        for turn in played:
            assert turn == pytest.approx(played[1], abs=2e-3)


@pytest.mark.parametrize(
    ("mode", "frames", "rows"),
    [
        # The axis of a key without rotation differs from the axis with which the motion arrives.
        ("AXIS_ANGLE", [29, 44, 60], [(1.06, -0.2, 0.88, 0.435), (0.0, 0.92, -0.36, -0.12), (1.6, -0.76, 0.45, 0.47)]),
        # Gimbal lock at a key.
        ("YZX", [14, 35, 45], [(3.1416, 3.927, 1.5708), (-1.5708, 0.7854, -5.4978), (-9.4248, 10.9956, 2.3562)]),
        ("YXZ", [19, 37, 51], [(5.4978, -4.7124, 0.7854), (4.7124, -3.1416, -11.781), (3.927, 7.854, -3.927)]),
    ],
)
def test_the_error_just_before_a_key_with_several_numbers_is_told(animation, mode: str, frames, rows) -> None:
    """A channel has one value at a key, but the motion can arrive with other values for the same orientation."""
    thing = new_object("Thing", mode)
    key(thing, rotation_path(mode), list(zip(map(float, frames), rows, strict=True)))
    animation.enable(thing, keep_look=False)
    every = np.arange(frames[0] * 32, frames[-1] * 32 + 1) / 32
    played = []
    reports = [animation.bake(thing, output="SAMPLES", step=1 / 32)]
    played.append([quaternion_at(thing, frame) for frame in every])
    reports.append(animation.bake(thing, output="CURVES"))
    played.append([quaternion_at(thing, frame) for frame in every])
    found = max(reference.apart(*pair) for pair in zip(*played, strict=True))
    assert found <= 1.02 * reports[1].rotation_error + 2e-6
    assert found <= TOLERANCE + 2e-6 or any("maximum error" in str(note) for note in reports[1].notes)
