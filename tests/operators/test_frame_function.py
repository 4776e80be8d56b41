# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators Frame Function and Remove Frame Function, and the panel Timing."""

from __future__ import annotations

import re

import bpy
import pytest

from tests.panels.layouts import drawn


@pytest.mark.parametrize("level", ["TRACK", "OBJECT", "SCENE"])
def test_at_each_level_it_comes_and_goes(keyed, curve, scene, level):
    cube = keyed("Cube")
    owner, path = {
        "TRACK": (cube, 'tcb_tracks["location"].frame'),
        "OBJECT": (cube, "tcb_frame"),
        "SCENE": (scene, "tcb_frame"),
    }[level]
    assert bpy.ops.tcb.frame_function(level=level, shape="SCALE", scale=3.0) == {"FINISHED"}
    assert curve(owner, path) is not None
    assert bpy.ops.tcb.frame_function_remove(level=level) == {"FINISHED"}
    assert curve(owner, path) is None
    with pytest.raises(RuntimeError, match="no frame function"):
        bpy.ops.tcb.frame_function_remove(level=level)


def test_of_a_scene_that_was_never_animated_there_is_none_to_take_away(scene):
    assert scene.animation_data is None
    with pytest.raises(RuntimeError, match="no frame function"):
        bpy.ops.tcb.frame_function_remove(level="SCENE")


@pytest.mark.parametrize("level", ["TRACK", "OBJECT"])
def test_animation_in_nla_strips_only_is_refused_by_what_is_to_be_done(keyed, level):
    cube = keyed("Cube")
    action = cube.animation_data.action
    cube.animation_data.nla_tracks.new().strips.new("Moves", 1, action)
    cube.animation_data.action = None
    with pytest.raises(RuntimeError, match=r'"Cube": all animation is in NLA strips\. Enter tweak mode'):
        bpy.ops.tcb.frame_function(level=level, shape="REVERSE")


def test_the_rest_is_at_the_current_frame(keyed, curve, scene):
    cube = keyed("Cube")
    scene.frame_set(11)
    bpy.ops.tcb.frame_function(level="OBJECT", shape="HOLD", length=5.0)
    made = curve(cube, "tcb_frame")
    assert [made.evaluate(frame) for frame in (10, 11, 16, 17)] == pytest.approx([10, 11, 11, 12])
    scene.frame_set(99)
    with pytest.raises(RuntimeError, match=r"outside the motion \(frames 1 to 31\)"):
        bpy.ops.tcb.frame_function(level="OBJECT", shape="HOLD")


@pytest.mark.parametrize("shape", ["CONSTANT_SPEED", "CONSTANT_SPEED_KEYS"])
@pytest.mark.parametrize("level", ["OBJECT", "SCENE"])
def test_the_constant_speed_of_an_object_or_scene_is_that_of_the_track_shown(keyed, curve, scene, level, shape):
    owner = {"OBJECT": keyed("Cube"), "SCENE": scene}[level]
    bpy.ops.tcb.frame_function(level=level, shape=shape)
    assert len(curve(owner, "tcb_frame").keyframe_points) > 3


def test_in_pose_mode_it_is_the_active_bone_s_track(posed, curve):
    bpy.ops.tcb.frame_function(level="TRACK", shape="REVERSE")
    assert curve(posed, 'pose.bones["right"].tcb_tracks["rotation_euler"].frame') is not None
    bpy.ops.tcb.frame_function(level="OBJECT", shape="SCALE")
    assert bpy.ops.tcb.bake() == {"FINISHED"}
    posed_bone = posed.pose.bones["right"]
    bpy.context.scene.frame_set(81)
    assert posed_bone.rotation_euler.x == pytest.approx(0.0, abs=1e-5)
    bpy.context.scene.frame_set(1)
    assert posed_bone.rotation_euler.x == pytest.approx(0.5, abs=1e-5)


def test_without_a_track_only_the_scene_can_have_one(scene):
    with pytest.raises(RuntimeError, match="no track"):
        bpy.ops.tcb.frame_function(level="TRACK")
    assert bpy.ops.tcb.frame_function(level="SCENE") == {"FINISHED"}
    with pytest.raises(RuntimeError, match=r"no track is chosen for constant speed\. Choose a track"):
        bpy.ops.tcb.frame_function(level="SCENE", shape="CONSTANT_SPEED")


def test_the_panel_shows_each_level_and_which_frame_is_played(keyed, scene, advanced):
    shown = drawn("TCB_PT_timing")
    assert "Scene" in shown
    assert "Track" not in shown
    keyed("Cube")
    shown = drawn("TCB_PT_timing")
    assert {"Track", "Object", "Scene"} <= set(shown)
    assert not [each for each in shown if "frame_function_remove" in each]
    bpy.ops.tcb.frame_function(level="OBJECT", shape="REVERSE")
    scene.frame_set(3)
    shown = drawn("TCB_PT_timing")
    assert "Frame 3 plays frame 29" in shown
    assert "2 keys" in shown
    assert "FCurve.mute[0]" in shown
    assert [each for each in shown if "frame_function_remove" in each and "OBJECT" in each]


def test_the_speed_change_is_a_number_without_an_exponent(keyed, scene, capfd):
    keyed("Cube")
    bpy.ops.tcb.enable()
    assert bpy.ops.tcb.frame_function(level="TRACK", shape="CONSTANT_SPEED") == {"FINISHED"}
    assert re.search(r"The speed varies by \d+(\.\d)?% between frames", capfd.readouterr().out)
