# SPDX-License-Identifier: GPL-3.0-or-later
"""`tcb check`: its reports on files, and its exit status."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from tests.animation.curves import key, new_object
from tests.cli.scenes import load, save


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


@pytest.mark.parametrize("limit", [("--objects", "Lid"), ("--range", "1", "20")])
def test_objects_and_range_limit_the_check(tcb, shot, limit):
    """The file's only violation is at frame 30 of another object."""
    assert tcb("check", shot, *limit).status == 0


@pytest.mark.parametrize(
    "option", [("--range", "20", "1"), ("--range", "1", "inf"), ("--joint-tolerance=-1",), ("--joint-tolerance=inf",)]
)
def test_an_invalid_range_or_tolerance_is_a_usage_error(tcb, shot, option):
    assert tcb("check", shot, *option).status == 2


def test_without_a_range_the_scene_range_is_checked(tcb, shot):
    load(shot)
    bpy.context.scene.frame_end = 300
    save(shot)
    (result,) = tcb("check", shot, "--json", "--objects", "Box").lines
    assert result["checked_samples"] == 299 * 4 + 1  # Four samples per frame from 1 to 300, including both ends.


def test_the_largest_gap_of_a_joint_is_an_error_above_the_tolerance_but_no_violation(tcb, shot):
    ran = tcb("check", shot, "--objects", "Lid", "--joint", "Lid")
    assert ran.status == 1
    assert "Joints with a gap: 1. All conditions hold: 1 object" in ran.out
    ran = tcb("check", shot, "--objects", "Lid", "--joint", "Lid", "--joint-tolerance", "2.5", "--json")
    assert (ran.status, ran.errors) == (0, [])
    (gap,) = ran.lines[0]["joints"]
    assert (gap["distance"], gap["frame"]) == (pytest.approx(2.0), 20)


def test_a_missing_joint_object_is_an_error(tcb, shot):
    ran = tcb("check", shot, "--objects", "Lid", "--joint", "Cap")
    assert ran.status == 1
    (error,) = ran.errors
    assert 'no object is named "Cap"' in error
    assert "Violations: 0, not checked: 1, in 1 object" in ran.out


def test_objects_that_could_not_be_checked_are_errors(tcb, walk):
    ran = tcb("check", walk, "--range", "1", "1e12")
    assert ran.status == 1
    (error,) = ran.errors
    assert "not checked: 3,999,999,999,996 samples would be needed from frame 1 to 1e+12" in error
    assert error.endswith("Choose a shorter range (and 1 similar)")
    assert "Violations: 0, not checked: 2, in 0 objects" in ran.out
    assert "hold" not in ran.out


def test_an_object_in_no_scene_is_an_error_if_it_was_given_and_else_a_note(tcb, shot):
    load(shot)
    bpy.data.objects.new("Loose", None).use_fake_user = True  # Without a user, it would not be saved.
    save(shot)
    ran = tcb("check", shot, "--objects", "Loose")
    assert ran.status == 1
    (error,) = ran.errors
    assert '"Loose": the object was not checked, because it is not in any scene' in error
    assert "Violations: 0, not checked: 1, in 0 objects" in ran.out
    ran = tcb("check", shot, "--range", "1", "20")
    assert (ran.status, ran.errors) == (0, [])
    (note,) = ran.notes
    assert '"Loose": the object was not checked, because it is not in any scene' in note
    assert "Violations: 0, not checked: 1, in 3 objects" in ran.out
