# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages on reports, JSON and pipelines name exactly the fields in the output."""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "automate"
TEXT = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in ("reports.md", "json.md", "pipelines.md"))


def documented(heading: str) -> set[str]:
    """Return the names in the first column of the table under the heading."""
    part = re.split(r"^#+ ", TEXT, flags=re.MULTILINE)
    (chapter,) = [each for each in part if each.startswith(f"{heading}\n")]
    cells = re.findall(r"^\| (`.*?) \|", chapter.split("\n| code |")[0], re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.fixture
def tcb(tcb_animation, scene, tmp_path, monkeypatch, capfd):
    """Run the command with a "walk.blend" that has a child of a parent with a scale that passes through zero."""
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
        command.main([*arguments, "--json"])
        (line,) = capfd.readouterr().out.splitlines()
        return json.loads(line)

    return run


def test_of_a_script_it_has_the_fields_of_a_report(tcb_animation):
    report = importlib.import_module(f"{tcb_animation.__name__}.animation.report")
    assert documented("A report") == {field.name for field in dataclasses.fields(report.Report)}
    assert documented("Each track played by handles") == set(report.HandleError.__annotations__)


def test_of_a_finding_it_has_what_is_printed(tcb):
    printed = tcb("restore", "walk.blend", "--in-place")
    assert documented("Each finding") == set(printed["notes"][0])
    assert printed["notes"][0]["code"] == "NOTHING_TO_RESTORE"


def test_codes_that_it_names_exist(tcb_animation):
    messages = importlib.import_module(f"{tcb_animation.__name__}.animation.messages").MESSAGES
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+|LOCKED|MUTED|DRIVEN|LINKED)`", TEXT))
    environment = {"BLENDER_SYSTEM_EXTENSIONS", "BLENDER_USER_RESOURCES", "OPENBLAS_NUM_THREADS"}
    assert named - messages.keys() == {"AXIS_ANGLE", "DE_CASTELJAU", "AS_KEYED", "ONE_AXIS"} | environment


def test_the_table_of_codes_has_the_codes_of_the_command():
    root = FOLDER.parents[1]
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "cli").rglob("*.py")))
    about_files = re.compile(r'"((?:FILE|LIBRARY|TARGET|FOLDER|WORKER|TABLE)_[A-Z_]+)": n_\(')
    (section,) = (root / "animation" / "messages.py").read_text(encoding="utf-8").split("# Files of the command.")[1:]
    codes = set(re.findall(r'(?:Finding|unusable)\(\s*"([A-Z_]+)"', sources)) | set(about_files.findall(section))
    table = "".join(re.findall(r"^\| (`[A-Z].*?) \|", TEXT, re.MULTILINE))
    listed = set(re.findall(r"`([A-Z_]+)`", table))
    assert {code for code in codes if not code.startswith("NOTHING_TO_")} - listed == set()
    assert {"ONLY_IN_STRIPS", "FILE_DAMAGED"} <= listed


def test_of_every_verb_it_has_what_is_printed(tcb):
    printed = tcb("restore", "walk.blend", "--in-place")
    assert documented("Every verb") | documented("A report") == set(printed)
    assert printed["version"] == 1


def test_of_a_dry_run_it_has_what_is_printed(tcb):
    printed = tcb("bake", "walk.blend", "--enable", "--output", "baked.blend", "--dry-run")
    assert documented("With `--dry-run`") == set(printed["changes"][0])
    assert not Path("baked.blend").exists()


def test_of_what_is_reduced_it_has_what_is_printed(tcb):
    printed = tcb("reduce", "walk.blend", "--output", "few.blend")
    assert documented("Reduced keys") == set(printed["reduced"][0])


def test_of_info_it_has_what_is_printed(tcb):
    printed = tcb("info", "walk.blend")
    assert printed["missing_libraries"] == []
    datablock = printed["animated"][0]
    assert documented("Each datablock") == set(datablock)
    assert documented("Each track") == set(datablock["tracks"][0])


def test_of_check_it_has_what_is_printed(tcb):
    printed = tcb("check", "walk.blend", "--joint", "Hand")
    assert documented("Each violation") == set(printed["violations"][0])
    assert documented("Each joint") == set(printed["joints"][0])
