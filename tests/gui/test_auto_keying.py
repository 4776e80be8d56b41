# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto keying with factory settings keys only changed channels, and handles play every pose nevertheless."""

from __future__ import annotations

from typing import Any

from .conftest import settle
from .editors import VIEWPORT

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
TRACKS = """
item = bpy.data.objects['Cube']
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


def test_poses_are_keyed_whole_and_played_and_one_undo_removes_a_pose_with_its_completion(window: Any) -> None:
    window.run(OBJECT)
    settle(window)
    for frame, axis, expected in ((10, "z", [1, 10]), (30, "x", [1, 10, 30])):
        at_frame(window, frame)
        typed(window, "r", axis, "4", "0", "Return")
        assert window.run(TRACKS) == [[[expected], True]]
    typed(window, "ctrl+z")
    ((frames, _),) = window.run(TRACKS)
    assert frames == [[1, 10]]
    typed(window, "ctrl+shift+z")
    assert window.run(TRACKS) == [[[[1, 10, 30]], True]]
