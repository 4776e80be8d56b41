# SPDX-License-Identifier: GPL-3.0-or-later
"""The command in Blender itself, if tools/environment.sh finds an installation."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable

import pytest

from tests.cli.graphical import ROOT

Blender = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def blender(blender_itself: list[str]) -> Blender:
    """Run Blender with these arguments, and the extension installed from its zip."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*blender_itself, *map(str, arguments)], capture_output=True, text=True, timeout=120)

    return run


def test_the_command_bakes_and_returns_its_exit_status(blender, tcb, walk, tmp_path):
    command = ("bake", walk, tmp_path / "gone.blend", "--json", "--output")
    ran = blender("--command", "tcb", *command, f"{tmp_path}/out/")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    baked, gone = map(json.loads, ran.stdout.splitlines())
    assert baked["samples"] == tcb(*command, f"{tmp_path}/here/").lines[0]["samples"] > 0
    assert (baked["output"], gone["status"]) == (str(tmp_path / "out" / "walk.blend"), "failed")


def test_the_tool_runs_in_blender_too(blender, walk, tmp_path):
    tool = ["--background", "--python", ROOT / "tools" / "tcb.py", "--"]
    ran = blender(*tool, "bake", walk, tmp_path / "gone.blend", "--output", tmp_path / "out")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "gone.blend: error: " in ran.stderr
    # This Python may have an older Blender, which cannot read the file.
    assert (tmp_path / "out" / "walk.blend").exists()


def test_several_blenders_work_at_once(blender, blender_itself, walk, tmp_path):
    """Start Blender by its command, because an unpacked Blender does not know how it was started."""
    files = [str(shutil.copy(walk, tmp_path / f"{number}.blend")) for number in range(3)]
    arguments = ["bake", *files, "--in-place", "--jobs", "2", "--json"]
    script = (
        "import sys; from bl_ext.user_default.tcb_animation import cli;"
        f" sys.exit(cli.main({arguments!r}, start={[*blender_itself, '--command', 'tcb']!r}))"
    )
    ran = blender("--background", "--python-exit-code", 3, "--python-expr", script)
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    assert [line["errors"] for line in lines] == [[], [], []], ran.stderr
    assert all(line["samples"] > 0 for line in lines)
