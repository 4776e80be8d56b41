# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's playback of files from 3ds Max, compared with the matrices saved in them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from formats import three_ds
from tests.exchange.files import box, save, scene, track

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


def test_a_mesh_that_moves_is_looked_at_between_frames_too(tmp_path: Path) -> None:
    """Two keys make a straight line, so the position at frame 5.25 of 20 is the same fraction of the line."""
    matrix = np.eye(4)
    matrix[:3, 3] = (8.0 * 5.25 / 20.0, 0.0, 3.0)
    position = track("POSITION", (0, 0.0, 0.0, 3.0), (20, 8.0, 0.0, 3.0))
    nodes = [
        three_ds.Node("OBJECT", b"Mover", tracks=(position,), node_id=0),
        three_ds.Node("OBJECT", b"Rest", tracks=(track("POSITION", (0, 0.0, 0.0, 0.0)),), node_id=1),
    ]
    made = scene(*nodes, objects=(box(b"Mover", matrix), box(b"Rest")))
    assert made.keyframer is not None
    header = three_ds.Header(3, b"MAXSCENE", 100)
    keyframer = replace(made.keyframer, header=header, current_frame=round(5.25 * 160))
    path = tmp_path / "moves.3ds"
    save(path, replace(made, keyframer=keyframer))
    name, frame, turning, *_, moving, as_3d_studio, as_max, others = row_of(path)
    assert (name, frame, turning, moving, others) == ("moves.3ds", "5.25", "0", "1", "1")
    assert max(float(as_3d_studio), float(as_max)) < 1e-6
