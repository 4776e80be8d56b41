# SPDX-License-Identifier: GPL-3.0-or-later
"""If handles play a partly keyed rotation, the other channels get keys, and poses are preserved."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

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
from tests.animation.live import let_time_pass

FRAMES = (1, 20, 35)


def poses_of(mode: str) -> np.ndarray:
    width = 3 if mode in MODES[2:] else 4
    rows = np.random.default_rng(8).uniform(-0.5, 0.5, (len(FRAMES), width))
    if width == 4:
        rows[:, 0] += 1.2
    return rows


def live(animation, mode: str = "XYZ") -> bpy.types.Object:
    thing = new_object("Thing", mode)
    key(thing, rotation_path(mode), list(zip(FRAMES, poses_of(mode), strict=True)))
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
    thing = live(animation, mode)
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


def test_a_key_on_the_curve_of_one_channel_plays_as_one_of_all_channels(animation, scene) -> None:
    frames = np.arange(1, 35.1, 0.5)
    motions = []
    for index in (1, -1):
        thing = live(animation, "QUATERNION")
        play(10)
        assert thing.keyframe_insert("rotation_quaternion", index=index, frame=10)
        let_time_pass(animation)
        assert timing(thing) == [[1, 10, 20, 35]] * 4
        motions.append(orientations(thing, frames))
    assert np.abs(motions[0] - motions[1]).max() < 1e-5


def test_a_key_deleted_in_one_channel_comes_back_on_the_curve(animation, scene) -> None:
    thing = live(animation)
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


def test_completed_keys_are_the_animators_own(animation, scene) -> None:
    thing = live(animation)
    insert(animation, thing, 0, 40, 1.0)
    animation.bake(thing)
    animation.restore(thing)
    assert timing(thing) == [[1, 20, 35, 40]] * 3
    animation.remove(thing)
    assert timing(thing) == [[1, 20, 35, 40]] * 3


def test_a_pose_is_selected_as_a_whole(animation, scene) -> None:
    thing = live(animation)
    for fcurve in fcurves(thing):
        for point in fcurve.keyframe_points:
            point.select_control_point = False
    curve(thing, "rotation_euler", 2).keyframe_points.insert(28, 0.2).select_control_point = True
    let_time_pass(animation)
    selected = [
        [point.co.x for point in fcurve.keyframe_points if point.select_control_point] for fcurve in fcurves(thing)
    ]
    assert selected == [[28]] * 3


def test_a_key_in_a_constant_segment_is_constant_in_all_channels(animation, scene) -> None:
    thing = new_object()
    key(thing, "rotation_euler", [(1, (0, 1, 2)), (20, (1, 0, 0)), (40, (0, 0, 0))])
    for fcurve in fcurves(thing):
        fcurve.keyframe_points[0].interpolation = "CONSTANT"
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    thing.animation_data.action.tcb_live = True
    insert(animation, thing, 2, 10, 1.5)
    for fcurve, values in zip(fcurves(thing), ([0, 0, 1, 0], [1, 1, 0, 0], [2, 1.5, 0, 0]), strict=True):
        assert co(fcurve)[:, 1].tolist() == values
        assert [point.interpolation for point in fcurve.keyframe_points[:2]] == ["CONSTANT"] * 2


def test_samples_need_no_keys_in_all_channels(animation, scene) -> None:
    thing = new_object()
    key(thing, "rotation_euler", [(0, (0, 0, 0)), (20, (1, 0.5, 0.2))])
    key(thing, "rotation_euler", [(10, (0.3, 0, 0))], channels=[0])
    animation.enable(thing, keep_look=False)
    own = timing(thing)
    animation.bake(thing)
    animation.restore(thing)
    assert timing(thing) == own


def test_keys_nearer_than_blender_keeps_apart_are_refused_and_nothing_changes(animation, scene) -> None:
    thing = new_object()
    key(thing, "rotation_euler", [(0, (0, 0, 0)), (20, (1, 0.5, 0.2))])
    key(thing, "rotation_euler", [(10, (0.3, 0, 0))], channels=[0])
    key(thing, "rotation_euler", [(10.006, (0.3, 0.1, 0))], channels=[1])
    animation.enable(thing, keep_look=False)
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match="frame 10: keys of different channels are less than"):
        animation.bake(thing, output="HANDLES")
    assert differences(before, snapshot(thing)) == []
