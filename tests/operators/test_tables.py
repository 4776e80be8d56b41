# SPDX-License-Identifier: GPL-3.0-or-later
"""Import and export of tables by operators: on the active object or bone, in one undo step, with clear errors."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import bpy
import numpy as np
import pytest

from tests.animation.curves import new_rig


def keys_on(item, path, index, curve):
    fcurve = curve(item, path, index)
    co = np.empty(2 * len(fcurve.keyframe_points), dtype=np.float32)
    fcurve.keyframe_points.foreach_get("co", co)
    return co.reshape(-1, 2).tolist()


@pytest.fixture
def file(tmp_path):
    def write(text):
        (tmp_path / "run.csv").write_text(text, encoding="utf-8")
        return str(tmp_path / "run.csv")

    return write


def test_an_import_keys_the_active_object_and_makes_its_tracks_tcb(keyed, curve, file, tcb_animation):
    keyed("Other")
    cube = keyed("Cube")
    bpy.context.scene.render.fps = 25
    assert bpy.ops.import_anim.tcb_table(filepath=file("s,scale.x\n0,1\n1,2\n3,3"), frame_start=1.0) == {"FINISHED"}
    assert keys_on(cube, "scale", 0, curve) == [[1, 1], [26, 2], [76, 3]]
    find_track = tcb_animation.animation.find_track
    assert find_track(cube, "scale").enabled
    assert not find_track(cube, "location").enabled


def test_keys_that_are_there_are_replaced_only_if_so_chosen(keyed, curve, file):
    cube = keyed("Cube")
    path = file("frame,x\n1,1\n2,5")
    with pytest.raises(RuntimeError, match=r"there are already keys\. Use Replace Keys"):
        bpy.ops.import_anim.tcb_table(filepath=path)
    assert len(keys_on(cube, "location", 0, curve)) == 3
    assert bpy.ops.import_anim.tcb_table(filepath=path, use_replace=True, use_tcb=False) == {"FINISHED"}
    assert keys_on(cube, "location", 0, curve) == [[1, 1], [2, 5]]


def test_a_fault_in_the_file_is_told_with_its_place(keyed, file):
    keyed("Cube")
    with pytest.raises(RuntimeError, match=r'run\.csv: line 3, column 2 \(x\): "abc" is not a number'):
        bpy.ops.import_anim.tcb_table(filepath=file("frame,x\n1,1\n2,abc"))


def test_what_is_no_frame_or_no_file_is_told(keyed, file):
    keyed("Cube")
    bpy.ops.tcb.enable()
    with pytest.raises(RuntimeError, match="Error: frame_start nan is not a finite number"):
        bpy.ops.import_anim.tcb_table(filepath=file("frame,x\n1,1\n2,5"), frame_start=np.nan)
    with pytest.raises(RuntimeError, match=r"Error: No file name\. Enter one and export again"):
        bpy.ops.export_anim.tcb_table(filepath="")


def test_files_that_can_not_be_read_or_written_are_named(keyed):
    keyed("Cube")
    bpy.ops.tcb.enable()
    with pytest.raises(RuntimeError, match=r"Error: /nowhere/run\.csv cannot be read: No such file or directory$"):
        bpy.ops.import_anim.tcb_table(filepath="/nowhere/run.csv")
    with pytest.raises(RuntimeError, match=r"Error: /nowhere/run\.csv cannot be written: No such file or directory$"):
        bpy.ops.export_anim.tcb_table(filepath="/nowhere/run.csv")


def test_an_interrupted_write_leaves_the_old_file_and_no_other(tcb_animation, tmp_path, monkeypatch):
    (tmp_path / "run.csv").write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        tcb_animation.operators.files.write_file(tmp_path / "run.csv", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("run.csv", b"old")]


def test_without_an_active_object_it_is_greyed(scene, file):
    assert not bpy.ops.import_anim.tcb_table.poll()
    assert not bpy.ops.export_anim.tcb_table.poll()


def test_in_pose_mode_the_active_bone_takes_and_gives(posed, curve, file, tmp_path):
    assert bpy.ops.import_anim.tcb_table(filepath=file("frame,location.x\n1,1\n9,5")) == {"FINISHED"}
    assert keys_on(posed, 'pose.bones["right"].location', 0, curve) == [[1, 1], [9, 5]]
    given = str(tmp_path / "given.csv")
    assert bpy.ops.export_anim.tcb_table(filepath=given) == {"FINISHED"}
    with open(given, encoding="utf-8") as stream:
        header = next(stream).strip().split(",")
    assert header[0] == "frame"
    assert {"euler_xyz_radians.x", "location.x"} < set(header)


def test_without_an_active_bone_the_selected_bone_of_another_armature_takes_the_table(scene, file, tcb_animation):
    active, other = (new_rig("Arm", name=name) for name in ("Active", "Other"))
    for rig in (active, other):
        rig.select_set(True)
    bpy.context.view_layer.objects.active = active
    bpy.ops.object.mode_set(mode="POSE")
    for rig in (active, other):
        (rig.pose.bones if bpy.app.version >= (5, 0, 0) else rig.data.bones)["Arm"].select = rig == other
    active.data.bones.active = None
    assert bpy.ops.import_anim.tcb_table(filepath=file("frame,location.x\n1,1\n2,2")) == {"FINISHED"}
    assert [rig.animation_data is not None for rig in (active, other)] == [False, True]
    assert tcb_animation.ui.selection.active_object_and_bone(bpy.context) == (other, "Arm")


def test_an_import_is_one_undo_step(keyed, curve, file):
    keyed("Cube")
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.import_anim.tcb_table("EXEC_DEFAULT", True, filepath=file("frame,scale.x\n1,1\n2,2"))
    assert curve(bpy.data.objects["Cube"], "scale") is not None
    bpy.ops.ed.undo()
    assert curve(bpy.data.objects["Cube"], "scale") is None


def test_the_menus_offer_tables(scene, tcb_animation):
    for menu, operator in (("TOPBAR_MT_file_import", "import_anim"), ("TOPBAR_MT_file_export", "export_anim")):
        popup = bpy.context.window_manager.popmenu_begin__internal("menu")
        for draw in getattr(bpy.types, menu).draw._draw_funcs:
            if draw.__module__.startswith(tcb_animation.__name__):
                draw(type("Menu", (), {"layout": popup.layout})(), bpy.context)
        assert f"{operator}.tcb_table" in str(popup.layout.introspect()).replace("_OT_", ".").lower()
