# SPDX-License-Identifier: GPL-3.0-or-later
"""The paths drawn by the overlay, compared with positions in Blender."""

from __future__ import annotations

import math
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from tests.animation.action_users import push_down, tweak
from tests.animation.curves import bag_of, key, new_object

FRAMES = np.arange(1.0, 51.0)


@pytest.fixture
def pictures(tcb_animation):
    return tcb_animation.panels.pictures


@pytest.fixture
def animation(tcb_animation):
    return tcb_animation.animation


def seen(item, bone="", frames=FRAMES):
    """Return Blender's matrices of the object or bone, shape (frames, 4, 4)."""
    scene = bpy.context.scene
    matrices = []
    for frame in frames:
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        placed = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrices.append(np.array(placed.matrix_world @ placed.pose.bones[bone].matrix if bone else placed.matrix_world))
    scene.frame_set(1)
    return np.array(matrices)


def empty(scene, name, seed, *, keyed=("location", "rotation_euler", "scale"), mode="XYZ"):
    """Create an object that moves, rotates and grows."""
    item = new_object(name, mode)
    random = np.random.default_rng(seed)
    for frame in (1, 13, 30, 50):
        for path in keyed:
            size = len(getattr(item, path))
            setattr(item, path, random.uniform(0.5, 1.5, size) if path == "scale" else random.uniform(-2, 2, size))
            item.keyframe_insert(path, frame=frame)
    return item


@pytest.fixture
def rig(scene):
    """Create a moving, rotated armature with three keyed bones. The last bone is connected."""
    armature = bpy.data.armatures.new("Rig")
    item = new_object("Rig", data=armature)
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for name, head, tail in (
        ("hip", (0, 0, 1), (0, 0.2, 2)),
        ("arm", (0.5, 0, 2), (2, 0, 2.5)),
        ("hand", None, (3, 0.5, 2)),
    ):
        bone = armature.edit_bones.new(name)
        bone.parent = parent
        bone.head, bone.tail = head or parent.tail, tail
        bone.roll = 0.3
        bone.use_connect = head is None
        parent = bone
    bpy.ops.object.mode_set(mode="POSE")
    random = np.random.default_rng(5)
    for bone, mode in zip(item.pose.bones, ("XYZ", "QUATERNION", "AXIS_ANGLE"), strict=True):
        bone.rotation_mode = mode
        path = {"XYZ": "rotation_euler", "QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}[mode]
        for frame in (1, 20, 50):
            for each in ("location", path, "scale"):
                size = len(getattr(bone, each))
                setattr(bone, each, random.uniform(0.5, 1.5, size) if each == "scale" else random.uniform(-1, 1, size))
                bone.keyframe_insert(each, frame=frame)
    item.rotation_euler = (0.3, 0.4, 0.5)
    for frame, place in ((1, (0, 0, 0)), (50, (5, -3, 1))):
        item.location = place
        item.keyframe_insert("location", frame=frame)
    item.scale = (1.2, 1.2, 1.2)
    return item


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "QUATERNION", "AXIS_ANGLE"])
def test_an_object_is_where_blender_places_it(scene, animation, mode):
    rotation = "rotation_" + {"QUATERNION": "quaternion", "AXIS_ANGLE": "axis_angle"}.get(mode, "euler")
    item = empty(scene, "Thing", 1, keyed=("location", rotation, "scale"), mode=mode)
    item.delta_location = (1, 2, 3)
    item.delta_scale = (1, 2, 0.5)
    item.delta_rotation_euler = (0.4, 0.1, -0.2)
    item.delta_rotation_quaternion = Euler((0.4, 0.1, -0.2)).to_quaternion()
    assert np.abs(animation.sampling.transforms.TransformSampler(FRAMES).matrices(item) - seen(item)).max() < 1e-5


def test_parents_count_with_their_inverses(scene, animation):
    parent, child, leaf = (empty(scene, name, seed) for seed, name in enumerate(("Parent", "Child", "Leaf")))
    parent.scale = (2, 0.5, 1)
    parent.animation_data.action.name = "Parent action"
    child.parent, leaf.parent = parent, child
    child.matrix_parent_inverse = Matrix.LocRotScale((1, 2, 3), Euler((0.5, 1, 2)), (1, 2, 0.5))
    leaf.matrix_parent_inverse = Matrix.Rotation(1.0, 4, "X")
    assert np.abs(animation.sampling.transforms.TransformSampler(FRAMES).matrices(leaf) - seen(leaf)).max() < 1e-4


def test_bones_of_a_moved_armature_are_where_blender_places_them(rig, animation):
    for bone in ("hip", "arm", "hand"):
        assert (
            np.abs(animation.sampling.transforms.TransformSampler(FRAMES).matrices(rig, bone) - seen(rig, bone)).max()
            < 1e-4
        )
    rig.data.pose_position = "REST"
    assert (
        np.abs(animation.sampling.transforms.TransformSampler(FRAMES).matrices(rig, "hand") - seen(rig, "hand")).max()
        < 1e-4
    )


def test_an_object_parented_to_a_bone_goes_with_its_tail(scene, rig, animation):
    item = empty(scene, "Held", 3)
    item.parent, item.parent_type, item.parent_bone = rig, "BONE", "arm"
    item.matrix_parent_inverse = Matrix.Translation((0.1, 0.2, 0.3))
    assert np.abs(animation.sampling.transforms.TransformSampler(FRAMES).matrices(item) - seen(item)).max() < 1e-4


def test_values_used_instead_of_curves_leave_the_values_of_curves_as_they_are(scene, animation):
    item = empty(scene, "Thing", 1)
    sampler = animation.sampling.transforms.TransformSampler(FRAMES)
    expected = sampler.matrices(item).copy()
    moved = {(item.session_uid, "rotation_euler"): np.tile((0.0, 0.0, math.pi / 2), (len(FRAMES), 1))}
    assert np.abs(sampler.with_moved(moved).rotation(item) - (math.sqrt(0.5), 0, 0, math.sqrt(0.5))).max() < 1e-12
    assert (sampler.with_moved({}).matrices(item) == expected).all()


def test_muted_channels_move_nothing(scene, animation, tcb_animation):
    item = empty(scene, "Thing", 1)
    for fcurve in tcb_animation.animation.fcurves.channels.channels_of(item):
        fcurve.mute = fcurve.data_path == "location"
    assert np.abs(animation.sampling.transforms.TransformSampler(FRAMES).matrices(item) - seen(item)).max() < 1e-5


def constrained(scene, target):
    item = new_object("Led")
    constraint = item.constraints.new("COPY_TRANSFORMS")
    constraint.target = target
    return item


def test_what_is_moved_otherwise_is_named(scene, rig, animation):
    item = constrained(scene, rig)
    child = empty(scene, "Child", 1)
    child.parent = item
    driven = empty(scene, "Driven", 2)
    driven.driver_add("location", 0).driver.expression = "frame"
    stacked = empty(scene, "Stacked", 3)
    stacked.animation_data.nla_tracks.new()
    rig.pose.bones["hip"].constraints.new("LIMIT_ROTATION")
    for thing, bone, reason in (
        (child, "", "Led has constraints"),
        (driven, "", "Driven has drivers"),
        (stacked, "", "Stacked has NLA tracks"),
        (rig, "hand", "hip has constraints"),
    ):
        with pytest.raises(animation.sampling.transforms.UnknownMotionError) as caught:
            animation.sampling.transforms.TransformSampler(FRAMES).matrices(thing, bone)
        assert str(caught.value) == reason


def test_stepping_places_what_constraints_and_drivers_move(scene, rig, animation):
    item = constrained(scene, rig)
    item.driver_add("delta_location", 0).driver.expression = "frame / 10"
    expected = seen(item), seen(rig, "hand")
    rig.location = (99, 99, 99)  # posed, not keyed
    seconds = []
    present = [len(bpy.app.handlers.frame_change_pre), len(bpy.app.handlers.frame_change_post)]
    for handlers in (bpy.app.handlers.frame_change_pre, bpy.app.handlers.frame_change_post):
        handlers.append(lambda *_: seconds.append(1))
    things = [(item.session_uid, ""), (rig.session_uid, "hand")]
    stepping = animation.sampling.depsgraph.DepsgraphSampler(things, FRAMES)
    rounds = 0
    while not stepping.is_done:
        stepping.advance({each.session_uid: each for each in (item, rig)}, scene, 0.0)
        rounds += 1
    for handlers in (bpy.app.handlers.frame_change_pre, bpy.app.handlers.frame_change_post):
        assert len(handlers) == present.pop(0) + 1
        handlers.pop()
    for thing, matrices in zip(things, expected, strict=True):
        assert np.abs(stepping.matrices(thing) - matrices).max() < 1e-5
    assert rounds == len(FRAMES)
    assert tuple(rig.location) == (99, 99, 99)
    assert not seconds
    assert [each.name for each in bpy.data.scenes] == ["Scene"]
    assert {item.session_uid, rig.session_uid, rig.animation_data.action.session_uid} <= stepping.dependencies


def follow_frame(item, scene, path="frame_current"):
    """Add a driver that reads the current frame of a scene as a property."""
    driver = item.driver_add("location", 2).driver
    driver.expression = "now"
    variable = driver.variables.new()
    variable.name = "now"
    target = variable.targets[0]
    target.id_type, target.id, target.data_path = "SCENE", scene, path


@pytest.mark.parametrize(("path", "frames"), [("frame_current", [1, 5, 10]), ("frame_current_final", [1, 5.25, 10.5])])
def test_stepping_lets_drivers_read_the_frame_of_the_scene(scene, animation, path, frames):
    item, child = empty(scene, "Driven", 1, keyed=("rotation_euler", "scale")), empty(scene, "Child", 2)
    follow_frame(item, scene, path)
    child.parent = item
    scene.frame_set(3, subframe=0.5)
    child.location = (99, 99, 99)  # posed, not keyed
    bpy.context.view_layer.update()
    things = [(item.session_uid, ""), (child.session_uid, "")]
    stepping = animation.sampling.depsgraph.DepsgraphSampler(things, np.array(frames))
    while not stepping.is_done:
        stepping.advance({each.session_uid: each for each in (item, child)}, scene, 0.0)
    bpy.context.view_layer.update()
    assert (scene.frame_current, scene.frame_subframe) == (3, 0.5)
    assert tuple(child.location) == (99, 99, 99)
    assert [each.name for each in bpy.data.scenes] == ["Scene"]
    assert stepping.matrices(things[0])[:, 2, 3] == pytest.approx(frames)
    for index, frame in enumerate(frames):
        scene.frame_set(int(frame), subframe=frame % 1)
        for thing, each in zip(things, (item, child), strict=True):
            assert np.abs(stepping.matrices(thing)[index] - np.array(each.matrix_world)).max() < 1e-5


def test_stepping_leaves_the_frames_of_other_scenes_alone(scene, animation):
    """Scenes that are not playing keep their current frame."""
    other = bpy.data.scenes.new("Other")
    other.frame_set(7)
    item = empty(scene, "Driven", 1, keyed=("rotation_euler",))
    follow_frame(item, other)
    placed = animation.sampling.depsgraph.world_matrices(scene, item, "", np.array([1.0, 5.0, 10.0]))
    assert placed[:, 2, 3].tolist() == [7, 7, 7] == [each[2, 3] for each in seen(item)[:3]]
    assert other.frame_current == 7


def traced(pictures, item, bone="", **choices):
    trace = pictures.path_geometry.Trace(
        **{"point": "ORIGIN", "axis": "Z", "length": 1.0, "start": 1, "end": 50} | choices
    )
    planned = pictures.path_geometry.plan_path(item, bone, trace)
    world = pictures.path_cache.ExactSampler(planned.frames, {})
    tail = item.pose.bones[bone].bone.length if bone else 0.0
    return pictures.path_geometry.sampled_path(planned, planned.frames, world.matrices(item, bone), trace, tail)


def test_a_dot_stands_at_every_frame_and_a_key_where_the_animator_set_one(scene, pictures):
    item = empty(scene, "Thing", 1)
    path = traced(pictures, item)
    matrices = seen(item)
    assert np.abs(path.points - matrices[:, :3, 3]).max() < 1e-5
    assert np.abs(path.keys - matrices[[0, 12, 29, 49], :3, 3]).max() < 1e-5


def test_keys_of_a_strip_in_tweak_mode_are_where_it_plays_them(scene, pictures):
    item = new_object("Thing")
    for frame, x in ((1, -2.5), (12, -1.0), (28, 0.5)):
        item.location = (x, 0.0, 0.0)
        item.keyframe_insert("location", frame=frame)
    strip = push_down(item)
    strip.frame_start, strip.scale = 5.0, 1.5
    tweak(item)
    trace = pictures.path_geometry.Trace("ORIGIN", "Z", 1.0, 1, 50)
    planned = pictures.path_geometry.plan_path(item, "", trace)
    # The strip plays frame 1 of its action at frame 5.
    assert planned.key_frames == pytest.approx([5.0, 21.5, 45.5])
    sampler = pictures.path_cache.DepsgraphSampler([(item.session_uid, "")], planned.frames)
    sampler.advance({item.session_uid: item}, scene, 60.0)
    matrices = sampler.matrices((item.session_uid, ""))
    path = pictures.path_geometry.sampled_path(planned, sampler.frames, matrices, trace, 0.0)
    assert path.keys[:, 0] == pytest.approx([-2.5, -1.0, 0.5], abs=1e-5)


def test_tangents_are_those_of_the_tcb_spline(scene, pictures, tcb_animation):
    item = empty(scene, "Thing", 4, keyed=("location",))
    animation = tcb_animation.animation
    animation.enable(item, keep_look=False)
    animation.key_set(item, "location", 13, tension=-0.5, continuity=0.4, bias=0.6)
    animation.bake(item, output="CURVES")
    frames = [1.0, 13.0, 30.0, 50.0]
    path = traced(pictures, item)
    assert path.keys.shape == (4, 3)
    values = path.keys.astype(float)
    spline = tcb_animation.interp.tcb.VectorSpline(
        tcb_animation.interp.Keys(
            frames, values, tension=[0, -0.5, 0, 0], continuity=[0, 0.4, 0, 0], bias=[0, 0.6, 0, 0]
        )
    )
    size = float(np.linalg.norm(path.tangents[1][1]))
    # The error of differences over one frame on a cubic is due to the third derivative.
    assert path.tangents[1][1] == pytest.approx(spline(13.0, nu=1) * 17 / 3, abs=0.02 * size)
    assert path.tangents[0][1] == pytest.approx(-spline(13.0 - 1e-9, nu=1) * 12 / 3, abs=0.02 * size)
    assert not path.tangents[0][0].any()
    assert not path.tangents[1][3].any()
    animation.bake(item)
    assert np.abs(traced(pictures, item).tangents[1] - path.tangents[1]).max() < 0.02 * size


def test_speed_is_how_far_it_goes_in_a_frame(scene, pictures):
    item = new_object("Even")
    for frame, place in ((1, 0.0), (51, 100.0)):
        item.location = (place, 0.0, 0.0)
        item.keyframe_insert("location", frame=frame)
    action = item.animation_data.action
    for fcurve in action.fcurves if bpy.app.version < (4, 4) else action.layers[0].strips[0].channelbags[0].fcurves:
        for point in fcurve.keyframe_points:
            point.interpolation = "LINEAR"
    assert traced(pictures, item).speeds == pytest.approx(np.full(50, 2.0), abs=1e-4)


def test_the_tip_of_an_axis_shows_a_rotation(scene, pictures):
    item = new_object("Hand of a clock", "XYZ")
    item.scale = (3, 3, 3)
    for frame, angle in ((1, 0.0), (26, math.pi / 4), (50, math.pi / 2)):
        item.rotation_euler = (0.0, 0.0, angle)
        item.keyframe_insert("rotation_euler", frame=frame)
    path = traced(pictures, item, point="AXIS", axis="-X", length=2.0)
    assert np.linalg.norm(path.points, axis=1) == pytest.approx(np.full(50, 2.0))
    assert path.keys[[0, 2]] == pytest.approx(np.array([[-2.0, 0.0, 0.0], [0.0, -2.0, 0.0]]), abs=1e-6)
    assert len(traced(pictures, item).keys) == 0


def test_a_bones_tail_is_where_blender_has_it(rig, pictures):
    scene = bpy.context.scene
    tails = []
    for frame in FRAMES:
        scene.frame_set(int(frame))
        tails.append(np.array(rig.matrix_world @ rig.pose.bones["arm"].tail))
    assert np.abs(traced(pictures, rig, "arm", point="TAIL").points - tails).max() < 1e-4
    assert len(traced(pictures, rig, "arm", point="TAIL").keys) == 3


@pytest.fixture
def overlay(scene, pictures):
    """The overlay, turned on, without stored paths."""
    pictures.paths_in_viewport.path_cache.clear()
    bpy.context.window_manager.tcb_show_paths = True
    yield pictures.paths_in_viewport
    pictures.paths_in_viewport.path_cache.clear()


def kept(overlay, item, bone=""):
    """Return the path that the overlay keeps for the object or bone, as if it had been drawn."""
    wanted = (item.session_uid, bone), overlay.trace_of(bpy.context.scene)
    overlay.path_cache._request(wanted)
    while overlay.path_cache._work() is not None:
        pass
    return overlay.path_cache.state.paths[wanted]


def test_a_path_that_was_stepped_is_out_of_date_when_a_constraints_target_changes(scene, overlay, rig):
    item = constrained(scene, rig)
    path = kept(overlay, item)
    assert path.stepping_reason == "Led has constraints"
    assert np.abs(path.path.points[: len(FRAMES)] - seen(item)[:, :3, 3]).max() < 1e-5
    rig.scale = (2, 2, 2)
    bpy.context.view_layer.update()
    assert path.is_stale


def test_things_that_are_gone_are_left_out(scene, overlay):
    item = empty(scene, "Gone", 1)
    wanted = (item.session_uid, ""), overlay.trace_of(scene)
    overlay.path_cache._request(wanted)
    bpy.data.objects.remove(item)
    assert overlay.path_cache._work() is None
    assert not overlay.path_cache.state.paths
    assert not overlay.path_cache.state.has_failed


def test_what_goes_wrong_while_drawing_is_said_once(overlay, capfd):
    for _ in range(3):
        overlay.draw_viewport()  # in no viewport
    assert capfd.readouterr().err.count("Traceback") == 1
    bpy.context.window_manager.tcb_show_paths = True
    assert not overlay.path_cache.state.has_failed


def test_a_part_of_a_path_has_its_own_points_and_keys_alone(scene, overlay):
    item = empty(scene, "Thing", 3, keyed=("location",))
    path = kept(overlay, item).path
    part = path.within(10, 30)
    assert (part.start, len(part.points), len(part.speeds)) == (10, 21, 21)
    assert (part.points == path.points[9:30]).all()
    assert part.frames.tolist() == [13.0, 30.0]
    assert (part.keys == path.keys[1:3]).all()
    assert (part.tangents == path.tangents[:, 1:3]).all()
    assert (part.reach == path.reach[:, 1:3]).all()
    for first, last, points in ((-5, 0, 0), (-5, 3, 3), (250, 400, 1), (251, 400, 0)):
        assert len(path.within(first, last).points) == points


def test_numbers_stand_at_every_so_many_frames_but_where_a_key_has_its_own(scene, overlay):
    item = empty(scene, "Thing", 3, keyed=("location",))
    part = kept(overlay, item).path.within(8, 41)
    assert part.frames_every(10).tolist() == [10, 20, 40]
    assert part.frames_every(13).tolist() == [26, 39]
    assert part.frames_every(0).tolist() == []


def test_the_tab_has_the_switch_and_the_settings(scene, overlay, pictures):
    layout = bpy.context.window_manager.popmenu_begin__internal("paths").layout
    panel = pictures.path_tool.TCB_PT_paths
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    with bpy.context.temp_override(window=window, area=area, region=area.regions[-1]):
        panel.draw_header(SimpleNamespace(layout=layout), bpy.context)
        panel.draw(SimpleNamespace(layout=layout), bpy.context)
    shown = str(layout.introspect())
    assert shown.count("tcb_show_paths") == 1
    assert "TCBPaths.axis" not in shown
    for name in ("point", "frames", "playhead", "numbers", "every", "tangents", "by_speed", "around"):
        assert f"TCBPaths.{name}" in shown
    for prop in scene.tcb_paths.bl_rna.properties:
        assert prop.description or prop.identifier in ("rna_type", "name")


def test_viewports_with_different_paths_do_not_compute_them_again(scene, overlay, monkeypatch):
    cache, trace = overlay.path_cache, overlay.trace_of(scene)
    many = [((new_object(f"Object {number}").session_uid, ""), trace) for number in range(70)]
    one = [((new_object("Other").session_uid, ""), trace)]
    while cache.state.has_requests or len(cache.state.paths) < len(many):
        cache.update(many)
    before = dict(cache.state.paths)
    cache.update(one)
    again = cache.update(many)
    assert len(again) == len(many)
    assert all(path is before[request] for request, path in again.items())
    monkeypatch.setattr(cache, "_KEPT", 0.0)
    cache.update(one)
    assert len(cache.state.paths) == 1 + cache._MAX_OTHERS


def test_only_the_path_that_an_edit_reaches_is_computed_anew(rig, overlay, animation):
    bpy.context.scene.tcb_paths.point = "ORIGIN"
    bpy.ops.object.mode_set(mode="OBJECT")
    bones = ("hip", "arm", "hand")

    def again():
        before = {
            bone: overlay.path_cache.state.paths[(rig.session_uid, bone), overlay.trace_of(bpy.context.scene)]
            for bone in bones
        }
        bpy.context.view_layer.update()
        overlay.path_cache._on_update(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
        paths = [kept(overlay, rig, bone) for bone in bones]
        assert not any(each.is_stale for each in paths)
        return [bone for bone, each in zip(bones, paths, strict=True) if each is not before[bone]]

    for bone in bones:
        kept(overlay, rig, bone)
    fcurves = {f.data_path + str(f.array_index): f for f in animation.fcurves.channels.channels_of(rig)}
    point = fcurves['pose.bones["arm"].location0'].keyframe_points[1]
    assert again() == []
    for change, reached in (
        (lambda: setattr(point, "co", (20, 3)), ["arm", "hand"]),
        (lambda: setattr(point, "interpolation", "LINEAR"), ["arm", "hand"]),
        (lambda: setattr(fcurves["location1"].keyframe_points[1], "co", (50, 2)), list(bones)),
        (lambda: setattr(fcurves['pose.bones["hand"].scale1'], "mute", True), ["hand"]),
        (lambda: setattr(rig.pose.bones["hand"], "scale", (1, 2, 1)), ["hand"]),
        (lambda: setattr(rig, "delta_location", (0, 0, 1)), list(bones)),
        (lambda: setattr(rig.data, "pose_position", "REST"), list(bones)),
        (lambda: setattr(rig.data, "pose_position", "POSE"), list(bones)),
        (lambda: setattr(rig.data.bones["hand"], "inherit_scale", "NONE"), ["hand"]),
        (lambda: setattr(rig.data.bones["hand"], "inherit_scale", "FULL"), ["hand"]),
        (lambda: bpy.context.scene.frame_set(7), []),
    ):
        change()
        rig.animation_data.action.update_tag()
        assert again() == reached
    bpy.context.scene.frame_end = 50
    for bone in bones:
        assert np.abs(kept(overlay, rig, bone).path.points - seen(rig, bone)[:, :3, 3]).max() < 1e-4


@pytest.mark.parametrize("has_action", [False, True])
def test_a_path_is_computed_anew_when_a_script_keys_an_object_first_or_clears_its_animation(scene, overlay, has_action):
    item = new_object("Thing", "XYZ")
    if has_action:
        bag_of(item)
    bpy.context.view_layer.update()

    def check():
        bpy.context.view_layer.update()
        overlay.path_cache._on_update(scene, bpy.context.evaluated_depsgraph_get())
        path = overlay.path_cache.state.paths[(item.session_uid, ""), overlay.trace_of(scene)]
        assert path.is_stale
        points = kept(overlay, item).path.points
        overlay.path_cache.clear()
        assert (points == kept(overlay, item).path.points).all()

    path = kept(overlay, item)
    if has_action:
        assert item.animation_data.action.session_uid in path.dependencies
    key(item, "location", [(1, (0, 0, 0)), (30, (5, 2, 1))])
    check()
    key(item, "location", [(50, (1, 2, 3))])
    check()
    item.animation_data_clear()
    check()


def test_the_path_of_a_b_spline_is_exact_before_a_bake(scene, overlay, animation):
    scene.frame_end = 50
    parent = empty(scene, "Parent", 1, keyed=("location",))
    child = new_object("Child")
    child.parent = parent
    animation.enable(parent, keep_look=False)
    animation.choose(parent, "location", method="B_SPLINE")
    points = [kept(overlay, item).path.points for item in (parent, child)]
    animation.bake(parent)
    for item, before in zip((parent, child), points, strict=True):
        assert np.abs(before - seen(item)[:, :3, 3]).max() < 1e-5


def test_a_path_is_computed_anew_when_its_exact_motion_changes_and_only_then(scene, overlay, animation):
    scene.frame_end = 70
    item, other = (empty(scene, name, seed, keyed=("location",)) for seed, name in enumerate(("Off", "Other")))
    for each in (item, other):
        animation.enable(each, keep_look=False)
    paths = {each: kept(overlay, each) for each in (item, other)}
    frame_functions = []

    def retime(owner, track=""):
        frame_functions.append(animation.retime(owner, "REVERSE", track=track).curve)

    def shown_again():
        """Return the objects whose paths are computed anew on the next redraw."""
        bpy.context.view_layer.update()
        before, trace, cached = dict(paths), overlay.trace_of(scene), overlay.path_cache.state.paths
        for each in paths:
            if before[each].is_stale or ((each.session_uid, ""), trace) not in cached:
                paths[each] = kept(overlay, each)
        return [each for each in paths if paths[each] is not before[each]]

    assert shown_again() == []
    for change, reached in (
        (lambda: setattr(scene.tcb.defaults, "bias", 0.5), [item, other]),
        (lambda: animation.key_set(item, "location", 13, tension=-1), [item]),
        (lambda: animation.choose(item, "location", method="B_SPLINE"), [item]),
        (lambda: animation.choose(item, "location", cycle="REPEAT"), [item]),
        (lambda: retime(item, "location"), [item]),
        (lambda: setattr(frame_functions[0].keyframe_points[0], "co", (1, 30)), [item]),
        (lambda: animation.remove_retiming(item, track="location"), [item]),
        (lambda: retime(scene), [item, other]),
        (lambda: setattr(frame_functions[1].keyframe_points[0], "co", (1, 30)), [item, other]),
        (lambda: setattr(frame_functions[1], "mute", True), [item, other]),
        (lambda: setattr(frame_functions[1], "mute", False), [item, other]),
        (lambda: (animation.bake(other), animation.restore(other)), [other]),
        (lambda: animation.choose(other, "location", method="B_SPLINE"), []),
    ):
        points = {each: paths[each].path.points for each in reached}
        change()
        assert shown_again() == reached
        for each, before in points.items():
            assert np.abs(paths[each].path.points - before).max() > 0.01


def test_marks_tell_what_a_parent_plays_where_its_bone_is_gone_and_along_a_curve(rig, overlay) -> None:
    bpy.ops.object.mode_set(mode="OBJECT")
    held = new_object("Held")
    held.parent, held.parent_type, held.parent_bone = rig, "BONE", "gone"
    before = overlay.path_cache.Fingerprints().of(held)
    rig.delta_location = (5, 0, 0)
    assert overlay.path_cache.Fingerprints().of(held) != before
    before = overlay.path_cache.Fingerprints().of(held)
    held.matrix_parent_inverse = Matrix.Translation((0, 0, 1))
    assert overlay.path_cache.Fingerprints().of(held) != before
    curve = bpy.data.curves.new("Way", "CURVE")
    curve.use_path = False
    way = new_object("Way", data=curve)
    held.parent, held.parent_type = way, "OBJECT"
    before = overlay.path_cache.Fingerprints().of(held)
    curve.use_path = True
    assert overlay.path_cache.Fingerprints().of(held) != before


def test_numbers_on_a_path_do_not_overlap(overlay) -> None:
    beside = np.stack((np.arange(60) * 13.0, np.zeros(60)), axis=1)
    above, drawn = np.array((0.0, 1.0)), overlay.NumbersOnScreen(1.0)
    assert drawn.add(beside) == list(range(0, 60, 2))
    # Numbers of another path, 11 pixels above, would overlap. Numbers 12 pixels above the others do not.
    assert drawn.add(beside + 11.0 * above) == []
    assert drawn.add(beside + 12.0 * above) == list(range(0, 60, 2))
    # Points behind the view have no number.
    beside[::2] = np.nan
    assert overlay.NumbersOnScreen(1.0).add(beside) == list(range(1, 60, 2))
