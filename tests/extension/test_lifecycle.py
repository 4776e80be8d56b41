# SPDX-License-Identifier: GPL-3.0-or-later
"""Install, enable, disable, uninstall: each does what it says and leaves nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

Stages = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def stages(extension_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> Stages:
    out = tmp_path_factory.mktemp("lifecycle") / "stages.json"
    script = Path(__file__).with_name("lifecycle.py")
    result = subprocess.run(
        [sys.executable, str(script), str(extension_zip), str(out)], capture_output=True, text=True, timeout=120
    )
    printed = result.stdout + result.stderr
    # Blender prints the refusal of a second copy as it prints any exception.
    refusals = printed.count("RuntimeError: TCB Animation is enabled from another installation")
    if result.returncode or printed.count("Traceback") != refusals:
        pytest.fail(f"exit status {result.returncode}\n{printed}", pytrace=False)
    stages: Stages = json.loads(out.read_text(encoding="utf-8"))
    return stages


def test_installing_puts_it_on_disk_and_waits_to_be_enabled(stages: Stages) -> None:
    assert stages["installed"]["on_disk"]
    assert not stages["installed"]["enabled"]


@pytest.mark.parametrize("time", ["first", "second"])
def test_enabling_enables(stages: Stages, time: str) -> None:
    assert stages[f"enabled the {time} time"]["enabled"]


def test_enabling_again_registers_the_same(stages: Stages) -> None:
    assert stages["enabled the second time"]["registered"] == stages["enabled the first time"]["registered"]


@pytest.mark.parametrize(
    "stage", ["disabled the first time", "disabled the second time", "both disabled", "uninstalled"]
)
def test_nothing_stays_registered(stages: Stages, stage: str) -> None:
    before, after = stages["installed"]["registered"], stages[stage]["registered"]
    left_behind = {kind: sorted(set(after[kind]) - set(before[kind])) for kind in after}
    assert {kind: names for kind, names in left_behind.items() if names} == {}


@pytest.mark.parametrize(
    ("stage", "enabled", "refused"),
    [
        ("second copy refused", "bl_ext.user_default.tcb_animation", "bl_ext.other.tcb_animation"),
        ("second copy enabled", "bl_ext.other.tcb_animation", "bl_ext.user_default.tcb_animation"),
    ],
)
def test_a_second_copy_is_refused_with_the_way_to_switch(
    stages: Stages, stage: str, enabled: str, refused: str
) -> None:
    reason = stages[stage]["reason"]
    assert f'"{enabled}". Disable that one first, then enable "{refused}"' in reason
    assert "already exists" not in reason


@pytest.mark.parametrize(
    ("stage", "package"),
    [
        ("second copy refused", "bl_ext.user_default.tcb_animation"),
        ("second copy enabled", "bl_ext.other.tcb_animation"),
        ("both disabled", ""),
    ],
)
def test_the_documented_lines_find_the_enabled_copy_in_either_repository(
    stages: Stages, stage: str, package: str
) -> None:
    assert stages[stage]["found"] == {"package": package, "same": True}


@pytest.mark.parametrize("stage", ["second copy refused", "second copy disabled"])
def test_a_second_copy_leaves_the_first_whole(stages: Stages, stage: str) -> None:
    assert stages[stage]["enabled"]
    assert stages[stage]["registered"] == stages["enabled the first time"]["registered"]


def test_uninstalling_removes_it(stages: Stages) -> None:
    assert not stages["uninstalled"]["on_disk"]
    assert not stages["uninstalled"]["enabled"]
