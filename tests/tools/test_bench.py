# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark compares like with like, and its page says what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.bench import OURS, RIVALS, Bench, Plan
from tools.bench_report import PAGES, Results, sections, write_report

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def bench(scene, monkeypatch):
    """The measurements in this process, each once."""
    from tools import bench_case

    monkeypatch.setattr(bench_case, "REPEATS", 0)
    return bench_case


@pytest.fixture
def size(bench, tmp_path):
    """That of a file which is there."""
    found = bench.Size("armature", 20, 30)
    bench.make(found, tmp_path / f"{found.name}.blend")
    return found


@pytest.mark.parametrize("output", ["samples", "curves"])
def test_the_floor_writes_the_keys_that_the_bake_has_written(bench, size, tmp_path, output):
    from tests.animation.curves import bits, differences

    bench.measure(size, output, tmp_path)
    for curve in bench.all_curves():
        curve.lock = False
    baked = [bits(curve) for curve in bench.all_curves()]
    bench.measure(size, f"floor of {output}", tmp_path)
    written = [bits(curve) for curve in bench.all_curves()]
    assert differences([{**each, "extrapolation": "CONSTANT"} for each in written], baked) == []


WAYS = [
    "samples",
    "FCurve.bake",
    "nla.bake",
    "nla.bake, visual keying",
    "anim_utils.bake_action",
    "graph.bake_keys",
    "keyframe_insert",
]


@pytest.mark.parametrize("kind", ["armature", "objects"])
def test_every_way_makes_a_key_a_frame(bench, tmp_path, kind):
    size = bench.Size(kind, 20, 10)
    bench.make(size, tmp_path / f"{size.name}.blend")
    keys = {way: bench.measure(size, way, tmp_path)["keys"] for way in WAYS}
    assert keys == dict.fromkeys(WAYS, size.samples)


def test_the_parts_of_a_bake_come_to_all_of_it(bench, size, tmp_path):
    measured = bench.measure(size, "curves", tmp_path)
    parts = [measured[part] for part in ("read", "evaluate", "write")]
    assert min(parts) > 0
    assert sum(parts) == pytest.approx(measured["seconds"], rel=0.5)


def test_interp_and_its_peers_compute_the_same():
    asked = json.dumps({"tracks": 2, "keys": 4, "samples": 50, "rounds": 1})
    command = [sys.executable, str(ROOT / "tools" / "bench_interp.py"), asked]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rows = {row["name"]: row for row in result["rows"]}
    assert all(min(row["seconds"]) > 0.0 for row in rows.values())
    ours = rows["interp TCB rotation, keys to samples"]
    assert float(ours["note"].split()[0]) < 1e-12


def test_the_pages_are_of_the_results_that_are_kept_with_them(tmp_path):
    pages = {name: (DOCS / "measurements" / name).read_text() for name in PAGES}
    for folder in ("measurements", "figures"):
        (tmp_path / folder).mkdir()
    for name, text in pages.items():
        (tmp_path / "measurements" / name).write_text(text)
    write_report(Results.read(DOCS / "measurements" / "performance.json"), tmp_path)
    assert {name: (tmp_path / "measurements" / name).read_text() for name in PAGES} == pages


def test_a_target_is_reached_or_it_is_not():
    results = Results.read(DOCS / "measurements" / "performance.json")
    said = {line.split("|")[1].strip(): line for line in sections(results)["targets"].splitlines()}
    for size in results.centres:
        (line,) = [line for name, line in said.items() if "floor" in name and size.kind in name]
        floor, ours = results.of(size, "floor of samples", "seconds"), results.of(size, "samples", "seconds")
        assert ("yes" in line) == (ours <= 2 * floor)


class Pretended(Bench):
    """Each process says that it took a millisecond a sample; nothing runs."""

    def process(self, name, size, method):
        return {"seconds": 1e-3 * size["channels"] * size["frames"]}


@pytest.fixture
def runs(tmp_path):
    """Of four files of objects and four armatures, of what only moves or turns, and of the character."""
    plan = Plan([10, 1000], [10, 1000], 2, 100_000, patience=5.0, skin=10, interp={})
    pretended = Pretended(plan, tmp_path)
    for size in plan.sizes():
        pretended.measure(size)
    return [{**run, "samples": run["channels"] * run["frames"]} for run in pretended.runs]


@pytest.fixture
def of_all_sizes(runs):
    """Without the files of the largest size that are there for one comparison."""
    return [run for run in runs if run["kind"] not in ("locations", "rotations") and not run["vertices"]]


def test_all_ways_take_turns(runs):
    of_one = [run for run in runs if run["kind"] == "objects" and run["samples"] == 100]
    rounds = [[run["method"] for run in of_one if run["round"] == number] for number in (0, 1)]
    assert rounds[0][:4] == rounds[1] == list(OURS)
    assert rounds[0][4:] == list(RIVALS)


def test_no_file_is_larger_than_asked_for(of_all_sizes):
    assert max(run["samples"] for run in of_all_sizes) == 10_000


def test_a_rival_that_would_take_too_long_is_left_out(of_all_sizes):
    assert {run["samples"] for run in of_all_sizes if run["method"] == "nla.bake"} == {100}
    assert {run["samples"] for run in of_all_sizes if run["method"] == "samples"} == {100, 10_000}


@pytest.mark.parametrize("kind", ["locations", "rotations"])
def test_what_only_moves_or_turns_is_baked_beside_the_floor_and_nla_bake(runs, kind):
    ways = [run["method"] for run in runs if run["kind"] == kind and run["round"] == 1]
    assert ways == ["samples", "floor of samples", "nla.bake"]
