# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of selected objects that the sidebar of the 3D viewport shows, and the fields for their frame and value."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from tests.animation.curves import curve, given, new_object, new_rig, select_bone, snapshot, track_keys
from tests.animation.live import let_time_pass
from tests.panels.layouts import drawn

ANGLES = (0.0, 1.0, 0.5)


@pytest.fixture
def rig(scene):
    """Ten selected bones with two rotation modes, keyed at frames 1, 21 and 41. "Bone 0" is active."""
    made = new_rig(*(f"Bone {number}" for number in range(10)))
    bpy.ops.object.mode_set(mode="POSE")
    for number, bone in enumerate(made.pose.bones):
        bone.rotation_mode = "XYZ" if number % 2 else "QUATERNION"
        for frame, angle in zip((1, 21, 41), ANGLES, strict=True):
            bone.location = (angle, 0.0, 0.0)
            bone.keyframe_insert("location", frame=frame)
            bone.rotation_euler = (angle, 0.0, 0.0)
            bone.rotation_quaternion = (math.cos(angle / 2), math.sin(angle / 2), 0.0, 0.0)
            bone.keyframe_insert("rotation_euler" if number % 2 else "rotation_quaternion", frame=frame)
    bpy.ops.pose.select_all(action="SELECT")
    made.data.bones.active = made.data.bones["Bone 0"]
    bpy.context.window_manager.tcb_track = ""
    scene.frame_set(21)
    return made


@pytest.fixture
def cube(scene):
    made = new_object("Cube")
    for frame, x in ((1, 0.0), (11, 5.0), (31, 2.0)):
        made.location = (x, 0.0, -x)
        made.keyframe_insert("location", frame=frame)
    made.select_set(True)
    bpy.context.view_layer.objects.active = made
    bpy.context.window_manager.tcb_track = ""
    scene.frame_set(11)
    return made


def path(number):
    return f'pose.bones["Bone {number}"].rotation_{"euler" if number % 2 else "quaternion"}'


def frames(thing, data_path="location"):
    return [point.co.x for point in curve(thing, data_path).keyframe_points]


def test_of_a_bone_the_rotation_is_shown_first(rig, tcb_animation):
    _, track = tcb_animation.ui.sidebar_tracks.active_track(bpy.context)
    assert track.path == path(0)


def test_a_slider_sets_the_keys_of_all_selected_bones_at_that_frame(rig, scene, tcb_animation):
    tcb_animation.animation.enable(rig, keep_look=False)
    assert "Frame 21 · 10 bones" in drawn("TCB_PT_tracks")
    scene.tcb.tension = 0.5
    for number in range(10):
        assert given(tcb_animation.animation, rig, path(number), "tension") == [(21.0, 0.5)]
    assert given(tcb_animation.animation, rig, 'pose.bones["Bone 0"].location', "tension") == []


def test_the_property_of_the_track_shown_is_that_of_the_others(rig, scene, tcb_animation):
    bpy.context.window_manager.tcb_track = 'Object/Rig/pose.bones["Bone 0"].location'
    scene.tcb.bias = -0.25
    for number in range(10):
        assert given(tcb_animation.animation, rig, f'pose.bones["Bone {number}"].location', "bias") == [(21.0, -0.25)]
        assert given(tcb_animation.animation, rig, path(number), "bias") == []


def test_mixed_numbers_have_their_range_and_are_shifted_if_so_chosen(rig, scene, tcb_animation):
    animation = tcb_animation.animation
    animation.enable(rig, keep_look=False)
    animation.key_set(rig, path(3), 21, tension=0.5)
    shown = drawn("TCB_PT_tracks")
    assert {"0 … 0.5", "TCBSidebar.relative[0]"} <= set(shown)
    scene.tcb.relative = True
    scene.tcb.tension += 0.25
    assert given(animation, rig, path(3), "tension") == [(21.0, 0.75)]
    assert given(animation, rig, path(4), "tension") == [(21.0, 0.25)]


@pytest.fixture
def uneven(cube, tcb_animation):
    """Return the cube after a drag of a handle of Z at frame 11, with Live on."""
    animation = tcb_animation.animation
    animation.enable(cube, keep_look=False)
    cube.animation_data.action.tcb_live = True
    let_time_pass(animation)
    point = curve(cube, "location", 2).keyframe_points[1]
    point.select_right_handle = True
    point.handle_right = (point.co.x + 5.0, point.co.y + 2.0)
    let_time_pass(animation)
    return cube


@pytest.fixture
def at_11(tcb_animation):
    """at_11(cube, name): the parameter at frame 11 of each component of the location."""
    animation = tcb_animation.animation

    def values(cube, name):
        own = animation.store.read_own_keys.read_own_keys(animation.find_track(cube, "location"))
        column = animation.store.table.rows.column_of(name)
        return [float(np.nan_to_num(own[index].numbers[1, column])) for index in range(3)]

    return values


def test_parameters_that_differ_between_components_show_their_mean_and_range(uneven, scene, at_11, tcb_animation):
    shown = drawn("TCB_PT_tracks")
    for name in ("tension", "continuity", "bias"):
        x, y, z = at_11(uneven, name)
        assert (x, y) == (0.0, 0.0)
        assert abs(z) > 0.1
        low, high = (f"{number:.3f}".rstrip("0").rstrip(".") for number in sorted((0.0, z)))
        assert f"{low} … {high}" in shown
        assert getattr(scene.tcb, name) == pytest.approx(z / 3.0, abs=5e-7)
    assert len(tcb_animation.ui.chosen_keys.different_parameters(bpy.context)) == 2


def test_parameters_of_a_component_are_read_for_its_key_alone(uneven, tcb_animation):
    parameters = tcb_animation.animation.store.parameters
    keys = track_keys(tcb_animation.animation, uneven, "location")
    rows, values = parameters.component_parameters(keys.track, keys.own, keys.frames, {})
    assert rows.tolist() == [0, 1, 2] * 3
    assert rows[values["bias"] != 0.0].tolist() == [1]


def test_a_typed_parameter_is_set_in_all_components_and_the_others_stay(uneven, scene, at_11):
    before = at_11(uneven, "bias")
    scene.tcb.tension = 0.25
    assert at_11(uneven, "tension") == [0.25] * 3
    assert at_11(uneven, "bias") == before


def test_the_mean_of_components_is_copied_and_is_no_preset(uneven, scene, at_11, tcb_animation):
    mean = sum(at_11(uneven, "bias")) / 3.0
    with pytest.raises(RuntimeError, match="the same parameters"):
        bpy.ops.tcb.preset_add(name="Uneven")
    bpy.ops.tcb.key_copy()
    scene.frame_set(31)
    bpy.ops.tcb.key_paste()
    frame, pasted = given(tcb_animation.animation, uneven, "location", "bias")[-1]
    assert frame == 31.0
    assert pasted == pytest.approx(mean)


def test_numbers_made_equal_during_a_drag_are_shifted_from_where_the_drag_began(rig, scene, event, tcb_animation):
    animation = tcb_animation.animation
    animation.enable(rig, keep_look=False)
    animation.key_set(rig, path(3), 21, tension=0.5)
    shown = scene.tcb.tension
    event(presses=True)
    scene.tcb.tension = -1.0
    assert given(animation, rig, path(3), "tension") == given(animation, rig, path(4), "tension") == [(21.0, -1.0)]
    event(presses=True, alt=True, is_modifier=True)
    scene.tcb.tension = shown + 0.25
    assert given(animation, rig, path(3), "tension") == [(21.0, 0.75)]
    assert given(animation, rig, path(4), "tension") == [(21.0, 0.25)]


def test_a_bone_without_a_key_there_and_one_that_is_not_selected_are_left_alone(rig, scene, tcb_animation):
    bare = rig.pose.bones["Bone 2"]
    bare.keyframe_delete("rotation_quaternion", frame=21)
    select_bone(rig, "Bone 4", False)
    scene.tcb.continuity = 0.5
    having = [n for n in range(10) if given(tcb_animation.animation, rig, path(n), "continuity")]
    assert having == [0, 1, 3, 5, 6, 7, 8, 9]


def test_track_settings_are_for_the_tracks_of_the_same_keys(rig, scene, tcb_animation):
    animation = tcb_animation.animation
    animation.enable(rig, keep_look=False)
    bpy.context.window_manager.tcb_track = f"Object/Rig/{path(0)}"
    animation.choose(rig, path(3), cycle="LOOP")
    # Quaternions and Euler angles differ in their turns.
    assert drawn("TCB_PT_track").count("Differs between tracks") == 2
    scene.tcb.cycle = "REPEAT"
    assert {animation.find_track(rig, path(number)).settings.cycle for number in range(10)} == {"REPEAT"}
    assert drawn("TCB_PT_track").count("Differs between tracks") == 1


def test_presets_and_buttons_are_for_all_of_them(rig, scene, tcb_animation):
    tcb_animation.animation.enable(rig, keep_look=False)
    bpy.ops.tcb.preset_apply(preset="stop")
    assert all(given(tcb_animation.animation, rig, path(number), "tension") == [(21.0, 1.0)] for number in range(10))
    bpy.ops.tcb.key_reset()
    assert not any(given(tcb_animation.animation, rig, path(number), "tension") for number in range(10))


def test_of_objects_that_share_an_action_a_key_counts_once(cube, tcb_animation):
    for name in ("Second", "Third"):
        other = new_object(name)
        other.animation_data_create().action = cube.animation_data.action
        if hasattr(other.animation_data, "action_slot"):
            other.animation_data.action_slot = cube.animation_data.action_slot
        other.select_set(True)
    assert len(tcb_animation.ui.chosen_keys.chosen_keys(bpy.context)) == 1
    own = new_object("Own")
    own.keyframe_insert("location", frame=11)
    own.select_set(True)
    assert "Frame 11 · 2 objects" in drawn("TCB_PT_tracks")


def test_a_typed_frame_moves_the_key_and_takes_the_playhead_along(cube, scene, event, tcb_animation):
    tcb_animation.animation.enable(cube, keep_look=False)
    scene.tcb.bias = 0.5
    assert scene.tcb.key_frame == 11.0
    event()
    scene.tcb.key_frame = 20.5
    assert frames(cube) == [1.0, 20.5, 31.0]
    assert scene.frame_current_final == 20.5
    assert (scene.tcb.key_frame, scene.tcb.bias) == (20.5, 0.5)


def test_a_typed_frame_moves_the_whole_column_of_what_is_selected(rig, scene, event):
    select_bone(rig, "Bone 9", False)
    curve(rig, 'pose.bones["Bone 8"].location').lock = True
    event()
    scene.tcb.key_frame = 25.0
    for number in range(9):
        assert frames(rig, path(number)) == [1.0, 25.0, 41.0]
    for number in range(8):
        assert frames(rig, f'pose.bones["Bone {number}"].location') == [1.0, 25.0, 41.0]
    assert frames(rig, 'pose.bones["Bone 8"].location') == [1.0, 21.0, 41.0]
    assert frames(rig, path(9)) == frames(rig, 'pose.bones["Bone 9"].location') == [1.0, 21.0, 41.0]


def test_a_dragged_column_passes_other_keys_and_escape_gives_all_back(rig, scene, event):
    bone = rig.pose.bones["Bone 1"]
    bone.scale = (2.0, 1.0, 1.0)
    for frame in (1, 30, 41):
        bone.keyframe_insert("scale", frame=frame)
    before = snapshot(rig)
    event(presses=True)
    for value in (24.0, 30.0, 33.0):
        scene.tcb.key_frame = value
    assert frames(rig, path(0)) == frames(rig, 'pose.bones["Bone 1"].location') == [1.0, 33.0, 41.0]
    assert frames(rig, 'pose.bones["Bone 1"].scale') == [1.0, 30.0, 41.0]
    event(takes_back=True)
    scene.tcb.key_frame = 21.0
    assert snapshot(rig) == before


def test_all_selected_bones_keys_are_moved_together(rig, scene, event):
    scene.tcb.whole_column = False
    event()
    scene.tcb.key_frame = 25.0
    assert {tuple(frames(rig, path(number))) for number in range(10)} == {(1.0, 25.0, 41.0)}
    assert frames(rig, 'pose.bones["Bone 0"].location') == [1.0, 21.0, 41.0]


@pytest.mark.parametrize("live", [False, True])
def test_escape_gives_the_key_and_the_playhead_back_to_the_last_bit(cube, scene, event, tcb_animation, live):
    updates = tcb_animation.ui.live.updates
    if live:
        bpy.ops.tcb.enable()
        cube.animation_data.action.tcb_live = True
        updates.flush_all()
    scene.frame_set(15)
    before = snapshot(cube)
    event(presses=True)
    for value, frame in ((12.3, 12.0), (19.8, 20.0), (31.2, 20.0), (40.0, 40.0), (7.0, 7.0)):
        scene.tcb.key_frame = value
        bpy.context.view_layer.update()
        updates.flush()
        assert sorted(frames(cube)) == sorted([1.0, frame, 31.0])
        assert scene.frame_current_final == frame
    event(takes_back=True)
    for _ in range(2):
        scene.tcb.key_frame = 11.0
    assert scene.frame_current_final == 15.0
    assert snapshot(cube) == before
    bpy.context.view_layer.update()
    updates.flush_all()
    assert snapshot(cube) == before


def test_escape_leaves_other_keys_what_was_set_since_an_earlier_drag(cube, scene, event):
    event(presses=True)
    for value in (20.0, 11.0):
        scene.tcb.key_frame = value
    event(releases=True)
    assert scene.tcb.key_frame == 11.0
    curve(cube, "location").keyframe_points[2].co.y = 7.0
    before = snapshot(cube)
    event(presses=True)
    scene.tcb.key_frame = 15.0
    event(takes_back=True)
    scene.tcb.key_frame = 11.0
    assert snapshot(cube) == before


def test_a_drag_of_a_frame_ends_when_another_file_is_loaded(cube, scene, event, tcb_animation):
    slider_drag = tcb_animation.ui.sliders.slider_drag
    event(presses=True)
    scene.tcb.key_frame = 20.0
    assert slider_drag._current is not None
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert slider_drag._current is None


def test_a_key_in_the_way_is_told_among_the_messages_until_it_is_not(cube, scene, event):
    before = snapshot(cube)
    event()
    scene.tcb.key_frame = 31.0
    assert snapshot(cube) == before
    assert "There is already a key at this frame" in " ".join(drawn("TCB_PT_tracks"))
    scene.tcb.key_frame = 30.0
    assert "There is already a key at this frame" not in " ".join(drawn("TCB_PT_tracks"))


def test_a_locked_key_keeps_its_place(cube, scene, event):
    curve(cube, "location").lock = True
    before = snapshot(cube)
    event()
    scene.tcb.key_frame = 20.0
    scene.tcb.key_value[0] = 7.0
    assert snapshot(cube) == before
    assert "locked" in " ".join(drawn("TCB_PT_tracks"))


def test_a_value_is_set_and_taken_back_to_the_last_bit(cube, scene, event):
    before = snapshot(cube)
    event(presses=True)
    scene.tcb.key_value[2] = 1.5
    assert list(scene.tcb.key_value) == [5.0, 0.0, 1.5, 0.0]
    assert curve(cube, "location", 2).evaluate(11) == 1.5
    event(takes_back=True)
    scene.tcb.key_value[2] = -5.0
    assert snapshot(cube) == before


def test_angles_are_fields_of_their_own_and_those_of_bones_mix(rig, scene, event):
    rig.data.bones.active = rig.data.bones["Bone 1"]
    for number, bone in enumerate(rig.pose.bones):
        select_bone(rig, bone.name, bool(number % 2))
    shown = drawn("TCB_PT_place")
    assert [text for text in shown if "key_angles" in text] == [f"TCBSidebar.key_angles[{index}]" for index in range(3)]
    assert "X: 57.3°" in shown
    event()
    scene.tcb.key_angles[1] = 0.25
    assert [curve(rig, path(number), 1).evaluate(21) for number in (1, 3, 5, 7, 9)] == [0.25] * 5
    # Different rotation modes have no common values, so only the frame is a field.
    bpy.ops.pose.select_all(action="SELECT")
    shown = drawn("TCB_PT_place")
    assert "TCBSidebar.key_frame[0]" in shown
    assert not any("key_angles" in text or "key_value" in text for text in shown)


def test_a_component_without_a_key_is_grey(cube, scene, event):
    curve(cube, "location", 1).keyframe_points.remove(curve(cube, "location", 1).keyframe_points[1])
    before = snapshot(cube)
    event()
    scene.tcb.key_value[1] = 3.0
    assert snapshot(cube) == before


@pytest.fixture
def own_presets():
    """own_presets(name, **numbers): the file of a user preset, removed after the test."""
    folder = Path(bpy.utils.user_resource("SCRIPTS", path="presets/tcb_animation/key", create=True))
    made = []

    def make(name, **numbers):
        file = folder / f"{name}.py"
        lines = [f"key.{parameter} = {number}\n" for parameter, number in numbers.items()]
        file.write_text("import bpy\nkey = bpy.context.window_manager.tcb_preset\n" + "".join(lines))
        made.append(file)
        return file

    yield make
    for file in made:
        file.unlink(missing_ok=True)


@pytest.fixture
def choices(tcb_animation):
    """Return the available presets by identifier: name, description, icon and number."""
    pictures = tcb_animation.panels.pictures.diagram_icons
    return lambda: {item[0]: item[1:] for item in pictures._items(None, bpy.context)}


def test_the_default_is_the_first_preset(rig, choices):
    assert list(choices())[:3] == ["Smooth", "Corner", "Ease_Both"]


def test_the_row_of_presets_shows_what_the_keys_have_and_gives_them_what_is_chosen(rig, scene, tcb_animation):
    shown = scene.tcb_presets
    assert shown.preset == "Smooth"
    shown.preset = "Corner"
    assert (scene.tcb.tension, scene.tcb.continuity) == (-0.5, -1.0)
    assert shown.preset == "Corner"
    scene.tcb.bias = 0.25
    assert shown.preset == "/"
    before = scene.tcb.bias
    shown.preset = "/"
    assert scene.tcb.bias == before


def test_the_row_of_presets_has_those_that_the_user_made_and_none_that_is_damaged(
    rig, scene, own_presets, tcb_animation
):
    own_presets("Mine", tension=0.75, bias=-0.5)
    own_presets("Damaged", tension="open")
    given = tcb_animation.panels.pictures.diagram_icons.parameters_of_presets(bpy.context)
    assert given["Mine"] == {"tension": 0.75, "bias": -0.5}
    assert "Damaged" not in given
    assert len(given) == 9
    scene.tcb_presets.preset = "Mine"
    assert (scene.tcb.tension, scene.tcb.bias) == (0.75, -0.5)


def test_no_name_of_a_preset_is_taken_for_the_keys_as_they_are(rig, scene, own_presets, choices):
    own_presets("OWN", tension=0.625)
    scene.tcb.bias = 0.25
    assert scene.tcb_presets.preset == "/"
    assert {"OWN", "/"} < set(choices())
    scene.tcb_presets.preset = "OWN"
    assert (scene.tcb.tension, scene.tcb.bias) == (0.625, 0.25)
    assert scene.tcb_presets.preset == "OWN"


def test_what_a_preset_does_not_set_is_as_the_keys_have_it(
    rig, scene, own_presets, choices, tcb_animation, monkeypatch
):
    animation = tcb_animation.animation
    animation.enable(rig, keep_look=False)
    own_presets("Mine", tension=0.75)
    drawn = []
    monkeypatch.setattr(tcb_animation.panels.pictures.diagram_icons, "icon_of", lambda keys: drawn.append(keys) or 0)
    scene.tcb.bias = -0.5
    choices()
    eases = {"ease_to": 0.0, "ease_from": 0.0}
    assert [{"tension": 0.75, "continuity": 0.0, "bias": -0.5} | eases] in drawn
    assert drawn[-1] == [{"tension": 0.0, "continuity": 0.0, "bias": -0.5} | eases]
    # Keys match a preset even if they differ in parameters that it does not set.
    scene.tcb_presets.preset = "Mine"
    animation.key_set(rig, path(3), 21, bias=0.25)
    assert scene.tcb_presets.preset == "Mine"
    animation.key_set(rig, path(3), 21, tension=0.5)
    assert scene.tcb_presets.preset == "/"
    choices()
    # The curves of differing keys are overlaid.
    assert drawn[-1] == [
        {"tension": tension, "continuity": 0.0, "bias": bias} | eases for tension, bias in ((0.5, 0.25), (0.75, -0.5))
    ]


def test_presets_are_described_by_the_numbers_of_the_preferences(rig, own_presets, choices, tcb_animation, monkeypatch):
    own_presets("Mine", tension=0.5, bias=0.0, ease_to=0.25)
    assert choices()["Mine"][1] == "Tension 0.5, Ease To 0.25"
    monkeypatch.setattr(tcb_animation.ui.preferences, "shows_numbers_of_50", lambda context: True)
    assert choices()["Mine"][1] == "Tension 37.5, Ease To 12.5"


def test_all_presets_of_a_long_list_have_their_own_pictures(rig, own_presets, choices, tcb_animation):
    """There are more presets than pictures in other caches, and the diagram's pictures remove none of them."""
    icons = tcb_animation.panels.pictures.diagram_icons

    def tensions():
        """Return the tensions of all pictures in Blender, in the order of their requests."""
        assert len(icons._previews) == len(icons._icon_names)
        pictures = [rounded[0] for rounded, *_ in icons._icon_names if rounded]
        return [numbers[0] / 200 for numbers in pictures if numbers[1] in (0, 50)]

    listed = [number / 200 for number in range(1, 131)]
    for number in listed:
        own_presets(f"Mine {number}", tension=number)
    choices()
    assert set(listed) <= set(tensions())
    other = {"continuity": 0.25, "bias": 0.0, "ease_to": 0.0, "ease_from": 0.0}
    for number in range(50):
        icons.icon_of([{"tension": number / 200} | other])
    assert set(listed) <= set(tensions())
    for number in range(300):
        icons.icon_of([{"tension": number / 200 - 1.0} | other])
    assert len(icons._icon_names) == icons._MAX_CACHED


def test_a_slider_that_is_read_after_the_release_ends_its_drag(cube, scene, event, tcb_animation):
    animation = tcb_animation.animation
    replay = importlib.import_module(f"{animation.__name__}.bake.drags")
    animation.enable(cube, keep_look=False)
    animation.bake(cube, output="HANDLES")
    cube.animation_data.action.tcb_live = True
    tcb_animation.ui.live.updates.flush_all()
    event(presses=True)
    scene.tcb.tension = 0.25
    assert scene.tcb.tension == 0.25
    assert replay.is_dragged(0.0)
    event(releases=True)
    assert scene.tcb.tension == 0.25
    assert not replay.is_dragged(0.0)
    assert given(animation, cube, "location", "tension") == [(11.0, 0.25)]


def test_a_slider_moved_on_with_escape_at_hand_still_takes_back_to_the_last_bit(rig, scene, event, tcb_animation):
    """On a slow machine, the window's last event is ahead of the event that Blender is handling."""
    animation = tcb_animation.animation
    animation.enable(rig, keep_look=False)
    for number in range(10):
        animation.key_set(rig, path(number), 21, tension=0.1 * number)
    animation.bake(rig, output="HANDLES")
    rig.animation_data.action.tcb_live = True
    tcb_animation.ui.live.updates.flush_all()
    before, shown = snapshot(rig), scene.tcb.tension
    event(presses=True)
    scene.tcb.tension = 0.25
    event(takes_back=True)
    scene.tcb.tension = 0.5
    assert snapshot(rig) != before
    for _ in range(2):
        scene.tcb.tension = shown
        assert snapshot(rig) == before
    assert scene.tcb.tension == shown


def drag_a_slider(scene, event):
    event(presses=True)
    scene.tcb.tension = 0.5


def choose_a_picture(scene, _event):
    scene.tcb_presets.preset = "Corner"


def apply_a_preset(_scene, _event):
    bpy.ops.tcb.preset_apply(preset="stop")


@pytest.fixture
def baked(cube, tcb_animation):
    """The cube, baked. Its action is not live."""
    tcb_animation.animation.enable(cube, keep_look=False)
    tcb_animation.animation.bake(cube)
    assert not cube.animation_data.action.tcb_live
    return cube


@pytest.mark.parametrize("edit", [drag_a_slider, choose_a_picture, apply_a_preset])
def test_an_edit_bakes_a_baked_track_again_without_live(baked, scene, event, tcb_animation, edit):
    before = values_of(baked)
    edit(scene, event)
    edited = values_of(baked)
    assert edited != before
    tcb_animation.animation.bake(baked)
    assert values_of(baked) == edited


def values_of(cube):
    """Return values of the baked curve at every quarter of a frame."""
    return [curve(cube, "location", 2).evaluate(frame / 4) for frame in range(4, 125)]


def test_the_diagram_is_that_of_the_saved_key_of_a_baked_track(baked, tcb_animation, monkeypatch):
    drawn_pictures = []
    key = tcb_animation.panels.key
    monkeypatch.setattr(key, "draw_diagram", lambda _layout, *given: drawn_pictures.append(given))
    bpy.ops.tcb.preset_apply(preset="stop")
    key.DiagramPanel.draw(SimpleNamespace(layout=None), bpy.context)
    ((parameters, sides),) = drawn_pictures
    stop = {"tension": 1.0, "continuity": 0.0, "bias": 0.0, "ease_to": 0.0, "ease_from": 0.0}
    assert parameters == [stop]
    assert sides == (key.SPLINE, key.SPLINE)
