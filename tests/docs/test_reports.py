# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/reports.md names exactly the fields that come out."""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports.md"


def documented(heading: str) -> set[str]:
    """The names in the first column of the table under that heading."""
    part = re.split(r"^#+ ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (chapter,) = [each for each in part if each.startswith(f"{heading}\n")]
    cells = re.findall(r"^\| (`.*?) \|", chapter, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.fixture
def tcb(tcb_animation, scene, tmp_path, monkeypatch, capfd):
    """Run the command where "walk.blend" has a child on a parent whose scale passes through zero."""
    from tests.animation.curves import key
    from tests.cli.scenes import save, thing

    parent = thing("Arm", "location")
    key(parent, "scale", [(1.0, (1, 1, 1)), (10.0, (-1, 1, 1))])
    thing("Hand", "rotation_quaternion").parent = parent
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "walk.blend")
    command = importlib.import_module(f"{tcb_animation.__name__}.cli")

    def run(*arguments: str) -> dict:
        capfd.readouterr()
        command.main([*arguments, "--json", "--log", "log.jsonl"])
        (line,) = capfd.readouterr().out.splitlines()
        return json.loads(line)

    return run


def test_of_a_script_it_has_the_fields_of_a_report(tcb_animation):
    report = importlib.import_module(f"{tcb_animation.__name__}.animation.report")
    assert documented("Of a script") == {field.name for field in dataclasses.fields(report.Report)}
    assert documented("Each track that handles play") == set(report.HandleError.__annotations__)


def test_of_every_verb_it_has_what_is_printed(tcb):
    printed = tcb("restore", "walk.blend", "--in-place")
    assert documented("Every verb") == set(printed)
    assert documented("The counts") == set(printed["counts"])


def test_of_bezier_keys_it_has_what_is_printed(tcb):
    curves = tcb("bake", "walk.blend", "--enable", "--output", "curves.blend", "--output-mode", "CURVES")["curves"]
    handles = tcb("bake", "walk.blend", "--enable", "--output", "handles.blend", "--output-mode", "HANDLES")["handles"]
    assert documented("Where keys are Bezier") == set(handles)
    assert set(handles) - set(curves) == {"tracks"}
    assert documented("Each track that handles play") == set(handles["tracks"][0])


def test_of_a_look_it_has_what_is_printed(tcb):
    assert documented("Where a look is kept") == set(tcb("enable", "walk.blend", "--in-place")["look"])


def test_of_info_it_has_what_is_printed(tcb):
    datablock = tcb("info", "walk.blend")["datablocks"][0]
    assert documented("Each datablock") == set(datablock)
    assert documented("Each track") == set(datablock["tracks"][0])


def test_of_check_it_has_what_is_printed(tcb):
    printed = tcb("check", "walk.blend", "--joint", "Hand")
    assert documented("Each violation") == set(printed["violations"][0])
    assert documented("Each joint") == set(printed["joints"][0])


def test_of_the_log_it_has_what_is_written(tcb):
    tcb("bake", "walk.blend", "--enable", "--in-place")
    tcb("info", "walk.blend")
    baked, looked = map(json.loads, Path("log.jsonl").read_text(encoding="utf-8").splitlines())
    assert documented("The log") == set(baked)
    assert set(baked) - set(looked) == {"result", "inputs", "asked", "with"}
