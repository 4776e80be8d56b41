# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are skipped because they were recorded as complete."""

from __future__ import annotations

import os

import bpy
import pytest

from tests.animation.curves import curve
from tests.cli.scenes import linked_from, load, names_in, save, state, thing
from tests.cli.tool import refused

LOG = ".tcb-done.jsonl"


@pytest.fixture
def bake(tcb, walk, tmp_path):
    """Bake into a folder with --skip-done and --json, and return the line of the result."""

    def run(*options: object, file=walk, output=tmp_path / "baked") -> dict:
        where = ("--output", f"{output}/") if output else ("--in-place",)
        (line,) = tcb("bake", file, *where, "--skip-done", "--json", *options).lines
        return line

    return run


def test_what_is_done_is_not_done_again(bake, walk, tmp_path):
    assert bake()["status"] == "done"
    result = tmp_path / "baked" / "walk.blend"
    before = result.stat()
    line = bake()
    assert (line["status"], line["output"]) == ("before", str(result))
    assert result.stat() == before


def test_what_replaced_its_file_is_not_done_again(bake, walk):
    assert bake(output=None)["status"] == "done"
    assert bake(output=None)["status"] == "before"
    assert state(walk) == "baked"


def touched(walk, tmp_path):
    os.utime(walk, ns=(0, walk.stat().st_mtime_ns + 1))


def gone(walk, tmp_path):
    (tmp_path / "baked" / "walk.blend").unlink()


def written_over(walk, tmp_path):
    (tmp_path / "baked" / "walk.blend").write_bytes(walk.read_bytes())


def log_cut_off(walk, tmp_path):
    os.truncate(tmp_path / "baked" / LOG, 100)


@pytest.mark.parametrize("change", [touched, gone, written_over, log_cut_off])
def test_what_has_changed_since_is_done_again(bake, walk, tmp_path, change):
    bake()
    change(walk, tmp_path)
    assert bake()["status"] == "done"
    assert bake()["status"] == "before" or change is log_cut_off
    assert state(tmp_path / "baked" / "walk.blend") == "baked"


@pytest.mark.parametrize(
    "options",
    [("--step", 2), ("--objects", "Hips"), ("--tension", 0.5), ("--extend", 1, 60), ("--output-mode", "CURVES")],
)
def test_with_other_options_it_is_done_again(bake, options):
    bake()
    assert bake(*options)["status"] == "done"
    assert bake(*options)["status"] == "before"


def test_another_version_does_it_again(bake, cli, monkeypatch):
    bake()
    monkeypatch.setattr(cli.outcome, "_made_with", lambda: "TCB Animation 99, Blender 99")
    assert bake()["status"] == "done"


def test_a_library_that_has_changed_does_it_again(bake, walk, tmp_path):
    file = linked_from(walk, tmp_path / "shot.blend")
    assert bake("--enable", file=file)["status"] == "done"
    assert bake("--enable", file=file)["status"] == "before"
    touched(walk, tmp_path)
    assert bake("--enable", file=file)["status"] == "done"


def test_what_has_nothing_to_do_is_remembered_until_it_changes(bake, tcb, walk, tmp_path):
    tcb("remove", walk, "--in-place")
    line = bake()
    assert (line["status"], line["errors"], line["output"]) == ("skipped", [], None)
    line = bake()
    assert (line["status"], line["output"]) == ("before", None)
    touched(walk, tmp_path)
    assert bake()["status"] == "skipped"
    assert names_in(tmp_path / "baked") == [LOG]


def test_what_failed_or_has_faults_is_tried_again(bake, walk):
    load(walk)
    thing("Still")
    curve(bpy.data.objects["Head"], "rotation_quaternion").lock = True
    save(walk)
    assert [bake("--objects", "Still")["status"] for _ in range(2)] == ["failed", "failed"]
    assert [bake()["status"] for _ in range(2)] == ["faults", "faults"]


def test_a_file_that_is_gone_is_an_error_though_its_result_is_there(bake, walk):
    bake()
    walk.unlink()
    assert bake()["status"] == "failed"


def test_what_never_got_its_name_is_done_again(bake, walk, monkeypatch):
    def stopped(_source, _target):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            bake(output=None)
    assert state(walk) == "as keyed"
    assert bake(output=None)["status"] == "done"
    assert state(walk) == "baked"


def test_a_log_that_cant_be_written_keeps_the_file_as_it_is(tcb, walk, tmp_path):
    before = walk.read_bytes()
    (tmp_path / LOG).mkdir()
    assert refused(tcb("bake", walk, "--in-place", "--skip-done"), "log", "Is a directory")
    assert (walk.read_bytes(), names_in(tmp_path)) == (before, [LOG, "walk.blend"])


def test_a_table_that_has_changed_does_it_again(tcb, walk, tmp_path):
    read = tmp_path / "run.csv"
    read.write_text("frame,scale[0]\n0,1\n10,2\n")
    how = ("--table", read, "--objects", "Hips", "--output", f"{tmp_path}/made/", "--skip-done", "--json")
    statuses = [tcb("import-table", walk, *how).lines[0]["status"] for _ in range(2)]
    touched(read, tmp_path)
    statuses.append(tcb("import-table", walk, *how).lines[0]["status"])
    assert statuses == ["done", "before", "done"]


def test_a_log_with_lines_that_are_none_is_read(bake, walk, tmp_path):
    bake()
    with (tmp_path / "baked" / LOG).open("a") as stream:
        stream.write('{"output": \n[1]\n"text"\n\n\x00\n')
    assert bake()["status"] == "before"


def test_info_has_no_result_that_could_be_there(tcb, walk):
    assert tcb("info", walk, "--skip-done").status == 2
    assert bpy.data.filepath == str(walk)
