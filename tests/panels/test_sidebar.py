# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar, drawn into a real layout, and its sliders."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import bpy
import pytest

from tests.animation.curves import HAS_SLOTS, bag_of, co, curve, fcurves, new_object, new_rig
from tests.animation.layered import give_layer


@pytest.fixture
def drawn(tcb_animation):
    """drawn("TCB_PT_key"): what that panel shows: texts, operator calls, property paths; or their count."""

    def draw(name, count=False):
        window = bpy.context.window_manager.windows[0]
        area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
        region = next(region for region in area.regions if region.type == "UI")
        panel = getattr(bpy.types, name)
        with bpy.context.temp_override(window=window, area=area, region=region):
            if hasattr(panel, "poll") and not panel.poll(bpy.context):
                return None
            popup = bpy.context.window_manager.popmenu_begin__internal(name)
            panel.draw(SimpleNamespace(layout=popup.layout), bpy.context)
            shown = popup.layout.introspect()
            return rows(shown) if count else list(_shown(shown))

    return draw


def rows(items):
    """The number of single items of a layout, shown or empty."""
    return sum(rows(item["items"]) if "items" in item else 1 for item in items)


def _shown(items):
    for item in items:
        for kind in ("draw_string", "operator", "rna"):
            if item.get(kind):
                yield item[kind]
        yield from _shown(item.get("items", ()))


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


def test_without_an_object_the_tab_says_so(scene, drawn):
    assert "No active object" in drawn("TCB_PT_tracks")


@pytest.mark.skipif(not HAS_SLOTS, reason="this Blender's actions have no layers")
def test_an_action_of_two_layers_is_told_where_the_list_would_stand(cube, drawn):
    give_layer(cube.animation_data.action)
    shown = " ".join(drawn("TCB_PT_tracks"))
    assert '"Cube": its action "CubeAction" has more than one layer or strip' in shown


def test_an_object_without_keys_is_named(scene, drawn):
    item = new_object("Still")
    bpy.context.view_layer.objects.active = item
    assert "Still has no keyframes" in drawn("TCB_PT_tracks")


def test_tracks_are_listed_with_their_states(cube, drawn):
    shown = drawn("TCB_PT_tracks")
    assert shown.count("not TCB") == 2
    assert {"Location", "Quaternion Rotation", "bpy.ops.tcb.enable()"} <= set(shown)
    bpy.ops.tcb.enable()
    assert drawn("TCB_PT_tracks").count("TCB") == 2
    bpy.ops.tcb.bake()
    assert drawn("TCB_PT_tracks").count("baked") == 2
    curve(cube, "location").extrapolation = "LINEAR"
    shown = drawn("TCB_PT_tracks")
    assert shown.count("out of date") == 1
    assert shown.count("baked") == 1


def test_enable_and_remove_are_offered_as_the_tracks_ask_for_them(cube, drawn, tcb_animation):
    def offered():
        return {name for name in ("enable", "remove") if f"bpy.ops.tcb.{name}()" in drawn("TCB_PT_tracks")}

    assert offered() == {"enable"}
    tcb_animation.animation.enable(cube, ["location"])
    assert offered() == {"enable", "remove"}
    bpy.ops.tcb.enable()
    assert offered() == {"remove"}
    # What else is selected may need either.
    other = new_object("Other")
    other.keyframe_insert("location", frame=1)
    other.select_set(True)
    assert offered() == {"enable", "remove"}
    bpy.ops.tcb.enable()
    assert offered() == {"remove"}


def test_after_a_switch_of_rotation_mode_the_tab_offers_that_of_the_keys(cube, drawn):
    for fcurve in fcurves(cube)[:3]:
        bag_of(cube).fcurves.remove(fcurve)
    cube.rotation_mode = "XYZ"
    shown = drawn("TCB_PT_tracks")
    assert {"Quaternion Rotation", "other rotation mode", "Object.rotation_mode[0]"} <= set(shown)
    assert "do not play in this rotation mode" in " ".join(shown)
    assert "no keyframes" not in " ".join(shown)
    cube.rotation_mode = "QUATERNION"
    assert "Object.rotation_mode[0]" not in drawn("TCB_PT_tracks")


def test_of_animation_in_nla_strips_the_tab_says_so_and_offers_tweak_mode(cube, drawn):
    action = cube.animation_data.action
    cube.animation_data.nla_tracks.new().strips.new("Strip", 1, action)
    cube.animation_data.action = None
    shown = drawn("TCB_PT_tracks")
    assert "The animation is in NLA strips, whose actions Bake includes" in " ".join(shown)
    assert "no keyframes" not in " ".join(shown)
    assert "AnimData.use_tweak_mode[0]" in shown


def test_remove_is_offered_where_only_the_table_or_a_frame_function_is_left(cube, drawn, tcb_animation):
    bpy.ops.tcb.enable()
    table = cube.animation_data.action[tcb_animation.animation.store.table.custom_property.PROPERTY]
    table["rows"] = "damaged"
    assert "bpy.ops.tcb.remove()" in drawn("TCB_PT_tracks")
    bpy.ops.tcb.remove()
    assert "bpy.ops.tcb.remove()" not in drawn("TCB_PT_tracks")


def test_a_live_rigs_switch_and_messages_stand_beside_a_bone_without_keys(scene, drawn, tcb_animation):
    rig = new_rig("upper", "lower", tail=(0, 1, 0))
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["upper"].keyframe_insert("location", frame=1)
    rig.animation_data.action.tcb_live = True
    tcb_animation.ui.live.messages.keep_notes(rig.animation_data.action, ["a note"])
    rig.data.bones.active = rig.data.bones["lower"]
    assert "Action.tcb_live[0]" in drawn("TCB_PT_tracks")
    assert "a note" in drawn("TCB_PT_messages")


def test_live_stands_above_the_tracks(cube, drawn):
    bpy.ops.tcb.bake()
    shown = drawn("TCB_PT_tracks")
    assert shown.index("Action.tcb_live[0]") < shown.index("Location")


def test_the_list_says_of_each_track_that_handles_play_how_far_off_these_are_and_where(cube, drawn, tcb_animation):
    bpy.ops.tcb.enable()
    bpy.ops.tcb.key_set(track="rotation", frame=11, ease_to=1.0, ease_from=1.0)
    bpy.ops.tcb.key_set(track="location", frame=11, ease_to=0.3)
    for tolerance, text in ((1.0, "handles, {} at {:g}"), (1e-5, "≈ {} off at {:g}")):
        options = {"value_tolerance": 10.0, "rotation_tolerance": tolerance}
        report = tcb_animation.animation.bake(cube, output="HANDLES", **options)
        value, turn = sorted(report.handles, key=lambda each: each["rotation"])
        assert value["error"] > 1e-4
        shown = drawn("TCB_PT_tracks")
        assert f"handles, {round(value['error'], 4)} at {round(value['frame'], 1):g}" in shown
        size = "<0.1°" if turn["error"] < 0.05 else f"{turn['error']:.1f}°"
        assert text.format(size, round(turn["frame"], 1)) in shown
    bpy.ops.tcb.restore()
    assert drawn("TCB_PT_tracks").count("TCB") == 2


def test_the_list_calls_handles_exact_where_only_rounding_is_left(cube, drawn, tcb_animation):
    for frame in (1, 11, 31):
        cube.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
        cube.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.ops.tcb.enable(keep_look=False)
    report = tcb_animation.animation.bake(cube, output="HANDLES")
    assert max(each["error"] for each in report.handles) < 1e-7
    assert drawn("TCB_PT_tracks").count("handles, exact") == 2


def test_the_list_has_whole_frames_however_late_they_are(cube, drawn, tcb_animation):
    # So wide a turn with eases handles play less near than their tolerance, far beyond rounding.
    cube.rotation_quaternion = (math.cos(math.pi * 0.45), 0.0, 0.0, math.sin(math.pi * 0.45))
    cube.keyframe_insert("rotation_quaternion", frame=11)
    for fcurve in tcb_animation.animation.fcurves.channels.channels_of(cube):
        for point in fcurve.keyframe_points:
            point.co_ui.x += 123456.0
        fcurve.update()
    animation = tcb_animation.animation
    animation.enable(cube, keep_look=False)
    animation.key_set(cube, "rotation", 123467, ease_to=1.0, ease_from=1.0)
    report = animation.bake(cube, output="HANDLES")
    (turn,) = [each for each in report.handles if each["rotation"]]
    (shown,) = [text for text in drawn("TCB_PT_tracks") if "°" in text]
    assert abs(float(shown.rpartition(" ")[2]) - turn["frame"]) <= 0.5
    (note,) = [note for note in report.notes if "approximate" in note]
    assert abs(float(note.rpartition("at frame ")[2]) - turn["frame"]) <= 0.5


def test_a_track_with_one_key_is_off_nowhere(cube, drawn, tcb_animation):
    for fcurve in tcb_animation.animation.fcurves.channels.channels_of(cube):
        for _ in range(2):
            fcurve.keyframe_points.remove(fcurve.keyframe_points[-1])
    tcb_animation.animation.bake(cube, output="HANDLES")
    assert drawn("TCB_PT_tracks").count("handles") == 2


def test_the_key_panel_shows_five_sliders_and_where_the_key_is(cube, drawn, scene):
    scene.frame_set(11)
    shown = drawn("TCB_PT_key")
    assert "Key: frame 11 (2 of 3)" in shown
    sliders = [f"TCBSidebar.{name}[0]" for name in ("tension", "continuity", "bias", "ease_to", "ease_from")]
    place = ["TCBSidebar.key_frame[0]", "TCBSidebar.whole_column[0]"]
    place += [f"TCBSidebar.key_value[{index}]" for index in range(3)]
    assert [name for name in shown if name.startswith("TCBSidebar")] == [*sliders, *place]
    scene.frame_set(20)
    assert "Key before: frame 11 (2 of 3)" in drawn("TCB_PT_key")
    scene.frame_set(0)
    assert "Key after: frame 1 (1 of 3)" in drawn("TCB_PT_key")


def test_the_sliders_set_the_key_that_they_show(cube, scene):
    scene.frame_set(15)
    scene.tcb.tension = 0.5
    scene.tcb.ease_from = 0.25
    scene.frame_set(31)
    assert (scene.tcb.tension, scene.tcb.ease_from) == (0.0, 0.0)
    scene.frame_set(11)
    assert (scene.tcb.tension, scene.tcb.ease_from) == (0.5, 0.25)


def test_key_info_shows_the_value_now(cube, drawn, scene):
    scene.frame_set(11)
    shown = drawn("TCB_PT_key")
    assert "X: 0.1000" in shown
    assert "at 11:" not in shown
    # Between keys the motion has another, which stands beside.
    scene.frame_set(40)
    assert {"at 40:", "0.2", "X: 0.2000"} <= set(drawn("TCB_PT_key"))


def test_the_value_now_is_what_blender_shows_in_every_state_of_the_track(cube, drawn, scene):
    def values():
        scene.frame_set(20)
        shown = drawn("TCB_PT_key")
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


def test_key_info_shows_a_rotations_turn_from_the_key_before(cube, drawn, scene):
    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    scene.frame_set(11)
    shown = drawn("TCB_PT_key")
    # A tenth of a turn about z from the key before.
    assert "Turn from frame 1 to 11: 36.0°" in shown
    assert "Axis 0, 0, 1" in shown
    # Between keys it is that from the last key, by every method.
    bpy.ops.tcb.enable(keep_look=False)
    for method in ("TCB", "LINEAR"):
        scene.tcb.method = method
        scene.frame_set(21)
        (turn,) = [text for text in drawn("TCB_PT_key") if text.startswith("Turn from frame 11 to 21: ")]
        assert float(turn.rpartition(" ")[2].removesuffix("°")) == pytest.approx(18.0, abs=6.0)


def test_a_rotations_choices_are_shown_once_it_is_tcb(cube, drawn, scene):
    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    assert "Enable TCB to choose" in drawn("TCB_PT_track")
    bpy.ops.tcb.enable()
    names = {f"TCBSidebar.{name}[0]" for name in ("cycle", "ends", "construction", "path")}
    assert names <= set(drawn("TCB_PT_track"))
    scene.tcb.construction = "SQUAD"
    assert scene.tcb.construction == "SQUAD"
    bpy.context.window_manager.tcb_track = "Object/Cube/location"
    assert names & set(drawn("TCB_PT_track")) == {"TCBSidebar.cycle[0]"}


def test_the_methods_are_those_that_there_are_for_the_track(cube, scene):
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


def test_of_the_choices_those_are_shown_that_the_method_goes_by(cube, drawn, scene):
    bpy.ops.tcb.enable()
    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    scene.tcb.method = "LINEAR"
    names = ("method", "angles", "cycle", "ends", "construction", "path")

    def choices():
        return [name for name in names if f"TCBSidebar.{name}[0]" in drawn("TCB_PT_track")]

    assert choices() == ["method", "cycle", "path"]
    scene.tcb.method = "ROLL_PITCH_YAW"
    assert choices() == ["method", "angles", "cycle", "path"]


def test_a_method_that_leaves_the_parameters_alone_says_so(cube, drawn, scene, tcb_animation):
    diagram = tcb_animation.panels.sidebar.TCB_PT_diagram
    bpy.ops.tcb.enable()
    bpy.context.window_manager.tcb_track = "Object/Cube/rotation_quaternion"
    assert not any("ease alone" in text for text in drawn("TCB_PT_key"))
    assert diagram.poll(bpy.context)
    scene.tcb.method = "LINEAR"
    assert "Method: Linear" in drawn("TCB_PT_key")
    assert not diagram.poll(bpy.context)
    # The angles' own method has them.
    scene.tcb.method = "ROLL_PITCH_YAW"
    assert not any("ease alone" in text for text in drawn("TCB_PT_key"))


def test_a_key_has_sliders_for_its_velocity_where_the_method_goes_by_it(cube, drawn, scene):
    bpy.ops.tcb.enable()
    bpy.context.window_manager.tcb_track = "Object/Cube/location"
    scene.frame_set(11)
    assert "Velocity a frame:" not in drawn("TCB_PT_key")
    scene.tcb.method = "HERMITE"
    shown = drawn("TCB_PT_key")
    assert "Method: Hermite" in shown
    assert [text for text in shown if ".velocity" in text] == [f"TCBSidebar.velocity[{index}]" for index in range(3)]
    scene.tcb.velocity[1] = 0.5
    assert scene.tcb.velocity[:3] == (0.0, 0.5, 0.0)
    scene.frame_set(31)
    assert scene.tcb.velocity[:3] == (0.0, 0.0, 0.0)


def test_a_locked_track_says_why_its_sliders_are_grey(cube, drawn, tcb_animation):
    for fcurve in tcb_animation.animation.fcurves.channels.channels_of(cube):
        fcurve.lock = True
    assert any("locked" in text for text in drawn("TCB_PT_key"))


def test_the_bake_panel_passes_its_options_on(cube, drawn, scene):
    scene.tcb.step = 0.5
    scene.tcb.use_scene_range = True
    shown = drawn("TCB_PT_bake")
    assert "bpy.ops.tcb.restore()" in shown
    (bake,) = (text for text in shown if text.startswith("bpy.ops.tcb.bake("))
    assert "step=0.5" in bake
    assert "use_scene_range=True" in bake


def test_curves_have_tolerances_where_samples_have_a_step(cube, drawn, scene):
    step, tolerances = "TCBSidebar.step[0]", {"TCBSidebar.value_tolerance[0]", "TCBSidebar.rotation_tolerance[0]"}
    scene_range = "TCBSidebar.use_scene_range[0]"
    assert {step, scene_range} <= set(drawn("TCB_PT_bake_options"))
    assert not tolerances & set(drawn("TCB_PT_bake_options"))
    scene.tcb.output = "CURVES"
    assert tolerances | {scene_range} <= set(drawn("TCB_PT_bake_options"))
    assert step not in drawn("TCB_PT_bake_options")
    assert any("output='CURVES'" in text for text in drawn("TCB_PT_bake"))
    # Of handles they decide what is said to be approximate.
    scene.tcb.output = "HANDLES"
    assert tolerances <= set(drawn("TCB_PT_bake_options"))
    assert not {step, scene_range} & set(drawn("TCB_PT_bake_options"))


def test_the_first_line_is_the_state_and_nothing_moves_when_that_changes(cube, drawn):
    def states():
        shown = drawn("TCB_PT_tracks")
        return shown[1], shown.index("Action.tcb_live[0]")

    assert states()[0] == "Not baked"
    before = states()
    bpy.ops.tcb.enable()
    assert states() == before
    bpy.ops.tcb.bake()
    # The text of a button, and what it calls, are one row.
    assert drawn("TCB_PT_tracks")[1:3] == ["Baked: Free Bake to edit", "bpy.ops.tcb.free()"]
    assert states()[1] == before[1] + 1
    bpy.ops.tcb.free()
    assert states() == before


def test_edits_from_outside_can_be_discarded_by_a_button(cube, drawn):
    bpy.ops.tcb.bake()
    discard = "bpy.ops.tcb.free(discard_edits=True)"
    assert discard not in drawn("TCB_PT_bake")
    curve(cube, "location").keyframe_points[3].co.y = 7.0
    assert discard in drawn("TCB_PT_bake")
    assert drawn("TCB_PT_tracks").count("edited outside") == 1
    assert drawn("TCB_PT_tracks")[1] == "Baked: Free Bake to edit (1 edited outside)"
    bpy.ops.tcb.free(discard_edits=True)
    assert discard not in drawn("TCB_PT_bake")


def test_tracks_whose_channels_were_deleted_are_listed_too(cube, drawn):
    keys = co(curve(cube, "location")).tolist()
    bpy.ops.tcb.bake()
    assert "edited outside" not in drawn("TCB_PT_tracks")
    for fcurve in fcurves(cube):
        bag_of(cube).fcurves.remove(fcurve)
    assert drawn("TCB_PT_tracks").count("edited outside") == 2
    assert {"Location", "Quaternion Rotation"} <= set(drawn("TCB_PT_tracks"))
    assert "bpy.ops.tcb.free(discard_edits=True)" in drawn("TCB_PT_bake")
    bpy.ops.tcb.free(discard_edits=True)
    assert co(curve(cube, "location")).tolist() == keys
    assert "edited outside" not in drawn("TCB_PT_tracks")


def test_a_bake_of_handles_has_a_tooltip_of_its_own(tcb_animation):
    told = {
        output: tcb_animation.operators.bake.TCB_OT_bake.description(bpy.context, SimpleNamespace(output=output))
        for output in ("SAMPLES", "CURVES", "HANDLES")
    }
    assert "handles of your own keys" in told.pop("HANDLES")
    assert set(told.values()) == {bpy.ops.tcb.bake.get_rna_type().description}


def test_a_rotation_with_channels_keyed_apart_can_be_keyed_whole(cube, drawn):
    bpy.ops.tcb.enable()
    assert "bpy.ops.tcb.key_whole()" not in drawn("TCB_PT_tracks")
    rotation = curve(cube, "rotation_quaternion")
    rotation.keyframe_points.insert(21, rotation.evaluate(21))
    assert "bpy.ops.tcb.key_whole()" in drawn("TCB_PT_tracks")
    bpy.ops.tcb.key_whole()
    assert "bpy.ops.tcb.key_whole()" not in drawn("TCB_PT_tracks")


def test_in_pose_mode_the_active_bones_tracks_are_listed(scene, drawn):
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
    assert "Its bones' tracks: in Pose Mode" in shown
    assert "Scale" not in shown


def test_the_curves_of_another_rotation_mode_are_grey(cube, drawn):
    cube.rotation_mode = "XYZ"
    shown = drawn("TCB_PT_tracks")
    assert {"Quaternion Rotation", "other rotation mode"} <= set(shown)
    assert shown.count("not TCB") == 1


def test_components_have_their_letters(cube, drawn, scene):
    cube.id_data.color = (0.5, 0.5, 0.5, 1.0)
    cube.keyframe_insert("color", frame=1)
    bpy.context.window_manager.tcb_track = "Object/Cube/color"
    scene.frame_set(1)
    assert {"R: 0.5000", "A: 1.0000"} <= set(drawn("TCB_PT_key"))


def test_a_key_without_parameters_shows_the_defaults(cube, drawn, scene):
    scene.tcb.defaults.bias = 0.25
    scene.frame_set(11)
    assert scene.tcb.bias == 0.25
    assert "TCBParameters.bias[0]" in drawn("TCB_PT_defaults")


OTHERWISE = "Baked with other"


def begins(shown, text):
    return any(line.startswith(text) for line in shown)


def test_live_says_where_options_or_defaults_are_others_than_those_of_the_bake(cube, scene, drawn):
    bpy.ops.tcb.bake()
    scene.tcb.step = 0.5
    assert not begins(drawn("TCB_PT_messages"), OTHERWISE)
    cube.animation_data.action.tcb_live = True
    assert begins(drawn("TCB_PT_messages"), OTHERWISE)
    scene.tcb.step = 1.0
    assert not begins(drawn("TCB_PT_messages"), OTHERWISE)
    scene.tcb.defaults.tension = 0.3
    assert begins(drawn("TCB_PT_messages"), OTHERWISE)
    bpy.context.view_layer.update()
    bpy.ops.tcb.sync()
    bpy.ops.tcb.bake()
    assert not begins(drawn("TCB_PT_messages"), OTHERWISE)


def test_a_long_sentence_is_wrapped_and_none_of_it_lost(cube, drawn, tcb_animation):
    action = cube.animation_data.action
    bpy.ops.tcb.bake()
    action.tcb_live = True
    sentence = "a sentence of many words that no sidebar of any usual width has room for in one line"
    tcb_animation.ui.live.messages.keep_notes(action, [sentence])
    shown = drawn("TCB_PT_messages")
    start = next(row for row, line in enumerate(shown) if line.startswith("a sentence"))
    assert sentence not in shown
    assert " ".join(shown[start:]).startswith(sentence)


def test_notes_of_many_tracks_alike_are_one_line_and_those_that_are_drawn_count_as_seen(
    cube, drawn, tcb_animation, monkeypatch
):
    action = cube.animation_data.action
    bpy.ops.tcb.bake()
    action.tcb_live = True
    alike = [f'"Cube", pose.bones["{name}"].scale, frame 3: moved' for name in "ABCD"]
    others = [f'"Cube", location: {text}' for text in ("one", "two", "three")]
    messages = tcb_animation.ui.live.messages
    messages.keep_notes(action, [*alike, *others])
    seen = set()
    monkeypatch.setattr(tcb_animation.panels.live, "note_seen", seen.update)
    shown = " ".join(drawn("TCB_PT_messages"))
    assert " (and 3 more so) " in shown.replace("frame 3: moved", "")
    assert "… and 2 notes more" in shown
    assert seen == {*alike, others[0]}


def test_messages_take_the_same_height_whether_there_are_none_or_many(cube, drawn, tcb_animation):
    assert drawn("TCB_PT_messages") is None
    bpy.ops.tcb.enable()
    messages = tcb_animation.ui.live.messages
    heights = set()
    for number in range(12):
        messages.keep_notes(cube.animation_data.action, [f"{'xyz'[each % 3]}{each}: note" for each in range(number)])
        heights.add(drawn("TCB_PT_messages", count=True))
    assert len(heights) == 1


def test_between_keys_make_key_is_offered_and_nothing_moves(cube, scene, drawn):
    bpy.ops.tcb.bake()
    for track in ("location", "rotation_quaternion"):
        bpy.context.window_manager.tcb_track = f"Object/Cube/{track}"
        heights = set()
        for frame in (11, 15, 40, -3):
            scene.frame_set(frame)
            shown = drawn("TCB_PT_key")
            assert "bpy.ops.tcb.make_key()" in shown
            heights.add(len([text for text in shown if text.startswith(("bpy.ops", "TCBSidebar", "Angle", "Axis"))]))
        assert len(heights) == 1


def test_selected_bones_can_be_enabled_without_an_active_one(scene, drawn):
    rig = new_rig("Arm", tail=(0, 1, 0))
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["Arm"].keyframe_insert("location", frame=1)
    chosen = rig.pose.bones["Arm"] if bpy.app.version >= (5, 0, 0) else rig.data.bones["Arm"]
    chosen.select = True
    rig.data.bones.active = None
    shown = drawn("TCB_PT_tracks")
    assert {"No active bone", "bpy.ops.tcb.enable()"} <= set(shown)


def test_options_that_were_changed_say_which_tracks_they_change(cube, scene, drawn):
    bpy.ops.tcb.bake()
    assert not begins(drawn("TCB_PT_bake_options"), OTHERWISE)
    scene.tcb.step = 0.5
    shown = " ".join(drawn("TCB_PT_bake_options"))
    assert "Baked with other options or defaults: Bake TCB changes Location; Quaternion Rotation" in shown
    cube.animation_data.action.tcb_live = True
    assert "Bake TCB changes Location; Quaternion Rotation" in " ".join(drawn("TCB_PT_messages"))


def test_a_bones_name_stands_with_its_tracks(scene, drawn, tcb_animation):
    rig = new_rig("upper", tail=(0, 1, 0))
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["upper"].keyframe_insert("location", frame=1)
    track = tcb_animation.animation.find_track(rig, 'pose.bones["upper"].location')
    text = tcb_animation.panels.track_text
    assert text.track_label(rig, track) == "Location, upper"
    assert text.property_label(rig, track) == "Location"


def test_a_message_on_what_is_baked_has_the_button_until_that_is_freed(cube, drawn, tcb_animation):
    bpy.ops.tcb.bake()
    note = tcb_animation.animation.errors.FreeNote("Cube: baked")
    tcb_animation.ui.live.messages.keep_notes(cube.animation_data.action, [note])
    shown = drawn("TCB_PT_messages")
    assert {"bpy.ops.tcb.free()", note} <= set(shown)
    height = drawn("TCB_PT_messages", count=True)
    bpy.ops.tcb.free()
    shown = drawn("TCB_PT_messages")
    assert not {"bpy.ops.tcb.free()", note} & set(shown)
    assert drawn("TCB_PT_messages", count=True) == height


def test_selected_bones_are_freed_by_the_first_line_without_an_active_one(scene, drawn):
    rig = new_rig("upper", tail=(0, 1, 0))
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["upper"].keyframe_insert("location", frame=1)
    rig.pose.bones["upper"].keyframe_insert("location", frame=9)
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.tcb.bake()
    rig.data.bones.active = None
    assert "Baked: Free Bake to edit" in drawn("TCB_PT_tracks")[:2]


def test_notes_that_were_read_go_and_all_can_be_dismissed(cube, drawn, tcb_animation):
    messages = tcb_animation.ui.live.messages
    action = cube.animation_data.action
    bpy.ops.tcb.bake()
    action.tcb_live = True
    messages.keep_notes(action, ["read"])
    drawn("TCB_PT_messages")
    messages.note_seen(["read"], since=-100.0)
    messages.keep_notes(action, ["new"])
    assert messages.notes_of(action) == ["new"]
    assert bpy.ops.tcb.messages_dismiss() == {"FINISHED"}
    assert messages.notes_of(action) == []
    assert not bpy.ops.tcb.messages_dismiss.poll()


@pytest.mark.parametrize(
    ("shape", "options", "text"),
    [
        ("AS_IT_IS", {}, "As It Is, frames 1 to 31"),
        ("REVERSE", {}, "Reverse, frames 1 to 31"),
        ("SCALE", {"scale": 2.0}, "Scale Duration, frames 1 to 61"),
        ("HOLD", {"frame": 11.0, "length": 5.0}, "Hold, frames 1 to 36"),
        ("LOOP", {}, "Loop, frames 1 to 31"),
        ("PING_PONG", {}, "Ping-Pong, frames 1 to 31"),
        ("FRACTION", {}, "Fraction 0 to 1, frames 1 to 31"),
        ("CONSTANT_SPEED", {}, "Curve, frames 1 to 31"),
    ],
)
def test_timing_says_what_is_on_and_where_its_curve_is(cube, drawn, tcb_animation, shape, options, text):
    bpy.context.window_manager.tcb_track = "Object/Cube/location"
    bpy.ops.tcb.enable()
    shown = " ".join(drawn("TCB_PT_timing"))
    assert "A curve says which frame is played when" in shown
    assert text not in shown
    timing = tcb_animation.animation.retime(cube, shape, track="location", **options)
    shown = " ".join(drawn("TCB_PT_timing"))
    assert text in shown
    assert f"Graph Editor: Frame Function in {cube.animation_data.action.name}" in shown
    timing.curve.mute = True
    assert text.replace(",", " (off),") in " ".join(drawn("TCB_PT_timing"))


def test_checks_and_relax_have_a_line_of_help(cube, drawn):
    assert "Frames at which" in " ".join(drawn("TCB_PT_checks"))
    assert "Changes keys of what is selected" in " ".join(drawn("TCB_PT_relax"))


def test_jumps_are_grouped_in_undo_as_blenders_own(tcb_animation):
    jump = tcb_animation.operators.TCB_OT_key_jump
    assert "UNDO_GROUPED" in jump.bl_options
    assert jump.bl_undo_group == "Frame Change"


def test_the_tab_has_keys_on_top_then_bake_and_messages_at_the_bottom(tcb_animation):
    panels = tcb_animation.panels
    top = [
        cls
        for cls in panels._CLASSES
        if getattr(cls, "bl_space_type", "") == "VIEW_3D" and issubclass(cls, bpy.types.Panel)
    ]
    whole = sorted(
        (cls for cls in top if not getattr(cls, "bl_parent_id", "")), key=lambda cls: getattr(cls, "bl_order", 0)
    )
    assert [cls.bl_label for cls in whole] == ["TCB", "Bake", "Timing", "Reduce", "Checks", "Messages"]
    inside = [cls.bl_label for cls in top if getattr(cls, "bl_parent_id", "") in ("TCB_PT_tracks", "TCB_PT_key")]
    assert inside == ["Key", "Diagram", "Track", "Motion"]
    closed = {cls.bl_label for cls in top if "DEFAULT_CLOSED" in getattr(cls, "bl_options", ())}
    assert closed == {"Track", "Motion", "Bake Options", "Defaults", "Timing", "Reduce", "Checks", "Relax Keys"}
