# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in two windows with different scenes.

Handles follow the edits in either window, even if objects in both scenes share an action.
"""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import PICTURES, settle

TWO_WINDOWS = """
from bl_ext.user_default.tcb_animation import animation
cube, here = bpy.data.objects['Cube'], bpy.context.scene
there = bpy.data.scenes.new('There')
there.frame_end = 60
ball = bpy.data.objects.new('Ball', None)
for frame, location in ((1, (0, 0, 0)), (23, (4, 0, 2)), (50, (0, 3, 0))):
    ball.location = location
    ball.keyframe_insert('location', frame=frame)
twin = cube.copy()
twin.name = 'Twin'
for item in (ball, twin):
    there.collection.objects.link(item)
for item in (cube, ball):
    animation.bake(item, output='HANDLES', keep_look=False)
    item.animation_data.action.tcb_live = True
assert twin.animation_data.action == cube.animation_data.action

def steps():
    with bpy.context.temp_override(window=win()):
        bpy.ops.wm.window_new_main()
    yield from drawn()
    second = bpy.context.window_manager.windows[1]
    second.scene = there
    for item in there.objects:
        item.select_set(True, view_layer=second.view_layer)
    second.view_layer.objects.active = ball
    cube.select_set(True, view_layer=win().view_layer)
    for window in bpy.context.window_manager.windows:
        big = max(window.screen.areas, key=lambda a: a.width * a.height)
        big.type, big.ui_type = 'DOPESHEET_EDITOR', 'DOPESHEET'
    yield from drawn()
    bpy.ops.ed.undo_push(message='windows')
"""
IN_WINDOW = """
def steps():
    window = bpy.context.window_manager.windows[{number}]
    big = max(window.screen.areas, key=lambda a: a.width * a.height)
    with bpy.context.temp_override(window=window, area=big, region=region(big, 'WINDOW')):
        {call}
    yield from drawn()
"""
CHANNELS = """
from bl_ext.user_default.tcb_animation import animation
from bl_ext.user_default.tcb_animation.animation.fcurves.channels import channels_of
NAMES = ('co', 'handle_left', 'handle_right')

def played(name):
    return [[tuple(getattr(key, each)) for key in c.keyframe_points for each in NAMES]
            for c in channels_of(bpy.data.objects[name])]
"""
OBJECTS = ("Cube", "Ball", "Twin")
SELECT = f"""{CHANNELS}
for name in {OBJECTS}:
    for channel in channels_of(bpy.data.objects[name]):
        for key in channel.keyframe_points:
            key.select_control_point = key.select_left_handle = key.select_right_handle = key.co.x == {{frame}}
bpy.ops.ed.undo_push(message='selected')
"""
IS_AS_BAKED = f"""{CHANNELS}
before = [played(name) for name in {OBJECTS}]
for name in {OBJECTS[:2]}:
    animation.bake(bpy.data.objects[name], output='HANDLES')
result = before == [played(name) for name in {OBJECTS}]
"""


@pytest.fixture
def windows(own_window: Any) -> Any:
    """Blender with a window of the scene "Scene" and a window of the scene "There"."""
    own_window.run(TWO_WINDOWS)
    settle(own_window)
    return own_window


def call(windows: Any, number: int, code: str) -> None:
    """Run an operator in the large Dope Sheet of a window."""
    windows.run(IN_WINDOW.format(number=number, call=code))
    settle(windows)


def move(windows: Any, number: int, frame: float, by: float) -> None:
    """Move the keys at the frame that the window's Dope Sheet shows."""
    windows.run(SELECT.format(frame=frame))
    call(
        windows,
        number,
        f"bpy.ops.transform.transform('EXEC_DEFAULT', True, mode='TIME_TRANSLATE', value=({by}, 0, 0, 0))",
    )


def frames(windows: Any) -> list[list[float]]:
    """Return the frames of the first channel of each object."""
    return list(
        windows.run(f"""{CHANNELS}
first = [next(iter(channels_of(bpy.data.objects[name]))) for name in {OBJECTS}]
result = [[key.co.x for key in channel.keyframe_points] for channel in first]
""")
    )


def played(windows: Any) -> Any:
    return windows.run(f"{CHANNELS}\nresult = [played(name) for name in {OBJECTS}]")


def test_keys_moved_in_either_window_are_followed_by_their_handles(windows):
    states = [played(windows)]
    for number, frame, by, expected in (
        (1, 23, 4, [[1, 20, 50], [1, 27, 50], [1, 20, 50]]),
        (0, 20, 5, [[1, 25, 50], [1, 27, 50], [1, 25, 50]]),
        # An object in both scenes, edited from the other scene's window.
        (1, 25, -2, [[1, 23, 50], [1, 27, 50], [1, 23, 50]]),
    ):
        move(windows, number, frame, by)
        assert frames(windows) == expected
        states.append(played(windows))
        assert windows.run(IS_AS_BAKED)
    windows.shot(PICTURES / "live_windows.png")
    # Selecting the keys is also an undo step.
    for number, state in ((1, states[2]), (0, states[1]), (1, states[0])):
        call(windows, number, "bpy.ops.ed.undo(), bpy.ops.ed.undo()")
        assert played(windows) == state
    for number, state in ((0, states[1]), (1, states[2]), (0, states[3])):
        call(windows, number, "bpy.ops.ed.redo(), bpy.ops.ed.redo()")
        assert played(windows) == state
