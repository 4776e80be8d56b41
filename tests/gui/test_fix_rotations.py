# SPDX-License-Identifier: GPL-3.0-or-later
"""Fix Rotations with mouse and keyboard repairs flips and lists the spin. One undo reverts all changes."""

from __future__ import annotations

from typing import Any

from .conftest import PICTURES, settle, wait_for

# Two selected objects without TCB. The cube's quaternions flip twice, and the wheel makes two full turns.
SCENE = """
def steps():
    cube = bpy.data.objects['Cube']
    cube.animation_data_clear()
    cube.rotation_mode = 'QUATERNION'
    for frame, w, x in ((1, 1, 0), (20, -.9, -.3), (40, .8, .6)):
        cube.rotation_quaternion = w, x, 0, 0
        cube.keyframe_insert('rotation_quaternion', frame=frame)
    wheel = bpy.data.objects.new('Wheel', cube.data)
    bpy.context.scene.collection.objects.link(wheel)
    wheel.location.x = 5
    for frame, angle in ((1, 0), (50, 12.6)):
        wheel.rotation_euler.y = angle
        wheel.keyframe_insert('rotation_euler', frame=frame)
    for obj in (cube, wheel):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = cube
    bpy.context.scene.frame_set(10)
    bpy.ops.ed.undo_push(message='made')
    yield from drawn()
"""
KEYS = """
from bl_ext.user_default.tcb_animation.animation.fcurves.channels import channels_of
result = [
    (name, curve.array_index, *point.co, *point.handle_left, *point.handle_right)
    for name in ('Cube', 'Wheel') for curve in channels_of(bpy.data.objects[name]) for point in curve.keyframe_points
]
"""
# The largest angle between the pose at frame 10 and the poses at the adjacent keys, which are 35 degrees apart.
SWING = """
cube = bpy.data.objects['Cube']
def pose(frame):
    bpy.context.scene.frame_set(frame)
    return cube.matrix_world.to_quaternion()
first, at, last = (pose(frame) for frame in (1, 10, 20))
bpy.context.scene.frame_set(10)
result = max(at.rotation_difference(other).angle for other in (first, last))
"""


def test_flips_are_repaired_the_spin_is_listed_and_one_undo_takes_it_back(window: Any) -> None:
    window.run(SCENE)
    before = window.run(KEYS)
    assert window.run(SWING) > 1.5
    middle = window.run("""
a = area('VIEW_3D'); r = region(a, 'WINDOW')
result = (r.x + r.width // 3, win().height - (r.y + r.height // 2))
""")
    # Use the search, which finds menu items.
    window.key("F3", at=middle)
    window.xdotool("type", "--delay", 60, "--", "Fix Rotations")
    window.key("Return")
    wait_for(window, "result = len(bpy.context.window_manager.tcb_findings)", 1)
    settle(window)
    repaired = window.run(KEYS)
    cube = [key for key in repaired if key[0] == "Cube" and key[1] == 0]
    assert [round(key[3], 5) for key in cube] == [1.0, 0.9, 0.8]
    assert [key for key in repaired if key[0] == "Wheel"] == [key for key in before if key[0] == "Wheel"]
    assert window.run(SWING) < 0.7
    window.shot(PICTURES / "fix_rotations.png")

    window.key("ctrl+z", at=middle)
    settle(window)
    assert window.run(KEYS) == before
    window.key("ctrl+shift+z", at=middle)
    settle(window)
    assert window.run(KEYS) == repaired
