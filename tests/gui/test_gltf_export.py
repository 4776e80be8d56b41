# SPDX-License-Identifier: GPL-3.0-or-later
"""The warning in the dialog of Blender's glTF exporter, and its button."""

from __future__ import annotations

from typing import Any

from .conftest import settle, wait_for

DIALOG = """
bpy.ops.tcb.enable(live=True)
bpy.ops.tcb.bake(output='HANDLES')
bpy.context.preferences.view.filebrowser_display_type = 'SCREEN'
with bpy.context.temp_override(window=win(), area=area('VIEW_3D')):
    bpy.ops.export_scene.gltf('INVOKE_DEFAULT', export_force_sampling=False)
"""
PLAYED = """
from bl_ext.user_default.tcb_animation import animation
cube = bpy.data.objects['Cube']
tracks = [animation.find_track(cube, path) for path in ('rotation_quaternion', 'location')]
result = [track.is_baked for track in tracks]
"""
EDITORS = "result = [a.type for a in win().screen.areas]"
FROM_THE_RIGHT, FROM_THE_TOP = 126, 366
"""A position on the button in all versions of Blender."""


def test_the_dialog_warns_and_its_button_bakes_the_rotations_in_one_undo_step(window: Any) -> None:
    window.run(DIALOG)
    wait_for(window, EDITORS, ["FILE_BROWSER"])
    settle(window)
    assert window.run(PLAYED) == [False, False]
    window.click((window.size[0] - FROM_THE_RIGHT, FROM_THE_TOP))
    wait_for(window, PLAYED, [True, False])
    settle(window)
    window.key("Escape", at=(window.size[0] // 2, window.size[1] // 2))
    wait_for(window, f"{EDITORS}; result = 'VIEW_3D' in result")
    window.key("ctrl+z", at=(window.size[0] // 3, window.size[1] // 2))
    wait_for(window, PLAYED, [False, False])
