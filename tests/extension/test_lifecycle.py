# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing, enabling, disabling and uninstalling work, and leave nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

Stages = dict[str, dict[str, Any]]
CYCLES = 10


def added(before: list[str], after: list[str]) -> list[str]:
    """Return the names that occur more often in `after`."""
    return sorted((Counter(after) - Counter(before)).elements())


@pytest.fixture(scope="module")
def stages(extension_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> Stages:
    out = tmp_path_factory.mktemp("lifecycle") / "stages.json"
    script = Path(__file__).with_name("lifecycle.py")
    result = subprocess.run(
        [sys.executable, str(script), str(extension_zip), str(out)], capture_output=True, text=True, timeout=120
    )
    printed = result.stdout + result.stderr
    # Blender prints the error about a second copy like any exception.
    refusals = printed.count("RuntimeError: TCB Animation is already enabled from")
    if result.returncode or printed.count("Traceback") != refusals:
        pytest.fail(f"exit status {result.returncode}\n{printed}", pytrace=False)
    stages: Stages = json.loads(out.read_text(encoding="utf-8"))
    return stages


def test_installing_puts_it_on_disk_and_waits_to_be_enabled(stages: Stages) -> None:
    assert stages["installed"]["on_disk"]
    assert not stages["installed"]["enabled"]


@pytest.mark.parametrize("stage", ["enabled, 1", f"enabled, {CYCLES}", "enabled after factory settings"])
def test_enabling_enables(stages: Stages, stage: str) -> None:
    assert stages[stage]["enabled"]
    assert stages[stage]["registered"]["draw callbacks"]
    assert stages[stage]["registered"]["preset folders"]


@pytest.mark.parametrize("stage", [f"enabled, {CYCLES}", "enabled after factory settings"])
def test_enabling_again_registers_the_same(stages: Stages, stage: str) -> None:
    first, again = stages["enabled, 1"]["registered"], stages[stage]["registered"]
    assert {kind: added(first[kind], again[kind]) for kind in again if added(first[kind], again[kind])} == {}
    ours = {kind: added(stages["installed"]["registered"][kind], first[kind]) for kind in first}
    assert {kind: names for kind, names in ours.items() if added(again[kind], names)} == {}


@pytest.mark.parametrize(
    "stage",
    [
        "disabled, 1",
        f"disabled, {CYCLES}",
        "disabled after handlers were cleared",
        "both disabled",
        "factory settings loaded",
        "disabled after factory settings",
        "uninstalled",
    ],
)
def test_nothing_stays_registered(stages: Stages, stage: str) -> None:
    before, after = stages["installed"]["registered"], stages[stage]["registered"]
    left_behind = {kind: added(before[kind], after[kind]) for kind in after}
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
    assert f'"{enabled}". Disable that installation, then enable "{refused}"' in reason
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
    assert stages[stage]["registered"] == stages["enabled, 1"]["registered"]


def test_there_were_handlers_to_clear(stages: Stages) -> None:
    assert stages["disabled after handlers were cleared"]["cleared"] >= 4


def test_uninstalling_removes_it(stages: Stages) -> None:
    assert not stages["uninstalled"]["on_disk"]
    assert not stages["uninstalled"]["enabled"]
