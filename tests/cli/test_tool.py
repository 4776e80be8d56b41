# SPDX-License-Identifier: GPL-3.0-or-later
"""`python tools/tcb.py`: the command from a checkout, in a process that may be killed or run out of disk space."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL, PIPE

import bpy
import pytest

from tests.cli.scenes import names_in, state
from tests.cli.tool import TOOL, large, run, wait_until, writing_began, writing_ended


def test_it_needs_no_installed_extension_and_prints_nothing_but_json(walk, tmp_path):
    arguments = ("bake", walk, tmp_path / "gone.blend", "--output", tmp_path / "baked", "--json")
    ran = run(*arguments, env={**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "new user")})
    assert ran.returncode == 1
    assert [json.loads(line)["status"] for line in ran.stdout.splitlines()] == ["done", "failed"]
    assert state(tmp_path / "baked" / "walk.blend") == "baked"


def test_the_help_names_the_environment_that_it_creates():
    ran = run("--help")
    assert ran.returncode == 0
    assert "usage: python tools/tcb.py" in ran.stdout
    assert ".venv-bpy-VERSION" in ran.stdout


def test_closed_output_ends_the_command_without_a_traceback(walk):
    process = subprocess.Popen([*TOOL, "info", str(walk), "--json"], stdout=PIPE, stderr=PIPE, text=True)
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    assert process.wait(timeout=60) == 1


def test_a_python_without_blender_runs_it_in_the_projects_environment(walk):
    """An isolated interpreter of the same version, which sees no installed packages."""
    command = [sys.executable, "-I", "-S", TOOL[1], "info", str(walk), "--json"]
    environment = {**os.environ, "BPY": "{}.{}".format(*bpy.app.version)}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["tracks"] == 2


def test_the_error_names_an_unknown_version_of_blender(walk):
    command = [sys.executable, "-I", "-S", TOOL[1], "info", str(walk)]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "BPY": "2.79"}, timeout=120)
    assert ran.returncode == 2
    assert "2.79" in ran.stderr
    assert "no bpy" in ran.stderr


def test_a_full_disk_leaves_the_file_as_it_was(walk):
    """A limit on file size simulates a full disk, because writes fail halfway in the same way."""
    before = walk.read_bytes()

    def small_files_only() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    ran = run("bake", walk, "--in-place", preexec_fn=small_files_only)
    assert ran.returncode == 1
    assert "could not write" in ran.stderr
    assert (walk.read_bytes(), names_in(walk.parent)) == (before, ["walk.blend"])


# Killed


MOMENTS = {
    "while Blender writes": lambda folder, _process: writing_began(folder),
    "before the result gets its name": lambda folder, _process: writing_ended(folder),
}


def stop_when(walk: Path, moment: Callable[[Path, int], object], number: int) -> int:
    """Bake in place, send the signal at the moment, and return the exit status.

    `moment` is a function of the file's folder and the process that is true at the moment.
    """
    process = subprocess.Popen([*TOOL, "bake", str(walk), "--in-place"], stdout=DEVNULL, stderr=DEVNULL)
    wait_until(lambda: process.poll() is not None or moment(walk.parent, process.pid))
    process.send_signal(number)
    return process.wait(timeout=60)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_command_leaves_the_old_file_and_a_named_temporary_file(tcb, walk, moment):
    before = large(walk).read_bytes()
    for _try in range(5):
        status = stop_when(walk, MOMENTS[moment], signal.SIGKILL)
        if status != 0:
            break
        # On a busy machine, the command finished before the moment was detected.
        walk.write_bytes(before)
    assert status == -signal.SIGKILL
    assert walk.read_bytes() == before or state(walk) == "baked"
    (*leftovers, own) = names_in(walk.parent)
    assert own == "walk.blend"
    assert all(name.startswith(".walk.tcb-") for name in leftovers)
    assert tcb("bake", walk, "--in-place").status == 0
    assert (state(walk), names_in(walk.parent)) == ("baked", ["walk.blend"])


def test_a_terminated_command_ends_at_once_and_leaves_the_old_file(walk):
    before = large(walk).read_bytes()
    ended = stop_when(walk, MOMENTS["while Blender writes"], signal.SIGTERM)
    if walk.read_bytes() == before:
        assert ended == -signal.SIGTERM
    else:
        assert state(walk) == "baked"


WITHIN_BLENDER = """
import bpy, os, runpy, signal, sys

@bpy.app.handlers.persistent
def interrupt(*_given):
    bpy.app.handlers.load_post.clear()
    signal.raise_signal({number})

bpy.app.handlers.load_post.append(interrupt)
status = runpy.run_path({tool!r})["main"]()
sys.stdout.flush()
os._exit(status)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_stop_the_command_during_a_handler_of_blender(walk, number):
    script = WITHIN_BLENDER.format(number=int(number), tool=TOOL[1])
    command = [sys.executable, "-c", script, "--", "info", str(walk), str(walk), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout.count('"command": "info"')) == (-number, 0)
