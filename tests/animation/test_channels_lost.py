# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a bake whose F-curves Blender's own tools delete, add, convert or key: nothing of the animator's is
lost, and nothing of the add-on's stays."""

from __future__ import annotations

import bpy
import pytest

from tests.animation.curves import co, curve, differences, fcurves, given, has_table, key, new_object, snapshot
from tests.animation.edits import dope_sheet
from tools.edit_kinds import mark_selected

LOCATION = [(0, (0, 0, 0)), (10, (5, 2, 3)), (20, (-1, 0, 2)), (30, (0, 4, -2))]
EULER = [(0, (0, 0, 0)), (10, (1, 0.2, 0.5)), (25, (-1, 0.4, 2))]


@pytest.fixture
def ball(animation):
    item = new_object("Ball", "XYZ")
    key(item, "location", LOCATION, group="Object Transforms")
    return item


def delete(item: bpy.types.Object, path: str, index: int) -> None:
    from tests.animation.curves import bag_of

    bag_of(item).fcurves.remove(curve(item, path, index))


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_rotation_channel_that_was_deleted_while_baked_is_made_again_by_the_next_bake(animation, index) -> None:
    item = new_object("Top", "XYZ")
    key(item, "rotation_euler", EULER)
    animation.bake(item)
    delete(item, "rotation_euler", index)
    animation.bake(item)
    animation.restore(item)
    left = [fcurve.array_index for fcurve in fcurves(item)]
    assert sorted(left) == [other for other in range(3) if other != index]


def test_keys_are_pasted_into_all_channels_also_where_a_bake_made_one(animation) -> None:
    top = new_object("Top", "XYZ")
    key(top, "rotation_euler", EULER)
    animation.enable(top)
    delete(top, "rotation_euler", 1)
    for fcurve in fcurves(top):
        fcurve.select = False
    animation.bake(top)
    for fcurve in fcurves(top):
        for point in fcurve.keyframe_points:
            mark_selected(point, point.co.x == 10)
    top.select_set(True)
    bpy.context.view_layer.objects.active = top
    bpy.context.scene.frame_set(40)
    with dope_sheet():
        bpy.ops.action.copy()
        bpy.ops.action.paste()
    assert {fcurve.array_index for fcurve in fcurves(top) if fcurve.range()[1] == 40} == {0, 1, 2}


def test_a_channel_converted_to_samples_while_baked_comes_back_from_its_record(animation, ball) -> None:
    before = snapshot(ball, identities=False)
    animation.bake(ball)
    curve(ball, "location", 0).convert_to_samples(0, 30)
    report = animation.restore(ball)
    assert any("converted to samples" in note for note in report.notes)
    after = {state["path"]: state for state in snapshot(ball, identities=False)}
    for state in before:
        # Samples have no selection of keys.
        lost = dict.fromkeys(("flags", "select_control_point", "select_left_handle", "select_right_handle"))
        assert {**state, **lost} == {**after[state["path"]], **lost}


def test_a_property_that_is_gone_gives_its_records_to_no_other(animation) -> None:
    item = new_object("Thing")
    for name in ("grip", "sway"):
        item[name] = 1.0
    key(item, '["grip"]', [(0, 0.0), (10, 5.0), (20, 1.0)])
    animation.bake(item)
    key(item, '["sway"]', [(0, 0.0), (10, 5.0), (20, 1.0)])
    before = [state for state in snapshot(item) if "sway" in state["path"][0]]
    del item["grip"]
    with pytest.raises(animation.AnimationError):
        animation.restore(item, ['["sway"]'])
    assert [state for state in snapshot(item) if "sway" in state["path"][0]] == before


@pytest.mark.parametrize("frame", [10, 15])
def test_keying_all_channels_in_the_dope_sheet_takes_no_parameter_away(animation, ball, frame) -> None:
    before = snapshot(ball)
    ball.select_set(True)
    bpy.context.view_layer.objects.active = ball
    animation.key_set(ball, "location", 10, tension=0.5)
    animation.bake(ball)
    bpy.context.scene.frame_set(frame)
    with dope_sheet():
        bpy.ops.action.keyframe_insert(type="ALL")
    animation.bake(ball)
    assert (10.0, 0.5) in given(animation, ball, "location", "tension")
    animation.remove(ball)
    assert not has_table(ball)
    ignored = {"select_control_point", "select_left_handle", "select_right_handle"}
    assert [change for change in differences(before, snapshot(ball)) if change[1] not in ignored] == []


def test_a_component_whose_own_keys_were_all_deleted_keeps_no_samples(animation, ball) -> None:
    animation.bake(ball)
    points = curve(ball, "location", 1).keyframe_points
    for point in [point for point in points if point.type != "GENERATED"][::-1]:
        points.remove(point)
    report = animation.bake(ball)
    assert any("component 1 had no keys" in note for note in report.notes)
    assert sorted(fcurve.array_index for fcurve in fcurves(ball)) == [0, 2]


def test_a_new_action_is_refused_in_tweak_mode_and_leaves_nothing(animation, ball) -> None:
    data = ball.animation_data
    strip = data.nla_tracks.new().strips.new("Strip", 1, data.action)
    data.action = None
    ball.select_set(True)
    strip.select = True
    data.use_tweak_mode = True
    actions = len(bpy.data.actions)
    with pytest.raises(animation.AnimationError, match="tweak mode"):
        animation.bake(ball, target="NEW_ACTION")
    assert len(bpy.data.actions) == actions


def test_a_range_within_the_keys_leaves_the_motion_outside_as_it_is(animation, ball) -> None:
    for index in range(3):
        curve(ball, "location", index).extrapolation = "LINEAR"
    before = [curve(ball, "location").evaluate(frame) for frame in (-50, 5, 35, 80)]
    animation.bake(ball, frame_range=(12, 18))
    assert [curve(ball, "location").evaluate(frame) for frame in (-50, 5, 35, 80)] == pytest.approx(before, abs=1e-5)


def test_tracks_that_are_not_tcb_are_left_and_named(animation, ball) -> None:
    key(ball, "scale", [(0, (1, 1, 1)), (10, (2, 2, 2))])
    animation.enable(ball, ["location"])
    report = animation.bake(ball)
    assert any(", scale: not TCB" in note for note in report.notes)
    assert len(co(curve(ball, "scale"))) == 2


def test_parameters_go_where_their_keys_are_moved_and_with_those_that_are_deleted(animation, ball) -> None:
    animation.key_set(ball, "location", 20, tension=0.5)
    animation.key_set(ball, "location", 10, bias=0.25)
    for index in range(3):
        points = curve(ball, "location", index).keyframe_points
        points[2].co.x = 23.0
        points.remove(points[1])
    animation.bake(ball)
    assert given(animation, ball, "location", "tension") == [(23, 0.5)]
    assert given(animation, ball, "location", "bias") == []
