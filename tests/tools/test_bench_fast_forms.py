# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of rules with a fast form runs, and has a line for each of both kinds of files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_each_form_has_its_ratio(scene) -> None:
    command = [
        sys.executable,
        str(ROOT / "tools" / "bench_fast_forms.py"),
        "--channels=20",
        "--frames=30",
        "--rounds=1",
    ]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    head = next(row for row, line in enumerate(printed) if line.split()[:2] == ["ms", "without"])
    assert "20 channels, 30 frames" in printed[head - 1]
    rows = {line[:42]: float(line.split()[-1]) for line in printed if line.startswith(("objects, ", "armature, "))}
    assert len(rows) == 4
    assert all(ratio > 0.0 for ratio in rows.values())
