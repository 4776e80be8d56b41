# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark runs, and what it compares computes the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "tools" / "bench.py"


def test_the_benchmark_prints_rows_for_interp_and_its_peers():
    command = [sys.executable, str(BENCH), "interp", "--tracks=2", "--keys=4", "--samples=50", "--repeat=1", "--json"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rows = {row["name"]: row for row in result["interp"]}
    assert all(row["seconds"] > 0.0 for row in rows.values())
    ours = rows["interp TCB rotation, keys to samples"]
    assert float(ours["note"].split()[0]) < 1e-12
