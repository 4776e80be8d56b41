# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps at joints, compared with the positions of their two ends in Blender."""

from __future__ import annotations

import math
import sys

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.animation.curves import Bone, curve, key, new_object, new_rig, play, seen

FRAMES = np.arange(1, 41.25, 0.25)


def gaps(item, ends):
    """Return the distances in Blender between two points, which `ends` computes from the evaluated object."""
    result = []
    for frame in FRAMES:
        a, b = ends(seen(frame, item))
        result.append((a - b).length)
    return np.array(result)


def test_a_joint_that_only_turns_holds(animation, arm):
    gap = animation.joint_gap(arm, "lower")
    assert gap.distance == 0.0
    assert "has no gap" in str(gap)


def test_a_bone_that_is_moved_off_its_parents_tail_is_found_at_the_frame_where_it_is_farthest(animation, arm):
    key(arm, 'pose.bones["lower"].location', [(1, (0, 0, 0)), (13, (0.3, 0.1, 0)), (25, (0, 0, 0))])
    gap = animation.joint_gap(arm, "lower")
    seen_gaps = gaps(arm, lambda rig: (rig.pose.bones["lower"].head, rig.pose.bones["upper"].tail))
    assert gap.distance == pytest.approx(seen_gaps.max(), abs=1e-5)
    assert seen_gaps[np.searchsorted(FRAMES, gap.frame)] == pytest.approx(seen_gaps.max(), abs=1e-5)


def test_a_bone_that_rests_beside_its_parent_hangs_on_the_place_where_it_rests(animation, arm):
    assert animation.joint_gap(arm, "loose").distance == 0.0


def test_a_chain_of_bones_may_be_longer_than_the_limit_of_recursion(animation, scene):
    scene.frame_end = 2
    count = sys.getrecursionlimit() // 3
    bones = [Bone(str(i), (0, 0, 0.1 * i), (0, 0, 0.1 * i + 0.1), str(i - 1)) for i in range(count)]
    assert animation.joint_gap(new_rig(*bones), bones[-1].name).distance == 0.0


def test_a_bone_under_a_constraint_is_stepped_through(animation, arm):
    constraint = arm.pose.bones["loose"].constraints.new("LIMIT_LOCATION")
    constraint.use_min_x, constraint.min_x, constraint.owner_space = True, 0.2, "LOCAL"
    assert animation.joint_gap(arm, "loose").distance == pytest.approx(0.2, abs=1e-5)


def test_an_objects_origin_is_held_against_its_place_at_the_first_frame(animation, scene):
    scene.frame_end = 41
    lid, box = new_object("Lid", "XYZ"), new_object("Box", "XYZ")
    lid.parent = box
    key(box, "rotation_euler", [(1, (0, 0, 0)), (41, (1, 2, 0))])
    key(lid, "location", [(1, (0, 1, 1)), (21, (0, 1.2, 1)), (41, (0, 1, 1))])
    gap = animation.joint_gap(lid)
    distances = []
    for frame in FRAMES:
        play(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        place = box.evaluated_get(graph).matrix_world @ Vector((0, 1, 1))
        distances.append((lid.evaluated_get(graph).matrix_world.translation - place).length)
    assert gap.distance == pytest.approx(max(distances), abs=1e-5)
    assert gap.frame == 21


def test_what_has_no_parent_is_refused_by_name(animation, arm):
    with pytest.raises(animation.AnimationError, match=r'"Arm".*no parent'):
        animation.joint_gap(arm)
    with pytest.raises(animation.AnimationError, match="bone 'upper' has no parent"):
        animation.joint_gap(arm, "upper")
    with pytest.raises(animation.AnimationError, match='no bone "leg"'):
        animation.joint_gap(arm, "leg")


@pytest.mark.parametrize("scale", [(0, 1, 1), (1e-20, 1, 1), (0, 0, 0)])
def test_a_parent_of_no_size_is_refused_with_its_frame(animation, scene, scale):
    lid, box = new_object("Lid", "XYZ"), new_object("Box", "XYZ")
    lid.parent, box.scale = box, scale
    with pytest.raises(animation.AnimationError, match="scale is zero at frame 1"):
        animation.joint_gap(lid)


def test_a_tiny_parent_is_not_flat(animation, scene):
    lid, box = new_object("Lid", "XYZ"), new_object("Box", "XYZ")
    lid.parent, box.scale = box, (1e-13,) * 3
    assert animation.joint_gap(lid).distance == 0.0


def test_a_place_that_is_no_number_is_refused_with_its_frame(animation, scene):
    parent, child = new_object("Parent"), new_object("Child")
    child.parent = parent
    key(child, "location", [(1, (0, 0, 0)), (21, (0, 0, 1))])
    curve(child, "location").keyframe_points[1].co.y = math.nan
    with pytest.raises(animation.AnimationError, match=r'"Child", frame 1\.25: the position is not a finite number'):
        animation.joint_gap(child)


def test_an_object_on_a_bone_that_is_gone_hangs_on_the_armature(animation, arm):
    thing = new_object("Thing")
    thing.parent, thing.parent_type, thing.parent_bone = arm, "BONE", "gone"
    key(thing, "location", [(1, (0, 0, 0)), (21, (0, 3, 0)), (41, (0, 0, 0))])
    gap = animation.joint_gap(thing)
    assert (gap.parent, gap.frame) == ("Arm", 21)
    at = seen(21, thing).matrix_world.translation.copy()
    assert gap.distance == pytest.approx((at - seen(1, thing).matrix_world.translation).length, abs=1e-5)
