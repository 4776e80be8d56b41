# SPDX-License-Identifier: GPL-3.0-or-later
"""`tcb check`: its reports on files, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest

from tests.animation.curves import key, new_object
from tests.cli.scenes import load, save
from tests.cli.tool import run


@pytest.fixture
def shot(cli, tmp_path) -> Path:
    """A file with a camera and a lid. The clip planes cross at frame 30, and the lid is 2 off its box at frame 20."""
    data = bpy.data.cameras.new("Eye")
    _eye, box, lid = (new_object(name, data=of) for name, of in (("Eye", data), ("Box", None), ("Lid", None)))
    lid.parent = box
    key(data, "clip_end", [(1, 100.0), (30, 0.05), (60, 100.0)])
    key(lid, "location", [(1, (0, 0, 0)), (20, (2, 0, 0)), (40, (0, 0, 0))])
    return save(tmp_path / "shot.blend")


def test_a_violation_is_an_error_that_names_object_track_and_frames(tcb, shot):
    ran = tcb("check", shot)
    assert ran.status == 1
    (error,) = ran.errors
    place = '"Eye", clip_start and clip_end, frame 30'
    assert f"{place}: clip start 0.1 is not below clip end 0.05, frames 29.75 to 30.25" in error
    assert "Violations: 1, not checked: 0, in 3 objects" in ran.out


def test_a_file_without_violations_is_well(tcb, walk):
    ran = tcb("check", walk)
    assert (ran.status, ran.errors) == (0, [])
    assert "All conditions hold: 2 objects" in ran.out


def test_check_writes_nothing(tcb, shot, tmp_path):
    before = shot.read_bytes()
    tcb("check", shot)
    assert [shot.read_bytes(), list(tmp_path.iterdir())] == [before, [shot]]


def test_objects_and_range_limit_what_is_looked_at(tcb, shot):
    assert tcb("check", shot, "--objects", "Lid").status == 0
    assert tcb("check", shot, "--range", "1", "20").status == 0
    assert tcb("check", shot, "--range", "20", "1").status == 2


def test_a_joint_is_measured_and_judged_by_its_tolerance(tcb, shot):
    ran = tcb("check", shot, "--objects", "Lid", "--joint", "Lid", "--json")
    (line,) = ran.lines
    assert (ran.status, line["violations"]) == (1, [])
    assert line["joints"][0]["distance"] == pytest.approx(2.0)
    assert line["joints"][0]["frame"] == 20
    assert tcb("check", shot, "--objects", "Lid", "--joint", "Lid", "--joint-tolerance", "2.5").status == 0
    errors = tcb("check", shot, "--objects", "Lid", "--joint", "Cap").errors
    assert len(errors) == 1
    assert 'no object is named "Cap"' in errors[0]


def test_what_could_not_be_looked_at_is_an_error_and_not_said_to_hold(tcb, walk):
    ran = tcb("check", walk, "--range", "1", "1e12")
    assert ran.status == 1
    assert all("not checked" in error and "Choose a shorter range" in error for error in ran.errors)
    assert "Violations: 0, not checked: 2, in 0 objects" in ran.out
    assert "hold" not in ran.out
    assert tcb("check", walk, "--range", "1", "inf").status == 2


def test_a_joint_or_object_that_is_not_there_is_not_said_to_hold(tcb, shot):
    ran = tcb("check", shot, "--objects", "Lid", "--joint", "Cap")
    assert ran.status == 1
    assert "Violations: 0, not checked: 1, in 1 object" in ran.out
    skipped = tcb("check", shot, "--objects", "Cap", "--json")
    assert (skipped.status, skipped.lines[0]["status"]) == (0, "skipped")
    apart = tcb("check", shot, "--objects", "Lid", "--joint", "Lid")
    assert "Joints with a gap: 1. All conditions hold: 1 object" in apart.out


def test_an_object_in_no_scene_is_not_said_to_hold(tcb, shot):
    load(shot)
    bpy.data.objects.new("Loose", None).use_fake_user = True
    save(shot)
    named, all_of_them = tcb("check", shot, "--objects", "Loose"), tcb("check", shot, "--range", "1", "20")
    assert (named.status, all_of_them.status) == (1, 0)
    assert '"Loose": the object was not checked, because it is not in any scene' in named.errors[0]
    assert "Violations: 0, not checked: 1, in 0 objects" in named.out
    assert "Violations: 0, not checked: 1, in 3 objects" in all_of_them.out


@pytest.mark.parametrize("tolerance", ["-1", "nan", "inf"])
def test_a_joint_tolerance_that_is_no_distance_is_a_wrong_call(tcb, shot, tolerance):
    assert tcb("check", shot, "--joint", "Lid", f"--joint-tolerance={tolerance}").status == 2


def test_several_files_at_once_tell_the_same(walk, shot):
    ran = run("check", shot, walk, "--json", "--jobs", "2")
    assert ran.returncode == 1
    lines = {Path(line["file"]).name: line for line in map(json.loads, ran.stdout.splitlines())}
    assert [each["worst"] for each in lines["shot.blend"]["violations"]] == [30]
    assert lines["walk.blend"]["violations"] == []


def test_each_scenes_own_range_counts(tcb, shot):
    load(shot)
    bpy.context.scene.frame_end = 300
    save(shot)
    (line,) = tcb("check", shot, "--json", "--objects", "Box").lines
    assert line["samples"] == 299 * 4 + 1
