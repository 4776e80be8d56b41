# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion of tables to keys and back, compared with scipy, with Blender's matrices, and bit for bit."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.animation.curves import (
    bag_of,
    co,
    curve,
    fcurves,
    given,
    has_table,
    insert,
    key,
    new_object,
    new_rig,
    seen,
    snapshot,
)
from tests.lines_run import lines_run


@pytest.fixture
def bring(animation):
    """A function bring(item, text, bone="", **how) that imports a table with this text."""
    import importlib

    package = animation.__name__.rpartition(".")[0]
    tables = importlib.import_module(f"{package}.formats.table")
    from_table = importlib.import_module(f"{package}.animation.edit.table_import")

    def do(item, content, bone="", **how):
        content = content if isinstance(content, bytes) else content.encode()
        return from_table.import_table(item, tables.read(content), from_table.TableKeys(**how), bone)

    return do


@pytest.fixture
def give(animation):
    """A function give(item, bone="") that returns the text of the exported table."""
    import importlib

    package = animation.__name__.rpartition(".")[0]
    tables = importlib.import_module(f"{package}.formats.table")

    return lambda item, bone="": tables.write(animation.export_table(item, bone)[0])


def rows(names, *numbers):
    return names + "\n" + "\n".join(",".join(map(repr, row)) for row in np.asarray(numbers).tolist())


def rotation_of(item, frame):
    w, x, y, z = seen(frame, item).matrix_world.to_quaternion()
    return Rotation.from_quat([x, y, z, w])


def test_rows_become_keys_of_float32_at_uneven_frames(bring):
    thing = new_object()
    frames, values = [1.0, 2.25, 40.0, 40.5], np.random.default_rng(1).normal(size=(4, 3))
    report = bring(thing, rows("frame,x,y,z", *np.column_stack((frames, values))))
    assert (report.tracks, report.keys) == (1, 4)
    for index in range(3):
        expected = np.column_stack((frames, values[:, index])).astype(np.float32)
        assert co(curve(thing, "location", index)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("interpolation", ["BACK", "ELASTIC"])
def test_keys_set_to_back_or_elastic_later_play_as_keys_that_blender_inserts(bring, interpolation):
    brought, inserted = new_object("brought"), new_object("inserted")
    bring(brought, "frame,x\n1,0\n21,5", use_tcb=False)
    insert(inserted, "location", [(1, 0.0), (21, 5.0)], index=0)
    for thing in (brought, inserted):
        for point in curve(thing, "location").keyframe_points:
            point.interpolation = interpolation
    played = [[curve(thing, "location").evaluate(frame / 2) for frame in range(2, 43)] for thing in (brought, inserted)]
    assert played[0] == played[1]


def test_seconds_count_from_the_start_frame_at_the_rate(bring):
    thing = new_object()
    bring(thing, "time,x\n0,1\n0.5,2\n2,3", rate=30.0, frame_start=10.0)
    assert co(curve(thing, "location"))[:, 0].tolist() == [10.0, 25.0, 70.0]


def test_keys_are_tcb_if_so_chosen_and_bake(bring, animation):
    made, plain = new_object("made"), new_object("plain")
    for thing, use in ((made, True), (plain, False)):
        bring(thing, "frame,x\n1,0\n11,5\n31,2", use_tcb=use)
    assert [has_table(thing) for thing in (made, plain)] == [True, False]
    assert animation.bake(made).samples > 20


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX"])
@pytest.mark.parametrize("form", ["quaternion", "euler", "degrees", "matrix", "whole matrix"])
def test_every_form_of_a_rotation_is_the_same_pose_in_every_mode(bring, mode, form):
    thing = new_object(mode=mode)
    turns = Rotation.from_rotvec(np.random.default_rng(4).normal(size=(6, 3)).cumsum(axis=0) / 2)
    frames = np.arange(6.0)[:, np.newaxis] * 3
    signs = np.array([1, -1, -1, 1, -1, 1])[:, np.newaxis]
    if form == "quaternion":
        text = rows("frame,qw,qx,qy,qz", *np.hstack((frames, signs * turns.as_quat()[:, [3, 0, 1, 2]])))
    elif form in ("euler", "degrees"):
        unit = "rad" if form == "euler" else "deg"
        names = ",".join(f"euler_yzx_{unit}.{letter}" for letter in "xyz")
        angles = turns.as_euler("yzx", degrees=form == "degrees")[:, [2, 0, 1]]
        text = rows(f"frame,{names}", *np.hstack((frames, angles)))
    else:
        size = 3 if form == "matrix" else 4
        names = ",".join(f"m{row}{column}" for row in range(size) for column in range(size))
        matrices = np.tile(np.eye(size), (6, 1, 1))
        matrices[:, :3, :3] = turns.as_matrix()
        text = rows(f"frame,{names}", *np.hstack((frames, matrices.reshape(6, -1))))
    bring(thing, text)
    assert thing.rotation_mode == mode
    for frame, expected in zip(frames[:, 0], turns, strict=True):
        assert (rotation_of(thing, frame) * expected.inv()).magnitude() < 1e-6


def test_signs_of_quaternions_are_unrolled_and_their_length_is_kept(bring):
    thing = new_object(mode="QUATERNION")
    bring(thing, "frame,qw,qx,qy,qz\n1,2,0,0,0\n2,-2,0.2,0,0\n3,2,-0.4,0,0\n4,2,-0.6,0,0")
    found = np.stack([co(curve(thing, "rotation_quaternion", index))[:, 1] for index in range(4)], axis=1)
    assert found.tolist() == np.array([[2, 0, 0, 0], [2, -0.2, 0, 0], [2, -0.4, 0, 0], [2, -0.6, 0, 0]], "f4").tolist()


def test_euler_angles_in_the_objects_order_keep_their_turns(bring):
    thing = new_object(mode="ZXY")
    bring(thing, "frame,euler_zxy_deg.x,euler_zxy_deg.y,euler_zxy_deg.z\n1,0,0,0\n20,720,0,-1080")
    assert co(curve(thing, "rotation_euler", 2))[:, 1].tolist() == [0.0, np.float32(-6 * np.pi)]
    assert thing.rotation_mode == "ZXY"


def test_a_whole_matrix_places_turns_and_scales_as_blenders_own(bring):
    from mathutils import Euler, Matrix, Vector

    thing = new_object(mode="QUATERNION")
    names = ",".join(f"m{row}{column}" for row in range(4) for column in range(4))
    matrices = [
        Matrix.LocRotScale(Vector((1, 2, 3)), Euler((0.1, 0.2, 0.3)), Vector((1, 2, 0.5))),
        Matrix.LocRotScale(Vector((4, -2, 0)), Euler((1.1, -0.2, 2.3)), Vector((3, 2, 0.1))),
        Matrix.LocRotScale(Vector((0, 0, 0)), Euler((0, 0, 3)), Vector((-1, -2, -1))),
    ]
    numbers = [[frame, *(x for row in matrix for x in row)] for frame, matrix in enumerate(matrices, start=1)]
    bring(thing, rows(f"frame,{names}", *numbers))
    for frame, matrix in enumerate(matrices, start=1):
        np.testing.assert_allclose(np.array(seen(frame, thing).matrix_world), np.array(matrix), atol=2e-6)
    assert co(curve(thing, "scale", 0))[-1, 1] < 0


@pytest.mark.parametrize("before", ["scaled", "keyed"])
def test_a_matrix_without_scale_replaces_the_objects_scale(bring, animation, before):
    thing = new_object(mode="QUATERNION")
    if before == "scaled":
        thing.scale = (2, 2, 2)
    else:
        insert(thing, "scale", [(1, (1, 1, 1)), (2, (2, 2, 2))])
        thing.scale = (1, 1, 1)
    turns = Rotation.from_rotvec([[0, 0, 0.5], [0.3, 0, 1]])
    names = ",".join(f"m{row}{column}" for row in range(3) for column in range(3))
    text = rows(f"frame,{names}", *np.column_stack(([1, 2], turns.as_matrix().reshape(2, 9))))
    if before != "scaled":
        with pytest.raises(animation.AnimationError, match="there are already keys"):
            bring(thing, text)
    bring(thing, text, replace=True)
    for frame, matrix in zip((1, 2), turns.as_matrix(), strict=True):
        np.testing.assert_allclose(np.array(seen(frame, thing).matrix_world)[:3, :3], matrix, atol=2e-6)


def test_scale_columns_beside_a_rotation_matrix_are_imported(bring):
    thing = new_object()
    thing.scale = (2, 2, 2)
    names = ",".join(f"m{row}{column}" for row in range(3) for column in range(3))
    bring(thing, rows(f"frame,{names},scale.x,scale.y,scale.z", [1, *np.eye(3).ravel(), 3, 4, 5]))
    np.testing.assert_allclose(np.array(seen(1, thing).matrix_world)[:3, :3], np.diag([3, 4, 5]))


def test_a_matrix_without_scale_leaves_an_object_of_scale_1_without_scale_keys(bring):
    thing = new_object()
    names = ",".join(f"m{row}{column}" for row in range(3) for column in range(3))
    bring(thing, rows(f"frame,{names}", [1, *np.eye(3).ravel()]))
    assert {fcurve.data_path for fcurve in fcurves(thing)} == {"rotation_euler"}


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


def test_empty_cells_leave_components_at_different_frames(bring):
    thing = new_object()
    bring(thing, "frame,x,y\n1,2,\n2,,3\n3,4,5")
    assert co(curve(thing, "location", 0)).tolist() == [[1, 2], [3, 4]]
    assert co(curve(thing, "location", 1)).tolist() == [[2, 3], [3, 5]]


@pytest.fixture
def rig(scene):
    return new_rig("left", 'right "R"', tail=(0, 1, 0))


def test_a_bone_takes_what_names_no_owner_and_others_what_names_them(bring, rig):
    left, right = 'pose.bones["left"]', 'pose.bones["right \\"R\\""]'
    rig.pose.bones["left"]["curl"] = 0.0
    bring(rig, 'frame,x,["curl"],qw,qx,qy,qz\n1,2,3,1,0,0,0\n5,4,5,0,1,0,0', left)
    assert co(curve(rig, f"{left}.location")).tolist() == [[1, 2], [5, 4]]
    assert co(curve(rig, f'{left}["curl"]')).tolist() == [[1, 3], [5, 5]]
    assert curve(rig, f"{left}.rotation_quaternion", 3).group.name == "left"
    bring(rig, f'frame,"{right.replace(chr(34), chr(34) * 2)}.location.y"\n1,7', left)
    assert co(curve(rig, f"{right}.location", 1)).tolist() == [[1, 7]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("frame,locaton.x\n1,2", "locaton: no float property"),
        ("frame,location[3]\n1,2", "the property has 3 components"),
        ("frame,location\n1,2", "Name one component, for example location"),
        (
            'frame,pose.bones["x"].qw,pose.bones["x"].qx,pose.bones["x"].qy,pose.bones["x"].qz\n1,1,0,0,0',
            "has a rotation",
        ),
        ("frame,x\n1,1e39", "line 2: the value exceeds the range of float32"),
        ("frame,x\n1,1\n2e6,1", "line 3: frame 2e\\+06 is outside Blender's range"),
        ("frame,x\n-2e6,1\n1,1", "line 2: frame -2e\\+06 is outside Blender's range, -1,048,574 to 1,048,574"),
        ("frame,x\n1,1\n1.01,2", "line 2: the next row is less than"),
        ("frame,qw,qx,qy,qz\n1,1,0,0,0\n2,0,0,0,0", "line 3: the quaternion is zero"),
        (
            "frame," + ",".join(f"m{n // 3}{n % 3}" for n in range(9)) + "\n1,1,0,0,0,0,0,0,0,1",
            "line 2: .* zero length",
        ),
        ("frame," + ",".join(f"m{n // 3}{n % 3}" for n in range(9)) + "\n1,1,1,0,0,1,0,0,0,1", "line 2: .* shear"),
        ("frame,hide_render\n1,0", "no float property"),
        (
            "frame,scale.x," + ",".join(f"m{n // 3}{n % 3}" for n in range(9)) + "\n1,1,2,0,0,0,1,0,0,0,1",
            "Scale: the table defines this property twice",
        ),
    ],
)
def test_what_can_not_be_keyed_is_refused_with_its_line_and_nothing_changes(bring, animation, text, words):
    thing = new_object()
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
        ("parent.location.x", "animated"),
        ("dimensions[0]", "animated"),
        ("parent.quaternion", "animated"),
        ("__class__", "no float property"),
    ],
)
def test_what_is_not_the_objects_own_to_animate_is_refused_and_nothing_changes(bring, animation, column, words):
    thing, other = new_object(), new_object("other")
    thing.parent = other
    key(thing, "scale", [(1, (1, 1, 1))])
    action, before = thing.animation_data.action, snapshot(thing)
    text = f"frame,{column}\n1,7\n9,8"
    if column.endswith("quaternion"):
        text = "frame," + ",".join(f"{column}.{letter}" for letter in "wxyz") + "\n1,1,0,0,0\n9,0,1,0,0"
    with pytest.raises(animation.AnimationError, match=words):
        bring(thing, text)
    assert snapshot(thing) == before
    assert len(fcurves(thing)) == 3
    assert action.frame_start == 0.0
    assert other.animation_data is None


@pytest.mark.parametrize("columns", ["x,scale.y", "qw,qx,qy,qz", '["grip"],nothing'])
def test_a_table_without_values_is_refused_as_that(bring, animation, columns):
    thing = new_object()
    thing["grip"] = 0.5
    empty = "," * columns.count(",")
    with pytest.raises(animation.AnimationError, match="the columns have no values"):
        bring(thing, f"frame,{columns}\n1,{empty}\n2,{empty}", known_only=True)
    assert thing.animation_data is None


def test_unknown_columns_are_left_out_if_so_chosen_and_said(bring):
    thing = new_object()
    report = bring(thing, "time,x,energy,qw,qx,qy,qz\n0,1,2,1,0,0,0\n1,2,3,1,0,0,0", known_only=True)
    assert [note for note in report.notes if "energy" in str(note)]
    assert {path for path in (c.data_path for c in fcurves(thing)) if "tcb" not in path} == {
        "location",
        "rotation_euler",
    }


def test_keys_that_are_there_are_kept_unless_they_are_to_be_replaced(bring, animation):
    thing = new_object()
    key(thing, "location", [(1, (1, 2, 3)), (9, (4, 5, 6))])
    animation.enable(thing, keep_look=False)
    animation.key_set(thing, "location", 9, tension=1.0)
    animation.bake(thing)
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match="already keys"):
        bring(thing, "frame,x\n1,0\n5,1")
    assert snapshot(thing) == before
    report = bring(thing, "frame,x\n1,0\n5,1", replace=True)
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
        bring(thing, "frame,x\n1,0\n5,1", replace=True)
    assert snapshot(thing) == before


@pytest.mark.parametrize("state", ["plain", "TCB", "SAMPLES"])
@pytest.mark.parametrize("use_tcb", [True, False])
@pytest.mark.parametrize("kind", ["CONSTANT", "LINEAR", "ELASTIC"])
def test_keys_at_the_same_frames_keep_their_interpolation(bring, animation, kind, use_tcb, state):
    thing = new_object()
    key(thing, "location", [(1, (1, 2, 3)), (5, (2, 3, 4)), (9, (4, 5, 6)), (13, (7, 8, 9))])
    for fcurve in fcurves(thing):
        point = fcurve.keyframe_points[1]
        point.interpolation, point.easing = kind, "EASE_IN_OUT"
        point.amplitude, point.period = 1.5, 3.0
    other = new_object("Other")
    key(other, "location", [(1, (1, 1, 1)), (5, (2, 2, 2)), (11, (0, 0, 0))])
    for fcurve in fcurves(other):
        point = fcurve.keyframe_points[1]
        point.interpolation, point.easing = kind, "EASE_IN_OUT"
        point.amplitude, point.period = 1.5, 3.0
    if state != "plain":
        animation.enable(thing, keep_look=False)
    if state == "SAMPLES":
        animation.bake(thing)
    bring(thing, "frame,x,y\n1,1,1\n5,2,2\n11,0,0", replace=True, use_tcb=use_tcb)
    for index in range(2):
        points = curve(thing, "location", index).keyframe_points
        assert [point.interpolation for point in points] == ["BEZIER", kind, "BEZIER"]
        assert points[1].easing == "EASE_IN_OUT"
        # The identities of TCB keys are in the low bits of floats.
        frames = [5.5, 7.0, 9.25]
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
    bring(thing, "frame,x,y,z\n1,0,0,0\n9,8,0,0", replace=True, use_tcb=use_tcb)
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
        bring(thing, "frame,x\n1,0", replace=True)


def test_a_component_that_a_driver_decides_is_refused_though_it_has_no_curve(bring, animation):
    thing = new_object()
    thing.driver_add("location", 1).driver.expression = "3"
    with pytest.raises(animation.AnimationError, match="Location: Y Location is driven"):
        bring(thing, "frame,x,y,z\n1,0,0,0")
    assert thing.animation_data.action is None
    bring(thing, "frame,x,z\n1,0,0")
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


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ("quaternion.w,quaternion.x,quaternion.y,quaternion.z", "1,1e39,0,0"),
        ("rotation_euler.x,rotation_euler.y,rotation_euler.z", "0,-1e39,0"),
        (",".join(f"m{row}{column}" for row in range(4) for column in range(4)), "1,0,0,1e39,0,1,0,0,0,0,1,0,0,0,0,1"),
    ],
)
def test_a_rotation_or_matrix_of_more_than_float32_holds_is_refused_with_its_line(bring, animation, columns, row):
    thing = new_object(mode="XYZ")
    with pytest.raises(animation.AnimationError, match="line 2: the value exceeds the range of float32"):
        bring(thing, f"frame,{columns}\n1,{row}")
    assert thing.animation_data is None


@pytest.mark.parametrize("start", [np.nan, np.inf])
def test_a_start_frame_that_is_no_number_makes_no_keys(bring, animation, start):
    thing = new_object()
    with pytest.raises(ValueError, match=r"^frame_start .* is not a finite number"):
        bring(thing, "frame,x\n1,0\n2,1", frame_start=start)
    assert thing.animation_data is None


def test_linked_objects_and_strips_are_refused(bring, animation):
    thing = new_object()
    key(thing, "location", [(1, (1, 2, 3))])
    action = thing.animation_data.action
    thing.animation_data.nla_tracks.new().strips.new("strip", 1, action)
    thing.animation_data.action = None
    with pytest.raises(animation.AnimationError, match="all animation is in NLA strips"):
        bring(thing, "frame,y\n1,0")


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX"])
def test_keys_come_back_bit_for_bit(bring, give, animation, mode):
    generator = np.random.default_rng(9)
    source, copy = new_object("source", mode), new_object("copy", mode)
    for item in (source, copy):
        item["grip"], item["wind"] = 0.0, [0.0, 0.0]
    frames = np.cumsum(generator.uniform(0.1, 9.0, 12)).astype(np.float32)
    path = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    size = 3 if path == "rotation_euler" else 4
    turns = np.ones(size) + generator.uniform(-0.2, 0.2, (12, size))
    key(source, "location", list(zip(frames.tolist(), generator.normal(size=(12, 3)), strict=True)))
    key(source, path, list(zip(frames.tolist()[::2], turns[::2], strict=True)))
    key(source, '["grip"]', list(zip(frames.tolist()[::3], generator.normal(size=4), strict=True)))
    key(source, '["wind"]', list(zip(frames.tolist(), generator.normal(size=(12, 2)), strict=True)), channels=[1])
    keyed = {(c.data_path, c.array_index): co(c).tobytes() for c in fcurves(source)}
    animation.enable(source, keep_look=False)
    animation.bake(source, step=0.5)
    bring(copy, give(source))
    assert {(c.data_path, c.array_index): co(c).tobytes() for c in fcurves(copy)} == keyed


def test_quaternions_that_change_sign_turn_the_shorter_way_and_both_tables_say_so(animation, give):
    source, copy = new_object("source", "QUATERNION"), new_object("copy", "QUATERNION")
    key(source, "rotation_quaternion", [(1, (1, 0, 0, 0)), (11, (-0.8, -0.6, 0, 0)), (21, (1, 0, 0, 0))])
    table, report = animation.export_table(source)
    (note,) = report.notes
    assert "quaternions change sign between keys" in str(note)
    came = animation.import_table(copy, table, animation.TableKeys())
    (note,) = came.notes
    assert "1 of 3 quaternions were negated" in str(note)
    assert co(curve(copy, "rotation_quaternion", 0))[:, 1].tolist() == [1.0, np.float32(0.8), 1.0]
    again, report = animation.export_table(copy)
    assert not report.notes
    assert not animation.import_table(new_object("third", "QUATERNION"), again, animation.TableKeys()).notes


@pytest.mark.parametrize(
    ("kind", "is_noted"), [("BEZIER", False), ("CONSTANT", True), ("LINEAR", True), ("BACK", True)]
)
def test_an_export_says_which_tracks_lose_their_interpolation(animation, kind, is_noted):
    thing = new_object()
    for path in ("location", "scale"):
        key(thing, path, [(1, (1, 2, 3)), (5, (2, 3, 4)), (9, (4, 5, 6))])
    curve(thing, "scale", 1).keyframe_points[1].interpolation = kind
    # There is no segment after the last key.
    curve(thing, "location", 1).keyframe_points[2].interpolation = "CONSTANT"
    _, report = animation.export_table(thing)
    assert ["Scale" in str(note) and "not all keys are Bezier" in str(note) for note in report.notes] == [
        True
    ] * is_noted


def test_components_of_a_rotation_at_different_frames_come_back_too(bring, give):
    source, copy = new_object("source", "QUATERNION"), new_object("copy", "QUATERNION")
    key(source, "rotation_quaternion", [(1, (1, 0, 0, 0)), (9, (0, 1, 0, 0))])
    key(source, "rotation_quaternion", [(5, (0.5, 0, 0, 0))], channels=[0])
    bring(copy, give(source))
    for index in range(4):
        place = ("rotation_quaternion", index)
        assert co(curve(copy, *place)).tobytes() == co(curve(source, *place)).tobytes()


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


def test_an_action_without_curves_takes_the_keys(bring):
    thing = new_object()
    key(thing, "location", [(1, (1, 2, 3))])
    bag = bag_of(thing)
    for fcurve in list(bag.fcurves):
        bag.fcurves.remove(fcurve)
    action = thing.animation_data.action
    bring(thing, "frame,x\n1,0\n5,1")
    assert thing.animation_data.action == action
    assert co(curve(thing, "location")).tolist() == [[1, 0], [5, 1]]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("parent.location.x", '"Ball", parent.location: parent is empty'),
        ("data.lens", '"Ball", data.lens: data is empty'),
        ("active_material.diffuse_color.r", '"Ball", active_material.diffuse_color: active_material is empty'),
        ("parent.parent.location.x", '"Ball", parent.parent.location: no float property'),
        ("parent.rotation_axis_angle.w", '"Ball", parent.rotation_axis_angle: parent is empty'),
        ("parent.quaternion", '"Ball", parent.rotation: nothing with this name has a rotation'),
        ("name.location.x", '"Ball", name.location: no float property'),
        ("location[0].x", r'"Ball", location\[0\]: no float property'),
        ('parent["grip"]', '"Ball", parent\\["grip"\\]: parent is empty'),
    ],
)
def test_a_column_that_leads_to_nothing_is_named_with_the_object(bring, animation, column, words):
    ball = new_object("Ball")
    text = 'frame,"' + column.replace('"', '""') + '"\n1,7'
    if column.endswith("quaternion"):
        text = "frame," + ",".join(f"{column}.{letter}" for letter in "wxyz") + "\n1,1,0,0,0\n9,0,1,0,0"
    with pytest.raises(animation.AnimationError, match=words):
        bring(ball, text)
    assert ball.animation_data is None
    with pytest.raises(animation.AnimationError, match="no column names a float property of this object"):
        bring(ball, text, known_only=True)


def test_columns_that_lead_to_nothing_can_be_left_out(bring):
    ball = new_object("Ball")
    report = bring(ball, "frame,x,parent.location.x,data.lens\n1,2,3,4\n9,5,6,7", known_only=True)
    assert list(map(str, report.notes)) == [
        '"Ball", parent.location: skipped: parent is empty, so there is no such property',
        '"Ball", data.lens: skipped: data is empty, so there is no such property',
    ]
    assert co(curve(ball, "location")).tolist() == [[1, 2], [9, 5]]


@pytest.mark.parametrize("columns", ["components", "properties", "keyed", "TCB"])
def test_twice_as_many_columns_are_twice_the_work(bring, columns):
    counts = []
    for number in (40, 80, 160):
        thing = new_object()
        if columns == "components":
            names = [f"location[{index}]" for index in range(number)]
        else:
            names = [f'["p{index}"]' for index in range(number)]
            for index in range(number):
                thing[f"p{index}"] = 0.5
        text = rows("frame," + ",".join(names), np.arange(number + 1.0), np.arange(number + 1.0) + 1.0)
        if columns in ("keyed", "TCB"):
            bring(thing, text, use_tcb=columns == "TCB")

        def work(thing=thing, text=text):
            try:
                report = bring(thing, text, replace=True)
            except Exception as error:
                assert "the property has 3 components" in str(error)  # noqa: PT017  of a location
            else:
                assert report.tracks == len(fcurves(thing))

        counts.append(lines_run(work))
    more = np.diff(counts)
    assert more[0] > 1000
    assert more[1] < 2.2 * more[0]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # "energy" names no property.
        (b"frame,x,scale.x,energy,qw,qx,qy,qz\n1,2,1,3,1,0,0,0\n5,4,2,3,0,1,0,0", 3),
        # A matrix has three tracks.
        (b"frame," + b",".join(b"m%d%d" % divmod(i, 4) for i in range(16)) + b"\n1,2,0,0,0,0,2,0,0,0,0,2,0,0,0,0,1", 3),
        (b"frame,x\n1,2", 1),
    ],
)
def test_an_import_tells_how_far_it_is(bring, animation, scene, text, count):
    import importlib

    package = animation.__name__.rpartition(".")[0]
    tables, from_table = (
        importlib.import_module(f"{package}.{name}") for name in ("formats.table", "animation.edit.table_import")
    )
    told = []
    read = tables.read(text)
    how = from_table.TableKeys(known_only=True)
    from_table.import_table(new_object(), read, how, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, count) for done in range(1, count + 1)]
