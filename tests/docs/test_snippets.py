# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python code in the documents runs block by block, on a scene with the objects that a document names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.documents import CODE, DOCUMENTS, FINDS_THE_EXTENSION, ROOT, USERS_PAGES

INSTALLED = "from tcb_splines"
"""Import of the installed package, which contains the same files as `interp`."""


def blocks(document: Path) -> list[str]:
    return CODE.findall(document.read_text(encoding="utf-8"))


def installs(block: str) -> bool:
    return "package_install_files" in block


WITH_PYTHON = [document for document in DOCUMENTS if blocks(document)]


@pytest.mark.parametrize("document", WITH_PYTHON, ids=lambda path: path.name)
def test_its_python_runs(document, files):
    import bpy

    names: dict[str, object] = {"__name__": "__main__"}
    try:
        for block in blocks(document):
            if not installs(block):
                exec(compile(block.replace(INSTALLED, "from interp"), document.name, "exec"), names)
    finally:
        bpy.app.translations.unregister("tcb_in_german")


@pytest.mark.parametrize("document", [page for page in USERS_PAGES if blocks(page)], ids=lambda path: path.name)
def test_it_finds_the_extension_in_any_repository(document):
    code = "\n".join(blocks(document))
    assert "bl_ext" not in code
    assert FINDS_THE_EXTENSION in code or not re.search(r"^(report = )?animation\.", code, re.MULTILINE)


def test_its_installation_runs_in_a_blender_of_its_own(extension_zip, tmp_path):
    shutil.copy(extension_zip, tmp_path)
    (block,) = filter(installs, blocks(ROOT / "docs" / "automate" / "python.md"))
    code = f"{block}\nimport sys, os\nprint(animation.bake.__name__); sys.stdout.flush(); os._exit(0)"
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert (ran.returncode, ran.stdout.splitlines()[-1:]) == (0, ["bake"]), ran.stderr


def test_the_page_for_importers_finds_the_extension_in_any_repository(extension_zip, tmp_path):
    (tmp_path / "page.py").write_text("\n".join(blocks(ROOT / "docs" / "automate" / "importers.md")), encoding="utf-8")
    code = f"""
import os, runpy, sys
import bpy
repos = bpy.context.preferences.extensions.repos
repos.new(name="Studio", module="studio_tools", custom_directory={str(tmp_path / "repository")!r})
bpy.ops.extensions.package_install_files(
    filepath={str(tmp_path / extension_zip.name)!r}, repo="studio_tools", enable_on_install=True
)
names = runpy.run_path({str(tmp_path / "page.py")!r})
ball = names["ball"]
keys = names["tcb_animation"]().get_keys(ball, "location")
print(names["tcb_animation"]().__name__, keys.frames.tolist(), keys.continuity.tolist())
sys.stdout.flush()
os._exit(0)
"""
    shutil.copy(extension_zip, tmp_path)
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    expected = "bl_ext.studio_tools.tcb_animation.animation [1.0, 20.0, 40.0] [0.0, -1.0, 0.0]"
    assert (ran.returncode, ran.stdout.splitlines()[-1:]) == (0, [expected]), ran.stderr
