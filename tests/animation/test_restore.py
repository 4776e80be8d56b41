# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore after bake: every F-curve as it was, to the last bit."""

from __future__ import annotations

import random
from typing import Any

import bpy
import pytest

from tests.animation.curves import (
    MODES,
    PARAMETERS,
    bag_of,
    co,
    differences,
    has_table,
    key,
    new_object,
    rotation_path,
    snapshot,
)

ACTIONS = 200
SEED = 20240229


def _enum(name: str) -> list[str]:
    return [item.identifier for item in bpy.types.Keyframe.bl_rna.properties[name].enum_items]


def _random_curve(dice: random.Random, bag, path: str, index: int, frames: list[float]) -> None:
    fcurve = bag.fcurves.new(path, index=index)
    if dice.random() < 0.7:
        fcurve.group = bag.groups.get("Things") or bag.groups.new("Things")
    for frame in frames:
        fcurve.keyframe_points.insert(frame, dice.uniform(-4, 4) or 1.0, options={"FAST"})
    for point in fcurve.keyframe_points:
        point.interpolation = dice.choice(_enum("interpolation"))
        point.easing = dice.choice(_enum("easing"))
        point.handle_left_type = dice.choice(_enum("handle_left_type"))
        point.handle_right_type = dice.choice(_enum("handle_right_type"))
        point.type = dice.choice(_enum("type"))
        if dice.random() < 0.5:
            point.back, point.amplitude, point.period = dice.uniform(-3, 3), dice.uniform(0, 3), dice.uniform(0, 9)
        point.select_control_point, point.select_left_handle, point.select_right_handle = (
            dice.random() < 0.5 for _ in range(3)
        )
        if dice.random() < 0.5:
            point.handle_left_type = point.handle_right_type = "FREE"
            point.handle_left = (point.co.x - dice.uniform(0, 30), dice.uniform(-40, 40))
            point.handle_right = (point.co.x + dice.uniform(0, 30), dice.uniform(-40, 40))
    if dice.random() < 0.7:
        fcurve.update()
    # Beyond its keys a rotation's steep line, met at another channel's keys, can be too many turns to count.
    fcurve.extrapolation = dice.choice(["CONSTANT", "LINEAR"]) if "rotation" not in path else "CONSTANT"
    fcurve.auto_smoothing = dice.choice(["NONE", "CONT_ACCEL"])
    if dice.random() < 0.15:
        modifier = fcurve.modifiers.new(dice.choice(["CYCLES", "NOISE", "STEPPED", "LIMITS"]))
        modifier.mute = dice.random() < 0.3


def _random_frames(dice: random.Random) -> list[float]:
    frames = [dice.choice([-120.0, 0.0, 1.0, 900.0]) + dice.choice([0, 0, 0.37])]
    for _ in range(dice.choice([0, 1, 2, 3, 5, 8])):
        frames.append(frames[-1] + dice.choice([1, 2, 5, 11, 0.25, 0.1, dice.uniform(0.05, 9)]))
    return frames


def _random_action(dice: random.Random, number: int) -> bpy.types.Object:
    mode = MODES[number % len(MODES)]
    thing = new_object("Thing", mode)
    thing.rotation_axis_angle = (0.3, 0.0, 0.0, 1.0)
    thing["grip"] = 0.5
    thing["sway"] = [0.1, 0.2, 0.3, 0.4, 0.5]
    bag = bag_of(thing)
    widths = {"location": 3, rotation_path(mode): 4 if number % 8 < 2 else 3, "scale": 3, '["grip"]': 1, '["sway"]': 5}
    for path in dice.sample(sorted(widths), dice.randint(1, len(widths))):
        frames = _random_frames(dice)
        for index in range(widths[path]):
            if dice.random() < 0.85 or index == 0:
                _random_curve(dice, bag, path, index, frames if dice.random() < 0.7 else _random_frames(dice))
    return thing


def _bake_at_random(dice: random.Random, animation, thing: bpy.types.Object) -> Any:
    animation.enable(thing)
    for fcurve in list(bag_of(thing).fcurves):
        path = fcurve.data_path
        for frame, _ in co(fcurve):
            if dice.random() < 0.3:
                name = dice.choice(PARAMETERS)
                value = dice.uniform(0 if name.startswith("ease") else -1, 1)
                animation.key_set(thing, path, float(frame), **{name: value})
        if dice.random() < 0.2:
            animation.choose(thing, path, cycle=dice.choice(["SINGLE", "REPEAT", "LOOP"]))
    frame_range = dice.choice([None, None, (-130, 950), (3.3, 4.4), (902, 907)])
    return animation.bake(thing, step=dice.choice([0.25, 1, 3, 0.7]), frame_range=frame_range)


@pytest.mark.parametrize("part", range(4))
def test_restore_gives_back_the_bits_of_random_actions(animation, part: int) -> None:
    wrong = []
    for number in range(part, ACTIONS, 4):
        dice = random.Random(SEED + number)
        thing = _random_action(dice, number // 4)
        before = snapshot(thing)
        baked = _bake_at_random(dice, animation, thing)
        # A range may touch nothing; then there is nothing to restore, and that must be so to the last bit too.
        if baked.tracks:
            animation.restore(thing)
        wrong += [(number, *difference) for difference in differences(before, snapshot(thing), identities=False)]
    assert wrong == []


@pytest.mark.parametrize("part", range(2))
def test_remove_leaves_no_trace_of_random_actions(animation, part: int) -> None:
    wrong = []
    for number in range(part, 40, 2):
        dice = random.Random(SEED - 1 - number)
        thing = _random_action(dice, number)
        before, groups = snapshot(thing), [group.name for group in bag_of(thing).groups]
        _bake_at_random(dice, animation, thing)
        animation.remove(thing)
        wrong += [(number, *difference) for difference in differences(before, snapshot(thing))]
        assert [group.name for group in bag_of(thing).groups] == groups
        assert not has_table(thing)
    assert wrong == []


def test_restore_gives_a_component_that_was_not_animated_its_value_back(animation) -> None:
    thing = new_object("Thing", "XYZ")
    thing.rotation_euler = (0.0, 0.25, 0.0)
    key(thing, "rotation_euler", [(0, (0, 0, 0)), (10, (1, 0, 1)), (25, (-1, 0, 2))], channels=[0, 2])
    before = snapshot(thing)
    animation.bake(thing)
    bpy.context.scene.frame_set(5)
    animation.restore(thing)
    assert differences(before, snapshot(thing), identities=False) == []
    assert tuple(thing.rotation_euler)[1] == 0.25


def test_restoring_twice_is_refused_the_second_time(animation) -> None:
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (10, (1, 2, 3))])
    animation.bake(thing)
    animation.restore(thing)
    with pytest.raises(animation.AnimationError, match="nothing on it is baked"):
        animation.restore(thing)
