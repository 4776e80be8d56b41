# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys moved on a path, compared with the positions in Blender."""

from __future__ import annotations

from importlib import import_module

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion

from tests.all_pairs import each_once
from tests.animation.action_users import linked
from tests.animation.curves import (
    MODES,
    bags_in,
    bits,
    copy_with_action,
    curve,
    fcurves,
    key,
    new_object,
    new_rig,
    rotation_path,
    snapshot,
    track_keys,
)
from tests.animation.rotations import values_of

NEAR = 1e-5


@pytest.fixture
def on_path(animation):
    for name in ("path_keys", "drag_point", "drag_tangent"):
        import_module(f"{animation.__name__}.on_path.{name}")
    return animation.on_path


@pytest.fixture
def spot(scene, on_path):
    """A function spot(item, frame, bone, point) that returns the path's key."""

    def made(item, frame, bone="", point="ORIGIN", axis="Z", length=1.0):
        return on_path.path_keys.Spot(scene, item, bone, on_path.path_keys.Followed(point, axis, length), frame)

    return made


def position_of(on_path, spot, held):
    """Return the world position of a path's point at the key's frame."""
    return on_path.drag_point.PointInWorld(spot, held.track).now()


def moved_to(on_path, spot, target):
    """Drag a path's point at a key to a world position, and return the resulting position."""
    held = on_path.drag_point.movable_point(spot)
    held.move_to(np.asarray(target, dtype=np.float64))
    return position_of(on_path, spot, held)


def seen(item, frame, bone="", arm=(0.0, 0.0, 0.0)):
    """Return the world position of a local point in Blender."""
    bpy.context.scene.frame_set(frame)
    placed = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = placed.matrix_world @ placed.pose.bones[bone].matrix if bone else placed.matrix_world
    return np.array(matrix @ Matrix.Translation(arm))[:3, 3]


def record(animation, item):
    """Return the tracks of the object as recorded by a drag, and the module."""
    module = import_module(f"{animation.__name__}.edit.keys")
    tracks = [
        animation.find_track(item, path)
        for path in ("location", "rotation")
        if any(each.data_path.startswith(path) for each in fcurves(item))
    ]
    return module, module.record_tracks((item, track) for track in tracks)


def everything(item):
    """Return all keys of the object, and its table, bit for bit."""
    table = item.animation_data.action.get("tcb_animation")
    return snapshot(item), table and table.to_dict()


def go_live(animation, item, **options):
    animation.enable(item, keep_look=False)
    animation.bake(item, **options or {"output": "HANDLES"})
    item.animation_data.action.tcb_live = True


def moving(name="Thing", mode="XYZ"):
    item = new_object(name, mode)
    key(item, "location", [(1, (0, 0, 0)), (20, (4, 1, 2)), (50, (0, 3, 0))])
    return item


def under_parents(item):
    """Parent the item to a moving, rotating object below an unevenly scaled parent, so that it is sheared."""
    above, parent = new_object("Above"), new_object("Parent", "ZYX")
    above.scale, above.rotation_euler = (2, 0.5, 1.5), (0.3, 0.2, 1.0)
    key(parent, "rotation_euler", [(1, (0, 0, 0)), (30, (1, -1, 2))])
    key(parent, "location", [(1, (1, 0, 0)), (40, (0, 2, 2))])
    parent.parent, item.parent = above, parent
    item.matrix_parent_inverse = Matrix.LocRotScale((1, 2, 3), Euler((0.5, 1, 2)), (1, 2, 0.5))


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("parents", [False, True])
def test_a_location_key_goes_where_it_is_dragged(scene, on_path, animation, spot, parents, live):
    item = moving()
    if parents:
        under_parents(item)
    if live:
        go_live(animation, item)
    other = seen(item, 1), seen(item, 50)
    wanted = seen(item, 20) + np.array((0.7, -1.3, 0.4))
    found = moved_to(on_path, spot(item, 20), wanted)
    assert np.abs(seen(item, 20) - wanted).max() < NEAR
    assert np.abs(found - wanted).max() < NEAR
    assert np.abs(np.array(other) - (seen(item, 1), seen(item, 50))).max() == 0.0
    if live:
        assert animation.store.up_to_date.is_up_to_date(animation.find_track(item, "location"))


def test_a_constraint_is_met_as_blender_evaluates_it(scene, on_path, spot):
    item, other = moving(), new_object("Other")
    other.location = (3, -2, 1)
    half = item.constraints.new("COPY_LOCATION")
    half.target, half.influence = other, 0.5
    wanted = seen(item, 20) + np.array((0.2, 0.3, -0.4))
    moved_to(on_path, spot(item, 20), wanted)
    assert np.abs(seen(item, 20) - wanted).max() < NEAR
    limit = item.constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x = True, wanted[0] + 0.5
    moved_to(on_path, spot(item, 20), wanted + np.array((2, 1, 1)))
    assert np.abs(seen(item, 20) - (wanted + np.array((0.5, 1, 1)))).max() < 1e-4


def test_a_baked_key_under_a_constraint_goes_where_it_is_dragged(scene, on_path, animation, spot):
    item, other = moving(), new_object("Other")
    go_live(animation, item, output="SAMPLES")
    half = item.constraints.new("COPY_LOCATION")
    half.target, half.influence = other, 0.5
    wanted = seen(item, 20) + np.array((0.2, 0.3, -0.4))

    def state():
        # Rows that no key has any more stay until the file is saved.
        keys, table = everything(item)
        return keys, {name: value for name, value in table.items() if name not in ("rows", "stamp")}

    before = state()
    held = on_path.drag_point.movable_point(spot(item, 20))
    assert state() == before
    held.move_to(wanted)
    assert np.abs(seen(item, 20) - wanted).max() < NEAR
    assert animation.store.up_to_date.is_up_to_date(animation.find_track(item, "location"))


def test_only_what_is_keyed_and_not_locked_moves(scene, on_path, spot, animation):
    item = new_object()
    item.location = (1, 2, 3)
    for index in (0, 2):
        item.keyframe_insert("location", index=index, frame=10)
    item.lock_location[2] = True
    moved_to(on_path, spot(item, 10), (5, 5, 5))
    assert seen(item, 10).tolist() == [5, 2, 3]
    item.lock_location[0] = True
    with pytest.raises(animation.AnimationError, match="locked"):
        moved_to(on_path, spot(item, 10), (6, 5, 5))
    with pytest.raises(animation.AnimationError, match="no key at this frame"):
        moved_to(on_path, spot(item, 11), (6, 5, 5))


@pytest.fixture
def rig(scene):
    """Return a rig with location, rotation and scale, and a chain of two bones. The second bone is connected."""
    rig = new_rig("hip")
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    bones["hip"].head, bones["hip"].tail, bones["hip"].roll = (0, 0, 1), (0, 0.5, 2), 0.4
    for name, parent, tail, connect in (("arm", "hip", (2, 0, 2.5), True), ("free", "arm", (3, 1, 2), False)):
        bone = bones.new(name)
        bone.parent = bones[parent]
        bone.head, bone.tail = bones[parent].tail, tail
        bone.use_connect, bone.roll = connect, 0.3
    bpy.ops.object.mode_set(mode="POSE")
    rig.rotation_euler, rig.scale = (0.3, 0.4, 0.5), (1.2, 1.2, 1.2)
    key(rig, "location", [(1, (0, 0, 0)), (50, (5, -3, 1))])
    return rig


def turn(rig, bone, mode):
    path = rotation_path(mode)
    rig.pose.bones[bone].rotation_mode = mode
    values = [(1, (0.2, 0.4, -0.3)), (20, (1.0, 0.3, 0.5)), (50, (-0.4, 0.1, 0.9))]
    numbers = {"QUATERNION": lambda e: Euler(e).to_quaternion(), "AXIS_ANGLE": lambda e: (e[0], *e)}
    convert = numbers.get(mode, lambda e: e)
    key(rig, f'pose.bones["{bone}"].{path}', [(frame, tuple(convert(value))) for frame, value in values])


@pytest.mark.parametrize("mode", MODES)
def test_the_tip_of_a_bone_that_turns_follows(rig, on_path, spot, mode):
    turn(rig, "hip", "XYZ")
    turn(rig, "arm", mode)
    length = rig.data.bones["arm"].length
    head, tip = seen(rig, 20, "arm"), seen(rig, 20, "arm", (0, length, 0))
    random = np.random.default_rng(7)
    path = f'pose.bones["arm"].{rotation_path(mode)}'
    for _ in range(5):
        away = random.normal(size=3)
        wanted = head + away * np.linalg.norm(tip - head) / np.linalg.norm(away)
        moved_to(on_path, spot(rig, 20, "arm", "TAIL"), wanted)
        assert np.abs(seen(rig, 20, "arm", (0, length, 0)) - wanted).max() < NEAR
        assert np.abs(seen(rig, 20, "arm") - head).max() < 1e-6
    # If the target is out of reach, the point comes as close as possible.
    moved_to(on_path, spot(rig, 20, "arm", "TAIL"), head + 3 * (wanted - head))
    assert np.abs(seen(rig, 20, "arm", (0, length, 0)) - wanted).max() < NEAR
    assert [point.co.x for point in curve(rig, path).keyframe_points] == [1, 20, 50]


def test_the_turn_is_the_shortest_and_angles_do_not_jump(rig, on_path, spot):
    turn(rig, "arm", "XYZ")
    length = rig.data.bones["arm"].length
    bone = rig.pose.bones["arm"]
    bpy.context.scene.frame_set(20)
    before = (rig.matrix_world @ bone.matrix).to_quaternion()
    head, tip = seen(rig, 20, "arm"), seen(rig, 20, "arm", (0, length, 0))
    axis = np.cross(tip - head, (0, 0, 1))
    turned = np.array(Matrix.Rotation(0.2, 3, axis)) @ (tip - head)
    moved_to(on_path, spot(rig, 20, "arm", "TAIL"), head + turned)
    bpy.context.scene.frame_set(20)
    after = (rig.matrix_world @ bone.matrix).to_quaternion()
    assert (after @ before.inverted()).angle == pytest.approx(0.2, abs=1e-4)
    angles = [curve(rig, 'pose.bones["arm"].rotation_euler', index).evaluate(20) for index in range(3)]
    assert np.abs(np.array(angles) - (1.0, 0.3, 0.5)).max() < 0.5


def test_one_keyed_angle_brings_the_tip_as_near_as_it_can(rig, on_path, spot):
    bone = rig.pose.bones["arm"]
    bone.rotation_mode = "XYZ"
    bone.rotation_euler = (0.3, 0.2, 0.1)
    bone.keyframe_insert("rotation_euler", index=0, frame=20)
    length = rig.data.bones["arm"].length
    wanted = seen(rig, 20, "arm", (0, length, 0)) + np.array((0.5, -0.2, 0.4))
    moved_to(on_path, spot(rig, 20, "arm", "TAIL"), wanted)
    angle = bone.rotation_euler.x
    least = np.linalg.norm(seen(rig, 20, "arm", (0, length, 0)) - wanted)
    fcurve = curve(rig, 'pose.bones["arm"].rotation_euler')
    for other in np.linspace(-np.pi, np.pi, 41):
        fcurve.keyframe_points[0].co.y = other
        rig.animation_data.action.update_tag()
        assert np.linalg.norm(seen(rig, 20, "arm", (0, length, 0)) - wanted) > least - NEAR
    assert bone.rotation_euler[1:] == pytest.approx((0.2, 0.1))
    assert angle != 0.3


def test_an_axis_of_an_object_under_a_scaled_parent_turns_to_the_mouse(scene, on_path, spot):
    item = new_object("Thing", "QUATERNION")
    key(item, "rotation_quaternion", [(1, (1, 0, 0, 0)), (20, (0.8, 0.6, 0, 0))])
    item.scale = (1, 2, 0.5)
    under_parents(item)
    origin = seen(item, 20)
    for away in np.array(((1, 2, 3), (-1, 0.3, 0.2), (0, -1, 0))):
        moved_to(on_path, spot(item, 20, point="AXIS", axis="Z", length=1.5), origin + away)
        axis = seen(item, 20, arm=(0, 0, 1)) - origin
        assert np.abs(axis / np.linalg.norm(axis) - away / np.linalg.norm(away)).max() < NEAR


def test_a_tip_under_a_constraint_comes_as_near_as_blender_lets_it(rig, on_path, spot):
    turn(rig, "arm", "QUATERNION")
    bone = rig.pose.bones["arm"]
    half = bone.constraints.new("COPY_ROTATION")
    half.target, half.subtarget, half.influence = rig, "hip", 0.3
    length = rig.data.bones["arm"].length
    head, tip = seen(rig, 20, "arm"), seen(rig, 20, "arm", (0, length, 0))
    turned = np.array(Matrix.Rotation(0.15, 3, np.cross(tip - head, (0, 0, 1)))) @ (tip - head)
    moved_to(on_path, spot(rig, 20, "arm", "TAIL"), head + turned)
    assert np.linalg.norm(seen(rig, 20, "arm", (0, length, 0)) - head - turned) < 0.1 * np.linalg.norm(
        tip - head - turned
    )


def test_a_ray_meets_the_sphere_on_the_side_of_the_tip(rig, on_path, spot):
    turn(rig, "arm", "QUATERNION")
    held = on_path.drag_point.movable_point(spot(rig, 20, "arm", "TAIL"))
    head, tip = seen(rig, 20, "arm"), seen(rig, 20, "arm", (0, rig.data.bones["arm"].length, 0))
    eye = tip + 3 * (tip - head) + (0.5, 0.2, 0.1)
    at = held.target(eye, tip - eye)
    assert np.abs(at - tip).max() < NEAR
    behind = held.target(eye, head + 0.9 * np.cross(tip - head, (1, 0, 0)) - eye)
    assert np.linalg.norm(behind - head) == pytest.approx(np.linalg.norm(tip - head), rel=1e-5)


def test_what_was_recorded_comes_back_bit_for_bit(scene, on_path, animation, spot):
    item = moving()
    go_live(animation, item)
    scene.frame_set(20)
    before = everything(item)
    module, recorded = record(animation, item)
    held = on_path.drag_point.movable_point(spot(item, 20))
    for number in range(3):
        held.move_to(np.array((1.0, 2.0, number)))
    assert everything(item) != before
    module.revert_tracks(recorded)
    assert everything(item) == before
    # Blender shows it without a frame change.
    bpy.context.view_layer.update()
    assert tuple(item.matrix_world.translation) == (4.0, 1.0, 2.0)
    assert animation.store.up_to_date.is_up_to_date(animation.find_track(item, "location"))


def velocity(item, frame, side, bone="", arm=(0.0, 0.0, 0.0)):
    """Return the velocity on one side of a frame in Blender's playback."""
    tiny = 0.1 if side == "handle_right" else -0.1
    places = []
    for step in (0.0, tiny, 2 * tiny):
        at = frame + step
        bpy.context.scene.frame_set(int(at // 1), subframe=at % 1)
        placed = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrix = placed.matrix_world @ placed.pose.bones[bone].matrix if bone else placed.matrix_world
        places.append(np.array(matrix @ Matrix.Translation(arm))[:3, 3])
    return (4 * places[1] - places[2] - 3 * places[0]) / (2 * tiny)


@pytest.mark.parametrize("side", ["handle_left", "handle_right"])
@pytest.mark.parametrize("parents", [False, True])
def test_the_end_of_a_tangent_goes_where_it_is_dragged(scene, on_path, animation, spot, side, parents, numbers):
    item = moving()
    if parents:
        under_parents(item)
    go_live(animation, item, step=0.1)
    reach, away = (19, -1.0) if side == "handle_left" else (30, 1.0)
    # Targets are tangents of other parameters, so they can be reached.
    animation.key_set(item, "location", 20, tension=-0.4, continuity=0.3, bias=-0.5)
    animation.bake(item, step=0.1)
    wanted = away * velocity(item, 20, side) * reach / 3
    animation.key_set(item, "location", 20, tension=0.0, continuity=0.0, bias=0.0)
    animation.bake(item, step=0.1)
    shown = away * velocity(item, 20, side) * reach / 3
    assert np.linalg.norm(wanted - shown) > 0.2
    held = on_path.drag_tangent.DraggedTangent(spot(item, 20), side, shown, reach, {})
    held.drag_to(wanted)
    reached = away * velocity(item, 20, side) * reach / 3
    assert np.abs(reached - wanted).max() < 2e-2 * np.linalg.norm(wanted - shown)
    assert 20 in numbers(item, "location", "tension")
    assert animation.store.up_to_date.is_up_to_date(animation.find_track(item, "location"))


def test_the_other_tangent_follows_or_stays(scene, on_path, animation, spot):
    item = moving()
    go_live(animation, item, step=0.1)
    shown, other = velocity(item, 20, "handle_right") * 10, velocity(item, 20, "handle_left")
    # With these parameters, the incoming tangent is nearly the same.
    animation.key_set(item, "location", 20, tension=-0.0989, continuity=0.3, bias=0.3)
    animation.bake(item, step=0.1)
    wanted = velocity(item, 20, "handle_right") * 10
    animation.key_set(item, "location", 20, tension=0.0, continuity=0.0, bias=0.0)
    animation.bake(item, step=0.1)
    far = np.linalg.norm(wanted - shown)
    held = on_path.drag_tangent.DraggedTangent(spot(item, 20), "handle_right", shown, 30, {})
    held.drag_to(wanted)
    assert np.linalg.norm(velocity(item, 20, "handle_right") * 10 - wanted) < 0.02 * far
    followed = velocity(item, 20, "handle_left")
    held.drag_to(wanted, alone=True)
    assert np.linalg.norm(velocity(item, 20, "handle_right") * 10 - wanted) < 0.2 * far
    assert np.linalg.norm(velocity(item, 20, "handle_left") - other) < 0.2 * np.linalg.norm(followed - other)
    held.drag_to(shown + np.cross(shown, (0, 0, 0.5)), length_only=True)
    assert np.abs(velocity(item, 20, "handle_right") * 10 - shown).max() < 1e-2


def test_what_the_eye_does_not_see_does_not_keep_a_tangent_from_the_mouse(scene, on_path, animation, spot):
    item = moving()
    go_live(animation, item, step=0.1)
    shown = velocity(item, 20, "handle_right") * 10
    held = on_path.drag_tangent.DraggedTangent(spot(item, 20), "handle_right", shown, 30, {}, np.array((0.0, 0.0, 1.0)))
    held.drag_to(shown + np.array((0.3, 0.3, 0.0)))
    reached = velocity(item, 20, "handle_right") * 10 - shown
    assert reached[:2] == pytest.approx((0.3, 0.3), abs=0.01)
    assert abs(reached[2]) > 0.05


@pytest.mark.parametrize(("mode", "point"), each_once(["QUATERNION", "XYZ", "AXIS_ANGLE"], ["TAIL", "AXIS"]))
def test_the_tangent_of_a_tip_that_turns_follows(rig, on_path, animation, spot, mode, point, numbers):
    turn(rig, "arm", mode)
    go_live(animation, rig, step=0.1)
    path = f'pose.bones["arm"].{rotation_path(mode)}'
    length = rig.data.bones["arm"].length if point == "TAIL" else 1.0 / 1.2
    arm = (0, length, 0) if point == "TAIL" else (0, 0, length)

    def end():
        return velocity(rig, 20, "handle_right", "arm", arm) * 10

    shown = end()
    animation.key_set(rig, path, 20, tension=0.6, continuity=0.3, bias=0.5)
    animation.bake(rig, step=0.1)
    wanted = end()
    animation.key_set(rig, path, 20, tension=0.0, continuity=0.0, bias=0.0)
    animation.bake(rig, step=0.1)
    assert np.linalg.norm(wanted - shown) > 0.1
    held = on_path.drag_tangent.DraggedTangent(spot(rig, 20, "arm", point), "handle_right", shown, 30, {})
    held.drag_to(wanted)
    assert np.abs(end() - wanted).max() < 0.1 * np.linalg.norm(wanted - shown)
    assert numbers(rig, path, "tension")[20] != 0.0


def test_the_tip_of_an_axis_under_an_uneven_scale_moves_as_its_derivative_says(scene, on_path, spot):
    """The displayed axis keeps its length. Its derivative decides the parameters of a dragged tangent."""
    item, q = new_object("Thing", "QUATERNION"), Quaternion((0.8, 0.6, 0, 0))
    key(item, "rotation_quaternion", [(1, (1, 0, 0, 0)), (20, tuple(q))])
    under_parents(item)
    held = on_path.drag_point.movable_point(spot(item, 20, point="AXIS", length=1.5))

    def tip():
        axis = seen(item, 20, arm=(0, 0, 1)) - seen(item, 20)
        return 1.5 * axis / np.linalg.norm(axis)

    before = tip()
    for axis, derivative in zip(np.eye(3), held.effect.T, strict=True):
        key(item, "rotation_quaternion", [(20, tuple(Quaternion(axis, 1e-3) @ q))])
        assert np.abs((tip() - before) / 1e-3 - derivative).max() < 0.01


def test_an_end_keys_tangent_follows_by_tension(scene, on_path, animation, spot, numbers):
    item = moving()
    go_live(animation, item, step=0.1)
    shown = velocity(item, 1, "handle_right") * 19 / 3
    held = on_path.drag_tangent.DraggedTangent(spot(item, 1), "handle_right", shown, 19, {})
    held.drag_to(0.5 * shown)
    assert np.abs(velocity(item, 1, "handle_right") * 19 / 3 - 0.5 * shown).max() < 0.02 * np.linalg.norm(shown)
    assert numbers(item, "location", "tension")[1] == pytest.approx(0.5, abs=0.02)
    with pytest.raises(animation.AnimationError, match="there is no other key on this side"):
        on_path.drag_tangent.DraggedTangent(spot(item, 1), "handle_left", shown, 19, {})


def test_tangents_that_parameters_do_not_decide_are_refused(scene, on_path, animation, spot):
    item = moving()
    one = np.ones(3)
    with pytest.raises(animation.AnimationError, match="not a TCB track"):
        on_path.drag_tangent.DraggedTangent(spot(item, 20), "handle_right", one, 30, {})
    go_live(animation, item, step=0.1)
    animation.key_set(item, "location", 20, ease_from=0.5)
    with pytest.raises(animation.AnimationError, match="ease"):
        on_path.drag_tangent.DraggedTangent(spot(item, 20), "handle_right", one, 30, {})
    animation.choose(item, "location", method="CATMULL_ROM")
    with pytest.raises(animation.AnimationError, match="the method"):
        on_path.drag_tangent.DraggedTangent(spot(item, 20), "handle_right", one, 30, {})


@pytest.mark.parametrize("state", ["off", "baked"])
@pytest.mark.parametrize("point", ["ORIGIN", "AXIS"])
def test_the_path_of_a_b_spline_follows_a_key_that_it_does_not_pass_through(
    scene, on_path, animation, spot, state, point
):
    item = new_object("Ball")
    path = "location" if point == "ORIGIN" else "rotation_euler"
    key(item, path, [(1, (0, 0, 0)), (12, (1, 0.3, 0)), (25, (0.5, -0.4, 1)), (40, (1, 0.2, 2)), (50, (2, 2, 2))])
    animation.enable(item, keep_look=False)
    animation.choose(item, path, method="B_SPLINE")
    if state == "baked":
        animation.bake(item)
    place = spot(item, 25, point=point)
    held = on_path.drag_point.movable_point(place)
    target = position_of(on_path, place, held) + np.array((0.1, 0.2, 0.3))
    if point == "AXIS":
        target /= np.linalg.norm(target)
    held.move_to(target)
    tip = (0, 0, 1) if point == "AXIS" else (0, 0, 0)
    near = 1e-3 if point == "AXIS" else NEAR
    assert np.abs(position_of(on_path, place, held) - target).max() < near
    animation.bake(item)
    assert np.abs(seen(item, 25, arm=tip) - target).max() < near


def test_a_key_below_a_track_that_is_off_moves_from_the_exact_motion(scene, on_path, animation, spot):
    parent, child = new_object("Parent"), moving("Child")
    key(parent, "rotation_euler", [(1, (0, 0, 0)), (12, (1, 0.3, 0)), (25, (0.5, -0.4, 1)), (50, (2, 2, 2))])
    child.parent = parent
    animation.enable(parent, keep_look=False)
    animation.choose(parent, "rotation", method="B_SPLINE")
    held = on_path.drag_point.movable_point(spot(child, 20))
    target = position_of(on_path, spot(child, 20), held) + np.array((1.0, 2.0, 3.0))
    held.move_to(target)
    animation.bake(parent)
    assert np.abs(seen(child, 20) - target).max() < NEAR


@pytest.mark.parametrize(
    ("output", "writes"), [("HANDLES", False), ("HANDLES", True), ("SAMPLES", True), ("CURVES", False), ("", True)]
)
def test_a_key_moves_in_time_between_its_neighbours(scene, on_path, animation, spot, output, writes):
    """A key that was moved in space first keeps its new values."""
    item = moving()
    if output:
        animation.enable(item, keep_look=False)
        animation.bake(item, output=output)
        item.animation_data.action.tcb_live = True
    before = seen(item, 20)
    held = on_path.drag_point.movable_point(spot(item, 20)).track
    assert held.room == (1, 50)
    if writes:
        before = np.array((5.0, -1.0, 2.0))
        held.write(before)
    for frame in (25, 40, 35):
        held.move_to(frame)
        held.play()
    assert np.abs(seen(item, 35) - before).max() < NEAR
    keys = track_keys(animation, item, "location")
    assert keys.frames.tolist() == [1, 35, 50]
    if output:
        assert animation.store.up_to_date.is_up_to_date(animation.find_track(item, "location"))
        # The result is the same as with keys that existed from the start.
        twin = new_object("Twin")
        key(twin, "location", [(1, (0, 0, 0)), (35, tuple(before)), (50, (0, 3, 0))])
        animation.enable(twin, keep_look=False)
        animation.bake(twin, output=output)
        for frame in range(1, 51, 3):
            assert np.abs(seen(item, frame) - seen(twin, frame)).max() < NEAR


@pytest.mark.parametrize("output", ["HANDLES", "SAMPLES", ""])
def test_a_key_is_made_where_the_path_is_and_deleted(scene, on_path, animation, spot, output):
    item = moving()
    if output:
        go_live(animation, item, output=output)
    before = seen(item, 30)
    on_path.path_keys.insert_key(spot(item, 30))
    assert track_keys(animation, item, "location").frames.tolist() == [1, 20, 30, 50]
    assert np.abs(seen(item, 30) - before).max() < NEAR
    on_path.path_keys.delete_key(spot(item, 20))
    on_path.path_keys.delete_key(spot(item, 50))
    on_path.path_keys.delete_key(spot(item, 30))
    assert track_keys(animation, item, "location").frames.tolist() == [1]
    with pytest.raises(animation.AnimationError, match="last key"):
        on_path.path_keys.delete_key(spot(item, 1))
    with pytest.raises(animation.AnimationError, match="no key at this frame"):
        on_path.path_keys.delete_key(spot(item, 2))


@pytest.mark.parametrize("mode", MODES)
def test_a_key_on_a_track_that_is_off_is_made_on_its_exact_motion(scene, on_path, animation, spot, mode):
    item = new_object("Ball", mode)
    turns = values_of(mode, [(1, 0, 0, 0), (0.5, 0.8, 0.1, 0), (0.3, 0.1, -0.9, 0.2)])
    key(item, rotation_path(mode), list(zip((1, 20, 50), turns, strict=True)))
    key(item, "location", [(1, (0, 0, 0)), (20, (3, 1, 2)), (50, (0, 3, 0))])
    animation.enable(item, keep_look=False)
    animation.key_set(item, "location", 20, tension=-1, bias=1)
    animation.key_set(item, "rotation", 20, tension=-1, bias=1)
    twin = copy_with_action(item)
    on_path.path_keys.insert_key(spot(item, 30, point="AXIS"))
    animation.bake_many([item, twin])
    assert np.abs(seen(item, 30, arm=(1, 2, 3)) - seen(twin, 30, arm=(1, 2, 3))).max() < NEAR
    assert track_keys(animation, item, "rotation").frames.tolist() == [1, 20, 30, 50]


def test_a_key_is_made_only_in_tracks_without_one_and_in_all_or_none(scene, on_path, animation, spot):
    item = moving()
    key(item, "rotation_euler", [(1, (0, 0, 0)), (30, (1, 0, 0)), (50, (0, 1, 0))])
    at = spot(item, 30, point="AXIS")
    on_path.path_keys.insert_key(at)
    assert track_keys(animation, item, "location").frames.tolist() == [1, 20, 30, 50]
    assert track_keys(animation, item, "rotation").frames.tolist() == [1, 30, 50]
    with pytest.raises(animation.AnimationError, match="already a key"):
        on_path.path_keys.insert_key(at)
    curve(item, "rotation_euler", 0).lock = True
    before = everything(item)
    with pytest.raises(animation.AnimationError, match="locked"):
        on_path.path_keys.insert_key(spot(item, 10, point="AXIS"))
    assert everything(item) == before


def test_keys_of_a_strip_in_tweak_mode_stay(scene, on_path, animation, spot):
    item = moving()
    action = item.animation_data.action
    strip = item.animation_data.nla_tracks.new().strips.new("Strip", 11, action)
    item.animation_data.action = None
    assert strip.frame_start == 11
    item.animation_data.nla_tracks[0].select = strip.select = True
    item.animation_data.use_tweak_mode = True
    before = snapshot(item)
    # The key at frame 20 plays at scene frame 30.
    for refused in (
        lambda: moved_to(on_path, spot(item, 30), (1, 1, 1)),
        lambda: on_path.path_keys.insert_key(spot(item, 40)),
        lambda: on_path.path_keys.keyed_tracks(spot(item, 30)),
        lambda: on_path.path_keys.delete_key(spot(item, 30)),
    ):
        with pytest.raises(animation.AnimationError, match="tweak mode"):
            refused()
    assert snapshot(item) == before


@pytest.fixture
def overridden(scene, tmp_path):
    """Return a library override of an object that moves and turns, whose action is linked."""
    item = moving()
    key(item, "rotation_euler", [(1, (0, 0, 0)), (20, (1, 0, 0)), (50, (0, 1, 0))])
    override = linked(item, tmp_path / "library.blend").override_create()
    scene.collection.objects.link(override)
    return override


def test_of_an_override_the_copy_of_its_action_is_edited_and_the_linked_one_stays(animation, on_path, spot, overridden):
    linked = overridden.animation_data.action
    assert linked.library is not None
    before = [bits(fcurve) for bag in bags_in(linked) for fcurve in bag.fcurves]
    on_path.path_keys.insert_key(spot(overridden, 30, point="AXIS"))
    on_path.path_keys.delete_key(spot(overridden, 20, point="AXIS"))
    for path in ("location", "rotation"):
        assert track_keys(animation, overridden, path).frames.tolist() == [1, 30, 50]
    assert overridden.animation_data.action.library is None
    assert [bits(fcurve) for bag in bags_in(linked) for fcurve in bag.fcurves] == before


def test_of_an_override_the_linked_action_comes_back(on_path, animation, spot, overridden):
    linked = overridden.animation_data.action
    module, recorded = record(animation, overridden)
    moved_to(on_path, spot(overridden, 20), (1, 2, 3))
    assert overridden.animation_data.action != linked
    module.revert_tracks(recorded)
    assert overridden.animation_data.action == linked
    assert list(bpy.data.actions) == [linked]


def test_a_refused_edit_of_an_override_does_not_copy_its_linked_action(scene, animation, on_path, spot, tmp_path):
    item = moving()
    across = curve(item, "location")
    for point in list(across.keyframe_points)[:0:-1]:
        across.keyframe_points.remove(point)
    override = linked(item, tmp_path / "library.blend").override_create()
    scene.collection.objects.link(override)
    (action,) = bpy.data.actions
    for refused in (
        lambda: on_path.path_keys.insert_key(spot(override, 20)),
        lambda: on_path.path_keys.delete_key(spot(override, 1)),
        lambda: moved_to(on_path, spot(override, 33), (1, 2, 3)),
        lambda: animation.edit.keys.move_keys(track_keys(animation, override, "location"), [1, 1, 1]),
    ):
        with pytest.raises(animation.AnimationError):
            refused()
        assert list(bpy.data.actions) == [action]
