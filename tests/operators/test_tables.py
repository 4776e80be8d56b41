# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that import and export tables: on the active object or bone, in one undo step, with clear errors."""

from __future__ import annotations

import csv
from types import SimpleNamespace

import bpy
import pytest

from tests.animation.curves import co
from tests.panels.layouts import layout_of, texts


@pytest.fixture
def points(curve):
    """points(datablock, path, index=0): the frames and values of the keys."""

    def read(datablock, path, index=0):
        return co(curve(datablock, path, index)).tolist()

    return read


@pytest.fixture
def table_file(tmp_path):
    """table_file(text): the path of a table with this text."""

    def write(text):
        (tmp_path / "run.csv").write_text(text, encoding="utf-8")
        return str(tmp_path / "run.csv")

    return write


def test_an_import_keys_the_active_object(keyed, points, table_file):
    other, cube = keyed("Other"), keyed("Cube")
    others_points = points(other, "location")
    assert bpy.ops.import_anim.tcb_table(filepath=table_file("frame,scale[0]\n1,1\n26,2")) == {"FINISHED"}
    assert points(cube, "scale") == [[1, 1], [26, 2]]
    assert points(other, "location") == others_points


def test_seconds_are_counted_from_the_start_frame(keyed, points, table_file):
    cube = keyed("Cube")
    bpy.context.scene.render.fps = 25
    bpy.ops.import_anim.tcb_table(filepath=table_file("seconds,scale[0]\n0,1\n1,2\n3,3"), frame_start=1.0)
    assert points(cube, "scale") == [[1, 1], [26, 2], [76, 3]]


def test_only_imported_tracks_become_tcb(keyed, table_file, tcb_animation):
    cube = keyed("Cube")
    bpy.ops.import_anim.tcb_table(filepath=table_file("frame,scale[0]\n1,1\n2,2"))
    find_track = tcb_animation.animation.find_track
    assert find_track(cube, "scale").enabled
    assert not find_track(cube, "location").enabled


def test_existing_keys_are_replaced_on_request(keyed, points, table_file):
    cube = keyed("Cube")
    path = table_file("frame,location[0]\n1,1\n2,5")
    assert bpy.ops.import_anim.tcb_table(filepath=path, use_replace=True, use_tcb=False) == {"FINISHED"}
    assert points(cube, "location") == [[1, 1], [2, 5]]


def test_an_error_in_the_file_names_its_line_and_column(keyed, table_file):
    keyed("Cube")
    with pytest.raises(
        RuntimeError, match=r'^Error: run\.csv: line 3, column 2 \(location\[0\]\): "abc" is not a finite number$'
    ):
        bpy.ops.import_anim.tcb_table(filepath=table_file("frame,location[0]\n1,1\n2,abc"))


def test_an_export_without_a_file_name_is_refused(keyed):
    keyed("Cube")
    with pytest.raises(RuntimeError, match=r"^Error: No file name\. Enter one and export again$"):
        bpy.ops.export_anim.tcb_table(filepath="")


def test_an_unreadable_file_is_named(keyed):
    keyed("Cube")
    with pytest.raises(RuntimeError, match=r"^Error: /nowhere/run\.csv cannot be read: No such file or directory$"):
        bpy.ops.import_anim.tcb_table(filepath="/nowhere/run.csv")


def test_an_unwritable_file_is_named(keyed):
    keyed("Cube")
    with pytest.raises(RuntimeError, match=r"^Error: /nowhere/run\.csv cannot be written: No such file or directory$"):
        bpy.ops.export_anim.tcb_table(filepath="/nowhere/run.csv")


def test_the_operators_are_grayed_out_without_an_active_object(scene, tcb_animation):
    assert not bpy.ops.import_anim.tcb_table.poll()
    assert not bpy.ops.export_anim.tcb_table.poll()


def test_in_pose_mode_the_active_bone_is_imported(posed, points, table_file):
    assert bpy.ops.import_anim.tcb_table(filepath=table_file("frame,location[0]\n1,1\n9,5")) == {"FINISHED"}
    assert points(posed, 'pose.bones["right"].location') == [[1, 1], [9, 5]]


def test_in_pose_mode_the_active_bone_is_exported(posed, tmp_path):
    path = tmp_path / "exported.csv"
    assert bpy.ops.export_anim.tcb_table(filepath=str(path)) == {"FINISHED"}
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    # These are the bone's keys in the fixture.
    assert [float(row["frame"]) for row in rows] == [1.0, 21.0, 41.0]
    angles = [[float(row[f"rotation_euler[{index}]"]) for index in range(3)] for row in rows]
    assert angles == [[0.0, 0.0, 0.0], [1.0, 0.0, 0.5], [0.5, 0.0, 0.25]]


def test_without_an_active_bone_the_selected_bone_of_another_armature_is_imported(other_posed, points, table_file):
    assert bpy.ops.import_anim.tcb_table(filepath=table_file("frame,location[0]\n1,1\n2,2")) == {"FINISHED"}
    assert points(other_posed, 'pose.bones["Hand"].location') == [[1, 1], [2, 2]]
    assert bpy.data.objects["Active"].animation_data is None


@pytest.mark.parametrize(
    ("menu", "operator"),
    [("TOPBAR_MT_file_import", "import_anim.tcb_table"), ("TOPBAR_MT_file_export", "export_anim.tcb_table")],
)
def test_the_import_and_export_menus_list_tables(scene, tcb_animation, menu, operator):
    # Menus cannot be opened without a window. Draw only the extension's entries into a layout, and read it.
    functions = getattr(bpy.types, menu).draw._draw_funcs
    own = [draw for draw in functions if draw.__module__.startswith(tcb_animation.__name__)]
    items = layout_of(lambda layout: [draw(SimpleNamespace(layout=layout), bpy.context) for draw in own])
    assert f"bpy.ops.{operator}()" in texts(items)
