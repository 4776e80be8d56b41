# SPDX-License-Identifier: GPL-3.0-or-later
"""Relax in the interface: on selected keys, with reports."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.animation.curves import curve, differences, key, new_object, seen, snapshot


@pytest.fixture
def foot(scene):
    """A selected, active foot with baked keys at 1, 20, 30 and 60, which sinks between 20 and 30."""
    scene.frame_end = 60
    item = new_object("Foot", "XYZ")
    key(item, "location", [(1, (0, 0, 3)), (20, (2, 0, 0)), (30, (4, 0, 0)), (60, (6, 0, 3))])
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    bpy.ops.tcb.bake(step=0.5, keep_look=False)
    return item


def lowest(item):
    return min(seen(frame, item).matrix_world.translation.z for frame in np.arange(1, 60.25, 0.25))


def test_selected_keys_keep_a_foot_above_the_floor(foot, choose):
    choose(foot, "location", 20, 30)
    assert lowest(foot) < -0.2
    assert bpy.ops.tcb.relax(condition="ABOVE") == {"FINISHED"}
    assert lowest(foot) >= -1e-3
    own = [point.co[:] for point in curve(foot, "location", 2).keyframe_points if point.type != "GENERATED"]
    assert [own[0], own[-1]] == [(1, 3), (60, 3)]


def test_without_a_selected_key_it_says_what_to_select(foot, choose):
    choose(foot, "location")
    before = snapshot(foot)
    with pytest.raises(RuntimeError, match="Select the keys to adjust"):
        bpy.ops.tcb.relax(condition="ABOVE")
    assert differences(before, snapshot(foot)) == []


def test_where_it_holds_there_is_nothing_to_do(foot, choose):
    choose(foot, "location", 20, 30)
    before = snapshot(foot)
    assert bpy.ops.tcb.relax(condition="ABOVE", height=-2.0) == {"CANCELLED"}
    assert differences(before, snapshot(foot)) == []


def test_an_unknown_target_or_bone_is_named(foot, choose):
    choose(foot, "location", 20, 30)
    with pytest.raises(RuntimeError, match='no object "Pole"'):
        bpy.ops.tcb.relax(condition="AT", target="Pole")
    with pytest.raises(RuntimeError, match=r"no target is chosen\. Choose a target first"):
        bpy.ops.tcb.relax(condition="AT")
    new_object("Post", "XYZ")
    with pytest.raises(RuntimeError, match=r'"Post".*no bone "tip"'):
        bpy.ops.tcb.relax(condition="AT", target="Post", target_bone="tip")


def test_in_pose_mode_the_selected_bones_turn_within_limits(posed, choose):
    bpy.ops.tcb.bake(step=0.5, keep_look=False)
    choose(posed, 'pose.bones["right"].rotation_euler', 1, 21, 41)
    high = (0.8, 0.0, 0.0)
    assert bpy.ops.tcb.relax(condition="LIMITS", use_high=(True, False, False), high=high) == {"FINISHED"}
    turned = []
    for frame in np.arange(1, 41.25, 0.25):
        bone = seen(frame, posed).pose.bones["right"]
        turned.append(bone.matrix_basis.to_euler("XYZ").x)
    assert 0.79 < max(turned) <= 0.8 + np.radians(0.1) + 1e-4
    # The other bone was not selected.
    assert curve(posed, 'pose.bones["left"].rotation_euler').keyframe_points[1].co.y == 1.0
