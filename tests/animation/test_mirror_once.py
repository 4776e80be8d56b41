# SPDX-License-Identifier: GPL-3.0-or-later
"""A mirror in time negates bias and swaps eases of the keys as they were then: once, whatever plays the track."""

from __future__ import annotations

import bpy
import pytest

from tests.all_pairs import all_pairs
from tests.animation.curves import fcurves, key, new_object
from tests.animation.live import let_time_pass

KEYS = [(0, (0, 0, 0)), (10, (5, 1, 0)), (25, (2, 4, -1)), (40, (0, 1, 0))]
BEFORE = {"tension": 0.2, "bias": 0.6, "ease_to": 0.25, "ease_from": 0.125}
MIRRORED = {"tension": 0.2, "bias": -0.6, "ease_to": 0.125, "ease_from": 0.25}
AFTER = {"tension": -0.5, "bias": 0.375, "ease_to": 0.5, "ease_from": 0.0}
OUTPUTS = ("SAMPLES", "CURVES", "HANDLES")


def mirror(obj: bpy.types.Object, about: float) -> None:
    """What Blender's mirror in time leaves: keys and handles reversed, and sorted."""
    for fcurve in fcurves(obj):
        points = fcurve.keyframe_points
        for point in points:
            left, right = tuple(point.handle_left), tuple(point.handle_right)
            types = point.handle_left_type, point.handle_right_type
            point.handle_left_type, point.handle_right_type = types[::-1]
            point.co.x = 2 * about - point.co.x
            point.handle_left = (2 * about - right[0], right[1])
            point.handle_right = (2 * about - left[0], left[1])
        fcurve.update()


def numbers(animation, obj, path, frame):
    found = animation.edit.track_keys.key_at(obj, animation.find_track(obj, path), frame).parameters({})
    return {name: round(float(found[name][0]), 4) for name in AFTER}


PATHS = ["location", "rotation_euler", "rotation_quaternion"]


@pytest.fixture(params=PATHS)
def path(request):
    return request.param


@pytest.fixture
def obj(animation, path):
    obj = new_object("Ball", "QUATERNION" if "quaternion" in path else "XYZ")
    if "quaternion" in path:
        key(obj, path, [(frame, (1.0, x / 9, y / 9, z / 9)) for frame, (x, y, z) in KEYS])
    else:
        key(obj, path, [(frame, (x / 5, y / 5, z / 5)) for frame, (x, y, z) in KEYS])
    animation.enable(obj, keep_look=False)
    return obj


STATES = {
    "off": lambda animation, obj: None,
    "handles": lambda animation, obj: animation.bake(obj, output="HANDLES"),
    "restored": lambda animation, obj: (animation.bake(obj, output="HANDLES"), animation.restore(obj)),
    "freed from off": lambda animation, obj: (animation.bake(obj), animation.free(obj)),
    "freed from handles": lambda animation, obj: (
        animation.bake(obj, output="HANDLES"),
        animation.bake(obj),
        animation.free(obj),
    ),
}
NEXT = {
    "nothing": lambda animation, obj: None,
    "live": lambda animation, obj: (setattr(obj.animation_data.action, "tcb_live", True), let_time_pass(animation)),
    "samples and freed": lambda animation, obj: (animation.bake(obj), animation.free(obj)),
    "curves and freed": lambda animation, obj: (animation.bake(obj, output="CURVES"), animation.free(obj)),
    "samples": lambda animation, obj: animation.bake(obj),
    "handles": lambda animation, obj: animation.bake(obj, output="HANDLES"),
    "restored": lambda animation, obj: restored(animation, obj),
}


def restored(animation, obj):
    if animation.find_track(obj, fcurves(obj)[0].data_path).is_played:
        animation.restore(obj)


@pytest.mark.parametrize(
    ("path", "state", "then", "about"), all_pairs(PATHS, STATES, NEXT, [20.0, -500.0]), indirect=["path"]
)
def test_parameters_typed_after_a_mirror_stay_as_typed(animation, obj, path, state, then, about):
    STATES[state](animation, obj)
    plays = animation.find_track(obj, path).is_played
    animation.key_set(obj, path, 25, **BEFORE)
    mirror(obj, about)
    NEXT[then](animation, obj)
    typed, other = 2 * about - 10, 2 * about - 25
    animation.key_set(obj, path, typed, **AFTER)
    assert numbers(animation, obj, path, typed) == AFTER
    for output in OUTPUTS:
        animation.bake(obj, output=output)
        assert numbers(animation, obj, path, typed) == AFTER, output
    # The others are reversed once where the track was played; off, nothing looks at its keys.
    assert numbers(animation, obj, path, other) == (MIRRORED if plays else BEFORE)


def test_without_parameters_before_a_mirror_those_typed_later_stay_too(animation, obj, path):
    animation.bake(obj, output="HANDLES")
    mirror(obj, 20.0)
    for output in ("SAMPLES", "HANDLES"):
        animation.bake(obj, output=output)
        animation.key_set(obj, path, 30, **AFTER)
        animation.bake(obj, output=output)
        assert numbers(animation, obj, path, 30) == AFTER


def test_a_copy_of_a_mirrored_key_has_its_parameters(animation, obj, path):
    animation.key_set(obj, path, 25, **BEFORE)
    animation.bake(obj, output="HANDLES")
    mirror(obj, 20.0)
    animation.key_set(obj, path, 30, **AFTER)
    for fcurve in fcurves(obj):
        original = next(point for point in fcurve.keyframe_points if point.co.x == 15)
        floats = {name: getattr(original, name) for name in ("back", "amplitude", "period")}
        copied = fcurve.keyframe_points.insert(55, original.co.y)
        for name, number in floats.items():
            setattr(copied, name, number)
    animation.bake(obj, output="HANDLES")
    assert numbers(animation, obj, path, 15) == numbers(animation, obj, path, 55) == MIRRORED


def test_a_mirror_reverses_velocities(animation, numbers):
    ball = new_object("Ball")
    key(ball, "location", KEYS)
    animation.enable(ball, keep_look=False)
    animation.choose(ball, "location", method="HERMITE")
    animation.key_set(ball, "location", 25, velocity=(1.5, -2.0, 0.25))
    animation.bake(ball, output="HANDLES")
    mirror(ball, 20.0)
    animation.bake(ball, output="HANDLES")
    for component, velocity in enumerate((-1.5, 2.0, -0.25)):
        assert numbers(ball, "location", "velocity", component) == {15.0: velocity}
