# SPDX-License-Identifier: GPL-3.0-or-later
"""The survey processes every file in a folder, and finds differences."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from formats import three_ds
from tests.animation.curves import fcurves, key, new_object
from tests.exchange.files import box, save, scene, track

ROOT = Path(__file__).resolve().parents[2]


def rows(path: Path, *options: str) -> tuple[dict[str, dict], str]:
    found = path.parent / "found.json"
    command = [sys.executable, "tools/survey.py", str(path), "--json", str(found), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True)
    return {row["file"]: row for row in json.loads(found.read_text())}, done.stdout


def turning(name: bytes) -> three_ds.Node:
    kinds = [track("POSITION", (0, 0, 0, 0), (20, 4, 1, 0)), track("ROTATION", (0, 0, 0, 0, 1), (20, 1, 0, 0, 1))]
    return three_ds.Node("OBJECT", name, tracks=tuple(kinds))


@pytest.fixture
def folder(tcb_animation, tmp_path: Path) -> Path:
    """A file with keyed, locked and unkeyed objects, a .3ds file, and an invalid file of each kind."""
    folder = tmp_path / "files"
    (folder / "made").mkdir(parents=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ball, door = new_object("Ball", "QUATERNION"), new_object("Door")
    new_object("Still")
    key(ball, "location", [(1, (0, 1, 2)), (10, (5, -1, 2)), (25, (6, 1, 2))])
    key(ball, "rotation_quaternion", [(1, (1, 0, 0, 0)), (10, (0.8, 0.6, 0, 0)), (25, (0.5, 0.5, 0.5, 0.5))])
    key(door, "location", [(1, (0, 0, 0)), (20, (1, 0, 0))])
    for fcurve in fcurves(door):
        fcurve.lock = True
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "made" / "walk.blend"))
    save(folder / "made" / "box.3ds", scene(turning(b"Box"), objects=(box(b"Box"),), segment=(0, 20)))
    for name in ("none.blend", "none.3ds"):
        (folder / name).write_bytes(b"nothing")
    with (folder / "sources.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(
            [("folder", "repository", "commit", "license"), ("made", "here/made", "1", "CC0-1.0")]
        )
    return folder


def test_each_file_has_a_row_that_says_what_was_done_and_what_differs(folder, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "".join(f"<!-- {name} -->\n<!-- end of {name} -->\n" for name in ("sources", "blend", "3ds", "differing"))
    )
    found, printed = rows(folder, "--page", str(page))
    assert (sorted(found), printed) == (["made/box.3ds", "made/walk.blend", "none.3ds", "none.blend"], "")

    walk = found["made/walk.blend"]
    assert (walk["curves"], walk["keys"], walk["tracks"], walk["refused"]) == (10, 27, 2, 1)
    assert "locked" in walk["refusals"][0]
    assert (walk["restored"], walk["removed"], walk["played"], walk["faults"]) == (0, 0, 0, [])
    assert walk["exported"] == "3 of 3"
    assert (float(walk["off"]) < 1e-5, float(walk["degrees"]) < 1e-3) == (True, True)

    made = found["made/box.3ds"]
    assert (made["nodes"], made["tracks"], made["keys"], made["rewritten"], made["faults"]) == (1, 2, 4, 0, [])
    assert float(made["handles_degrees"]) < 0.01
    assert (float(made["off"]), float(made["degrees"])) == (0.0, 0.0)

    assert [len(found[name]["faults"]) for name in ("none.3ds", "none.blend")] == [1, 1]
    lines = page.read_text().splitlines()
    assert [sum(name in line for line in lines) for name in ("here/made", "none.")] == [1, 2]
    folders = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| made ")]
    assert [row[:5] for row in folders[1:]] == [["made", "1", "10", "27", "2"], ["made", "1", "1", "2", "4"]]


def test_a_file_that_is_not_done_in_time_is_told(folder):
    found, _ = rows(folder, "--seconds", "0.01")
    assert {row["faults"][0] for row in found.values()} == {"not done within 0.01 s"}
