# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's cases run and compare equal work, and the page contains the measurements."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MEASUREMENTS = ROOT / "docs" / "measurements"
FRAMES, CHANNELS = 10, 20


def run(*words: object) -> str:
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_a_bake_its_floor_and_a_rival_make_a_key_per_frame_and_channel(tmp_path: Path) -> None:
    pytest.importorskip("bpy")
    size = {"kind": "armature", "channels": CHANNELS, "frames": FRAMES}
    found: dict[str, dict[str, Any]] = {}
    for method in ("make", "samples", "floor of samples", "nla.bake"):
        asked = {"size": size, "method": method, "folder": str(tmp_path), "look": False}
        printed = run("tools/benchmarks/bake_method.py", json.dumps(asked))
        found[method] = json.loads(printed.splitlines()[-1])
    del found["make"]
    assert {method: result["keys"] for method, result in found.items()} == dict.fromkeys(found, CHANNELS * FRAMES)


def test_all_methods_of_many_tracks_compute_the_same() -> None:
    """The row for interp contains its difference from the formulas in NumPy."""
    printed = run("tools/bench.py", "batch", "--tracks=2", "--keys=4", "--samples=50", "--rounds=1")
    (row,) = [line for line in printed.splitlines() if "TCB rotation, keys to samples" in line]
    assert float(row.split("|")[4].split()[0]) < 1e-12


def test_the_page_is_of_the_results_that_are_kept_with_it(tmp_path: Path) -> None:
    page = (MEASUREMENTS / "performance.md").read_text()
    copy = tmp_path / "measurements" / "performance.md"
    copy.parent.mkdir()
    (tmp_path / "figures").mkdir()
    copy.write_text(page)
    run("tools/bench.py", "report", MEASUREMENTS / "performance.json", "--docs", tmp_path)
    assert copy.read_text() == page
