# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that a method's motion does not meet: a bake shows them on the motion, and their values are restored."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from interp import Keys
from interp.splines import METHODS
from tests.all_pairs import each_once
from tests.animation import reference
from tests.animation.curves import curve, differences, key, new_object, play, rotation_path, snapshot
from tests.animation.methods import FRAMES, TURNS, VALUES, chosen, keyed, spline_of
from tests.animation.rotations import quaternion_of, values_of

PASSING_BY = "B_SPLINE"
OUTPUTS = {"samples": {}, "half samples": {"step": 0.5}, "curves": {"output": "CURVES"}}


@pytest.fixture
def thing(scene) -> bpy.types.Object:
    return keyed(VALUES, TURNS)


@pytest.fixture(params=OUTPUTS)
def shown(request, animation, thing) -> bpy.types.Object:
    """A bake with a method that does not meet its keys."""
    chosen(animation, thing, "location", PASSING_BY)
    animation.bake(thing, **OUTPUTS[request.param])
    return thing


def own(thing: bpy.types.Object, index: int = 0) -> list[bpy.types.Keyframe]:
    """Return the animator's keys on a baked curve."""
    return [point for point in curve(thing, "location", index).keyframe_points if point.type != "GENERATED"]


def test_a_key_is_shown_where_the_motion_passes(animation, shown) -> None:
    wanted = spline_of("location", PASSING_BY)(FRAMES)
    for index in range(3):
        assert [point.co.y for point in own(shown, index)] == pytest.approx(wanted[:, index], abs=1e-6)
    assert abs(own(shown)[1].co.y - VALUES[1][0]) > 0.5


@pytest.mark.parametrize("verb", ["free", "restore"])
def test_what_was_shown_elsewhere_comes_back_to_the_bit(animation, thing, verb: str) -> None:
    before = snapshot(thing)
    chosen(animation, thing, "location", PASSING_BY)
    animation.bake(thing)
    animation.bake(thing, output="CURVES")
    getattr(animation, verb)(thing)
    assert differences(before, snapshot(thing), identities=False) == []


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_a_track_that_is_told_to_meet_its_keys_again_does(animation, shown, output: str) -> None:
    animation.choose(shown, "location", method="TCB")
    animation.bake(shown, output=output)
    assert [point.co.y for point in own(shown)] == pytest.approx([value[0] for value in VALUES], abs=1e-6)


@pytest.mark.parametrize(
    ("output", "mode"), each_once(["SAMPLES", "CURVES"], ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"])
)
def test_a_rotation_is_shown_in_the_numbers_of_its_mode(animation, scene, mode: str, output: str) -> None:
    item = new_object("Wheel", mode)
    rows = values_of(mode, [reference.unit(turn) for turn in TURNS])
    key(item, rotation_path(mode), list(zip(FRAMES, rows, strict=True)))
    animation.enable(item, keep_look=False)
    animation.choose(item, "rotation", method=PASSING_BY)
    before = snapshot(item)
    animation.bake(item, output=output)
    spline = METHODS[PASSING_BY].rotations(Keys(FRAMES, [quaternion_of(mode, row) for row in rows]))
    step, near = (1.0, 4e-6) if output == "SAMPLES" else (0.25, 1.05 * np.radians(0.01))
    for frame in np.arange(1.0, 40.0, step):
        play(frame)
        exact = np.array(Quaternion(spline(frame)).to_matrix())
        assert np.abs(np.array(item.matrix_world.to_3x3()) - exact).max() < near, frame
    animation.restore(item)
    assert differences(before, snapshot(item)) == []
