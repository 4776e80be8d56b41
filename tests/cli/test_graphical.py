# SPDX-License-Identifier: GPL-3.0-or-later
"""The command in Blender itself, as users have it, where tools/environment.sh finds one set up."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKE_WALK = """
import bpy, sys
bpy.ops.wm.read_factory_settings(use_empty=True)
hips = bpy.data.objects.new("Hips", None)
bpy.context.scene.collection.objects.link(hips)
for frame, x in ((1, 0.0), (10, 3.0), (40, 1.0)):
    hips.location.x = x
    hips.keyframe_insert("location", frame=frame)
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[-1])
"""

Blender = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def blender(extension_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> Blender:
    """Run Blender with these arguments, and the extension installed from its zip."""
    command = [str(ROOT / "tools" / "environment.sh"), "graphical", "env"]
    found = subprocess.run(command, capture_output=True, text=True).stdout
    variables = dict(line.split("=", 1) for line in found.splitlines() if "=" in line)
    if "BLENDER" not in variables:
        pytest.skip(found.strip())
    folder = tmp_path_factory.mktemp("user")
    environment = {
        **os.environ,
        "GUI_BLENDER": variables["GUI_BLENDER"],
        "GUI_BLENDER_HOME": str(folder),
        "BLENDER_USER_RESOURCES": str(folder / "config"),
    }

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        call = [variables["BLENDER"], *map(str, arguments)]
        return subprocess.run(call, capture_output=True, text=True, env=environment, timeout=120)

    # A Blender that was only unpacked doesn't know the Python that it runs its helpers with.
    install = (
        "import bpy, os, sys; sys.executable = sys.executable or os.environ['GUI_BLENDER_PYTHON'];"
        f" bpy.ops.extensions.package_install_files(filepath={str(extension_zip)!r}, repo='user_default',"
        " enable_on_install=True); bpy.ops.wm.save_userpref()"
    )
    installed = run("--background", "--python-exit-code", 3, "--python-expr", install)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return run


@pytest.fixture(scope="module")
def walk(blender: Blender, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walk")
    (folder / "make.py").write_text(MAKE_WALK)
    blender("--background", "--python", folder / "make.py", "--", folder / "walk.blend")
    return folder / "walk.blend"


def test_the_command_bakes(blender, walk, tmp_path):
    ran = blender("--command", "tcb", "bake", walk, "--output", f"{tmp_path}/out/", "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (line,) = map(json.loads, ran.stdout.splitlines())
    assert (line["counts"]["samples"], line["output"]) == (3 * 37, str(tmp_path / "out" / "walk.blend"))


def test_the_exit_status_comes_out_of_blender(blender):
    assert blender("--command", "tcb", "bake", "walk.blend").returncode == 2


def test_the_tool_runs_in_blender_too(blender, walk, tmp_path):
    tool = ["--background", "--python", ROOT / "tools" / "tcb.py", "--"]
    ran = blender(*tool, "bake", walk, tmp_path / "there" / "gone.blend", "--output", tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "gone.blend: error: " in ran.stderr
    assert (tmp_path / "walk.blend").exists()
