# SPDX-License-Identifier: GPL-3.0-or-later
"""Key All Rotation Channels adds keys at the same frames to all channels and preserves the motion, for handles."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.all_pairs import each_once
from tests.animation.curves import (
    MODES,
    co,
    curve,
    differences,
    fcurves,
    given,
    key,
    new_object,
    orientations,
    rotation_path,
    snapshot,
)
from tests.animation.damage import damaged

FRAMES = {0: (0, 10, 20, 40), 1: (0, 15, 40), 2: (0, 20, 30, 40), 3: (0, 40)}
SEEN = np.arange(-1, 42, 0.5)


def ragged(mode: str) -> bpy.types.Object:
    thing = new_object("Thing", mode)
    path = rotation_path(mode)
    width = 4 if mode in MODES[:2] else 3
    rows = np.random.default_rng(5).uniform(-0.6, 0.6, (41, width))
    if width == 4:
        rows[:, 0] += 1.5
    for index in range(width):
        key(thing, path, [(frame, rows[frame]) for frame in FRAMES[index]], channels=[index])
    key(thing, "location", [(0, (0, 0, 0)), (20, (1, 2, 3))])
    return thing


def frames(thing: bpy.types.Object) -> set[tuple[float, ...]]:
    path = rotation_path(thing.rotation_mode)
    return {tuple(co(fcurve)[:, 0].tolist()) for fcurve in fcurves(thing) if fcurve.data_path == path}


@pytest.mark.parametrize(("output", "mode"), each_once(["SAMPLES", "CURVES"], MODES[:4]))
def test_a_bake_of_whole_rotations_plays_the_same_motion(animation, mode: str, output: str) -> None:
    thing = ragged(mode)
    path = rotation_path(mode)
    animation.enable(thing, keep_look=False)
    animation.key_set(thing, path, 15, tension=0.4, bias=0.5)
    animation.key_set(thing, path, 20, ease_to=0.5)
    animation.bake(thing, output=output)
    before = orientations(thing, SEEN)
    report = animation.key_whole(thing)
    assert (report.tracks, report.keys, report.changed_keys, report.errors) == (1, 6, 4, [])
    # It is baked again with the previous options.
    assert np.abs(orientations(thing, SEEN) - before).max() < (3e-6 if output == "SAMPLES" else 6e-4)
    assert given(animation, thing, path, "tension") == [(15.0, float(np.float32(0.4)))]
    assert given(animation, thing, path, "ease_to") == [(20, 0.5)]
    animation.restore(thing)
    assert frames(thing) == {(0, 10, 15, 20, 30, 40)}
    animation.bake(thing, output="HANDLES")
    assert frames(thing) == {(0, 10, 15, 20, 30, 40)}


@pytest.mark.parametrize("mode", MODES[:4])
def test_restored_keys_are_inserted_on_the_curves(animation, mode: str) -> None:
    thing = ragged(mode)
    for fcurve in fcurves(thing):
        for point in fcurve.keyframe_points:
            point.handle_left_type = point.handle_right_type = "FREE"
    animation.enable(thing, keep_look=False)
    before = orientations(thing, SEEN)
    values = {index: curve(thing, rotation_path(mode), index).evaluate(15.0) for index in range(3)}
    animation.key_whole(thing)
    for index, value in values.items():
        assert dict(co(curve(thing, rotation_path(mode), index)).tolist())[15.0] == value
    # Blender subdivides segments with free handles.
    assert np.abs(orientations(thing, SEEN) - before).max() < 1e-5


def test_a_channel_without_keys_gets_them(animation) -> None:
    thing = new_object()
    key(thing, "rotation_euler", [(0, (0, 0, 0)), (10, (1, 0.5, 0)), (20, (0.5, 1, 0))], channels=[0, 1])
    animation.enable(thing, keep_look=False)
    animation.bake(thing)
    before = orientations(thing, SEEN)
    animation.key_whole(thing)
    assert np.abs(orientations(thing, SEEN) - before).max() < 3e-6
    animation.bake(thing, output="HANDLES")
    assert frames(thing) == {(0, 10, 20)}
    assert len(fcurves(thing)) == 3


def test_whole_rotations_and_locked_ones_are_left_alone(animation) -> None:
    thing = new_object()
    key(thing, "rotation_euler", [(0, (0, 0, 0)), (10, (1, 0.5, 0))])
    before = snapshot(thing)
    assert animation.key_whole(thing).tracks == 0
    thing = ragged("XYZ")
    curve(thing, "rotation_euler").lock = True
    before = snapshot(thing)
    report = animation.key_whole(thing)
    assert [error.message for error in report.errors] == ["the channels are locked. Unlock them first"]
    assert differences(before, snapshot(thing)) == []


def test_a_baked_rotation_with_a_damaged_table_is_refused(animation) -> None:
    thing = ragged("XYZ")
    animation.enable(thing, keep_look=False)
    animation.bake(thing)
    damaged(animation, thing, "a string")
    before = snapshot(thing)
    report = animation.key_whole(thing)
    assert (report.tracks, [error.code for error in report.errors]) == (0, ["TABLE_DAMAGED"])
    assert differences(before, snapshot(thing)) == []


def test_an_euler_angle_alone_is_whole_unless_others_are_turned(animation) -> None:
    thing = new_object()
    key(thing, "rotation_euler", [(0, (0, 0, 0)), (10, (0, 0, 2)), (20, (0, 0, 1))], channels=[2])
    assert animation.key_whole(thing).tracks == 0
    animation.bake(thing, output="HANDLES", keep_look=False)
    assert len(fcurves(thing)) == 1
    animation.remove(thing)
    thing.rotation_euler[0] = 0.5
    animation.key_whole(thing)
    animation.bake(thing, output="HANDLES", keep_look=False)
    assert len(fcurves(thing)) == 3
    assert curve(thing, "rotation_euler", 0).evaluate(10) == 0.5


def test_the_operator_keys_what_is_selected(animation) -> None:
    thing = ragged("QUATERNION")
    thing.select_set(True)
    bpy.context.view_layer.objects.active = thing
    assert bpy.ops.tcb.key_whole() == {"FINISHED"}
    assert frames(thing) == {(0, 10, 15, 20, 30, 40)}
    assert bpy.ops.tcb.key_whole() == {"CANCELLED"}
