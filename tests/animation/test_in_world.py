# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake in World Space of objects and bones with parents, compared with their positions in Blender's evaluated scene."""

from __future__ import annotations

import bpy  # noqa: F401  mathutils comes with it
import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from tests.animation.curves import action_bits, differences, fcurves, key, new_object, play, seen, snapshot

FRAMES = np.arange(1.0, 42.0)


@pytest.fixture
def pair(scene):
    """Return a hand on a body that moves and rotates all the time."""
    body, hand = new_object("Body", "XYZ"), new_object("Hand", "QUATERNION")
    hand.parent = body
    hand.matrix_parent_inverse = Matrix.Translation((0.3, 0, 0))
    key(body, "location", [(1, (0, 0, 0)), (17, (3, 1, 0)), (41, (5, -2, 2))])
    key(body, "rotation_euler", [(1, (0, 0, 0)), (23, (0.4, 0.2, 1.5)), (41, (0, 1, 0))])
    body.scale = (2, 2, 2)
    return body, hand


def pin(body, hand, place, turn, frames):
    """Key the hand so that it has this location and rotation in world space at the frames."""
    target = Matrix.LocRotScale(place, turn, (2, 2, 2))
    for frame in frames:
        play(frame)
        local = (body.matrix_world @ hand.matrix_parent_inverse).inverted() @ target
        key(hand, "location", [(frame, tuple(local.translation))])
        key(hand, "rotation_quaternion", [(frame, tuple(local.to_quaternion()))])


def placed(item, frames=FRAMES):
    return [seen(frame, item).matrix_world.copy() for frame in frames]


def test_a_hand_with_the_same_pose_in_the_world_at_its_keys_stays_there_while_its_body_moves(animation, pair):
    body, hand = pair
    turn = Quaternion((0.8, 0.6, 0, 0))
    pin(body, hand, (4, 1, 1), turn, (1, 13, 41))
    animation.enable(hand, keep_look=False)
    slid = max((each.translation - placed(hand, [1])[0].translation).length for each in placed(hand))
    assert slid > 0.5
    animation.bake_in_world(hand)
    for matrix in placed(hand):
        assert matrix.translation[:] == pytest.approx((4, 1, 1), abs=1e-5)
        assert matrix.to_quaternion().rotation_difference(turn).angle < 1e-3


def test_quaternions_of_other_signs_go_the_shorter_way_where_blender_interpolates_them(animation, pair):
    body, hand = pair
    turn = Quaternion((0.8, 0.6, 0, 0))
    pin(body, hand, (4, 1, 1), turn, (1, 13, 41))
    animation.enable(hand, keep_look=False)
    for fcurve in fcurves(hand):
        if fcurve.data_path == "rotation_quaternion":
            point = fcurve.keyframe_points[1]
            point.co_ui = (point.co.x, -point.co.y)
            fcurve.keyframe_points[0].interpolation = "LINEAR"
    animation.bake_in_world(hand)
    for matrix in placed(hand):
        assert matrix.to_quaternion().rotation_difference(turn).angle < 1e-3


def test_euler_angles_that_differ_by_whole_turns_from_their_keys_do_not_jump_there(animation, scene):
    hand = new_object("Hand", "XYZ")
    hand.parent = new_object("Body")
    key(hand, "rotation_euler", [(1, (0.2, 0.1, 0.0)), (41, (0.2, 0.1, 2.0 * np.pi + 0.5))])
    animation.enable(hand, keep_look=False)
    animation.bake_in_world(hand)
    for frame in (21, 40.5, 41):
        expected = (0.2, 0.1, 0.5 * (frame - 1) / 40)
        assert seen(frame, hand).matrix_world.to_euler()[:] == pytest.approx(expected, abs=1e-4)


def test_a_step_that_no_bake_has_is_refused_before_anything_is_sampled(animation, pair):
    _, hand = pair
    key(hand, "location", [(1, (0, 0, 0)), (41, (2, 0, 0))])
    animation.enable(hand, keep_look=False)
    # A billion samples would take forever.
    with pytest.raises(animation.AnimationError, match='"Hand": a step of 4e-08 frames is too small'):
        animation.bake_in_world(hand, step=4e-8)
    key(hand, "location", [(900_000, (0, 0, 1))])
    with pytest.raises(animation.AnimationError, match="samples, more than the limit"):
        animation.bake_in_world(hand, step=0.0125)


def key_on_the_body(animation, hand):
    """Key the hand's location and rotation, with parameters."""
    key(hand, "location", [(1, (0, 0, 0)), (13, (1, 2, 0)), (25, (0, 1, 1)), (41, (2, 0, 0))])
    turns = [(1, (1, 0, 0, 0)), (13, (0.8, 0.6, 0, 0)), (25, (0.6, 0, 0.8, 0)), (41, (1, 0, 0, 0))]
    key(hand, "rotation_quaternion", turns)
    animation.enable(hand, keep_look=False)
    set_parameters(animation, hand)


def set_parameters(animation, item):
    animation.key_set(item, "location", 13, tension=0.5, bias=-0.3)
    animation.key_set(item, "rotation", 25, continuity=-0.7)


def free_of_parents(animation, hand):
    """Return a baked object without a parent, with the hand's keys at their positions in world space."""
    free = new_object("Free", "QUATERNION")
    for frame, matrix in zip((1, 13, 25, 41), placed(hand, (1, 13, 25, 41)), strict=True):
        key(free, "location", [(frame, tuple(matrix.translation))])
        key(free, "rotation_quaternion", [(frame, tuple(matrix.to_quaternion()))])
    animation.enable(free, keep_look=False)
    set_parameters(animation, free)
    animation.bake(free)
    return free


def test_a_bake_of_it_repeats_the_interpolation_in_the_world_for_the_present_motion_of_its_parent(animation, pair):
    body, hand = pair
    key_on_the_body(animation, hand)
    animation.bake_in_world(hand)
    before = snapshot(hand)
    animation.bake(hand)
    assert differences(before, snapshot(hand)) == []
    key(body, "location", [(17, (-3, 4, 1))])
    free = free_of_parents(animation, hand)
    animation.bake(hand)
    assert differences(before, snapshot(hand)) != []
    for ours, theirs in zip(placed(hand), placed(free), strict=True):
        assert ours.translation[:] == pytest.approx(theirs.translation[:], abs=1e-5)
        assert ours.to_quaternion().rotation_difference(theirs.to_quaternion()).angle < 2e-3


def test_a_bake_of_it_that_its_parent_prevents_is_refused_and_leaves_its_keys(animation, pair):
    body, hand = pair
    key_on_the_body(animation, hand)
    key(hand, "scale", [(1, (1, 1, 1)), (41, (2, 2, 2))])
    animation.bake_in_world(hand)
    before = snapshot(hand)
    body.scale = (1, 2, 1)
    report = animation.bake(hand)
    assert [(error.track, "scale is not uniform" in error.message) for error in report.errors] == [
        ("rotation_quaternion", True)
    ]
    now = [each for each in snapshot(hand) if each["path"][0] == "rotation_quaternion"]
    assert differences([each for each in before if each["path"][0] == "rotation_quaternion"], now) == []
    assert animation.find_track(hand, "rotation_quaternion").is_baked


def test_a_bone_is_interpolated_in_the_world_too(animation, arm):
    key(arm, "location", [(1, (0, 0, 0)), (41, (3, 0, 0))])
    path = 'pose.bones["loose"].location'
    key(arm, path, [(1, (0, 0, 0)), (41, (0, 0, 0))])
    animation.enable(arm, prefixes=[path], keep_look=False)

    def heads():
        result = []
        for frame in FRAMES:
            rig = seen(frame, arm)
            result.append(rig.matrix_world @ rig.pose.bones["loose"].head)
        return np.array(result)

    before = heads()
    with pytest.raises(animation.AnimationError, match='no bone "leg"'):
        animation.bake_in_world(arm, ["leg"])
    animation.bake_in_world(arm, ["loose"])
    after = heads()
    assert np.abs(after[[0, -1]] - before[[0, -1]]).max() < 1e-5
    # With two keys, the spline is a straight line with constant speed.
    part = ((FRAMES - 1) / 40)[:, np.newaxis]
    assert np.abs(after - (before[0] + part * (before[-1] - before[0]))).max() < 1e-5
    assert np.abs(before - after).max() > 0.1


def test_what_can_not_be_interpolated_there_is_refused_and_nothing_changes(animation, pair):
    body, hand = pair
    pin(body, hand, (4, 1, 1), Quaternion(), (1, 20, 41))
    with pytest.raises(animation.AnimationError, match="no TCB location or rotation"):
        animation.bake_in_world(hand)
    animation.enable(hand, keep_look=False)
    action = hand.animation_data.action
    before = action_bits(action)
    body.scale = (1, 2, 1)
    with pytest.raises(animation.AnimationError, match="scale is not uniform"):
        animation.bake_in_world(hand)
    body.scale = (1, 1, 1)
    body.constraints.new("LIMIT_LOCATION")
    with pytest.raises(animation.AnimationError, match="Body has constraints"):
        animation.bake_in_world(hand)
    animation.enable(body, keep_look=False)
    with pytest.raises(animation.AnimationError, match="no parent"):
        animation.bake_in_world(body)
    assert hand.animation_data.action == action
    assert action_bits(action) == before


def test_a_bone_below_another_counts_with_the_motion_that_this_one_gets(animation, arm):
    """Both rotate in world space. They have the same orientation at all keys, and therefore also between them."""
    path = 'pose.bones["{}"].rotation_euler'.format
    key(arm, "rotation_euler", [(1, (0, 0, 0)), (41, (0, 0, 2))])
    key(arm, path("upper"), [(11, (0, 1, 0))])
    key(arm, path("lower"), [(11, (0.5, -1, 0.3))])
    animation.enable(arm, prefixes=["pose.bones"], keep_look=False)
    key_frames = (1, 11, 21, 41)

    def turns(name, frames):
        result = []
        for frame in frames:
            rig = seen(frame, arm)
            result.append((rig.matrix_world @ rig.pose.bones[name].matrix).to_quaternion())
        return result

    expected = {name: turns(name, key_frames) for name in ("upper", "lower")}
    animation.bake_in_world(arm, ["lower", "upper"])
    for name, own in expected.items():
        free = new_object(f"Free {name}", "QUATERNION")
        key(free, "rotation_quaternion", [(frame, tuple(turn)) for frame, turn in zip(key_frames, own, strict=True)])
        animation.bake(free, keep_look=False)
        for frame, turn in zip(FRAMES, turns(name, FRAMES), strict=True):
            there = seen(frame, free).matrix_world.to_quaternion()
            assert turn.rotation_difference(there).angle < 2e-3, (name, frame)


def test_given_velocities_are_of_the_parents_axes_and_refused(animation, pair):
    body, hand = pair
    pin(body, hand, (4, 1, 1), Quaternion(), (1, 20, 41))
    animation.enable(hand, keep_look=False)
    animation.choose(hand, "location", method="HERMITE")
    with pytest.raises(animation.AnimationError, match="uses velocities in the parent's axes"):
        animation.bake_in_world(hand)


def test_a_parent_that_vanishes_is_refused_with_the_frame(animation, pair):
    body, hand = pair
    key(hand, "location", [(1, (0, 0, 0)), (41, (1, 0, 0))])
    key(body, "scale", [(1, (1, 1, 1)), (20, (0, 0, 0)), (41, (1, 1, 1))])
    animation.enable(hand, keep_look=False)
    with pytest.raises(animation.AnimationError, match="frame 20: the parent's scale is zero at this frame"):
        animation.bake_in_world(hand)
