# SPDX-License-Identifier: GPL-3.0-or-later
"""An edit that changes the motion between keys is visible at the current frame at once."""

from __future__ import annotations

import bpy
import pytest

from tests.all_pairs import each_once
from tests.animation.curves import curve, insert, new_object, new_rig
from tests.animation.live import let_time_pass

FRAME = 30
"""A frame between the keys at 20 and 40."""


@pytest.fixture
def ball(scene):
    """A selected object, keyed at frames 1, 20 and 40, with the playhead between two of its keys."""
    item = new_object("Ball")
    insert(item, "location", [(1, (-4, 0, 3)), (20, (0, 1, -3)), (40, (4, 5, 3))])
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    bpy.context.window_manager.tcb_track = ""
    scene.frame_set(FRAME)
    return item


@pytest.fixture
def settle(tcb_animation):
    """Process the edit, and evaluate the scene."""

    def wait():
        let_time_pass(tcb_animation.animation)
        bpy.context.view_layer.update()

    return wait


def played():
    """Return the ball's location from its F-curves at the current frame."""
    ball, frame = bpy.data.objects["Ball"], bpy.context.scene.frame_current
    return tuple(curve(ball, "location", index).evaluate(frame) for index in range(3))


def shown():
    """Return the location at which Blender shows the ball."""
    evaluated = bpy.data.objects["Ball"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return tuple(evaluated.matrix_world.translation)


def slide():
    bpy.context.scene.tcb.tension = 0.75


EDITS = {
    "slider": slide,
    "value": lambda: setattr(bpy.context.scene.tcb, "key_value", (0.0, 3.0, -3.0, 0.0)),
    "frame": lambda: setattr(bpy.context.scene.tcb, "key_frame", 22),
    "key_set": lambda: bpy.ops.tcb.key_set(track="location", frame=20, tension=0.75),
    "linear": lambda: bpy.ops.tcb.key_set(track="location", frame=20, interpolation="LINEAR"),
    "drag": lambda: bpy.ops.tcb.key_drag(parameter="bias", amount=0.75),
    "preset": lambda: bpy.ops.tcb.preset_apply(preset="corner"),
    "method": lambda: bpy.ops.tcb.track_choose(track="location", method="LINEAR"),
    "restore": lambda: bpy.ops.tcb.restore(),
    "remove": lambda: bpy.ops.tcb.remove(),
    "bake": lambda: bpy.ops.tcb.bake(output="SAMPLES"),
}


@pytest.mark.parametrize(("output", "edit"), each_once(["HANDLES", "CURVES", "SAMPLES"], [*EDITS][:-3]))
def test_an_edit_between_two_keys_shows_at_once(ball, settle, edit, output):
    bpy.ops.tcb.enable(live=True)
    bpy.ops.tcb.bake(output=output)
    settle()
    before = played()
    assert shown() == pytest.approx(before, abs=1e-6)
    EDITS[edit]()
    settle()
    assert played() != before
    assert shown() == pytest.approx(played(), abs=1e-6)


def test_an_undone_edit_shows_at_once(ball, settle):
    bpy.ops.tcb.enable(live=True)
    settle()
    bpy.ops.ed.undo_push(message="enabled")
    before = shown()
    slide()
    bpy.ops.ed.undo_push(message="slid")
    settle()
    assert shown() != before
    bpy.ops.ed.undo()
    settle()
    assert shown() == pytest.approx(before, abs=1e-6)
    bpy.ops.ed.redo()
    settle()
    assert shown() == pytest.approx(played(), abs=1e-6)
    assert shown() != before


@pytest.mark.parametrize("edit", ["restore", "remove", "bake", "linear"])
def test_what_is_not_live_shows_at_once_too(ball, settle, edit):
    bpy.ops.tcb.enable(live=False)
    if edit in ("restore", "remove"):
        bpy.ops.tcb.bake(output="HANDLES")
    settle()
    before = played()
    assert shown() == pytest.approx(before, abs=1e-6)
    EDITS[edit]()
    bpy.context.view_layer.update()
    assert played() != before
    assert shown() == pytest.approx(played(), abs=1e-6)


def test_a_pose_that_is_not_keyed_yet_stays_as_a_key_is_inserted_beside_it(scene, settle):
    rig = new_rig("Arm", "Hand")
    arm, hand = rig.pose.bones
    for bone in (arm, hand):
        insert(bone, "location", [(1, (0, 0, 0)), (20, (1, 0, 0)), (40, (0, 1, 0))])
    rig.select_set(True)
    bpy.ops.tcb.enable(live=True)
    scene.frame_set(FRAME)
    settle()
    arm.location = (7, 7, 7)
    hand.location = (5, 5, 5)
    hand.keyframe_insert("location")
    settle()
    # Live has placed the handles of the key.
    point = curve(rig, 'pose.bones["Hand"].location').keyframe_points[2]
    assert (point.co.x, point.handle_right_type) == (FRAME, "FREE")
    assert tuple(arm.location) == (7, 7, 7)
