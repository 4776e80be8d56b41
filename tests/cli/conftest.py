# SPDX-License-Identifier: GPL-3.0-or-later
"""`tcb`: the command of the installed extension, run in this process. Workers would run from a checkout.

`walk`: a file with two TCB objects.
"""

from __future__ import annotations

import importlib
import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@dataclass(frozen=True)
class Ran:
    """The result of one call of the command."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Return the standard output, which must be only JSON."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def errors(self) -> list[str]:
        return [line for line in self.err.splitlines() if ": error: " in line]

    @property
    def notes(self) -> list[str]:
        return [line for line in self.err.splitlines() if ": note: " in line]


@pytest.fixture(scope="session", autouse=True)
def heed_interrupts() -> None:
    """Handle Ctrl-C, because tests that run in the background ignore it, and their child processes inherit this."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cli(tcb_animation: ModuleType, scene) -> ModuleType:
    name = f"{tcb_animation.__name__}.cli"
    for module in ("run", "outcome"):  # The command imports these modules only when it needs them.
        importlib.import_module(f"{name}.{module}")
    return importlib.import_module(name)


@pytest.fixture
def tcb(cli: ModuleType, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    from tests.cli.tool import TOOL

    def run(*arguments: object) -> Ran:
        capfd.readouterr()
        status = cli.main([str(argument) for argument in arguments], start=TOOL)
        return Ran(status, *capfd.readouterr())

    return run


@pytest.fixture
def plain_walk(cli: ModuleType, tmp_path: Path) -> Path:
    from tests.cli.scenes import save, thing

    thing("Hips", "location")
    thing("Head", "rotation_quaternion")
    return save(tmp_path / "walk.blend")


@pytest.fixture
def walk(plain_walk: Path, tcb_animation: ModuleType) -> Path:
    """The same file with TCB tracks."""
    import bpy

    from tests.cli.scenes import save

    animation = importlib.import_module(f"{tcb_animation.__name__}.animation")
    for name in ("Hips", "Head"):
        animation.enable(bpy.data.objects[name], keep_look=False)
    return save(plain_walk)
