# SPDX-License-Identifier: GPL-3.0-or-later
"""Many files, several at a time: each file has its result, even if other files or workers fail."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import IO

import bpy
import pytest

from tests.cli.helped import let_a_worker_help
from tests.cli.scenes import load, names_in, save, state
from tests.cli.tool import (
    HELPED,
    TOOL,
    children_of,
    is_alive,
    large,
    needs_proc,
    run,
    wait_until,
    writers,
    writing_began,
)


def copies(walk: Path, count: int) -> list[Path]:
    """Return a folder with this many copies of the file."""
    folder = walk.parent / "shots"
    folder.mkdir()
    return [Path(shutil.copy(walk, folder / f"shot{number:03}.blend")) for number in range(count)]


def results(out: str) -> dict[str, dict]:
    """Return the results by file name."""
    lines = [json.loads(line) for line in out.splitlines()]
    return {Path(line["file"]).name: line for line in lines}


@pytest.fixture
def helped(cli, monkeypatch) -> None:
    let_a_worker_help(cli.run, monkeypatch.setattr)


def test_results_do_not_depend_on_the_number_of_jobs(cli, tcb, walk, tmp_path, monkeypatch):
    files = [*copies(walk, 4), tmp_path / "gone.blend"]
    said = {}
    for jobs in ("1", "3"):
        if jobs != "1":
            let_a_worker_help(cli.run, monkeypatch.setattr)
        ran = tcb("bake", *files, "--output", tmp_path / jobs, "--json", "--jobs", jobs)
        assert ran.status == 1
        said[jobs] = {
            name: (line["status"], line["errors"], line["samples"], line["output"] and Path(line["output"]).name)
            for name, line in results(ran.out).items()
        }
        assert names_in(tmp_path / jobs) == [file.name for file in files[:4]]
    assert said["1"] == said["3"]
    assert [state(tmp_path / "3" / file.name) for file in files[:4]] == ["baked"] * 4


@pytest.mark.parametrize(
    ("count", "reason"),
    [("0", "0 is below 1"), ("-1", "-1 is below 1"), ("1.5", "1.5 is not a whole number"), ("many", "many is not")],
)
def test_an_invalid_number_of_jobs_is_a_usage_error(tcb, walk, count, reason):
    ran = tcb("info", walk, f"--jobs={count}")
    assert ran.status == 2
    assert f"argument --jobs: {reason}" in ran.err


@pytest.mark.parametrize("jobs", [1, 2])
def test_statuses_of_several_files_are_counted(tcb, walk, tmp_path, jobs):
    ran = tcb("bake", *copies(walk, 3), tmp_path / "gone.blend", "--output", tmp_path / "baked", "--jobs", jobs)
    assert sorted(ran.err.splitlines()[-1].removeprefix("tcb: ").split(", ")) == ["done: 3", "failed: 1"]
    assert len(ran.out.splitlines()) == 3


def test_a_file_name_that_is_not_utf_8_reaches_the_workers(tcb, helped, walk, tmp_path):
    odd = walk.rename(os.fsdecode(os.fsencode(tmp_path) + b"/w\xe4lk \xff.blend"))
    ran = tcb("bake", odd, *copies(odd, 1), "--output", tmp_path / "baked", "--jobs", "2", "--json")
    assert (ran.status, names_in(tmp_path / "baked")) == (0, ["shot000.blend", odd.name])


# Workers that fail


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal 11"),
        ("import os; os.kill(os.getpid(), 40)", "signal 40"),
        ("raise SystemExit(3)", "status 3"),
        ("print('{}')", "status 0"),
    ],
)
def test_the_error_of_a_file_contains_the_reason_why_its_worker_ended(cli, helped, walk, capfd, script, reason):
    files = copies(walk, 2)
    arguments = ["bake", *map(str, files), "--in-place", "--jobs", "2", "--json"]
    script = f"import sys; print('\\x1e', flush=True); sys.stdin.readline(); {script}"
    assert cli.main(arguments, start=(sys.executable, "-c", script)) == 1
    lines = results(capfd.readouterr().out)
    # The first process that requests a file gets the first file.
    failed, done = sorted((lines[file.name] for file in files), key=lambda line: line["status"], reverse=True)
    assert (failed["status"], done["status"]) == ("failed", "done")
    assert reason in failed["errors"][0]["message"]


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        ((sys.executable, "-c", "raise SystemExit(3)"), "ended with status 3 during startup: "),
        (("/nowhere/blender",), "no worker process could be started: No such file"),
    ],
)
def test_all_files_are_processed_if_no_worker_starts(cli, walk, capfd, monkeypatch, start, reason):
    monkeypatch.setattr(cli.run._Pool, "another_pays_off", lambda _pool: True)
    told = threading.Event()
    do, announce = cli.run.process_file, cli.run.announce
    monkeypatch.setattr(cli.run, "announce", lambda text: (announce(text), told.set()))
    monkeypatch.setattr(cli.run, "process_file", lambda *given: do(*given) if told.wait(60) else None)
    files = copies(walk, 4)
    assert cli.main(["bake", *map(str, files), "--in-place", "--jobs", "4"], start=start) == 0
    assert capfd.readouterr().err.count(reason) == 1
    assert [state(file) for file in files] == ["baked"] * 4


def test_output_during_the_start_of_blender_is_ignored(cli, helped, walk, capfd):
    script = (
        "import runpy, sys; print('Read prefs', end='', flush=True); runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    start = (sys.executable, "-c", script.replace("sys.argv[0]", f"{TOOL[1]!r}"))
    files = copies(walk, 2)
    assert cli.main(["bake", *map(str, files), "--in-place", "--jobs", "2", "--json"], start=start) == 0
    assert [state(file) for file in files] == ["baked", "baked"]


def start(files: list[Path], *options: str, jobs: int = 2, messages: int | IO[str] = DEVNULL) -> subprocess.Popen[str]:
    tool = HELPED if min(jobs, len(files)) > 1 else TOOL
    command = [*tool, "bake", *map(str, files), "--in-place", "--jobs", str(jobs), "--json", *options]
    return subprocess.Popen(command, stdout=PIPE, stderr=messages, text=True)


@needs_proc
def test_if_a_worker_is_killed_only_its_file_fails(walk):
    files = copies(large(walk), 6)
    before = files[0].read_bytes()
    process = start(files)
    workers: set[int] = set()
    wait_until(lambda: workers.update(writers(files[0].parent) - {process.pid}) or workers)
    os.kill(workers.pop(), signal.SIGKILL)
    lines = results(process.communicate(timeout=60)[0])
    failed = [name for name, line in lines.items() if line["status"] != "done"]
    assert (process.returncode, len(failed), len(lines)) == (1, 1, 6)
    assert "signal 9" in lines[failed[0]]["errors"][0]["message"]
    assert names_in(files[0].parent) == [file.name for file in files]
    for file in files:
        assert file.read_bytes() == before if file.name == failed[0] else state(file) == "baked"


def test_old_temporary_files_of_other_machines_are_deleted(tcb, walk, tmp_path):
    others = tmp_path / ".walk.tcb-00000000-1-12345678.blend@"
    others.write_bytes(b"of another machine")
    assert tcb("bake", walk, "--in-place").status == 0
    assert names_in(tmp_path) == [others.name, "walk.blend"]
    os.utime(others, (0, 0))
    assert tcb("bake", walk, "--in-place").status == 0
    assert names_in(tmp_path) == ["walk.blend"]


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_of_a_stopped_command_finish_their_file_and_end(walk, number):
    files = copies(large(walk), 8)
    before = files[0].read_bytes()
    process = start(files)
    wait_until(lambda: (children_of(process.pid) and writing_began(files[0].parent)) or process.poll() is not None)
    workers = children_of(process.pid)
    process.send_signal(number)
    assert process.wait(timeout=60) == -number
    wait_until(lambda: not any(map(is_alive, workers)))
    process.stdout.close()
    assert workers
    names = names_in(files[0].parent)
    left = [name for name in names if f"-{process.pid:x}-" in name]  # The next run removes this file.
    assert names == [*left, *(file.name for file in files)]
    assert state(files[-1]) != "baked"
    for file in files:
        assert file.read_bytes() == before or state(file) == "baked"


def test_closed_output_stops_the_workers(walk):
    process = start(copies(walk, 20))
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 1


PEAKS = """
import bpy, os, resource, runpy

peaks = []

@bpy.app.handlers.persistent
def note(*_given):
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

bpy.app.handlers.save_post.append(note)
runpy.run_path({tool!r})["main"]()
print(*peaks, flush=True)
os._exit(0)
"""


def test_memory_stays_flat_over_a_hundred_files(walk, tmp_path):
    load(walk)
    mesh = bpy.data.meshes.new("Some")
    mesh.vertices.add(30_000)
    mesh.use_fake_user = True
    bpy.data.objects["Hips"].keyframe_insert("location", frame=9_000)  # Keys of earlier files could remain, too.
    files = copies(save(walk), 100)
    assert files[0].stat().st_size > 300_000

    command = [sys.executable, "-c", PEAKS.format(tool=TOOL[1]), "--", "bake", *map(str, files)]
    ran = subprocess.run([*command, "--output", f"{tmp_path}/baked/"], capture_output=True, text=True, check=True)
    peaks = [int(peak) for peak in ran.stdout.splitlines()[-1].split()]
    assert len(peaks) == 100
    assert peaks[-1] < 1.05 * peaks[9]


# Input and output paths


def test_patterns_and_lists_name_files_and_subfolders_are_kept(tcb, walk, tmp_path):
    for name in ("a/one.blend", "b/one.blend"):
        (tmp_path / "shots" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shots" / name).write_bytes(walk.read_bytes())
    # Some editors begin a file with a byte order mark.
    (tmp_path / "list.txt").write_text(f"{walk}\n\n{tmp_path}/shots/**/*.blend\n", encoding="utf-8-sig")
    options = ("--output", tmp_path / "baked", "--relative-to", tmp_path)
    ran = tcb("bake", "--files-from", tmp_path / "list.txt", *options, "--json")
    assert ran.status == 0
    made = sorted(str(file.relative_to(tmp_path / "baked")) for file in (tmp_path / "baked").rglob("*.blend"))
    assert made == ["shots/a/one.blend", "shots/b/one.blend", walk.name]
    outside = tcb("bake", walk, "--output", tmp_path / "baked", "--relative-to", tmp_path / "shots")
    assert (outside.status, "is outside --relative-to" in outside.err) == (2, True)
    nothing = tcb("info", tmp_path / "none*.blend")
    assert (nothing.status, "no file matches" in nothing.err) == (2, True)


def test_a_dry_run_writes_nothing_and_reports_each_track(tcb, walk, tmp_path):
    before = walk.read_bytes()
    ran = tcb("bake", walk, "--in-place", "--dry-run", "--skip-done", "--json")
    assert (ran.status, ran.lines[0]["status"], ran.lines[0]["output"]) == (0, "done", None)
    changes = {change["object"]: change for change in ran.lines[0]["changes"]}
    assert changes["Hips"]["state"] == ["TCB", "baked"]
    assert changes["Hips"]["samples"][0] == 0 < changes["Hips"]["samples"][1]
    assert walk.read_bytes() == before
    assert names_in(tmp_path) == [walk.name]
    assert '"Hips", location: TCB -> baked, keys 4, samples 0 -> ' in tcb("bake", walk, "--in-place", "--dry-run").out


def test_a_dry_run_of_velocities_lists_the_properties(tcb, walk, tmp_path):
    arguments = ("velocities", walk, "--objects", "Hips")
    (dry,) = tcb(*arguments, "--in-place", "--dry-run", "--json").lines
    assert dry["changes"] == [
        {
            "object": "Hips",
            "track": f'["tcb_location_{kind}"]',
            "state": [None, "velocities"],
            "keys": [None, 0],
            "samples": [None, dry["samples"] // 2],
            "curve_keys": [None, 0],
        }
        for kind in ("velocity", "acceleration")
    ]
    written = tmp_path / "written.blend"
    assert tcb(*arguments, "--output", written).status == 0
    (again,) = tcb("velocities", written, "--remove", "--in-place", "--dry-run", "--json").lines
    assert [change["state"] for change in again["changes"]] == [["velocities", None]] * 2


@pytest.mark.parametrize(
    ("verb", "options", "result"),
    [
        ("export", (), "walk.3ds"),
        ("export-table", ("--objects", "Hips"), "walk.csv"),
        ("velocities", (), "walk.blend"),
        ("rotations", ("--key-whole",), "walk.blend"),
    ],
)
def test_a_dry_run_of_any_verb_writes_nothing_and_has_the_real_status(tcb, walk, tmp_path, verb, options, result):
    command = (verb, walk, *options, "--output", f"{tmp_path}/out/", "--json")
    (dry,) = tcb(*command, "--dry-run").lines
    assert not (tmp_path / "out").exists()
    (real,) = tcb(*command).lines
    assert (dry["status"], dry["output"], dry["tracks"], dry["keys"]) == (
        real["status"],
        None,
        real["tracks"],
        real["keys"],
    )
    assert (tmp_path / "out" / result).exists() == (real["status"] == "done")


def test_workers_are_started_with_the_blender_of_the_option(tcb, cli, walk, monkeypatch):
    commands = []
    do_all = cli.run.do_all

    def note_command(files, do, fail, jobs, command):
        commands.append(command)
        return do_all(files, do, fail, jobs, command)

    monkeypatch.setattr(cli.run, "do_all", note_command)
    assert tcb("info", walk, "--jobs", "2", "--blender", "/opt/studio/blender").status == 0
    assert commands[0][:5] == ["/opt/studio/blender", "--command", "tcb", "info", "--worker"]
    monkeypatch.setattr(sys, "argv", ["blender", "--background", "--addons", "a,b", "--command", "tcb", "info"])
    assert tcb("info", walk, "--jobs", "2", "--blender", "/opt/studio/blender").status == 0
    assert commands[1][:6] == ["/opt/studio/blender", "--addons", "a,b", "--command", "tcb", "info"]


def test_a_worker_starts_if_blender_is_a_wrapper_script(walk, tmp_path, blender_itself):
    """As in studios, a script sets up the environment and replaces itself by Blender."""
    calls, wrapper = tmp_path / "calls", tmp_path / "blender"
    wrapper.write_text(f'#!/bin/sh\necho called >> {shlex.quote(str(calls))}\nexec {shlex.join(blender_itself)} "$@"\n')
    wrapper.chmod(0o755)
    files = [shutil.copy(walk, tmp_path / f"{number}.blend") for number in range(2)]
    ran = run("bake", *files, "--in-place", "--jobs", "2", "--json", "--blender", wrapper, tool=HELPED)
    assert ran.returncode == 0, ran.stderr
    assert [json.loads(line)["status"] for line in ran.stdout.splitlines()] == ["done", "done"]
    assert calls.read_text() == "called\n"
