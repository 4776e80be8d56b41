# SPDX-License-Identifier: GPL-3.0-or-later
"""The command from a checkout in a separate process, and its observable state while it works."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import bpy
import pytest

from tests.cli.scenes import load, save

ROOT = Path(__file__).resolve().parents[2]
TOOL = [sys.executable, str(ROOT / "tools" / "tcb.py")]
HELPED = [sys.executable, str(ROOT / "tests" / "cli" / "helped.py")]
"""With --jobs 2, this processes the first two files at the same time."""

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes through /proc")


def run(*arguments: object, tool: list[str] = TOOL, **options) -> subprocess.CompletedProcess[str]:
    command = [*tool, *map(str, arguments)]
    # File names may contain bytes that are not text.
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="surrogateescape", timeout=120, **options
    )


def large(walk: Path) -> Path:
    """The same file with 12 MB of mesh data, so that writing it takes a while."""
    load(walk)
    mesh = bpy.data.meshes.new("Large")
    mesh.vertices.add(1_000_000)
    mesh.use_fake_user = True
    return save(walk)


def writing_began(folder: Path) -> bool:
    return bool(writers(folder))


def writers(folder: Path) -> set[int]:
    """Return the processes that are writing a result into the folder."""
    return {int(name.split("-")[-2], 16) for name in os.listdir(folder) if name.endswith(".blend@")}


def writing_ended(folder: Path) -> bool:
    return any(".tcb-" in name and name.endswith(".blend") for name in os.listdir(folder))


def wait_until(happened: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def children_of(process: int) -> list[int]:
    """Return the processes that are running."""

    def fields(child: str) -> list[str]:
        try:
            return Path("/proc", child, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            return []

    numbers = [name for name in os.listdir("/proc") if name.isdigit()]
    return [int(name) for name in numbers if fields(name)[:2] in ([state, str(process)] for state in "RSD")]


def is_alive(process: int) -> bool:
    try:
        return Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def refused(ran, *words: str, status: int = 1) -> bool:
    """True if the result is one error that contains these words, with the exit status of a failure or of faults."""
    assert ran.status == status
    assert len(ran.errors) == 1, ran.err
    missing = [word for word in words if word not in ran.errors[0]]
    assert not missing, ran.errors[0]
    return True
