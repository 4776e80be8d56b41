# SPDX-License-Identifier: GPL-3.0-or-later
"""The wheel that contains only the mathematics."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = """
import sys
from tcb_splines import Keys, tcb
from tcb_splines.splines import METHODS
print(tcb.VectorSpline(Keys([0, 10], [0, 1]))(5.0)[0], len(METHODS))
print(sorted({name.split(".")[0] for name in sys.modules} & {"interp", "scipy", "bpy", "matplotlib"}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    made = subprocess.run(
        [*command, "--wheel-dir", str(folder), str(ROOT)], check=False, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return next(folder.glob("*.whl"))


def test_it_holds_every_module_of_interp_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    modules = {file.relative_to(ROOT / "interp").as_posix() for file in (ROOT / "interp").rglob("*.py")}
    assert found == {f"tcb_splines/{name}" for name in modules | {"py.typed"}}


def test_it_has_the_extension_s_version_and_needs_numpy_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert metadata["Version"] == manifest["version"]
    assert metadata.get_all("Requires-Dist") == ["numpy>=1.24"]
    assert metadata["Requires-Python"] == ">=3.10"


def test_its_page_has_no_links_into_the_repository(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        page = Parser().parsestr(archive.read(name).decode()).get_payload()
    assert page.startswith("# ")
    assert re.findall(r"\]\((?!https:)[^)]*\)", page) == []


def test_its_publisher_is_that_of_the_manifest(tmp_path):
    for name in ("interp", "docs/automate", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("pyproject.toml", "LICENSE", "blender_manifest.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    manifest = (tmp_path / "blender_manifest.toml").read_text(encoding="utf-8")
    for field, value in (("maintainer", "Ada <ada@release.test>"), ("website", "https://release.test/")):
        manifest = re.sub(rf"(?m)^{field} = .*", f'{field} = "{value}"', manifest)
    (tmp_path / "blender_manifest.toml").write_text(manifest, encoding="utf-8")
    command = [sys.executable, "-m", "hatchling", "metadata"]
    told = json.loads(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout)
    assert told["authors"] == [{"name": "Ada", "email": "ada@release.test"}]
    assert told["urls"] == {"Homepage": "https://release.test/"}


def test_it_runs_without_the_checkout(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-W", "error", "-c", EXAMPLE]
    run = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    assert run.stdout.splitlines() == ["0.5 14", "[]"]
