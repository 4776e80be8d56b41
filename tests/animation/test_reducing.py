# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that Reduce replaces dense curves with few keys whose handles play the motion within the requested error."""

from __future__ import annotations

import math
from importlib import import_module

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from scipy.interpolate import CubicHermiteSpline
from scipy.signal import butter, sosfiltfilt
from scipy.spatial.transform import Rotation

from tests.all_pairs import each_once
from tests.animation.curves import (
    Bone,
    action_bits,
    bits,
    bone_places,
    channels,
    fcurves,
    key,
    key_densely,
    new_object,
    new_rig,
    track_keys,
)


@pytest.fixture
def ball(scene):
    """Return an object that moves and turns with some noise, keyed at 120 frames."""
    obj = new_object("Ball")
    random, t = np.random.default_rng(1), np.arange(120)[:, np.newaxis] / 20.0
    place, turn = (noise * random.normal(size=(120, 3)) for noise in (5e-4, 1e-4))
    key_densely(obj, "location", np.hstack([np.sin(t), np.cos(1.3 * t), 0.2 * t]) + place)
    key_densely(obj, "rotation_euler", np.hstack([0.3 * np.sin(t), 0.2 * t, 0.4 * np.cos(t)]) + turn)
    return obj


@pytest.fixture
def rig(scene):
    """Return a scaled armature with a chain of three bones, keyed at 100 frames. The first bone also moves."""
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
    before = bone_places(rig, range(1, 101))
    result = animation.reduce(rig, error=0.01)
    off = np.linalg.norm(bone_places(rig, range(1, 101)) - before, axis=2)
    assert off.max() <= 0.01
    assert result.error == pytest.approx(off.max(), abs=1e-5)
    assert result.mean == pytest.approx(off.mean(), abs=1e-5)
    assert result.reached
    assert result.diamonds < 120
    assert result.diamonds_before == 300
    # Handles play the result without generated keys.
    keys = [key for curve in channels(rig).values() for key in curve.keyframe_points]
    assert {(key.interpolation, key.type) for key in keys} == {("BEZIER", "KEYFRAME")}
    assert rig.animation_data.action["tcb_animation"]
    assert not [note for note in result.notes if "error" in str(note)]


def test_the_original_action_is_kept_as_it_was(animation, ball):
    original = ball.animation_data.action
    before = action_bits(original)
    result = animation.reduce(ball)
    assert ball.animation_data.action is not original
    assert original.use_fake_user
    assert result.original == original.name
    assert animation.Finding("REDUCE_KEPT", ball.name, arguments=(original.name,)) in result.notes
    assert action_bits(original) == before


def test_the_copy_of_a_live_action_is_not_live(animation, ball):
    original = ball.animation_data.action
    animation.enable(ball, prefixes=["rotation_euler"], keep_look=False)
    original.tcb_live = True
    animation.reduce(ball)
    assert original.tcb_live
    assert ball.animation_data.action != original
    assert not ball.animation_data.action.tcb_live


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


def test_what_can_not_be_reduced_is_refused_with_the_reason_and_nothing_is_changed(animation, ball):
    animation.enable(ball, keep_look=False)
    action, before = ball.animation_data.action, action_bits(ball.animation_data.action)
    with pytest.raises(
        animation.AnimationError, match=r"Location: the track is already TCB.*Euler Rotation: the track is already TCB"
    ):
        animation.reduce(ball)
    assert ball.animation_data.action is action
    assert action_bits(action) == before


def test_two_keys_are_already_minimal(animation, scene):
    thing = new_object()
    key(thing, "location", [(1, (0, 0, 0)), (20, (1, 2, 3))])
    key(thing, "scale", [(1, (1, 1, 1))])
    before = action_bits(thing.animation_data.action)
    result = animation.reduce(thing)
    assert result.is_minimal
    assert (result.keys_before, result.keys) == (3, 3)
    assert "no fewer keys possible within 0.005" in str(result)
    assert action_bits(thing.animation_data.action) == before
    assert [*bpy.data.actions] == [thing.animation_data.action]
    for fcurve in fcurves(thing):
        fcurve.keyframe_points.clear()
    with pytest.raises(animation.AnimationError, match="has no keys"):
        animation.reduce(thing)


def test_what_is_baked_is_refused_with_its_own_reason(animation, ball):
    animation.bake(ball, keep_look=False)
    with pytest.raises(animation.AnimationError, match=r"the track is baked. Free or apply the bake first"):
        animation.reduce(ball)


def test_each_track_that_stays_is_named(animation, rig):
    animation.enable(rig, ['pose.bones["Bone0"]', 'pose.bones["Bone1"]'], keep_look=False)
    result = animation.reduce(rig, error=0.01)
    assert {note.code for note in result.notes[:-1]} == {"REDUCE_TCB"}
    assert all(any(f'"Bone{number}"' in note.track for note in result.notes) for number in (0, 1))
    assert result.notes[-1].code == "REDUCE_KEPT"


def test_a_track_that_modifiers_change_is_refused(animation, ball):
    for index in range(3):
        channels(ball)["location", index].modifiers.new("GENERATOR").use_additive = True
    before = action_bits(ball.animation_data.action)
    result = animation.reduce(ball, error=0.01)
    assert any("GENERATOR" in str(note) for note in result.notes)
    assert len(channels(ball)["location", 0].keyframe_points) == 120
    with pytest.raises(animation.AnimationError, match="GENERATOR"):
        animation.reduce(ball, ["location"])
    assert action_bits(bpy.data.actions[result.original]) == before


def test_who_shares_the_action_goes_on_playing_the_original_and_is_named(animation, scene, ball):
    other = ball.copy()
    scene.collection.objects.link(other)
    original = ball.animation_data.action
    result = animation.reduce(ball, error=0.01)
    assert other.animation_data.action == original
    assert any(other.name in str(note) and original.name in str(note) for note in result.notes)


def test_of_two_that_share_the_action_and_are_both_reduced_none_is_said_to_stay(tcb_animation, scene, ball):
    other = ball.copy()
    scene.collection.objects.link(other)
    original = ball.animation_data.action
    reduction = f"{tcb_animation.animation.__name__}.reduction"
    wanted = (None, import_module(f"{reduction}.report").ReduceRequest(error=0.01))
    reduce = import_module(f"{reduction}.reduce")
    steps = reduce.reduce_steps(dict.fromkeys((ball, other), wanted))
    results, refused = tcb_animation.animation.steps.run_steps(steps, None)
    assert not refused
    assert original not in (ball.animation_data.action, other.animation_data.action)
    notes = [note for result in results for note in result.notes if original.name in str(note)]
    assert all("is kept in the file" in str(note) for note in notes)


@pytest.mark.parametrize("seed", range(3))
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
    assert len([note for note in result.notes if "is kept in the file" not in str(note)]) == 1


OUTER = {
    "step at the end": np.concatenate((np.zeros(99), [10.0])),
    "step at the start": np.concatenate(([10.0], np.zeros(99))),
    "step": np.repeat([1.0, -2.0], [50, 50]),
    "line at the end": np.maximum(np.arange(100.0) - 40.0, 0.0) / 2.0,
    "line at the start": np.minimum(np.arange(100.0), 60.0) / 2.0,
    "smooth": np.sin(np.arange(100.0) / 15.0),
}


@pytest.mark.parametrize(("name", "interpolation"), each_once(OUTER, ["LINEAR", "BEZIER", "CONSTANT"]))
def test_curves_that_go_on_along_lines_do_so_as_before(animation, scene, name, interpolation):
    samples = OUTER[name]
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
    # q and -q are the same pose.
    np.testing.assert_allclose(np.abs((turned * rotation).sum(axis=0)), 1.0, atol=1e-6)


def outside(obj, frames):
    """Return the location and unit quaternion that Blender plays at the frames, with one column per frame."""
    curves = channels(obj)
    location = np.array([[curves["location", i].evaluate(frame) for frame in frames] for i in range(3)])
    rotation = np.array([[curves["rotation_quaternion", i].evaluate(frame) for frame in frames] for i in range(4)])
    return location, rotation / np.linalg.norm(rotation, axis=0)


def test_as_many_keys_as_asked_for(animation, scene, rig):
    before = bone_places(rig, range(1, 101))
    result = animation.reduce(rig, error=0.01, key_count=40)
    off = np.linalg.norm(bone_places(rig, range(1, 101)) - before, axis=2)
    owners = {}
    for (path, _), curve in channels(rig).items():
        owners.setdefault(path.rpartition(".")[0], set()).update(key.co[0] for key in curve.keyframe_points)
    assert 36 <= sum(map(len, owners.values())) == result.diamonds <= 40
    assert result.error == pytest.approx(off.max(), abs=1e-5)
    # Blender evaluates poses in float32.
    assert off.max() <= result.wanted + 1e-6
    assert result.reached


def test_too_few_keys_to_ask_for_change_nothing(animation, rig):
    original, before = rig.animation_data.action, action_bits(rig.animation_data.action)
    with pytest.raises(animation.AnimationError, match="5 keys are not enough"):
        animation.reduce(rig, key_count=5)
    assert rig.animation_data.action is original
    assert action_bits(original) == before


def test_more_keys_than_there_are_leave_a_small_error(animation, ball):
    result = animation.reduce(ball, ["location"], error=0.01, key_count=1000)
    assert result.diamonds <= 120
    assert result.error < 1e-4


def test_keys_by_error_are_those_that_reduce_leaves(animation, ball):
    before, actions = action_bits(ball.animation_data.action), list(bpy.data.actions)
    counts = animation.keys_by_error(ball, [0.002, 0.01, 0.05])
    assert (action_bits(ball.animation_data.action), list(bpy.data.actions)) == (before, actions)
    assert [(count.error, count.before) for count in counts] == [(0.002, 120), (0.01, 120), (0.05, 120)]
    assert counts[0].keys > counts[1].keys > counts[2].keys
    result = animation.reduce(ball, error=0.01, angle=math.radians(1.0))
    assert counts[1].keys == result.diamonds


def test_counts_of_several_objects_leave_out_an_object_that_fails_midway(animation, ball, monkeypatch):
    reduce_datablock = import_module(f"{animation.__name__}.reduction.reduce_datablock")
    module = import_module(f"{animation.__name__}.reduction.reduce")
    other = new_object("Other")
    key_densely(other, "location", np.sin(np.arange(60.0))[:, np.newaxis] * np.ones(3))
    fit = reduce_datablock.DatablockReduction.fit

    def fit_of_ball(self, factor):
        if self._datablock == other and factor > 1.0:
            raise animation.AnimationError(animation.find_track(other, "location").finding("PLAYED_NOT_FINITE"))
        return fit(self, factor)

    monkeypatch.setattr(reduce_datablock.DatablockReduction, "fit", fit_of_ball)
    request = (None, reduce_datablock.ReduceRequest())

    def counted(*objects):
        steps = module.keys_by_error_steps(dict.fromkeys(objects, request), (1.0, 2.0))
        return animation.steps.run_steps(steps, None)

    counts, refused = counted(ball, other)
    assert len(refused) == 1
    assert counts == counted(ball)[0]


@pytest.fixture
def walker(scene):
    """Return an armature of two bones that is at rest, with some noise, from frame 41 to 80, and moves otherwise."""
    obj = new_rig(
        Bone("Bone0", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), Bone("Bone1", (0.0, 0.0, 1.0), (0.0, 0.0, 2.0), "Bone0")
    )
    frames = np.arange(1.0, 121.0)
    random = np.random.default_rng(3)
    gone = (np.clip(frames, None, 41.0) + np.clip(frames, 80.0, None))[:, np.newaxis] / 8.0
    path = np.hstack([0.4 * gone, np.sin(gone), 0.3 * np.cos(1.7 * gone)]) + 2e-4 * random.normal(size=(120, 3))
    key_densely(obj.pose.bones[0], "location", path)
    for bone in obj.pose.bones:
        bone.rotation_mode = "XYZ"
        key_densely(bone, "rotation_euler", 0.2 * np.hstack([np.sin(gone), np.cos(gone), 0.0 * gone]))
    return obj


def standing(scene, rig):
    """Return the positions of heads and tails while the walker is at rest."""
    found = []
    for frame in range(41, 81):
        scene.frame_set(frame)
        found.append([tuple(point) for bone in rig.pose.bones for point in (bone.head, bone.tail)])
    return np.array(found)


def test_what_stands_still_keeps_within_a_bound_of_its_own(animation, scene, walker):
    before = standing(scene, walker)
    original, most = walker.animation_data.action, 0.002
    plain = animation.reduce(walker, error=0.05)
    loose = np.linalg.norm(standing(scene, walker) - before, axis=2).max()
    walker.animation_data.action = original
    held = animation.reduce(walker, error=0.05, still=most)
    tight = np.linalg.norm(standing(scene, walker) - before, axis=2).max()
    assert loose > 2.0 * most
    assert tight <= most
    assert held.still == pytest.approx(tight, rel=0.01)
    assert held.reached
    assert "error at rest" in str(held)
    assert plain.diamonds <= held.diamonds < 60


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
def test_noise_is_filtered_before_and_reported_by_itself(animation, scene, mode):
    obj = new_object("Noisy")
    obj.rotation_mode = mode
    frames = np.arange(200)
    smooth = np.stack([np.sin(frames / 15.0), np.cos(frames / 20.0), 0.01 * frames], axis=1)
    noisy = smooth + 0.01 * np.random.default_rng(5).normal(size=smooth.shape)
    key_densely(obj, "location", noisy)
    if mode == "XYZ":
        key_densely(obj, "rotation_euler", noisy)
    else:
        quaternions = Rotation.from_euler("XYZ", noisy).as_quat()[:, [3, 0, 1, 2]]
        key_densely(obj, "rotation_quaternion", quaternions)
    original = obj.animation_data.action
    wanted = sosfiltfilt(butter(4, 2.0 / 10.0, output="sos"), noisy, axis=0)
    taken = np.linalg.norm(wanted - noisy, axis=1)[20:-20].max()
    result = animation.reduce(obj, error=0.004, angle=math.radians(0.2), period=10.0)
    played = np.array([[channels(obj)["location", i].evaluate(frame + 1.0) for i in range(3)] for frame in frames])
    assert np.linalg.norm(played - wanted, axis=1)[20:-20].max() <= 0.004 + 1e-5
    assert result.error <= 0.004
    assert taken - 1e-6 <= result.noise <= 1.5 * taken
    assert result.noise_angle > math.radians(0.5)
    assert "The filter moved points" in str(result)
    whole = np.linalg.norm(played - noisy, axis=1)
    assert result.unfiltered == pytest.approx(whole.max(), abs=1e-5)
    assert result.unfiltered_at == f"location, frame {np.argmax(whole) + 1}"
    assert 0.0 < result.unfiltered_angle <= result.noise_angle + result.angle
    fewer = result.diamonds
    obj.animation_data.action = original
    assert animation.reduce(obj, error=0.004, angle=math.radians(0.2)).diamonds > 2 * fewer


def test_noise_of_bones_is_told_by_their_heads_and_tails(animation, scene, rig):
    before = bone_places(rig, range(1, 101))
    result = animation.reduce(rig, error=1e-4, period=6.0)
    off = np.linalg.norm(bone_places(rig, range(1, 101)) - before, axis=2).max()
    assert result.error <= 1e-4 < result.noise
    assert off == pytest.approx(result.noise, abs=1e-4)
    assert result.unfiltered == pytest.approx(off, abs=1e-5)


def test_a_track_generated_from_few_keys_is_not_filtered(animation, scene):
    obj = new_object("Filtered")
    frames = np.arange(81)
    # Blender's automatic clamped handles stop at each of these keys, which a long period smooths away.
    for frame, value in zip(range(1, 82, 16), (0.0, 3.0, -2.0, 4.0, -1.0, 2.0), strict=True):
        obj.location = (value, -value, 2.0 * value)
        obj.keyframe_insert("location", frame=frame)
    exact = np.array([[channels(obj)["location", i].evaluate(frame + 1.0) for i in range(3)] for frame in frames])
    key_densely(obj, "location", exact)
    turn = 0.5 * np.sin(frames / 12.0)[:, np.newaxis] + 0.02 * np.random.default_rng(6).normal(size=(81, 3))
    key_densely(obj, "rotation_euler", turn)
    result = animation.reduce(obj, error=0.001, angle=math.radians(0.5), period=24.0)
    assert result.noise == 0.0
    assert result.noise_angle > math.radians(0.5)
    played = [[channels(obj)["location", i].evaluate(frame + 1.0) for i in range(3)] for frame in frames]
    assert np.abs(played - exact).max() < 1e-4
    assert len(channels(obj)["location", 0].keyframe_points) == 6


@pytest.mark.parametrize("period", [2.0, 0.0, -1.0, math.nan])
def test_a_period_of_two_frames_or_less_is_refused(animation, ball, period):
    with pytest.raises(ValueError, match="period"):
        animation.reduce(ball, period=period)


def frames_by_path(rig):
    """Return the key frames of each animated property, which all of its channels share."""
    found = {}
    for (path, _), curve in channels(rig).items():
        found.setdefault(path, set()).add(tuple(key.co[0] for key in curve.keyframe_points))
    assert all(len(frames) == 1 for frames in found.values())
    return {path: frames.pop() for path, frames in found.items()}


@pytest.mark.parametrize("together", ["TRACK", "BONE", "COLLECTION", "POSE"])
def test_keys_are_at_frames_in_common_of_what_is_asked_for(animation, scene, rig, together):
    arm = rig.data.collections.new("Arm")
    for name in ("Bone1", "Bone2"):
        arm.assign(rig.data.bones[name])
    before = bone_places(rig, range(1, 101))
    result = animation.reduce(rig, error=0.02, together=together)
    assert np.linalg.norm(bone_places(rig, range(1, 101)) - before, axis=2).max() <= 0.02
    assert result.reached
    frames = frames_by_path(rig)
    location, first, second, third = (
        frames[f'pose.bones["{bone}"].{name}']
        for bone, name in (
            ("Bone0", "location"),
            ("Bone0", "rotation_quaternion"),
            ("Bone1", "rotation_euler"),
            ("Bone2", "rotation_euler"),
        )
    )
    assert (location == first) is (together != "TRACK")
    assert (second == third) is (together in ("COLLECTION", "POSE"))
    assert (first == second) is (together == "POSE")
    assert len(third) < 40


@pytest.mark.parametrize("name", ["rig", "locked"])
def test_bones_of_tcb_keys_are_no_farther_from_their_places_than_asked_for(animation, scene, request, name):
    obj = request.getfixturevalue(name)
    before = bone_places(obj, range(1, 101))
    result = animation.reduce(obj, error=0.01, method="TCB")
    assert np.linalg.norm(bone_places(obj, range(1, 101)) - before, axis=2).max() <= 0.01
    assert result.reached
    assert result.diamonds < 120
    assert {key.type for curve in channels(obj).values() for key in curve.keyframe_points} == {"KEYFRAME"}
    for path in frames_by_path(obj):
        parameters = track_keys(animation, obj, path).parameters({})
        assert not any(name.startswith("velocity") for name in parameters)
        assert np.abs([parameters[name] for name in ("tension", "continuity", "bias")]).max() > 0.01


def test_an_object_of_tcb_keys_comes_within_the_error_and_the_bake_plays_its_parameters(animation, scene, ball):
    ball.rotation_mode = "XYZ"
    before = {key: [curve.evaluate(frame) for frame in range(1, 121)] for key, curve in channels(ball).items()}
    result = animation.reduce(ball, error=0.02, angle=math.radians(1.0), method="TCB")
    assert result.reached

    def off():
        after = channels(ball)
        played, wanted = (
            {path: np.array([each[path, index] for index in range(3)]).T for path in ("location", "rotation_euler")}
            for each in (
                {key: [curve.evaluate(frame) for frame in range(1, 121)] for key, curve in after.items()},
                before,
            )
        )
        turned = [Rotation.from_euler("xyz", each["rotation_euler"]) for each in (played, wanted)]
        far = np.linalg.norm(played["location"] - wanted["location"], axis=1).max()
        return far, (turned[0].inv() * turned[1]).magnitude().max()

    assert off()[0] <= 0.02
    assert off()[1] <= math.radians(1.0)
    # The exact spline also stays within the error.
    animation.bake(ball, output="SAMPLES")
    assert off()[0] <= 0.02
    assert off()[1] <= math.radians(1.0)


def test_tcb_is_fitted_to_what_was_made_from_keys_with_velocities(animation, scene):
    obj = new_object("Bent")
    frames = np.arange(1.0, 81.0)
    curve = CubicHermiteSpline(
        [1.0, 30.0, 50.0, 80.0], [[0, 1, 2], [3, 2, 0], [1, -1, 2], [0, 0, 0]], 0.1 * np.eye(4)[:, :3]
    )
    key_densely(obj, "location", curve(frames))
    original = obj.animation_data.action
    animation.reduce(obj, error=0.02)
    assert len(channels(obj)["location", 0].keyframe_points) == 4
    obj.animation_data.action = original
    assert animation.reduce(obj, error=0.02, method="TCB").reached
    assert "tension" in track_keys(animation, obj, "location").parameters({})
    off = [[curve_.evaluate(frame) for frame in frames] for curve_ in channels(obj).values()] - curve(frames).T
    assert np.linalg.norm(off, axis=0).max() <= 0.02


@pytest.fixture
def locked(scene):
    """Return an armature of two bones with Euler angles. The first bone turns close to gimbal lock."""
    obj = new_rig(
        Bone("Bone0", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), Bone("Bone1", (0.0, 0.0, 1.0), (0.0, 0.0, 2.0), "Bone0")
    )
    t = np.arange(100)[:, np.newaxis] / 12.0
    turned = Rotation.from_rotvec(np.hstack([0.8 * np.sin(t), 1.55 * np.cos(0.4 * t), 0.7 * np.sin(0.7 * t)]))
    for bone, scale in zip(obj.pose.bones, (1.0, 0.3), strict=True):
        bone.rotation_mode = "XYZ"
        before = None
        for frame, matrix in enumerate(turned.as_matrix(), start=1):
            angles = Matrix((scale * matrix + (1.0 - scale) * np.eye(3)).tolist()).to_quaternion().to_euler("XYZ")
            if before is not None:
                angles.make_compatible(before)
            bone.rotation_euler = before = angles
            bone.keyframe_insert("rotation_euler", frame=frame)
    return obj


@pytest.mark.parametrize("name", ["rig", "locked", "ball"])
def test_what_is_restored_or_removed_plays_the_same_and_the_original_is_as_it_was(animation, scene, request, name):
    obj = request.getfixturevalue(name)
    original, kept = obj.animation_data.action, action_bits(obj.animation_data.action)
    animation.reduce(obj, error=0.01)
    frames = np.arange(1.0, 100.0, 0.5)
    played = {key: [curve.evaluate(frame) for frame in frames] for key, curve in channels(obj).items()}
    for verb in (animation.restore, animation.remove):
        verb(obj)
        for place, curve in channels(obj).items():
            assert [curve.evaluate(frame) for frame in frames] == pytest.approx(played[place], abs=1e-6)
    assert obj.animation_data.action.name == f"{original.name}.reduced"
    assert action_bits(original) == kept
    assert list(original.keys()) == []


def test_lines_are_lines_after_restore_too(animation, scene):
    obj = new_object("Lines")
    frames = np.arange(1.0, 91.0)
    curve = CubicHermiteSpline([20.0, 45.0, 70.0], [3.0, -1.0, 2.0], [-0.1, 0.2, 0.15])
    values = np.where(
        frames < 20.0, 3.0 * frames / 20.0, np.where(frames > 70.0, 2.0 - (frames - 70.0) / 9.0, curve(frames))
    )
    key_densely(obj, "location", np.outer(values, [1.0, 2.0, -1.0]))
    animation.reduce(obj, error=1e-3)
    types = {key.interpolation for key in channels(obj)["location", 0].keyframe_points}
    assert types == {"LINEAR", "BEZIER"}
    animation.restore(obj)
    assert {key.interpolation for key in channels(obj)["location", 0].keyframe_points} == types
    played = [channels(obj)["location", 0].evaluate(frame) for frame in frames]
    assert played == pytest.approx(values.tolist(), abs=2e-3)


def test_a_write_that_fails_changes_nothing(animation, ball, monkeypatch):
    search = import_module(f"{animation.__name__}.reduction.reduce_datablock")
    original, actions = ball.animation_data.action, list(bpy.data.actions)
    before, kept = action_bits(original), original.use_fake_user

    def fails(*_given, **_options):
        raise animation.AnimationError(animation.Finding("QUOTED", "Ball", arguments=("the disk is full",)))

    monkeypatch.setattr(search, "bake", fails)
    with pytest.raises(animation.AnimationError, match="the disk is full"):
        animation.reduce(ball, error=0.01)
    assert ball.animation_data.action is original
    assert (list(bpy.data.actions), action_bits(original)) == (actions, before)
    assert (original.use_fake_user, list(original.keys())) == (kept, [])


def key_one(obj, path, index, frames, values, interpolation):
    """Key one channel."""
    obj.keyframe_insert(path, index=index, frame=frames[0])
    curve = channels(obj)[path, index]
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(frames))
    curve.keyframe_points.foreach_set("co", np.stack([frames, values], axis=1).astype(np.float32).ravel())
    for point in curve.keyframe_points:
        point.interpolation = interpolation
    curve.update()


HUNDRED = np.arange(1.0, 101.0)
FINITE = {
    "constant": (HUNDRED, np.full(100, 3.0)),
    "almost constant": (HUNDRED, 3.0 + 1e-7 * np.cos(9.0 * HUNDRED)),
    "two keys": (np.array([1.0, 50.0]), np.array([0.0, 1.0])),
    "one key": (np.array([4.0]), np.array([2.0])),
    "steps": (HUNDRED, np.repeat([0.0, 1.0, 0.0, 2.0, 2.0], 20)),
    "saw": (HUNDRED, HUNDRED % 3.0),
    "tiny": (HUNDRED, 1e-30 * np.sin(HUNDRED)),
    "huge": (HUNDRED, 1e30 * np.sin(HUNDRED / 9.0)),
    "noise": (HUNDRED, np.random.default_rng(7).normal(size=100)),
    "huge gap": (np.array([0.0, 5.0, 10.0, 1e6]), np.array([0.0, 1.0, 2.0, 0.0])),
    "far": (1e6 + HUNDRED, np.sin(HUNDRED / 5.0)),
    "between frames": (1.0 + 0.1 * HUNDRED, np.sin(HUNDRED)),
    "beside frames": (1.0 + 1.37 * HUNDRED, np.sin(HUNDRED / 5.0)),
    "within a frame": (np.array([1.0, 1.2, 1.4, 1.6]), np.array([0.0, 1.0, 0.0, 1.0])),
    "three keys": (np.array([1.0, 2.0, 3.0]), np.array([0.0, 5.0, 1.0])),
}


@pytest.mark.parametrize(("method", "name"), each_once(["HERMITE", "TCB"], FINITE))
def test_finite_curves_never_raise_and_never_have_more_keys(animation, scene, name, method):
    obj = new_object()
    for path, index, interpolation in (("location", 0, "BEZIER"), ("rotation_euler", 1, "LINEAR")):
        key_one(obj, path, index, *FINITE[name], interpolation)
    action, before = obj.animation_data.action, action_bits(obj.animation_data.action)
    result = animation.reduce(obj, method=method)
    now = sum(len(curve.keyframe_points) for curve in fcurves(obj))
    assert (result.diamonds, result.keys) <= (result.diamonds_before, result.keys_before)
    if result.is_minimal:
        assert obj.animation_data.action == action
        assert action_bits(action) == before
        assert "no fewer keys possible within 0.005" in str(result)
    else:
        assert now < 2 * len(FINITE[name][0])
    # Far from frame 0, float32 can't represent the frames of handles accurately.
    assert result.reached or (name == "far" and "that is more than" in str(result))


def test_hand_keyed_bones_keep_their_keys(animation, scene, rig):
    few = rig.pose.bones[2]
    for index in range(3):
        curve = channels(rig)[f'pose.bones["{few.name}"].rotation_euler', index]
        values = [curve.evaluate(frame) for frame in (1.0, 31.0, 64.0, 100.0)]
        curve.keyframe_points.clear()
        for frame, value in zip((1.0, 31.0, 64.0, 100.0), values, strict=True):
            curve.keyframe_points.insert(frame, value)
    before = bone_places(rig, range(1, 101))
    kept = bits(channels(rig)[f'pose.bones["{few.name}"].rotation_euler', 0])
    result = animation.reduce(rig, error=0.003)
    assert np.linalg.norm(bone_places(rig, range(1, 101)) - before, axis=2).max() <= 0.003
    assert bits(channels(rig)[f'pose.bones["{few.name}"].rotation_euler', 0]) == kept
    assert result.diamonds < result.diamonds_before == 204


def test_what_deviates_between_frames_is_told_with_the_frame(animation, scene):
    obj = new_object()
    key_one(obj, "location", 0, HUNDRED, HUNDRED % 3.0, "LINEAR")
    result = animation.reduce(obj, error=0.01)
    curve = channels(obj)["location", 0]
    middles = np.arange(1.5, 100.0)
    played = np.array([curve.evaluate(frame) for frame in middles])
    wanted = 0.5 * (HUNDRED[1:] % 3.0 + HUNDRED[:-1] % 3.0)
    off = np.abs(played - wanted)
    assert result.between == pytest.approx(off.max(), abs=1e-5)
    assert off.max() > 0.01
    assert not result.is_within
    assert f"Between frames up to {off.max():.4f}"[:24] in str(result)
    assert result.between_at.startswith("location, frame ")
    # The headline begins with the largest error relative to its limit.
    assert result.headline_in("{:.1f}".format).startswith(f"error between frames {off.max():.1f}, limit 0.0 (location,")
    result.angle, result.angle_at = 0.99, "Ruler, frame 21"
    result.wanted_angle = 0.99 * result.wanted / result.between / 2.0
    assert result.headline_in("{:.1f}".format).startswith("rotation error 56.7°, limit ")
