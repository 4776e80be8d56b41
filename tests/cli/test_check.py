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
    """A file in which a camera's clip planes cross at frame 30, and a lid is 2 units from its box at frame 20."""
    camera = bpy.data.cameras.new("Eye")
    new_object("Eye", data=camera)
    box = new_object("Box")
    lid = new_object("Lid")
    lid.parent = box
    key(camera, "clip_end", [(1, 100.0), (30, 0.05), (60, 100.0)])
    key(lid, "location", [(1, (0, 0, 0)), (20, (2, 0, 0)), (40, (0, 0, 0))])
    return save(tmp_path / "shot.blend")


@pytest.fixture
def shot_with_loose_object(shot) -> Path:
    """The same file with the object "Loose", which is in no scene."""
    load(shot)
    bpy.data.objects.new("Loose", None).use_fake_user = True  # Without a user, it would not be saved.
    return save(shot)


def test_a_violation_is_an_error_that_names_object_channels_and_frames(tcb, shot):
    ran = tcb("check", shot)
    assert ran.status == 1
    (error,) = ran.errors
    place = '"Eye", clip_end, frame 30'
    assert error.endswith(f"{place}: clip start 0.1 is not below clip end 0.05, frames 29.75 to 30.25")
    assert "Violations: 1, not checked: 0, in 3 objects" in ran.out


def test_without_violations_all_conditions_hold(tcb, walk):
    ran = tcb("check", walk)
    assert (ran.status, ran.errors) == (0, [])
    assert "All conditions hold: 2 objects" in ran.out


def test_a_check_writes_no_files(tcb, shot, tmp_path):
    before = shot.read_bytes()
    tcb("check", shot)
    assert shot.read_bytes() == before
    assert list(tmp_path.iterdir()) == [shot]


@pytest.mark.parametrize("limit", [("--objects", "Lid"), ("--range", "1", "20")])
def test_objects_and_range_limit_the_check(tcb, shot, limit):
    """The file's only violation is at frame 30 of another object."""
    assert tcb("check", shot, *limit).status == 0


@pytest.mark.parametrize("frames", [("20", "1"), ("1", "inf")])
def test_an_invalid_range_is_a_usage_error(tcb, shot, frames):
    assert tcb("check", shot, "--range", *frames).status == 2


def test_without_a_range_the_scene_range_is_checked(tcb, shot):
    load(shot)
    bpy.context.scene.frame_end = 300
    save(shot)
    (result,) = tcb("check", shot, "--json", "--objects", "Box").lines
    assert result["checked_samples"] == 299 * 4 + 1  # Four samples per frame from 1 to 300, including both ends.


def test_the_largest_gap_of_a_joint_is_measured(tcb, shot):
    (result,) = tcb("check", shot, "--objects", "Lid", "--joint", "Lid", "--json").lines
    (gap,) = result["joints"]
    assert gap["distance"] == pytest.approx(2.0)
    assert gap["frame"] == 20


def test_a_gap_is_an_error_but_not_a_violation(tcb, shot):
    ran = tcb("check", shot, "--objects", "Lid", "--joint", "Lid")
    assert ran.status == 1
    assert "Joints with a gap: 1. All conditions hold: 1 object" in ran.out


def test_a_gap_within_the_tolerance_is_no_error(tcb, shot):
    ran = tcb("check", shot, "--objects", "Lid", "--joint", "Lid", "--joint-tolerance", "2.5")
    assert (ran.status, ran.errors) == (0, [])


@pytest.mark.parametrize("tolerance", ["-1", "nan", "inf"])
def test_an_invalid_joint_tolerance_is_a_usage_error(tcb, shot, tolerance):
    assert tcb("check", shot, "--joint", "Lid", f"--joint-tolerance={tolerance}").status == 2


def test_a_missing_joint_object_is_an_error(tcb, shot):
    ran = tcb("check", shot, "--objects", "Lid", "--joint", "Cap")
    assert ran.status == 1
    (error,) = ran.errors
    assert 'no object is named "Cap"' in error
    assert "Violations: 0, not checked: 1, in 1 object" in ran.out


def test_a_file_without_the_given_objects_is_skipped(tcb, shot):
    ran = tcb("check", shot, "--objects", "Cap", "--json")
    assert (ran.status, ran.lines[0]["status"]) == (0, "skipped")


def test_objects_that_could_not_be_checked_are_errors(tcb, walk):
    ran = tcb("check", walk, "--range", "1", "1e12")
    assert ran.status == 1
    (error,) = ran.errors
    assert "not checked: 3,999,999,999,996 samples would be needed from frame 1 to 1e+12" in error
    assert error.endswith("Choose a shorter range (and 1 similar)")
    assert "Violations: 0, not checked: 2, in 0 objects" in ran.out
    assert "hold" not in ran.out


def test_a_given_object_in_no_scene_is_an_error(tcb, shot_with_loose_object):
    ran = tcb("check", shot_with_loose_object, "--objects", "Loose")
    assert ran.status == 1
    (error,) = ran.errors
    assert '"Loose": the object was not checked, because it is not in any scene' in error
    assert "Violations: 0, not checked: 1, in 0 objects" in ran.out


def test_an_object_in_no_scene_is_only_a_note_if_it_was_not_given(tcb, shot_with_loose_object):
    ran = tcb("check", shot_with_loose_object, "--range", "1", "20")
    assert (ran.status, ran.errors) == (0, [])
    (note,) = ran.notes
    assert '"Loose": the object was not checked, because it is not in any scene' in note
    assert "Violations: 0, not checked: 1, in 3 objects" in ran.out


def test_two_files_checked_in_parallel_have_their_own_results(walk, shot):
    ran = run("check", shot, walk, "--json", "--jobs", "2")
    assert ran.returncode == 1
    results = {Path(result["file"]).name: result for result in map(json.loads, ran.stdout.splitlines())}
    assert [violation["worst"] for violation in results["shot.blend"]["violations"]] == [30]
    assert results["walk.blend"]["violations"] == []
