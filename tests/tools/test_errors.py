# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's playback of the example scene and of real .3ds files, compared with the formulas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("skull.3ds", "claw.3DS", "TargetCameraAnim.3ds", "tcb_fixture_lib3ds.3ds", "RotatingCube.3DS")


@pytest.fixture(scope="module")
def printed(shared_data: Path) -> dict[str, list[list[str]]]:
    """Return each file's rows in the tables of samples and curves. The program fails if an error exceeds its bound."""
    command = [sys.executable, "tools/errors.py", *(str(shared_data / name) for name in NAMES)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if "|" in line]
    return {name: [row for row in rows if row[0] == name] for name in ("example scene", *NAMES)}


def test_the_example_scene_and_real_files_are_as_exact_as_promised(printed):
    """Samples are exact except for rounding at frames, and curves are within the program's tolerances."""
    for samples, _curves in printed.values():
        assert int(samples[1]) > 0
        assert float(samples[5]) < 1e-3, samples


def test_the_example_scene_has_a_27th_of_the_keys_of_samples_at_most(printed):
    _, curves = printed["example scene"]
    keys, samples, generated = (int(cell.replace(",", "")) for cell in curves[1:4])
    # All components of a vector are keyed at every frame that any component needs.
    assert generated <= (keys + samples) / 27


def test_a_file_keyed_on_every_frame_gets_only_the_keys_that_it_needs(printed):
    _, curves = printed["RotatingCube.3DS"]
    keys, _, generated = (int(cell.replace(",", "")) for cell in curves[1:4])
    assert keys > 700
    assert generated < 10
