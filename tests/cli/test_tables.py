# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables and velocities from the command."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from formats import table
from tests.animation.curves import co, curve, fcurves
from tests.cli.scenes import FRAMES, VALUES, load


def test_a_table_becomes_keys_of_the_named_object(tcb, walk, tmp_path, tcb_animation):
    (tmp_path / "run.csv").write_text("seconds,scale[0]\n0,1\n1,2.5\n", encoding="utf-8")
    made = tmp_path / "made.blend"
    ran = tcb("import-table", walk, "--table", tmp_path / "run.csv", "--objects", "Hips", "--output", made, "--json")
    assert (ran.status, ran.errors) == (0, [])
    assert ran.lines[0]["keys"] == 2
    load(made)
    assert co(curve(bpy.data.objects["Hips"], "scale")).tolist() == [[0, 1], [24, 2.5]]
    assert tcb_animation.animation.find_track(bpy.data.objects["Hips"], "scale").enabled


def test_seconds_have_the_frame_rate_of_the_objects_scene(tcb, walk, tmp_path):
    load(walk)
    scene = bpy.data.scenes.new("Second")
    scene.render.fps = 30
    scene.collection.objects.link(bpy.data.objects.new("Elsewhere", None))
    bpy.ops.wm.save_as_mainfile(filepath=str(walk))
    (tmp_path / "run.csv").write_text("seconds,scale[0]\n0,1\n1,2.5\n", encoding="utf-8")
    ran = tcb("import-table", walk, "--table", tmp_path / "run.csv", "--objects", "Elsewhere", "--in-place")
    assert ran.status == 0
    load(walk)
    assert co(curve(bpy.data.objects["Elsewhere"], "scale")).tolist() == [[0, 1], [30, 2.5]]


def test_keys_that_are_there_are_replaced_only_if_so_said(tcb, walk, tmp_path):
    (tmp_path / "run.csv").write_text("frame,location[0]\n3,1\n", encoding="utf-8")
    before = walk.read_bytes()
    common = ("import-table", walk, "--table", tmp_path / "run.csv", "--objects", "Hips", "--in-place")
    ran = tcb(*common)
    assert ran.status == 1
    assert "there are already keys. Use Replace Keys to delete them" in ran.errors[0]
    assert walk.read_bytes() == before
    assert tcb(*common, "--replace", "--plain").status == 0
    load(walk)
    assert co(curve(bpy.data.objects["Hips"], "location")).tolist() == [[3, 1]]


@pytest.mark.parametrize(
    ("text", "words"), [("frame,location[0]\n1,a", "line 2, column 2"), ("frame,nothing\n1,2", "no float property")]
)
def test_a_fault_in_the_table_is_an_error_with_its_place(tcb, walk, tmp_path, text, words):
    (tmp_path / "run.csv").write_text(text, encoding="utf-8")
    made = tmp_path / "made.blend"
    ran = tcb("import-table", walk, "--table", tmp_path / "run.csv", "--objects", "Head", "--output", made)
    assert ran.status == 1
    assert words in ran.errors[0]
    assert not made.exists()


def test_a_table_is_about_one_object(tcb, walk, tmp_path):
    ran = tcb("export-table", walk, "--output", tmp_path / "all.csv")
    assert ran.status == 1
    assert "Choose one with --objects" in ran.errors[0]
    assert tcb("export-table", walk, "--objects", "Hips", "--bone", "x", "--output", tmp_path / "x.csv").status == 1


def test_keys_are_exported_and_come_back(tcb, walk, tmp_path):
    assert tcb("export-table", walk, "--objects", "Head", "--output", tmp_path / "head.csv").status == 0
    read = table.read((tmp_path / "head.csv").read_bytes())
    assert read.times.tolist() == list(FRAMES)
    assert list(read.columns) == [f"rotation_quaternion[{index}]" for index in range(4)]
    values = np.transpose(list(read.columns.values())).astype("f4")
    assert values.tolist() == np.array(VALUES["rotation_quaternion"], "f4").tolist()


def test_the_notes_of_an_export_are_told(tcb, walk, tmp_path):
    load(walk)
    bpy.data.objects["Hips"].animation_data.action.name = "Stepped"
    for fcurve in fcurves(bpy.data.objects["Hips"]):
        fcurve.keyframe_points[0].interpolation = "CONSTANT"
    bpy.ops.wm.save_as_mainfile(filepath=str(walk))
    ran = tcb("export-table", walk, "--objects", "Hips", "--output", tmp_path / "keys.csv", "--json")
    assert ran.status == 0
    assert any(note["code"] == "TABLE_NOT_BEZIER" for note in ran.lines[0]["notes"])


def test_velocities_go_into_the_file(tcb, walk, tmp_path):
    assert tcb("enable", walk, "--plain", "--in-place").status == 0
    made = tmp_path / "made.blend"
    ran = tcb("velocities", walk, "--output", made, "--json")
    assert (ran.status, ran.errors) == (0, [])
    assert ran.lines[0]["tracks"] == 2
    load(made)
    hips = bpy.data.objects["Hips"]
    assert curve(hips, '["tcb_location_acceleration"]', 2) is not None
    assert curve(bpy.data.objects["Head"], '["tcb_rotation_angular_velocity"]', 2) is not None


def test_velocities_report_a_named_object_that_is_not_tcb(tcb, plain_walk, tmp_path):
    assert tcb("enable", plain_walk, "--plain", "--objects", "Hips", "--in-place").status == 0
    arguments = ("--objects", "Hips", "--objects", "Head", "--output", tmp_path / "x.blend", "--json")
    ran = tcb("velocities", plain_walk, *arguments)
    assert (ran.status, ran.lines[0]["status"]) == (3, "faults")
    assert [(error["object"], error["code"]) for error in ran.lines[0]["errors"]] == [("Head", "NO_TCB_TRACK")]


def test_velocities_skip_what_is_not_tcb(tcb, plain_walk, tmp_path):
    ran = tcb("velocities", plain_walk, "--output", tmp_path / "x.blend", "--json")
    assert (ran.status, ran.lines[0]["status"]) == (0, "skipped")
    assert not (tmp_path / "x.blend").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("import-table", "walk.blend", "--output", "x.blend"),
        ("import-table", "walk.blend", "--table", "/nowhere.csv", "--output", "x.blend"),
        ("export-table", "walk.blend", "--output", "x.blend"),
        ("velocities", "walk.blend", "--output", "x.blend", "--step", "1"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(tcb, arguments):
    assert tcb(*arguments).status == 2


def test_the_help_says_what_files_are_taken(tcb):
    def words(verb):
        return " ".join(tcb(verb, "--help").out.split())

    assert "One or more 3D Studio files (.3ds)" in words("import")
    assert "One or more .blend files" in words("export")
