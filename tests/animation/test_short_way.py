# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortest paths with handles: the curves get equivalent values, and the animator's values are preserved."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.all_pairs import each_once
from tests.animation.curves import (
    MODES,
    co,
    curve,
    differences,
    fcurves,
    key,
    new_object,
    orientations,
    play,
    rotation_path,
    snapshot,
)
from tests.animation.live import let_time_pass

FRAMES = (1, 30, 60, 90)
ORDERS = MODES[2:]


def radians(*angles: float) -> list[float]:
    return [float(np.float32(angle)) for angle in np.radians(angles)]


def played(animation, keys: list[list[float]], mode: str = "XYZ", path: str = "SHORTEST") -> bpy.types.Object:
    thing = new_object("Thing", mode)
    key(thing, rotation_path(mode), list(zip(FRAMES, keys, strict=False)))
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "rotation", path=path)
    animation.bake(thing, output="HANDLES")
    return thing


CAMERA = [radians(0, 0, z) for z in (100, 175, -95, -60)]


def turned(thing: bpy.types.Object, start: float, end: float) -> float:
    """Return the total rotation of the object in degrees, in Blender's evaluation."""
    every = Rotation.from_matrix(orientations(thing, np.arange(start, end + 0.1, 0.25)))
    return float(np.degrees((every[1:] * every[:-1].inv()).magnitude().sum()))


def values(thing: bpy.types.Object) -> list[list[float]]:
    return [co(fcurve)[:, 1].tolist() for fcurve in fcurves(thing)]


def own_values(animation, thing: bpy.types.Object) -> list[list[float]]:
    track = animation.find_track(thing, "rotation")
    return [own.keys.values.tolist() for own in animation.store.read_own_keys.read_own_keys(track).values()]


def test_a_camera_turns_90_degrees_not_270(animation, scene) -> None:
    thing = played(animation, CAMERA)
    assert turned(thing, 30, 60) == pytest.approx(90, abs=0.1)
    assert values(thing)[2] == pytest.approx(np.radians([100, 175, 265, 300]), abs=1e-5)
    assert own_values(animation, thing) == np.float32(CAMERA).T.tolist()


def equivalents(mode: str, seed: int) -> list[list[float]]:
    """Return keys with small rotations between them but large differences between their values."""
    dice = np.random.default_rng(seed)
    keys: list[list[float]] = []
    for number in range(4):
        if mode == "AXIS_ANGLE":
            axis, angle = dice.normal(size=3) * 0.2 + [0, 0.3, 1], 0.4 + 0.3 * number
            numbers = [angle, *axis] if number % 2 else [2 * np.pi - angle, *(-axis)]
        else:
            numbers = [0.0] * 3
            for letter, angle in zip(mode, dice.uniform(-0.5, 0.5, 3) + 0.3 * number, strict=True):
                numbers["XYZ".index(letter)] = float(angle)
            if number % 2:
                middle = "XYZ".index(mode[1])
                numbers = [np.pi - each if i == middle else each + np.pi for i, each in enumerate(numbers)]
            numbers[0] += 2 * np.pi * (number // 2)
        keys.append([float(np.float32(each)) for each in numbers])
    return keys


@pytest.mark.parametrize("mode", ["AXIS_ANGLE", *ORDERS])
def test_other_solutions_go_the_short_way_too(animation, scene, mode: str) -> None:
    keys = equivalents(mode, 4)
    thing = played(animation, keys, mode)
    frames = np.arange(1, 90.1, 0.5)
    by_handles = Rotation.from_matrix(orientations(thing, frames))
    poses = Rotation.from_matrix(orientations(thing, FRAMES))
    (error,) = [each["error"] for each in animation.bake(thing, output="HANDLES").handles]
    animation.bake(thing, step=0.5)
    apart = np.degrees((by_handles * Rotation.from_matrix(orientations(thing, frames)).inv()).magnitude())
    assert apart.max() < 1.05 * error + 0.06
    assert error < 8
    animation.restore(thing)
    restored_poses = Rotation.from_matrix(orientations(thing, FRAMES))
    assert np.degrees((poses * restored_poses.inv()).magnitude()).max() < 1e-3


@pytest.mark.parametrize("mode", ["AXIS_ANGLE", "XYZ", "ZXY", "YZX"])
def test_the_animators_numbers_come_back_to_the_bit(animation, scene, mode: str) -> None:
    thing = new_object("Thing", mode)
    key(thing, rotation_path(mode), list(zip(FRAMES, equivalents(mode, 7), strict=True)))
    for fcurve in fcurves(thing):
        fcurve.keyframe_points[1].handle_left_type = "FREE"
        fcurve.keyframe_points[1].handle_left = (25, 0.2)
        fcurve.keyframe_points[2].interpolation = "LINEAR"
        fcurve.update()
    before = snapshot(thing)
    animation.enable(thing, keep_look=False)
    animation.key_set(thing, "rotation", 60, interpolation="LINEAR")
    animation.choose(thing, "rotation", path="SHORTEST")
    for _ in range(2):
        animation.bake(thing, output="HANDLES")
    assert own_values(animation, thing) == np.float32(equivalents(mode, 7)).T.tolist()
    shown = snapshot(thing)
    animation.bake(thing)
    animation.free(thing)
    assert differences(shown, snapshot(thing)) == []
    animation.remove(thing)
    assert differences(before, snapshot(thing)) == []


@pytest.mark.parametrize(
    ("kind", "mode"), each_once(["FREE", "VECTOR", "AUTO", "ALIGNED"], ["XYZ", "ZXY", "AXIS_ANGLE"])
)
def test_repeated_bakes_do_not_move_handles_of_a_chosen_type(animation, scene, mode: str, kind: str) -> None:
    """Repeated sums would round free handles at each bake. Blender places the other handles on the new curve."""
    for seed in range(3):
        thing = played(animation, equivalents(mode, seed), mode)
        for fcurve in fcurves(thing):
            for point in fcurve.keyframe_points:
                point.handle_left_type = point.handle_right_type = kind
            fcurve.update()
        animation.bake(thing, output="HANDLES")
        first = snapshot(thing)
        for _ in range(2):
            animation.bake(thing, output="HANDLES")
            assert differences(first, snapshot(thing)) == []


def test_a_turned_key_that_is_edited_keeps_its_number_of_turns(animation, scene) -> None:
    thing = played(animation, CAMERA)
    thing.animation_data.action.tcb_live = True
    point = curve(thing, "rotation_euler", 2).keyframe_points[2]
    point.co.y += 0.1
    let_time_pass(animation)
    assert own_values(animation, thing)[2][2] == pytest.approx(np.radians(-95) + 0.1, abs=1e-6)
    # The same pose is typed with its previous values.
    curve(thing, "rotation_euler", 2).keyframe_points[2].co.y = np.radians(-80)
    let_time_pass(animation)
    assert own_values(animation, thing)[2][2] == pytest.approx(np.radians(-80), abs=1e-6)
    assert values(thing)[2][2] == pytest.approx(np.radians(280), abs=1e-5)
    animation.restore(thing)
    assert values(thing)[2] == pytest.approx(np.radians([100, 175, -80, -60]), abs=1e-6)


def test_a_pose_whose_key_was_deleted_in_one_channel_is_the_one_shown(animation, scene) -> None:
    thing = played(animation, equivalents("XYZ", 4))
    thing.animation_data.action.tcb_live = True
    play(30)
    shown = np.array(thing.matrix_world.to_3x3())
    points = curve(thing, "rotation_euler", 1).keyframe_points
    value = points[1].co.y
    points.remove(points[1])
    curve(thing, "rotation_euler", 1).update()
    let_time_pass(animation)
    curve(thing, "rotation_euler", 1).keyframe_points[1].co.y = value
    let_time_pass(animation)
    play(30)
    assert np.abs(np.array(thing.matrix_world.to_3x3()) - shown).max() < 1e-5
    animation.restore(thing)
    play(30)
    assert np.abs(np.array(thing.matrix_world.to_3x3()) - shown).max() < 1e-5


def test_an_angle_alone_gets_no_other_solution(animation, scene) -> None:
    thing = new_object()
    key(thing, "rotation_euler", [(1, (0, 0, 0)), (30, (0, 3, 0)), (60, (0, -2.9, 0))], channels=[1])
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "rotation", path="SHORTEST")
    animation.bake(thing, output="HANDLES")
    assert len(fcurves(thing)) == 1
    assert turned(thing, 30, 60) < 40


@pytest.mark.parametrize(("path", "noted"), [(None, [("TURNS_KEPT", 60)]), ("AS_KEYED", []), ("SHORTEST", [])])
def test_enable_notes_the_turn_of_more_than_180_degrees_that_it_keeps(animation, path, noted) -> None:
    thing = new_object("Thing", "XYZ")
    key(thing, "rotation_euler", list(zip(FRAMES, CAMERA, strict=True)))
    report = animation.enable(thing, path=path)
    assert [(note.code, note.frame) for note in report.notes if note.code == "TURNS_KEPT"] == noted
