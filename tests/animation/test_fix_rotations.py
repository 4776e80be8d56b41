# SPDX-License-Identifier: GPL-3.0-or-later
"""Fix Rotations repairs flips and jumps, preserves poses at keys, and restores the motion of a twin without flips."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from tests.animation.action_users import linked, share
from tests.animation.curves import (
    HAS_SLOTS,
    MODES,
    choose_alone,
    curve,
    differences,
    key,
    new_object,
    new_rig,
    orientations,
    rotation_path,
    snapshot,
)

FRAMES = (1, 11, 21, 31, 41, 51)
FLIPPED = (2, 3, 5)
"""Rows of keys that get equivalent values."""


def flipped(mode: str, value: float, index: int) -> float:
    """Return an equivalent value of a component: with the opposite sign, or from the other Euler solution."""
    if rotation_path(mode) != "rotation_euler":
        return -value
    return np.pi - value if index == "XYZ".index(mode[1]) else value + np.pi


def twins(mode: str, free: bool = False) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Return an object that turns by less than 60 degrees between keys, and a copy whose values flip at some keys."""
    path, width = rotation_path(mode), 4 if mode in MODES[:2] else 3
    rows = np.cumsum(np.random.default_rng(3).uniform(-0.5, 0.5, (len(FRAMES), width)), axis=0)
    if width == 4:
        rows = rows * 0.5 + [1.5, 0, 0, 1.2]
    items = new_object("Plain", mode), new_object("Flipped", mode)
    for item in items:
        key(item, path, list(zip(FRAMES, rows.tolist(), strict=True)))
        key(item, "location", [(1, (0, 0, 0)), (51, (1, 2, 3))])
    for index in range(width):
        for item in items:
            for point in curve(item, path, index).keyframe_points if free else ():
                point.handle_left_type = point.handle_right_type = "FREE"
                point.handle_left.y += 0.05
                point.handle_right.y -= 0.03
        points = curve(items[1], path, index).keyframe_points
        for row in FLIPPED:
            for name in ("handle_left", "handle_right", "co") if free else ("co_ui",):
                getattr(points[row], name).y = flipped(mode, getattr(points[row], name).y, index)
        curve(items[1], path, index).update()
    return items


def away(item: bpy.types.Object, other: bpy.types.Object) -> float:
    """Return the largest difference between the matrices of two objects."""
    frames = np.arange(-3, 60, 0.5)
    return float(np.abs(orientations(item, frames) - orientations(other, frames)).max())


def location_of(item: bpy.types.Object) -> list[dict[str, Any]]:
    return [state for state in snapshot(item) if state["path"][0] == "location"]


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_poses_at_keys_stay_and_the_motion_becomes_that_of_the_twin(animation, mode: str, free: bool) -> None:
    plain, item = twins(mode, free)
    before, untouched = orientations(item, FRAMES), (snapshot(plain), location_of(item))
    assert away(item, plain) > 0.1
    report = animation.fix_rotations(item)
    assert animation.fix_rotations(plain).tracks == 0
    assert (snapshot(plain), location_of(item)) == untouched
    assert (report.tracks, report.changed_keys, report.errors) == (1, len(FLIPPED), [])
    assert np.abs(orientations(item, FRAMES) - before).max() < 1e-6
    assert away(item, plain) < 2e-6
    again = snapshot(item)
    assert animation.fix_rotations(item).tracks == 0
    assert differences(again, snapshot(item)) == []


def test_faults_are_listed_and_nothing_is_changed(animation) -> None:
    _, item = twins("QUATERNION")
    before = snapshot(item)
    (fault,) = animation.find_rotation_faults(item)
    assert (fault.datablock, fault.track, fault.kind) == ("Flipped", "rotation_quaternion", "FLIP")
    # A change back to the first sign is also a flip.
    assert (fault.frames, fault.repairable) == ((21, 41, 51), True)
    assert str(fault) == (
        '"Flipped", Quaternion Rotation: the rotation flips at frames 21, 41, 51, because the '
        "quaternion changes sign from the previous key"
    )
    assert differences(before, snapshot(item)) == []


def test_an_empty_list_of_prefixes_chooses_no_rotation(animation) -> None:
    _, item = twins("QUATERNION")
    before = snapshot(item)
    assert animation.find_rotation_faults(item, []) == []
    assert animation.fix_rotations(item, []).tracks == 0
    assert differences(before, snapshot(item)) == []


def wheel(turns: float = 2.0, frames: tuple[float, float] = (1, 25)) -> bpy.types.Object:
    item = new_object("Wheel")
    key(item, "rotation_euler", [(frames[0], (0, 0, 0)), (frames[1], (0, turns * 2 * np.pi + 0.1, 0))])
    return item


def test_a_spin_is_listed_and_kept_unless_the_short_way_is_asked_for(animation) -> None:
    item = wheel()
    before = snapshot(item)
    report = animation.fix_rotations(item)
    assert (report.tracks, report.errors) == (0, [])
    assert list(map(str, report.notes)) == [
        '"Wheel", Euler Rotation: the turn to the key at frame 25 exceeds 180 degrees. Set Turns to Shortest'
    ]
    assert differences(before, snapshot(item)) == []
    assert animation.fix_rotations(item, turns="SHORTEST").changed_keys == 1
    assert curve(item, "rotation_euler", 1).evaluate(25) == pytest.approx(0.1, abs=1e-6)


def test_the_kept_turn_of_a_tcb_track_has_the_setting_of_the_track(animation) -> None:
    item = wheel()
    animation.enable(item, keep_look=False)
    assert "Turns: Shortest in the Track panel" in str(animation.find_rotation_faults(item)[0])


def test_a_jump_by_a_whole_turn_within_a_frame_is_repaired(animation) -> None:
    item = wheel(1.0, (1, 2))
    assert [fault.kind for fault in animation.find_rotation_faults(item)] == ["JUMP"]
    animation.fix_rotations(item)
    assert curve(item, "rotation_euler", 1).evaluate(2) == pytest.approx(0.1, abs=1e-6)


def test_one_euler_angle_with_keys_of_its_own_is_repaired(animation) -> None:
    item = new_object()
    item.rotation_euler = 0.3, 0.2, 0.1
    key(item, "rotation_euler", [(1, (3.0,) * 3), (2, (-3.0,) * 3), (3, (-2.8,) * 3)], channels=[2])
    before = orientations(item, (1, 2, 3))
    assert animation.fix_rotations(item).changed_keys == 2
    assert np.abs(orientations(item, (1, 2, 3)) - before).max() < 1e-6
    assert 3.0 < curve(item, "rotation_euler", 2).evaluate(1.5) < 2 * np.pi - 3.0


def test_channels_keyed_at_different_frames_are_listed_and_stay(animation) -> None:
    _, item = twins("QUATERNION")
    curve(item, "rotation_quaternion", 1).keyframe_points.insert(15, 0.2)
    before = snapshot(item)
    report = animation.fix_rotations(item)
    assert [error.message for error in report.errors] == [
        "channels are keyed at different frames. Key all channels at the same frames first"
    ]
    assert differences(before, snapshot(item)) == []
    assert not any(fault.repairable for fault in animation.find_rotation_faults(item))


def lock(animation, item: bpy.types.Object) -> None:
    curve(item, "rotation_quaternion").lock = True


def modify(animation, item: bpy.types.Object) -> None:
    curve(item, "rotation_quaternion").modifiers.new("NOISE")


def bake(animation, item: bpy.types.Object) -> None:
    animation.bake(item, keep_look=False)


def add(animation, item: bpy.types.Object) -> None:
    item.animation_data.action_blend_type = "COMBINE"


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (lock, "locked"),
        (modify, "modifiers"),
        (bake, "Free Bake first"),
        (add, "adds the action to other motion"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_the_reason(animation, prepare, reason: str) -> None:
    _, item = twins("QUATERNION")
    prepare(animation, item)
    before = snapshot(item)
    report = animation.fix_rotations(item)
    assert [reason in error.message for error in report.errors] == [True]
    assert report.tracks == 0
    assert differences(before, snapshot(item)) == []


def unused(item: bpy.types.Object) -> bpy.types.Action:
    action = item.animation_data.action
    assert action is not None
    action.use_fake_user = True
    item.animation_data.action = None
    return action


def test_an_action_that_nothing_uses_gets_its_signs_repaired(animation) -> None:
    plain, item = twins("QUATERNION")
    action = unused(item)
    (fault,) = animation.find_rotation_faults(action)
    assert (fault.datablock, fault.action) == ("FlippedAction (action)", "FlippedAction")
    assert animation.fix_rotations(action).changed_keys == len(FLIPPED)
    share(action, item)
    assert away(item, plain) < 2e-6


def test_without_an_order_the_other_euler_solution_stays_and_an_nla_strip_tells_the_order(animation) -> None:
    plain, item = twins("ZXY")
    action = unused(item)
    assert animation.fix_rotations(action).changed_keys == 0
    strip = item.animation_data.nla_tracks.new().strips.new("Strip", 1, action)
    if HAS_SLOTS:
        strip.action_slot = action.slots[0]
    assert animation.fix_rotations(action).changed_keys == len(FLIPPED)
    item.animation_data.nla_tracks.remove(item.animation_data.nla_tracks[0])
    share(action, item)
    assert away(item, plain) < 2e-6


def test_two_users_with_different_orders_leave_whole_turns_only(animation) -> None:
    _, item = twins("XYZ")
    other = new_object("Other", "ZYX")
    share(item.animation_data.action, other)
    assert animation.fix_rotations(item).changed_keys == 0
    other.rotation_mode = "XYZ"
    assert animation.fix_rotations(item).changed_keys == len(FLIPPED)


def test_keys_near_gimbal_lock_are_listed(animation) -> None:
    item = new_object()
    key(item, "rotation_euler", [(1, (0, 0, 0)), (20, (0.2, np.radians(89), 0.1))])
    (fault,) = animation.find_rotation_faults(item)
    assert (fault.kind, fault.frames, fault.repairable) == ("GIMBAL", (20,), False)


def test_the_operator_repairs_selected_bones_only_and_lists_what_is_left(animation, capfd) -> None:
    rig = new_rig("one", "two")
    for name in ("one", "two"):
        rig.pose.bones[name].rotation_mode = "QUATERNION"
        path = f'pose.bones["{name}"].rotation_quaternion'
        key(rig, path, [(1, (1, 0, 0, 0)), (10, (-0.9, -0.1, 0, 0))], group=name)
    choose_alone(rig)
    bpy.ops.object.mode_set(mode="POSE")
    bones = rig.pose.bones if bpy.app.version >= (5, 0, 0) else rig.data.bones
    for bone in bones:
        bone.select = bone.name == "two"
    assert bpy.ops.tcb.fix_rotations() == {"FINISHED"}
    assert curve(rig, 'pose.bones["one"].rotation_quaternion').evaluate(10) < 0
    assert curve(rig, 'pose.bones["two"].rotation_quaternion').evaluate(10) > 0
    assert bpy.ops.tcb.fix_rotations() == {"CANCELLED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    choose_alone(wheel())
    assert bpy.ops.tcb.fix_rotations() == {"FINISHED"}
    (finding,) = bpy.context.window_manager.tcb_findings
    assert (finding.item, finding.frame) == ("Wheel", 25)
    reported = capfd.readouterr().out
    assert "1 rotation fault remains: the turn to the key at frame 25 exceeds 180 degrees" in reported


def test_linked_actions_are_refused_and_an_override_gets_a_copy_only_where_it_is_repaired(animation, tmp_path) -> None:
    turning = linked(wheel(), tmp_path / "wheel.blend").override_create()
    assert animation.fix_rotations(turning).tracks == 0
    assert turning.animation_data.action.library is not None
    plain, item = twins("QUATERNION")
    item = linked(item, tmp_path / "flipped.blend").override_create()
    with pytest.raises(animation.AnimationError, match="linked"):
        animation.fix_rotations(item.animation_data.action)
    report = animation.fix_rotations(item)
    assert (report.tracks, report.changed_keys) == (1, len(FLIPPED))
    assert item.animation_data.action.library is None
    bpy.context.scene.collection.objects.link(item)
    assert away(item, plain) < 2e-6
