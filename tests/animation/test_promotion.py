# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated keys that the animator keys over, moves alone or retypes become keys; edited values and handles stay."""

from __future__ import annotations

import math

import bpy
import pytest

from tests.animation import reference
from tests.animation.curves import KEYS, bits, co, curve, fcurves, key, keyed, new_object, snapshot
from tests.animation.edits import do, dope_sheet, move, scale, select
from tools.edit_kinds import editor


@pytest.fixture
def thing(animation):
    item = keyed()
    animation.bake(item)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


def own_frames(thing, index: int = 0, path: str = "location") -> list[float]:
    return [point.co.x for point in curve(thing, path, index).keyframe_points if point.type != "GENERATED"]


def point_at(fcurve, frame: float):
    return next(point for point in fcurve.keyframe_points if abs(point.co.x - frame) < 0.01)


def deselect(thing) -> None:
    for fcurve in fcurves(thing):
        for point in fcurve.keyframe_points:
            point.select_control_point = point.select_left_handle = point.select_right_handle = False


def select_at(thing, frame: float) -> None:
    deselect(thing)
    for fcurve in fcurves(thing):
        for point in fcurve.keyframe_points:
            if abs(point.co.x - frame) < 0.01:
                point.select_control_point = point.select_left_handle = point.select_right_handle = True


def on_the_spline(thing, index: int, keys) -> None:
    for frame, value in co(curve(thing, "location", index)).tolist():
        assert value == pytest.approx(reference.scalar(keys, frame), abs=1e-6, rel=1e-6), frame


def test_a_generated_key_that_is_keyed_over_becomes_a_key(animation, thing) -> None:
    thing.location = (9, 8, 7)
    thing.keyframe_insert("location", frame=15)
    animation.bake(thing)
    for index, value in enumerate((9, 8, 7)):
        keys = sorted([*((frame, values[index]) for frame, values in KEYS), (15, value)])
        on_the_spline(thing, index, keys)


def test_keying_over_one_channel_makes_a_key_of_that_channel_only(animation, thing) -> None:
    thing.location[1] = 8
    thing.keyframe_insert("location", index=1, frame=15)
    animation.restore(thing)
    assert [own_frames(thing, index) for index in range(3)] == [[0, 10, 25, 40], [0, 10, 15, 25, 40], [0, 10, 25, 40]]


def test_a_key_inserted_between_samples_is_a_key(animation, thing) -> None:
    thing.location = (9, 8, 7)
    thing.keyframe_insert("location", frame=15.5)
    animation.restore(thing)
    assert own_frames(thing) == [0, 10, 15.5, 25, 40]
    assert point_at(curve(thing, "location"), 15.5).interpolation == "BEZIER"


def test_a_generated_key_that_is_retyped_becomes_a_key(animation, thing) -> None:
    value = curve(thing, "location").evaluate(15)
    select_at(thing, 15)
    do(lambda: bpy.ops.action.keyframe_type(type="KEYFRAME"))
    animation.restore(thing)
    assert own_frames(thing) == [0, 10, 15, 25, 40]
    assert point_at(curve(thing, "location"), 15).co.y == value


@pytest.mark.parametrize("frames", [0.3, 3.0, 30.0, -12.0])
def test_a_generated_key_that_is_only_moved_in_time_goes_back(animation, thing, frames: float) -> None:
    """A column of the summary takes it along where another channel or object has a key."""
    deselect(thing)
    before = snapshot(thing)
    select_at(thing, 15)
    do(move(frames))
    animation.bake(thing)
    deselect(thing)
    assert snapshot(thing) == before


@pytest.mark.parametrize(
    ("factor", "keys"), [(2.0, [-1, 19, 49, 79]), (-1.0, [-38, -23, -8, 2]), (0.7, [0, 7, 18, 28])]
)
def test_a_generated_key_that_is_retyped_after_all_were_scaled_becomes_a_key(
    animation, thing, factor: float, keys: list[float]
) -> None:
    """Scaled by 0.7 all are snapped, off where the scaling puts them."""
    select([thing])
    do(scale(factor))
    points = curve(thing, "location").keyframe_points
    chosen = next(point.co.x for point in points if point.co.x > keys[0] + 3 and point.type == "GENERATED")
    select_at(thing, chosen)
    do(lambda: bpy.ops.action.keyframe_type(type="KEYFRAME"))
    animation.restore(thing)
    assert own_frames(thing) == sorted([*keys, chosen])


def test_a_generated_key_that_is_keyed_over_after_all_were_scaled_becomes_a_key(animation, thing) -> None:
    select([thing])
    do(scale(2.0))
    before = own_frames(thing)
    chosen = next(point.co.x for point in curve(thing, "location").keyframe_points if point.co.x > before[0])
    thing.location = (90, 80, 70)
    thing.keyframe_insert("location", frame=chosen)
    animation.restore(thing)
    assert own_frames(thing) == sorted([*before, chosen])
    assert point_at(curve(thing, "location"), chosen).co.y == 90


def test_a_key_promoted_where_another_was_deleted_is_a_key_of_its_own(animation, thing) -> None:
    """In the Graph Editor a key is deleted without its record, which would be left for the other."""
    for index in range(3):
        points = curve(thing, "location", index).keyframe_points
        points.remove(point_at(curve(thing, "location", index), 25))
    thing.location = (9, 8, 7)
    thing.keyframe_insert("location", frame=15)
    report = animation.restore(thing)
    assert own_frames(thing) == [0, 10, 15, 40]
    assert point_at(curve(thing, "location"), 15).type == "KEYFRAME"
    assert any("become automatic, others stay: frame 15" in note for note in report.notes)


@pytest.mark.parametrize("frames", [10, 3, -20])
def test_keys_moved_in_the_graph_editor_keep_what_was_theirs(animation, frames: int) -> None:
    """Their records are hidden there and stay behind; ten frames on, each key stands on the next one's."""
    kinds = ("CONSTANT", "LINEAR", "BOUNCE", "BEZIER")
    item = new_object("Ball")
    key(item, "location", [(10 * n, (n, n * n, -n)) for n in range(4)])
    for index in range(3):
        for point, kind in zip(curve(item, "location", index).keyframe_points, kinds, strict=True):
            point.interpolation = kind
    animation.bake(item)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    move_in_the_graph_editor(frames)
    animation.restore(item)
    points = curve(item, "location").keyframe_points
    assert [(point.co.x, point.interpolation) for point in points] == [
        (10 * n + frames, kind) for n, kind in enumerate(kinds)
    ]


def move_in_the_graph_editor(frames: float) -> None:
    """Everything that is not hidden there."""
    bpy.context.scene.tool_settings.use_snap_anim = False
    with editor("FCURVES"):
        bpy.ops.graph.select_all(action="SELECT")
        assert bpy.ops.transform.translate(value=(frames, 0, 0)) == {"FINISHED"}


def test_a_generated_key_whose_value_is_edited_becomes_a_key(animation, thing) -> None:
    point_at(curve(thing, "location"), 15).co.y = 2.0
    curve(thing, "location").update()
    animation.restore(thing)
    assert own_frames(thing) == [0, 10, 15, 25, 40]
    assert own_frames(thing, 1) == [0, 10, 25, 40]


def test_a_promoted_key_stays_one_through_more_bakes(animation, thing) -> None:
    thing.location = (9, 8, 7)
    thing.keyframe_insert("location", frame=15)
    for _ in range(3):
        animation.bake(thing)
    animation.restore(thing)
    assert own_frames(thing) == [0, 10, 15, 25, 40]


def test_a_promoted_key_takes_parameters(animation, thing) -> None:
    thing.location = (9, 8, 7)
    thing.keyframe_insert("location", frame=15)
    animation.key_set(thing, "location", 15, tension=1.0)
    animation.bake(thing)
    keys = sorted([*((frame, values[0]) for frame, values in KEYS), (15, 9, 1.0)])
    on_the_spline(thing, 0, keys)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_keying_over_a_rotation_makes_a_key_of_all_its_channels(animation, mode: str) -> None:
    path = {"QUATERNION": "rotation_quaternion", "XYZ": "rotation_euler"}.get(mode, "rotation_axis_angle")
    width = 3 if mode == "XYZ" else 4
    item = new_object("Ball", mode)
    rows = [(1.0, 0.0, 0.0, 1.0), (0.5, 0.6, 0.1, 0.4), (0.9, 0.0, 0.7, 0.1)]
    key(item, path, [(20 * n, row[:width]) for n, row in enumerate(rows)])
    animation.bake(item)
    bpy.context.scene.frame_set(15)
    setattr(item, path, (0.7, 0.2, 0.3, 0.5)[:width])
    item.keyframe_insert(path, frame=15)
    animation.restore(item)
    assert [own_frames(item, index, path) for index in range(width)] == [[0, 15, 20, 40]] * width


def test_keying_over_the_one_generated_key_that_differs_from_all_others_makes_a_key(animation) -> None:
    """A rotation that stands still: where a channel has no key of its own, it gets the raw number of the pose."""
    item = new_object("Ball", "QUATERNION")
    key(item, "rotation_quaternion", [(0, (2, 1, 0, 2)), (40, (2, 1, 0, 2))], channels=[1, 2, 3])
    key(item, "rotation_quaternion", [(40, (2, 1, 0, 2))], channels=[0])
    animation.bake(item)
    curve(item, "rotation_quaternion", 0).keyframe_points[0].co_ui.y = 0.7
    animation.restore(item)
    assert co(curve(item, "rotation_quaternion", 0)).tolist() == [[0, pytest.approx(0.7)], [40, 2]]


@pytest.mark.parametrize("which", [(), (0,)], ids=["all channels", "the one that is keyed"])
def test_a_value_edit_of_a_key_is_kept_by_bake_and_restore(animation, thing, which) -> None:
    for index in which or range(3):
        point = point_at(curve(thing, "location", index), 10)
        point.co.y = 7
        curve(thing, "location", index).update()
    animation.bake(thing)
    keys = [(0, 0), (10, 7), (25, -1), (40, 0)]
    on_the_spline(thing, 0, keys)
    animation.restore(thing)
    assert co(curve(thing, "location")).tolist() == [list(map(float, row)) for row in keys]


def test_keying_over_a_key_is_kept(animation, thing) -> None:
    thing.location = (9, 8, 7)
    thing.keyframe_insert("location", frame=25)
    animation.bake(thing)
    on_the_spline(thing, 0, [(0, 0), (10, 5), (25, 9), (40, 0)])
    animation.restore(thing)
    assert own_frames(thing) == [0, 10, 25, 40]
    assert point_at(curve(thing, "location"), 10).handle_left_type == "AUTO_CLAMPED"


@pytest.mark.parametrize("kind", ["FREE", "ALIGNED", "AUTO_CLAMPED"])
@pytest.mark.parametrize("bake_again", [False, True])
def test_a_dragged_handle_is_kept(animation, kind: str, bake_again: bool) -> None:
    item = new_object("Ball")
    key(item, "location", KEYS)
    for point in curve(item, "location").keyframe_points:
        point.handle_left_type = point.handle_right_type = kind
    curve(item, "location").update()
    animation.bake(item)
    point = point_at(curve(item, "location"), 10)
    point.handle_right = (14, 9)
    if bake_again:
        animation.bake(item)
    animation.restore(item)
    assert tuple(point_at(curve(item, "location"), 10).handle_right) == (14, 9)


@pytest.mark.parametrize("side", ["handle_left", "handle_right"])
@pytest.mark.parametrize("selected", [False, True])
def test_a_dragged_aligned_handle_stays_whichever_blender_would_turn(animation, side: str, selected: bool) -> None:
    """On a curve of samples both are free: the other one has to be turned as Blender turns aligned ones."""
    things, flag = [], {"handle_left": "select_left_handle", "handle_right": "select_right_handle"}[side]
    for baked in (True, False):
        item = new_object("Ball")
        things.append(item)
        key(item, "location", KEYS)
        fcurve = curve(item, "location")
        for point in fcurve.keyframe_points:
            point.handle_left_type = point.handle_right_type = "ALIGNED"
            point.select_control_point = point.select_left_handle = point.select_right_handle = False
        fcurve.update()
        if baked:
            animation.bake(item)
        point = point_at(curve(item, "location"), 10)
        setattr(point, flag, True)
        setattr(point, side, (7, 9) if side == "handle_left" else (14, 9))
        curve(item, "location").update()
        setattr(point_at(curve(item, "location"), 10), flag, selected)
    animation.bake(things[0])
    animation.restore(things[0])
    curve(things[0], "location").update()
    got, wanted = (point_at(curve(item, "location"), 10) for item in things)
    for name in ("handle_left", "handle_right"):
        assert tuple(getattr(got, name)) == pytest.approx(tuple(getattr(wanted, name)), abs=1e-4)


@pytest.mark.parametrize("bake_again", [False, True])
@pytest.mark.parametrize("field", ["interpolation", "easing", "type", "handle_left_type", "handle_right_type"])
def test_a_keys_choice_made_on_the_baked_curve_is_kept(animation, thing, field: str, bake_again: bool) -> None:
    chosen = {"interpolation": "BOUNCE", "easing": "EASE_OUT", "type": "BREAKDOWN"}.get(field, "VECTOR")
    setattr(point_at(curve(thing, "location"), 10), field, chosen)
    if bake_again:
        animation.bake(thing)
    animation.restore(thing)
    assert getattr(point_at(curve(thing, "location"), 10), field) == chosen
    assert getattr(point_at(curve(thing, "location"), 25), field) != chosen


@pytest.mark.parametrize("bake_again", [False, True])
def test_a_selection_made_on_the_baked_curve_is_kept(animation, thing, bake_again: bool) -> None:
    select_at(thing, 25)
    if bake_again:
        animation.bake(thing)
    animation.restore(thing)
    flags = [point.select_control_point for point in curve(thing, "location").keyframe_points]
    assert flags == [False, False, True, False]


def test_an_extrapolation_chosen_on_the_baked_curve_is_kept(animation, thing) -> None:
    curve(thing, "location").extrapolation = "LINEAR"
    animation.restore(thing)
    assert curve(thing, "location").extrapolation == "LINEAR"


def test_deleted_generated_keys_come_back_with_the_next_bake(animation, thing) -> None:
    before = snapshot(thing)
    for fcurve in fcurves(thing):
        for point in reversed(list(fcurve.keyframe_points)):
            if point.type == "GENERATED" and point.co.x > 12:
                fcurve.keyframe_points.remove(point)
    animation.bake(thing)
    assert snapshot(thing) == before


def test_selecting_everything_and_nothing_makes_no_keys(animation, thing) -> None:
    with dope_sheet():
        bpy.ops.action.select_all(action="SELECT")
        bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(5, 0, 0, 0))
        bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(-5, 0, 0, 0))
        bpy.ops.action.select_all(action="DESELECT")
    animation.restore(thing)
    assert [own_frames(thing, index) for index in range(3)] == [[0, 10, 25, 40]] * 3


@pytest.mark.parametrize("frames", [5.0, -40.0, 0.5])
def test_one_channel_row_moved_without_its_records_is_restored_where_it_is(animation, thing, frames: float) -> None:
    deselect(thing)
    for point in curve(thing, "location", 1).keyframe_points:
        point.select_control_point = point.select_left_handle = point.select_right_handle = True
    do(move(frames))
    animation.restore(thing)
    assert own_frames(thing, 1) == pytest.approx([frame + frames for frame, _ in KEYS])
    assert point_at(curve(thing, "location", 1), 10 + frames).interpolation == "BEZIER"
    assert own_frames(thing, 0) == [0, 10, 25, 40]


@pytest.mark.parametrize("factor", [2.0, -1.0, 10.0, 0.001])
def test_values_scaled_in_the_graph_editor_make_no_keys(animation, thing, factor: float) -> None:
    for index in range(3):
        fcurve = curve(thing, "location", index)
        for point in fcurve.keyframe_points:
            point.co.y *= factor
            point.handle_left.y *= factor
            point.handle_right.y *= factor
        fcurve.update()
    animation.restore(thing)
    for index in range(3):
        assert own_frames(thing, index) == [0, 10, 25, 40]
        values = [value * factor for value in (row[1][index] for row in KEYS)]
        assert co(curve(thing, "location", index))[:, 1].tolist() == pytest.approx(values)


@pytest.mark.parametrize("offset", [0.001, 3.0, -1000.0])
def test_values_moved_in_the_graph_editor_make_no_keys(animation, thing, offset: float) -> None:
    for index in range(3):
        fcurve = curve(thing, "location", index)
        for point in fcurve.keyframe_points:
            point.co.y += offset
            point.handle_left.y += offset
            point.handle_right.y += offset
        fcurve.update()
    animation.restore(thing)
    assert [own_frames(thing, index) for index in range(3)] == [[0, 10, 25, 40]] * 3


def test_constant_motion_makes_no_keys_when_moved(animation) -> None:
    """All samples have one value: nothing tells them apart but their frames."""
    item = new_object("Ball")
    key(item, "location", [(0, (1, 1, 1)), (20, (1, 1, 1)), (40, (1, 1, 1))])
    animation.bake(item)
    item.select_set(True)
    with dope_sheet():
        bpy.ops.action.select_all(action="SELECT")
    do(move(3))
    animation.restore(item)
    assert own_frames(item) == [3, 23, 43]


def test_the_same_value_keyed_on_an_untouched_curve_changes_nothing_else(animation, thing) -> None:
    before = bits(curve(thing, "location", 2))
    bpy.context.scene.frame_set(10)
    thing.keyframe_insert("location", index=0, frame=10)
    animation.bake(thing)
    assert bits(curve(thing, "location", 2)) == before
    assert math.isclose(curve(thing, "location").evaluate(10), 5)


@pytest.mark.parametrize("more", [[16], [6, 16], [6, 16, 26]])
def test_keys_that_are_raised_as_the_own_keys_were_are_the_animators(animation, more: list[int]) -> None:
    """All other generated keys stayed, so no move of all took these along."""
    item = keyed(keys=[(1, (0,)), (11, (3,)), (21, (1,)), (31, (4,))])
    animation.bake(item)
    points = [point_at(curve(item, "location", 0), frame) for frame in (1, 11, 21, 31, *more)]
    for point in points:
        point.co.y += 1
    animation.bake(item)
    assert own_frames(item) == sorted([1, 11, 21, 31, *more])
