# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison of Reduce with an optimum runs on a motion capture."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRAMES = 21
ARM = """HIERARCHY
ROOT Shoulder
{
  OFFSET 0 0 0
  CHANNELS 3 Zrotation Xrotation Yrotation
  JOINT Hand
  {
    OFFSET 0 10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 5 0
    }
  }
}
MOTION
"""


def test_a_uniform_turn_needs_two_keys(tmp_path: Path) -> None:
    pytest.importorskip("bpy")
    file = tmp_path / "turn.bvh"
    motion = "".join(f"{2 * frame} 0 0 0 0 0\n" for frame in range(FRAMES))
    file.write_text(f"{ARM}Frames: {FRAMES}\nFrame Time: 0.04\n{motion}")
    command = [sys.executable, "tools/reduce_gap.py", str(file), "--skip", "0"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    row = json.loads(done.stdout.splitlines()[-1])
    assert (row["tracks"], row["frames"], row["search"], row["optimum"]) == (1, FRAMES, 2, 2)
