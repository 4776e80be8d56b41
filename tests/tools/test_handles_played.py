# SPDX-License-Identifier: GPL-3.0-or-later
"""Playback of handles compared with samples, for whole files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bpy

from tests.animation.curves import key, new_object

ROOT = Path(__file__).resolve().parents[2]


def test_each_file_has_a_row_with_the_errors_of_its_handles(scene: bpy.types.Scene, tmp_path: Path) -> None:
    item = new_object("Ball", "QUATERNION")
    key(item, "location", [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (6, 1, 2))])
    key(item, "rotation_quaternion", [(0, (1, 0, 0, 0)), (10, (0.8, 0.6, 0, 0)), (25, (0.5, 0.5, 0.5, 0.5))])
    path = tmp_path / "ball.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    command = [sys.executable, "tools/handles_played.py", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    name, tracks, keys, _, *errors = (cell.strip() for cell in done.stdout.splitlines()[-1].strip("|").split("|"))
    assert (name, tracks, keys) == ("ball.blend", "2", "6")
    median, most, largest, turn_median, turn_most, turn_largest = map(float, errors)
    assert median <= most <= largest < 1e-5
    assert 0.0 < turn_median <= turn_most <= turn_largest < 0.5
