# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters implied by edits: dragged handles, and keys inserted on the curve."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector
from scipy.spatial.transform import Rotation

from tests.animation.curves import (
    bag_of,
    curve,
    differences,
    fcurves,
    key,
    new_object,
    rotation_path,
    set_selected,
    snapshot,
)
from tests.animation.live import let_time_pass, said

KEYS = [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (6, 1, 2)), (40, (-3, 0, 2))]


@pytest.fixture
def ball(animation) -> bpy.types.Object:
    """A live object played by handles, with default parameters."""
    obj = new_object("Ball")
    key(obj, "location", KEYS)
    animation.enable(obj, keep_look=False)
    obj.animation_data.action.tcb_live = True
    let_time_pass(animation)
    return obj


def drag(obj: bpy.types.Object, row: int, side: str, to: tuple[float, float], index: int = 0) -> None:
    """Drag a handle with the result of the Graph Editor."""
    for fcurve in (curve(obj, "location", channel) for channel in range(3)):
        for point in fcurve.keyframe_points:
            set_selected(point, False)
    point = curve(obj, "location", index).keyframe_points[row]
    setattr(point, f"select_{side}_handle", True)
    setattr(point, f"handle_{side}", to)


def slope(obj: bpy.types.Object, row: int, side: str, index: int = 0) -> float:
    point = curve(obj, "location", index).keyframe_points[row]
    frames, values = getattr(point, f"handle_{side}") - point.co
    return float(values / frames)


def parameters(animation, obj: bpy.types.Object, row: int, index: int = 0) -> list[float]:
    own = animation.store.read_own_keys.read_own_keys(animation.find_track(obj, "location"))
    return np.nan_to_num(own[index].numbers[row, :3].astype(np.float64)).tolist()


def insert(obj: bpy.types.Object, frame: float) -> None:
    for fcurve in fcurves(obj):
        fcurve.keyframe_points.insert(frame, fcurve.evaluate(frame))


@pytest.mark.parametrize(
    ("edit", "row", "frame"),
    [(lambda obj: drag(obj, 1, "right", (14, 7)), 1, 10), (lambda obj: insert(obj, 17), 2, 17)],
    ids=["drag", "insert"],
)
def test_parameters_typed_after_an_edit_without_live_stay_beside_those_that_it_implies(
    animation, ball, edit, row, frame
) -> None:
    ball.animation_data.action.tcb_live = False
    edit(ball)
    animation.key_set(ball, "location", frame, tension=-0.37)
    typed = parameters(animation, ball, row)
    ball.animation_data.action.tcb_live = True
    let_time_pass(animation)
    assert parameters(animation, ball, row) == typed
    assert typed[0] == pytest.approx(-0.37)
    assert any(typed[1:])


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
    assert animation.store.up_to_date.is_up_to_date(animation.find_track(ball, "location"))


def test_handles_that_are_laid_flat_with_their_key_selected_are_taken(animation, ball) -> None:
    point: Any = curve(ball, "location").keyframe_points[2]
    point.select_control_point = True
    for side in ("left", "right"):
        setattr(point, f"handle_{side}", (getattr(point, f"handle_{side}")[0], point.co[1]))
    let_time_pass(animation)
    assert slope(ball, 2, "left") == pytest.approx(0.0, abs=1e-3)
    assert slope(ball, 2, "right") == pytest.approx(0.0, abs=1e-3)


def test_handles_of_an_end_and_its_neighbour_are_taken_together(animation, ball) -> None:
    drag(ball, 0, "right", (4, 1.2))
    point: Any = curve(ball, "location").keyframe_points[1]
    point.select_left_handle, point.handle_left = True, (7, 4.1)
    let_time_pass(animation)
    assert slope(ball, 0, "right") == pytest.approx(0.3, abs=0.01)
    assert slope(ball, 1, "left") == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("to", [(10, 9), (10.5, 40), (12, 15)])
def test_a_handle_that_no_parameters_reach_leaves_the_other_one(animation, ball, to) -> None:
    before = slope(ball, 1, "left"), slope(ball, 1, "right")
    drag(ball, 1, "right", to)
    let_time_pass(animation)
    (line,) = said(animation, ball)
    assert "closest position" in line
    assert slope(ball, 1, "left") == pytest.approx(before[0], abs=0.03)
    assert slope(ball, 1, "right") > before[1]


def test_at_an_end_the_tension_follows(animation, ball) -> None:
    before = slope(ball, 0, "right")
    drag(ball, 0, "right", (4, 2 * before))
    let_time_pass(animation)
    assert slope(ball, 0, "right") == pytest.approx(0.5 * before, rel=1e-3)
    assert parameters(animation, ball, 0) == [pytest.approx(0.5, abs=1e-3), 0, 0]


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


@pytest.mark.parametrize(
    "prevent",
    [
        lambda animation, obj: animation.choose(obj, "location", method="CATMULL_ROM"),
        lambda animation, obj: animation.key_set(obj, "location", 25, ease_to=0.5),
    ],
    ids=["method without parameters", "ease"],
)
def test_a_handle_that_parameters_do_not_decide_goes_back_and_a_line_says_so(animation, ball, prevent) -> None:
    prevent(animation, ball)
    let_time_pass(animation)
    before = snapshot(ball)
    drag(ball, 1, "right", (14, 7))
    let_time_pass(animation)
    (line,) = said(animation, ball)
    assert "Location, frame 10" in line
    assert "was reset" in line
    kept = [each["handle_right"] for each in before], [each["handle_right"] for each in snapshot(ball)]
    assert kept[0] == kept[1]


def test_frames_of_handles_that_an_editor_rounds_are_no_edit(animation, ball) -> None:
    """Editors do this at each redraw if they show the keys of a strip in tweak mode in scene time."""
    for fcurve in (curve(ball, "location", index) for index in range(3)):
        for point in fcurve.keyframe_points:
            set_selected(point, True)
            for side in ("handle_left", "handle_right"):
                frame, value = getattr(point, side)
                setattr(point, side, (np.nextafter(np.float32(frame), np.float32(1e3)), value))
    ball.animation_data.action.update_tag()
    rounded = snapshot(ball)
    for _ in range(3):
        let_time_pass(animation)
    assert differences(rounded, snapshot(ball)) == []
    assert [parameters(animation, ball, row) for row in range(4)] == [[0, 0, 0]] * 4


POSES = [(0, (0.2, 0, 0)), (12, (0.5, 0.9, -0.2)), (30, (-0.4, 0.3, 0.8)), (44, (0, -0.5, 0.4))]


@pytest.fixture(params=["QUATERNION", "XYZ", "AXIS_ANGLE"])
def turning(animation, request) -> bpy.types.Object:
    """A live object with rotations played by handles."""
    obj = new_object("Turning", request.param)
    path, numbers = "rotation_euler", [each for _, each in POSES]
    if request.param == "QUATERNION":
        path, numbers = "rotation_quaternion", [np.roll(Rotation.from_rotvec(each).as_quat(), 1) for _, each in POSES]
    elif request.param == "AXIS_ANGLE":
        path, numbers = "rotation_axis_angle", [(np.linalg.norm(each), *each) for _, each in POSES]
    key(obj, path, [(frame, tuple(each)) for (frame, _), each in zip(POSES, numbers, strict=True)])
    animation.enable(obj, keep_look=False)
    obj.animation_data.action.tcb_live = True
    let_time_pass(animation)
    return obj


def orientation(obj: bpy.types.Object, frame: float) -> Rotation:
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    return Rotation.from_matrix(np.array(obj.matrix_world)[:3, :3])


def velocity(obj: bpy.types.Object, frame: float, side: float) -> Any:
    """Return the angular velocity per frame, in the parent's frame, on one side of the frame."""
    step = 0.05 * side
    return np.asarray((orientation(obj, frame + step) * orientation(obj, frame).inv()).as_rotvec() / step)


def test_a_handle_of_a_rotation_turns_its_angular_velocity(animation, turning) -> None:
    path = rotation_path(turning.rotation_mode)
    before = velocity(turning, 12, 1.0), velocity(turning, 12, -1.0)
    points = [curve(turning, path, index).keyframe_points for index in range(len(getattr(turning, path)))]
    for other in (other for each in points for other in each):
        set_selected(other, False)
    if turning.rotation_mode == "AXIS_ANGLE":
        # The length of the axis has no effect.
        points = points[:1]
    point: Any = max((each[1] for each in points), key=lambda each: abs(each.handle_right[1] - each.co[1]))
    point.select_right_handle = True
    at: Any = point.handle_right
    point.handle_right = (at[0], at[1] + 0.03 * (at[0] - point.co[0]))
    # Record the motion of the dragged curves before anything is restored.
    wanted = velocity(turning, 12, 1.0)
    let_time_pass(animation)
    now = velocity(turning, 12, 1.0), velocity(turning, 12, -1.0)
    assert np.linalg.norm(wanted - before[0]) > 5e-3
    # Three parameters can't satisfy all three components, but the motion gets closer, and the other side hardly
    # changes.
    assert np.linalg.norm(now[0] - wanted) < 0.9 * np.linalg.norm(before[0] - wanted)
    assert np.linalg.norm(now[1] - before[1]) < np.linalg.norm(before[0] - wanted)


@pytest.mark.parametrize(("row", "removed", "is_taken"), [(1, 2, True), (3, 2, True), (2, 2, False), (1, None, False)])
def test_a_handle_is_taken_although_a_key_of_another_channel_is_missing(
    animation, turning, row, removed, is_taken
) -> None:
    """Nothing checks the keys between the two edits. `removed` is the row of the key, or None for the whole F-curve."""
    obj, path = turning, rotation_path(turning.rotation_mode)
    for other in (point for fcurve in fcurves(obj) for point in fcurve.keyframe_points):
        set_selected(other, False)
    point: Any = curve(obj, path, 1).keyframe_points[row]
    point.select_left_handle = True
    point.handle_left[1] -= 0.03 * (point.co[0] - point.handle_left[0])
    last = curve(obj, path, len(getattr(obj, path)) - 1)
    if removed is None:
        bag_of(obj).fcurves.remove(last)
    else:
        last.keyframe_points.remove(last.keyframe_points[removed])
    let_time_pass(animation)
    own = animation.store.read_own_keys.read_own_keys(animation.find_track(obj, path))
    changed = np.nan_to_num(own[0].numbers[:, :3]).any(axis=1)
    assert np.flatnonzero(changed).tolist() == ([row] if is_taken else [])
    assert {keys.count for keys in own.values()} == {len(POSES)}


@pytest.mark.parametrize("frame", [33.0, 37.5])
def test_what_a_deleted_key_leaves_of_its_neighbours_handles_is_no_drag(animation, turning, frame) -> None:
    """Nothing checks the keys between the two edits, as in a script."""
    obj, path = turning, rotation_path(turning.rotation_mode)
    before = places_of(obj, path)
    own = animation.store.read_own_keys.read_own_keys(animation.find_track(obj, path))
    points: Any = curve(obj, path).keyframe_points
    for point in points:
        point.select_control_point = True
    length = points[2].handle_right.x - points[2].co.x
    points.remove(points.insert(frame, -2.0))
    assert points[2].handle_right.x - points[2].co.x < 0.9 * length
    let_time_pass(animation)
    now = animation.store.read_own_keys.read_own_keys(animation.find_track(obj, path))
    assert {index: each.numbers.tobytes() for index, each in now.items()} == {
        index: each.numbers.tobytes() for index, each in own.items()
    }
    assert said(animation, obj) == []
    assert places_of(obj, path) == before


def places_of(obj: bpy.types.Object, path: str) -> list[tuple[Any, ...]]:
    return [
        tuple(
            tuple(getattr(point, name))
            for point in fcurve.keyframe_points
            for name in ("co", "handle_left", "handle_right")
        )
        for fcurve in fcurves(obj)
        if fcurve.data_path == path
    ]


def test_a_key_inserted_on_the_curve_keeps_the_slope(animation, ball) -> None:
    frames = np.linspace(10.0, 25.0, 61)
    fcurve = curve(ball, "location")
    before = np.array([fcurve.evaluate(frame) for frame in frames.tolist()])
    slopes = [(fcurve.evaluate(17 + step) - fcurve.evaluate(17)) / step for step in (-0.02, 0.02)]
    bpy.context.scene.frame_set(17)
    ball.keyframe_insert("location", frame=17)
    let_time_pass(animation)
    fcurve = curve(ball, "location")
    assert len(fcurve.keyframe_points) == 5
    assert any(parameters(animation, ball, 2))
    for slope_before, step in zip(slopes, (-0.02, 0.02), strict=True):
        assert (fcurve.evaluate(17 + step) - fcurve.evaluate(17)) / step == pytest.approx(slope_before, abs=0.01)
    kept = np.array([fcurve.evaluate(frame) for frame in frames.tolist()])
    # The neighbors' slopes change, because they have another neighbor now. The slope at the key does not change.
    animation.key_set(ball, "location", 17, tension=0.0, continuity=0.0, bias=0.0)
    let_time_pass(animation)
    without = np.array([curve(ball, "location").evaluate(frame) for frame in frames.tolist()])
    assert np.abs(kept - before).max() < np.abs(without - before).max()
    assert said(animation, ball) == []


def test_a_key_inserted_off_the_curve_has_the_defaults(animation, ball) -> None:
    bpy.context.scene.frame_set(17)
    ball.location.x += 1.0
    ball.keyframe_insert("location", index=0, frame=17)
    let_time_pass(animation)
    assert len(curve(ball, "location").keyframe_points) == 5
    assert parameters(animation, ball, 2) == [0, 0, 0]


@pytest.mark.parametrize(
    ("turning", "sign"), [("QUATERNION", 1), ("QUATERNION", -1), ("XYZ", 1), ("AXIS_ANGLE", 1)], indirect=["turning"]
)
def test_a_pose_inserted_on_the_motion_keeps_its_angular_velocity(animation, turning, sign: int) -> None:
    """This also applies to the opposite quaternion."""
    before = velocity(turning, 20, -1.0), velocity(turning, 20, 1.0)
    bpy.context.scene.frame_set(20)
    if sign < 0:
        turning.rotation_quaternion.negate()
    turning.keyframe_insert(rotation_path(turning.rotation_mode), frame=20)
    let_time_pass(animation)
    kept = velocity(turning, 20, -1.0), velocity(turning, 20, 1.0)
    animation.key_set(turning, rotation_path(turning.rotation_mode), 20, tension=0.0, continuity=0.0, bias=0.0)
    let_time_pass(animation)
    without = velocity(turning, 20, -1.0), velocity(turning, 20, 1.0)
    for one, ours, plain in zip(before, kept, without, strict=True):
        assert float(np.linalg.norm(ours - one)) < max(0.5 * float(np.linalg.norm(plain - one)), 2e-3)


def handle_state(obj: bpy.types.Object, row: int, index: int = 0) -> list[tuple[float, ...]]:
    point = curve(obj, "location", index).keyframe_points[row]
    return [tuple(point.handle_left), tuple(point.handle_right)]


def handle_types(obj: bpy.types.Object, row: int) -> tuple[str, str]:
    point = curve(obj, "location").keyframe_points[row]
    return point.handle_left_type, point.handle_right_type


@pytest.mark.parametrize("kind", ["AUTO_CLAMPED", "VECTOR", "AUTO"])
def test_a_handle_type_that_is_chosen_is_blender_s_until_it_is_free_again(animation, ball, kind) -> None:
    before = [handle_state(ball, row) for row in range(4)]
    point: Any = curve(ball, "location").keyframe_points[1]
    point.handle_left_type = point.handle_right_type = kind
    curve(ball, "location").update()
    theirs = handle_state(ball, 1)
    let_time_pass(animation)
    assert handle_types(ball, 1) == (kind, kind)
    assert handle_state(ball, 1) == theirs
    assert said(animation, ball) == []
    # Nothing else has changed, and Blender would not move the handles that it places.
    assert [handle_state(ball, row) for row in (0, 2, 3)] == [before[row] for row in (0, 2, 3)]
    curve(ball, "location").update()
    assert handle_state(ball, 1) == theirs
    # The chosen type persists during other edits.
    curve(ball, "location").keyframe_points[2].co_ui = (27, 3)
    let_time_pass(animation)
    moved = handle_state(ball, 1)
    assert handle_types(ball, 1) == (kind, kind)
    curve(ball, "location").update()
    assert handle_state(ball, 1) == moved
    curve(ball, "location").keyframe_points[2].co_ui = (25, 6)
    let_time_pass(animation)
    assert np.allclose(handle_state(ball, 1), theirs, atol=1e-5)
    point = curve(ball, "location").keyframe_points[1]
    point.handle_left_type = point.handle_right_type = "FREE"
    let_time_pass(animation)
    assert np.allclose([handle_state(ball, row) for row in range(4)], before, atol=1e-5)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_aligned_handles_stay_where_the_animator_puts_them(animation, sign: float) -> None:
    """This includes a quaternion key that handles play with the opposite sign, and whose handles are negated."""
    obj, path = new_object("Turned", "QUATERNION"), "rotation_quaternion"
    turns = np.roll(Rotation.from_rotvec([(0, 0, 0), (0.6, 0.2, 0), (0.9, -0.3, 0.4), (0.2, 0.1, 0.9)]).as_quat(), 1, 1)
    turns[1] *= sign
    key(obj, path, list(zip((0, 10, 25, 40), turns, strict=True)))
    animation.enable(obj, keep_look=False)
    obj.animation_data.action.tcb_live = True
    let_time_pass(animation)
    for index in range(4):
        point: Any = curve(obj, path, index).keyframe_points[1]
        point.handle_left_type = point.handle_right_type = "ALIGNED"
        point.handle_right = point.co + Vector((4.0, 0.3 * index - 0.4))
        curve(obj, path, index).update()
    put = [aligned(obj, path, index) for index in range(4)]
    for _ in range(3):
        let_time_pass(animation)
        assert [aligned(obj, path, index) for index in range(4)] == put
        animation.bake(obj, output="HANDLES")
        curve(obj, path, 0).keyframe_points[3].co_ui.y += 0.1
    animation.restore(obj)
    for index, (_, *handles) in enumerate(put):
        shown, *restored = aligned(obj, path, index)
        assert shown == pytest.approx(turns[1][index])
        wanted = [(frame, turns[1][index] + sign * (value - sign * turns[1][index])) for frame, value in handles]
        np.testing.assert_allclose(restored, wanted, atol=1e-6)


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("live", [True, False])
def test_a_component_of_0_of_a_quaternion_that_handles_play_negated_is_edited_as_it_is_seen(
    animation, live: bool, zero: float
) -> None:
    """The sign of zero shows that the curve has the negated quaternion."""
    obj, path = new_object("Turned", "QUATERNION"), "rotation_quaternion"
    turns = np.array([(1, 0, 0, 0), (-0.96, -0.28, zero, zero), (0.8, 0.6, 0, 0)])
    key(obj, path, list(zip((0, 10, 25), turns, strict=True)))
    animation.enable(obj, keep_look=False)
    obj.animation_data.action.tcb_live = live
    animation.bake(obj, output="HANDLES")
    point: Any = curve(obj, path, 2).keyframe_points[1]
    assert curve(obj, path, 0).keyframe_points[1].co.y == pytest.approx(0.96)
    point.co_ui.y = 0.3
    curve(obj, path, 2).update()
    for _ in range(2):
        let_time_pass(animation)
        animation.bake(obj, output="HANDLES")
        shown = [curve(obj, path, index).keyframe_points[1].co.y for index in range(4)]
        assert shown == pytest.approx([0.96, 0.28, 0.3, 0.0])
    animation.restore(obj)
    restored = [curve(obj, path, index).keyframe_points[1].co.y for index in range(4)]
    assert restored == pytest.approx([-0.96, -0.28, -0.3, 0.0])


def aligned(obj: bpy.types.Object, path: str, index: int) -> tuple[float, tuple[float, ...], tuple[float, ...]]:
    """Return the value and the handles of the second key."""
    point = curve(obj, path, index).keyframe_points[1]
    return float(point.co.y), tuple(point.handle_left), tuple(point.handle_right)


def test_a_chosen_handle_type_is_kept_by_restore_and_told_by_a_bake(animation, ball) -> None:
    fcurve = curve(ball, "location")
    point: Any = fcurve.keyframe_points[1]
    point.handle_right_type = "VECTOR"
    fcurve.update()
    let_time_pass(animation)
    (error,) = animation.bake(ball, output="HANDLES").handles
    assert error["error"] < 1e-5
    report = animation.bake(ball)
    assert any("handle types" in str(note) and "Location" in str(note) for note in report.notes)
    animation.bake(ball, output="HANDLES")
    assert handle_types(ball, 1) == ("FREE", "VECTOR")
    animation.restore(ball)
    assert handle_types(ball, 1) == ("AUTO_CLAMPED", "VECTOR")
