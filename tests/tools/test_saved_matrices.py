# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's playback of files from 3ds Max, compared with the matrices saved in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def row_of(path: Path) -> list[str]:
    """Return the tool's row for the file."""
    command = [sys.executable, "tools/saved_matrices.py", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [cell.strip() for cell in done.stdout.splitlines()[-1].strip("|").split("|")]


def test_a_file_of_3ds_max_stands_where_it_was_saved(shared_data: Path) -> None:
    name, frame, turning, *angles, moving, as_3d_studio, as_max, others = row_of(shared_data / "risu.3ds")
    assert (name, frame, turning, moving, others) == ("risu.3ds", "61", "20", "20", "1")
    assert float(angles[1]) > 0.2
    assert float(angles[3]) < 1e-4
    assert max(float(as_3d_studio), float(as_max)) < 1e-6
