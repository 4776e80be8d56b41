# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the errors of Reduce in evaluated poses of armatures with constraints, drivers and NLA strips."""

from __future__ import annotations

from importlib import import_module

import bpy
import numpy as np
import pytest

from tests.animation.curves import (
    Bone,
    action_bits,
    bone_places,
    key_densely,
    new_object,
    new_rig,
)

ERROR = 0.01
FRAMES = 80


def waves(*factors, noise=3e-4):
    """Return smooth values with some noise, with one column per factor."""
    t = np.arange(FRAMES) / 12.0
    random = np.random.default_rng(11)
    every = [factor * np.sin((1.0 + 0.3 * number) * t + number) for number, factor in enumerate(factors)]
    return np.stack(every, axis=1) + noise * random.normal(size=(FRAMES, len(factors)))


@pytest.fixture
def leg(scene):
    """Return a leg whose foot follows a target by inverse kinematics with a pole, starting at frame 20."""
    rig = new_rig(
        Bone("Hip", (0.0, 0.0, 2.0), (0.0, 0.0, 2.3)),
        Bone("Thigh", (0.0, 0.0, 2.0), (0.0, -0.1, 1.0), "Hip"),
        Bone("Shin", (0.0, -0.1, 1.0), (0.0, 0.0, 0.1), "Thigh", connected=True),
        Bone("Foot", (0.0, 0.0, 0.1), (0.0, -0.3, 0.0), "Shin", connected=True),
        Bone("Target", (0.0, 0.0, 0.1), (0.0, 0.3, 0.1)),
        Bone("Pole", (0.0, -1.5, 1.0), (0.0, -1.8, 1.0)),
    )
    bones = rig.pose.bones
    for bone in bones:
        bone.rotation_mode = "XYZ"
    limb = bones["Shin"].constraints.new("IK")
    limb.target, limb.subtarget, limb.chain_count = rig, "Target", 2
    limb.pole_target, limb.pole_subtarget, limb.pole_angle = rig, "Pole", -1.5708
    limb.influence = 0.0
    limb.keyframe_insert("influence", frame=1)
    limb.influence = 1.0
    limb.keyframe_insert("influence", frame=20)
    key_densely(bones["Hip"], "location", waves(0.1, 0.15, 0.05))
    key_densely(bones["Hip"], "rotation_euler", waves(0.1, 0.2, 0.05))
    key_densely(bones["Thigh"], "rotation_euler", waves(0.2, 0.02, 0.1))
    key_densely(bones["Shin"], "rotation_euler", waves(0.2, 0.02, 0.02))
    key_densely(bones["Foot"], "rotation_euler", waves(0.3, 0.02, 0.1))
    key_densely(bones["Target"], "location", waves(0.1, 0.3, 0.2))
    return rig


@pytest.fixture
def tail(scene):
    """Return a chain of bones that all copy the rotation of one bone, which adds up, and a bone with limits."""
    names = [f"Tail{number}" for number in range(6)]
    rig = new_rig(
        Bone("Control", (1.0, 0.0, 0.0), (1.0, 0.0, 0.2)),
        *(
            Bone(name, (0.0, 0.0, float(number)), (0.0, 0.0, number + 1.0), names[number - 1] if number else "")
            for number, name in enumerate(names)
        ),
        Bone("Limited", (2.0, 0.0, 0.0), (2.0, 0.0, 1.0)),
        Bone("Looking", (3.0, 0.0, 0.0), (3.0, 0.0, 1.0)),
    )
    bones = rig.pose.bones
    for bone in bones:
        bone.rotation_mode = "XYZ"
    for name in names:
        copied = bones[name].constraints.new("COPY_ROTATION")
        copied.target, copied.subtarget, copied.mix_mode = rig, "Control", "ADD"
        copied.target_space = copied.owner_space = "LOCAL"
    limits = bones["Limited"].constraints.new("LIMIT_ROTATION")
    limits.use_limit_x, limits.min_x, limits.max_x, limits.owner_space = True, -0.1, 0.2, "LOCAL"
    looks = bones["Looking"].constraints.new("DAMPED_TRACK")
    looks.target, looks.subtarget = rig, "Limited"
    bones["Looking"].constraints["Damped Track"].head_tail = 1.0
    key_densely(bones["Control"], "rotation_euler", waves(0.2, 0.15, 0.1))
    key_densely(bones["Tail0"], "rotation_euler", waves(0.1, 0.1, 0.1))
    key_densely(bones["Limited"], "rotation_euler", waves(0.5, 0.1, 0.1))
    return rig


@pytest.fixture
def driven(scene):
    """Return an armature with a driver that turns one bone three times as far as another bone moves."""
    rig = new_rig(Bone("Hand", (0.0, 0.0, 0.0), (0.0, 0.0, 0.1)), Bone("Wheel", (1.0, 0.0, 0.0), (1.0, 0.0, 2.0)))
    rig.pose.bones["Wheel"].rotation_mode = "XYZ"
    driver = rig.driver_add('pose.bones["Wheel"].rotation_euler', 0).driver
    variable = driver.variables.new()
    variable.name, variable.type = "moved", "TRANSFORMS"
    target = variable.targets[0]
    target.id, target.bone_target, target.transform_type, target.transform_space = rig, "Hand", "LOC_X", "LOCAL_SPACE"
    driver.type, driver.expression = "SCRIPTED", "3.0 * moved"
    key_densely(rig.pose.bones["Hand"], "location", waves(0.5, 0.3, 0.2))
    return rig


@pytest.fixture
def layered(scene):
    """Return an armature with an NLA strip that adds motion to its action."""
    rig = new_rig(Bone("Bone", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    bone = rig.pose.bones["Bone"]
    bone.rotation_mode = "XYZ"
    key_densely(bone, "location", waves(0.5, 0.3, 0.2))
    animation = rig.animation_data
    strip = animation.nla_tracks.new().strips.new("Below", 1, animation.action)
    animation.action = None
    key_densely(bone, "rotation_euler", waves(0.5, 0.3, 0.2))
    strip.blend_type = "REPLACE"
    return rig


@pytest.mark.parametrize("name", ["leg", "tail", "driven", "layered"])
def test_no_bone_is_farther_from_where_blender_evaluates_it_than_asked_for(animation, scene, request, name):
    rig = request.getfixturevalue(name)
    original, kept = rig.animation_data.action, action_bits(rig.animation_data.action)
    before = bone_places(rig, range(1, FRAMES + 1))
    actions, frame = len(bpy.data.actions), scene.frame_current
    result = animation.reduce(rig, error=ERROR)
    off = np.linalg.norm(bone_places(rig, range(1, FRAMES + 1)) - before, axis=2)
    assert off.max() <= ERROR
    assert result.reached
    assert result.evaluated
    assert result.error == pytest.approx(off.max(), abs=1e-5)
    assert result.diamonds < result.diamonds_before / 2
    assert (len(bpy.data.actions), len(bpy.data.scenes), scene.frame_current) == (actions + 1, 1, frame)
    assert action_bits(original) == kept


def test_what_can_not_be_kept_is_said(animation, scene, driven):
    driven.animation_data.drivers[0].driver.expression = "sin(100000.0 * moved)"
    result = animation.reduce(driven, error=0.001)
    assert not result.reached
    assert "constraints or drivers amplify small changes" in str(result)
    assert result.error > 0.001


def test_what_stands_still_is_held_where_blender_evaluates_it(animation, scene, leg):
    before = bone_places(leg, range(1, FRAMES + 1))
    result = animation.reduce(leg, error=0.05, still=0.02)
    assert result.reached
    assert np.linalg.norm(bone_places(leg, range(1, FRAMES + 1)) - before, axis=2).max() <= 0.05
    assert 0.0 < result.still <= 0.02


def test_the_filter_is_reported_as_blender_evaluates_it(animation, scene, tail):
    before = bone_places(tail, range(1, FRAMES + 1))
    result = animation.reduce(tail, error=0.001, period=8.0)
    off = np.linalg.norm(bone_places(tail, range(1, FRAMES + 1)) - before, axis=2).max()
    assert result.reached
    assert off == pytest.approx(result.noise, abs=0.002)
    assert result.noise > 0.002


def test_a_number_of_keys_comes_with_the_error_that_blender_evaluates(animation, scene, tail):
    before = bone_places(tail, range(1, FRAMES + 1))
    result = animation.reduce(tail, error=0.02, key_count=40)
    off = np.linalg.norm(bone_places(tail, range(1, FRAMES + 1)) - before, axis=2).max()
    assert result.diamonds <= 40
    assert result.error == pytest.approx(off, abs=1e-4)
    assert result.reached


def test_counts_of_keys_are_those_that_reduce_leaves(animation, scene, driven):
    (count,) = animation.keys_by_error(driven, [ERROR])
    result = animation.reduce(driven, error=ERROR)
    assert result.diamonds - result.mended == count.keys


def test_a_range_is_reduced_under_constraints_too(animation, scene, tail):
    before = bone_places(tail, range(1, FRAMES + 1))
    result = animation.reduce(tail, error=ERROR, frame_range=(30.0, 60.0))
    off = np.linalg.norm(bone_places(tail, range(1, FRAMES + 1)) - before, axis=2).max(axis=1)
    assert result.reached
    assert off.max() <= ERROR
    assert off[[*range(30), *range(59, FRAMES)]].max() < 1e-6


def test_a_search_that_is_ended_leaves_no_copy(animation, scene, tail):
    reduction = f"{animation.__name__}.reduction"
    wanted = import_module(f"{reduction}.report").ReduceRequest(error=ERROR)
    steps = import_module(f"{reduction}.reduce").reduce_steps({tail: (None, wanted)})
    original, actions = tail.animation_data.action, list(bpy.data.actions)
    for _ in range(12):
        next(steps)
    steps.close()
    assert tail.animation_data.action == original
    assert (list(bpy.data.actions), len(bpy.data.scenes)) == (actions, 1)


@pytest.mark.parametrize(("kind", "is_refused"), [("ACTIVE", True), ("PASSIVE", False)])
def test_only_parents_that_physics_moves_are_refused(animation, driven, kind, is_refused):
    floor = new_object("Floor", data=bpy.data.meshes.new("Floor"))
    bpy.context.view_layer.objects.active = floor
    bpy.ops.rigidbody.object_add(type=kind)
    driven.parent = floor
    action = driven.animation_data.action
    if is_refused:
        with pytest.raises(animation.AnimationError, match=r'^"Rig": moved by physics: Floor is a rigid body$'):
            animation.reduce(driven, error=ERROR)
        assert driven.animation_data.action == action
    else:
        assert animation.reduce(driven, error=ERROR).reached
