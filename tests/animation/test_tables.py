# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion of tables to keys and back, compared with scipy, with Blender's matrices, and bit for bit."""

from __future__ import annotations

import importlib

import bpy
import numpy as np
import pytest

from tests.all_pairs import all_pairs
from tests.animation.curves import (
    co,
    curve,
    fcurves,
    given,
    key,
    new_object,
    new_rig,
    snapshot,
)
from tests.lines_run import lines_run


@pytest.fixture
def tables(animation):
    """The module formats.table of the extension."""
    return importlib.import_module(f"{animation.__name__.rpartition('.')[0]}.formats.table")


@pytest.fixture
def bring(animation, tables):
    """A function bring(item, text, bone="", **how) that imports a table with this text."""

    def do(item, content, bone="", **how):
        content = content if isinstance(content, bytes) else content.encode()
        return animation.import_table(item, tables.read(content), animation.TableKeys(**how), bone)

    return do


@pytest.fixture
def give(animation, tables):
    """A function give(item, bone="") that returns the text of the exported table."""
    return lambda item, bone="": tables.write(animation.export_table(item, bone)[0])


def rows(names, *numbers):
    return names + "\n" + "\n".join(",".join(map(repr, row)) for row in np.asarray(numbers).tolist())


def test_rows_become_keys_of_float32_at_uneven_frames(bring):
    thing = new_object()
    frames, values = [1.0, 2.25, 40.0, 40.5], np.random.default_rng(1).normal(size=(4, 3))
    report = bring(thing, rows("frame,location[0],location[1],location[2]", *np.column_stack((frames, values))))
    assert (report.tracks, report.keys) == (1, 4)
    for index in range(3):
        expected = np.column_stack((frames, values[:, index])).astype(np.float32)
        assert co(curve(thing, "location", index)).tobytes() == expected.tobytes()


def test_seconds_count_from_the_start_frame_at_the_rate(bring):
    thing = new_object()
    bring(thing, "seconds,location[0]\n0,1\n0.5,2\n2,3", rate=30.0, frame_start=10.0)
    assert co(curve(thing, "location"))[:, 0].tolist() == [10.0, 25.0, 70.0]


def test_any_float_property_can_be_keyed_by_its_path(bring):
    camera = bpy.data.cameras.new("Eye")
    thing = new_object("Eye", data=camera)
    thing["grip"] = 0.5
    thing["wind"] = [0.0, 1.0, 2.0]
    bring(thing, 'frame,["grip"],["wind"][1],data.lens,data.shift_x\n1,0.25,3,35,0\n5,0.5,4,,0.5')
    assert co(curve(thing, '["grip"]'))[:, 1].tolist() == [0.25, 0.5]
    assert co(curve(thing, '["wind"]', 1))[:, 1].tolist() == [3, 4]
    assert co(curve(camera, "lens")).tolist() == [[1, 35]]
    assert co(curve(camera, "shift_x")).tolist() == [[1, 0], [5, 0.5]]


@pytest.fixture
def rig(scene):
    return new_rig("left", 'right "R"', tail=(0, 1, 0))


def test_a_bone_takes_what_names_no_owner_and_others_what_names_them(bring, rig):
    left, right = 'pose.bones["left"]', 'pose.bones["right \\"R\\""]'
    rig.pose.bones["left"]["curl"] = 0.0
    quaternion = ",".join(f"rotation_quaternion[{index}]" for index in range(4))
    bring(rig, f'frame,location[0],["curl"],{quaternion}\n1,2,3,1,0,0,0\n5,4,5,0,1,0,0', left)
    assert co(curve(rig, f"{left}.location")).tolist() == [[1, 2], [5, 4]]
    assert co(curve(rig, f'{left}["curl"]')).tolist() == [[1, 3], [5, 5]]
    assert curve(rig, f"{left}.rotation_quaternion", 3).group.name == "left"
    bring(rig, f'frame,"{right.replace(chr(34), chr(34) * 2)}.location[1]"\n1,7', left)
    assert co(curve(rig, f"{right}.location", 1)).tolist() == [[1, 7]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("frame,locaton[0]\n1,2", r"locaton\[0\]: no float property with this name. Name columns as in location\[0\]"),
        ("frame,location.x\n1,2", "location.x: no float property"),
        ("frame,location[00]\n1,2", "no float property"),
        ("frame,location[0][0]\n1,2", "no float property"),
        ("frame,empty_display_size[0]\n1,2", "no float property"),
        (f"frame,location[{'9' * 5000}]\n1,2", "no float property"),
        ("frame,parent.parent.location[0]\n1,2", "no float property"),
        ("frame,data.lens\n1,2", '"Thing", data.lens: no float property'),
        ("frame,location[3]\n1,2", "the property has 3 components, but the table names component 3"),
        ("frame,location\n1,2", r"Name one component, for example location\[0\]"),
        ("frame,location[0]\n1,1e39", "line 2: the value exceeds the range of float32"),
        ("frame,location[0]\n1,1\n2e6,1", "line 3: the frame is outside Blender's range, -1,048,574 to 1,048,574"),
        ("frame,location[0]\n-2e6,1\n1,1", "line 2: the frame is outside Blender's range"),
        ("frame,location[0]\n1,1\n1.01,2", "line 2: the next row is less than"),
        ("frame,hide_render\n1,0", "no float property"),
    ],
)
def test_what_can_not_be_keyed_is_refused_with_its_line_and_nothing_changes(bring, animation, text, words):
    thing = new_object("Thing")
    with pytest.raises(animation.AnimationError, match=words):
        bring(thing, text)
    assert thing.animation_data is None
    key(thing, "scale", [(1, (1, 1, 1))])
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match=words):
        bring(thing, text)
    assert snapshot(thing) == before


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("animation_data.action.frame_start", "animated"),
        ("animation_data.action_influence", "animated"),
        ("parent.location[0]", "animated"),
        ("dimensions[0]", "animated"),
        ("__class__", "no float property"),
    ],
)
def test_what_is_not_the_objects_own_to_animate_is_refused_and_nothing_changes(bring, animation, column, words):
    thing, other = new_object(), new_object("other")
    thing.parent = other
    key(thing, "scale", [(1, (1, 1, 1))])
    action, before = thing.animation_data.action, snapshot(thing)
    text = f"frame,{column}\n1,7\n9,8"
    with pytest.raises(animation.AnimationError, match=words):
        bring(thing, text)
    assert snapshot(thing) == before
    assert len(fcurves(thing)) == 3
    assert action.frame_start == 0.0
    assert other.animation_data is None


@pytest.mark.parametrize("text", ["frame\n1\n2", "frame,location[0],scale[1]\n1,,\n2,,"])
def test_a_table_without_values_is_refused_as_that(bring, animation, text):
    thing = new_object()
    with pytest.raises(animation.AnimationError, match="the columns have no values"):
        bring(thing, text)
    assert thing.animation_data is None


def test_two_columns_of_one_channel_are_refused(bring, animation, rig):
    left = 'pose.bones["left"]'
    with pytest.raises(animation.AnimationError, match="two columns name the same channel"):
        bring(rig, f"frame,location[0],{left}.location[0]\n1,2,3", left)
    assert rig.animation_data is None


@pytest.mark.parametrize(
    ("mode", "path", "expected"),
    [
        ("XYZ", "rotation_quaternion", "rotation_euler"),
        ("QUATERNION", "rotation_euler", "rotation_quaternion"),
        ("ZYX", "rotation_axis_angle", "rotation_euler"),
    ],
)
def test_a_rotation_of_another_mode_is_refused(bring, animation, mode, path, expected):
    thing = new_object(mode=mode)
    words = rf"{path}\[0\]: the rotation mode is {mode}, so the table must contain {expected}"
    with pytest.raises(animation.AnimationError, match=words):
        bring(thing, f"frame,{path}[0],{path}[1],{path}[2]\n1,0,0,0")
    assert thing.animation_data is None


def test_keys_that_are_there_are_kept_unless_they_are_to_be_replaced(bring, animation):
    thing = new_object()
    key(thing, "location", [(1, (1, 2, 3)), (9, (4, 5, 6))])
    animation.enable(thing, keep_look=False)
    animation.key_set(thing, "location", 9, tension=1.0)
    animation.bake(thing)
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match="already keys"):
        bring(thing, "frame,location[0]\n1,0\n5,1")
    assert snapshot(thing) == before
    report = bring(thing, "frame,location[0]\n1,0\n5,1", replace=True)
    assert co(curve(thing, "location", 0)).tolist() == [[1, 0], [5, 1]]
    assert co(curve(thing, "location", 1)).tolist() == [[1, 2], [9, 5]]
    assert [note for note in report.notes if "parameters" in str(note)]
    assert not any("tension" in c.data_path for c in fcurves(thing))


def test_a_track_that_was_edited_outside_is_refused(bring, animation):
    thing = new_object()
    key(thing, "location", [(1, (1, 2, 3)), (9, (4, 5, 6))])
    animation.bake(thing, keep_look=False)
    curve(thing, "location").keyframe_points[3].co.y += 1.0
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match="Location: edited outside"):
        bring(thing, "frame,location[0]\n1,0\n5,1", replace=True)
    assert snapshot(thing) == before


@pytest.mark.parametrize(
    ("kind", "state", "use_tcb"),
    all_pairs(["CONSTANT", "LINEAR", "ELASTIC"], ["plain", "TCB", "SAMPLES"], [True, False]),
)
def test_keys_at_the_same_frames_keep_their_interpolation(bring, animation, kind, use_tcb, state):
    thing, other = new_object(), new_object("Other")
    key(thing, "location", [(1, (1, 2, 3)), (5, (2, 3, 4)), (9, (4, 5, 6)), (13, (7, 8, 9))])
    key(other, "location", [(1, (1, 1, 1)), (5, (2, 2, 2)), (11, (0, 0, 0))])
    for fcurve in (*fcurves(thing), *fcurves(other)):
        point = fcurve.keyframe_points[1]
        point.interpolation, point.easing = kind, "EASE_IN_OUT"
        point.amplitude, point.period = 1.5, 3.0
    if state != "plain":
        animation.enable(thing, keep_look=False)
    if state == "SAMPLES":
        animation.bake(thing)
    bring(thing, "frame,location[0],location[1]\n1,1,1\n5,2,2\n11,0,0", replace=True, use_tcb=use_tcb)
    for index in range(2):
        points = curve(thing, "location", index).keyframe_points
        assert [point.interpolation for point in points] == ["BEZIER", kind, "BEZIER"]
        assert points[1].easing == "EASE_IN_OUT"
        # The identities of TCB keys are in the low bits of floats.
        frames = [3.0, 5.5, 7.0, 9.25]
        played, wanted = ([curve(each, "location", index).evaluate(f) for f in frames] for each in (thing, other))
        assert played == pytest.approx(wanted, rel=2e-2 if kind == "ELASTIC" else 1e-6)
    if use_tcb and kind == "CONSTANT":
        animation.bake(thing)
        assert [curve(thing, "location").evaluate(frame) for frame in (5.5, 10.0)] == [2.0, 2.0]


@pytest.mark.parametrize("use_tcb", [True, False])
def test_the_frame_function_of_a_track_stays_when_its_keys_are_replaced(bring, animation, use_tcb):
    thing = new_object()
    key(thing, "location", [(1, (0, 0, 0)), (9, (5, 5, 5))])
    animation.enable(thing, keep_look=False)
    animation.retime(thing, "REVERSE", track="location")
    bring(thing, "frame,location[0],location[1],location[2]\n1,0,0,0\n9,8,0,0", replace=True, use_tcb=use_tcb)
    made = curve(thing, 'tcb_tracks["location"].frame')
    assert [made.evaluate(frame) for frame in (1, 9)] == [9, 1]
    assert thing.path_resolve(made.data_path) is not None
    animation.bake(thing, keep_look=False)
    assert [curve(thing, "location").evaluate(frame) for frame in (1, 9)] == [8, 0]


def test_a_locked_channel_is_refused(bring, animation):
    thing = new_object()
    key(thing, "location", [(1, (1, 2, 3))])
    curve(thing, "location").lock = True
    with pytest.raises(animation.AnimationError, match="locked"):
        bring(thing, "frame,location[0]\n1,0", replace=True)


def test_a_component_that_a_driver_decides_is_refused_though_it_has_no_curve(bring, animation):
    thing = new_object()
    thing.driver_add("location", 1).driver.expression = "3"
    with pytest.raises(animation.AnimationError, match="Location: Y Location is driven"):
        bring(thing, "frame,location[0],location[1],location[2]\n1,0,0,0")
    assert thing.animation_data.action is None
    bring(thing, "frame,location[0],location[2]\n1,0,0")
    assert [c.array_index for c in fcurves(thing)] == [0, 2]


def test_tracks_whose_paths_start_like_the_tables_keep_their_parameters(bring, animation, scene):
    lamp = bpy.data.lights.new("Lamp", "AREA")
    item = new_object("Lamp", data=lamp)
    key(lamp, "size", [(1, 1.0), (10, 2.0)])
    key(lamp, "size_y", [(1, 1.0), (10, 2.0)])
    animation.enable(lamp, keep_look=False)
    animation.key_set(lamp, "size_y", 10, tension=1.0)
    bring(item, "frame,data.size\n1,1\n10,5", replace=True)
    assert given(animation, lamp, "size_y", "tension") == [(10, 1)]


def test_linked_objects_and_strips_are_refused(bring, animation):
    thing = new_object()
    key(thing, "location", [(1, (1, 2, 3))])
    action = thing.animation_data.action
    thing.animation_data.nla_tracks.new().strips.new("strip", 1, action)
    thing.animation_data.action = None
    with pytest.raises(animation.AnimationError, match="all animation is in NLA strips"):
        bring(thing, "frame,location[1]\n1,0")


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX"])
def test_keys_come_back_bit_for_bit(bring, give, animation, mode):
    generator = np.random.default_rng(9)
    source, copy = new_object("source", mode), new_object("copy", mode)
    for item in (source, copy):
        item["grip"], item["wind"] = 0.0, [0.0, 0.0]
    frames = np.cumsum(generator.uniform(0.1, 9.0, 12)).astype(np.float32)
    path = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    size = 3 if path == "rotation_euler" else 4
    turns = generator.choice([-1.0, 1.0], (12, 1)) + generator.uniform(-0.2, 0.2, (12, size))
    key(source, "location", list(zip(frames.tolist(), generator.normal(size=(12, 3)), strict=True)))
    key(source, path, list(zip(frames.tolist()[::2], turns[::2], strict=True)))
    if mode == "AXIS_ANGLE":
        key(source, path, [(frames.tolist()[1], turns[1])], channels=[0])
    key(source, '["grip"]', list(zip(frames.tolist()[::3], generator.normal(size=4), strict=True)))
    key(source, '["wind"]', list(zip(frames.tolist(), generator.normal(size=(12, 2)), strict=True)), channels=[1])
    keyed = {(c.data_path, c.array_index): co(c).tobytes() for c in fcurves(source)}
    animation.enable(source, keep_look=False)
    animation.bake(source, step=0.5)
    bring(copy, give(source))
    assert {(c.data_path, c.array_index): co(c).tobytes() for c in fcurves(copy)} == keyed


@pytest.mark.parametrize(("kind", "count"), [("BEZIER", 0), ("CONSTANT", 1), ("LINEAR", 1), ("BACK", 1)])
def test_an_export_says_which_tracks_lose_their_interpolation(animation, kind, count):
    thing = new_object()
    for path in ("location", "scale"):
        key(thing, path, [(1, (1, 2, 3)), (5, (2, 3, 4)), (9, (4, 5, 6))])
    curve(thing, "scale", 1).keyframe_points[1].interpolation = kind
    # There is no segment after the last key.
    curve(thing, "location", 1).keyframe_points[2].interpolation = "CONSTANT"
    notes = animation.export_table(thing)[1].notes
    assert [(note.code, note.track) for note in notes] == [("TABLE_NOT_BEZIER", "scale")] * count


def test_a_bones_table_fits_another_bone(bring, give, rig):
    left, right = 'pose.bones["left"]', 'pose.bones["right \\"R\\""]'
    key(rig, f"{left}.location", [(1, (1, 2, 3)), (9, (4, 5, 6))])
    key(rig, f"{left}.rotation_quaternion", [(1, (1, 0, 0, 0)), (9, (0, 1, 0, 0))])
    assert b"bones" not in give(rig, left)
    bring(rig, give(rig, left), right)
    for name, count in (("location", 3), ("rotation_quaternion", 4)):
        for index in range(count):
            given = co(curve(rig, f"{right}.{name}", index))
            assert given.tobytes() == co(curve(rig, f"{left}.{name}", index)).tobytes()


def test_an_object_without_keys_has_no_table(give, animation):
    with pytest.raises(animation.AnimationError, match="no keys"):
        give(new_object())


@pytest.mark.parametrize("columns", ["components", "TCB"])
def test_twice_as_many_columns_are_twice_the_work(bring, columns):
    counts = []
    for number in (40, 80, 160):
        thing = new_object()
        if columns == "components":
            thing["p"] = [0.5] * number
            names = [f'["p"][{index}]' for index in range(number)]
        else:
            names = [f'["p{index}"]' for index in range(number)]
            for index in range(number):
                thing[f"p{index}"] = 0.5
        text = rows("frame," + ",".join(names), np.arange(number + 1.0), np.arange(number + 1.0) + 1.0)
        if columns in ("keyed", "TCB"):
            bring(thing, text, use_tcb=columns == "TCB")

        def work(thing=thing, text=text, names=names):
            bring(thing, text, replace=True)
            assert len(fcurves(thing)) == len(names)

        counts.append(lines_run(work))
    more = np.diff(counts)
    assert more[0] > 1000
    assert more[1] < 2.2 * more[0]
