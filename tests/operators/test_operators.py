# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators on the selection, as called by scripts and buttons."""

from __future__ import annotations

import math
from types import SimpleNamespace

import bpy
import pytest

from tests.animation.curves import PARAMETERS, differences, fcurves, insert, new_object, select_bone, snapshot


@pytest.fixture
def animation(tcb_animation):
    return tcb_animation.animation


@pytest.fixture
def is_tcb(animation):
    """is_tcb(datablock, path): true if the track is TCB."""
    return lambda datablock, path: animation.find_track(datablock, path).enabled


def test_enable_bake_restore_and_remove_leave_the_curves_as_they_were(keyed, numbers):
    cube = keyed("Cube")
    before, high_bits = snapshot(cube), snapshot(cube, identities=False)
    assert bpy.ops.tcb.enable() == {"FINISHED"}
    assert bpy.ops.tcb.key_set(track="location", frame=11, tension=0.5) == {"FINISHED"}
    assert bpy.ops.tcb.bake(step=0.5) == {"FINISHED"}
    assert snapshot(cube, identities=False) != high_bits
    assert bpy.ops.tcb.restore() == {"FINISHED"}
    assert differences(high_bits, snapshot(cube, identities=False)) == []
    assert numbers(cube, "location", "tension")[11.0] == 0.5
    assert bpy.ops.tcb.remove() == {"FINISHED"}
    assert differences(before, snapshot(cube)) == []
    assert not cube.animation_data.action.keys()


@pytest.mark.parametrize(
    ("output", "option"), [("SAMPLES", "step"), ("CURVES", "value_tolerance"), ("HANDLES", "rotation_tolerance")]
)
def test_a_number_too_large_for_blender_is_its_largest_to_a_bake(keyed, numbers, output: str, option: str):
    cube = keyed("Cube")
    for _ in range(2):
        assert bpy.ops.tcb.bake(output=output, keep_look=False, **{option: 1e308}) == {"FINISHED"}
    assert numbers(cube, "location", "tension") == {}
    with pytest.raises(RuntimeError, match=f"Error: {option} nan is not a finite number"):
        bpy.ops.tcb.bake(output=output, **{option: math.nan})


def test_apply_keeps_the_keys_of_a_bake_as_plain_ones(keyed):
    cube = keyed("Cube")
    bpy.ops.tcb.bake()
    before = [len(fcurve.keyframe_points) for fcurve in fcurves(cube)]
    assert bpy.ops.tcb.apply() == {"FINISHED"}
    assert [len(fcurve.keyframe_points) for fcurve in fcurves(cube)] == before
    assert {point.type for fcurve in fcurves(cube) for point in fcurve.keyframe_points} == {"KEYFRAME"}
    assert not cube.animation_data.action.keys()


def test_restore_says_that_live_is_off_where_it_switches_it_off(keyed, capfd):
    cube = keyed("Cube")
    bpy.ops.tcb.enable(live=True)
    capfd.readouterr()
    bpy.ops.tcb.restore()
    assert "Restored 1 object, 2 tracks, 6 keys. Live is now off" in capfd.readouterr().out
    assert not cube.animation_data.action.tcb_live
    bpy.ops.tcb.bake()
    bpy.ops.tcb.restore()
    assert "Restored 1 object, 2 tracks, 6 keys\n" in capfd.readouterr().out


def test_every_selected_object_is_baked_and_freed_and_no_other(keyed, curve):
    objects = first, second, _third = keyed("First"), keyed("Second"), keyed("Third")
    second.select_set(False)
    bpy.ops.tcb.bake()
    assert [len(curve(item, "location").keyframe_points) for item in objects] == [31, 3, 31]
    first.select_set(False)
    bpy.ops.tcb.free()
    assert [len(curve(item, "location").keyframe_points) for item in objects] == [31, 3, 3]


def test_what_objects_are_made_of_is_baked_with_them_unless_left_out(keyed, curve):
    camera = bpy.data.cameras.new("Camera")
    insert(camera, "lens", [(1, 35.0), (21, 50.0)])
    keyed("Eye", camera)
    bpy.ops.tcb.bake(use_data=False)
    assert len(curve(camera, "lens").keyframe_points) == 2
    bpy.ops.tcb.bake()
    assert len(curve(camera, "lens").keyframe_points) == 21


def test_a_lens_has_parameters_through_the_object_that_is_selected(keyed, numbers):
    camera = bpy.data.cameras.new("Camera")
    insert(camera, "lens", [(1, 35.0), (21, 50.0)])
    keyed("Eye", camera)
    assert bpy.ops.tcb.key_set(track="lens", frame=21, ease_to=0.5) == {"FINISHED"}
    assert numbers(camera, "lens", "ease_to") == {21.0: 0.5}


def test_in_pose_mode_only_the_selected_bones_are_baked(posed, curve):
    assert bpy.ops.tcb.bake() == {"FINISHED"}
    lengths = [len(curve(posed, f'pose.bones["{name}"].rotation_euler').keyframe_points) for name in ("left", "right")]
    assert lengths == [3, 41]


def test_in_pose_mode_a_key_is_set_on_the_selected_bone(posed, numbers, is_tcb):
    bpy.ops.tcb.key_set(track="rotation", frame=21, bias=-0.25)
    assert numbers(posed, 'pose.bones["right"].rotation_euler', "bias") == {21.0: -0.25}
    assert not is_tcb(posed, 'pose.bones["left"].rotation_euler')


def test_key_set_without_a_frame_means_the_current_one(keyed, numbers):
    cube = keyed("Cube")
    bpy.context.scene.frame_set(11)
    bpy.ops.tcb.key_set(track="location", continuity=1.0)
    assert numbers(cube, "location", "continuity") == {11.0: 1.0}


def test_a_parameter_that_is_not_given_stays(keyed, numbers):
    cube = keyed("Cube")
    bpy.ops.tcb.key_set(track="location", frame=11, tension=0.5)
    bpy.ops.tcb.key_set(track="location", frame=11, bias=0.25)
    assert numbers(cube, "location", "tension") == {11.0: 0.5}
    assert numbers(cube, "location", "bias") == {11.0: 0.25}


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: bpy.ops.tcb.key_set(track="location", frame=12, tension=0.5), '"Cube", Location, frame 12: no key'),
        (lambda: bpy.ops.tcb.key_set(track="scale", frame=11, tension=0.5), '"Cube", Scale: no such track'),
        (lambda: bpy.ops.tcb.key_set(track="location", frame=11), "Nothing to set. Give one of tension"),
        (lambda: bpy.ops.tcb.bake(step=0.0), "step 0"),
        (lambda: bpy.ops.tcb.bake(step=-1.0), "step -1"),
        (lambda: bpy.ops.tcb.bake(sample_limit=10), "limit of 10"),
        (lambda: bpy.ops.tcb.free(), "No selected track is baked"),
        (lambda: bpy.ops.tcb.restore(), "No selected track plays TCB motion"),
        (lambda: bpy.ops.tcb.apply(), "No selected track is TCB"),
        (lambda: bpy.ops.tcb.remove(), "No selected track is TCB"),
        (lambda: bpy.ops.tcb.track_choose(track="location", method="SHOEMAKE"), "interpolates rotations only"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(keyed, call, reason):
    cube = keyed("Cube")
    before = snapshot(cube)
    with pytest.raises(RuntimeError, match=reason.replace("(", r"\(")):
        call()
    assert snapshot(cube) == before


@pytest.mark.parametrize("operator", ["enable", "bake"])
def test_an_object_without_animation_is_a_note_beside_an_animated_one(keyed, scene, capfd, operator):
    keyed("Good")
    still = new_object("Still")
    still.select_set(True)
    assert getattr(bpy.ops.tcb, operator)() == {"FINISHED"}
    assert 'Info: "Still": no animation' in capfd.readouterr().out


def test_nothing_selected_greys_the_button_out(keyed):
    keyed("Cube").select_set(False)
    assert not bpy.ops.tcb.bake.poll()


def test_each_operator_but_those_that_change_no_data_is_an_undo_step():
    flags = {
        f"{group}.{verb}": getattr(getattr(bpy.types, f"{group.upper()}_OT_{verb}"), "bl_options", set())
        for group in ("tcb", "import_anim", "export_anim")
        for verb in dir(getattr(bpy.ops, group))
        if group == "tcb" or verb.startswith("tcb_")
    }
    assert {name for name, options in flags.items() if not options & {"UNDO", "UNDO_GROUPED"}} == {
        "export_anim.tcb_3ds",
        "export_anim.tcb_table",
        "tcb.check",
        "tcb.edit_tried",
        "tcb.joint_check",
        "tcb.key_copy",
        "tcb.last_event",
        "tcb.messages_dismiss",
        "tcb.path_hover",
        "tcb.preset_add",
        "tcb.reduce_compare",
        "tcb.track_select",
    }


def test_the_scene_range_extends_a_bake_of_cycles(keyed, curve, scene):
    cube = keyed("Cube")
    scene.frame_start, scene.frame_end = 1, 91
    bpy.ops.tcb.enable()
    bpy.ops.tcb.track_choose(track="location", cycle="REPEAT")
    bpy.ops.tcb.bake(use_scene_range=True)
    location = curve(cube, "location")
    assert [round(location.evaluate(frame), 5) for frame in (11, 41, 71)] == [5.0, 5.0, 5.0]


def test_choosing_for_a_plain_track_preserves_its_motion_with_the_default_parameters(keyed, curve, scene, capfd):
    cube = keyed("Cube")
    # The best fit to a motion with all parameters 0 is again 0, which differs from the default tension.
    bpy.ops.tcb.bake(output="HANDLES", keep_look=False)
    bpy.ops.tcb.apply()
    scene.tcb.defaults.tension = 1.0
    frames = range(1, 32)
    before = [curve(cube, "location").evaluate(frame) for frame in frames]
    assert bpy.ops.tcb.track_choose(track="location", cycle="SINGLE") == {"FINISHED"}
    assert "1 object, 1 track, motion of 1 track preserved" in capfd.readouterr().out
    bpy.ops.tcb.bake()
    after = [curve(cube, "location").evaluate(frame) for frame in frames]
    assert after == pytest.approx(before, abs=1e-3)


def test_remove_works_on_a_bake_whose_table_is_gone(keyed, curve):
    cube = keyed("Cube")
    bpy.ops.tcb.bake()
    cube.animation_data.action.pop("tcb_animation")
    assert not bpy.ops.tcb.free.poll()
    assert bpy.ops.tcb.remove() == {"FINISHED"}
    assert [point.co.x for point in curve(cube, "location").keyframe_points] == [1.0, 11.0, 31.0]
    assert not any(fcurve.lock for fcurve in fcurves(cube))


def test_jumping_between_keys_passes_over_generated_ones(keyed, scene):
    keyed("Cube")
    bpy.ops.tcb.bake()
    scene.frame_set(1)
    bpy.ops.tcb.key_jump(direction="NEXT")
    assert scene.frame_current == 11
    bpy.ops.tcb.key_jump(direction="NEXT")
    bpy.ops.tcb.key_jump(direction="PREVIOUS")
    assert scene.frame_current == 11


def test_a_bone_without_a_key_there_does_not_keep_the_others_from_theirs(posed, curve, numbers):
    select_bone(posed, "left", True)
    curve(posed, 'pose.bones["left"].rotation_euler').keyframe_points[1].co.x = 22.0
    for index in (1, 2):
        curve(posed, 'pose.bones["left"].rotation_euler', index).keyframe_points[1].co.x = 22.0
    with pytest.raises(RuntimeError, match=r"left.*frame 21: no key"):
        bpy.ops.tcb.key_set(track="rotation", frame=21, tension=0.5)
    assert numbers(posed, 'pose.bones["right"].rotation_euler', "tension") == {21.0: 0.5}


def test_a_bake_keeps_the_look_of_plain_keys_unless_told_otherwise(keyed, numbers):
    for given in ({"keep_look": False}, {}):
        cube = keyed(f"Cube {len(given)}")
        assert bpy.ops.tcb.bake(**given) == {"FINISHED"}
        assert bool(numbers(cube, "location", "tension")) != bool(given)
        assert not given or not any(numbers(cube, "location", name) for name in PARAMETERS)
        cube.select_set(False)


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("SAMPLES", {"step", "use_scene_range", "sample_limit"}),
        ("CURVES", {"value_tolerance", "rotation_tolerance", "use_scene_range", "sample_limit"}),
        ("HANDLES", {"value_tolerance", "rotation_tolerance"}),
    ],
)
def test_bake_shows_what_matters_to_its_output(tcb_animation, output, shown):
    drawn = []
    layout = SimpleNamespace(prop=lambda _owner, name: drawn.append(name))
    bake = tcb_animation.operators.bake.TCB_OT_bake
    operator = SimpleNamespace(layout=layout, output=output)
    operator.used_options = lambda: bake.used_options(operator)
    bake.draw(operator, bpy.context)
    assert set(drawn) - {"output", "keep_look", "use_data"} == shown
