# SPDX-License-Identifier: GPL-3.0-or-later
"""Setup: the messages of the script if something is missing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SET_UP = Path(__file__).resolve().parent.parent.parent / "tools" / "environment.sh"


@pytest.fixture
def machine_without_python(tmp_path: Path) -> dict[str, str]:
    """An environment with the script's own requirements in PATH, but no Python."""
    for program in ("bash", "dirname"):
        found = shutil.which(program)
        assert found is not None
        (tmp_path / program).symlink_to(found)
    # A checkout without an environment.
    shutil.copytree(SET_UP.parent, tmp_path / "tools")
    return {"PATH": str(tmp_path), "HOME": str(tmp_path)}


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    bash = Path(environment["PATH"]) / "bash"
    script = Path(environment["HOME"]) / "tools" / SET_UP.name
    return subprocess.run([bash, script, *arguments], env=environment, capture_output=True, text=True)


def test_without_a_python_that_blender_runs_on_it_names_those_that_would_do(
    machine_without_python: dict[str, str],
) -> None:
    result = run(machine_without_python, "bpy")
    assert result.returncode == 2
    assert "Python 3.11 or 3.13 is missing" in result.stderr


def test_an_environment_that_was_made_is_taken_before_a_new_one(machine_without_python: dict[str, str]) -> None:
    for version in ("4.2", "5.0"):
        folder = Path(machine_without_python["HOME"], f".venv-bpy-{version}")
        folder.mkdir()
        (folder / f"requirements-bpy-{version}.txt").touch()
    result = run(machine_without_python, "bpy")
    assert "Python 3.11 (with its venv module) is missing: .venv-bpy-5.0 needs it" in result.stderr


@pytest.mark.parametrize("version", ["4.2", "5.2"])
def test_without_its_python_a_blender_is_not_runnable(machine_without_python: dict[str, str], version: str) -> None:
    assert run(machine_without_python, "runnable", version).returncode != 0


def test_an_unknown_blender_is_refused_with_the_known_ones(machine_without_python: dict[str, str]) -> None:
    result = run(machine_without_python, "bpy", "3.6")
    assert result.returncode == 2
    assert "4.2 4.5 5.0 5.2" in result.stderr
