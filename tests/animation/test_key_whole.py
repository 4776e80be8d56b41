# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations whose channels have keys at different frames: Key All Rotation Channels, and handles, which complete them.

Both preserve the poses and the motion.
"""

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
    play,
    rotation_path,
    snapshot,
)
from tests.animation.damage import damaged
from tests.animation.live import let_time_pass

FRAMES_OF_CHANNELS = {0: (0, 10, 20, 40), 1: (0, 15, 40), 2: (0, 20, 30, 40), 3: (0, 40)}
FRAMES = (1, 20, 35)
SEEN = np.arange(-1, 42, 0.5)


def ragged(mode: str) -> bpy.types.Object:
    thing = new_object("Thing", mode)
    path = rotation_path(mode)
    width = 4 if mode in MODES[:2] else 3
    rows = np.random.default_rng(5).uniform(-0.6, 0.6, (41, width))
    if width == 4:
        rows[:, 0] += 1.5
    for index in range(width):
        key(thing, path, [(frame, rows[frame]) for frame in FRAMES_OF_CHANNELS[index]], channels=[index])
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


# Handles complete the keys


def live_rotation(animation, mode: str = "XYZ") -> bpy.types.Object:
    width = 4 if mode in MODES[:2] else 3
    rows = np.random.default_rng(8).uniform(-0.5, 0.5, (len(FRAMES), width))
    if width == 4:
        rows[:, 0] += 1.2
    thing = new_object("Thing", mode)
    key(thing, rotation_path(mode), list(zip(FRAMES, rows, strict=True)))
    animation.enable(thing, keep_look=False)
    animation.key_set(thing, rotation_path(mode), 20, tension=0.4)
    animation.bake(thing, output="HANDLES")
    thing.animation_data.action.tcb_live = True
    return thing


def timing(thing: bpy.types.Object) -> list[list[float]]:
    return [co(fcurve)[:, 0].tolist() for fcurve in fcurves(thing)]


def insert(animation, thing: bpy.types.Object, index: int, frame: float, value: float) -> None:
    """Key one channel, as auto keying with Only Insert Needed does."""
    path = rotation_path(thing.rotation_mode)
    play(frame)
    getattr(thing, path)[index] = value
    assert thing.keyframe_insert(path, index=index, frame=frame)
    let_time_pass(animation)


@pytest.mark.parametrize("mode", MODES)
def test_the_pose_of_a_key_in_one_channel_is_that_of_all(animation, scene, mode: str) -> None:
    thing = live_rotation(animation, mode)
    path = rotation_path(mode)
    play(40)
    posed = np.array(getattr(thing, path))
    posed[2] += 0.3
    before = orientations(thing, np.arange(1, 20, 0.5))
    insert(animation, thing, 2, 40, posed[2])
    assert timing(thing) == [[1, 20, 35, 40]] * len(posed)
    play(40)
    assert np.array(getattr(thing, path)) == pytest.approx(posed, abs=1e-6)
    assert animation.find_track(thing, path).is_played_by_handles
    assert animation.store.up_to_date.is_up_to_date(animation.find_track(thing, path))
    assert {point.handle_left_type for fcurve in fcurves(thing) for point in fcurve.keyframe_points} == {"FREE"}
    # Compare up to the third-last key, on which the new key has no effect.
    assert np.abs(orientations(thing, np.arange(1, 20, 0.5)) - before).max() < 1e-5


def test_a_key_deleted_in_one_channel_comes_back_on_the_curve(animation, scene) -> None:
    thing = live_rotation(animation)
    points = curve(thing, "rotation_euler", 1).keyframe_points
    points.remove(points[1])
    curve(thing, "rotation_euler", 1).update()
    value = curve(thing, "rotation_euler", 1).evaluate(20)
    let_time_pass(animation)
    assert timing(thing) == [[1, 20, 35]] * 3
    assert co(curve(thing, "rotation_euler", 1))[1, 1] == np.float32(value)
    # It has the parameters of the key at the same frame.
    assert given(animation, thing, "rotation_euler", "tension") == [(20.0, float(np.float32(0.4)))]


def test_a_rotation_keyed_angle_by_angle_is_played(animation, scene) -> None:
    """The first key is only on Z and a later key on X, so Y has no F-curve yet."""
    thing = new_object()
    key(thing, "rotation_euler", [(1, (0, 0, 0)), (20, (0, 0, 1))], channels=[2])
    thing.rotation_euler[1] = 0.25
    animation.enable(thing, keep_look=False)
    report = animation.bake(thing, output="HANDLES")
    assert [(note.code, note.track) for note in report.notes] == [("COMPLETED", "rotation_euler")]
    thing.animation_data.action.tcb_live = True
    insert(animation, thing, 0, 40, 0.5)
    assert timing(thing) == [[1, 20, 40]] * 3
    assert co(curve(thing, "rotation_euler", 1))[:, 1].tolist() == [0.25] * 3
    assert co(curve(thing, "rotation_euler", 0))[-1].tolist() == [40, 0.5]
