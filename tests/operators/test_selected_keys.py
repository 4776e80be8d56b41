# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators on selected keys in the animation editors."""

from __future__ import annotations

from unittest.mock import Mock

import bpy
import numpy as np
import pytest

from tests.animation.curves import (
    PARAMETERS,
    differences,
    fcurves,
    insert,
    new_object,
    set_selected,
    snapshot,
)

EDITORS = ["DOPESHEET", "FCURVES", "ACTION", "TIMELINE"]


@pytest.mark.parametrize("kind", EDITORS)
def test_a_parameter_is_set_on_all_selected_keys(keyed, choose, editor, numbers, kind):
    cube = keyed("Cube")
    choose(cube, "location", 1, 31)
    with editor(kind):
        assert bpy.ops.tcb.key_set(bias=0.25) == {"FINISHED"}
    assert numbers(cube, "location", "bias") == {1.0: 0.25, 31.0: 0.25}
    assert numbers(cube, "rotation_quaternion", "bias") == {}


def test_the_interpolation_of_selected_keys_is_chosen_among_samples_too(keyed, choose, editor, curve):
    cube = keyed("Cube")
    bpy.ops.tcb.bake()
    choose(cube, "location", 1, 11)
    with editor("DOPESHEET"):
        assert bpy.ops.tcb.key_set(interpolation="LINEAR") == {"FINISHED"}
    bpy.ops.tcb.bake()
    assert [point.co.x for point in curve(cube, "location").keyframe_points] == [1.0, 11.0, 31.0]
    assert len(curve(cube, "rotation_quaternion").keyframe_points) == 31


def test_a_key_selected_on_one_channel_is_the_tracks(keyed, choose, editor, numbers, curve):
    cube = keyed("Cube")
    choose(cube, "location")
    curve(cube, "location", 2).keyframe_points[1].select_control_point = True
    with editor("FCURVES"):
        bpy.ops.tcb.key_set(tension=0.5)
    assert numbers(cube, "location", "tension") == {11.0: 0.5}


def test_what_an_editor_hides_is_left_alone(keyed, choose, editor, numbers, curve):
    cube = keyed("Cube")
    choose(cube, "location", 11)
    for point in curve(cube, "rotation_quaternion").keyframe_points:
        point.select_control_point = True
    for index in range(4):
        curve(cube, "rotation_quaternion", index).hide = True
    with editor("FCURVES"):
        bpy.ops.tcb.key_set(tension=0.5)
    assert numbers(cube, "location", "tension") == {11.0: 0.5}
    assert numbers(cube, "rotation_quaternion", "tension") == {}


def test_generated_keys_that_are_selected_are_not_meant(keyed, choose, editor, numbers):
    cube = keyed("Cube")
    bpy.ops.tcb.bake(keep_look=False)
    choose(cube, "location", *range(5, 20))
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_set(tension=0.5)
    assert numbers(cube, "location", "tension") == {11.0: 0.5}
    choose(cube, "location", *range(12, 20))
    with editor("DOPESHEET"), pytest.raises(RuntimeError, match="Generated keys have no parameters"):
        bpy.ops.tcb.key_drag(parameter="bias", amount=0.5)


def test_bones_materials_and_shared_actions_are_found_by_their_curves(posed, keyed, choose, editor, numbers):
    choose(posed, 'pose.bones["right"].rotation_euler', 21)
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_set(ease_to=1.0)
    assert numbers(posed, 'pose.bones["right"].rotation_euler', "ease_to") == {21.0: 1.0}
    bpy.ops.object.mode_set(mode="OBJECT")
    posed.select_set(False)

    mesh = bpy.data.meshes.new("Mesh")
    material = bpy.data.materials.new("Material")
    if material.node_tree is None:  # Blender before 5.0
        material.use_nodes = True
    mesh.materials.append(material)
    keyed("Painted", mesh)
    node = material.node_tree.nodes.new("ShaderNodeValue")
    insert(node.outputs[0], "default_value", [(1, 0.0), (21, 1.0)])
    path = f'nodes["{node.name}"].outputs[0].default_value'
    choose(bpy.data.objects["Painted"], "")
    choose(material.node_tree, path, 21)
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_set(tension=1.0)
    assert numbers(material.node_tree, path, "tension") == {21.0: 1.0}


def test_a_key_on_an_nla_strips_action_is_none_of_anothers(keyed, choose, editor, numbers):
    """Two objects with separate actions, keyed at the same frames."""
    first, second = keyed("First"), keyed("Second")
    choose(first, "location", 11)
    choose(second, "location", 31)
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_set(tension=1.0)
    assert numbers(first, "location", "tension") == {11.0: 1.0}
    assert numbers(second, "location", "tension") == {31.0: 1.0}


def test_a_relative_change_shifts_each_and_clamps(keyed, choose, editor, numbers):
    cube = keyed("Cube")
    bpy.ops.tcb.key_set(track="location", frame=1, tension=-0.5)
    bpy.ops.tcb.key_set(track="location", frame=31, tension=0.9)
    choose(cube, "location", 1, 11, 31)
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_drag(parameter="tension", amount=0.25)
    assert numbers(cube, "location", "tension") == {1.0: -0.25, 11.0: 0.25, 31.0: 1.0}


def test_an_error_in_a_step_of_a_drag_ends_the_drag_and_restores_the_keys(tcb_animation):
    operator = tcb_animation.operators.parameters.TCB_OT_key_drag
    dragging = Mock(_typed_value=lambda _context: None, _chosen=[[1.0]], _changed=lambda _before: [0.0])
    context = Mock()
    dragging.cancel = lambda context: operator.cancel(dragging, context)
    dragging._drag.to.side_effect = RuntimeError
    with pytest.raises(RuntimeError):
        operator._apply(dragging, context, snap=False, is_confirmed=False)
    dragging._drag.take_back.assert_called_once_with()
    dragging._area.header_text_set.assert_called_once_with(None)


def test_sliders_of_several_keys(keyed, choose, editor, numbers, scene, event):
    cube = keyed("Cube")
    bpy.ops.tcb.key_set(track="location", frame=1, tension=-0.5)
    choose(cube, "location", 1, 11)
    with editor("DOPESHEET"):
        selected = scene.tcb
        shown = selected.tension
        assert shown == pytest.approx(-0.25)
        selected.relative = True
        event(presses=True)
        selected.tension = shown + 1.1
        assert numbers(cube, "location", "tension") == {1.0: 0.6, 11.0: 1.0}
        # Clamped values are restored while the mouse button is held on the slider.
        selected.tension = shown + 0.5
        assert numbers(cube, "location", "tension") == {1.0: 0.0, 11.0: 0.5}
        # On Esc, Blender resets the slider to its previous value.
        event(takes_back=True)
        selected.tension = shown
        assert numbers(cube, "location", "tension") == {1.0: -0.5}
        selected.relative = False
        event(presses=True)
        selected.tension = 0.75
        assert numbers(cube, "location", "tension") == {1.0: 0.75, 11.0: 0.75}
        event(takes_back=True)
        selected.tension = shown
        assert numbers(cube, "location", "tension") == {1.0: -0.5}
        event()
        selected.tension = -0.25
        assert numbers(cube, "location", "tension") == {1.0: -0.25, 11.0: -0.25}


def test_parameters_of_one_key_are_pasted_to_all(keyed, choose, editor, numbers):
    cube = keyed("Cube")
    bpy.ops.tcb.enable(keep_look=False)
    bpy.ops.tcb.key_set(track="location", frame=1, tension=0.5, ease_to=0.25)
    with editor("DOPESHEET"):
        choose(cube, "location", 1)
        bpy.ops.tcb.key_copy()
        choose(cube, "rotation_quaternion", 11, 31)
        bpy.ops.tcb.key_paste()
    assert numbers(cube, "rotation_quaternion", "tension") == {11.0: 0.5, 31.0: 0.5}
    assert numbers(cube, "rotation_quaternion", "ease_to") == {11.0: 0.25, 31.0: 0.25}


def test_parameters_of_as_many_keys_are_pasted_in_order(keyed, choose, editor, numbers):
    cube = keyed("Cube")
    bpy.ops.tcb.key_set(track="location", frame=1, bias=0.5)
    bpy.ops.tcb.key_set(track="location", frame=11, bias=-0.5)
    with editor("DOPESHEET"):
        choose(cube, "location", 1, 11)
        bpy.ops.tcb.key_copy()
        choose(cube, "rotation_quaternion", 11, 31)
        bpy.ops.tcb.key_paste()
        assert numbers(cube, "rotation_quaternion", "bias") == {11.0: 0.5, 31.0: -0.5}
        choose(cube, "rotation_quaternion", 1, 11, 31)
        with pytest.raises(
            RuntimeError, match="The number of copied keys, 2, differs from the number of selected keys, 3"
        ):
            bpy.ops.tcb.key_paste()


def test_a_copied_pose_goes_to_several_frames_track_by_track(keyed, choose, editor, numbers, tcb_animation):
    cube = keyed("Cube")
    bpy.ops.tcb.key_set(track="location", frame=1, bias=0.5)
    bpy.ops.tcb.key_set(track="rotation", frame=1, bias=-0.5)

    def choose_all(*frames):
        for fcurve in tcb_animation.animation.fcurves.channels.channels_of(cube):
            for point in fcurve.keyframe_points:
                set_selected(point, point.co.x in frames)

    with editor("DOPESHEET"):
        choose_all(1.0)
        bpy.ops.tcb.key_copy()
        choose_all(11.0, 31.0)
        bpy.ops.tcb.key_paste()
    assert numbers(cube, "location", "bias") == {1.0: 0.5, 11.0: 0.5, 31.0: 0.5}
    assert numbers(cube, "rotation_quaternion", "bias") == {1.0: -0.5, 11.0: -0.5, 31.0: -0.5}


@pytest.fixture
def velocities(numbers):
    """velocities(datablock, path): {frame: number} for each component."""

    def read(datablock, path, components=3):
        return [numbers(datablock, path, "velocity", index) for index in range(components)]

    return read


@pytest.fixture
def by_velocities(keyed, tcb_animation):
    """An object with a location that uses velocities, with a velocity at its key at 1."""
    cube = keyed("Cube")
    tcb_animation.animation.enable(cube, keep_look=False)
    tcb_animation.animation.choose(cube, "location", method="HERMITE")
    tcb_animation.animation.key_set(cube, "location", 1, bias=0.5, velocity=(1.0, 0.0, -0.25))
    return cube


def copy_and_paste(editor, choose, start, to):
    """Copy from the first keys (datablock, path, *frames), and paste onto the second keys."""
    with editor("DOPESHEET"):
        choose(to[0], "")
        choose(*start)
        assert bpy.ops.tcb.key_copy() == {"FINISHED"}
        choose(start[0], "")
        choose(*to)
        assert bpy.ops.tcb.key_paste() == {"FINISHED"}


def test_velocities_are_pasted_with_the_parameters(by_velocities, choose, editor, numbers, velocities, capfd):
    copy_and_paste(editor, choose, (by_velocities, "location", 1), (by_velocities, "location", 11, 31))
    assert numbers(by_velocities, "location", "bias") == {1.0: 0.5, 11.0: 0.5, 31.0: 0.5}
    assert velocities(by_velocities, "location") == [
        {1.0: 1.0, 11.0: 1.0, 31.0: 1.0},
        # Keys without velocities stay without velocities.
        {1.0: 0.0},
        {1.0: -0.25, 11.0: -0.25, 31.0: -0.25},
    ]
    assert "velocit" not in capfd.readouterr().out


def test_keys_that_differ_in_their_velocities_alone_are_not_the_same(
    by_velocities, choose, editor, velocities, tcb_animation
):
    tcb_animation.animation.key_set(by_velocities, "location", 11, bias=0.5)
    with editor("DOPESHEET"):
        choose(by_velocities, "location", 1, 11)
        bpy.ops.tcb.key_copy()
        choose(by_velocities, "location", 1, 11, 31)
        with pytest.raises(
            RuntimeError, match="The number of copied keys, 2, differs from the number of selected keys, 3"
        ):
            bpy.ops.tcb.key_paste()


def test_a_method_without_velocities_gets_the_parameters_with_a_word(
    by_velocities, choose, editor, numbers, velocities, capfd, tcb_animation
):
    copy_and_paste(editor, choose, (by_velocities, "location", 1), (by_velocities, "rotation_quaternion", 11))
    assert numbers(by_velocities, "rotation_quaternion", "bias") == {11.0: 0.5}
    assert velocities(by_velocities, "rotation_quaternion") == [{}, {}, {}]
    word = '"Cube", Quaternion Rotation: the method does not use velocities, so none were pasted'
    assert word in capfd.readouterr().out
    # For a key at rest, no velocities are omitted.
    copy_and_paste(editor, choose, (by_velocities, "location", 11), (by_velocities, "rotation_quaternion", 11))
    assert "velocit" not in capfd.readouterr().out


def test_a_key_of_a_method_without_velocities_leaves_those_of_others(
    by_velocities, choose, editor, numbers, velocities
):
    bpy.ops.tcb.key_set(track="rotation", frame=11, bias=-0.5)
    copy_and_paste(editor, choose, (by_velocities, "rotation_quaternion", 11), (by_velocities, "location", 1))
    assert numbers(by_velocities, "location", "bias") == {1.0: -0.5}
    assert velocities(by_velocities, "location") == [{1.0: 1.0}, {1.0: 0.0}, {1.0: -0.25}]


def test_a_velocity_of_a_value_is_none_of_a_rotation(by_velocities, choose, editor, velocities, capfd, tcb_animation):
    tcb_animation.animation.choose(by_velocities, "rotation", method="HERMITE")
    copy_and_paste(editor, choose, (by_velocities, "location", 1), (by_velocities, "rotation_quaternion", 11))
    assert velocities(by_velocities, "rotation_quaternion") == [{}, {}, {}]
    assert "velocities can't be pasted between values and rotations, so they were omitted" in capfd.readouterr().out


def test_a_track_of_fewer_components_takes_what_fits(
    by_velocities, scene, choose, editor, velocities, capfd, tcb_animation
):
    camera = new_object("Camera", data=bpy.data.cameras.new("Camera"))
    camera.select_set(True)
    insert(camera.data, "lens", [(1, 35.0), (21, 50.0)])
    tcb_animation.animation.enable(camera.data, keep_look=False)
    tcb_animation.animation.choose(camera.data, "lens", method="HERMITE")
    copy_and_paste(editor, choose, (by_velocities, "location", 1), (camera.data, "lens", 21))
    assert velocities(camera.data, "lens") == [{21.0: 1.0}, {}, {}]
    word = (
        '"Camera (camera)", lens: the property has fewer components than the copied velocity. '
        "Only the first components were pasted"
    )
    assert word in capfd.readouterr().out
    # In the opposite direction, the other keys are unchanged.
    tcb_animation.animation.key_set(by_velocities, "location", 11, velocity=(5.0, 6.0, 7.0))
    copy_and_paste(editor, choose, (camera.data, "lens", 21), (by_velocities, "location", 11))
    assert velocities(by_velocities, "location") == [
        {1.0: 1.0, 11.0: 1.0},
        {1.0: 0.0, 11.0: 6.0},
        {1.0: -0.25, 11.0: 7.0},
    ]


def test_reset_takes_velocities_too(by_velocities, choose, editor, velocities, numbers):
    choose(by_velocities, "location", 1, 11)
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_reset()
    assert velocities(by_velocities, "location") == [{}, {}, {}]
    assert numbers(by_velocities, "location", "bias") == {}


def test_reset_leaves_no_number_behind(keyed, choose, editor, numbers):
    cube = keyed("Cube")
    bpy.ops.tcb.enable(keep_look=False)
    choose(cube, "location", 1, 11)
    before = snapshot(cube, identities=False)
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_set(tension=0.5, bias=0.5)
        choose(cube, "location", 1)
        bpy.ops.tcb.key_reset()
        assert numbers(cube, "location", "bias") == {11.0: 0.5}
        choose(cube, "location", 1, 11)
        bpy.ops.tcb.key_reset()
    assert not any(numbers(cube, "location", name) for name in PARAMETERS)
    assert differences(before, snapshot(cube, identities=False)) == []


@pytest.mark.parametrize(("preset", "numbers_set"), [("smooth", {}), ("ease_both", {"ease_to": 1.0, "ease_from": 1.0})])
def test_a_preset_sets_all_five(keyed, choose, editor, preset, numbers_set, tcb_animation):
    cube = keyed("Cube")
    choose(cube, "location", 11)
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_set(tension=0.1, continuity=0.1, bias=0.1, ease_to=0.1, ease_from=0.1)
        bpy.ops.tcb.preset_apply(preset=preset)
        chosen = tcb_animation.ui.chosen_keys.chosen_parameters(bpy.context)
    expected = dict.fromkeys(PARAMETERS, 0.0) | numbers_set
    assert {name: own[0] for name, own in chosen.items()} == expected


def test_a_preset_goes_by_its_name_in_the_menu_too(keyed, choose, editor, numbers):
    cube = keyed("Cube")
    choose(cube, "location", 11)
    with editor("DOPESHEET"):
        bpy.ops.tcb.preset_apply(preset="Ease In")
        with pytest.raises(RuntimeError, match=r'no preset "halt". Available presets: Smooth, Corner'):
            bpy.ops.tcb.preset_apply(preset="halt")
    assert numbers(cube, "location", "ease_to") == {11.0: 1.0}


def test_a_person_adds_a_preset_and_removes_it(keyed, choose, editor, numbers):
    cube = keyed("Cube")
    choose(cube, "location", 11)
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_set(tension=0.5, ease_from=0.25)
        bpy.ops.tcb.preset_add(name="Half")
        choose(cube, "location", 31)
        bpy.ops.tcb.preset_apply(preset="Half")
        assert numbers(cube, "location", "tension") == {11.0: 0.5, 31.0: 0.5}
        assert numbers(cube, "location", "ease_from") == {11.0: 0.25, 31.0: 0.25}
        choose(cube, "location", 1, 11)
        with pytest.raises(RuntimeError, match="the same parameters"):
            bpy.ops.tcb.preset_add(name="Mixed")
        bpy.ops.tcb.preset_add(name="Half", remove_name=True)
        with pytest.raises(RuntimeError, match="no preset"):
            bpy.ops.tcb.preset_apply(preset="Half")
        # The extension's own presets remain.
        bpy.ops.tcb.preset_add(name="Stop", remove_name=True)
        bpy.ops.tcb.preset_apply(preset="stop")


def test_parameters_that_cannot_be_read_are_not_saved_as_a_preset(keyed, choose, editor, tcb_animation, monkeypatch):
    choose(keyed("Cube"), "location", 11)
    unreadable = dict.fromkeys(PARAMETERS, np.array([np.nan]))
    monkeypatch.setattr(tcb_animation.operators.preset, "chosen_parameters", lambda _context: unreadable)
    with editor("DOPESHEET"), pytest.raises(RuntimeError, match="the same parameters"):
        bpy.ops.tcb.preset_add(name="Unreadable")
    assert "Unreadable" not in tcb_animation.operators.preset.presets()


def test_a_preset_runs_nothing_of_its_file(keyed, choose, editor, tmp_path):
    cube, mark = keyed("Cube"), tmp_path / "run"
    choose(cube, "location", 11)
    hostile = tmp_path / "hostile.py"
    before = snapshot(cube)
    for line, fault in (
        (f"open({str(mark)!r}, 'w').close()", "line 4: a preset may contain only lines such as key.tension"),
        (f"key.tension = len({str(mark)!r}) and open({str(mark)!r}, 'w') and 0.5", "line 4: the value of key.tension"),
        ("import os", "line 4: a preset may contain only"),
    ):
        hostile.write_text(f"import bpy\nkey = bpy.context.window_manager.tcb_preset\nkey.bias = 0.5\n{line}\n")
        with editor("DOPESHEET"), pytest.raises(RuntimeError, match=f"hostile.py: {fault}"):
            bpy.ops.tcb.preset_apply(filepath=str(hostile))
    assert not mark.exists()
    assert snapshot(cube) == before
    with editor("DOPESHEET"), pytest.raises(RuntimeError, match=r"gone.py cannot be read"):
        bpy.ops.tcb.preset_apply(filepath=str(tmp_path / "gone.py"))


def test_a_preset_sets_only_what_it_names(keyed, choose, editor, numbers, tmp_path):
    cube, file = keyed("Cube"), tmp_path / "bias.py"
    choose(cube, "location", 11)
    file.write_text("key.bias = -0.25\n")
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_set(tension=0.5)
        bpy.ops.tcb.preset_apply(filepath=str(file))
    assert (numbers(cube, "location", "tension"), numbers(cube, "location", "bias")) == ({11.0: 0.5}, {11.0: -0.25})


def test_the_next_key_of_all_that_is_shown(keyed, editor, curve, scene):
    cube = keyed("Cube")
    for index in range(4):
        curve(cube, "rotation_quaternion", index).keyframe_points[1].co.x = 21.0
    bpy.ops.tcb.bake()
    scene.frame_set(1)
    seen = []
    with editor("DOPESHEET"):
        while bpy.ops.tcb.key_jump(direction="NEXT") == {"FINISHED"}:
            seen.append(scene.frame_current)
        bpy.ops.tcb.key_jump(direction="PREVIOUS")
    assert seen == [11, 21, 31]
    assert scene.frame_current == 21


def test_a_locked_track_is_named_and_the_others_are_set(keyed, editor, curve, numbers, tcb_animation):
    cube = keyed("Cube")
    for fcurve in tcb_animation.animation.fcurves.channels.channels_of(cube):
        for point in fcurve.keyframe_points:
            point.select_control_point = True
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    curve(cube, "location", 1).mute = True
    with editor("DOPESHEET"), pytest.raises(RuntimeError, match="Location: the channels are muted"):
        bpy.ops.tcb.key_set(tension=0.5)
    assert numbers(cube, "location", "tension") == {}
    assert numbers(cube, "rotation_quaternion", "tension") == {1.0: 0.5, 11.0: 0.5, 31.0: 0.5}


def test_what_the_animator_locked_is_left_alone_and_what_a_bake_locked_is_not(
    keyed, choose, editor, curve, numbers, tcb_animation
):
    cube = keyed("Cube")
    tcb_animation.animation.bake(cube, prefixes=["rotation"], keep_look=False)
    for index in range(3):
        curve(cube, "location", index).lock = True
        curve(cube, "location", index).keyframe_points[1].select_control_point = True
    for index in range(4):
        for point in curve(cube, "rotation_quaternion", index).keyframe_points:
            set_selected(point, point.co.x == 11.0)
    with editor("DOPESHEET"):
        assert bpy.ops.tcb.key_set(tension=0.5) == {"FINISHED"}
    assert numbers(cube, "rotation_quaternion", "tension") == {11.0: 0.5}
    assert numbers(cube, "location", "tension") == {}


@pytest.mark.parametrize(
    "call",
    [
        lambda: bpy.ops.tcb.key_set("EXEC_DEFAULT", True, bias=0.25),
        lambda: bpy.ops.tcb.key_set("EXEC_DEFAULT", True, interpolation="SINE"),
        lambda: bpy.ops.tcb.preset_apply("EXEC_DEFAULT", True, preset="stop"),
        lambda: bpy.ops.tcb.key_drag("EXEC_DEFAULT", True, parameter="bias", amount=0.5),
    ],
)
def test_each_is_one_undo_step(keyed, call, scene):
    """This uses the key in the sidebar, because Adjust Last Operation crashes without a window in animation editors."""
    cube = keyed("Cube")
    scene.frame_set(11)
    bpy.ops.ed.undo_push(message="set up")
    before = snapshot(cube)
    call()
    after = snapshot(bpy.data.objects["Cube"])
    assert after != before
    bpy.ops.ed.undo()
    assert snapshot(bpy.data.objects["Cube"]) == before
    bpy.ops.ed.redo()
    assert snapshot(bpy.data.objects["Cube"]) == after


def test_nothing_selected_greys_them_out(keyed, choose, editor):
    cube = keyed("Cube")
    choose(cube, "location")
    with editor("DOPESHEET"):
        for operator in (bpy.ops.tcb.key_set, bpy.ops.tcb.key_drag, bpy.ops.tcb.preset_apply, bpy.ops.tcb.key_reset):
            assert not operator.poll()


def test_keys_have_the_default_parameters_until_they_have_their_own(keyed, choose, editor, curve, scene):
    cube = keyed("Cube")
    scene.tcb.defaults.tension = 1.0
    scene.frame_set(11)
    bpy.context.window_manager.tcb_track = "Object/Cube/location"
    assert scene.tcb.tension == 1.0
    bpy.ops.tcb.bake()
    # With tension 1 at every key, tangents vanish. The motion starts slowly, and is halfway at half the time.
    location = curve(cube, "location")
    assert location.evaluate(6) == pytest.approx(2.5, abs=1e-6)
    assert location.evaluate(2) == pytest.approx(5.0 * (3 * 0.01 - 2 * 0.001), abs=1e-6)
    # A value that differs from the defaults is set on the key, even if it is 0.
    choose(cube, "location", 11)
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_set(tension=0.0)
    assert scene.tcb.tension == 0.0
    with editor("DOPESHEET"):
        bpy.ops.tcb.key_reset()
    assert scene.tcb.tension == 1.0
    bpy.ops.tcb.key_set(track="location", frame=11, tension=0.0)
    assert scene.tcb.tension == 0.0


def test_numbers_as_3ds_max_shows_them(keyed, choose, editor, numbers, scene):
    cube = keyed("Cube")
    bpy.ops.tcb.enable(keep_look=False)
    choose(cube, "location", 1, 11)
    with editor("DOPESHEET"):
        selected = scene.tcb
        assert (selected.tension_of_50, selected.ease_to_of_50) == (25.0, 0.0)
        selected.tension_of_50 = 37.5
        selected.ease_to_of_50 = 50.0
    assert numbers(cube, "location", "tension") == {1.0: 0.5, 11.0: 0.5}
    assert numbers(cube, "location", "ease_to") == {1.0: 1.0, 11.0: 1.0}


@pytest.fixture
def blocked(keyed, choose, scene):
    """A selected object at frame 1. Its location is shown, and its keys at 11 and 31 are selected."""
    cube = keyed("Cube")
    bpy.ops.tcb.enable()
    for fcurve in fcurves(cube):
        for point in fcurve.keyframe_points:
            set_selected(point, point.co.x > 1)
    bpy.context.window_manager.tcb_track = "Object/Cube/location"
    scene.frame_set(1)
    return cube


def test_make_bezier_in_the_viewport_reaches_the_selected_keys_of_all_tracks(blocked):
    for fcurve in fcurves(blocked):
        for point in fcurve.keyframe_points:
            point.interpolation = "CONSTANT"
    bpy.ops.tcb.sync()
    assert bpy.ops.tcb.key_bezier() == {"FINISHED"}
    kinds = {point.interpolation for fcurve in fcurves(blocked) for point in fcurve.keyframe_points}
    assert kinds == {"BEZIER"}


def test_use_tcb_in_the_viewport_reaches_all_tracks_with_selected_keys(blocked, tcb_animation):
    for path in ("location", "rotation_quaternion"):
        tcb_animation.animation.choose(blocked, path, method="LINEAR")
    assert bpy.ops.tcb.key_use_tcb() == {"FINISHED"}
    for path in ("location", "rotation_quaternion"):
        assert tcb_animation.animation.find_track(blocked, path).settings.method == "TCB"


def test_use_tcb_leaves_plain_tracks_plain(blocked, tcb_animation):
    animation = tcb_animation.animation
    animation.remove(blocked, prefixes=["location"])
    animation.choose(blocked, "rotation_quaternion", method="LINEAR")
    with pytest.raises(RuntimeError, match=r"this is not a TCB track. Enable TCB first"):
        bpy.ops.tcb.key_use_tcb()
    assert animation.find_track(blocked, "rotation_quaternion").settings.method == "TCB"
    assert not animation.find_track(blocked, "location").enabled


def test_a_key_that_is_not_selected_keeps_its_interpolation(blocked, choose):
    choose(blocked, "location")
    for fcurve in fcurves(blocked):
        for point in fcurve.keyframe_points:
            point.interpolation = "CONSTANT"
    bpy.ops.tcb.key_bezier()
    found = {
        (fcurve.data_path, point.co.x): point.interpolation
        for fcurve in fcurves(blocked)
        for point in fcurve.keyframe_points
    }
    assert [place for place, kind in found.items() if kind == "BEZIER"] == [("location", 1.0)]
