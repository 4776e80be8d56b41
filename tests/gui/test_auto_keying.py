# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto keying with factory settings keys only changed channels, and handles play every pose nevertheless."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import PICTURES, settle

VIEWPORT = "a = area('VIEW_3D'); r = region(a, 'WINDOW'); result = (r.x + 400, win().height - r.y - 350)"
OBJECT = """
cube = bpy.data.objects['Cube']
cube.animation_data_clear()
cube.rotation_mode = 'XYZ'
cube.rotation_euler = (0, 0, 0)
bpy.context.scene.frame_set(1)
cube.keyframe_insert('rotation_euler', frame=1)
bpy.context.scene.frame_end = 200
bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
bpy.ops.tcb.enable(live=True)
bpy.ops.ed.undo_push(message='enabled')
"""
BONES = """
bpy.data.objects.remove(bpy.data.objects['Cube'])
data = bpy.data.armatures.new('Rig')
rig = bpy.data.objects.new('Rig', data)
bpy.context.collection.objects.link(rig)
bpy.context.view_layer.objects.active = rig
rig.select_set(True)
bpy.ops.object.mode_set(mode='EDIT')
for n in range(3):
    bone = data.edit_bones.new(f'Bone {n}')
    bone.head, bone.tail = (n, 0, 0), (n, 0, 1)
bpy.ops.object.mode_set(mode='POSE')
for bone, mode in zip(rig.pose.bones, ('XYZ', 'QUATERNION', 'ZXY')):
    bone.rotation_mode = mode
    bone.keyframe_insert('rotation_quaternion' if mode == 'QUATERNION' else 'rotation_euler', frame=1)
bpy.ops.pose.select_all(action='SELECT')
bpy.context.scene.frame_end = 200
bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
bpy.ops.tcb.enable(live=True)
bpy.ops.ed.undo_push(message='enabled')
"""
TRACKS = """
item = bpy.data.objects['Cube' if 'Cube' in bpy.data.objects else 'Rig']
from bl_ext.user_default.tcb_animation.animation.fcurves.channels import channels_of
from bl_ext.user_default.tcb_animation.animation.store.find_tracks import find_tracks
from bl_ext.user_default.tcb_animation.animation.store.up_to_date import is_up_to_date
result = []
for track in find_tracks(item, channels_of(item)):
    if track.is_rotation:
        frames = {tuple(round(key.co.x) for key in c.keyframe_points) for c in track.channels.values()}
        result.append([[*map(list, sorted(frames))], track.is_played_by_handles and is_up_to_date(track)])
"""


def typed(window: Any, *keys: str) -> None:
    window.key(keys[0], at=window.run(VIEWPORT))
    for key in keys[1:]:
        window.key(key)
    settle(window)


def at_frame(window: Any, frame: int) -> None:
    window.run(f"bpy.context.scene.frame_set({frame}); bpy.ops.ed.undo_push(message='frame')")


@pytest.mark.parametrize(("made", "count"), [(OBJECT, 1), (BONES, 3)], ids=["object", "character"])
def test_poses_are_keyed_whole_and_played(window: Any, made: str, count: int) -> None:
    window.run(made)
    settle(window)
    expected = [1]
    for number, axis in enumerate("zxyz"):
        expected.append(20 * number + 10)
        at_frame(window, expected[-1])
        typed(window, "r", axis, "4", "0", "Return")
        assert window.run(TRACKS) == [[[expected], True]] * count, axis
    window.shot(PICTURES / f"auto_keying_{'object' if made is OBJECT else 'character'}.png")


def test_one_undo_removes_the_pose_and_its_completion(window: Any) -> None:
    window.run(OBJECT)
    settle(window)
    at_frame(window, 40)
    typed(window, "r", "z", "9", "0", "Return")
    assert window.run(TRACKS) == [[[[1, 40]], True]]
    typed(window, "ctrl+z")
    ((frames, _),) = window.run(TRACKS)
    assert frames == [[1]]
    typed(window, "ctrl+shift+z")
    assert window.run(TRACKS) == [[[[1, 40]], True]]


def test_only_what_changed_was_keyed_by_blender(window: Any) -> None:
    """Without Live, auto keying leaves the other channels without a key. The other tests depend on this."""
    window.run(OBJECT + "cube.animation_data.action.tcb_live = False\n")
    settle(window)
    at_frame(window, 40)
    typed(window, "r", "z", "9", "0", "Return")
    ((frames, _),) = window.run(TRACKS)
    assert frames == [[1], [1, 40]]
