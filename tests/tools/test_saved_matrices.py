# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender plays of files of 3ds Max beside the matrices that these were saved with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_file_of_3ds_max_stands_where_it_was_saved(shared_data: Path) -> None:
    command = [sys.executable, "tools/saved_matrices.py", str(shared_data / "risu.3ds")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    cells = [cell.strip() for cell in done.stdout.splitlines()[-1].strip("|").split("|")]
    assert cells[:3] == ["risu.3ds", "61", "20"]
    _, as_3d_studio, _, as_max, *_ = map(float, cells[3:])
    assert as_3d_studio > 0.2
    assert as_max < 1e-4
