# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce: dense curves become few keys, whose handles play the motion within the error that was asked for."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from tests.animation.curves import Bone, bags_in, bits, fcurves, new_object, new_rig


def channels(datablock):
    """Return the F-curves that animate the datablock, by path and index."""
    return {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in fcurves(datablock)}


def state(action):
    """Return all keys of an action."""
    return [bits(fcurve) for bag in bags_in(action) for fcurve in bag.fcurves]


def key_densely(owner, path, values):
    """Key the property on every frame from 1 on."""
    for frame, value in enumerate(values.tolist(), start=1):
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


@pytest.fixture
def ball(scene):
    """Return an object that flies along a curve with some noise, and turns, keyed on 120 frames."""
    obj = new_object("Ball")
    random, t = np.random.default_rng(1), np.arange(120)[:, np.newaxis] / 20.0
    key_densely(obj, "location", np.hstack([np.sin(t), np.cos(1.3 * t), 0.2 * t]) + 5e-4 * random.normal(size=(120, 3)))
    key_densely(obj, "rotation_euler", np.hstack([0.3 * np.sin(t), 0.2 * t, 0.4 * np.cos(t)]))
    return obj


@pytest.fixture
def rig(scene):
    """Return an armature of three bones in a chain, scaled, which turn on 100 frames; the first also moves."""
    obj = new_rig(
        Bone("Bone0", (0.0, 0.0, 0.0), (0.0, 0.2, 1.0)),
        Bone("Bone1", (0.1, 0.0, 1.0), (0.1, 0.2, 2.0), "Bone0"),
        Bone("Bone2", (0.2, 0.0, 2.0), (0.2, 0.2, 3.0), "Bone1"),
    )
    obj.scale = (0.5, 0.5, 0.5)
    t = np.arange(100)[:, np.newaxis] / 15.0
    random = np.random.default_rng(2)
    for number, bone in enumerate(obj.pose.bones):
        bone.rotation_mode = ("QUATERNION", "XYZ", "ZXY")[number]
        angles = np.hstack([0.4 * np.sin(t + number), 0.3 * np.cos(1.7 * t), 0.1 * t]) + 1e-3 * random.normal(
            size=(100, 3)
        )
        if number:
            key_densely(bone, "rotation_euler", angles)
        else:
            half = 0.5 * np.linalg.norm(angles, axis=1, keepdims=True)
            key_densely(bone, "rotation_quaternion", np.hstack([np.cos(half), np.sin(half) * angles / (2 * half)]))
    key_densely(obj.pose.bones[0], "location", np.hstack([np.sin(t), 0.0 * t, np.cos(t)]))
    return obj


def places(scene, rig):
    """Return where heads and tails of all bones are, as Blender evaluates them, shape (frames, points, 3)."""
    found = []
    for frame in range(1, 101):
        scene.frame_set(frame)
        matrix = np.array(rig.matrix_world)
        points = [tuple(point) for bone in rig.pose.bones for point in (bone.head, bone.tail)]
        found.append(np.array(points) @ matrix[:3, :3].T + matrix[:3, 3])
    return np.array(found)


def test_an_object_comes_within_the_error_with_few_keys_at_common_frames(animation, ball):
    before = {key: [curve.evaluate(frame) for frame in range(1, 121)] for key, curve in channels(ball).items()}
    result = animation.reduce(ball, error=0.01, angle=math.radians(1.0))
    after = channels(ball)
    off = np.array(
        [
            np.subtract([after["location", i].evaluate(f) for f in range(1, 121)], before["location", i])
            for i in range(3)
        ]
    )
    assert np.linalg.norm(off, axis=0).max() <= 0.01
    assert result.error == pytest.approx(np.linalg.norm(off, axis=0).max(), rel=1e-4)
    assert result.angle <= math.radians(1.0)
    frames = {tuple(key.co[0] for key in curve.keyframe_points) for curve in after.values()}
    assert len(frames) == 1
    assert result.diamonds == len(frames.pop()) < 40
    assert (result.diamonds_before, result.keys_before) == (120, 240)


def test_no_bone_is_farther_from_its_place_than_asked_for(animation, scene, rig):
    before = places(scene, rig)
    result = animation.reduce(rig, error=0.01)
    off = np.linalg.norm(places(scene, rig) - before, axis=2)
    assert off.max() <= 0.01
    assert result.error == pytest.approx(off.max(), abs=1e-5)
    assert result.mean == pytest.approx(off.mean(), abs=1e-5)
    assert result.reached
    assert result.diamonds < 120
    assert result.diamonds_before == 300


def test_the_result_is_played_by_handles_without_generated_keys(animation, rig):
    result = animation.reduce(rig, error=0.01)
    keys = [key for curve in channels(rig).values() for key in curve.keyframe_points]
    assert {key.interpolation for key in keys} == {"BEZIER"}
    assert {key.type for key in keys} == {"KEYFRAME"}
    assert rig.animation_data.action["tcb_animation"]
    assert not [note for note in result.notes if "error" in note]


def test_the_original_action_is_kept_as_it_was(animation, ball):
    original = ball.animation_data.action
    before = state(original)
    result = animation.reduce(ball)
    assert ball.animation_data.action is not original
    assert original.use_fake_user
    assert result.original == original.name
    assert state(original) == before


def test_a_track_that_stands_still_keeps_one_key(animation, ball):
    key_densely(ball, "scale", np.full((120, 3), 1.5))
    animation.reduce(ball)
    assert [len(channels(ball)["scale", index].keyframe_points) for index in range(3)] == [1, 1, 1]
    assert channels(ball)["scale", 2].evaluate(60.0) == 1.5


def test_shape_keys_and_a_lens_are_reduced_by_their_values(animation, scene):
    camera = bpy.data.cameras.new("Camera")
    for frame in range(1, 101):
        camera.lens = 50.0 + 20.0 * math.sin(frame / 12.0)
        camera.keyframe_insert("lens", frame=frame)
    before = [channels(camera)["lens", 0].evaluate(frame) for frame in range(1, 101)]
    result = animation.reduce(camera, error=0.05)
    lens = channels(camera)["lens", 0]
    assert max(abs(lens.evaluate(frame) - own) for frame, own in enumerate(before, start=1)) <= 0.05
    assert len(lens.keyframe_points) == result.keys < 15


def test_what_can_not_be_reduced_is_refused_with_the_reason_and_nothing_is_changed(animation, scene, ball, rig):
    animation.enable(ball)
    action, before = ball.animation_data.action, state(ball.animation_data.action)
    with pytest.raises(animation.AnimationError, match="TCB already"):
        animation.reduce(ball)
    assert ball.animation_data.action is action
    assert state(action) == before
    rig.pose.bones[2].constraints.new("COPY_ROTATION")
    action, before = rig.animation_data.action, state(rig.animation_data.action)
    with pytest.raises(animation.AnimationError, match="constraints"):
        animation.reduce(rig)
    assert rig.animation_data.action is action
    assert state(action) == before


def test_the_operator_reduces_selected_objects_in_one_step(tcb_animation, ball):
    ball.select_set(True)
    original = ball.animation_data.action
    assert bpy.ops.tcb.reduce(error=0.01, angle=math.radians(1.0)) == {"FINISHED"}
    assert ball.animation_data.action is not original
    assert len(channels(ball)["location", 0].keyframe_points) < 40


def test_a_search_that_is_ended_changes_nothing(animation, rig):
    from importlib import import_module

    steps = import_module(f"{animation.__name__}.reduction.reduce").reduce_steps({rig: None}, 0.01)
    original, actions = rig.animation_data.action, list(bpy.data.actions)
    before = state(original)
    for _ in range(3):
        next(steps)
    steps.close()
    assert rig.animation_data.action is original
    assert (list(bpy.data.actions), state(original)) == (actions, before)


def test_bones_that_keep_their_keys_move_in_the_search_too(animation, scene, rig):
    before = places(scene, rig)
    result = animation.reduce(rig, ['pose.bones["Bone0"]'], error=0.01)
    off = np.linalg.norm(places(scene, rig) - before, axis=2)
    assert off.max() <= 0.01
    assert result.reached
    assert len(channels(rig)['pose.bones["Bone1"].rotation_euler', 0].keyframe_points) == 100


def test_a_track_that_modifiers_change_is_refused(animation, ball):
    for index in range(3):
        channels(ball)["location", index].modifiers.new("GENERATOR").use_additive = True
    before = state(ball.animation_data.action)
    result = animation.reduce(ball, error=0.01)
    assert any("GENERATOR" in note for note in result.notes)
    assert len(channels(ball)["location", 0].keyframe_points) == 120
    with pytest.raises(animation.AnimationError, match="GENERATOR"):
        animation.reduce(ball, ["location"])
    assert state(bpy.data.actions[result.original]) == before


def test_who_shares_the_action_goes_on_playing_the_original_and_is_named(animation, scene, ball):
    other = ball.copy()
    scene.collection.objects.link(other)
    original = ball.animation_data.action
    result = animation.reduce(ball, error=0.01)
    assert other.animation_data.action == original
    assert any(other.name in note and original.name in note for note in result.notes)


@pytest.mark.parametrize("seed", range(10))
def test_lines_and_steps_come_back_as_linear_and_constant_keys(animation, scene, seed):
    random = np.random.default_rng(seed)
    frames = np.cumsum(np.concatenate(([1], random.integers(4, 15, size=12))))
    values = random.uniform(-3.0, 3.0, size=(len(frames), 3))
    steps = random.random(len(frames)) < 0.4
    obj = new_object("Sampled")
    for frame, value in zip(frames.tolist(), values.tolist(), strict=True):
        obj.location = value
        obj.keyframe_insert("location", frame=frame)
    for curve in channels(obj).values():
        for point, is_step in zip(curve.keyframe_points, steps, strict=True):
            point.interpolation = "CONSTANT" if is_step else "LINEAR"
    every = np.arange(frames[0], frames[-1] + 1)
    played = np.array([[channels(obj)["location", i].evaluate(frame) for i in range(3)] for frame in every])
    obj.animation_data_clear()
    for frame, value in zip(every.tolist(), played.tolist(), strict=True):
        obj.location = value
        obj.keyframe_insert("location", frame=frame)

    result = animation.reduce(obj, error=1e-3)

    for i in range(3):
        curve = channels(obj)["location", i]
        assert [point.co[0] for point in curve.keyframe_points] == frames.tolist()
        found = [point.interpolation == "CONSTANT" for point in curve.keyframe_points]
        assert found[:-1] == steps[:-1].tolist()
        np.testing.assert_allclose([curve.evaluate(frame) for frame in every], played[:, i], atol=2e-6)
    assert result.error < 4e-6
    assert len(result.notes) == 1


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER", "CONSTANT"])
@pytest.mark.parametrize(
    "samples",
    [
        np.concatenate((np.zeros(99), [10.0])),
        np.concatenate(([10.0], np.zeros(99))),
        np.repeat([1.0, -2.0], [50, 50]),
        np.maximum(np.arange(100.0) - 40.0, 0.0) / 2.0,
        np.minimum(np.arange(100.0), 60.0) / 2.0,
        np.sin(np.arange(100.0) / 15.0),
    ],
    ids=["step at the end", "step at the start", "step", "line at the end", "line at the start", "smooth"],
)
def test_curves_that_go_on_along_lines_do_so_as_before(animation, scene, samples, interpolation):
    obj = bpy.data.objects.new("Going on", None)
    scene.collection.objects.link(obj)
    key_densely(obj, "location", np.outer(samples, [1.0, -0.5, 2.0]))
    obj.rotation_mode = "QUATERNION"
    turned = np.stack([np.cos(samples / 10.0), np.sin(samples / 10.0), 0.0 * samples, 0.0 * samples], axis=1)
    key_densely(obj, "rotation_quaternion", -2.0 * turned)
    for curve in channels(obj).values():
        curve.extrapolation = "LINEAR"
        for point in curve.keyframe_points:
            point.interpolation = interpolation
        curve.update()
    frames = [-80.0, -10.0, 0.0, 0.5, 1.0, 100.0, 100.25, 101.0, 130.0, 200.0]
    location, rotation = outside(obj, frames)

    animation.reduce(obj, error=1e-4, angle=math.radians(0.01))

    played, turned = outside(obj, frames)
    np.testing.assert_allclose(played, location, atol=5e-4 + 5e-5 * np.abs(samples).max())
    # The pose is the same of q and -q.
    np.testing.assert_allclose(np.abs((turned * rotation).sum(axis=0)), 1.0, atol=1e-6)


def outside(obj, frames):
    """Return what Blender plays as location and as unit quaternion at the frames, a column each."""
    curves = channels(obj)
    location = np.array([[curves["location", i].evaluate(frame) for frame in frames] for i in range(3)])
    rotation = np.array([[curves["rotation_quaternion", i].evaluate(frame) for frame in frames] for i in range(4)])
    return location, rotation / np.linalg.norm(rotation, axis=0)
