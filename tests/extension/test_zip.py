# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip that users install."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NOT_RUN_IN_BLENDER = {"tests", "tools", "docs", "examples", "farm", "build", "dist"}


@pytest.fixture(scope="module")
def names(extension_zip: Path) -> set[str]:
    with zipfile.ZipFile(extension_zip) as archive:
        return set(archive.namelist())


def test_the_zip_holds_only_what_runs(names: set[str]) -> None:
    def runs(name: str) -> bool:
        path = PurePosixPath(name)
        is_module = path.suffix == ".py" and all(part.isidentifier() for part in path.with_suffix("").parts)
        is_translation = path.match("translations/*.po") and len(path.parts) == 2
        return name in {"blender_manifest.toml", "LICENSE", "py.typed", "interp/py.typed"} or (
            is_translation or (is_module and path.parts[0] not in NOT_RUN_IN_BLENDER)
        )

    assert sorted(name for name in names if not runs(name)) == []


def test_the_zip_holds_every_module_preset_translation_type_marker_and_the_licence(names: set[str]) -> None:
    packages = {init.parent for init in ROOT.glob("*/__init__.py")} - {ROOT / name for name in NOT_RUN_IN_BLENDER}
    modules = [*ROOT.glob("*.py"), *(module for package in packages for module in package.rglob("*.py"))]
    presets = [*ROOT.glob("presets/tcb_animation/key/*.py")]
    assert len(presets) == 8
    files = {file.relative_to(ROOT).as_posix() for file in (*modules, *presets, *ROOT.glob("translations/*.po"))}
    assert sorted((files | {"py.typed", "LICENSE"}) - names) == []
