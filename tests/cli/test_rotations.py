# SPDX-License-Identifier: GPL-3.0-or-later
"""`tcb rotations`: faults in all actions of a file. Files are written only if something is repaired."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.animation.curves import curve, key, new_object
from tests.cli.scenes import load, save

FLIP = [(1, (1, 0, 0, 0)), (10, (-0.9, -0.1, 0, 0)), (20, (0.8, 0.2, 0, 0))]


@pytest.fixture
def shot(cli, tmp_path) -> Path:
    """A file with a used action, an unused action, and a wheel. Both actions contain flips."""
    arm, wheel, spare = (
        new_object(name, mode) for name, mode in (("Arm", "QUATERNION"), ("Wheel", "XYZ"), ("S", "XYZ"))
    )
    key(arm, "rotation_quaternion", FLIP)
    key(wheel, "rotation_euler", [(1, (0, 0, 0)), (24, (0, 12 * np.pi, 0))])
    key(spare, "rotation_quaternion", FLIP)
    spare.animation_data.action.name = "Spare"
    spare.animation_data.action.use_fake_user = True
    spare.animation_data.action = None
    return save(tmp_path / "shot.blend")


def test_faults_of_all_actions_are_listed_and_nothing_is_written(tcb, shot):
    before = shot.read_bytes()
    ran = tcb("rotations", shot)
    assert (ran.status, ran.errors) == (0, [])
    assert "3 faults in 3 tracks" in ran.out
    assert '"Spare (action)", rotation_quaternion: the rotation flips at frames 10, 20' in ran.out
    assert shot.read_bytes() == before
    (line,) = tcb("rotations", shot, "--json").lines
    assert {(fault["action"], fault["kind"], *fault["frames"]) for fault in line["faults"]} == {
        ("ArmAction", "FLIP", 10, 20),
        ("WheelAction", "TURN", 24),
        ("Spare", "FLIP", 10, 20),
    }


def test_repair_writes_what_is_repaired_and_leaves_spins(tcb, shot, tmp_path):
    target = tmp_path / "fixed.blend"
    ran = tcb("rotations", shot, "--repair", "--output", target)
    assert (ran.status, ran.errors) == (0, [])
    assert "Repaired rotations: 1 object, 2 tracks, 2 keys" in ran.out
    load(target)
    assert curve(bpy.data.objects["Arm"], "rotation_quaternion").evaluate(10) == pytest.approx(0.9)
    assert curve(bpy.data.objects["Wheel"], "rotation_euler", 1).evaluate(24) == pytest.approx(12 * np.pi)
    assert tcb("rotations", target, "--repair", "--turns", "SHORTEST", "--in-place").status == 0
    load(target)
    assert curve(bpy.data.objects["Wheel"], "rotation_euler", 1).evaluate(24) == pytest.approx(0, abs=1e-5)


def test_a_file_without_anything_to_repair_is_not_written(tcb, walk, tmp_path):
    target = tmp_path / "fixed.blend"
    ran = tcb("rotations", walk, "--repair", "--output", target)
    assert ran.status == 0
    assert "nothing to repair" in ran.err
    assert not target.exists()


def test_what_is_refused_is_an_error(tcb, shot, tmp_path):
    load(shot)
    curve(bpy.data.objects["Arm"], "rotation_quaternion").lock = True
    save(shot)
    target = tmp_path / "fixed.blend"
    ran = tcb("rotations", shot, "--repair", "--output", target)
    assert (ran.status, len(ran.errors)) == (3, 1)
    assert '"Arm", Quaternion Rotation: the channels are locked. Unlock them first' in ran.errors[0]
    ran = tcb("rotations", shot, "--repair", "--objects", "Arm", "--in-place")
    assert (ran.status, len(ran.errors)) == (1, 1)


def test_output_without_repair_makes_no_sense(tcb, shot, tmp_path):
    assert tcb("rotations", shot, "--output", tmp_path / "fixed.blend").status == 2
    assert tcb("rotations", shot, "--repair").status == 2


def test_rotations_are_keyed_in_all_channels_when_asked(tcb, cli, tmp_path):
    item = new_object("Arm", "XYZ")
    key(item, "rotation_euler", [(1, (0, 0, 0)), (20, (1, 0.5, 0.2))])
    item.keyframe_insert("rotation_euler", index=2, frame=30)
    file = save(tmp_path / "arm.blend")
    ran = tcb("rotations", file, "--key-whole", "--in-place", "--json")
    assert (ran.status, ran.lines[0]["status"], ran.lines[0]["changed_keys"]) == (0, "done", 1)
    load(file)
    assert [len(curve(bpy.data.objects["Arm"], "rotation_euler", index).keyframe_points) for index in range(3)] == [
        3
    ] * 3


def test_a_keyed_and_repaired_object_counts_once_and_an_unmatched_pattern_is_noted_once(tcb, cli, tmp_path):
    item = new_object("Arm", "XYZ")
    key(item, "rotation_euler", [(1, (0, 0, 0)), (20, (1, 0.5, 0.2)), (20.5, (1 + 2 * np.pi, 0.5, 0.2))])
    item.keyframe_insert("rotation_euler", index=2, frame=30)
    file = save(tmp_path / "arm.blend")
    for chosen in ((), ("--objects", "Arm", "--objects", "Nose*")):
        target = tmp_path / f"keyed{len(chosen)}.blend"
        (line,) = tcb("rotations", file, "--key-whole", "--repair", *chosen, "--output", target, "--json").lines
        assert (line["datablocks"], line["objects"]) == (1, 1)
        assert [note["code"] for note in line["notes"]].count("NO_OBJECT_MATCHES") == bool(chosen)
