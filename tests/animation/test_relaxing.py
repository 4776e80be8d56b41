# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation, measured on Blender's playback at and between frames."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from scipy import optimize

from tests.animation.action_users import linked
from tests.animation.curves import Bone, co, curve, differences, fcurves, key, new_object, new_rig, seen, snapshot

FRAMES = np.arange(1, 61.125, 0.125)


def keys_at(item, frames, *names):
    """Return the keys at these frames on the location and rotation of the object, or on the named track."""
    keys = {}
    for fcurve in fcurves(item):
        if fcurve.data_path.startswith(names or ("location", "rotation")):
            own = {point.co.x for point in fcurve.keyframe_points if point.type != "GENERATED"}
            keys[fcurve.data_path] = sorted(own.intersection(frames))
    return {item: keys}


def points(item, point=(0, 0, 0), bone="", frames=FRAMES):
    """Return the positions of a point of the object or bone in Blender, shape (frames, 3)."""
    result = []
    for frame in frames:
        placed = seen(frame, item)
        matrix = placed.matrix_world @ placed.pose.bones[bone].matrix if bone else placed.matrix_world
        result.append(matrix @ Vector(point))
    return np.array(result)


@pytest.fixture
def foot(scene):
    """Return a foot that swings from one stance to the next.

    It stands on the floor at its keys 20 and 30, but sinks by 0.22 between them, because the motion comes down and goes
    up.
    """
    scene.frame_end = 60
    item = new_object("Foot", "XYZ")
    rows = [(1, (0, 0, 3)), (20, (2, 0, 0.0)), (30, (4, 0, 0.0)), (60, (6, 0, 3))]
    key(item, "location", rows)
    key(item, "rotation_euler", [(1, (0, 0.2, 0)), (30, (0, -0.2, 0)), (60, (0, 0, 0))])
    return item


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_a_foot_that_sinks_between_two_good_keys_stands_on_the_floor_afterwards(animation, foot, output):
    animation.bake(foot, output=output, step=0.25, value_tolerance=1e-5, keep_look=False)
    before = points(foot)[:, 2]
    assert before.min() < -0.2
    assert co(curve(foot, "location", 2))[:, 1].min() <= 0
    result = animation.relax(foot, animation.StaysAbove(), keys_at(foot, [20, 30], "location"), tolerance=1e-3)
    after = points(foot)[:, 2]
    assert after.min() >= -1e-3
    assert result.before == pytest.approx(-before.min(), abs=3e-4)
    assert result.after == pytest.approx(max(0.0, -after.min()), abs=3e-4)
    assert result.after_frame == pytest.approx(FRAMES[np.argmin(after)], abs=1.0)
    # The change is no larger than necessary: the lowest point touches the floor, within the tolerance.
    assert after.min() <= 1e-3


def test_keys_that_did_not_need_to_change_are_not_counted(animation, scene):
    scene.frame_end = 60
    item = new_object("Foot", "XYZ")
    heights = zip((1, 20, 30, 40, 50, 60), (3, 0, 0, 3, 3, 3), strict=True)
    key(item, "location", [(frame, (frame, 0, height)) for frame, height in heights])
    animation.enable(item, keep_look=False)
    result = animation.relax(item, animation.StaysAbove(), keys_at(item, [20, 30, 60], "location"))
    assert result.keys == 2
    assert co(curve(item, "location", 2))[-1, 1] == 3


def test_only_the_height_of_the_chosen_keys_is_changed_and_by_the_least(animation, foot):
    animation.bake(foot, keep_look=False)
    own = {index: dict(zip(*_own_keys(foot, "location", index), strict=True)) for index in range(3)}
    turned = _own_keys(foot, "rotation_euler", 1)
    result = animation.relax(foot, animation.StaysAbove(), keys_at(foot, [20, 30], "location"))
    now = {index: dict(zip(*_own_keys(foot, "location", index), strict=True)) for index in range(3)}
    assert now[0] == own[0]
    assert now[1] == own[1]
    assert (now[2][1], now[2][60]) == (own[2][1], own[2][60])
    raised = now[2][20] - own[2][20], now[2][30] - own[2][30]
    assert min(raised) > 0
    assert result.moved == pytest.approx(max(raised), abs=1e-6)
    assert _own_keys(foot, "rotation_euler", 1) == turned
    # Changing both by the depth to which the foot sank would also be enough, so the change must not be larger.
    assert math.hypot(*raised) < math.sqrt(2) * result.before


@pytest.mark.parametrize("height", [0.0, 0.5])
def test_the_change_of_keys_is_the_least_as_slsqp_finds_it(animation, foot, height):
    """Heights are linear in the values of the keys, so that raising each key by 1 gives the constraints."""
    animation.bake(foot, step=0.25, keep_look=False)
    frames = [1, 20, 30, 60]
    start, slopes = points(foot)[:, 2], []
    for frame in frames:
        raised = new_object("Raised", "XYZ")
        key(raised, "location", [(each, (0, 0, float(each == frame))) for each in frames])
        animation.bake(raised, step=0.25, keep_look=False)
        slopes.append(points(raised)[:, 2])
    matrix, room = np.array(slopes).T, start - height + 5e-4
    minimize: Any = optimize.minimize  # scipy's stubs reject its dictionaries of constraints and options.
    least = minimize(
        lambda z: z @ z,
        np.zeros(4),
        jac=lambda z: 2 * z,
        constraints={"type": "ineq", "fun": lambda z: room + matrix @ z, "jac": lambda _: matrix},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    animation.relax(foot, animation.StaysAbove(height=height), keys_at(foot, frames, "location"))
    heights = _own_keys(foot, "location", 2)[1]
    assert np.array(heights) - (3, 0, 0, 3) == pytest.approx(least.x, abs=2e-3)


def _own_keys(item, path, index):
    """Return the frames and values of the animator's keys on a baked curve."""
    points = [point for point in curve(item, path, index).keyframe_points if point.type != "GENERATED"]
    return [round(point.co.x, 3) for point in points], [point.co.y for point in points]


def test_where_it_cannot_be_it_is_said_where_and_nothing_is_changed(animation, foot):
    animation.bake(foot, keep_look=False)
    before = snapshot(foot)
    # The key at 30 alone can't keep frame 20 at 1 above the floor, because the key at 20 is at 0.
    with pytest.raises(animation.AnimationError, match=r"at frame 20.*Nothing was changed"):
        animation.relax(foot, animation.StaysAbove(height=1.0), keys_at(foot, [30], "location"))
    assert differences(before, snapshot(foot)) == []


def test_what_holds_already_is_left_alone(animation, foot):
    animation.bake(foot, keep_look=False)
    before = snapshot(foot)
    result = animation.relax(foot, animation.StaysAbove(height=-5.0), keys_at(foot, [20, 30]))
    assert (result.keys, result.before) == (0, 0.0)
    assert differences(before, snapshot(foot)) == []


def test_a_plane_may_be_tilted_and_move(animation, foot):
    floor = new_object("Floor", "XYZ")
    key(floor, "location", [(1, (0, 0, -1)), (60, (0, 0, 0))])
    key(floor, "rotation_euler", [(1, (0, 0, 0)), (60, (0, -0.3, 0))])
    animation.bake(foot, step=0.25, keep_look=False)
    animation.relax(foot, animation.StaysAbove(floor, height=0.1), keys_at(foot, [1, 20, 30, 60], "location"))
    heights = []
    for frame in FRAMES:
        placed = seen(frame, foot)
        plane = floor.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
        heights.append((plane.inverted() @ placed.matrix_world.translation).z)
    assert min(heights) >= 0.1 - 1e-3


def test_a_constraint_may_move_the_plane_but_not_with_the_keys_that_change(animation, scene, foot):
    animation.enable(foot, keep_look=False)
    guide, plane = new_object("Guide"), new_object("Plane")
    key(guide, "location", [(1, (0, 0, -1)), (60, (0, 0, 0.5))])
    follow = plane.constraints.new("COPY_LOCATION")
    follow.target = guide
    chosen = keys_at(foot, [20, 30], "location")
    animation.relax(foot, animation.StaysAbove(plane, height=0.6), chosen, tolerance=1e-3)
    animation.bake(foot, step=0.125)
    heights = points(foot)[:, 2] - points(plane)[:, 2]
    assert heights.min() == pytest.approx(0.6, abs=2e-3)
    follow.target = foot
    before = snapshot(foot)
    with pytest.raises(animation.AnimationError, match="has constraints"):
        animation.relax(foot, animation.StaysAbove(plane, height=0.9), chosen)
    assert differences(before, snapshot(foot)) == []


def test_a_point_of_a_turned_parented_object_stays_above_by_its_rotation_keys(animation, scene):
    """The point is the toe of a foot whose heel is carried, so only its rotation may change."""
    scene.frame_end = 60
    leg, foot = new_object("Leg", "XYZ"), new_object("Foot", "QUATERNION")
    foot.parent = leg
    foot.matrix_parent_inverse = Matrix.Translation((0, 0, 0.2))
    key(leg, "location", [(1, (0, 0, 0.5)), (30, (1, 0, 0.1)), (60, (2, 0, 0.5))])
    turns = [(1, 0.2), (20, 0.35), (30, -0.2), (60, 0.3)]
    rows = [(frame, (math.cos(angle / 2), 0, math.sin(angle / 2), 0)) for frame, angle in turns]
    key(foot, "rotation_quaternion", rows)
    animation.bake(foot, step=0.25, keep_look=False)
    toe = (1.5, 0, 0)
    before = points(foot, toe)[:, 2].min()
    assert before < -0.05
    result = animation.relax(foot, animation.StaysAbove(), keys_at(foot, [20, 60]), point=toe, tolerance=2e-3)
    assert points(foot, toe)[:, 2].min() >= -2e-3
    assert result.turned > 0.01
    assert result.moved == 0.0


@pytest.fixture
def leg(scene):
    """Return an armature with a thigh and a shin, whose rotations let the ankle pass below the floor."""
    scene.frame_end = 60
    thigh = Bone("thigh", (0, 0, 1.9), (0, 0.1, 1))
    item = new_rig(thigh, Bone("shin", thigh.tail, (0, 0, 0.1), "thigh", connected=True))
    for name, turns in (("thigh", (-0.9, -0.1, 0.0, 0.9)), ("shin", (0.6, 0.1, 0.0, 0.6))):
        item.pose.bones[name].rotation_mode = "XYZ"
        path = f'pose.bones["{name}"].rotation_euler'
        key(item, path, [(f, (a, 0, 0)) for f, a in zip((1, 20, 40, 60), turns, strict=True)])
    key(item, "location", [(1, (0, 0, 0)), (60, (0, 0, -0.3))])
    return item


def test_keys_of_several_bones_share_the_change_that_a_point_below_them_needs(animation, leg):
    animation.bake(leg, step=0.25, keep_look=False)
    length = leg.pose.bones["shin"].bone.length
    ankle = (0, length, 0)
    assert points(leg, ankle, "shin")[:, 2].min() < -0.02
    chosen = {f'pose.bones["{name}"].rotation_euler': [20, 40, 60] for name in ("thigh", "shin")}
    result = animation.relax(leg, animation.StaysAbove(), {leg: chosen}, bone="shin", point=ankle, tolerance=2e-3)
    assert points(leg, ankle, "shin")[:, 2].min() >= -2e-3
    assert result.keys == 6


def test_a_point_that_drifts_is_brought_back_to_its_place_on_another_object(animation, scene):
    """A hand is on a rail. If the hand's middle key is correct, both move in the same way."""
    scene.frame_end = 60
    rail, hand = new_object("Rail", "XYZ"), new_object("Hand", "XYZ")
    rows = [(1, (0, 0, 0)), (25, (1, 2, 0)), (60, (3, 0, 1))]
    key(rail, "location", rows)
    key(hand, "location", [(f, np.array(at) + (0.5 if f == 25 else 0.0)) for f, at in rows])
    animation.bake(rail, step=0.25, keep_look=False)
    animation.bake(hand, step=0.25, keep_look=False)
    result = animation.relax(hand, animation.StaysAt(rail), keys_at(hand, [25]), tolerance=1e-3)
    assert np.linalg.norm(points(hand) - points(rail), axis=1).max() <= 1e-3
    assert result.before == pytest.approx(0.5 * math.sqrt(3), abs=1e-4)


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
def test_rotation_limits_hold_between_keys(animation, scene, mode):
    scene.frame_end = 60
    knee = new_object("Knee", mode)
    angles = [(1, 0.1), (20, 1.4), (30, 1.4), (60, 0.1)]
    if mode == "XYZ":
        key(knee, "rotation_euler", [(f, (a, 0, 0)) for f, a in angles])
    else:
        key(knee, "rotation_quaternion", [(f, (math.cos(a / 2), math.sin(a / 2), 0, 0)) for f, a in angles])
    animation.bake(knee, step=0.25, keep_look=False)

    def bent():
        return max(seen(frame, knee).matrix_world.to_euler().x for frame in FRAMES)

    assert bent() > 1.49
    keys = keys_at(knee, [20, 30], "rotation")
    animation.relax(knee, animation.TurnsWithin(high=(1.45, None, None)), keys, tolerance=1e-3)
    assert 1.4 < bent() <= 1.451


def test_progress_is_reported_at_each_step_and_never_decreases(animation, scene):
    """The condition holds at the coarse frames first, so that the search continues at the fine frames."""
    scene.frame_end = 100
    item, values = new_object("Ball", "XYZ"), np.random.default_rng(2).normal((0, 0, 0.5), 1.0, (20, 3))
    key(item, "location", list(zip(range(1, 100, 5), values.tolist(), strict=True)))
    animation.enable(item, keep_look=False)
    finished = []

    def progress(rounds, maximum):
        assert maximum == 5
        finished.append(rounds)

    keys = {item: {"location": range(1, 100, 5)}}
    result = animation.relax(item, animation.StaysAbove(), keys, progress=progress)
    assert result.after <= 1e-3
    assert finished == sorted(finished)
    assert finished.count(0) > 2


def test_limits_that_nothing_can_meet_are_refused(animation):
    with pytest.raises(ValueError, match=r"^low Y 1 is above high Y 0"):
        animation.TurnsWithin(low=(None, 1, None), high=(None, 0, None))


def test_a_target_that_is_the_object_itself_is_refused(animation, foot):
    animation.bake(foot, keep_look=False)
    before = snapshot(foot)
    for wanted in (animation.StaysAt(foot), animation.StaysAbove(foot)):
        with pytest.raises(animation.AnimationError, match='"Foot": an object or bone cannot be its own target'):
            animation.relax(foot, wanted, keys_at(foot, [20]))
    assert differences(before, snapshot(foot)) == []


def test_what_can_not_be_changed_is_refused_and_stays_as_it_is(animation, foot):
    animation.bake(foot, keep_look=False)
    before = snapshot(foot)
    floor = animation.StaysAbove()
    for keys in ({}, {foot: {}}, {foot: {"location": []}}):
        with pytest.raises(animation.AnimationError, match="no keys to adjust"):
            animation.relax(foot, floor, keys)
    with pytest.raises(animation.AnimationError, match='"Foot", Location, frame 21: no key'):
        animation.relax(foot, floor, {foot: {"location": [20, 21]}})
    with pytest.raises(animation.AnimationError, match='no bone "toe"'):
        animation.relax(foot, floor, keys_at(foot, [20]), bone="toe")
    with pytest.raises(ValueError, match="tolerance 0 is not a positive number"):
        animation.relax(foot, floor, keys_at(foot, [20]), tolerance=0)
    foot.constraints.new("LIMIT_LOCATION")
    with pytest.raises(animation.AnimationError, match="has constraints"):
        animation.relax(foot, floor, keys_at(foot, [20]))
    foot.constraints.clear()
    assert differences(before, snapshot(foot)) == []
    animation.free(foot)
    curve(foot, "location", 2).lock = True
    with pytest.raises(animation.AnimationError, match="locked"):
        animation.relax(foot, floor, keys_at(foot, [20], "location"))


def test_a_track_that_is_not_tcb_is_refused(animation, foot):
    with pytest.raises(animation.AnimationError, match="not a TCB track"):
        animation.relax(foot, animation.StaysAbove(), keys_at(foot, [20]))


def test_a_driven_track_is_refused(animation, foot):
    animation.enable(foot, keep_look=False)
    foot.driver_add("location", 2).driver.expression = "1.0"
    with pytest.raises(animation.AnimationError, match="driver"):
        animation.relax(foot, animation.StaysAbove(), keys_at(foot, [20], "location"))


def test_a_linked_action_is_refused(animation, foot, tmp_path):
    animation.bake(foot, keep_look=False)
    item = linked(foot, tmp_path / "foot.blend")
    bpy.context.scene.collection.objects.link(item)
    with pytest.raises(animation.AnimationError, match="linked"):
        animation.relax(item, animation.StaysAbove(), keys_at(item, [20]))


def test_keys_are_relaxed_by_the_method_of_their_track(animation, foot):
    animation.enable(foot, keep_look=False)
    animation.choose(foot, "location", method="CUBIC_NATURAL")
    animation.bake(foot, step=0.25)
    before = points(foot)[:, 2].min()
    assert before < -0.05
    result = animation.relax(foot, animation.StaysAbove(), keys_at(foot, [20, 30], "location"))
    assert result.before == pytest.approx(-before, abs=3e-4)
    assert points(foot)[:, 2].min() >= -1e-3


def test_keys_that_a_frame_function_plays_elsewhere_are_relaxed_for_what_is_played(animation, foot):
    """The motion is reversed, so the key at 20 is played at frame 41."""
    key(foot, "tcb_frame", [(1, 60.0), (60, 1.0)])
    for point in curve(foot, "tcb_frame").keyframe_points:
        point.interpolation = "LINEAR"
    animation.bake(foot, step=0.25, keep_look=False)
    before = points(foot)[:, 2]
    assert before.min() < -0.2
    assert 30 < FRAMES[np.argmin(before)] < 41
    animation.relax(foot, animation.StaysAbove(), keys_at(foot, [20, 30], "location"))
    after = points(foot)[:, 2]
    assert -1e-3 <= after.min() <= 1e-3
    animation.restore(foot)
    own = co(curve(foot, "location", 2))
    assert own[[0, 3]].tolist() == [[1, 3], [60, 3]]
    assert (own[1:3, 1] > 0.1).all()


def test_an_override_is_relaxed_in_its_own_copy_of_the_linked_action(animation, foot, tmp_path):
    animation.bake(foot, step=0.25, keep_look=False)
    original = linked(foot, tmp_path / "foot.blend")
    own = original.override_create(remap_local_usages=True)
    bpy.context.scene.collection.objects.link(own)
    before = snapshot(original)
    animation.relax(own, animation.StaysAbove(), keys_at(own, [20, 30]))
    assert points(own)[:, 2].min() >= -1e-3
    assert own.animation_data.action.library is None
    assert differences(before, snapshot(original)) == []


def test_what_is_wanted_of_a_plane_that_is_none_is_refused(animation, foot):
    animation.enable(foot, keep_look=False)
    plane = new_object("Plane")
    key(plane, "scale", [(1, (1, 1, 1)), (31, (0, 0, 0))])
    before = snapshot(foot)
    with pytest.raises(animation.AnimationError, match='"Plane", frame 31: the scale is zero'):
        animation.relax(foot, animation.StaysAbove(plane), keys_at(foot, [20, 30]))
    target = new_object("Target")
    key(target, "location", [(1, (0, 0, 0)), (31, (1, 0, 0))])
    curve(target, "location", 0).keyframe_points[1].co.y = math.nan
    with pytest.raises(animation.AnimationError, match=r'"Foot", frame 1\.0625: the deviation .* not a finite number'):
        animation.relax(foot, animation.StaysAt(target), keys_at(foot, [20, 30]))
    assert not differences(before, snapshot(foot))


def test_a_bone_that_is_not_there_is_named(animation, foot):
    animation.enable(foot, keep_look=False)
    target = new_object("Target")
    with pytest.raises(animation.AnimationError, match='"Target": no bone "heel"'):
        animation.relax(foot, animation.StaysAt(target, "heel"), keys_at(foot, [20]))


def test_a_range_is_relaxed_however_long_the_scene_is(animation, scene, foot):
    scene.frame_end = 1_048_574
    animation.bake(foot, step=0.25, keep_look=False)
    animation.relax(foot, animation.StaysAbove(), keys_at(foot, [20, 30], "location"), frame_range=(15, 35))
    assert points(foot, frames=np.arange(15, 35.25, 0.25))[:, 2].min() >= -1e-3
