# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks in the interface, and jumps to their findings."""

from __future__ import annotations

import bpy
import pytest

from tests.animation.curves import curve, key, new_object


@pytest.fixture
def eye(scene):
    """A selected, active camera. Its clip planes cross at frame 12.5, and its scale passes zero after 40.5."""
    data = bpy.data.cameras.new("Eye")
    item = new_object("Eye", data=data)
    key(data, "clip_end", [(1, 100.0), (11, 0.5), (14, 0.5), (21, 100.0)])
    key(data, "clip_start", [(1, 0.1), (11, 0.4), (12.5, 0.6), (14, 0.4), (21, 0.1)])
    key(item, "scale", [(40, (1, 1, 1)), (41, (1, 1, -1))])
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


def listed():
    return list(bpy.context.window_manager.tcb_findings)


def test_check_lists_where_conditions_break_and_goes_to_each(eye):
    assert bpy.ops.tcb.check() == {"FINISHED"}
    assert [finding.item for finding in listed()] == ["Eye", "Eye"]
    clip, scale = listed()
    bpy.ops.tcb.finding_show(index=0)
    assert bpy.context.scene.frame_current_final == pytest.approx(clip.frame)
    assert eye.data.clip_start >= eye.data.clip_end
    bpy.ops.tcb.finding_show(index=1)
    assert bpy.context.scene.frame_current_final == pytest.approx(scale.frame, abs=1e-4)
    assert abs(eye.scale.z) < 1e-2


def test_going_to_a_finding_selects_its_object_alone(eye):
    bpy.ops.tcb.check()
    other = new_object("Other", "XYZ")
    other.select_set(True)
    eye.select_set(False)
    bpy.context.view_layer.objects.active = other
    bpy.ops.tcb.finding_show(index=0)
    assert (bpy.context.object, bpy.context.selected_objects) == (eye, [eye])


def test_check_looks_at_selected_objects_only(eye):
    eye.select_set(False)
    other = new_object("Other", "XYZ")
    other.select_set(True)
    bpy.ops.tcb.check()
    assert listed() == []
    other.select_set(False)
    assert not bpy.ops.tcb.check.poll()


def test_a_custom_range_leaves_the_rest_out(eye):
    bpy.ops.tcb.check(use_range=True, frame_start=30, frame_end=50)
    assert len(listed()) == 1
    with pytest.raises(RuntimeError, match="empty"):
        bpy.ops.tcb.check(use_range=True, frame_start=30, frame_end=20)


def test_what_was_not_looked_at_is_a_warning(eye, capsys):
    bpy.ops.tcb.check(use_range=True, frame_start=1, frame_end=1e9)
    said = capsys.readouterr().out
    assert listed() == []
    assert 'Warning: "Eye": not checked: ' in said
    assert "Warning: Violations: 0, not checked: 1, in 0 objects" in said
    assert "hold" not in said


def test_joint_check_lists_the_frame_where_the_joint_is_farthest_apart(scene):
    scene.frame_end = 40
    parent, child = new_object("Parent", "XYZ"), new_object("Child", "XYZ")
    child.parent = parent
    key(child, "location", [(1, (0, 0, 0)), (11, (0, 0, 2)), (21, (0, 0, 0))])
    bpy.context.view_layer.objects.active = child
    assert bpy.ops.tcb.joint_check() == {"FINISHED"}
    (finding,) = listed()
    assert finding.frame == 11
    assert "2 away from its position" in finding.name
    bpy.context.view_layer.objects.active = parent
    assert not bpy.ops.tcb.joint_check.poll()


def test_without_an_active_bone_the_joint_of_the_selected_bone_is_checked(other_posed):
    assert bpy.ops.tcb.joint_check() == {"FINISHED"}
    (finding,) = listed()
    assert (finding.item, finding.bone) == ("Other", "Hand")


def test_fix_rotations_is_one_undo_step_and_lists_the_spin(scene):
    item = new_object("Cube", "QUATERNION")
    key(item, "rotation_quaternion", [(1, (1, 0, 0, 0)), (20, (-0.9, -0.3, 0, 0)), (40, (0.8, 0.6, 0, 0))])
    wheel = new_object("Wheel", "XYZ")
    key(wheel, "rotation_euler", [(1, (0, 0, 0)), (50, (0, 12.6, 0))])
    for each in (item, wheel):
        each.select_set(True)
    bpy.context.view_layer.objects.active = item
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.tcb.fix_rotations("EXEC_DEFAULT", True) == {"FINISHED"}
    assert [finding.item for finding in listed()] == ["Wheel"]
    own = [point.co.y for point in curve(item, "rotation_quaternion").keyframe_points]
    assert own == pytest.approx([1.0, 0.9, 0.8])
    bpy.ops.ed.undo()
    own = [point.co.y for point in curve(bpy.data.objects["Cube"], "rotation_quaternion").keyframe_points]
    assert own == pytest.approx([1.0, -0.9, 0.8])
