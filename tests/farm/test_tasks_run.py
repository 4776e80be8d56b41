# SPDX-License-Identifier: GPL-3.0-or-later
"""The command lines of the tasks process files correctly."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.scenes import load, names_in, save, state, thing
from tests.cli.tool import TOOL
from tests.farm.flamenco import evaluated, submitted, work

STAND_IN = """\
#!/bin/sh
test "$1 $2" = "--command tcb" || exit 9
shift 2
exec "{python}" "{tool}" "$@"
"""


@pytest.fixture
def blender(tmp_path) -> str:
    """A stand-in for Blender with the extension that runs only the command. Its path contains spaces."""
    path = tmp_path / "Program Files" / "blender"
    path.parent.mkdir()
    path.write_text(STAND_IN.format(python=sys.executable, tool=TOOL[1]))
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def shots(scene, tmp_path) -> Path:
    """A folder on separate storage, with spaces in its name, and with files in it and in a subfolder."""
    folder = tmp_path / "shared storage" / "my shots"
    (folder / "one").mkdir(parents=True)
    thing("Hips", "location")
    thing("Hat", "location")
    save(folder / "a walk.blend")
    for name in ("it's.blend", "run.blend", "one/b.blend"):
        shutil.copy(folder / "a walk.blend", folder / name)
    return folder


def tasks(compiled, shots: Path, output: Path, two_way: dict[str, str], **options: object) -> list[dict]:
    """Compile the job as submitted by Flamenco's add-on."""
    settings: dict[str, Any] = {"folder": f"//{shots.name}", "output": str(output), "pattern": "**/*.blend"}
    settings |= {"extra_arguments": "--enable --plain", **options}
    evals = {one["key"]: one["eval"] for one in compiled()["job_type"]["settings"] if "eval" in one}
    for key in ("files", "folder_path", "output_path"):
        settings[key] = evaluated(evals[key], shots.parent, settings)
    return compiled(**submitted(settings, two_way))["tasks"]


@pytest.mark.parametrize(("shared", "chunk_size", "count"), [(False, 2, 2), (True, 10, 1)])
def test_the_tasks_bake_the_files_of_the_folder(compiled, blender, shots, tmp_path, shared, chunk_size, count):
    output = shots.parent / "baked files"
    two_way = {"shared": str(shots.parent)} if shared else {}
    made = tasks(compiled, shots, output, two_way, chunk_size=chunk_size, step=3, objects="Hips")
    assert len(made) == count
    for task in made:
        (ran,) = work(task, {"blender": blender}, two_way)
        assert ran.returncode == 0, ran.stderr
    assert names_in(output) == [".tcb-done.jsonl", "a walk.blend", "it's.blend", "one", "run.blend"]
    assert {state(output / name) for name in ("a walk.blend", "it's.blend", "one/b.blend")} == {"14 keys"}
    load(output / "run.blend")
    assert state(output / "run.blend", "Hat") == "as keyed"


def test_a_task_that_is_run_again_leaves_out_what_is_done(compiled, blender, shots, tmp_path):
    made = tasks(compiled, shots, tmp_path / "out", {}, pattern="*.blend")
    first, again = (work(made[0], {"blender": blender}, {})[0] for _ in range(2))
    assert [ran.stderr.splitlines()[-1] for ran in (first, again)] == ["tcb: done: 3", "tcb: before: 3"]


def test_a_file_that_fails_fails_its_task_and_the_others_are_baked(compiled, blender, shots, tmp_path):
    (shots / "it's.blend").write_bytes(b"")
    made = tasks(compiled, shots, tmp_path / "out", {}, pattern="*.blend")
    (ran,) = work(made[0], {"blender": blender}, {})
    assert ran.returncode == 1
    assert "it's.blend: error: " in ran.stderr
    assert state(tmp_path / "out" / "run.blend") == "baked"
