# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirroring in time negates the bias and swaps the eases of keys exactly once, whatever plays the track."""

from __future__ import annotations

import bpy
import pytest

from tests.all_pairs import all_pairs, each_once
from tests.animation.curves import fcurves, key, new_object
from tests.animation.live import let_time_pass

KEYS = [(0, (0, 0, 0)), (10, (5, 1, 0)), (25, (2, 4, -1)), (40, (0, 1, 0))]
BEFORE = {"tension": 0.2, "continuity": -0.3, "bias": 0.6, "ease_to": 0.25, "ease_from": 0.125}
MIRRORED = {"tension": 0.2, "continuity": -0.3, "bias": -0.6, "ease_to": 0.125, "ease_from": 0.25}
AFTER = {"tension": -0.5, "continuity": 0.125, "bias": 0.375, "ease_to": 0.5, "ease_from": 0.0}
OUTPUTS = ("SAMPLES", "CURVES", "HANDLES")


def mirror(obj: bpy.types.Object, about: float) -> None:
    """Mirror in time with the result of Blender: keys and handles of unlocked curves are reversed and sorted."""
    for fcurve in fcurves(obj):
        if fcurve.lock:
            continue
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
    # The other keys are reversed once if the track was played. If it is off, nothing checks its keys.
    assert numbers(animation, obj, path, other) == (MIRRORED if plays else BEFORE)


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


LATER = {
    "nothing": lambda animation, obj: None,
    "samples": lambda animation, obj: animation.bake(obj),
    "curves": lambda animation, obj: animation.bake(obj, output="CURVES"),
    "freed": lambda animation, obj: animation.free(obj),
    "all by handles": lambda animation, obj: animation.bake(obj, output="HANDLES"),
    "restored": lambda animation, obj: animation.restore(obj),
}


@pytest.mark.parametrize(
    ("then", "output", "live"), each_once(LATER, ["SAMPLES", "CURVES"], [False, True, True, False])
)
def test_beside_a_baked_track_that_of_handles_is_mirrored_alone_and_once(animation, scene, output, live, then):
    """Live is on or off. The baked track is locked, so Blender mirrors only the other track."""
    obj = new_object("Ball")
    for path in ("location", "scale"):
        key(obj, path, KEYS)
        animation.key_set(obj, path, 25, **BEFORE)
    animation.bake(obj, output="HANDLES")
    animation.bake(obj, prefixes=["location"], output=output)
    obj.animation_data.action.tcb_live = live
    mirror(obj, 20.0)
    if live:
        let_time_pass(animation)
    LATER[then](animation, obj)
    animation.key_set(obj, "scale", 30, **AFTER)
    animation.key_set(obj, "location", 10, **AFTER)
    for each in (*OUTPUTS, "HANDLES"):
        animation.bake(obj, output=each)
        let_time_pass(animation)
        assert numbers(animation, obj, "scale", 30) == numbers(animation, obj, "location", 10) == AFTER
        assert numbers(animation, obj, "scale", 15) == MIRRORED
        assert numbers(animation, obj, "location", 25) == BEFORE


@pytest.mark.parametrize(("output", "count"), each_once(OUTPUTS, [1, 2, 3]))
def test_under_live_each_mirror_is_applied_once_through_all_outputs(animation, scene, output, count):
    """After two mirrors, the parameters are as before. Three mirrors have the effect of one."""
    obj = new_object("Ball")
    key(obj, "location", KEYS)
    animation.key_set(obj, "location", 25, **BEFORE)
    animation.bake(obj, output="HANDLES")
    obj.animation_data.action.tcb_live = True
    for _ in range(count):
        mirror(obj, 20.0)
        let_time_pass(animation)
    frame, expected = (15, MIRRORED) if count % 2 else (25, BEFORE)
    for then in ("HANDLES", output, "HANDLES"):
        animation.bake(obj, output=then)
        let_time_pass(animation)
        assert numbers(animation, obj, "location", frame) == expected
    animation.key_set(obj, "location", frame, **AFTER)
    animation.bake(obj, output=output)
    if output != "HANDLES":
        animation.free(obj)
    let_time_pass(animation)
    assert numbers(animation, obj, "location", frame) == AFTER


def copy_keys(obj: bpy.types.Object, frames: list[float], by: float) -> None:
    """Duplicate keys with the result of Blender: new keys with all attributes of the originals."""
    for fcurve in fcurves(obj):
        for frame in frames:
            original = next(point for point in fcurve.keyframe_points if point.co.x == frame)
            given = {name: getattr(original, name) for name in ("back", "amplitude", "period")}
            sides = {name: tuple(getattr(original, name)) for name in ("handle_left", "handle_right")}
            copied = fcurve.keyframe_points.insert(frame + by, original.co.y)
            copied.handle_left_type = copied.handle_right_type = "FREE"
            for name, number in given.items():
                setattr(copied, name, number)
            for name, (x, y) in sides.items():
                setattr(copied, name, (x + by, y))
        fcurve.update()


def mirror_copies(obj: bpy.types.Object, frames: list[float], about: float) -> None:
    """Mirror only these keys."""
    for fcurve in fcurves(obj):
        for point in fcurve.keyframe_points:
            if point.co.x in frames:
                left, right = tuple(point.handle_left), tuple(point.handle_right)
                point.co.x = 2 * about - point.co.x
                point.handle_left = (2 * about - right[0], right[1])
                point.handle_right = (2 * about - left[0], left[1])
        fcurve.update()


@pytest.mark.parametrize(
    ("path", "copied", "by", "output"),
    all_pairs(PATHS, [[15.0], [15.0, 30.0], [0.0, 15.0, 30.0, 40.0]], [50.0, -60.0], ["SAMPLES", "HANDLES"]),
    indirect=["path"],
)
def test_mirrored_keys_that_are_copied_before_anything_looks_are_reversed_with_their_copies(
    animation, obj, path, copied, by, output
):
    animation.key_set(obj, path, 25, **BEFORE)
    animation.bake(obj, output="HANDLES")
    mirror(obj, 20.0)
    copy_keys(obj, copied, by)
    for each in (output, "HANDLES"):
        animation.bake(obj, output=each)
        assert numbers(animation, obj, path, 15) == numbers(animation, obj, path, 15 + by) == MIRRORED


@pytest.mark.parametrize(("path", "output"), each_once(PATHS, OUTPUTS), indirect=["path"])
def test_copies_that_are_mirrored_before_anything_looks_are_reversed_alone(animation, obj, path, output):
    """For a motion back and forth, the copy is mirrored and placed after the original."""
    animation.key_set(obj, path, 25, **BEFORE)
    animation.bake(obj, output="HANDLES")
    copy_keys(obj, [10.0, 25.0, 40.0], 40.0)
    mirror_copies(obj, [50.0, 65.0, 80.0], 65.0)
    for each in (output, "HANDLES"):
        animation.bake(obj, output=each)
        assert numbers(animation, obj, path, 25) == BEFORE
        assert numbers(animation, obj, path, 65) == MIRRORED
