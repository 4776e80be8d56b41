# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's cases run and compare equal work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRAMES, CHANNELS = 10, 20


def run(*words: object) -> str:
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_a_bake_its_floor_and_a_rival_make_a_key_per_frame_and_channel() -> None:
    pytest.importorskip("bpy")
    printed = run("tools/bench.py", "bakes", "--rounds=1", f"--channels={CHANNELS}", f"--frames={FRAMES}", "--skin=0")
    rows = [[cell.strip() for cell in line.split("|")] for line in printed.splitlines() if line.startswith("| ")]
    keys = {method: int(count) for _, method, *_, count, _ in rows if count.isdecimal()}
    compared = ("samples", "floor of samples", "nla.bake")
    assert {method: keys[method] for method in compared} == dict.fromkeys(compared, CHANNELS * FRAMES)


def test_splines_of_many_tracks_are_compared_with_those_of_scipy() -> None:
    options = ("--tracks=2", "--keys=4", "--samples=50", "--rounds=1", "--one")
    printed = run("tools/bench.py", "package_speed", *options)
    assert all(f"| {name}" in printed for name in ("TCB rotation, from keys", "scipy Slerp, evaluation"))


def test_each_verb_is_compared_with_a_direct_write() -> None:
    if pytest.importorskip("bpy").app.version < (5, 0):
        pytest.skip("the direct write and Blender's part use calls of Blender 5")
    printed = run("tools/bench.py", "verbs", "1", "--rounds=1")
    rows = [[cell.strip() for cell in line.split("|")] for line in printed.splitlines() if line.startswith("| ")]
    times = {verb: float(ratio) for _, verb, _, ratio, _ in rows[2:]}
    assert times.pop("direct write") == 1.0
    assert len(times) == 7
    assert min(times.values()) > 0.0
