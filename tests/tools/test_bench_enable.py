# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of Enable runs, and its stages add up."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_stages_add_up_to_all(scene) -> None:
    command = [sys.executable, str(ROOT / "tools" / "bench_enable.py"), "--objects=2", "--frames=100", "--rounds=1"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    head = next(row for row, line in enumerate(printed) if "/ bare write" in line)
    assert "6 tracks, 100 keys" in printed[head - 1]
    *rows, table = [line for line in printed[head + 1 :] if line.strip()]
    ratios = {line[:12].strip(): float(line.split()[-1]) for line in rows}
    assert ratios.pop("bare write") == 1.0
    assert ratios.pop("all") == pytest.approx(sum(ratios.values()), abs=0.3)
    assert re.fullmatch(r"table of 10\d{3} keys: read \d+\.\d ms, written \d+\.\d ms", table)
