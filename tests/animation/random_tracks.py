# SPDX-License-Identifier: GPL-3.0-or-later
"""Random objects and actions whose channels have keys at different frames."""

from __future__ import annotations

import random

import bpy

from tests.animation.curves import ALL_MODES, MODES, bag_of, co, fcurves, key, new_object, rotation_path


def mixed(mode: str, seed: int = 0) -> bpy.types.Object:
    """Return an object whose channels have keys at different frames, with every kind of track."""
    dice = random.Random(seed)
    thing = new_object("Thing", mode)
    thing["grip"] = 0.5
    paths = {"location": 3, rotation_path(mode): 4 if mode in MODES[:2] else 3, "scale": 3, '["grip"]': 1}
    for path, width in paths.items():
        for index in range(width):
            frames = sorted(dice.sample(range(-20, 60), dice.randint(2, 5)))
            rows = [(frame + dice.choice([0, 0.25, 0.1]), (dice.uniform(0.2, 3),) * width) for frame in frames]
            key(thing, path, rows, channels=[index])
    return thing


def parametrised(animation, thing: bpy.types.Object) -> None:
    animation.enable(thing, keep_look=False)
    for fcurve in fcurves(thing):
        animation.key_set(thing, fcurve.data_path, co(fcurve)[1, 0], tension=0.5, bias=-0.25, ease_to=0.3)


def enum(name: str) -> list[str]:
    return [item.identifier for item in bpy.types.Keyframe.bl_rna.properties[name].enum_items]


def _random_curve(dice: random.Random, bag, path: str, index: int, frames: list[float]) -> None:
    fcurve = bag.fcurves.new(path, index=index)
    if dice.random() < 0.7:
        fcurve.group = bag.groups.get("Things") or bag.groups.new("Things")
    for frame in frames:
        fcurve.keyframe_points.insert(frame, dice.uniform(-4, 4) or 1.0, options={"FAST"})
    for point in fcurve.keyframe_points:
        point.interpolation = dice.choice(enum("interpolation"))
        point.easing = dice.choice(enum("easing"))
        point.handle_left_type = dice.choice(enum("handle_left_type"))
        point.handle_right_type = dice.choice(enum("handle_right_type"))
        point.type = dice.choice(enum("type"))
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
    # Outside its keys, a steep linear extrapolation can reach too many turns at another channel's keys.
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


def random_action(dice: random.Random, number: int) -> bpy.types.Object:
    mode = ALL_MODES[number % len(ALL_MODES)]
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
