# SPDX-License-Identifier: GPL-3.0-or-later
"""In either output, a track without motion gets no generated keys between the animator's keys, and plays as before."""

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
    ("output", "extend", "cycle", "method"), all_pairs(OUTPUTS, RANGES, CYCLES, ["TCB", "B_SPLINE", "LAGRANGE"])
)
def test_a_track_that_stands_still_gets_none_and_the_others_theirs(animation, output, extend, cycle, method):
    thing = new_object()
    still = (2.5, 1234.567, -0.1)
    key(thing, "location", [(frame, (n % 2, 3 - n, -n)) for n, frame in enumerate(FRAMES)])
    key(thing, "delta_location", [(frame, still) for frame in FRAMES])
    animation.enable(thing, keep_look=False)
    for path in ("location", "delta_location"):
        animation.choose(thing, path, method=method, cycle=cycle)
        animation.key_set(thing, path, 20, ease_to=1.0, tension=-0.5)
    animation.bake(thing, output=output, extend=extend)
    assert counts(thing)["location", 0] > 0
    for index, value in enumerate(still):
        assert co(curve(thing, "delta_location", index))[:, 0].tolist() == FRAMES
        played = [curve(thing, "delta_location", index).evaluate(frame) for frame in np.arange(-40, 100, 0.3)]
        assert set(played) == {float(np.float32(value))}


@pytest.mark.parametrize(
    ("output", "extend", "cycle", "mode", "apart"), all_pairs(OUTPUTS, RANGES, CYCLES, MODES, [False, True])
)
def test_a_rotation_that_stays_has_only_the_frames_of_its_own_keys(animation, output, extend, cycle, mode, apart):
    thing = new_object("Thing", mode)
    (row,) = values_of(mode, rotations_near_each_other(random.Random(3), 1, 1.2))
    path = rotation_path(mode)
    every = set()
    for index in range(len(row)):
        frames = [frame + apart * index * (0 < frame < 30) for frame in FRAMES]
        key(thing, path, [(frame, row) for frame in frames], channels=[index])
        every.update(frames)
    animation.enable(thing, keep_look=False)
    animation.choose(thing, path, cycle=cycle)
    animation.bake(thing, output=output, extend=extend)
    for fcurve in fcurves(thing):
        assert co(fcurve)[:, 0].tolist() == sorted(every)
    for frame in np.arange(-40, 100, 0.3):
        assert channels_at(thing, path, len(row), frame) == pytest.approx(row, abs=1e-7)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(
    ("mode", "row"),
    [
        ("QUATERNION", (2.0, 0, 0, 0)),
        ("QUATERNION", (0.5, -0.5, 3.0, 1.0)),
        ("AXIS_ANGLE", (0.5, 3.0, 3.0, 1.0)),
        ("XYZ", (0.3, np.pi / 2, -1.0)),
    ],
)
def test_a_rotation_of_any_length_or_in_gimbal_lock_that_stays_gets_none(animation, output, mode, row):
    thing = new_object("Thing", mode)
    key(thing, rotation_path(mode), [(frame, row) for frame in FRAMES])
    animation.bake(thing, output=output, keep_look=False)
    assert set(counts(thing).values()) == {0}


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_slowest_motion_that_float32_tells_from_none_is_baked(animation, output):
    thing = new_object()
    step = float(np.spacing(np.float32(1000.0)))
    key(thing, "location", [(0, (1000, 0, 0)), (20, (1000 + 8 * step, 0, 0)), (40, (1000, 0, 0))])
    animation.bake(thing, output=output, keep_look=False)
    assert curve(thing, "location").evaluate(10) != 1000.0


@pytest.mark.parametrize("output", OUTPUTS)
def test_what_a_frame_function_holds_still_gets_none(animation, output):
    thing = new_object()
    key(thing, "location", [(frame, (n % 2, 5.0, 0)) for n, frame in enumerate(FRAMES)])
    function(thing, [(0, 12.0), (30, 12.0)])
    animation.bake(thing, output=output, keep_look=False)
    for index in range(3):
        assert generated(curve(thing, "location", index)) == []
    assert len({curve(thing, "location").evaluate(frame) for frame in range(31)}) == 1


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_cycle_of_what_stands_still_does_not_go_on_in_a_line(animation, output):
    thing = new_object()
    key(thing, "location", [(0, (1, 1, 1)), (10, (1, 1, 1)), (20, (1, 1, 1))])
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "location", cycle="LOOP")
    for each in fcurves(thing):
        each.extrapolation = "LINEAR"
        each.keyframe_points[-1].handle_right_type = "FREE"
        each.keyframe_points[-1].handle_left_type = "FREE"
        each.keyframe_points[-1].handle_left = (18, 3)
    animation.bake(thing, output=output, extend=(25, 50))
    assert [curve(thing, "location").evaluate(frame) for frame in range(25, 50)] == [1.0] * 25
