# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written down of each file, and what is left out because it is done."""

from __future__ import annotations

import json
import os
from pathlib import Path

import bpy
import pytest

from tests.animation.curves import curve
from tests.cli.scenes import linked_from, load, names_in, save, state, thing
from tests.cli.tool import refused

LOG = ".tcb-done.jsonl"


@pytest.fixture
def bake(tcb, walk, tmp_path):
    """Bake into a folder, with --skip-done and --json; the result's line."""

    def run(*options: object, file=walk, output=tmp_path / "baked") -> dict:
        where = ("--output", f"{output}/") if output else ("--in-place",)
        (line,) = tcb("bake", file, *where, "--skip-done", "--json", *options).lines
        return line

    return run


def entries(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


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


def test_without_json_what_is_left_out_is_counted_and_told_as_progress(tcb, walk, tmp_path):
    load(walk)
    save(tmp_path / "run.blend")
    command = ("bake", walk, tmp_path / "run.blend", "--output", f"{tmp_path}/baked/", "--skip-done")
    tcb(*command)
    ran = tcb(*command)
    assert ran.out.splitlines()[1].split()[:6] == ["2", "0", "0", "0", "0", "2"]
    assert f"tcb: {walk}: done already" in ran.err


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
    monkeypatch.setattr(cli.skip_done, "made_with", lambda: "TCB Animation 99, Blender 99")
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


def test_what_was_copied_with_nothing_to_do_is_remembered(bake, tcb, walk, tmp_path):
    tcb("remove", walk, "--in-place")
    result = tmp_path / "baked" / "walk.blend"
    assert (bake("--copy-skipped")["status"], state(result)) == ("skipped", "as keyed")
    line = bake("--copy-skipped")
    assert (line["status"], line["output"]) == ("before", str(result))
    result.unlink()
    assert bake("--copy-skipped")["status"] == "skipped"
    assert result.is_file()


@pytest.mark.parametrize("relative", [False, True])
def test_what_was_copied_is_the_file_itself_unless_that_names_others_beside_it(bake, tcb, walk, tmp_path, relative):
    tcb("remove", walk, "--in-place")
    load(walk)
    image = bpy.data.images.new("Checker", 8, 8)
    image.source, image.use_fake_user = "FILE", True
    image.filepath = "//checker.png" if relative else str(tmp_path / "checker.png")
    save(walk)
    assert bake("--copy-skipped")["status"] == "skipped"
    result = tmp_path / "baked" / "walk.blend"
    assert (result.read_bytes() == walk.read_bytes()) == (not relative)
    load(result)
    named = Path(bpy.path.abspath(bpy.data.images["Checker"].filepath))
    assert named.resolve() == tmp_path / "checker.png"


def test_what_is_done_with_faults_is_tried_again(bake, walk):
    load(walk)
    curve(bpy.data.objects["Head"], "rotation_quaternion").lock = True
    save(walk)
    assert [bake()["status"] for _ in range(2)] == ["faults", "faults"]


def test_what_failed_is_tried_again(bake, walk, tmp_path):
    load(walk)
    thing("Still")
    save(walk)
    assert bake("--objects", "Still")["status"] == "failed"
    assert bake("--objects", "Still")["status"] == "failed"


def test_a_file_that_is_gone_is_an_error_though_its_result_is_there(bake, walk):
    bake()
    walk.unlink()
    assert bake()["status"] == "failed"


def test_what_never_got_its_name_is_done_again(bake, walk, monkeypatch):
    def stopped(_source, _target):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stopped)
        with pytest.raises(ValueError, match="unpack"):
            bake(output=None)
    assert state(walk) == "as keyed"
    assert bake(output=None)["status"] == "done"
    assert state(walk) == "baked"


def test_a_result_that_cant_be_put_in_place_is_written_down_as_failed(bake, walk, tmp_path, monkeypatch):
    def refuse(_source, _target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    assert bake(output=None)["status"] == "failed"
    assert [entry["status"] for entry in entries(tmp_path / LOG)] == ["done", "failed"]


def test_no_log_is_kept_unless_it_is_asked_for(tcb, walk, tmp_path):
    tcb("bake", walk, "--output", f"{tmp_path}/baked/")
    assert names_in(tmp_path / "baked") == ["walk.blend"]


def test_the_log_says_which_file_failed_and_why(tcb, walk, tmp_path):
    log = tmp_path / "what became.jsonl"
    command = ("bake", tmp_path / "gone.blend", walk, "--output", f"{tmp_path}/baked/", "--log", log)
    tcb(*command)
    tcb("info", walk, "--log", log)
    said = [
        (
            entry["command"],
            os.path.basename(entry["file"]),
            entry["status"],
            [error["code"] for error in entry["errors"]],
        )
        for entry in entries(log)
    ]
    assert said == [
        ("bake", "gone.blend", "failed", ["FILE_NOT_READ"]),
        ("bake", "walk.blend", "done", []),
        ("info", "walk.blend", "done", []),
    ]
    assert names_in(tmp_path / "baked") == ["walk.blend"]
    ran = tcb(*command, "--skip-done", "--json")
    assert [line["status"] for line in ran.lines] == ["before", "failed"]


def test_a_file_of_which_something_was_refused_is_written_down_as_done_with_faults(tcb, walk, tmp_path):
    log = tmp_path / "log.jsonl"
    load(walk)
    curve(bpy.data.objects["Head"], "rotation_quaternion").lock = True
    save(walk)
    tcb("bake", walk, "--in-place", "--log", log)
    (entry,) = entries(log)
    assert (entry["status"], entry["errors"][0]["code"], entry["output"]) == ("faults", "LOCKED", str(walk))


def test_a_log_that_cant_be_written_keeps_the_file_as_it_is(tcb, walk, tmp_path):
    before = walk.read_bytes()
    assert refused(tcb("bake", walk, "--in-place", "--log", tmp_path), "log", "Is a directory")
    assert (walk.read_bytes(), names_in(tmp_path)) == (before, ["walk.blend"])


def test_a_log_in_no_folder_is_a_usage_error(tcb, walk, tmp_path):
    ran = tcb("bake", walk, "--in-place", "--log", tmp_path / "typo" / "log.jsonl")
    assert ran.status == 2
    assert "typo" in ran.err


def test_a_log_with_lines_that_are_none_is_read(bake, walk, tmp_path):
    bake()
    with (tmp_path / "baked" / LOG).open("a") as stream:
        stream.write('{"output": \n[1]\n"text"\n\n\x00\n')
    assert bake()["status"] == "before"


def test_info_has_no_result_that_could_be_there(tcb, walk):
    assert tcb("info", walk, "--skip-done").status == 2
    assert bpy.data.filepath == str(walk)
