# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion that never leaves one value gets no generated key, in either output, and plays as it did."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.all_pairs import all_pairs
from tests.animation.curves import MODES, co, curve, fcurves, function, generated, key, new_object, rotation_path
from tests.animation.rotations import channels_at, rotations_near_each_other, values_of

OUTPUTS = ["SAMPLES", "CURVES"]
RANGES = [None, (12.0, 28.0), (-35.0, 95.0)]
CYCLES = ["SINGLE", "REPEAT", "LOOP"]
FRAMES = [0, 7.5, 20, 30]


def counts(thing) -> dict[tuple[str, int], int]:
    return {(each.data_path, each.array_index): len(generated(each)) for each in fcurves(thing)}


@pytest.mark.parametrize(
    ("output", "frame_range", "cycle", "method"), all_pairs(OUTPUTS, RANGES, CYCLES, ["TCB", "B_SPLINE", "LAGRANGE"])
)
def test_constant_channels_get_none_and_the_others_theirs(animation, output, frame_range, cycle, method):
    thing = new_object()
    key(thing, "location", [(frame, (n % 2, 1234.567, -0.1)) for n, frame in enumerate(FRAMES)])
    animation.enable(thing)
    animation.choose(thing, "location", method=method, cycle=cycle)
    animation.key_set(thing, "location", 20, ease_to=1.0, tension=-0.5)
    animation.bake(thing, output=output, frame_range=frame_range)
    assert counts(thing)["location", 0] > 0
    for index, value in ((1, 1234.567), (2, -0.1)):
        assert co(curve(thing, "location", index))[:, 0].tolist() == FRAMES
        played = [curve(thing, "location", index).evaluate(frame) for frame in np.arange(-40, 100, 0.3)]
        assert set(played) == {float(np.float32(value))}


@pytest.mark.parametrize(
    ("output", "frame_range", "cycle", "mode", "apart"), all_pairs(OUTPUTS, RANGES, CYCLES, MODES, [False, True])
)
def test_a_rotation_that_stays_gets_none(animation, output, frame_range, cycle, mode, apart):
    thing = new_object("Thing", mode)
    (row,) = values_of(mode, rotations_near_each_other(random.Random(3), 1, 1.2))
    path = rotation_path(mode)
    for index in range(len(row)):
        key(thing, path, [(frame + apart * index * (0 < frame < 30), row) for frame in FRAMES], channels=[index])
    animation.enable(thing)
    animation.choose(thing, path, cycle=cycle)
    report = animation.bake(thing, output=output, frame_range=frame_range)
    assert set(counts(thing).values()) == {0}
    assert (report.samples, report.curve_keys) == (0, 0)
    for frame in np.arange(-40, 100, 0.3):
        assert channels_at(thing, path, len(row), frame) == pytest.approx(row, abs=1e-7)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("row", [(2.0, 0, 0, 0), (0.5, -0.5, 3.0, 1.0)])
@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE"])
def test_lengths_of_what_stays_do_not_count(animation, output, row, mode):
    thing = new_object("Thing", mode)
    row = row if mode == "QUATERNION" else (row[0], 3.0, *row[2:])
    key(thing, rotation_path(mode), [(frame, row) for frame in FRAMES])
    animation.bake(thing, output=output)
    assert set(counts(thing).values()) == {0}


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("angles", [(0.3, np.pi / 2, -1.0), (0.0, np.pi / 2, 0.0)])
def test_a_rotation_that_stays_in_gimbal_lock_gets_none(animation, output, angles):
    thing = new_object("Thing", "XYZ")
    key(thing, "rotation_euler", [(frame, angles) for frame in FRAMES])
    animation.bake(thing, output=output)
    assert set(counts(thing).values()) == {0}


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_rotation_that_moves_in_some_channels_keeps_all_theirs(animation, output):
    thing = new_object("Thing", "QUATERNION")
    angles = np.array([0.0, 1.5, -1.0, 0.5])
    key(thing, "rotation_quaternion", [(f, (np.cos(a), np.sin(a), 0, 0)) for f, a in zip(FRAMES, angles, strict=True)])
    animation.bake(thing, output=output)
    assert len(set(counts(thing).values()) - {0}) == 1


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_slowest_motion_that_float32_tells_from_none_is_baked(animation, output):
    thing = new_object()
    step = float(np.spacing(np.float32(1000.0)))
    key(thing, "location", [(0, (1000, 0, 0)), (20, (1000 + 8 * step, 0, 0)), (40, (1000, 0, 0))])
    animation.bake(thing, output=output)
    assert curve(thing, "location").evaluate(10) != 1000.0


@pytest.mark.parametrize("output", OUTPUTS)
def test_what_a_frame_function_holds_still_gets_none(animation, output):
    thing = new_object()
    key(thing, "location", [(frame, (n % 2, 5.0, 0)) for n, frame in enumerate(FRAMES)])
    function(thing, [(0, 12.0), (30, 12.0)])
    animation.bake(thing, output=output)
    for index in range(3):
        assert generated(curve(thing, "location", index)) == []
    assert len({curve(thing, "location").evaluate(frame) for frame in range(31)}) == 1


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_new_action_has_no_needless_keys_either(animation, output):
    thing = new_object()
    key(thing, "location", [(frame, (2.0, 5.0, 0)) for frame in FRAMES])
    key(thing, "scale", [(frame, (n % 2, 5.0, 0)) for n, frame in enumerate(FRAMES)])
    animation.bake(thing, output=output, target="NEW_ACTION")
    assert [len(co(curve(thing, "location", index))) for index in range(3)] == [len(FRAMES)] * 3


def test_samples_in_a_new_action_are_those_of_a_vectors_moving_channel_in_all(animation):
    """Else exporters resample the vector."""
    thing = new_object()
    key(thing, "location", [(frame, (n % 2, 5.0, 0)) for n, frame in enumerate(FRAMES)])
    animation.bake(thing, target="NEW_ACTION")
    moving, *still = (co(curve(thing, "location", index))[:, 0].tolist() for index in range(3))
    assert still == [moving, moving]


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_cycle_beyond_own_segments_that_go_on_in_a_line_stays(animation, output):
    thing = new_object()
    key(thing, "location", [(0, (1, 1, 1)), (10, (1, 1, 1)), (20, (1, 1, 1))])
    animation.enable(thing)
    animation.choose(thing, "location", cycle="LOOP")
    for each in fcurves(thing):
        each.extrapolation = "LINEAR"
        each.keyframe_points[-1].handle_right_type = "FREE"
        each.keyframe_points[-1].handle_left_type = "FREE"
        each.keyframe_points[-1].handle_left = (18, 3)
    animation.bake(thing, output=output, frame_range=(25, 50))
    assert [curve(thing, "location").evaluate(frame) for frame in range(25, 50)] == [1.0] * 25
