# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of rotations: Enable preserves the turns between keys, and Turns in the tab selects the shortest path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from .conftest import PICTURES, settle
from .cube import everything
from .editors import unfold
from .graphical import place

FRAMES = (1, 30, 60, 90)
QUATERNIONS = """
for key_frame, numbers in {keys}:
    cube.rotation_quaternion = numbers
    cube.keyframe_insert('rotation_quaternion', frame=key_frame)
"""
CAMERA = f"""
import math
for key_frame, angle in zip({FRAMES}, (100, 175, -95, -60)):
    cube.rotation_euler = (0, 0, math.radians(angle))
    cube.keyframe_insert('rotation_euler', frame=key_frame)
"""
MADE = """
cube = bpy.data.objects['Cube']
cube.animation_data_clear()
cube.rotation_mode = {mode!r}
{keys}
scene = bpy.context.scene
scene.frame_end = 100
scene.frame_set(60)
bpy.ops.ed.undo_push(message='keyed')
"""
PLAYED = """
scene, cube = bpy.context.scene, bpy.data.objects['Cube']
now, result = scene.frame_current, []
for quarter in range(4 * {start}, 4 * {end} + 1):
    scene.frame_set(quarter // 4, subframe=quarter % 4 / 4)
    result.append(tuple(cube.matrix_world.to_quaternion()))
scene.frame_set(now)
"""
TRACK = """
from bl_ext.user_default.tcb_animation.animation import find_track
from bl_ext.user_default.tcb_animation.animation.store.own_keys import read_own_keys
track = find_track(bpy.data.objects['Cube'], 'rotation')
"""
NOTES = """
from bl_ext.user_default.tcb_animation.animation.live.update import standing_of
from bl_ext.user_default.tcb_animation.ui.live.watched import watches
result = list(map(str, standing_of(watches, bpy.data.objects['Cube'].animation_data.action)))
"""

RESULT_NOTES = """
from bl_ext.user_default.tcb_animation.ui.operator_results import result_notes
result = [note.code for note in result_notes()]
"""


def made(window: Any, mode: str, keys: str) -> None:
    window.run(MADE.format(mode=mode, keys=keys))
    settle(window)


def played(window: Any, start: int, end: int) -> Rotation:
    return Rotation.from_quat(window.run(PLAYED.format(start=start, end=end)), scalar_first=True)


def turned(window: Any, start: int, end: int) -> float:
    """Return the total rotation of the object in degrees, from Blender's evaluation."""
    every = played(window, start, end)
    return float(np.degrees((every[1:] * every[:-1].inv()).magnitude().sum()))


def enable(window: Any) -> None:
    window.click(place(window.buttons("VIEW_3D", height=320), "tcb.enable("))
    settle(window)


def choose_turns(window: Any, letter: str) -> None:
    """Choose an item in the tab's Turns list by its underlined letter."""
    window.click(place(window.buttons("VIEW_3D", height=700, across=0.7, top=300), "tcb.path"))
    window.key(letter)
    settle(window)


def path(window: Any) -> Any:
    return window.run(f"{TRACK}\nresult = track.settings.path")


def test_a_camera_turns_as_keyed_and_with_shortest_the_short_way(window: Any) -> None:
    made(window, "XYZ", CAMERA)
    enable(window)
    enabled = everything(window)
    assert path(window) == "AS_KEYED"
    assert turned(window, 30, 60) == pytest.approx(270.0, abs=1.0)
    assert "TURNS_KEPT" in window.run(RESULT_NOTES)
    unfold(window, "VIEW_3D", "track")
    choose_turns(window, "s")
    window.shot(PICTURES / "turns_shortest.png")
    assert path(window) == "SHORTEST"
    assert turned(window, 30, 60) == pytest.approx(90.0, abs=1.0)
    assert "TURNS_KEPT" not in window.run(RESULT_NOTES)
    assert any("1 turn now takes the shortest path" in note for note in window.run(NOTES)), window.run(NOTES)
    own = window.run(f"{TRACK}\nresult = read_own_keys(track)[2].keys.values.tolist()")
    assert own == pytest.approx(np.radians([100, 175, -95, -60]), abs=1e-6)
    choose_turns(window, "a")
    assert turned(window, 30, 60) == pytest.approx(270.0, abs=1.0)
    assert everything(window) == enabled


def arm_keys(seed: int) -> list[tuple[int, list[float]]]:
    """Poses with large differences, as quaternions with any sign, as from scripts and retargeting."""
    dice, turn, keys = np.random.default_rng(seed), Rotation.random(random_state=seed), []
    for frame in (1, 13, 31, 42, 61, 76):
        turn = turn * Rotation.from_rotvec(dice.normal(size=3) / 1.73 * dice.uniform(0.5, 2.6))
        keys.append((frame, (turn.as_quat(scalar_first=True) * dice.choice([1, -1])).tolist()))
    return keys


def test_an_arm_whose_keys_have_any_sign_turns_the_short_way_until_undo(window: Any) -> None:
    made(window, "QUATERNION", QUATERNIONS.format(keys=arm_keys(26)))
    before = played(window, 1, 76)
    enable(window)
    assert path(window) == "SHORTEST"
    assert "FLIP_NOT_KEPT" in window.run(RESULT_NOTES)
    unfold(window, "VIEW_3D", "track")
    window.shot(PICTURES / "turns_arm.png")
    step = (played(window, 1, 75).inv() * played(window, 2, 76)).magnitude()
    assert np.degrees(step).max() < 30.0
    # One undo restores the motion.
    window.key("ctrl+z", at=window.run("a = area('VIEW_3D'); result = (a.x + 300, win().height - a.y - 300)"))
    settle(window)
    assert np.degrees((played(window, 1, 76) * before.inv()).magnitude().max()) < 0.01
