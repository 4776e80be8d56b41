# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles that are dragged while handles play: the parameters that bring them there, and Restore as before."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from tests.animation.curves import co, curve, differences, key, new_object, snapshot
from tests.animation.test_live import handlers_of, let_time_pass

KEYS = [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (6, 1, 2)), (40, (-3, 0, 2))]


@pytest.fixture
def ball(animation) -> bpy.types.Object:
    """Played by handles, live, with parameters of 0."""
    obj = new_object("Ball")
    key(obj, "location", KEYS)
    animation.enable(obj)
    obj.animation_data.action.tcb_live = True
    let_time_pass(animation)
    return obj


def drag(obj: bpy.types.Object, row: int, side: str, to: tuple[float, float], index: int = 0) -> None:
    """What the Graph Editor leaves when a handle was dragged."""
    for fcurve in (curve(obj, "location", channel) for channel in range(3)):
        for point in fcurve.keyframe_points:
            point.select_control_point = point.select_left_handle = point.select_right_handle = False
    point = curve(obj, "location", index).keyframe_points[row]
    setattr(point, f"select_{side}_handle", True)
    setattr(point, f"handle_{side}", to)


def slope(obj: bpy.types.Object, row: int, side: str, index: int = 0) -> float:
    point = curve(obj, "location", index).keyframe_points[row]
    frames, values = getattr(point, f"handle_{side}") - point.co
    return float(values / frames)


def parameters(animation, obj: bpy.types.Object, row: int, index: int = 0) -> list[float]:
    own = animation.store.own_keys.read_own_keys(animation.find_track(obj, "location"))
    return list(np.nan_to_num(own[index].parameters[row, :3]).tolist())


def said(animation, obj: bpy.types.Object) -> list[str]:
    return list(handlers_of(animation).said_of(obj.animation_data.action))


@pytest.mark.parametrize(("row", "side", "to"), [(1, "right", (14, 7)), (1, "left", (7, 2)), (2, "right", (29, 6))])
def test_a_dragged_handle_keeps_its_angle_and_the_other_handle_stays(animation, ball, row, side, to) -> None:
    other = "left" if side == "right" else "right"
    before = slope(ball, row, other)
    frame, value = KEYS[row][0], KEYS[row][1][0]
    drag(ball, row, side, to)
    let_time_pass(animation)
    assert slope(ball, row, side) == pytest.approx((to[1] - value) / (to[0] - frame), abs=5e-3)
    assert slope(ball, row, other) == pytest.approx(before, abs=5e-3)
    assert said(animation, ball) == []
    assert any(parameters(animation, ball, row))
    # Each component has its own parameters.
    assert parameters(animation, ball, row, index=1) == [0, 0, 0]
    assert animation.store.recording.is_up_to_date(animation.find_track(ball, "location"))


def test_at_an_end_the_tension_follows(animation, ball) -> None:
    before = slope(ball, 0, "right")
    drag(ball, 0, "right", (4, 2 * before))
    let_time_pass(animation)
    assert slope(ball, 0, "right") == pytest.approx(0.5 * before, rel=1e-3)
    assert parameters(animation, ball, 0) == [pytest.approx(0.5, abs=1e-3), 0, 0]


def test_what_parameters_cannot_do_is_said(animation, ball) -> None:
    # A plateau: all keys of z have one value.
    drag(ball, 1, "right", (14, 5), index=2)
    let_time_pass(animation)
    (line,) = said(animation, ball)
    assert "location, frame 10" in line
    assert slope(ball, 1, "right", index=2) == 0.0
    assert parameters(animation, ball, 1, index=2) == [0, 0, 0]


def test_outer_handles_and_those_that_blender_plays_stay_where_they_are_dragged(animation, ball) -> None:
    curve(ball, "location").keyframe_points[1].interpolation = "CONSTANT"
    let_time_pass(animation)
    for row, side, to in ((0, "left", (-7, 2)), (1, "right", (14, 7)), (3, "right", (45, 1))):
        drag(ball, row, side, to)
        let_time_pass(animation)
        point = curve(ball, "location").keyframe_points[row]
        assert tuple(getattr(point, f"handle_{side}")) == to
        assert parameters(animation, ball, row) == [0, 0, 0]
        assert said(animation, ball) == []


def test_beside_an_ease_the_handle_goes_back(animation, ball) -> None:
    animation.key_set(ball, "location", 25, ease_to=0.5)
    let_time_pass(animation)
    before = snapshot(ball)
    drag(ball, 1, "right", (14, 7))
    let_time_pass(animation)
    (line,) = said(animation, ball)
    assert "it is back" in line
    kept = [each["handle_right"] for each in before], [each["handle_right"] for each in snapshot(ball)]
    assert kept[0] == kept[1]


def test_restore_gives_the_curves_back_as_they_were(animation) -> None:
    obj = new_object("Ball")
    key(obj, "location", KEYS)
    before = snapshot(obj, identities=False)
    animation.enable(obj)
    obj.animation_data.action.tcb_live = True
    let_time_pass(animation)
    drag(obj, 1, "right", (14, 7))
    let_time_pass(animation)
    animation.restore(obj)
    after = snapshot(obj, identities=False)
    selected = ("select_control_point", "select_left_handle", "select_right_handle")
    for state in (*before, *after):
        for name in selected:
            state.pop(name)
    assert differences(before, after) == []


def test_undo_and_redo_say_the_same_again(animation, ball) -> None:
    bpy.ops.ed.undo_push(message="start")
    drag(ball, 1, "right", (14, 7))
    bpy.ops.ed.undo_push(message="drag")
    let_time_pass(animation)
    done = snapshot(ball)
    bpy.ops.ed.undo_push(message="done")
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    assert parameters(animation, bpy.data.objects["Ball"], 1) == [0, 0, 0]
    bpy.ops.ed.redo()
    let_time_pass(animation)
    assert differences(done, snapshot(bpy.data.objects["Ball"])) == []


def test_a_key_that_is_moved_with_its_handles_changes_no_parameter(animation, ball) -> None:
    point: Any = curve(ball, "location").keyframe_points[1]
    point.select_control_point = point.select_left_handle = point.select_right_handle = True
    point.co_ui = (12, 6)
    let_time_pass(animation)
    assert parameters(animation, ball, 1) == [0, 0, 0]
    assert co(curve(ball, "location"))[:, 0].tolist() == [0, 12, 25, 40]
