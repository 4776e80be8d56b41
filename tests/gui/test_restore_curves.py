# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore Curves in the window, after an import by Blender. The file is chosen in the dialog. Undo takes one step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import PICTURES, wait_for
from .file_browser import in_viewport, middle_of, show_folder, type_name

EXPORTED_AND_IMPORTED = """
def steps():
    cube = bpy.data.objects['Cube']
    bpy.ops.object.select_all(action='DESELECT')
    cube.select_set(True)
    bpy.ops.export_scene.gltf(filepath={path!r}, use_selection=True, export_force_sampling=False,
        export_frame_range=False)
    yield from drawn()
    bpy.data.objects.remove(cube)
    with bpy.context.temp_override(window=win(), area=area('VIEW_3D')):
        bpy.ops.import_scene.gltf(filepath={path!r})
        bpy.ops.ed.undo_push(message='Import')
    yield from drawn()
"""

HANDLES = """
from bl_ext.user_default.tcb_animation.animation.fcurves.channels import channels_of
curves = channels_of(bpy.data.objects['Cube'])
result = sorted({point.handle_right_type for curve in curves for point in curve.keyframe_points})
"""

REPORTS = """
at = area('DOPESHEET_EDITOR')
kind, at.type = at.type, 'INFO'
with bpy.context.temp_override(window=win(), area=at, region=region(at, 'WINDOW')):
    bpy.ops.info.select_all(action='SELECT')
    bpy.ops.info.report_copy()
at.type = kind
result = bpy.context.window_manager.clipboard
"""


@pytest.fixture
def window(own_window: Any) -> Any:
    return own_window


def test_curves_of_a_file_are_restored_by_the_dialog_and_taken_back_by_one_undo(window: Any, tmp_path: Path) -> None:
    window.run(EXPORTED_AND_IMPORTED.format(path=str(tmp_path / "cube.glb")))
    imported = window.run(HANDLES)
    assert imported != ["FREE"]
    window.run(in_viewport("bpy.ops.import_anim.tcb_restore_curves('INVOKE_DEFAULT')"))
    show_folder(window, tmp_path)
    type_name(window, "cube.glb")
    window.shot(PICTURES / "restore_curves_dialog.png")
    window.click(middle_of(window, "EXECUTE", from_right=60))
    wait_for(window, HANDLES, ["FREE"])
    assert "Restored the curves of" in window.run(REPORTS)
    window.key("ctrl+z", at=(500, 500))
    wait_for(window, HANDLES, imported)
