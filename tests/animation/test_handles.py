# SPDX-License-Identifier: GPL-3.0-or-later
"""What handles play, by Blender's own evaluation; that it goes away without a trace, or stays without TCB."""

from __future__ import annotations

import math
import random
from typing import Any

import bpy
import numpy as np
import pytest

from .curves import fcurves

FRAMES = (1, 12, 30, 41, 60)
FIELDS = ("co", "handle_left", "handle_right", "interpolation", "easing", "type", "back", "amplitude", "period")
TYPES = ("handle_left_type", "handle_right_type")


@pytest.fixture
def make() -> Any:
    """Makes an object with keyed locations and rotations."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)

    def keyed(mode: str, seed: int = 3, angle: float = 1.0) -> Any:
        dice = random.Random(seed)
        obj: Any = bpy.data.objects.new("Thing", None)
        bpy.context.collection.objects.link(obj)
        obj.rotation_mode = mode
        path = "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"
        for frame in FRAMES:
            obj.location = [dice.uniform(-3, 3) for _ in range(3)]
            turns = [dice.uniform(-angle, angle) for _ in range(3)]
            if mode == "QUATERNION":
                numbers = np.array([1.0, *turns]) * dice.choice((-1.0, 1.0))
                obj.rotation_quaternion = numbers / np.linalg.norm(numbers)
            else:
                obj.rotation_euler = turns
            for each in ("location", path):
                obj.keyframe_insert(each, frame=frame)
        return obj

    return keyed


def state(obj: Any, types: bool = True) -> list[Any]:
    """All that the keys of an object have."""
    names = FIELDS + TYPES if types else FIELDS

    def plain(value: Any) -> Any:
        return value if isinstance(value, (str, float)) else tuple(value)

    return [
        (
            fcurve.data_path,
            fcurve.array_index,
            fcurve.extrapolation,
            *tuple(tuple(plain(getattr(point, name)) for name in names) for point in fcurve.keyframe_points),
        )
        for fcurve in fcurves(obj)
    ]


def played(obj: Any, step: float = 0.25) -> tuple[Any, Any]:
    """Where the object is and how it is turned, at frames `step` apart: shapes (n, 3) and (n, 3, 3)."""
    matrices = []
    scene: Any = bpy.context.scene
    for number in range(int((FRAMES[-1] - FRAMES[0]) / step) + 1):
        frame = FRAMES[0] + number * step
        scene.frame_set(int(frame), subframe=frame - int(frame))
        matrices.append(np.array(obj.matrix_world))
    every = np.array(matrices)
    return every[:, :3, 3], every[:, :3, :3]


def largest_angle(turns: Any, others: Any) -> float:
    """Radians."""
    apart = np.linalg.norm(turns - others, axis=(1, 2))
    return float(2.0 * np.arcsin(np.clip(apart / math.sqrt(8.0), 0.0, 1.0)).max())


def exact(animation: Any, obj: Any) -> tuple[Any, Any]:
    """What a bake of close samples plays; it is taken away again."""
    animation.bake(obj, step=0.25)
    result = played(obj)
    animation.restore(obj)
    return result


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZYX"])
@pytest.mark.parametrize("ease", [0.0, 0.4])
def test_handles_play_the_motion_as_near_as_they_say(animation, make, mode: str, ease: float) -> None:
    obj = make(mode)
    animation.enable(obj)
    path = "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"
    animation.key_set(obj, "location", 12, tension=0.4, continuity=-0.3, bias=0.2)
    animation.key_set(obj, path, 30, tension=-0.4, bias=0.3, ease_to=ease)
    places, turns = exact(animation, obj)
    report = animation.bake(obj, output="HANDLES")
    assert [len(fcurve.keyframe_points) for fcurve in fcurves(obj)] == [len(FRAMES)] * len(list(fcurves(obj)))
    at, turned = played(obj)
    assert np.abs(at - places).max() <= 4e-6 * np.ptp(places)
    angle, rounding = largest_angle(turned, turns), 1e-6
    assert angle <= 1.05 * report.rotation_error + rounding
    assert report.rotation_error <= 2.0 * angle + rounding
    assert math.degrees(report.rotation_error) < (3.0 if ease else 0.5)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_handles_go_without_a_trace(animation, make, mode: str) -> None:
    obj = make(mode)
    before = state(obj)
    animation.enable(obj)
    animation.key_set(obj, "location", 12, tension=0.4)
    enabled = state(obj, types=True)
    animation.bake(obj, output="HANDLES")
    handles = state(obj)
    animation.bake(obj, output="HANDLES")
    assert state(obj) == handles
    animation.restore(obj)
    assert state(obj) == enabled
    for output in ("SAMPLES", "CURVES"):
        animation.bake(obj, output=output)
        animation.bake(obj, output="HANDLES")
        assert state(obj) == handles
    animation.remove(obj)
    assert state(obj) == before


def test_own_values_stay_and_quaternions_may_be_negated(animation, make) -> None:
    obj = make("QUATERNION")
    values = {(c.data_path, c.array_index): [point.co.y for point in c.keyframe_points] for c in fcurves(obj)}
    animation.bake(obj, output="HANDLES")
    for fcurve in fcurves(obj):
        now = [point.co.y for point in fcurve.keyframe_points]
        was = values[fcurve.data_path, fcurve.array_index]
        assert now == was or (
            fcurve.data_path == "rotation_quaternion" and np.abs(now).tolist() == np.abs(was).tolist()
        )


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES", "HANDLES"])
def test_apply_keeps_what_is_played_and_nothing_of_tcb(animation, make, output: str) -> None:
    obj = make("QUATERNION")
    floats = {point.back for fcurve in fcurves(obj) for point in fcurve.keyframe_points}
    animation.bake(obj, output=output)
    places, turns = played(obj)
    count = sum(len(fcurve.keyframe_points) for fcurve in fcurves(obj))
    report = animation.apply(obj)
    assert report.tracks == 2
    at, turned = played(obj)
    assert (at == places).all()
    assert (turned == turns).all()
    points = [point for fcurve in fcurves(obj) for point in fcurve.keyframe_points]
    assert len(points) == count
    assert {point.type for point in points} == {"KEYFRAME"}
    assert {point.back for point in points} == floats
    assert not obj.animation_data.action.keys()
    with pytest.raises(animation.Refusal):
        animation.apply(obj)


def test_live_keeps_handles_up_to_date(animation, make) -> None:
    obj = make("QUATERNION")
    animation.bake(obj, output="HANDLES")
    obj.animation_data.action.tcb_live = True
    fcurve = next(iter(fcurves(obj)))
    point = fcurve.keyframe_points[2]
    point.co_ui = (33.0, 1.5)
    fcurve.update()
    assert "FINISHED" in bpy.ops.tcb.sync()
    live = state(obj)
    obj.animation_data.action.tcb_live = False
    animation.bake(obj, output="HANDLES")
    assert state(obj) == live


def test_what_handles_cannot_play_is_refused_and_stays(animation, make) -> None:
    obj = make("QUATERNION")
    ragged = next(fcurve for fcurve in fcurves(obj) if fcurve.data_path == "rotation_quaternion")
    ragged.keyframe_points.remove(ragged.keyframe_points[2])
    before = state(obj)
    with pytest.raises(animation.Refusal, match="key whole rotations"):
        animation.bake(obj, output="HANDLES")
    assert state(obj) == before


def test_a_range_leaves_other_handles_alone(animation, make) -> None:
    obj = make("XYZ")
    before = state(obj)
    animation.bake(obj, output="HANDLES", frame_range=(32, 38))
    after = state(obj)
    for was, now in zip(before, after, strict=True):
        # The segment is that between keys 2 and 3: handles on its other sides stay.
        assert [key[:3] for key in was[3:5]] == [key[:3] for key in now[3:5]]
        assert was[5][1] == now[5][1]
        assert was[6][2] == now[6][2]
        assert was[5][2] != now[5][2] or was[6][1] != now[6][1]


def test_a_new_action_has_the_handles(animation, make) -> None:
    obj = make("QUATERNION")
    animation.bake(obj, output="HANDLES")
    places, turns = played(obj)
    animation.restore(obj)
    first = obj.animation_data.action
    next(iter(fcurves(obj))).extrapolation = "LINEAR"
    report = animation.bake(obj, output="HANDLES", target="NEW_ACTION")
    assert len(report.handles) == report.tracks == 2
    assert [fcurve.extrapolation for fcurve in fcurves(obj)] == ["LINEAR"] + ["CONSTANT"] * 6
    assert not obj.animation_data.action.keys()
    assert obj.animation_data.action != first
    at, turned = played(obj)
    assert np.abs(at - places).max() < 1e-6
    assert largest_angle(turned, turns) < 1e-6
    assert [len(fcurve.keyframe_points) for fcurve in fcurves(obj)] == [len(FRAMES)] * 7
