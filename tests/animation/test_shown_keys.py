# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that a method's motion passes by: shown where it goes, while their own values are kept."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from interp import Keys
from interp.splines import METHODS
from tests.animation import reference
from tests.animation.curves import (
    co,
    curve,
    differences,
    fcurves,
    function,
    key,
    new_object,
    play,
    rotation_path,
    snapshot,
)
from tests.animation.methods import FRAMES, TURNS, VALUES, chosen, keyed, spline_of, unbaked
from tests.animation.rotations import quaternion_of, values_of
from tools.edit_kinds import editor

PASSING_BY = "B_SPLINE"
OUTPUTS = {"samples": {}, "half samples": {"step": 0.5}, "curves": {"output": "CURVES"}}


@pytest.fixture
def thing(scene) -> bpy.types.Object:
    return keyed(VALUES, TURNS)


@pytest.fixture(params=OUTPUTS)
def shown(request, animation, thing) -> bpy.types.Object:
    """Baked by a method that does not meet its keys."""
    chosen(animation, thing, "location", PASSING_BY)
    animation.bake(thing, **OUTPUTS[request.param])
    return thing


def own(thing: bpy.types.Object, index: int = 0) -> list[bpy.types.Keyframe]:
    """The animator's keys on a baked curve."""
    return [point for point in curve(thing, "location", index).keyframe_points if point.type != "GENERATED"]


def select(thing: bpy.types.Object, frames: tuple[float, ...]) -> None:
    for fcurve in fcurves(thing):
        for point in fcurve.keyframe_points:
            on = any(abs(point.co.x - frame) < 1e-3 for frame in frames) and point.type != "GENERATED"
            point.select_control_point = point.select_left_handle = point.select_right_handle = on


def test_a_key_is_shown_where_the_motion_passes(animation, shown) -> None:
    wanted = spline_of("location", PASSING_BY)(FRAMES)
    for index in range(3):
        assert [point.co.y for point in own(shown, index)] == pytest.approx(wanted[:, index], abs=1e-6)
    assert abs(own(shown)[1].co.y - VALUES[1][0]) > 0.5


def test_dragging_a_key_moves_its_control_point_as_far(animation, shown) -> None:
    own(shown)[2].co_ui.y += 1.0
    animation.restore(shown)
    values = [value[0] for value in VALUES]
    values[2] += 1.0
    assert co(curve(shown, "location"))[:, 1].tolist() == pytest.approx(values, abs=1e-6)


def test_what_is_not_dragged_comes_back_to_the_bit(animation, thing) -> None:
    before = snapshot(thing)
    chosen(animation, thing, "location", PASSING_BY)
    animation.bake(thing)
    own(thing)[2].co_ui.y += 1.0
    animation.bake(thing, output="CURVES")
    own(thing)[2].co_ui.y -= 1.0
    animation.restore(thing)
    values = co(curve(thing, "location"))[:, 1].tolist()
    assert values == pytest.approx([value[0] for value in VALUES], abs=1e-6)
    assert differences(before[1:], snapshot(thing)[1:], identities=False) == []


def test_keying_another_pose_on_a_key_moves_its_control_point_by_the_difference(animation, scene, shown) -> None:
    play(8)
    shown.location.x += 1.5
    shown.keyframe_insert("location", frame=8)
    animation.restore(shown)
    values = [list(value) for value in VALUES]
    values[FRAMES.index(8)][0] += 1.5
    for index in range(3):
        found = co(curve(shown, "location", index))[:, 1].tolist()
        assert found == pytest.approx([value[index] for value in values], abs=1e-6)


def test_a_key_inserted_on_the_shown_pose_becomes_a_control_point_there(animation, scene, shown) -> None:
    play(14)
    pose = shown.location[:]
    shown.keyframe_insert("location", frame=14)
    for fcurve in (fcurve for fcurve in fcurves(shown) if fcurve.data_path == "location"):
        next(point for point in fcurve.keyframe_points if point.co.x == 14.0).type = "KEYFRAME"
    animation.restore(shown)
    for index in range(3):
        found = {point.co.x: point.co.y for point in curve(shown, "location", index).keyframe_points}
        kept = {frame: pytest.approx(value[index]) for frame, value in zip(FRAMES, VALUES, strict=True)}
        assert found == {**kept, 14.0: pytest.approx(pose[index])}


@pytest.mark.parametrize("by", ["Dope Sheet", "Graph Editor"])
@pytest.mark.parametrize("frames", [(8.0,), (8.0, 20.0), FRAMES])
def test_keys_that_are_moved_in_time_take_their_control_points_along(animation, shown, by: str, frames) -> None:
    select(shown, frames)
    with editor("DOPESHEET" if by == "Dope Sheet" else "FCURVES"):
        if by == "Dope Sheet":
            bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(3, 0, 0, 0))
        else:
            bpy.ops.transform.translate(value=(3, 0, 0))
    animation.bake(shown)
    animation.restore(shown)
    for index in range(3):
        assert co(curve(shown, "location", index)).tolist() == [
            [frame + 3.0 * (frame in frames), pytest.approx(value[index], abs=1e-6)]
            for frame, value in zip(FRAMES, VALUES, strict=True)
        ]


def test_mirrored_keys_keep_their_control_points(animation, shown) -> None:
    select(shown, FRAMES)
    bpy.context.scene.frame_set(20)
    with editor("DOPESHEET"):
        bpy.ops.action.mirror(type="CFRA")
    animation.restore(shown)
    for index in range(3):
        found = {point.co.x: point.co.y for point in curve(shown, "location", index).keyframe_points}
        assert found == {
            40.0 - frame: pytest.approx(value[index], abs=1e-6) for frame, value in zip(FRAMES, VALUES, strict=True)
        }


def test_duplicated_keys_have_the_control_points_of_theirs(animation, shown) -> None:
    select(shown, (8.0, 20.0))
    with editor("DOPESHEET"):
        bpy.ops.action.duplicate()
        bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(60, 0, 0, 0))
    animation.bake(shown)
    animation.restore(shown)
    found = {point.co.x: point.co.y for point in curve(shown, "location").keyframe_points}
    kept = {frame: pytest.approx(value[0], abs=1e-6) for frame, value in zip(FRAMES, VALUES, strict=True)}
    assert found == {**kept, 68.0: kept[8.0], 80.0: kept[20.0]}


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_a_track_that_is_told_to_meet_its_keys_again_does(animation, shown, output: str) -> None:
    animation.choose(shown, "location", method="TCB")
    animation.bake(shown, output=output)
    assert [point.co.y for point in own(shown)] == pytest.approx([value[0] for value in VALUES], abs=1e-6)


def test_a_range_bakes_all_of_it(animation, thing) -> None:
    """A key can be shown at one place only."""
    chosen(animation, thing, "location", PASSING_BY)
    before = snapshot(thing)
    animation.bake(thing, frame_range=(10, 15))
    play(30)
    assert thing.location[:] == pytest.approx(spline_of("location", PASSING_BY)(30.0), abs=1e-6)
    animation.restore(thing)
    assert differences(unbaked(before), unbaked(snapshot(thing))) == []


def test_the_file_keeps_what_is_not_shown(animation, shown, tmp_path) -> None:
    path = tmp_path / "shown.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    item = bpy.data.objects["Thing"]
    animation.restore(item)
    found = np.stack([co(curve(item, "location", index))[:, 1] for index in range(3)], axis=1)
    assert found.tolist() == np.float32(VALUES).tolist()


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"])
def test_a_rotation_is_shown_in_the_numbers_of_its_mode(animation, scene, mode: str, output: str) -> None:
    item = new_object("Wheel", mode)
    rows = values_of(mode, [reference.unit(turn) for turn in TURNS])
    key(item, rotation_path(mode), list(zip(FRAMES, rows, strict=True)))
    animation.enable(item)
    animation.choose(item, "rotation", method=PASSING_BY)
    before = snapshot(item)
    animation.bake(item, output=output)
    spline = METHODS[PASSING_BY].rotations(Keys(FRAMES, [quaternion_of(mode, row) for row in rows]))
    step, near = (1.0, 4e-6) if output == "SAMPLES" else (0.25, 1.05 * np.radians(0.01))
    for frame in np.arange(1.0, 40.0, step):
        play(frame)
        exact = np.array(Quaternion(spline(frame)).to_matrix())
        assert np.abs(np.array(item.matrix_world.to_3x3()) - exact).max() < near, frame
    animation.restore(item)
    assert differences(unbaked(before), unbaked(snapshot(item))) == []


def own_values(animation, thing: bpy.types.Object, path: str, index: int) -> list[float]:
    track = animation.find_track(thing, path)
    return list(animation.store.own_keys.read_own_keys(track)[index].keys.values.tolist())


def set_shown(thing: bpy.types.Object, path: str, index: int, row: int, value: float) -> None:
    fcurve = curve(thing, path, index)
    [point for point in fcurve.keyframe_points if point.type != "GENERATED"][row].co_ui.y = value
    fcurve.update()


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("kind", ["b_spline", "retimed quaternion"])
def test_an_edit_of_a_zero_is_never_negated_where_no_handles_play(animation, kind: str, zero: float) -> None:
    """Only handles play keys negated; elsewhere the sign of a zero tells nothing."""
    if kind == "b_spline":
        thing, path = new_object("Thing"), "location"
        key(thing, path, [(1, (0, 0, 0)), (10, (1, 2, zero)), (25, (2, 2, 0.0)), (40, (1, 0, 0))])
        animation.enable(thing)
        animation.choose(thing, path, method="B_SPLINE")
    else:
        thing, path = new_object("Thing", "QUATERNION"), "rotation_quaternion"
        turned = [(1, (1, 0, 0, 0)), (10, (0.8, 0.6, zero, 0)), (25, (0.8, -0.6, 0, 0)), (40, (0.96, 0.28, 0, 0))]
        key(thing, path, turned)
        function(thing, [(1, 40.0), (40, 1.0)])
        animation.enable(thing)
    animation.bake(thing)
    assert animation.store.up_to_date.is_up_to_date(animation.find_track(thing, path))
    set_shown(thing, path, 2, 1, 0.3)
    animation.bake(thing)
    assert own_values(animation, thing, path, 2)[1] > 0.0


def test_a_value_that_is_shown_as_its_own_negative_by_chance_changes_by_as_much(animation) -> None:
    thing = new_object("Thing")
    key(thing, "location", [(1, (-1, 0, 0)), (20, (0.3, 0, 0)), (40, (1, 0, 0))])
    function(thing, [(1, 40.0), (40, 1.0)])
    animation.bake(thing)
    assert curve(thing, "location").keyframe_points[0].co.y == 1.0
    set_shown(thing, "location", 0, 0, 1.5)
    animation.bake(thing)
    assert own_values(animation, thing, "location", 0)[0] == pytest.approx(-0.5)
