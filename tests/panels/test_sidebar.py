# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar, drawn into a real layout, and its sliders."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import bpy
import pytest

from tests.animation.curves import HAS_SLOTS, bag_of, co, curve, fcurves, insert, key, new_object, new_rig, select_bone
from tests.animation.layered import give_layer
from tests.panels.layouts import drawn, in_viewport, is_there, items_of, places_of_sliders


@pytest.fixture
def states(tcb_animation):
    """states(): the states of the listed tracks, as shown in the tab."""
    return lambda: [state.name for _, _, state in tcb_animation.ui.sidebar_tracks.shown_states(bpy.context)]


@pytest.fixture
def cube(scene):
    item = new_object("Cube", "QUATERNION")
    for frame, turns in ((1, 0.0), (11, 0.1), (31, 0.2)):
        item.location = (turns, 0.0, 0.0)
        item.keyframe_insert("location", frame=frame)
        item.rotation_quaternion = (math.cos(math.pi * turns), 0.0, 0.0, math.sin(math.pi * turns))
        item.keyframe_insert("rotation_quaternion", frame=frame)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    bpy.context.window_manager.tcb_track = ""
    return item


def test_without_an_object_the_tab_says_so(scene):
    assert "No active object" in drawn("TCB_PT_tracks")


@pytest.mark.skipif(not HAS_SLOTS, reason="this Blender's actions have no layers")
def test_an_action_of_two_layers_is_told_where_the_list_would_stand(cube):
    give_layer(cube.animation_data.action)
    shown = " ".join(drawn("TCB_PT_tracks"))
    assert '"Cube": action "CubeAction" has more than one layer or strip' in shown


def test_an_object_without_keys_is_named(scene):
    item = new_object("Still")
    bpy.context.view_layer.objects.active = item
    assert "Still has no keyframes" in drawn("TCB_PT_tracks")


def test_tracks_are_listed_with_their_states(cube, states):
    assert {"Location", "Quaternion Rotation", "bpy.ops.tcb.enable()"} <= set(drawn("TCB_PT_tracks"))
    assert states() == ["PLAIN", "PLAIN"]
    bpy.ops.tcb.enable()
    assert states() == ["TCB", "TCB"]
    bpy.ops.tcb.bake()
    assert states() == ["BAKED", "BAKED"]
    curve(cube, "location").extrapolation = "LINEAR"
    assert sorted(states()) == ["BAKED", "OUT_OF_DATE"]


def test_enable_is_offered_while_something_in_the_selection_is_not_tcb(cube, tcb_animation):
    def offered():
        return "bpy.ops.tcb.enable()" in drawn("TCB_PT_tracks")

    assert offered()
    tcb_animation.animation.enable(cube, ["location"], keep_look=False)
    assert offered()
    bpy.ops.tcb.enable()
    assert not offered()
    other = new_object("Other")
    other.keyframe_insert("location", frame=1)
    other.select_set(True)
    assert offered()
    bpy.ops.tcb.enable()
    assert not offered()


def test_after_a_switch_of_rotation_mode_the_tab_offers_that_of_the_keys(cube):
    for fcurve in fcurves(cube)[:3]:
        bag_of(cube).fcurves.remove(fcurve)
    cube.rotation_mode = "XYZ"
    shown = drawn("TCB_PT_tracks")
    assert {"Quaternion Rotation", "Object.rotation_mode[0]"} <= set(shown)
    # The track is gray.
    assert not any("track_select" in text and "rotation_quaternion" in text for text in shown)
    assert "do not play" in " ".join(shown)
    assert "no keyframes" not in " ".join(shown)
    cube.rotation_mode = "QUATERNION"
    assert "Object.rotation_mode[0]" not in drawn("TCB_PT_tracks")


def test_of_animation_in_nla_strips_the_tab_says_so_and_offers_tweak_mode(cube):
    action = cube.animation_data.action
    cube.animation_data.nla_tracks.new().strips.new("Strip", 1, action)
    cube.animation_data.action = None
    shown = drawn("TCB_PT_tracks")
    assert "in NLA strips" in " ".join(shown)
    assert "no keyframes" not in " ".join(shown)
    assert "AnimData.use_tweak_mode[0]" in shown


@pytest.fixture
def tower(scene):
    """An active object with keys of its location and of a shape key."""
    tower = new_object("Tower", data=bpy.data.meshes.new("Tower"))
    tower.select_set(True)
    bpy.context.view_layer.objects.active = tower
    tower.shape_key_add(name="Basis")
    shape_key = tower.shape_key_add(name="Tall")
    for frame in (1, 11):
        tower.keyframe_insert("location", frame=frame)
        shape_key.keyframe_insert("value", frame=frame)
    return tower


def test_beside_other_tracks_the_tab_offers_tweak_mode_for_strips(tower):
    tower.animation_data.nla_tracks.new().strips.new("Strip", 1, tower.animation_data.action)
    tower.animation_data.action = None
    shown = drawn("TCB_PT_tracks")
    assert "Tall (shape key)" in shown
    assert "Tower: keys are in NLA strips" in " ".join(shown)
    assert shown.count("AnimData.use_tweak_mode[0]") == 1


def test_shape_keys_and_switches_have_the_names_of_their_owners(tower):
    tower.animation_data.action.name = "Walk"
    animation_of_keys = tower.data.shape_keys.animation_data
    animation_of_keys.action = animation_of_keys.action.copy()
    shown = drawn("TCB_PT_tracks")
    assert {"Location", "Tall (shape key)", "Live: Tower", "Live: Shape Keys"} <= set(shown)


@pytest.mark.parametrize("verb", ["apply", "remove", "restore"])
def test_that_live_was_turned_off_is_reported_and_does_not_stay(cube, capfd, verb):
    bpy.ops.tcb.enable(live=True)
    getattr(bpy.ops.tcb, verb)()
    assert "Live is now off" in capfd.readouterr().out
    assert not any("Live is now off" in text for text in drawn("TCB_PT_tracks"))


def test_a_menu_finishes_with_plain_animation(tcb_animation):
    calls = [text for text in drawn("TCB_MT_finish") if text.startswith("bpy.ops")]
    assert calls == ["bpy.ops.tcb.apply()", "bpy.ops.tcb.restore()", "bpy.ops.tcb.remove()"]


def test_a_live_rigs_switch_and_messages_stand_beside_a_bone_without_keys(scene, tcb_animation):
    rig = new_rig("upper", "lower", tail=(0, 1, 0))
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["upper"].keyframe_insert("location", frame=1)
    rig.animation_data.action.tcb_live = True
    tcb_animation.ui.operator_results.keep_result_notes(
        [tcb_animation.animation.Finding("QUOTED", arguments=("a note",))]
    )
    rig.data.bones.active = rig.data.bones["lower"]
    assert "Action.tcb_live[0]" in drawn("TCB_PT_tracks")
    assert "a note" in drawn("TCB_PT_messages")


def test_the_list_has_an_error_above_the_tolerance_and_a_tooltip_has_every_error(cube, states, tcb_animation):
    bpy.ops.tcb.enable()
    bpy.ops.tcb.key_set(track="rotation", frame=11, ease_to=1.0, ease_from=1.0)
    bpy.ops.tcb.key_set(track="location", frame=11, ease_to=0.3)
    for tolerance, state in ((1.0, "HANDLES"), (1e-5, "APPROXIMATE")):
        options = {"value_tolerance": 10.0, "rotation_tolerance": tolerance}
        report = tcb_animation.animation.bake(cube, output="HANDLES", **options)
        value, turn = sorted(report.handles, key=lambda each: each["rotation"])
        assert value["error"] > 1e-4
        assert states() == ["HANDLES", state]
        sizes = [
            f"{value['error'] * 1000:.2g} mm",
            tcb_animation.animation.text.size_text(math.radians(turn["error"]), True),
        ]
        for (_, _, shown), size, each in zip(
            tcb_animation.ui.sidebar_tracks.shown_states(bpy.context), sizes, (value, turn), strict=True
        ):
            assert f"maximum error: {size} at frame {round(each['frame'], 1):g}" in shown.tooltip.lower()
        assert (f"Error {sizes[1]}" in drawn("TCB_PT_tracks")) is (state == "APPROXIMATE")
        assert f"Error {sizes[0]}" not in drawn("TCB_PT_tracks")


@pytest.mark.parametrize(
    ("frame", "path", "text"),
    [
        (1, "location", "First key: only Tension, Ease From"),
        (1, "rotation_quaternion", "First key: no Ease To"),
        (31, "location", "Last key: only Tension, Ease To"),
        (31, "rotation_quaternion", "Last key: no Ease From"),
    ],
)
def test_the_line_above_the_sliders_names_those_that_act_at_the_ends_or_the_few_that_do_not(
    cube, scene, frame, path, text
):
    bpy.ops.tcb.enable(live=True)
    bpy.context.window_manager.tcb_track = f"Object/Cube/{path}"
    scene.frame_set(frame)
    assert text in drawn("TCB_PT_tracks")


def test_the_line_above_the_sliders_has_the_way_to_play_a_track_that_is_off(cube):
    bpy.ops.tcb.enable()
    assert "Off: turn on Live or bake" in drawn("TCB_PT_tracks")
    cube.animation_data.action.tcb_live = True
    bpy.context.view_layer.update()
    assert not begins(drawn("TCB_PT_tracks"), "Off: ")


def test_a_baked_track_beside_a_track_that_is_not_tcb_has_its_state_in_the_message_line(scene):
    item = new_object("Thing")
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    key(item, "rotation_euler", [(1, (0, 0, 0)), (20, (0, 0, 1))])
    bpy.ops.tcb.bake()
    assert not any("not TCB" in text for text in drawn("TCB_PT_tracks"))
    for path in ("location", "scale"):
        key(item, path, [(20, (1, 1, 2))])
    shown = drawn("TCB_PT_tracks")
    assert {"Baked · 2 tracks not TCB", "bpy.ops.tcb.enable()"} <= set(shown)


def test_the_last_operators_most_important_note_is_in_the_message_line_until_undo_or_the_next(scene, tcb_animation):
    item = new_object("Cam")
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    # Three quarters of a turn about Z, at constant speed.
    key(item, "rotation_euler", [(1, (0, 0, 0)), (21, (0, 0, math.radians(270)))])
    bpy.ops.tcb.enable(live=True)
    assert "Turn of 270° to frame 21: Euler Rotation" in drawn("TCB_PT_tracks")
    assert "bpy.ops.tcb.turns_shortest()" in drawn("TCB_PT_messages")
    assert bpy.ops.tcb.turns_shortest() == {"FINISHED"}
    assert tcb_animation.animation.find_track(item, "rotation").settings.path == "SHORTEST"
    assert not any("270" in text for text in drawn("TCB_PT_tracks"))
    assert not bpy.ops.tcb.turns_shortest.poll()


def test_enable_names_gimbal_lock_and_does_not_advise_shorter_turns(scene, tcb_animation, capfd):
    item = new_object("Top")
    item.rotation_mode = "XYZ"
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    angles = [(1, (0, 0, 0)), (20, (0, 90, 0)), (45, (30, 300, 0))]
    key(item, "rotation_euler", [(frame, tuple(map(math.radians, degrees))) for frame, degrees in angles])
    bpy.ops.tcb.enable(live=True)
    first, *others = tcb_animation.ui.operator_results.result_notes()
    assert (first.code, first.object) == ("GIMBAL_LOCK", "Top")
    assert first.size > 20.0
    assert "TURNS_KEPT" not in [note.code for note in others]
    # The last report is in the status bar.
    assert "gimbal lock: handles are off by " in capfd.readouterr().out.strip().splitlines()[-1]
    assert any(text.startswith("Gimbal lock, off by ") for text in drawn("TCB_PT_tracks"))
    # The advice helps: samples are exact.
    assert tcb_animation.animation.bake(item, output="SAMPLES").rotations_exact


def test_enable_does_not_advise_shorter_turns_to_a_key_in_gimbal_lock(scene, tcb_animation):
    item = new_object("Top")
    item.rotation_mode = "XYZ"
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    angles = [(1, (0, 0, 0)), (20, (0, 270, 20)), (45, (30, 300, 0))]
    key(item, "rotation_euler", [(frame, tuple(map(math.radians, degrees))) for frame, degrees in angles])
    bpy.ops.tcb.enable(live=True)
    assert "TURNS_KEPT" not in [note.code for note in tcb_animation.ui.operator_results.result_notes()]
    # Handles play the turns as keyed much better.
    as_keyed = tcb_animation.animation.bake(item, output="HANDLES").rotation_error
    tcb_animation.animation.choose(item, "rotation", path="SHORTEST")
    assert tcb_animation.animation.bake(item, output="HANDLES").rotation_error > 10.0 * as_keyed


@pytest.mark.parametrize("name", ["tcb.reduce", "tcb.relax", "export_anim.tcb_3ds"])
def test_reduce_relax_and_export_replace_the_last_operators_notes_by_their_own(scene, tcb_animation, tmp_path, name):
    item = new_object("Foot")
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    # The foot is below the floor in the middle.
    key(item, "location", [(frame, (0, 0, math.cos(frame / 10) + 0.99)) for frame in range(1, 61)])
    if name == "tcb.relax":
        tcb_animation.animation.enable(item, keep_look=False)
    notes = tcb_animation.ui.operator_results
    notes.keep_result_notes([tcb_animation.animation.Finding("TURNS_KEPT", "Gone", "rotation_euler", 21.0, (270.0,))])
    options = {"filepath": str(tmp_path / "foot.3ds")} if name == "export_anim.tcb_3ds" else {}
    module, operator = name.split(".")
    assert getattr(getattr(bpy.ops, module), operator)(**options) == {"FINISHED"}
    assert "TURNS_KEPT" not in [note.code for note in notes.result_notes()]


@pytest.mark.parametrize(
    ("other", "size", "shown"),
    [
        (("NOT_BEZIER", "Rig", "location"), 8.2, "Off by 8.2° at frame 12: Hand (+1)"),
        # A flip causes the change.
        (("FLIP_NOT_KEPT", "Rig", 'pose.bones["Hand"].rotation_euler', 20.0), 180.0, "Flip at frame 20: Hand (+1)"),
    ],
)
def test_a_visible_change_comes_before_other_notes_but_after_a_flip(scene, tcb_animation, other, size, shown):
    finding = tcb_animation.animation.Finding
    changed = finding("LOOK_CHANGED", "Rig", 'pose.bones["Hand"].rotation_euler', 12.5, ((size, "°"),))
    for notes in ([changed, finding(*other)], [finding(*other), changed]):
        tcb_animation.ui.operator_results.keep_result_notes(notes)
        assert shown in drawn("TCB_PT_tracks")


def test_the_tooltip_of_a_track_has_its_state(cube, tcb_animation):
    def tooltip(path):
        track = tcb_animation.ui.sidebar_tracks.track_identifier(cube, path)
        cls = tcb_animation.operators.tracks.TCB_OT_track_select
        return cls.description(bpy.context, SimpleNamespace(track=track))

    assert tooltip("location") == "Not TCB: Blender plays these keys. Enable TCB"
    bpy.ops.tcb.bake()
    assert tooltip("location") == "Baked: Locked. Free the bake to edit"
    bpy.ops.tcb.free()
    for fcurve in tcb_animation.animation.fcurves.channels.channels_of(cube):
        fcurve.lock = True
    assert tooltip("location") == "Blocked: the channels are locked. Unlock them first"


def test_the_tab_shows_five_sliders_and_the_place_of_the_key(cube, scene):
    scene.frame_set(11)
    shown = drawn("TCB_PT_tracks")
    assert "Frame 11 · key 2 of 3" in shown
    sliders = [f"TCBSidebar.{name}[0]" for name in ("tension", "continuity", "bias", "ease_to", "ease_from")]
    assert [name for name in shown if name.startswith("TCBSidebar")] == [*sliders, "TCBSidebar.relative[0]"]
    place = ["TCBSidebar.key_frame[0]", "TCBSidebar.whole_column[0]"]
    place += [f"TCBSidebar.key_value[{index}]" for index in range(3)]
    assert [name for name in drawn("TCB_PT_place") if name.startswith("TCBSidebar")] == place
    scene.frame_set(20)
    assert "Before: frame 11 · 2 of 3" in drawn("TCB_PT_tracks")
    scene.frame_set(0)
    assert "After: frame 1 · 1 of 3" in drawn("TCB_PT_tracks")


def test_the_sliders_set_the_key_that_they_show(cube, scene):
    bpy.ops.tcb.enable(keep_look=False)
    scene.frame_set(15)
    scene.tcb.tension = 0.5
    scene.tcb.ease_from = 0.25
    scene.frame_set(31)
    assert (scene.tcb.tension, scene.tcb.ease_from) == (0.0, 0.0)
    scene.frame_set(11)
    assert (scene.tcb.tension, scene.tcb.ease_from) == (0.5, 0.25)


def test_key_info_shows_the_value_now(cube, scene):
    scene.frame_set(11)
    shown = drawn("TCB_PT_place")
    assert "X: 0.1000" in shown
    assert "at 11:" not in shown
    # Between keys, the motion has another value, shown next to it.
    scene.frame_set(40)
    assert {"at 40:", "0.2", "X: 0.2000"} <= set(drawn("TCB_PT_place"))


def test_the_value_now_is_what_blender_shows_in_every_state_of_the_track(cube, scene):
    def values():
        scene.frame_set(20)
        shown = drawn("TCB_PT_place")
        return f"{cube.location.x:.4f}", shown[shown.index("at 20:") :]

    seen = []
    bpy.context.window_manager.tcb_track = "Object/Cube/location"
    bake = partial(bpy.ops.tcb.bake, output="HANDLES")
    for step in (None, bpy.ops.tcb.enable, partial(bpy.ops.tcb.preset_apply, preset="stop"), bake, bpy.ops.tcb.restore):
        if step is not None:
            step()
        value, shown = values()
        assert value in shown
        seen.append(value)
    plain, *_, baked, restored = seen
    assert restored == plain != baked


def test_key_info_shows_a_rotations_turn_from_the_key_before(cube, scene):
    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    scene.frame_set(11)
    shown = drawn("TCB_PT_place")
    # a tenth of a turn about z from the previous key
    assert "Turn from frame 1 to 11: 36.0°" in shown
    assert "Axis 0, 0, 1" in shown
    # Between keys, the turn from the last key is shown, for every method.
    bpy.ops.tcb.enable(keep_look=False)
    for method in ("TCB", "LINEAR"):
        scene.tcb.method = method
        scene.frame_set(21)
        (turn,) = [text for text in drawn("TCB_PT_place") if text.startswith("Turn from frame 11 to 21: ")]
        assert float(turn.rpartition(" ")[2].removesuffix("°")) == pytest.approx(18.0, abs=6.0)


def test_a_rotations_choices_are_shown_once_it_is_tcb(cube, scene, advanced):
    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    assert "Enable TCB to change settings" in drawn("TCB_PT_track")
    bpy.ops.tcb.enable()
    names = {f"TCBSidebar.{name}[0]" for name in ("cycle", "ends", "construction", "path")}
    assert names <= set(drawn("TCB_PT_track"))
    scene.tcb.construction = "SQUAD"
    assert scene.tcb.construction == "SQUAD"
    bpy.context.window_manager.tcb_track = "Object/Cube/location"
    assert names & set(drawn("TCB_PT_track")) == {"TCBSidebar.cycle[0]"}


def test_the_methods_are_those_that_there_are_for_the_track(cube, scene, advanced):
    bpy.ops.tcb.enable()
    bpy.context.window_manager.tcb_track = "Object/Cube/location"
    scene.tcb.method = "LINEAR"
    assert scene.tcb.method == "LINEAR"
    with pytest.raises(TypeError, match="SHOEMAKE"):
        scene.tcb.method = "SHOEMAKE"
    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    assert scene.tcb.method == "TCB"
    scene.tcb.method = "SHOEMAKE"
    with pytest.raises(TypeError, match="LOGARITHMIC"):
        scene.tcb.method = "LOGARITHMIC"


def test_choices_that_only_old_files_need_are_shown_where_they_are_in_use(cube, scene):
    bpy.ops.tcb.enable()
    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    advanced = {"TCBSidebar.ends[0]", "TCBSidebar.construction[0]"}
    assert not advanced & set(drawn("TCB_PT_track"))
    bpy.ops.tcb.track_choose(track="rotation", construction="SQUAD")
    assert advanced & set(drawn("TCB_PT_track")) == {"TCBSidebar.construction[0]"}
    with pytest.raises(TypeError, match="SHOEMAKE"):
        scene.tcb.method = "SHOEMAKE"
    bpy.ops.tcb.track_choose(track="rotation", method="SHOEMAKE")
    assert scene.tcb.method == "SHOEMAKE"


def test_of_the_choices_those_are_shown_that_the_method_goes_by(cube, scene, advanced):
    bpy.ops.tcb.enable()
    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    scene.tcb.method = "LINEAR"
    names = ("method", "angles", "cycle", "ends", "construction", "path")

    def choices():
        return [name for name in names if f"TCBSidebar.{name}[0]" in drawn("TCB_PT_track")]

    assert choices() == ["method", "cycle", "path"]
    scene.tcb.method = "ROLL_PITCH_YAW"
    assert choices() == ["method", "angles", "cycle", "path"]


def test_a_method_that_leaves_the_parameters_alone_says_so(cube, scene, tcb_animation, advanced):
    diagram = bpy.types.TCB_PT_diagram
    bpy.ops.tcb.enable()
    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    assert not any("ease alone" in text for text in drawn("TCB_PT_tracks"))
    assert diagram.poll(bpy.context)
    scene.tcb.method = "LINEAR"
    assert "Method: Linear" in drawn("TCB_PT_tracks")
    assert not diagram.poll(bpy.context)
    # The method of the angles uses them.
    scene.tcb.method = "ROLL_PITCH_YAW"
    assert not any("ease alone" in text for text in drawn("TCB_PT_tracks"))


def test_a_key_has_sliders_for_its_velocity_where_the_method_goes_by_it(cube, scene):
    bpy.ops.tcb.enable()
    bpy.context.window_manager.tcb_track = "Object/Cube/location"
    scene.frame_set(11)
    assert "Velocity per frame:" not in drawn("TCB_PT_tracks")
    scene.tcb.method = "HERMITE"
    shown = drawn("TCB_PT_tracks")
    assert "Method: Hermite" in shown
    assert [text for text in shown if ".velocity" in text] == [f"TCBSidebar.velocity[{index}]" for index in range(3)]
    scene.tcb.velocity[1] = 0.5
    assert scene.tcb.velocity[:3] == (0.0, 0.5, 0.0)
    scene.frame_set(31)
    assert scene.tcb.velocity[:3] == (0.0, 0.0, 0.0)


def test_the_bake_panel_passes_its_options_on(cube, scene):
    scene.tcb.step = 0.5
    scene.tcb.use_scene_range = True
    # The toggle bakes at first, and then the button next to it bakes again.
    for _ in range(2):
        (call,) = [text for text in drawn("TCB_PT_bake") if text.startswith("bpy.ops.tcb.bake(")]
        assert "step=0.5" in call
        assert "use_scene_range=True" in call
        bpy.ops.tcb.bake()


def test_curves_have_tolerances_where_samples_have_a_step(cube, scene):
    step, tolerances = "TCBSidebar.step[0]", {"TCBSidebar.value_tolerance[0]", "TCBSidebar.rotation_tolerance[0]"}
    scene_range = "TCBSidebar.use_scene_range[0]"
    # The popover has only the options that are not beside its button.
    assert {step, "TCBSidebar.output[0]"} <= set(drawn("TCB_PT_bake"))
    assert {each for each in drawn("TCB_PT_bake_options") if each.startswith("TCBSidebar")} == {scene_range}
    scene.tcb.output = "CURVES"
    assert tolerances | {scene_range} <= set(drawn("TCB_PT_bake_options"))
    assert any("output='CURVES'" in text for text in drawn("TCB_PT_bake"))
    # For handles, tolerances determine the tracks reported as approximate.
    scene.tcb.output = "HANDLES"
    assert tolerances <= set(drawn("TCB_PT_bake_options"))
    assert scene_range not in drawn("TCB_PT_bake_options")


DISCARD = "bpy.ops.tcb.free(discard_edits=True)"


def test_one_button_bakes_and_frees(cube):
    def calls():
        return [text.partition("(")[0] for text in drawn("TCB_PT_bake") if text.startswith("bpy.ops")]

    assert calls() == ["bpy.ops.tcb.bake", "bpy.ops.tcb.free"]
    bpy.ops.tcb.bake()
    assert calls() == ["bpy.ops.tcb.free", "bpy.ops.tcb.bake"]
    bpy.ops.tcb.free()
    assert calls() == ["bpy.ops.tcb.bake", "bpy.ops.tcb.free"]


def test_the_tab_shows_the_states_in_nla_strips_and_frees_their_bake(cube):
    action = cube.animation_data.action
    cube.animation_data.nla_tracks.new().strips.new("Strip", 1, action)
    cube.animation_data.action = None
    assert begins(drawn("TCB_PT_bake"), "bpy.ops.tcb.bake(")
    assert "bpy.ops.tcb.enable()" in drawn("TCB_PT_tracks")
    bpy.ops.tcb.enable()
    assert "Off: 2" in drawn("TCB_PT_tracks")
    assert "bpy.ops.tcb.enable()" not in drawn("TCB_PT_tracks")
    bpy.ops.tcb.bake()
    assert {"Baked: 2", "Baked: tweak or Free Bake"} <= set(drawn("TCB_PT_tracks"))
    shown = drawn("TCB_PT_bake")
    assert next(text for text in shown if text.startswith("bpy.ops")) == "bpy.ops.tcb.free()"


def test_the_line_below_the_state_says_how_to_edit_what_is_baked(cube, tcb_animation):
    """The list that the line opens has the button. Any other message takes the line."""
    baked = "Baked: edit here, or Free Bake"
    bpy.ops.tcb.enable()
    assert baked not in drawn("TCB_PT_tracks")
    bpy.ops.tcb.bake()
    assert baked in drawn("TCB_PT_tracks")
    assert {"Baked: edit in the TCB tab, or Free Bake", "bpy.ops.tcb.free()"} <= set(drawn("TCB_PT_messages"))
    note = tcb_animation.animation.Finding("QUOTED", arguments=("one",))
    tcb_animation.ui.operator_results.keep_result_notes([note])
    assert {baked, "One"} & set(drawn("TCB_PT_tracks")) == {"One"}
    bpy.ops.tcb.messages_dismiss()
    assert not bpy.ops.tcb.messages_dismiss.poll()
    bpy.ops.tcb.free()
    assert baked not in drawn("TCB_PT_tracks")


def test_edits_from_outside_can_be_discarded_by_a_button_of_their_message(cube, states):
    bpy.ops.tcb.bake()
    assert DISCARD not in drawn("TCB_PT_messages")
    curve(cube, "location").keyframe_points[3].co.y = 7.0
    assert DISCARD in drawn("TCB_PT_messages")
    assert states().count("EDITED_OUTSIDE") == 1
    assert "1 track was edited outside TCB. To keep the edits, use Finish > Apply" in drawn("TCB_PT_tracks")
    bpy.ops.tcb.free(discard_edits=True)
    assert DISCARD not in drawn("TCB_PT_messages")


def test_tracks_whose_channels_were_deleted_are_listed_too(cube):
    keys = co(curve(cube, "location")).tolist()
    bpy.ops.tcb.bake()
    for fcurve in fcurves(cube):
        bag_of(cube).fcurves.remove(fcurve)
    assert "2 tracks were edited outside TCB. To keep the edits, use Finish > Apply" in drawn("TCB_PT_tracks")
    assert {"Location", "Quaternion Rotation"} <= set(drawn("TCB_PT_tracks"))
    assert DISCARD in drawn("TCB_PT_messages")
    bpy.ops.tcb.free(discard_edits=True)
    assert co(curve(cube, "location")).tolist() == keys
    assert DISCARD not in drawn("TCB_PT_messages")


def test_no_row_comes_or_goes_above_the_sliders(cube, scene, tcb_animation):
    """Test states of tracks, messages, mixed values, complete rotations, and frames between keys."""

    def rows():
        with in_viewport():
            return places_of_sliders(items_of("TCB_PT_tracks"))

    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    scene.frame_set(11)
    before = rows()
    assert len(before[1]) == 2

    def unkey():
        rotation = curve(cube, "rotation_quaternion")
        rotation.keyframe_points.insert(21, rotation.evaluate(21))

    def note():
        finding = tcb_animation.animation.Finding
        notes = [finding("QUOTED", arguments=(text,)) for text in ("one", "two")]
        tcb_animation.ui.operator_results.keep_result_notes(notes)

    def lock():
        for fcurve in tcb_animation.animation.fcurves.channels.channels_of(cube):
            fcurve.lock = True

    for step in (
        bpy.ops.tcb.enable,
        bpy.ops.tcb.bake,
        bpy.ops.tcb.free,
        unkey,
        bpy.ops.tcb.key_whole,
        note,
        partial(scene.frame_set, 15),
        partial(scene.frame_set, 31),
        bpy.ops.tcb.remove,
        lock,
    ):
        step()
        assert rows() == before, step


def test_a_bake_of_handles_has_a_tooltip_of_its_own(tcb_animation):
    told = {
        output: tcb_animation.operators.bake.TCB_OT_bake.description(bpy.context, SimpleNamespace(output=output))
        for output in ("SAMPLES", "CURVES", "HANDLES")
    }
    assert "play the motion with handles" in told.pop("HANDLES")
    assert set(told.values()) == {bpy.ops.tcb.bake.get_rna_type().description}


def test_a_rotation_with_channels_keyed_apart_can_be_keyed_whole(cube):
    bpy.ops.tcb.enable()
    assert "bpy.ops.tcb.key_whole()" not in drawn("TCB_PT_messages")
    rotation = curve(cube, "rotation_quaternion")
    rotation.keyframe_points.insert(21, rotation.evaluate(21))
    assert "Rotation channels are keyed at different frames" in drawn("TCB_PT_tracks")
    assert "bpy.ops.tcb.key_whole()" in drawn("TCB_PT_messages")
    bpy.ops.tcb.key_whole()
    assert "bpy.ops.tcb.key_whole()" not in drawn("TCB_PT_messages")


def test_in_pose_mode_the_active_bones_tracks_are_listed(scene):
    rig = new_rig("upper", "lower", tail=(0, 1, 0))
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["upper"].keyframe_insert("location", frame=1)
    rig.pose.bones["lower"].keyframe_insert("scale", frame=1)
    rig.data.bones.active = rig.data.bones["lower"]
    shown = drawn("TCB_PT_tracks")
    assert "Scale" in shown
    assert "Location" not in shown
    bpy.ops.object.mode_set(mode="OBJECT")
    shown = drawn("TCB_PT_tracks")
    assert "For bones, use Pose Mode" in shown
    assert "Scale" not in shown


def test_components_have_their_letters(cube, scene):
    cube.id_data.color = (0.5, 0.5, 0.5, 1.0)
    cube.keyframe_insert("color", frame=1)
    bpy.context.window_manager.tcb_track = "Object/Cube/color"
    scene.frame_set(1)
    assert {"R: 0.5000", "A: 1.0000"} <= set(drawn("TCB_PT_place"))


def test_a_key_without_parameters_shows_the_defaults(cube, scene):
    scene.tcb.defaults.bias = 0.25
    scene.frame_set(11)
    assert scene.tcb.bias == 0.25
    # They are in use, so their panel is shown without the preference.
    assert "TCBParameters.bias[0]" in drawn("TCB_PT_defaults")
    scene.tcb.defaults.bias = 0.0
    assert not is_there("TCB_PT_defaults")


OTHERWISE = "Baked with different"


def begins(shown, text):
    return any(line.startswith(text) for line in shown)


def test_other_options_or_defaults_than_those_of_the_bake_say_which_tracks_they_change(cube, scene):
    bpy.ops.tcb.bake()
    assert not begins(drawn("TCB_PT_bake_options"), OTHERWISE)
    scene.tcb.step = 0.5
    message = f"{OTHERWISE} options or defaults: Bake Again changes Location; Quaternion Rotation"
    assert message in " ".join(drawn("TCB_PT_bake_options"))
    assert not begins(drawn("TCB_PT_messages"), OTHERWISE)
    cube.animation_data.action.tcb_live = True
    assert message in " ".join(drawn("TCB_PT_messages"))
    scene.tcb.step = 1.0
    assert not begins(drawn("TCB_PT_messages"), OTHERWISE)
    scene.tcb.defaults.tension = 0.3
    assert begins(drawn("TCB_PT_messages"), OTHERWISE)
    bpy.context.view_layer.update()
    bpy.ops.tcb.sync()
    bpy.ops.tcb.bake()
    assert not begins(drawn("TCB_PT_messages"), OTHERWISE)


def test_a_long_sentence_is_wrapped_and_none_of_it_lost(cube, tcb_animation):
    action = cube.animation_data.action
    bpy.ops.tcb.bake()
    action.tcb_live = True
    sentence = "a sentence of many words that no sidebar of any usual width has room for in one line"
    tcb_animation.ui.operator_results.keep_result_notes(
        [tcb_animation.animation.Finding("QUOTED", arguments=(sentence,))]
    )
    shown = drawn("TCB_PT_messages")
    start = next(row for row, line in enumerate(shown) if line.startswith("a sentence"))
    assert sentence not in shown
    assert " ".join(shown[start:]).startswith(sentence)
    # The line of the tab begins with this message.
    assert any(line.startswith("A sentence of many words") for line in drawn("TCB_PT_tracks"))


def test_notes_of_many_tracks_alike_are_one_line(cube, tcb_animation):
    action = cube.animation_data.action
    bpy.ops.tcb.bake()
    action.tcb_live = True
    finding = tcb_animation.animation.Finding
    alike = [finding("QUOTED", "Cube", f'pose.bones["{name}"].scale', 3.0, ("moved",)) for name in "ABCD"]
    others = [finding("QUOTED", "Cube", "location", None, (text,)) for text in ("one", "two", "three")]
    tcb_animation.ui.operator_results.keep_result_notes([*alike, *others])
    assert "Moved (+3)" in drawn("TCB_PT_tracks")


def test_selected_bones_can_be_enabled_without_an_active_one(scene):
    rig = new_rig("Arm", tail=(0, 1, 0))
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["Arm"].keyframe_insert("location", frame=1)
    select_bone(rig, "Arm", True)
    rig.data.bones.active = None
    assert {"Arm", "bpy.ops.tcb.enable()"} <= set(drawn("TCB_PT_tracks"))
    bpy.ops.tcb.enable()
    shown = drawn("TCB_PT_tracks")
    assert "Off" in shown
    assert "bpy.ops.tcb.enable()" not in shown
    select_bone(rig, "Arm", False)
    assert "No active bone. Click a bone" in drawn("TCB_PT_tracks")


def test_a_selection_that_is_partly_baked_offers_both_and_says_how_much_is_baked(scene):
    rig = new_rig("first", tail=(0, 1, 0))
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("second").tail = (0, 2, 0)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        bone.keyframe_insert("location", frame=1)
        bone.keyframe_insert("location", frame=9)
    select_bone(rig, "first", True)
    select_bone(rig, "second", False)
    rig.data.bones.active = rig.data.bones["first"]
    bpy.ops.tcb.bake()
    assert begins(drawn("TCB_PT_bake"), "bpy.ops.tcb.free(")
    select_bone(rig, "second", True)
    bpy.ops.tcb.enable()
    buttons = [line for line in drawn("TCB_PT_bake") if line.startswith("bpy.ops.tcb.")]
    assert buttons[0].startswith("bpy.ops.tcb.bake(")
    assert buttons[1].startswith("bpy.ops.tcb.free(")
    assert "1 of 2 tracks are baked." in " ".join(drawn("TCB_PT_messages"))
    bpy.ops.tcb.bake()
    assert begins(drawn("TCB_PT_bake"), "bpy.ops.tcb.free(")
    assert "tracks are baked" not in " ".join(drawn("TCB_PT_messages"))


def test_all_tracks_of_an_active_object_that_is_not_selected_are_counted(cube, tcb_animation):
    tcb_animation.animation.enable(cube, keep_look=False)
    tcb_animation.animation.bake(cube, prefixes=["location"])
    cube.select_set(False)
    assert "1 of 2 tracks are baked." in " ".join(drawn("TCB_PT_messages"))


def test_a_bones_name_stands_with_its_tracks(scene, tcb_animation):
    rig = new_rig("upper", tail=(0, 1, 0))
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["upper"].keyframe_insert("location", frame=1)
    track = tcb_animation.animation.find_track(rig, 'pose.bones["upper"].location')
    text = tcb_animation.ui.sidebar_tracks
    assert text.track_label(rig, track) == "Location, upper"
    assert text.property_label(rig, track) == "Location"


def test_the_label_of_a_custom_property_is_its_name(scene, tcb_animation):
    item, name = new_object("Thing"), 'Bend "left"'
    item[name] = 1.0
    path = f'["{bpy.utils.escape_identifier(name)}"]'
    item.keyframe_insert(path, frame=1)
    track = tcb_animation.animation.find_track(item, path)
    assert tcb_animation.ui.sidebar_tracks.track_label(item, track) == name


def test_the_label_of_a_node_socket_is_its_name_and_the_owner_of_nodes_is_the_material(scene, tcb_animation):
    material = bpy.data.materials.new("Mat")
    material.use_nodes = True
    tree = material.node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].keyframe_insert("default_value", frame=1)
    track = tcb_animation.animation.find_track(tree, shader.inputs["Base Color"].path_from_id("default_value"))
    text = tcb_animation.ui.sidebar_tracks
    assert text.track_label(tree, track) == "Base Color"
    assert text.owner_label(tree) == "Mat"
    assert text.labels_of([(tree, track)]) == "Mat: Base Color"


def test_errors_and_ranges_are_plain_numbers_with_units(cube, scene, tcb_animation):
    tab = tcb_animation.ui.sidebar_tracks
    rotation, location = (tcb_animation.animation.find_track(cube, path) for path in ("rotation", "location"))
    assert tab._size_text(cube, rotation, math.radians(110.0)) == "110.0°"
    assert tab._size_text(cube, location, 1e-8) == "<1 µm"
    assert tcb_animation.panels.widgets.range_text(bpy.context, 0.02001, 0.02002, 3) == "≈ 0.02"
    assert tcb_animation.panels.widgets.range_text(bpy.context, 0.02, 0.05, 3) == "0.02 … 0.05"
    note = tcb_animation.animation.Finding("LOOK_CHANGED", "Cube", "location", 12.5, ((0.0992, ""),))
    tcb_animation.ui.operator_results.keep_result_notes([note])
    assert tcb_animation.panels.messages.messages_in_tab(bpy.context)[0].short == "Off by 9.9 cm at frame 12: Location"


def test_a_message_on_what_is_baked_has_the_button_until_that_is_freed(cube, tcb_animation):
    bpy.ops.tcb.bake()
    note = tcb_animation.animation.Finding("DID_NOT_MOVE", arguments=(2,))
    tcb_animation.ui.operator_results.keep_result_notes([note])
    shown = drawn("TCB_PT_messages")
    assert "bpy.ops.tcb.free()" in shown
    assert "2 baked tracks did not move." in " ".join(shown)
    bpy.ops.tcb.free()
    shown = drawn("TCB_PT_messages")
    assert not any("did not move" in line for line in shown)


def test_a_message_on_another_baked_bone_of_the_rig_is_listed(scene, tcb_animation):
    rig = new_rig("upper", "lower", tail=(0, 1, 0))
    for bone in rig.pose.bones:
        insert(bone, "location", [(1, (0, 0, 0)), (11, (1, 2, 3))])
    tcb_animation.animation.bake(rig, prefixes=['pose.bones["upper"]'])
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones["lower"]
    for bone in rig.pose.bones:
        select_bone(rig, bone.name, bone.name == "lower")
    tcb_animation.ui.operator_results.keep_result_notes(
        [tcb_animation.animation.Finding("DID_NOT_MOVE", arguments=(1,))]
    )
    assert begins(drawn("TCB_PT_messages"), "1 baked track did not move")


def test_timing_says_what_is_on_and_where_its_curve_is(cube, tcb_animation, request):
    bpy.context.window_manager.tcb_track = "Object/Cube/location"
    bpy.ops.tcb.enable()
    assert not is_there("TCB_PT_timing")
    request.getfixturevalue("advanced")
    shown = " ".join(drawn("TCB_PT_timing"))
    assert "A curve maps scene frames to frames of the motion" in shown
    assert "Frames 1 to 36" not in shown
    tcb_animation.animation.retime(cube, "HOLD", track="location", frame=11.0, length=5.0)
    shown = " ".join(drawn("TCB_PT_timing"))
    assert "Frames 1 to 36" in shown
    assert f"Graph Editor: Frame Function in {cube.animation_data.action.name}" in shown
