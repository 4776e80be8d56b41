# SPDX-License-Identifier: GPL-3.0-or-later
"""The command in Blender itself, if tools/environment.sh finds an installation."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.graphical import ROOT

MAKE_WALK = """
import bpy, sys
bpy.ops.wm.read_factory_settings(use_empty=True)
hips = bpy.data.objects.new("Hips", None)
bpy.context.scene.collection.objects.link(hips)
for frame, x in ((1, 0.0), (10, 3.0), (40, 1.0)):
    hips.location = (x, 0.0, 0.0)
    hips.keyframe_insert("location", frame=frame)
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[-1])
"""

Blender = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def blender(blender_itself: list[str]) -> Blender:
    """Run Blender with these arguments, and the extension installed from its zip."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*blender_itself, *map(str, arguments)], capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture(scope="module")
def walk(blender: Blender, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walk")
    (folder / "make.py").write_text(MAKE_WALK)
    blender("--background", "--python", folder / "make.py", "--", folder / "walk.blend")
    return folder / "walk.blend"


def test_the_command_bakes(blender, walk, tmp_path):
    ran = blender("--command", "tcb", "bake", walk, "--enable", "--output", f"{tmp_path}/out/", "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (line,) = map(json.loads, ran.stdout.splitlines())
    assert (line["samples"], line["output"]) == (3 * 37, str(tmp_path / "out" / "walk.blend"))


def test_the_exit_status_comes_out_of_blender(blender):
    assert blender("--command", "tcb", "bake", "walk.blend").returncode == 2


def test_the_tool_runs_in_blender_too(blender, walk, tmp_path):
    tool = ["--background", "--python", ROOT / "tools" / "tcb.py", "--"]
    ran = blender(*tool, "bake", "--enable", walk, tmp_path / "there" / "gone.blend", "--output", tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "gone.blend: error: " in ran.stderr
    assert (tmp_path / "walk.blend").exists()


def test_several_blenders_work_at_once(blender, blender_itself, walk, tmp_path):
    """Start Blender by its command, because an unpacked Blender does not know how it was started."""
    files = [str(shutil.copy(walk, tmp_path / f"{number}.blend")) for number in range(3)]
    arguments = ["bake", *files, "--enable", "--in-place", "--jobs", "2", "--json"]
    script = (
        "import sys; from bl_ext.user_default.tcb_animation import cli;"
        f" sys.exit(cli.main({arguments!r}, start={[*blender_itself, '--command', 'tcb']!r}))"
    )
    ran = blender("--background", "--python-exit-code", 3, "--python-expr", script)
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    assert [line["errors"] for line in lines] == [[], [], []], ran.stderr
    assert {line["samples"] for line in lines} == {3 * 37}
