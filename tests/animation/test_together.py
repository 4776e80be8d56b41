# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks that are baked together get the same keys, bit for bit, as tracks that are baked separately."""

from __future__ import annotations

import random
from typing import Any

import bpy
import pytest

from tests.all_pairs import each_once
from tests.animation.curves import ORDERS, differences, fcurves, key, new_object, snapshot

FRAMES = (1, 9, 20, 34, 45, 60)
PATHS = {"location": 3, "scale": 3, "delta_location": 3, "delta_scale": 3, "rotation_quaternion": 4}
OUTPUTS: dict[str, dict[str, Any]] = {
    "handles": {"output": "HANDLES"},
    "samples": {"output": "SAMPLES"},
    "more samples than keys": {"output": "SAMPLES", "step": 0.4, "extend": (-10.0, 80.0)},
    "curves": {"output": "CURVES"},
}


def keyed_alike(animation) -> bpy.types.Object:
    """An object whose tracks are keyed at the same frames. Some tracks have settings that lead to different keys."""
    thing = new_object("Thing", "QUATERNION")
    dice = random.Random(4)
    for path, width in PATHS.items():
        key(thing, path, [(frame, tuple(dice.uniform(-2, 2) for _ in range(width))) for frame in FRAMES])
    curves = {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in fcurves(thing)}
    for index in range(3):
        curves["scale", index].keyframe_points[2].interpolation = "CONSTANT"
    for point in curves["delta_location", 1].keyframe_points:
        point.co.y = 1.0
    curves["delta_location", 1].update()
    curves["location", 0].keyframe_points[1].select_control_point = True
    animation.enable(thing, keep_look=False)
    curves["delta_scale", 2].keyframe_points[3].handle_left_type = "VECTOR"
    for path in PATHS:
        numbers = {name: dice.uniform(-0.9, 0.9) for name in ("tension", "continuity", "bias")}
        animation.key_set(thing, path, dice.choice(FRAMES), **numbers, ease_to=dice.choice((0.0, 0.4)))
    return thing


def move(thing: bpy.types.Object) -> None:
    """Move the keys at frame 34 slightly."""
    for fcurve in fcurves(thing):
        point = next(point for point in fcurve.keyframe_points if abs(point.co.x - 34) < 0.01)
        point.co_ui.x = 34.25
        fcurve.update()


@pytest.mark.parametrize(("output", "is_moved"), [*each_once(OUTPUTS, [False, True]), ("handles", True)])
def test_tracks_baked_together_get_the_keys_that_each_gets_alone(animation, output: str, is_moved: bool) -> None:
    options = OUTPUTS[output]
    together, alone = keyed_alike(animation), keyed_alike(animation)
    for thing in (together, alone) if is_moved else ():
        animation.bake(thing, output="HANDLES")
        move(thing)
    animation.bake(together, **options)
    for path in PATHS:
        animation.bake(alone, prefixes=[path], **options)
    assert differences(snapshot(together), snapshot(alone), identities=False) == []


def test_rotations_of_each_order_keyed_at_the_same_frames_are_baked_together_as_alone(animation) -> None:
    turns = [(1, (0.0, 0.0, 0.0)), (12, (1.1, -0.7, 0.9)), (30, (-0.4, 1.2, 2.0))]
    objects = [new_object(order, order) for order in (*ORDERS, *ORDERS)]
    for thing in objects:
        key(thing, "rotation_euler", turns)
        animation.enable(thing, keep_look=False)
    together, alone = objects[: len(ORDERS)], objects[len(ORDERS) :]
    animation.bake_many(together, animation.Options())
    for one, other in zip(together, alone, strict=True):
        animation.bake(other)
        assert differences(snapshot(one), snapshot(other), identities=False) == []
